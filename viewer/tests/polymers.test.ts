// Residues as NGL must find them, though the file lacks an oxygen.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Point } from "../src/arrays";
import { oxygenAt, polymers } from "../src/polymers";
import type { Scene } from "../src/scene";
import { packed, sceneOf, treeNamed } from "./golden";

type Site = [name: string, residue: number, chain: string, place: Point];

/** Two residues, drawn out along x; the oxygen of the first is given, or not. */
function peptide(oxygen: string[]): Site[] {
  return [
    ["N", 1, "A", [0, 0, 0]],
    ["CA", 1, "A", [1.4, 0.5, 0]],
    ["C", 1, "A", [2.6, -0.4, 0]],
    ...oxygen.map((name): Site => [name, 1, "A", [2.6, -1.6, 0]]),
    ["N", 2, "A", [3.8, 0.2, 0]],
    ["CA", 2, "A", [5.1, -0.4, 0]],
    ["C", 2, "A", [6.2, 0.6, 0]],
    ["OXT", 2, "A", [6.2, 1.8, 0]],
  ];
}

function written(sites: Site[]): { scene: Scene; positions: Float32Array } {
  const of = (texts: string[]): { values: string[]; codes: string } => ({
    values: [...new Set(texts)],
    codes: packed("i4", texts.map((text) => [...new Set(texts)].indexOf(text))),
  });
  const scene = {
    ...sceneOf(treeNamed("a chain")),
    sites: {
      objects: packed("i4", sites.map((_, k) => k)),
      names: of(sites.map(([name]) => name)),
      elements: of(sites.map(([name]) => name.charAt(0))),
      resnames: of(sites.map(() => "GLY")),
      resids: packed("i4", sites.map(([, residue]) => residue)),
      icodes: of(sites.map(() => "")),
      chains: of(sites.map(([, , chain]) => chain)),
    },
  };
  return { scene, positions: Float32Array.from(sites.flatMap(([, , , place]) => place)) };
}

function made(sites: Site[]): ReturnType<typeof polymers> & { names: string[] } {
  const { scene, positions } = written(sites);
  const found = polymers(scene, positions);
  const rows = found.cif.split("\n").filter((row) => row.startsWith("ATOM"));
  return { ...found, names: rows.map((row) => (row.split(" ")[3] ?? "").replaceAll('"', "")) };
}

test("residues that have an oxygen, by any of its names, are written as they are", () => {
  for (const name of ["O", "OT1", "OC1"]) {
    const found = made(peptide([name]));
    assert.deepEqual(found.oxygens, []);
    assert.deepEqual(found.sites, [0, 1, 2, 3, 4, 5, 6, 7]);
  }
});

test("an oxygen that is missing is written with its residue, in the colour of its carbon", () => {
  const { names, sites, oxygens } = made(peptide([]));
  assert.deepEqual(names, ["N", "CA", "C", "O", "N", "CA", "C", "OXT"]);
  assert.deepEqual(sites, [0, 1, 2, 2, 3, 4, 5, 6]);
  assert.deepEqual(oxygens, [{ atom: 3, alpha: 1, carbon: 2, nitrogen: 3 }]);
});

test("it lies where a peptide has it, away from both neighbours of its carbon", () => {
  const { positions } = written(peptide([]));
  const [x, y, z] = oxygenAt(positions, { atom: 3, alpha: 1, carbon: 2, nitrogen: 3 });
  assert.ok(Math.hypot(x - 2.6, y + 1.6, z) < 0.2);
});

test("the last residue of a chain takes its own nitrogen, and a nitrogen of the next chain is not its neighbour", () => {
  const last = peptide(["O"]).slice(0, -1);
  assert.deepEqual(made(last).oxygens, [{ atom: 7, alpha: 5, carbon: 6, nitrogen: 4 }]);
  const two = [...last, ...peptide(["O"]).map(([name, residue, , place]): Site => [name, residue, "B", place])];
  assert.deepEqual(made(two).oxygens, [{ atom: 7, alpha: 5, carbon: 6, nitrogen: 4 }]);
});

test("what has no backbone gets no oxygen", () => {
  const ion: Site[] = [["CA", 9, "A", [0, 0, 0]]];
  assert.deepEqual(made(ion).oxygens, []);
});
