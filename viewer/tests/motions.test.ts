// Rigid motions and periodic boxes.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Periodic, Wholeness } from "../src/periodic";
import { eigenvectors, superposed } from "../src/superpose";
import { motions } from "./golden";

const CLOSE = 2e-5; // coordinates of about 10 in single precision

function assertClose(actual: ArrayLike<number>, expected: number[], about = ""): void {
  assert.equal(actual.length, expected.length);
  const worst = Math.max(...expected.map((value, k) => Math.abs(value - (actual[k] ?? NaN))));
  assert.ok(worst < CLOSE, `${about}: off by ${worst}`);
}

test("points are laid onto others as well as can be", () => {
  for (const { name, flat, points, reference, chosen, moved } of motions) {
    const [from, to] = [Float32Array.from(points.flat()), Float32Array.from(reference.flat())];
    assertClose(superposed(from, to, chosen, flat), moved.flat(), name);
  }
});

test("eigenvectors are ranked, of length 1, and keep their direction under the matrix", () => {
  const matrix = [[4, 1, -2], [1, 3, 0.5], [-2, 0.5, -1]];
  const times = (vector: number[]): number[] => matrix.map((row) => row.reduce((sum, x, k) => sum + x * (vector[k] ?? NaN), 0));
  const dot = (a: number[], b: number[]): number => a.reduce((sum, x, k) => sum + x * (b[k] ?? NaN), 0);
  const found = eigenvectors(matrix);
  const values = found.map((vector) => dot(vector, times(vector)));
  found.forEach((vector, k) => assertClose(times(vector), vector.map((x) => x * (values[k] ?? NaN))));
  found.forEach((vector) => assertClose([dot(vector, vector)], [1]));
  assertClose([values.reduce((sum, value) => sum + value)], [6]); // the trace
  assert.deepEqual(values, [...values].sort((a, b) => b - a));
});

const BOX = [[10, 0, 0], [0, 8, 0], [0, 0, 0]]; // open along z

test("a step of more than half the box crosses it, unless space is open there", () => {
  const periodic = new Periodic(BOX, [0, 0, 0]);
  assert.deepEqual(
    [[5, 0, 0], [5.1, 0, 0], [0, -4.1, 0], [2, 2, 50]].map(([x = 0, y = 0, z = 0]) => periodic.crosses(x, y, z)),
    [false, true, true, false],
  );
});

test("a box has its corners and the edges of its periodic directions", () => {
  const periodic = new Periodic(BOX, [1, 2, 3]);
  const points: [number, number, number][] = [[2, 3, 7], [4, 4, -5]]; // as far as which the box reaches along z
  const [low, high] = [periodic.corners(points).slice(0, 4), periodic.corners(points).slice(4)];
  assert.deepEqual(low, [[1, 2, -5], [11, 2, -5], [1, 10, -5], [11, 10, -5]]);
  assert.deepEqual(high, low.map(([x, y]) => [x, y, 7]));
  const edges = periodic.edges(points);
  assert.equal(edges.length, 8); // four about each end, and none along z
  assert.deepEqual(edges[0], [[1, 2, -5], [11, 2, -5]]);
  assert.ok(edges.every(([from, to]) => from[2] === to[2]));
  assert.ok(periodic.filledBy([[1, 2, 0], [9.5, 9, 0]]));
  assert.ok(!periodic.filledBy([[1, 2, 0], [9.5, 8, 0]]));
});

test("a cluster is whole unless a bond, a contact or a molecule of it goes through a wall", () => {
  const periodic = new Periodic(BOX, [0, 0, 0]);
  // Two molecules of two sites: the second leaves through the wall in the second frame.
  const first = Float32Array.from([1, 1, 0, 2, 1, 0, 8, 1, 0, 9, 1, 0]);
  const second = Float32Array.from([1, 1, 0, 2, 1, 0, 0, 1, 0, 1, 1, 0]);
  const bonds = Int32Array.from([0, 1, 2, 3]);
  const of = (frames: Float32Array[], contacts: number[]): Wholeness => new Wholeness(periodic, frames, bonds, Int32Array.from(contacts));
  assert.ok(of([first, second], []).whole([0, 1]));
  assert.ok(of([first, second], []).whole([2, 3]));
  assert.ok(!of([first, second], []).whole([0, 1, 2, 3]));
  assert.ok(of([first], []).whole([0, 1, 2, 3]));
  assert.ok(!of([first], [1, 2]).whole([1, 2])); // 6 apart
  assert.ok(of([first], [1, 2]).whole([0, 2]));
  const torn = Float32Array.from([1, 1, 0, 9, 1, 0, 4, 1, 0, 5, 1, 0]);
  assert.ok(!of([first, torn], []).whole([0]));
  assert.ok(of([first], []).whole([]));
});
