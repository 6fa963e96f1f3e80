// A periodic box: what reaches through its walls, which clusters it breaks, where its edges are.

export type Point = [number, number, number];

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

  /** Whether points reach over more than half of the box in every direction. */
  filledBy(points: Point[]): boolean {
    return this.vectors.every((vector) => {
      let [low, high] = [Infinity, -Infinity];
      for (const point of points) {
        const along = dot(point, vector);
        low = Math.min(low, along);
        high = Math.max(high, along);
      }
      return high - low > HALF * dot(vector, vector);
    });
  }

  corners(): Point[] {
    const which = [0, 1, 2, 3, 4, 5, 6, 7].map((bits) => [bits & 1, (bits >> 1) & 1, bits >> 2] as const);
    const at = (on: readonly number[], d: number): number => on.reduce((sum, part, k) => sum + part * this.box[k]![d]!, this.origin[d]!);
    return which.map((on) => [at(on, 0), at(on, 1), at(on, 2)]);
  }

  edges(): [Point, Point][] {
    const corners = this.corners();
    const ends: [Point, Point][] = [];
    for (let bits = 0; bits < 8; bits++) {
      for (const axis of [0, 1, 2]) {
        const there = this.box[axis]!.some((value) => value !== 0);
        if (there && !(bits & (1 << axis))) ends.push([corners[bits]!, corners[bits | (1 << axis)]!]);
      }
    }
    return ends;
  }
}

function dot(one: Point, other: Point): number {
  return one[0] * other[0] + one[1] * other[1] + one[2] * other[2];
}

/** Tells of sets of sites whether the box breaks them in any frame. */
export class Wholeness {
  private readonly molecule: Int32Array; // of each site: the lowest site that bonds lead to
  private readonly torn: Uint8Array; // of each molecule: whether one of its bonds crosses the box

  /** `frames` hold the positions of all sites; `bonds` and `contacts` are pairs of sites. */
  constructor(
    private readonly periodic: Periodic,
    private readonly frames: Float32Array[],
    bonds: Int32Array,
    private readonly contacts: Int32Array,
  ) {
    this.molecule = joined(frames[0]!.length / 3, bonds);
    this.torn = new Uint8Array(this.molecule.length);
    for (const frame of frames) {
      for (let k = 0; k < bonds.length; k += 2) {
        if (this.apart(frame, bonds[k]!, bonds[k + 1]!)) this.torn[this.molecule[bonds[k]!]!] = 1;
      }
    }
  }

  /**
   * Whether no bond of the sites crosses the box, no contact between them does in the first frame, and
   * none of their molecules leaves the others through a wall later.
   */
  whole(sites: number[]): boolean {
    const first = this.frames[0]!;
    const inside = new Uint8Array(this.molecule.length);
    for (const site of sites) inside[site] = 1;
    for (let k = 0; k < this.contacts.length; k += 2) {
      const [a, b] = [this.contacts[k]!, this.contacts[k + 1]!];
      if (inside[a] && inside[b] && this.apart(first, a, b)) return false;
    }
    const stand = new Map<number, number>(); // one site for each molecule
    for (const site of sites) if (!stand.has(this.molecule[site]!)) stand.set(this.molecule[site]!, site);
    for (const molecule of stand.keys()) if (this.torn[molecule]) return false;
    const [leader, ...others] = stand.values();
    if (leader === undefined) return true;
    for (const frame of this.frames) {
      const lead = [0, 1, 2].map((d) => frame[3 * leader + d]! - first[3 * leader + d]!) as Point;
      for (const site of others) {
        const at = 3 * site;
        const step = (d: number): number => frame[at + d]! - first[at + d]! - lead[d]!;
        if (this.periodic.crosses(step(0), step(1), step(2))) return false;
      }
    }
    return true;
  }

  private apart(frame: Float32Array, a: number, b: number): boolean {
    const step = (d: number): number => frame[3 * a + d]! - frame[3 * b + d]!;
    return this.periodic.crosses(step(0), step(1), step(2));
  }
}

/** The lowest site of each set that pairs join. */
function joined(count: number, pairs: Int32Array): Int32Array {
  const parent = Int32Array.from({ length: count }, (_, site) => site);
  const root = (site: number): number => {
    while (parent[site] !== site) site = parent[site] = parent[parent[site]!]!;
    return site;
  };
  for (let k = 0; k < pairs.length; k += 2) {
    const [a, b] = [root(pairs[k]!), root(pairs[k + 1]!)];
    parent[Math.max(a, b)] = Math.min(a, b);
  }
  return parent.map((_, site) => root(site));
}
