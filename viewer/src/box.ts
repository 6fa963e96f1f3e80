// A periodic box: its edges, and which sticks would run through its walls.

import { dot, extent, type Point } from "./arrays";

const OUTSIDE = 0.1; // of the box, by which points may leave it where it is drawn as in the file

export class PeriodicBox {
  private readonly vectors: Point[]; // of the periodic directions
  readonly edges: [Point, Point][];

  /** `vectors` are three, of length 0 where space is open; `origin` is where the file starts the box. */
  constructor(vectors: Point[], origin: Point, points: readonly Point[]) {
    this.vectors = vectors.filter((vector) => dot(vector, vector) > 0);
    const corner = this.fits(origin, points) ? origin : this.centred(points);
    this.edges = [];
    for (let bits = 0; bits < 2 ** this.vectors.length; bits++) {
      this.vectors.forEach((_, axis) => {
        if (!(bits & (1 << axis))) this.edges.push([this.corner(corner, bits), this.corner(corner, bits | (1 << axis))]);
      });
    }
  }

  /** Whether two points are more than half the box apart, so that the way through a wall is shorter. */
  separates([ax, ay, az]: Point, [bx, by, bz]: Point): boolean {
    return this.vectors.some((vector) => {
      const along = (ax - bx) * vector[0] + (ay - by) * vector[1] + (az - bz) * vector[2];
      return Math.abs(along) > 0.5 * dot(vector, vector);
    });
  }

  private corner(from: Point, bits: number): Point {
    return [0, 1, 2].map((d) => this.vectors.reduce((sum, v, axis) => sum + (bits & (1 << axis) ? v[d]! : 0), from[d]!)) as Point;
  }

  private along(vector: Point, points: readonly Point[]): [number, number] {
    return extent(points.map((point) => dot(point, vector) / dot(vector, vector)));
  }

  private fits(origin: Point, points: readonly Point[]): boolean {
    return this.vectors.every((vector) => {
      const start = dot(origin, vector) / dot(vector, vector);
      const [low, high] = this.along(vector, points);
      return low - start > -OUTSIDE && high - start < 1 + OUTSIDE;
    });
  }

  /** The corner that puts the middle of the box into the middle of the points. */
  private centred(points: readonly Point[]): Point {
    const middle = [0, 1, 2].map((d) => points.reduce((sum, point) => sum + point[d]!, 0) / Math.max(1, points.length));
    return middle.map((x, d) => x - this.vectors.reduce((sum, vector) => sum + vector[d]!, 0) / 2) as Point;
  }
}
