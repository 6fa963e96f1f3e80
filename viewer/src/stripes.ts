// The stripes of the dilution plot: every row of pixels is the cut at its cutoff.

import { at, runs } from "./arrays";
import { type Along, rgb } from "./axes";
import { context2d } from "./dom";
import type { Model } from "./model";
import type { Painter } from "./painter";

const MOST_VECTOR_SITES = 2_000; // more become an image within a vector file

/** Colour at every place of leaf order at a cutoff, as 0xrrggbb, -1 for the rest. */
function coloursAt(model: Model, cutoff: number, into: Int32Array): void {
  into.fill(-1);
  model.hierarchy.eachRun(cutoff, model.minSize, (start, stop, family) => {
    const colour = Number.parseInt(model.colour(family).slice(1), 16);
    for (let place = start; place < stop; place++) into[place] = colour;
  });
}

/** Of every place of an axis, where its object is in leaf order. */
function leavesAlong({ order }: Along, model: Model): Int32Array {
  return order.map((object) => at(model.hierarchy.place, object));
}

/** The picture of all rows between two cutoffs. */
export function stripesImage(
  model: Model,
  shown: Along,
  range: readonly [number, number],
  width: number,
  height: number,
): HTMLCanvasElement {
  const canvas = document.createElement("canvas");
  canvas.width = Math.max(1, Math.round(width));
  canvas.height = Math.max(1, Math.round(height));
  const pixels = stripesPixels(model, shown, range, canvas.width, canvas.height);
  context2d(canvas).putImageData(new ImageData(pixels, canvas.width, canvas.height), 0, 0);
  return canvas;
}

/** Red, green, blue and opacity of each pixel, row by row; what is in no cluster stays transparent. */
export function stripesPixels(
  model: Model,
  shown: Along,
  range: readonly [number, number],
  width: number,
  height: number,
): Uint8ClampedArray<ArrayBuffer> {
  const pixels = new Uint8ClampedArray(4 * width * height);
  const leaves = leavesAlong(shown, model);
  const colours = new Int32Array(leaves.length);
  const bytesPerRow = 4 * width;
  let level = -1;
  for (let row = 0; row < height; row++) {
    const cutoff = range[1] - ((range[1] - range[0]) * (row + 0.5)) / height;
    const here = model.hierarchy.level(cutoff);
    const offset = row * bytesPerRow;
    if (here === level) {
      pixels.copyWithin(offset, offset - bytesPerRow, offset);
      continue;
    }
    level = here;
    coloursAt(model, cutoff, colours);
    paintRow(pixels.subarray(offset, offset + bytesPerRow), leaves, colours);
  }
  return pixels;
}

/** A pixel is the mean of the sites it covers. */
function paintRow(row: Uint8ClampedArray, leaves: Int32Array, colours: Int32Array): void {
  const width = row.length / 4;
  const size = leaves.length;
  for (let pixel = 0; pixel < width; pixel++) {
    const first = Math.floor((pixel * size) / width);
    const stop = Math.max(first + 1, Math.floor(((pixel + 1) * size) / width));
    let [red, green, blue, covered] = [0, 0, 0, 0];
    for (let place = first; place < stop; place++) {
      const colour = colours[leaves[place]!]!;
      if (colour < 0) continue;
      red += colour >> 16;
      green += (colour >> 8) & 255;
      blue += colour & 255;
      covered++;
    }
    if (covered === 0) continue;
    row[4 * pixel] = red / covered;
    row[4 * pixel + 1] = green / covered;
    row[4 * pixel + 2] = blue / covered;
    row[4 * pixel + 3] = (255 * covered) / (stop - first);
  }
}

/** Draw stripes as rectangles, one for each run of places that stays the same over levels. */
export function vectorStripes(
  p: Painter,
  model: Model,
  shown: Along,
  range: readonly [number, number],
  box: { x: number; y: number; width: number; height: number },
): boolean {
  const size = shown.order.length;
  if (size > MOST_VECTOR_SITES) return false;
  const { levels } = model.hierarchy;
  const leaves = leavesAlong(shown, model);
  const colours = new Int32Array(size);
  let open = new Map<string, number>(); // a run, and the cutoff from which it holds
  const y = (cutoff: number): number => box.y + (box.height * (range[1] - cutoff)) / (range[1] - range[0]);
  const x = (place: number): number => box.x + (box.width * place) / size;
  const close = (key: string, low: number, high: number): void => {
    const [start, stop, colour] = key.split(" ").map(Number) as [number, number, number];
    const fill = `#${colour.toString(16).padStart(6, "0")}`;
    p.rect(x(start), y(high), x(stop) - x(start), y(low) - y(high), fill);
  };
  const [first, last] = range.map((cutoff) => model.hierarchy.level(cutoff));
  for (const cutoff of [range[0], ...levels.subarray(first, last)]) {
    coloursAt(model, cutoff, colours);
    const now = new Map<string, number>();
    for (const key of runKeys(leaves.map((leaf) => at(colours, leaf)))) now.set(key, open.get(key) ?? cutoff);
    for (const [key, low] of open) if (!now.has(key)) close(key, low, cutoff);
    open = now;
  }
  for (const [key, low] of open) close(key, low, range[1]);
  return true;
}

/** Start, stop and colour of every run of one colour. */
function* runKeys(colours: Int32Array): Generator<string> {
  for (const { start, stop } of runs(colours.length, (place) => colours[place] === colours[place - 1])) {
    const colour = at(colours, start);
    if (colour >= 0) yield `${start} ${stop} ${colour}`;
  }
}

/** The colour that is legible on another. */
export function onTop(hex: string): string {
  const [red, green, blue] = rgb(hex);
  return 0.299 * red + 0.587 * green + 0.114 * blue > 150 ? "#000000" : "#ffffff";
}
