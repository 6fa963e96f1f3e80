// When sites join: the cutoff at which any two come into one cluster.

import { at } from "./arrays";
import type { Hierarchy } from "./hierarchy";

/** Where an element of a symmetric matrix is in its upper triangle, row by row. */
export function triangle(size: number, row: number, column: number): number {
  const [i, j] = row < column ? [row, column] : [column, row];
  return i * size - (i * (i - 1)) / 2 + (j - i);
}

/**
 * The cutoff at which objects come together, in an order of them, of which so many are chosen evenly: the upper
 * triangle, NaN for an object with itself and for those that never do.
 */
export function joiningValues(hierarchy: Hierarchy, order: Int32Array, size: number): Float32Array {
  const values = new Float32Array((size * (size + 1)) / 2).fill(NaN);
  const pixels = new Map<number, number>(); // by the place of their object in leaf order
  for (let pixel = 0; pixel < size; pixel++) {
    const object = at(order, Math.ceil((pixel * order.length) / size));
    pixels.set(at(hierarchy.place, object), pixel);
  }
  const places = Int32Array.from(pixels.keys()).sort();
  const pixelAt = new Int32Array(hierarchy.size);
  for (const [place, pixel] of pixels) pixelAt[place] = pixel;
  hierarchy.eachJoining(places, (one, other, cutoff) => {
    if (cutoff < Infinity) values[triangle(size, pixelAt[one]!, pixelAt[other]!)] = cutoff;
  });
  return values;
}

/** The value below which a part of all known ones lies. */
export function percentile(values: Float32Array, part: number): number {
  const known = values.filter((value) => !Number.isNaN(value)).sort();
  const place = part * (known.length - 1);
  const [low, high] = [known[Math.floor(place)] ?? NaN, known[Math.ceil(place)] ?? NaN];
  return low + (high - low) * (place - Math.floor(place));
}
