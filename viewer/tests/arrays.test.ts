// Places, runs, points and pairs of arrays.

import assert from "node:assert/strict";
import { test } from "node:test";
import { at, copyPoint, eachPair, inverse, pointAt, runs } from "../src/arrays";

test("a value at a place that is not there is an error", () => {
  assert.equal(at([5, 6], 1), 6);
  assert.throws(() => at([5, 6], 2), /no place 2 among 2/);
  assert.throws(() => at(Int32Array.of(1), -1), /no place -1 among 1/);
});

test("runs cover all places once, and end where one does not go on", () => {
  const letters = [..."aabccc"];
  const found = [...runs(letters.length, (place) => letters[place] === letters[place - 1])];
  assert.deepEqual(found, [{ start: 0, stop: 2 }, { start: 2, stop: 3 }, { start: 3, stop: 6 }]);
  assert.deepEqual([...runs(0, () => true)], []);
});

test("the inverse of an order tells where each value is", () => {
  assert.deepEqual([...inverse(Int32Array.of(2, 0, 3, 1))], [1, 3, 0, 2]);
});

test("points are read and copied three numbers at a time", () => {
  const points = Float32Array.of(1, 2, 3, 4, 5, 6);
  assert.deepEqual(pointAt(points, 1), [4, 5, 6]);
  assert.deepEqual(pointAt(points, 2), [NaN, NaN, NaN]);
  const others = new Float32Array(6);
  copyPoint(points, 1, others, 0);
  assert.deepEqual([...others], [4, 5, 6, 0, 0, 0]);
});

test("pairs are told with their number", () => {
  const told: number[][] = [];
  eachPair(Int32Array.of(7, 8, 9, 10), (...pair) => told.push(pair));
  assert.deepEqual(told, [[7, 8, 0], [9, 10, 1]]);
});
