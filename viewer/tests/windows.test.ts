// Clusters in time.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Model } from "../src/model";
import type { Scene, Space } from "../src/scene";
import { counted } from "../src/windows";
import { palettes, sceneOf, treeNamed } from "./golden";

const scene: Scene = {
  ...sceneOf(treeNamed("a chain")),
  space: { snapshots: [1, 11, 21, 31, 41], absent: "i4:" } as Space, // of 41, those that the page has
  windows: { cutoff: 1, windows: [[0, 20], [10, 30], [20, 41]], tracks: [[0, 0, 0, -1, -1, -1, -1], [0, 0, 0, 1, 1, -1, -1], [-1, -1, -1, 1, 1, 1, 1]] },
};

test("a window is seen at the snapshot nearest to its middle, and none lies beyond the last", () => {
  const model = new Model(scene);
  const seen = [0, 1, 2, 9, -3].map((window) => {
    model.setWindow(window);
    return [model.window, scene.space?.snapshots[model.frame]];
  });
  assert.deepEqual(seen, [[0, 11], [1, 21], [2, 31], [2, 31], [0, 11]]);
});

test("tracks keep their colours: the first dark blue, others those of the palette, from the beginning once they are used up", () => {
  const model = new Model(scene);
  model.setPalette("safe");
  const { safe } = palettes;
  assert.deepEqual([0, 1, 2, safe.length + 1].map((track) => model.trackColour(track)), [palettes.core, safe[0], safe[1], safe[0]]);
});

test("the structure is coloured by windows only where there are windows", () => {
  const [model, without] = [new Model(scene), new Model({ ...scene, windows: null })];
  for (const each of [model, without]) {
    each.setColouring("windows");
    each.setWindow(1);
  }
  assert.deepEqual([model.colouring, model.window, without.colouring, without.window], ["windows", 1, "clusters", 0]);
});

test("values are counted", () => {
  assert.deepEqual([...counted([2, 0, 2])], [[2, 2], [0, 1]]);
});
