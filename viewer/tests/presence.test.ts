// Sites that come and go.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Model } from "../src/model";
import { Presence } from "../src/presence";
import type { Space } from "../src/scene";
import { packed, sceneOf, treeNamed } from "./golden";

test("a site is there but where it is told to be away", () => {
  const presence = new Presence({ absent: packed("i4", [1, 3, 5]) }, 3, 2); // frame · 2 + site
  const there = [0, 1, 2].map((frame) => [presence.has(frame, 0), presence.has(frame, 1)]);
  assert.deepEqual(there, [[true, false], [true, false], [true, false]]);
  assert.ok(presence.gapped);
});

test("the page opens at the first of the frames in which most are there", () => {
  const presence = new Presence({ absent: packed("i4", [0, 1, 2, 9]) }, 4, 3);
  assert.equal(presence.fullest(), 1);
  assert.equal(new Presence({ absent: packed("i4", []) }, 4, 3).fullest(), 0);
  const golden = sceneOf(treeNamed("a chain"));
  const space = { snapshots: [1, 2, 3], absent: packed("i4", [0, 8]) } as Space; // of seven sites
  assert.equal(new Model({ ...golden, space }).frame, 2);
});
