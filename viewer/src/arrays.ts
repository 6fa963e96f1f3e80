// Arrays: values at places that must be there, runs of places, points and pairs in flat arrays.
//
// The innermost loops read without a check (`!`), within bounds that stand beside them; nothing else does.

/** Places from one on, and before another. */
export interface Run {
  start: number;
  stop: number;
}

export type Point = [number, number, number];

/** The value at a place, which must be there. Loops over very many numbers are quicker without. */
export function at<Value>(values: ArrayLike<Value>, place: number): Value {
  const value = values[place];
  if (value === undefined) throw new RangeError(`there is no place ${place} among ${values.length}`);
  return value;
}

/** Runs of places, of which each but the first goes on with the one before. */
export function* runs(count: number, goesOn: (place: number) => boolean): Generator<Run> {
  for (let start = 0; start < count; ) {
    let stop = start + 1;
    while (stop < count && goesOn(stop)) stop++;
    yield { start, stop };
    start = stop;
  }
}

/** Where each value of an order is. */
export function inverse(order: Int32Array): Int32Array {
  const place = new Int32Array(order.length);
  order.forEach((value, k) => {
    place[value] = k;
  });
  return place;
}

/** One of the points that lie one after another; NaN where there is none. */
export function pointAt(points: Float32Array, which: number): Point {
  const k = 3 * which;
  return [points[k] ?? NaN, points[k + 1] ?? NaN, points[k + 2] ?? NaN];
}

/** The step to a point from another. */
export function less(one: Point, other: Point): Point {
  return [one[0] - other[0], one[1] - other[1], one[2] - other[2]];
}

/** Copy one point, or one colour, of some to a place among others. */
export function copyPoint(points: Float32Array, which: number, others: Float32Array, place: number): void {
  const from = 3 * which;
  const to = 3 * place;
  others[to] = points[from] ?? NaN;
  others[to + 1] = points[from + 1] ?? NaN;
  others[to + 2] = points[from + 2] ?? NaN;
}

/** Go through pairs that lie one after another. */
export function eachPair(flat: Int32Array, tell: (one: number, other: number, pair: number) => void): void {
  for (let k = 0, pair = 0; k + 1 < flat.length; k += 2, pair++) tell(flat[k]!, flat[k + 1]!, pair);
}
