// When sites join one another, and the core.

import assert from "node:assert/strict";
import { test } from "node:test";
import { joiningValues, percentile, triangle } from "../src/joining";
import { modelOf, trees } from "./golden";

for (const tree of trees) {
  test(`the sites of ${tree.name} join at the golden cutoffs, in any order`, () => {
    const { hierarchy } = modelOf(tree);
    const size = tree.axis.length;
    const values = joiningValues(hierarchy, Int32Array.from(tree.axis), size);
    tree.joining.forEach((row, one) => {
      assert.ok(Number.isNaN(values[triangle(size, one, one)]));
      row.forEach((expected, k) => {
        const cutoff = Math.fround(Number(expected));
        const found = values[triangle(size, one + 1 + k, one)];
        assert.ok(cutoff === Infinity ? Number.isNaN(found) : found === cutoff);
      });
    });
  });

  test(`the sites of ${tree.name} join the core at the golden cutoffs`, () => {
    assert.deepEqual([...modelOf(tree).hierarchy.mobility()], tree.mobility.map(Number));
  });
}

test("where there are more sites than pixels, a pixel is that of one site in so many", () => {
  for (const tree of trees.filter(({ axis }) => axis.length > 4)) {
    const { hierarchy } = modelOf(tree);
    const [whole, size] = [tree.axis.length, 3];
    const order = Int32Array.from(tree.axis);
    const all = joiningValues(hierarchy, order, whole);
    const few = joiningValues(hierarchy, order, size);
    const place = (pixel: number): number => Math.ceil((pixel * whole) / size);
    for (const [i, j] of [[0, 1], [0, 2], [1, 2]] as const) {
      assert.deepEqual(few[triangle(size, i, j)], all[triangle(whole, place(i), place(j))]);
    }
  }
});

test("a percentile lies between its neighbours, and knows no NaN", () => {
  const values = Float32Array.from([4, NaN, 1, 3, 2, 0]);
  assert.deepEqual([0, 0.5, 1].map((part) => percentile(values, part)), [0, 2, 4]);
  assert.ok(Math.abs(percentile(values, 0.9) - 3.6) < 1e-6);
  assert.ok(Number.isNaN(percentile(Float32Array.from([NaN]), 0.5)));
});
