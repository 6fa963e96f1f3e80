// The clusters at any cutoff: objects in leaf order are together if no gap between them is above it.

import { at, inverse, type Run } from "./arrays";
import { doubles, type Scene, wholes } from "./scene";

export interface Cluster {
  start: number; // first place in leaf order
  stop: number; // place after the last
  size: number; // shown objects
  rank: number; // among all clusters of a cut, from 0; -1 for one that is looked at by itself
  lowest: number; // its lowest shown object
  family: number; // which colour it carries
  formed: number; // cutoff from which it is as it is; -Infinity for a single object
  joined: number; // cutoff at which it becomes part of a larger one; Infinity for a root
}

export interface Cut {
  cutoff: number;
  clusters: Cluster[]; // of at least the smallest size, of these the wanted, largest first, ties: lowest object first
  count: number; // clusters of any size
  largest: number; // size of the largest
  labels: Int32Array; // (shown,), place in `clusters`, -1 for the rest
  wholeLabels: Int32Array; // (objects in leaf order of the whole), the same
}

const LAST = Number.MAX_VALUE; // trees are apart at any cutoff

/** The gap before each place of leaf order, and after the last; those at the ends are infinite. */
function gapsBefore(between: Float64Array): Float64Array {
  const gaps = new Float64Array(between.length + 2).fill(Infinity);
  gaps.set(between, 1);
  return gaps;
}

/** Where the cluster that starts at a place ends: before the first gap above the limit. */
function endOf(gaps: Float64Array, start: number, limit: number): number {
  let stop = start + 1;
  while ((gaps[stop] ?? Infinity) <= limit) stop++;
  return stop;
}

/** The run of leaf order around a place in which no gap is above the cutoff. */
function around(gaps: Float64Array, place: number, cutoff: number): Run {
  const limit = Math.min(cutoff, LAST);
  let start = place;
  while ((gaps[start] ?? Infinity) <= limit) start--;
  return { start, stop: endOf(gaps, place, limit) };
}

export class Hierarchy {
  readonly size: number; // shown objects
  readonly order: Int32Array; // shown object at each place
  readonly place: Int32Array; // place of each shown object
  readonly levels: Float64Array;
  readonly sitePlace: Int32Array; // (sites,), place of a site's object in the whole, or -1
  private readonly gaps: Float64Array; // (shown + 1,)
  private readonly family: Int32Array; // of the clusters that start at each place
  private readonly wholeGaps: Float64Array;
  private readonly shownAt: Int32Array; // of the whole in leaf order: the shown object, or -1
  private readonly wholePlace: Int32Array; // of a shown object, its place in the whole
  private readonly startOf: Int32Array; // scratch: where the cluster of a lowest object starts

  constructor(scene: Scene) {
    this.order = wholes(scene.tree.order);
    this.size = this.order.length;
    this.gaps = gapsBefore(doubles(scene.tree.gaps));
    this.levels = doubles(scene.tree.levels);
    this.family = wholes(scene.tree.family);
    this.place = inverse(this.order);
    const order = wholes(scene.whole.order);
    const shown = wholes(scene.whole.shown);
    this.wholeGaps = gapsBefore(doubles(scene.whole.gaps));
    this.shownAt = order.map((object) => at(shown, object));
    this.wholePlace = new Int32Array(this.size);
    this.shownAt.forEach((object, place) => {
      if (object >= 0) this.wholePlace[object] = place;
    });
    const place = inverse(order);
    this.sitePlace = wholes(scene.sites.objects).map((object) => (object < 0 ? -1 : at(place, object)));
    this.startOf = new Int32Array(this.size);
  }

