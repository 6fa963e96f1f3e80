// A periodic box: what reaches through its walls, which clusters it breaks, where its edges are.

import { at, eachPair, less, type Point, pointAt } from "./arrays";

const FILLED = 0.8; // of the box: a liquid reaches farther, a molecule in water need not
const HALF = 0.5; // of the box: what is longer is nearer the other way round, through the wall

export class Periodic {
  private readonly vectors: Point[]; // of the directions that are periodic

  /** `box` has three vectors, of length 0 where space is open; `origin` is where they start. */
  constructor(
    private readonly box: number[][],
    private readonly origin: number[],
  ) {
    this.vectors = box.filter((vector) => vector.some((part) => part !== 0)) as Point[];
  }

  /** Whether a step is longer than half the box, so that a stick along it would run through all of it. */
  crosses(x: number, y: number, z: number): boolean {
    for (const [a, b, c] of this.vectors) {
      if (Math.abs(x * a + y * b + z * c) > HALF * (a * a + b * b + c * c)) return true;
    }
    return false;
  }

  /** Whether two points are so far apart. */
  separates(one: Point, other: Point): boolean {
    return this.crosses(one[0] - other[0], one[1] - other[1], one[2] - other[2]);
  }

  /** Whether points reach over nearly all of the box in every direction. */
  filledBy(points: Point[]): boolean {
    return this.vectors.every((vector) => {
      let [low, high] = [Infinity, -Infinity];
      for (const point of points) {
        const along = dot(point, vector);
        low = Math.min(low, along);
        high = Math.max(high, along);
      }
      return high - low > FILLED * dot(vector, vector);
    });
  }

  /** Corners of the box about points: where space is open, as far as these reach. */
  corners(points: Point[]): Point[] {
    const which = [0, 1, 2, 3, 4, 5, 6, 7].map((bits) => [bits & 1, (bits >> 1) & 1, bits >> 2] as const);
    const origin = [...this.origin];
    const sides = this.box.map((vector, axis) => {
      if (vector.some((part) => part !== 0)) return vector;
      const [low, high] = reach(points, axis);
      origin[axis] = low;
      return [0, 1, 2].map((d) => (d === axis ? high - low : 0));
    });
    const along = (on: readonly number[], d: number): number =>
      sides.reduce((sum, side, k) => sum + at(on, k) * at(side, d), at(origin, d));
    return which.map((on) => [along(on, 0), along(on, 1), along(on, 2)]);
  }

  /** Edges along the directions that are periodic, of the box about points. */
  edges(points: Point[]): [Point, Point][] {
    const corners = this.corners(points);
    const ends: [Point, Point][] = [];
    corners.forEach((corner, bits) => {
      this.box.forEach((vector, axis) => {
        const there = vector.some((value) => value !== 0);
        if (there && !(bits & (1 << axis))) ends.push([corner, at(corners, bits | (1 << axis))]);
      });
    });
    return ends;
  }
}

/** From where to where points reach along an axis. */
function reach(points: Point[], axis: number): [number, number] {
  const along = points.map((point) => at(point, axis));
  return [along.reduce((least, x) => Math.min(least, x), Infinity), along.reduce((most, x) => Math.max(most, x), -Infinity)];
}

function dot(one: Point, other: Point): number {
  return one[0] * other[0] + one[1] * other[1] + one[2] * other[2];
}

/** Tells of sets of sites whether the box breaks them in any frame. */
export class Wholeness {
  private readonly first: Float32Array; // positions in the first frame
  private readonly molecule: Int32Array; // of each site: the lowest site that bonds lead to
  private readonly torn: Uint8Array; // of each molecule: whether one of its bonds crosses the box

  /** `frames` hold the positions of all sites; `bonds` and `contacts` are pairs of sites. */
  constructor(
    private readonly periodic: Periodic,
    private readonly frames: Float32Array[],
    bonds: Int32Array,
    private readonly contacts: Int32Array,
  ) {
    this.first = at(frames, 0);
    const molecule = joined(this.first.length / 3, bonds);
    const torn = new Uint8Array(molecule.length);
    for (const frame of frames) {
      eachPair(bonds, (a, b) => {
        if (this.apart(frame, a, b)) torn[at(molecule, a)] = 1;
      });
    }
    this.molecule = molecule;
    this.torn = torn;
  }

  /**
   * Whether no bond of the sites crosses the box, no contact between them does in the first frame, and
   * none of their molecules leaves the others through a wall later.
   */
  whole(sites: number[]): boolean {
    const stand = new Map<number, number>(); // one site for each molecule
    for (const site of sites) {
      const molecule = at(this.molecule, site);
      if (!stand.has(molecule)) stand.set(molecule, site);
    }
    const torn = [...stand.keys()].some((molecule) => this.torn[molecule]);
    return !torn && !this.breaksContact(sites) && this.goTogether([...stand.values()]);
  }

  /** Whether a contact between some sites crosses the box in the first frame. */
  private breaksContact(sites: number[]): boolean {
    const inside = new Uint8Array(this.molecule.length);
    for (const site of sites) inside[site] = 1;
    let found = false;
    eachPair(this.contacts, (a, b) => {
      found ||= inside[a] === 1 && inside[b] === 1 && this.apart(this.first, a, b);
    });
    return found;
  }

  /** Whether no site moves more than half the box against the first of them. */
  private goTogether([leader, ...others]: number[]): boolean {
    if (leader === undefined) return true;
    return this.frames.every((frame) => {
      const lead = this.step(frame, leader);
      return !others.some((site) => this.periodic.separates(this.step(frame, site), lead));
    });
  }

  /** How far a site is from where it was in the first frame. */
  private step(frame: Float32Array, site: number): Point {
    return less(pointAt(frame, site), pointAt(this.first, site));
  }

  private apart(frame: Float32Array, a: number, b: number): boolean {
    return this.periodic.separates(pointAt(frame, a), pointAt(frame, b));
  }
}

/** The lowest site of each set that pairs join. */
function joined(count: number, pairs: Int32Array): Int32Array {
  const parent = Int32Array.from({ length: count }, (_, site) => site);
  const root = (site: number): number => {
    for (let above = at(parent, site); above !== site; above = at(parent, site)) site = parent[site] = at(parent, above);
    return site;
  };
  eachPair(pairs, (one, other) => {
    const [a, b] = [root(one), root(other)];
    parent[Math.max(a, b)] = Math.min(a, b);
  });
  return parent.map((_, site) => root(site));
}
