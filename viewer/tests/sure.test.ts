// How sure clusters are: what is shown of them, and how.

import assert from "node:assert/strict";
import { test } from "node:test";
import { csv } from "../src/export";
import { Model } from "../src/model";
import type { Confidence, Judgement } from "../src/scene";
import { stripesPixels, veiled } from "../src/stripes";
import { tells } from "../src/sure";
import { facts } from "../src/text";
import { palettes, sceneOf, treeNamed } from "./golden";

const judged = (look: Judgement["look"], words: string): Judgement => ({
  words,
  look,
  trusted: look === "solid",
  cells: [words, look === "solid" ? "yes" : "no"],
  birth: 0.25,
  death: null,
  formed: null,
  joined: null,
});

/** At 0.25, the chain 0 … 6 has two clusters: 1 and 2, at the first two places of leaf order, and 3, 4 and 5 at the next. */
const confidence: Confidence = {
  words: "seen once",
  colour: "red",
  effective: 1,
  levels: "",
  standsOut: false,
  least: 2,
  columns: ["support", "trusted"],
  looks: { solid: { words: "", veil: 0 }, hatched: { words: "", veil: 0.25 }, faded: { words: "", veil: 0.75 } },
  runs: [],
  clusters: [judged("hatched", "less sure"), judged("solid", "sure"), judged("faded", "not found again")],
};

const CHAIN = treeNamed("a chain");

/** The chain with a record for the cluster of each of some objects at 0.25. */
function chain(...records: [object: number, record: number][]): Model {
  const { hierarchy } = new Model(sceneOf(CHAIN));
  const runs = records.map(([object, record]): [number, number, number] => {
    const { start, stop } = hierarchy.run(object, 0.25);
    return [start, stop, record];
  });
  const model = new Model({ ...sceneOf(CHAIN), confidence: { ...confidence, runs } });
  model.setCutoff(0.25);
  return model;
}

const membersOf = (model: Model): number[][] => model.cut.clusters.map((cluster) => [...model.hierarchy.members(cluster)]);

test("what is known of a cluster is known of it alone, not of its parts or of what it is part of", () => {
  const model = chain([1, 0], [4, 1]);
  assert.deepEqual(model.cut.clusters.map((cluster) => model.sure.of(cluster)?.words), ["sure", "less sure"]);
  model.step(1);
  assert.ok(model.cut.clusters.some((cluster) => model.sure.of(cluster) === null));
  assert.ok(model.cut.clusters.every((cluster) => cluster.size < 5 || model.sure.lookOf(cluster) === "plain"));
});

test("of trusted clusters alone the others are grey wherever they are seen, and numbers stay", () => {
  const model = chain([1, 1], [4, 0]);
  assert.deepEqual(membersOf(model), [[3, 4, 5], [1, 2]]);
  model.setTrustedOnly(true);
  assert.deepEqual(membersOf(model), [[1, 2]]);
  assert.deepEqual(model.cut.clusters.map(({ rank }) => rank), [1]);
  assert.deepEqual([...model.cut.labels], [-1, 0, 0, -1, -1, -1, -1]);
  assert.deepEqual([3, 1].map((site) => model.siteLabel(site)), [-1, 0]);
  assert.equal(model.colourOf(3), null);
  assert.equal(model.clusterOf(3), null);
  const rows = csv(model).trim().split("\n");
  assert.equal(rows.length, 2);
  assert.ok(rows[1]?.startsWith("0.25,2,2,"));
  assert.ok(rows[1]?.endsWith("sure,yes"));
  assert.ok(facts(model).endsWith("1 trusted cluster of at least 2 residues holds 2 of 7; the largest has 2."));
  model.setMinSize(3);
  assert.ok(facts(model).includes("there is no trusted cluster of at least 3"));
  model.setMinSize(2);
  model.setTrustedOnly(false);
  assert.deepEqual(membersOf(model), [[3, 4, 5], [1, 2]]);
});

/** Opacity of each of the seven sites, in so many rows. */
function opacities(model: Model, rows: number): number[][] {
  const order = Int32Array.from([0, 1, 2, 3, 4, 5, 6]);
  const shown = { order, place: order, numbers: null, chains: null, label: "" };
  const pixels = stripesPixels(model, shown, [0.25, 0.25], 7, rows);
  return Array.from({ length: rows }, (_, row) => Array.from(order, (site) => pixels[4 * (7 * row + site) + 3] ?? NaN));
}

test("stripes of trusted clusters are solid, of others hatched or faded by their veil", () => {
  assert.deepEqual(opacities(chain([1, 1], [4, 2]), 2), [[0, 255, 255, 64, 64, 64, 0], [0, 255, 255, 64, 64, 64, 0]]);
  const hatched = opacities(chain([1, 1], [4, 0]), 12);
  assert.deepEqual(new Set(hatched.map((row) => row.slice(1, 3)).flat()), new Set([255]));
  const lines = hatched.map((row) => row.slice(3, 6));
  assert.deepEqual(new Set(lines.flat()), new Set([0, 191]));
  for (let row = 1; row < 12; row++) assert.equal(lines[row]?.[0], lines[row - 1]?.[1]); // they rise to the right
});

test("a veil mixes a colour with the paper", () => {
  assert.equal(veiled("#000000", "#ffffff", 0.4), "#666666");
  assert.equal(veiled(palettes.core, "#ffffff", 0), palettes.core);
});

test("where no cluster was judged, nothing is told", () => {
  assert.ok(!tells(null));
  assert.ok(!tells({ ...confidence, clusters: [judged("plain", "the whole")] }));
  assert.ok(tells(confidence));
});
