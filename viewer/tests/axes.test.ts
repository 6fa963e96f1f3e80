// Ticks along places: round numbers, with room for each.

import assert from "node:assert/strict";
import { test } from "node:test";
import { type Along, placeTicks } from "../src/axes";

function residues(first: number, count: number): Along {
  const order = Int32Array.from({ length: count }, (_, place) => place);
  return { order, place: order, numbers: order.map((place) => first + place), chains: null, label: "" };
}

const values = (shown: Along, width: number): number[] => placeTicks(shown, width).map(({ value }) => value);

test("ticks are round numbers with room between them", () => {
  assert.deepEqual(values(residues(1, 110), 700), [10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 110]);
  assert.deepEqual(values(residues(3, 5), 700), [3, 4, 5, 6, 7]);
});

test("an axis as narrow as that of a phone has more than one tick", () => {
  for (let count = 20; count < 500; count++) {
    for (const width of [200, 240, 280]) {
      const found = values(residues(1, count), width);
      assert.ok(found.length >= 2, `${count} residues in ${width} pixels: ${found}`);
      found.slice(1).forEach((value, k) => assert.ok((value - (found[k] ?? 0)) * width >= 34 * count));
    }
  }
  assert.deepEqual(values(residues(1, 99), 240), [20, 40, 60, 80]);
});

test("numbers that begin anew in another chain are not written into one another", () => {
  const order = Int32Array.from({ length: 120 }, (_, place) => place);
  const shown = { order, place: order, numbers: order.map((place) => (place % 60) + 1), chains: null, label: "" };
  const found = placeTicks(shown, 300);
  found.slice(1).forEach(({ place }, k) => assert.ok(((place - (found[k]?.place ?? 0)) * 300) / 120 >= 34));
});
