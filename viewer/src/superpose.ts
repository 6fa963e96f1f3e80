// Rigid motions: the rotation that lays one set of points onto another, and principal axes.

import { at, less, type Point, pointAt } from "./arrays";

export type Matrix3 = [number, number, number, number, number, number, number, number, number];

/** Eigenvectors of a symmetric matrix (rows), by descending eigenvalue, after Jacobi. */
export function eigenvectors(symmetric: number[][]): number[][] {
  const size = symmetric.length;
  const a = symmetric.map((row) => [...row]);
  const vectors = a.map((_, i) => a.map((__, j) => (i === j ? 1 : 0)));
  for (let sweep = 0; sweep < 60; sweep++) {
    let off = 0;
    for (let i = 0; i < size; i++) for (let j = i + 1; j < size; j++) off += element(a, i, j) ** 2;
    if (off < 1e-24 * a.reduce((sum, row, i) => sum + at(row, i) ** 2, 1e-300)) break;
    for (let i = 0; i < size; i++) {
      for (let j = i + 1; j < size; j++) rotate(a, vectors, i, j);
    }
  }
  const ranked = a.map((row, i) => [at(row, i), i] as const).sort((one, other) => other[0] - one[0]);
  return ranked.map(([, i]) => vectors.map((row) => at(row, i)));
}

function element(matrix: number[][], i: number, j: number): number {
  return at(at(matrix, i), j);
}

/** Turn two axes so that the element between them vanishes. */
function rotate(a: number[][], vectors: number[][], i: number, j: number): void {
  const between = element(a, i, j);
  if (between === 0) return;
  const theta = (element(a, j, j) - element(a, i, i)) / (2 * between);
  const t = (theta >= 0 ? 1 : -1) / (Math.abs(theta) + Math.hypot(theta, 1));
  const c = 1 / Math.hypot(t, 1);
  const s = t * c;
  const turn = (one: number, other: number): [number, number] => [c * one - s * other, s * one + c * other];
  for (const row of [...a, ...vectors]) [row[i], row[j]] = turn(at(row, i), at(row, j));
  const turned = at(a, i).map((value, k) => turn(value, element(a, j, k)));
  a[i] = turned.map(([one]) => one);
  a[j] = turned.map(([, other]) => other);
}

export function centroid(points: Float32Array, chosen: readonly number[]): Point {
  const sum: Point = [0, 0, 0];
  for (const which of chosen) {
    const point = pointAt(points, which);
    sum[0] += point[0];
    sum[1] += point[1];
    sum[2] += point[2];
  }
  const count = Math.max(1, chosen.length);
  return [sum[0] / count, sum[1] / count, sum[2] / count];
}

/** Rotation about the centroids that brings chosen points nearest to the same of a reference. */
export function rotation(
  points: Float32Array,
  reference: Float32Array,
  chosen: readonly number[],
  flat: boolean,
): Matrix3 {
  const [xx, xy, xz, yx, yy, yz, zx, zy, zz] = products(points, reference, chosen);
  if (flat) {
    const angle = Math.atan2(xy - yx, xx + yy); // a reflection is no motion in the plane
    const [c, s] = [Math.cos(angle), Math.sin(angle)];
    return [c, -s, 0, s, c, 0, 0, 0, 1];
  }
  const horn = [
    [xx + yy + zz, yz - zy, zx - xz, xy - yx],
    [yz - zy, xx - yy - zz, xy + yx, zx + xz],
    [zx - xz, xy + yx, yy - xx - zz, yz + zy],
    [xy - yx, zx + xz, yz + zy, zz - xx - yy],
  ];
  const [w, x, y, z] = eigenvectors(horn)[0] as [number, number, number, number];
  return [
    w * w + x * x - y * y - z * z,
    2 * (x * y - w * z),
    2 * (x * z + w * y),
    2 * (x * y + w * z),
    w * w - x * x + y * y - z * z,
    2 * (y * z - w * x),
    2 * (x * z - w * y),
    2 * (y * z + w * x),
    w * w - x * x - y * y + z * z,
  ];
}

/** Sum of (point)(reference)ᵀ over the chosen points, both about their centroids. */
function products(points: Float32Array, reference: Float32Array, chosen: readonly number[]): Matrix3 {
  const from = centroid(points, chosen);
  const to = centroid(reference, chosen);
  const sum: Matrix3 = [0, 0, 0, 0, 0, 0, 0, 0, 0];
  for (const which of chosen) {
    const p = less(pointAt(points, which), from);
    const q = less(pointAt(reference, which), to);
    sum[0] += p[0] * q[0];
    sum[1] += p[0] * q[1];
    sum[2] += p[0] * q[2];
    sum[3] += p[1] * q[0];
    sum[4] += p[1] * q[1];
    sum[5] += p[1] * q[2];
    sum[6] += p[2] * q[0];
    sum[7] += p[2] * q[1];
    sum[8] += p[2] * q[2];
  }
  return sum;
}

/** Move all points so that the chosen ones lie on those of a reference as well as they can. */
export function superposed(
  points: Float32Array,
  reference: Float32Array,
  chosen: readonly number[],
  flat: boolean,
): Float32Array {
  const [xx, xy, xz, yx, yy, yz, zx, zy, zz] = rotation(points, reference, chosen, flat);
  const from = centroid(points, chosen);
  const to = centroid(reference, chosen);
  const moved = new Float32Array(points.length);
  for (let which = 0; 3 * which < points.length; which++) {
    const p = less(pointAt(points, which), from);
    moved[3 * which] = xx * p[0] + xy * p[1] + xz * p[2] + to[0];
    moved[3 * which + 1] = yx * p[0] + yy * p[1] + yz * p[2] + to[1];
    moved[3 * which + 2] = zx * p[0] + zy * p[1] + zz * p[2] + to[2];
  }
  return moved;
}
