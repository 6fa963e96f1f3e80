// Stripes of the dilution plot, as vectors and as pixels, are those of the slow reference.

import assert from "node:assert/strict";
import { test } from "node:test";
import { type Along, rgb } from "../src/axes";
import type { Painter } from "../src/painter";
import { onTop, stripesPixels, vectorStripes } from "../src/stripes";
import { modelOf, palettes, type Tree, treeNamed, trees } from "./golden";

function alongAxis({ axis }: Tree): Along {
  const order = Int32Array.from(axis);
  const place = Int32Array.from(axis, (_, object) => axis.indexOf(object));
  return { order, place, numbers: null, chains: null, label: "" };
}

type Rect = [x: number, y: number, width: number, height: number, fill: string];

/** A painter that keeps rectangles, and does nothing else. */
function keeping(rects: Rect[]): Painter {
  const nothing = (): void => {};
  return {
    vector: true,
    ratio: 1,
    rect: (...rect) => rects.push(rect),
    hatch: nothing,
    frame: nothing,
    line: nothing,
    text: nothing,
    image: nothing,
    clipped: (_x, _y, _width, _height, draw) => draw(),
  };
}

const colourOf = (family: number): string => (family === 0 ? palettes.core : (palettes.wide[family - 1] ?? ""));
const sorted = (rects: Rect[]): Rect[] => rects.sort((a, b) => (String(a) < String(b) ? -1 : 1));

for (const tree of trees) {
  test(`the stripes of ${tree.name} are the golden ones as vectors`, () => {
    const [low, high] = tree.limits;
    const rects: Rect[] = [];
    const box = { x: 0, y: 0, width: tree.shown.length, height: high - low };
    assert.ok(vectorStripes(keeping(rects), modelOf(tree), alongAxis(tree), tree.limits, box));
    const within = (cutoff: number): number => Math.min(high, Math.max(low, cutoff));
    const expected = tree.stripes.map(([start, stop, from, to, family]): Rect => {
      const [bottom, top] = [within(Number(from)), within(Number(to))];
      return [start, high - top, stop - start, top - bottom, colourOf(family)];
    });
    assert.deepEqual(sorted(rects), sorted(expected));
  });

  test(`the stripes of ${tree.name} are the golden ones as pixels`, () => {
    const [width, height] = [tree.shown.length, tree.rows.length];
    const pixels = stripesPixels(modelOf(tree), alongAxis(tree), tree.limits, width, height);
    const seen = tree.rows.map((row, y) =>
      row.map((_, x) => {
        const [red, green, blue, alpha] = pixels.subarray(4 * (y * width + x));
        const hex = [red, green, blue].map((part) => (part ?? 0).toString(16).padStart(2, "0")).join("");
        return alpha === 255 ? `#${hex}` : null;
      }),
    );
    assert.deepEqual(seen, tree.rows);
  });
}

test("a pixel is the mean of the sites that it covers", () => {
  const tree = treeNamed("a chain");
  // At 0.25, of the axis 0 1 2 3 4 5 6: 1 and 2 are together, which are what is left of the core, and 3, 4 and 5.
  const shown = alongAxis({ ...tree, axis: [0, 1, 2, 3, 4, 5, 6] });
  const pixels = [...stripesPixels(modelOf(tree), shown, [0.25, 0.25], 2, 1)];
  const [core, three] = [rgb(palettes.core), rgb(colourOf(1))];
  assert.deepEqual(pixels, [...core, Math.round((255 * 2) / 3), ...three, Math.round((255 * 3) / 4)]);
});

test("letters on a colour are black or white, whichever is legible", () => {
  assert.deepEqual(["#00008b", "#ffffff", "#f0e442", "#000000"].map(onTop), ["#ffffff", "#000000", "#000000", "#ffffff"]);
});
