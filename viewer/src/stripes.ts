// The stripes of the dilution plot: every row of pixels is the cut at its cutoff.

import { at, runs } from "./arrays";
import { type Along, rgb } from "./axes";
import { context2d } from "./dom";
import type { Model } from "./model";
import { HATCH_LINE, HATCH_PERIOD, type Painter } from "./painter";
import type { Look } from "./scene";

const MOST_VECTOR_SITES = 2_000; // more become an image within a vector file
const RGB = 0xffffff;
const LOOKS: readonly Look[] = ["plain", "solid", "hatched", "faded"]; // by their number in a paint
const HATCHED = LOOKS.indexOf("hatched");

/** Paint at every place of leaf order at a cutoff: a look, and a colour as 0xrrggbb; -1 for the rest. */
function paintsAt(model: Model, cutoff: number, into: Int32Array): void {
  into.fill(-1);
  model.hierarchy.eachRun(cutoff, model.minSize, (start, stop, family) => {
    const run = { start, stop };
    if (!model.wants(run)) return;
    const colour = Number.parseInt(model.colour(family).slice(1), 16);
    const paint = (LOOKS.indexOf(model.sure.lookOf(run)) << 24) | colour;
    for (let place = start; place < stop; place++) into[place] = paint;
  });
}

/** How far each look is dimmed towards the paper. */
function veilsOf({ scene }: Model): number[] {
  return LOOKS.map((look) => (look === "plain" ? 0 : (scene.confidence?.looks[look].veil ?? 0)));
}

/** A colour seen through a veil. */
export function veiled(colour: string, paper: string, veil: number): string {
  const [above, below] = [rgb(colour), rgb(paper)];
  const mixed = above.map((part, k) => Math.round(part * (1 - veil) + (below[k] ?? 0) * veil));
  return `#${mixed.map((part) => part.toString(16).padStart(2, "0")).join("")}`;
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
  grain = 1,
): HTMLCanvasElement {
  const canvas = document.createElement("canvas");
  canvas.width = Math.max(1, Math.round(width));
  canvas.height = Math.max(1, Math.round(height));
  const pixels = stripesPixels(model, shown, range, canvas.width, canvas.height, grain);
  context2d(canvas).putImageData(new ImageData(pixels, canvas.width, canvas.height), 0, 0);
  return canvas;
}

/**
 * Red, green, blue and opacity of each pixel, row by row; what is in no cluster stays transparent, and what is dimmed
 * in part. `grain` is how many pixels there are for one of the screen, in which hatching is measured.
 */
export function stripesPixels(
  model: Model,
  shown: Along,
  range: readonly [number, number],
  width: number,
  height: number,
  grain = 1,
): Uint8ClampedArray<ArrayBuffer> {
  const pixels = new Uint8ClampedArray(4 * width * height);
  const leaves = leavesAlong(shown, model);
  const paints = new Int32Array(leaves.length);
  const opacity = veilsOf(model).map((veil) => 1 - veil);
  const bytesPerRow = 4 * width;
  const plain = new Uint8ClampedArray(bytesPerRow); // a row without hatching
  const hatched = new Uint8Array(width);
  const [period, line] = [HATCH_PERIOD * grain, Math.SQRT2 * HATCH_LINE * grain]; // along a row, lines are wider
  let level = -1;
  for (let row = 0; row < height; row++) {
    const cutoff = range[1] - ((range[1] - range[0]) * (row + 0.5)) / height;
    const here = model.hierarchy.level(cutoff);
    const offset = row * bytesPerRow;
    if (here !== level) {
      level = here;
      paintsAt(model, cutoff, paints);
      paintRow(plain, hatched, leaves, paints, opacity);
    }
    pixels.set(plain, offset);
    for (let pixel = hatched.indexOf(1); pixel >= 0; pixel = hatched.indexOf(1, pixel + 1)) {
      if ((pixel + row) % period < line) pixels[offset + 4 * pixel + 3] = 0;
    }
  }
  return pixels;
}

/** A pixel is the mean of the sites it covers, and hatched if half of those in clusters are. */
function paintRow(row: Uint8ClampedArray, hatched: Uint8Array, leaves: Int32Array, paints: Int32Array, opacity: number[]): void {
  const width = row.length / 4;
  row.fill(0);
  const size = leaves.length;
  for (let pixel = 0; pixel < width; pixel++) {
    const first = Math.floor((pixel * size) / width);
    const stop = Math.max(first + 1, Math.floor(((pixel + 1) * size) / width));
    let [red, green, blue, covered, lines, sites] = [0, 0, 0, 0, 0, 0];
    for (let place = first; place < stop; place++) {
      const paint = paints[leaves[place]!]!;
      if (paint < 0) continue;
      const look = paint >> 24;
      const weight = opacity[look]!;
      red += weight * ((paint >> 16) & 255);
      green += weight * ((paint >> 8) & 255);
      blue += weight * (paint & 255);
      covered += weight;
      if (look === HATCHED) lines++;
      sites++;
    }
    hatched[pixel] = Number(lines > 0 && 2 * lines >= sites);
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
  paper = "#ffffff",
): boolean {
  const size = shown.order.length;
  if (size > MOST_VECTOR_SITES) return false;
  const { levels } = model.hierarchy;
  const leaves = leavesAlong(shown, model);
  const paints = new Int32Array(size);
  const veils = veilsOf(model);
  let open = new Map<string, number>(); // a run, and the cutoff from which it holds
  const y = (cutoff: number): number => box.y + (box.height * (range[1] - cutoff)) / (range[1] - range[0]);
  const x = (place: number): number => box.x + (box.width * place) / size;
  const close = (key: string, low: number, high: number): void => {
    const [start, stop, paint] = key.split(" ").map(Number) as [number, number, number];
    const colour = `#${(paint & RGB).toString(16).padStart(6, "0")}`;
    const veil = at(veils, paint >> 24);
    const place = [x(start), y(high), x(stop) - x(start), y(low) - y(high)] as const;
    p.rect(...place, veil ? veiled(colour, paper, veil) : colour);
    if (paint >> 24 === HATCHED) p.hatch(...place, paper);
  };
  const [first, last] = range.map((cutoff) => model.hierarchy.level(cutoff));
  for (const cutoff of [range[0], ...levels.subarray(first, last)]) {
    paintsAt(model, cutoff, paints);
    const now = new Map<string, number>();
    for (const key of runKeys(leaves.map((leaf) => at(paints, leaf)))) now.set(key, open.get(key) ?? cutoff);
    for (const [key, low] of open) if (!now.has(key)) close(key, low, cutoff);
    open = now;
  }
  for (const [key, low] of open) close(key, low, range[1]);
  return true;
}

/** Start, stop and paint of every run of one paint. */
function* runKeys(paints: Int32Array): Generator<string> {
  for (const { start, stop } of runs(paints.length, (place) => paints[place] === paints[place - 1])) {
    const paint = at(paints, start);
    if (paint >= 0) yield `${start} ${stop} ${paint}`;
  }
}

/** The colour that is legible on another. */
export function onTop(hex: string): string {
  const [red, green, blue] = rgb(hex);
  return 0.299 * red + 0.587 * green + 0.114 * blue > 150 ? "#000000" : "#ffffff";
}
