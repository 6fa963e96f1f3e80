// The clusters at any cutoff: objects in leaf order are together if no gap between them is above it.

import { doubles, type Scene, wholes } from "./scene";

export interface Cluster {
  start: number; // first place in leaf order
  stop: number; // place after the last
  size: number; // shown objects
  lowest: number; // its lowest shown object
  family: number; // which colour it carries
  formed: number; // cutoff from which it is as it is; -Infinity for a single object
  joined: number; // cutoff at which it becomes part of a larger one; Infinity for a root
}

export interface Cut {
  cutoff: number;
  clusters: Cluster[]; // of at least the smallest size, largest first, ties: lowest object first
  count: number; // clusters of any size
  largest: number; // size of the largest
  labels: Int32Array; // (shown,), place in `clusters`, -1 for the rest
  wholeLabels: Int32Array; // (objects in leaf order of the whole), the same
}

export interface Run {
  start: number;
  stop: number;
}

const LAST = Number.MAX_VALUE; // trees are apart at any cutoff

/** The run of leaf order around a place in which no gap is above the cutoff. */
function around(gaps: Float64Array, place: number, cutoff: number): Run {
  const limit = Math.min(cutoff, LAST);
  let start = place;
  let stop = place + 1;
  while (start > 0 && gaps[start - 1]! <= limit) start--;
  while (stop <= gaps.length && gaps[stop - 1]! <= limit) stop++;
  return { start, stop };
}

export class Hierarchy {
  readonly size: number; // shown objects
  readonly order: Int32Array; // shown object at each place
  readonly place: Int32Array; // place of each shown object
  readonly levels: Float64Array;
  readonly sitePlace: Int32Array; // (sites,), place of a site's object in the whole, or -1
  private readonly gaps: Float64Array;
  private readonly family: Int32Array;
  private readonly core: Int32Array;
  private readonly wholeGaps: Float64Array;
  private readonly shownAt: Int32Array; // of the whole in leaf order: the shown object, or -1
  private readonly wholePlace: Int32Array; // of a shown object, its place in the whole
  private readonly startOf: Int32Array; // scratch: where the cluster of a lowest object starts

  constructor(scene: Scene) {
    this.order = wholes(scene.tree.order);
    this.size = this.order.length;
    this.gaps = doubles(scene.tree.gaps);
    this.levels = doubles(scene.tree.levels);
    this.family = wholes(scene.tree.family);
    this.core = wholes(scene.tree.core);
    this.place = inverse(this.order);
    const order = wholes(scene.whole.order);
    const shown = wholes(scene.whole.shown);
    this.wholeGaps = doubles(scene.whole.gaps);
    this.shownAt = order.map((object) => shown[object]!);
    this.wholePlace = new Int32Array(this.size);
    this.shownAt.forEach((object, at) => {
      if (object >= 0) this.wholePlace[object] = at;
    });
    const place = inverse(order);
    this.sitePlace = wholes(scene.sites.objects).map((object) => (object < 0 ? -1 : place[object]!));
    this.startOf = new Int32Array(this.size);
  }

  /** How many levels lie at or below a cutoff. */
  level(cutoff: number): number {
    let low = 0;
    let high = this.levels.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.levels[middle]! <= cutoff) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** The family of the cluster that starts at a place, with so many levels at or below. */
  familyAt(start: number, level: number): number {
    const core = this.core[level]!;
    return this.family[start === core ? 0 : start === 0 ? core : start]!;
  }

  cut(cutoff: number, minSize: number): Cut {
    const found = this.clusters(cutoff, minSize);
    const labels = new Int32Array(this.size).fill(-1);
    found.clusters.forEach(({ start, stop }, label) => {
      for (let at = start; at < stop; at++) labels[this.order[at]!] = label;
    });
    return { cutoff, ...found, labels, wholeLabels: this.wholeLabels(cutoff, labels) };
  }

