// Invariants of what is drawn and written: chart geometry, numbers, ranges, packed arrays, frames, boxes.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Point } from "../src/arrays";
import { PeriodicBox } from "../src/box";
import { scale, steps, ticks } from "../src/chart";
import { Frames } from "../src/frames";
import { checkFormat, doubles, octets, shorts, singles, wholes, words } from "../src/scene";
import { pathThrough } from "../src/svg";
import { count, number, ranges, shorten } from "../src/text";
import { pack, packWords } from "./fixtures";

test("ticks are round, lie within the range, and are about as many as asked for", () => {
  for (const [low, high] of [[0, 1], [0.013, 0.047], [-3, 250], [1e-4, 2e-4]] as const) {
    const found = ticks([low, high], 5);
    assert.ok(found.length >= 2 && found.length <= 11);
    assert.ok(found.every(({ value }) => value >= low - 1e-12 && value <= high + 1e-12));
    assert.ok(found.every(({ value, text }) => Math.abs(Number(text) - value) < 1e-9 * Math.max(1, Math.abs(value))));
  }
  assert.deepEqual(ticks([1, 1], 5), []);
});

test("a scale maps the ends of a range to the ends of an axis", () => {
  const place = scale([2, 4], 100, 0);
  assert.deepEqual([2, 3, 4].map(place), [100, 50, 0]);
});

test("a staircase holds each value until the next, the last until the end", () => {
  assert.deepEqual(steps([0, 1], [5, 7], 3), [[0, 5], [1, 5], [1, 7], [3, 7]]);
});

test("a path breaks where a value is missing", () => {
  assert.equal(pathThrough([[0, 0], [1, NaN], [2, 1], [3, 1]]), "M0.0 0.0M2.0 1.0L3.0 1.0");
});

test("numbers keep three digits and name what is not finite", () => {
  assert.deepEqual([0, 0.12345, 12.345, 1234.5, 1e-7, Infinity, NaN].map((value) => number(value)), ["0", "0.123", "12.3", "1235", "1.00e-7", "never", "–"]);
  assert.deepEqual([count(1, "residues"), count(1234, "residues")], ["1 residue", "1,234 residues"]);
});

test("members are written as ranges within a chain", () => {
  const names = ["1", "2", "3", "5", "1", "2", "2A"];
  const chains = ["A", "A", "A", "A", "B", "B", "B"];
  assert.equal(ranges([0, 1, 2, 3, 4, 5, 6], names, chains), "A 1-3, 5, B 1-2, 2A");
  assert.equal(ranges([0, 2], ["7", "8", "9"], ["", "", ""]), "7, 9");
  assert.equal(shorten("1-3, 5, 7-9", 8), "1-3, 5 (+1)");
});

test("packed arrays unpack to what was packed, and only as their own type", () => {
  assert.deepEqual([...doubles(pack("f8", [1.1, Infinity]))], [1.1, Infinity]);
  assert.deepEqual([...singles(pack("f4", [0.5]))], [0.5]);
  assert.deepEqual([...wholes(pack("i4", [-1, 7]))], [-1, 7]);
  assert.deepEqual([...shorts(pack("i2", [-32768]))], [-32768]);
  assert.deepEqual([...octets(pack("u1", [255]))], [255]);
  assert.deepEqual(words(packWords(["B", "A", "B"])), ["B", "A", "B"]);
  assert.throws(() => doubles(pack("f4", [1])), /needs f8 numbers, got f4/);
});

test("a scene of another format is refused", () => {
  assert.throws(() => checkFormat({ format: 5 }), /format 6, got 5/);
});

test("a missing site stays where it was last, and a fit turns every site", () => {
  const packed = [100, 0, 0, -32768, -32768, -32768, 0, 100, 0];
  const quarter = [0, -1, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0];
  const fits = pack("f4", [...quarter, ...quarter, ...quarter]);
  const frames = new Frames({ molecular: true, spacing: 1, centre: [0, 0, 0], step: 0.01, frames: pack("i2", packed), snapshots: [1, 2, 3], fits });
  assert.equal(frames.nSites, 1);
  assert.deepEqual([0, 1, 2].map((frame) => frames.has(frame, 0)), [true, false, true]);
  assert.deepEqual([...frames.positions(1, false)], [1, 0, 0]);
  const turned = [...frames.positions(0, true)];
  assert.deepEqual(turned.map((x) => Math.round(x) + 0), [0, 1, 0]);
});

test("a stick longer than half the box crosses it, in periodic directions only", () => {
  const points: Point[] = [[1, 1, 1], [9, 9, 9]];
  const box = new PeriodicBox([[10, 0, 0], [0, 10, 0], [0, 0, 0]], [0, 0, 0], points);
  assert.ok(box.separates([1, 0, 0], [9, 0, 0]));
  assert.ok(!box.separates([1, 0, 0], [5, 0, 0]));
  assert.ok(!box.separates([0, 0, 0], [0, 0, 99]));
  assert.equal(box.edges.length, 4);
  const centred = new PeriodicBox([[10, 0, 0]], [0, 0, 0], [[-5, 0, 0], [5, 0, 0]]);
  assert.deepEqual(centred.edges, [[[-5, 0, 0], [5, 0, 0]]]);
});
