// Golden: cuts of frozen trees. Invariants: cutoffs by keys, colours of sites, pixels of stripes, tables.

import assert from "node:assert/strict";
import { test } from "node:test";
import { at } from "../src/arrays";
import { clusterRows, pymolSelection } from "../src/clusters";
import { Colouring, hex } from "../src/colours";
import { Hierarchy } from "../src/hierarchy";
import { joiningMatrix, NONE, trianglePlace } from "../src/matrix";
import { csvText } from "../src/save";
import type { Scene } from "../src/scene";
import { State } from "../src/state";
import { stripes } from "../src/stripes";
import { molecule, pack, particles } from "./fixtures";
import trees from "./trees.json";

type Golden = (typeof trees)[number];
const numbers = (values: (number | string)[]): number[] => values.map(Number);

function hierarchyOf({ tree, whole, shown, objects }: Golden): Hierarchy {
  const places = Array.from({ length: objects }, (_, object) => shown.indexOf(object));
  return new Hierarchy({
    tree: { order: pack("i4", tree.order), gaps: pack("f8", numbers(tree.gaps)), levels: pack("f8", tree.levels), family: pack("i4", tree.family) },
    whole: { order: pack("i4", whole.order), gaps: pack("f8", numbers(whole.gaps)), shown: pack("i4", places) },
    sites: { objects: pack("i4", Array.from({ length: objects }, (_, object) => object)) } as Scene["sites"],
  });
}

for (const tree of trees) {
  test(`clusters of ${tree.name} are the golden ones at every cutoff`, () => {
    const hierarchy = hierarchyOf(tree);
    for (const expected of tree.cuts) {
      const cut = hierarchy.cut(Number(expected.cutoff), tree.minSize);
      assert.deepEqual([cut.count, cut.largest], [expected.count, expected.largest]);
      const found = cut.clusters.map((cluster) => ({ ...cluster, members: [...hierarchy.members(cluster)] }));
      assert.deepEqual(
        found.map(({ members, formed, joined, family }) => ({ members, formed, joined, family })),
        expected.clusters.map(({ members, formed, joined, family }) => ({ members, formed: Number(formed), joined: Number(joined), family })),
      );
      hierarchy.sitePlace.forEach((place, object) => {
        const label = expected.clusters.findIndex(({ objects }) => objects.includes(object));
        assert.equal(cut.wholeLabels[place], label);
      });
    }
  });

  test(`objects of ${tree.name} join at the golden cutoffs`, () => {
    const hierarchy = hierarchyOf(tree);
    tree.joining.forEach((row, one) => {
      row.forEach((height, k) => {
        assert.equal(Math.fround(hierarchy.joining(at(tree.axis, one), at(tree.axis, one + 1 + k))), Math.fround(Number(height)));
      });
    });
  });
}

test("arrow keys visit every level once, and end below the first and at the last", () => {
  const state = new State(molecule());
  const { levels } = state.hierarchy;
  state.setCutoff(state.below);
  const seen = Array.from(levels, () => (state.step(1), state.cutoff));
  assert.deepEqual(seen, [...levels]);
  state.step(1);
  assert.equal(state.cutoff, levels.at(-1));
  state.step(-levels.length);
  assert.equal(state.cutoff, state.below);
});

test("sites of one cluster have one colour at every level, that of its row in the table", () => {
  for (const scene of [molecule(), particles()]) {
    const state = new State(scene);
    const colouring = new Colouring(state);
    state.setColouring("clusters");
    for (const level of state.hierarchy.levels.filter((_, k) => k % 7 === 0)) {
      state.setCutoff(level);
      for (const { cluster, colour } of clusterRows(state, colouring)) {
        const sites = [...colouring.shownOfSite.keys()].filter((site) => state.hierarchy.members(cluster).includes(at(colouring.shownOfSite, site)));
        const shown = sites.filter((site) => scene.sites.resids.length < 400 || site % 3 === 1);
        assert.deepEqual([...new Set(shown.map((site) => colouring.ofSite(site)))], [colour]);
      }
    }
  }
});

test("a row of stripes has the colours of the clusters at its cutoff", () => {
  const state = new State({ ...particles(), clusters: [] });
  const colouring = new Colouring(state);
  const { size, levels, place } = state.hierarchy;
  const order = Int32Array.from(place.keys());
  const [low, high] = [0, 1.1 * at(levels, levels.length - 1)];
  const height = 60;
  const pixels = stripes(state, colouring, order, [low, high], [size, height]);
  for (let row = 0; row < height; row++) {
    const { labels, clusters } = state.hierarchy.cut(high - ((high - low) * (row + 0.5)) / height, state.scene.shown.minSize);
    labels.forEach((label, object) => {
      const [red, green, blue, opacity] = pixels.subarray(4 * (row * size + object), 4 * (row * size + object + 1));
      assert.equal(opacity, label < 0 ? 0 : 255);
      if (label >= 0) assert.equal(hex([red!, green!, blue!]), colouring.ofFamily(at(clusters, label).family));
    });
  }
});

test("the matrix of joining cutoffs is symmetric in its pairs and rounds to steps of its top", () => {
  const state = new State(particles());
  const [size, top] = [60, at(state.hierarchy.levels, state.hierarchy.levels.length - 1)];
  const values = joiningMatrix(state, size, 0, top);
  assert.equal(values.length, (size * (size - 1)) / 2);
  assert.equal(trianglePlace(3, 9, size), trianglePlace(9, 3, size));
  const found = at(values, trianglePlace(3, 9, size));
  const root = Math.sqrt(state.hierarchy.joining(3, 9) / top);
  assert.ok(found !== NONE && Math.abs(found / 254 - root) <= 1 / 508 + 1e-12);
});

test("a branch of the condensed tree is found by cutoff and run, the smallest first", () => {
  const state = new State(molecule());
  const branch = state.scene.clusters.find(({ joins }) => joins !== null)!;
  assert.equal(state.branchOf(branch, branch.forms), branch);
  assert.ok(state.branchOf(branch, branch.joins!) !== branch);
  assert.equal(state.lookOf({ start: 0, stop: 1 }, -1), "plain");
});

test("PyMOL selects residues by chain and number, particles by their number", () => {
  const [chain, tracks] = [new State(molecule()), new State(particles())];
  const all = ({ hierarchy }: State) => hierarchy.cluster({ start: 0, stop: hierarchy.size });
  assert.equal(pymolSelection(chain, all(chain)), "(chain A and resi 1-60)");
  assert.equal(pymolSelection(tracks, all(tracks)).slice(0, 11), "id 1+2+3+4+");
});

test("the table of clusters never holds a formula", () => {
  const state = new State(molecule());
  const rows = clusterRows(state, new Colouring(state)).map((row) => ({ ...row, members: "=1+1" }));
  const lines = csvText(rows, state.cutoff, state.scene.quantity).split("\n");
  assert.equal(lines.length, rows.length + 2);
  assert.ok(lines[0]!.startsWith("cutoff (Å),cluster,size,colour"));
  assert.ok(lines.slice(1, -1).every((line) => line.endsWith(",'=1+1")));
});
