// Words and numbers are those written by hand in the golden vectors.

import assert from "node:assert/strict";
import { test } from "node:test";
import { ticks } from "../src/axes";
import { Model } from "../src/model";
import { pymolSelection } from "../src/pymol";
import { facts, neighbours, number, plural, runsText } from "../src/text";
import { modelOf, oneCluster, type Runs, sceneOf, treeNamed, words } from "./golden";

function named({ residues }: Runs): Parameters<typeof runsText>[0] {
  const [chains, names] = [residues.map(([chain]) => chain), residues.map(([, name]) => name)];
  return { chains, names, follows: neighbours(chains, names) };
}

test("members are written as runs of those that follow one another", () => {
  for (const one of words.runs) assert.equal(runsText(named(one), Int32Array.from(one.members)), one.text);
});

test("a text that is too long ends after a whole run", () => {
  for (const one of words.shortened) {
    assert.equal(runsText(named(one), Int32Array.from(one.members), one.letters), one.text);
  }
});

test("numbers have their digits, a true minus, and a sign for what is infinite", () => {
  for (const { value, digits, text } of words.numbers) assert.equal(number(Number(value), digits), text);
});

test("a selection for PyMOL is the one written by hand", () => {
  for (const { about, residues, members, text } of words.selections) {
    // Members first in leaf order, so that they are a run.
    const rest = residues.map((_, k) => k).filter((k) => !members.includes(k));
    const tree = oneCluster(residues);
    tree.tree.order = [...members, ...rest];
    assert.equal(pymolSelection(modelOf(tree), { start: 0, stop: members.length }), text, about);
  }
});

test("what has no residues is selected by the numbers of atoms", () => {
  const tree = oneCluster([1, 2, 3, 4, 5].map((k) => ["", k, ""]));
  const scene = sceneOf(tree);
  scene.sites.resnames = { ...scene.sites.resnames, values: [""] };
  assert.equal(pymolSelection(new Model(scene), { start: 0, stop: 3 }), "id 1-3");
  assert.equal(pymolSelection(new Model(scene), { start: 1, stop: 5 }), "id 2-5");
});

test("several objects of one residue are selected by the numbers of atoms", () => {
  const tree = oneCluster([["A", 1, ""], ["A", 1, ""], ["A", 2, ""]]);
  assert.equal(pymolSelection(modelOf(tree), { start: 1, stop: 3 }), "id 2-3");
});

test("words have a plural, symbols have none", () => {
  assert.deepEqual([plural("residue", 1), plural("residue", 2), plural("Cα", 2)], ["residue", "residues", "Cα"]);
});

test("a sentence says what there is at a cutoff", () => {
  const model = modelOf(treeNamed("a chain"));
  model.setCutoff(0.25);
  assert.equal(facts(model), "At σc = 0.25 Å, 2 clusters of at least 2 residues hold 5 of 7; the largest has 3.");
  model.setCutoff(0);
  assert.equal(facts(model), "At σc = 0 Å there is no cluster of at least 2 residues.");
});

test("ticks are round numbers within the range", () => {
  assert.deepEqual(ticks(0, 1, 5), [0, 0.2, 0.4, 0.6, 0.8, 1]);
  assert.deepEqual(ticks(-4, 0.5, 5), [-4, -3, -2, -1, 0]);
  assert.deepEqual(ticks(0.013, 0.061, 4), [0.02, 0.04, 0.06]);
});
