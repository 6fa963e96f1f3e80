// Bodies that turn about their axes.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Model } from "../src/model";
import { histogram } from "../src/motionplots";
import type { Motion, Space } from "../src/scene";
import { angleText, Bodies, screwed } from "../src/screw";
import { packed, sceneOf, screws, treeNamed } from "./golden";

test("points turn about an axis and are shifted along it as in the golden screws", () => {
  for (const { degrees, pitch, point, along, points, moved } of screws) {
    points.forEach((from, k) => {
      const found = screwed(from, { point, along, pitch }, degrees);
      found.forEach((x, d) => assert.ok(Math.abs(x - (moved[k]?.[d] ?? NaN)) < 1e-6));
    });
  }
});

/** Of seven sites, 0 to 2 are still, 3 to 5 turn about z through (1, 0, 0), and 6 is in no body. */
const motion: Motion = {
  words: "2 rigid bodies",
  bodies: ["1: A", "2: B"],
  more: [],
  unit: "nm",
  labels: packed("i4", [0, 0, 0, 1, 1, 1, -1]),
  colours: ["#000000", "#111111", "#222222"],
  reference: 0,
  hinges: [
    {
      body: 1,
      kind: "hinge",
      axis: [0, 0, 1],
      point: [1.1, 2, 2.5],
      cone: 45,
      turns: [-30, 60],
      error: 1.5,
      pitch: 3, // of a hinge, whose shift means nothing
      frames: packed("i4", [0, 1, 2]),
      angles: packed("f4", [-30, 60, 15]),
    },
  ],
  levels: [],
  chosen: 0,
  enough: 5,
  sharp: 0.7,
  explained: { n_bodies: [], freedom: [], finite: [], linear: [], held_out: [], components: [], components_held_out: [] },
};
const scene = sceneOf(treeNamed("a chain"));
const space = { dimensions: 3, scale: 10, centre: [10, 20, 30] } as Space;

test("bodies move along their ways, and what is in none of them stays", () => {
  const bodies = new Bodies(scene, motion, space, 1, 50);
  const first = Float32Array.from([0, 0, 0, 9, 9, 9, 1, 2, 3, 2, 0, 0, 1, 0, 4, 1, 5, 0, 7, 7, 7]);
  assert.deepEqual(bodies.still, [0, 1, 2]);
  assert.deepEqual([...bodies.of], [0, 0, 0, 1, 1, 1, -1]);
  assert.deepEqual(bodies.turning.map(({ axis }) => axis.point), [[1, 0, -5]]);
  const [turning] = bodies.turning;
  assert.ok(turning && Math.abs(turning.reach - 20) < 1e-9 && Math.abs(turning.width - 20) < 1e-9);
  assert.equal(bodies.begin, 0);
  assert.deepEqual(bodies.at(first, 0), first);
  const turned = bodies.at(first, 1); // by 90 degrees
  const expected = [0, 0, 0, 9, 9, 9, 1, 2, 3, 1, 1, 0, 1, 0, 4, -4, 0, 0, 7, 7, 7];
  expected.forEach((x, k) => assert.ok(Math.abs(x - (turned[k] ?? NaN)) < 1e-6));
});

test("a site that is not shown belongs to the body of its residue, and one alone to its own", () => {
  const few = treeNamed("few shown"); // each object is a residue of its own, and seven of them are shown
  const labels = few.shown.map((_, shown) => shown % 2);
  const alone = new Bodies(sceneOf(few), { ...motion, labels: packed("i4", labels) }, space, 1, 50);
  assert.deepEqual([...alone.of], few.residues.map((_, object) => (few.shown.includes(object) ? few.shown.indexOf(object) % 2 : -1)));
  const one = { ...few, residues: few.residues.map((): [string, number, string] => ["A", 1, ""]) };
  const together = new Bodies(sceneOf(one), { ...motion, labels: packed("i4", labels) }, space, 1, 50);
  few.shown.forEach((object, shown) => assert.equal(together.of[object], shown % 2));
  few.residues.forEach((_, object) => assert.ok((together.of[object] ?? -1) >= 0));
});

test("a body without an axis, or in more than three dimensions, has no way to move along", () => {
  const hinges = motion.hinges.map((hinge) => ({ ...hinge, axis: null }));
  assert.deepEqual(new Bodies(scene, { ...motion, hinges }, space, 1, 50).turning, []);
  assert.deepEqual(new Bodies(scene, motion, { ...space, dimensions: 5 }, 1, 50).turning, []);
});

test("colours are those of bodies only where there are bodies, and a snapshot ends the way along the screw", () => {
  const model = new Model({ ...scene, motion });
  model.setColouring("bodies");
  model.setTurn(1.7);
  assert.deepEqual([model.colouring, model.turn], ["bodies", 1]);
  model.setFrame(0);
  assert.equal(model.turn, null);
  const without = new Model(scene);
  without.setColouring("bodies");
  assert.equal(without.colouring, "clusters");
});

test("an angle is told with its error, and without where there is none", () => {
  assert.equal(angleText({ turns: [-30, 22.2], error: 2.6 }), "52° ± 3°");
  assert.equal(angleText({ turns: [0, 52.2], error: 0.42 }), "52° ± 0.4°");
  assert.equal(angleText({ turns: [0, 7.26], error: null }), "7.3°");
  assert.equal(angleText({ turns: null, error: null }), "");
});

test("a histogram counts every value once, the largest in the last part", () => {
  assert.deepEqual(histogram(Float32Array.from([0, 1, 1.5, 4]), 4), { low: 0, step: 1, values: [1, 2, 0, 1] });
  assert.deepEqual(histogram(Float32Array.from([2, 2]), 2).values, [2, 0]);
});