  /** How many levels lie at or below a cutoff. */
  level(cutoff: number): number {
    let low = 0;
    let high = this.levels.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.levels[middle] ?? Infinity) <= cutoff) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Clusters of at least a size, of which some may be wanted alone; they keep their ranks. */
  cut(cutoff: number, minSize: number, wanted: (run: Run) => boolean = () => true): Cut {
    const found = this.clusters(cutoff, minSize);
    found.clusters = found.clusters.filter(wanted);
    const labels = new Int32Array(this.size).fill(-1);
    const wholeLabels = new Int32Array(this.shownAt.length).fill(-1);
    found.clusters.forEach((cluster, label) => {
      for (let place = cluster.start; place < cluster.stop; place++) labels[this.order[place]!] = label;
      // A cluster of all objects holds one cluster of shown objects, or none.
      const whole = this.wholeRun(cluster.lowest, cutoff);
      for (let place = whole.start; place < whole.stop; place++) wholeLabels[place] = label;
    });
    return { cutoff, ...found, labels, wholeLabels };
  }

  /** Clusters of at least a size, largest first; how many there are of any size, and the largest. */
  clusters(cutoff: number, minSize: number): { clusters: Cluster[]; count: number; largest: number } {
    const { gaps, size, startOf } = this;
    const limit = Math.min(cutoff, LAST);
    const keys: number[] = []; // the larger, and of equal ones the lower, has the larger key
    let count = 0;
    let largest = 0;
    for (let start = 0, stop = 0; start < size; start = stop, count++) {
      stop = endOf(gaps, start, limit);
      largest = Math.max(largest, stop - start);
      if (stop - start < minSize) continue;
      const lowest = this.lowest(start, stop);
      keys.push((stop - start) * (size + 1) + (size - lowest));
      startOf[lowest] = start;
    }
    const clusters: Cluster[] = [];
    for (const key of Float64Array.from(keys).sort().reverse()) {
      const start = startOf[size - (key % (size + 1))]!;
      const run = { start, stop: start + Math.floor(key / (size + 1)) };
      clusters.push({ ...this.cluster(run), rank: clusters.length });
    }
    return { clusters, count, largest };
  }

  /** Tell where clusters of at least a size lie in leaf order, and of which family they are. */
  eachRun(cutoff: number, minSize: number, tell: (start: number, stop: number, family: number) => void): void {
    const { gaps, size, family } = this;
    const limit = Math.min(cutoff, LAST);
    for (let start = 0, stop = 0; start < size; start = stop) {
      stop = endOf(gaps, start, limit);
      if (stop - start >= minSize) tell(start, stop, family[start]!);
    }
  }

  /** Describe the cluster in a run. */
  cluster({ start, stop }: Run): Cluster {
    const { gaps } = this;
    let formed = -Infinity;
    for (let place = start + 1; place < stop; place++) formed = Math.max(formed, gaps[place] ?? formed);
    const joined = Math.min(gaps[start] ?? Infinity, gaps[stop] ?? Infinity);
    const family = at(this.family, start);
    return { start, stop, size: stop - start, rank: -1, lowest: this.lowest(start, stop), family, formed, joined };
  }

  /** The run of a shown object at a cutoff. */
  run(shown: number, cutoff: number): Run {
    return around(this.gaps, at(this.place, shown), cutoff);
  }

  /** The same cluster in the leaf order of all objects. */
  wholeRun(shown: number, cutoff: number): Run {
    return around(this.wholeGaps, at(this.wholePlace, shown), cutoff);
  }

  /** Shown objects in a run, ascending. */
  members({ start, stop }: Run): Int32Array {
    return this.order.slice(start, stop).sort();
  }

  /** The shown object that stands for a site at a cutoff, or -1. */
  shownOf(site: number, cutoff: number): number {
    const place = at(this.sitePlace, site);
    if (place < 0) return -1;
    const itself = at(this.shownAt, place);
    if (itself >= 0) return itself;
    const { start, stop } = around(this.wholeGaps, place, cutoff);
    return this.shownAt.subarray(start, stop).find((object) => object >= 0) ?? -1;
  }

  /** Tell the cutoff at which any two objects of some come together; they are given as ascending places of leaf order. */
  eachJoining(places: Int32Array, tell: (one: number, other: number, cutoff: number) => void): void {
    const between = Float64Array.from(places, (place, k) => {
      let highest = -Infinity;
      for (let gap = k ? places[k - 1]! + 1 : place; gap <= place; gap++) highest = Math.max(highest, this.gaps[gap]!);
      return highest;
    });
    for (let one = 0; one < places.length; one++) {
      let highest = -Infinity;
      for (let other = one + 1; other < places.length; other++) {
        highest = Math.max(highest, between[other]!);
        tell(places[one]!, places[other]!, highest);
      }
    }
  }

  /** The cutoff at which each shown object joins the core, with which leaf order begins; Infinity if never. */
  mobility(): Float64Array {
    const found = new Float64Array(this.size);
    let highest = this.size > 1 ? at(this.gaps, 1) : Infinity;
    this.order.forEach((object, place) => {
      if (place > 0) highest = Math.max(highest, at(this.gaps, place));
      found[object] = highest;
    });
    return found;
  }

  /** The lowest shown object in a run. */
  private lowest(start: number, stop: number): number {
    const { order, size } = this;
    let lowest = size;
    for (let place = start; place < stop; place++) lowest = Math.min(lowest, order[place] ?? size);
    return lowest;
  }
}
