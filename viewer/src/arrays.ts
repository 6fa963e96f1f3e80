// Flat arrays: checked access, runs of places, points and pairs.
//
// Innermost loops read without a check (`!`), within bounds that stand beside them.

/** Places from `start` on, before `stop`. */
export interface Run {
  start: number;
  stop: number;
}

export type Point = [number, number, number];

/** The value at a place, which must exist. */
export function at<Value>(values: ArrayLike<Value>, place: number): Value {
  const value = values[place];
  if (value === undefined) throw new RangeError(`no place ${place} in an array of ${values.length}`);
  return value;
}

/** Split places into runs; `continues` says whether a place belongs to the run of the one before. */
export function* runs(count: number, continues: (place: number) => boolean): Generator<Run> {
  for (let start = 0; start < count; ) {
    let stop = start + 1;
    while (stop < count && continues(stop)) stop++;
    yield { start, stop };
    start = stop;
  }
}

/** Place of each value of a permutation. */
export function inverse(order: Int32Array): Int32Array {
  const places = new Int32Array(order.length);
  order.forEach((value, place) => {
    places[value] = place;
  });
  return places;
}

export function pointAt(points: Float32Array, which: number): Point {
  return [points[3 * which] ?? NaN, points[3 * which + 1] ?? NaN, points[3 * which + 2] ?? NaN];
}

export function copyPoint(from: Float32Array, which: number, to: Float32Array, place: number): void {
  for (let d = 0; d < 3; d++) to[3 * place + d] = from[3 * which + d]!;
}

export const minus = (a: Point, b: Point): Point => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
export const dot = (a: Point, b: Point): number => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];

/** Visit pairs that lie one after another. */
export function eachPair(flat: Int32Array, visit: (a: number, b: number, pair: number) => void): void {
  for (let pair = 0; 2 * pair + 1 < flat.length; pair++) visit(flat[2 * pair]!, flat[2 * pair + 1]!, pair);
}

/** Smallest and largest finite value. */
export function extent(values: Iterable<number>): [number, number] {
  let [low, high] = [Infinity, -Infinity];
  for (const value of values) {
    if (!Number.isFinite(value)) continue;
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  return [low, high];
}