  /** Clusters of at least a size, largest first; how many there are of any size, and the largest. */
  clusters(cutoff: number, minSize: number): { clusters: Cluster[]; count: number; largest: number } {
    const { gaps, order, size, startOf } = this;
    const limit = Math.min(cutoff, LAST);
    const keys: number[] = []; // the larger, and of equal ones the lower, has the larger key
    let count = 0;
    let largest = 0;
    for (let start = 0; start < size; count++) {
      let stop = start + 1;
      let lowest = order[start]!;
      while (stop < size && gaps[stop - 1]! <= limit) {
        if (order[stop]! < lowest) lowest = order[stop]!;
        stop++;
      }
      if (stop - start > largest) largest = stop - start;
      if (stop - start >= minSize) {
        keys.push((stop - start) * (size + 1) + (size - lowest));
        startOf[lowest] = start;
      }
      start = stop;
    }
    const level = this.level(cutoff);
    const clusters: Cluster[] = [];
    for (const key of Float64Array.from(keys).sort().reverse()) {
      const start = startOf[size - (key % (size + 1))]!;
      clusters.push(this.cluster({ start, stop: start + Math.floor(key / (size + 1)) }, level));
    }
    return { clusters, count, largest };
  }

  /** Tell where clusters of at least a size lie in leaf order, and of which family they are. */
  eachRun(cutoff: number, minSize: number, tell: (start: number, stop: number, family: number) => void): void {
    const { gaps, size } = this;
    const limit = Math.min(cutoff, LAST);
    const level = this.level(cutoff);
    for (let start = 0; start < size; ) {
      let stop = start + 1;
      while (stop < size && gaps[stop - 1]! <= limit) stop++;
      if (stop - start >= minSize) tell(start, stop, this.familyAt(start, level));
      start = stop;
    }
  }

  /** Describe the cluster in a run. */
  cluster({ start, stop }: Run, level: number): Cluster {
    const { gaps, order, size } = this;
    let lowest = order[start]!;
    let formed = -Infinity;
    for (let at = start + 1; at < stop; at++) {
      lowest = Math.min(lowest, order[at]!);
      formed = Math.max(formed, gaps[at - 1]!);
    }
    const before = start > 0 ? gaps[start - 1]! : Infinity;
    const after = stop < size ? gaps[stop - 1]! : Infinity;
    const family = this.familyAt(start, level);
    const joined = Math.min(before, after);
    return { start, stop, size: stop - start, lowest, family, formed, joined };
  }

  /** The run of a shown object at a cutoff. */
  run(shown: number, cutoff: number): Run {
    return around(this.gaps, this.place[shown]!, cutoff);
  }

  /** The same cluster in the leaf order of all objects. */
  wholeRun(shown: number, cutoff: number): Run {
    return around(this.wholeGaps, this.wholePlace[shown]!, cutoff);
  }

  /** Shown objects in a run, ascending. */
  members({ start, stop }: Run): Int32Array {
    return this.order.slice(start, stop).sort();
  }

  /** The shown object that stands for a site at a cutoff, or -1. */
  shownOf(site: number, cutoff: number): number {
    const place = this.sitePlace[site]!;
    if (place < 0) return -1;
    if (this.shownAt[place]! >= 0) return this.shownAt[place]!;
    const { start, stop } = around(this.wholeGaps, place, cutoff);
    for (let at = start; at < stop; at++) if (this.shownAt[at]! >= 0) return this.shownAt[at]!;
    return -1;
  }

  /** A cluster of all objects holds one cluster of shown objects, or none. */
  private wholeLabels(cutoff: number, shown: Int32Array): Int32Array {
    const { wholeGaps, shownAt } = this;
    const limit = Math.min(cutoff, LAST);
    const labels = new Int32Array(shownAt.length).fill(-1);
    for (let start = 0; start < shownAt.length; ) {
      let stop = start + 1;
      let label = shownAt[start]! >= 0 ? shown[shownAt[start]!]! : -1;
      while (stop < shownAt.length && wholeGaps[stop - 1]! <= limit) {
        if (label < 0 && shownAt[stop]! >= 0) label = shown[shownAt[stop]!]!;
        stop++;
      }
      if (label >= 0) labels.fill(label, start, stop);
      start = stop;
    }
    return labels;
  }
}

function inverse(order: Int32Array): Int32Array {
  const place = new Int32Array(order.length);
  order.forEach((object, at) => {
    place[object] = at;
  });
  return place;
}
