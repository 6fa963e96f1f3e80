// Rigid motions: the rotation that lays one set of points onto another, and principal axes.

export type Matrix3 = [number, number, number, number, number, number, number, number, number];

/** Eigenvectors of a symmetric matrix (rows), by descending eigenvalue, after Jacobi. */
export function eigenvectors(symmetric: number[][]): number[][] {
  const size = symmetric.length;
  const a = symmetric.map((row) => [...row]);
  const vectors = a.map((_, i) => a.map((__, j) => (i === j ? 1 : 0)));
  for (let sweep = 0; sweep < 60; sweep++) {
    let off = 0;
    for (let i = 0; i < size; i++) for (let j = i + 1; j < size; j++) off += a[i]![j]! ** 2;
    if (off < 1e-24 * a.reduce((sum, row, i) => sum + row[i]! ** 2, 1e-300)) break;
    for (let i = 0; i < size; i++) {
      for (let j = i + 1; j < size; j++) rotate(a, vectors, i, j);
    }
  }
  const ranked = a.map((row, i) => [row[i]!, i] as const).sort((one, other) => other[0] - one[0]);
  return ranked.map(([, i]) => vectors.map((row) => row[i]!));
}

function rotate(a: number[][], vectors: number[][], i: number, j: number): void {
  if (a[i]![j] === 0) return;
  const theta = (a[j]![j]! - a[i]![i]!) / (2 * a[i]![j]!);
  const t = (theta >= 0 ? 1 : -1) / (Math.abs(theta) + Math.hypot(theta, 1));
  const c = 1 / Math.hypot(t, 1);
  const s = t * c;
  for (const row of a) [row[i], row[j]] = [c * row[i]! - s * row[j]!, s * row[i]! + c * row[j]!];
  const [first, second] = [[...a[i]!], [...a[j]!]];
  a[i] = first.map((value, k) => c * value - s * second[k]!);
  a[j] = first.map((value, k) => s * value + c * second[k]!);
  for (const row of vectors) [row[i], row[j]] = [c * row[i]! - s * row[j]!, s * row[i]! + c * row[j]!];
}

export function centroid(points: Float32Array, chosen: ArrayLike<number>): [number, number, number] {
  const sum: [number, number, number] = [0, 0, 0];
  for (let k = 0; k < chosen.length; k++) for (let d = 0; d < 3; d++) sum[d]! += points[3 * chosen[k]! + d]!;
  return sum.map((value) => value / Math.max(1, chosen.length)) as [number, number, number];
}

/** Rotation about the centroids that brings chosen points nearest to the same of a reference. */
export function rotation(
  points: Float32Array,
  reference: Float32Array,
  chosen: ArrayLike<number>,
  flat: boolean,
): Matrix3 {
  const from = centroid(points, chosen);
  const to = centroid(reference, chosen);
  const m = [0, 0, 0, 0, 0, 0, 0, 0, 0]; // Σ (point)(reference)ᵀ
  for (let k = 0; k < chosen.length; k++) {
    const at = 3 * chosen[k]!;
    for (let i = 0; i < 3; i++) {
      for (let j = 0; j < 3; j++) m[3 * i + j]! += (points[at + i]! - from[i]!) * (reference[at + j]! - to[j]!);
    }
  }
  if (flat) {
    const angle = Math.atan2(m[1]! - m[3]!, m[0]! + m[4]!); // a reflection is no motion in the plane
    const [c, s] = [Math.cos(angle), Math.sin(angle)];
    return [c, -s, 0, s, c, 0, 0, 0, 1];
  }
  const [xx, xy, xz, yx, yy, yz, zx, zy, zz] = m as Matrix3;
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

/** Move all points so that the chosen ones lie on those of a reference as well as they can. */
export function superposed(
  points: Float32Array,
  reference: Float32Array,
  chosen: ArrayLike<number>,
  flat: boolean,
): Float32Array {
  const r = rotation(points, reference, chosen, flat);
  const from = centroid(points, chosen);
  const to = centroid(reference, chosen);
  const moved = new Float32Array(points.length);
  for (let at = 0; at < points.length; at += 3) {
    const [x, y, z] = [points[at]! - from[0], points[at + 1]! - from[1], points[at + 2]! - from[2]];
    for (let d = 0; d < 3; d++) moved[at + d] = r[3 * d]! * x + r[3 * d + 1]! * y + r[3 * d + 2]! * z + to[d]!;
  }
  return moved;
}
