// Pixels of the dilution plot: every row is the cut at its cutoff.

import { at } from "./arrays";
import type { Colouring } from "./colours";
import type { Look } from "./scene";
import type { State } from "./state";

const HATCH_PERIOD = 7; // pixels
const HATCH_LINE = 2;
const LOOKS: readonly Look[] = ["plain", "solid", "hatched", "faded"]; // by their number in a paint
const OPACITY = { plain: 1, solid: 1, hatched: 0.75, faded: 0.3 };

/** Paint at each place of leaf order at a cutoff: a look and a colour as 0xrrggbb; -1 for the rest. */
function paintsAt(state: State, colouring: Colouring, cutoff: number, into: Int32Array): void {
  into.fill(-1);
  state.hierarchy.eachRun(cutoff, state.scene.shown.minSize, (start, stop, family) => {
    const look = LOOKS.indexOf(state.lookOf({ start, stop }, cutoff));
    into.fill((look << 24) | Number.parseInt(colouring.ofFamily(family).slice(1), 16), start, stop);
  });
}

/**
 * Red, green, blue and opacity of each pixel, row by row, the largest cutoff first.
 *
 * `order` holds the shown object at each place from left to right. What is in no cluster stays
 * transparent; `grain` is the number of pixels of the image for one of the screen.
 */
export function stripes(
  state: State,
  colouring: Colouring,
  order: Int32Array,
  [low, high]: readonly [number, number],
  [width, height]: readonly [number, number],
  grain = 1,
): Uint8ClampedArray<ArrayBuffer> {
  const pixels = new Uint8ClampedArray(4 * width * height);
  const leaves = order.map((object) => at(state.hierarchy.place, object));
  const paints = new Int32Array(leaves.length);
  const row = new Uint8ClampedArray(4 * width);
  const hatched = new Uint8Array(width);
  let level = -1;
  for (let y = 0; y < height; y++) {
    const cutoff = high - ((high - low) * (y + 0.5)) / height;
    const here = state.hierarchy.level(cutoff);
    if (here !== level) {
      level = here;
      paintsAt(state, colouring, cutoff, paints);
      paintRow(row, hatched, leaves, paints);
    }
    pixels.set(row, 4 * width * y);
    for (let x = hatched.indexOf(1); x >= 0; x = hatched.indexOf(1, x + 1)) {
      if ((x + y) % (HATCH_PERIOD * grain) < HATCH_LINE * grain) pixels[4 * (width * y + x) + 3] = 0;
    }
  }
  return pixels;
}

/** Paint one row: a pixel is the mean of the objects it covers, hatched if half of them are. */
function paintRow(row: Uint8ClampedArray, hatched: Uint8Array, leaves: Int32Array, paints: Int32Array): void {
  const [width, size] = [hatched.length, leaves.length];
  row.fill(0);
  for (let pixel = 0; pixel < width; pixel++) {
    const first = Math.floor((pixel * size) / width);
    const stop = Math.max(first + 1, Math.floor(((pixel + 1) * size) / width));
    let [red, green, blue, covered, lines, objects] = [0, 0, 0, 0, 0, 0];
    for (let place = first; place < stop; place++) {
      const paint = paints[leaves[place]!]!;
      if (paint < 0) continue;
      const look = LOOKS[paint >> 24]!;
      const weight = OPACITY[look];
      red += weight * ((paint >> 16) & 255);
      green += weight * ((paint >> 8) & 255);
      blue += weight * (paint & 255);
      covered += weight;
      objects++;
      if (look === "hatched") lines++;
    }
    hatched[pixel] = Number(lines > 0 && 2 * lines >= objects);
    if (covered > 0) row.set([red / covered, green / covered, blue / covered, (255 * covered) / (stop - first)], 4 * pixel);
  }
}

/** An image of pixels, as an address. */
export function imageOf(pixels: Uint8ClampedArray<ArrayBuffer>, width: number, height: number): string {
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [width, height];
  const context = canvas.getContext("2d");
  if (!context) throw new Error("this browser cannot draw on a canvas");
  context.putImageData(new ImageData(pixels, width, height), 0, 0);
  return canvas.toDataURL();
}
