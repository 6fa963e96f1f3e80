// Clusters at any cutoff: objects in leaf order are together if no gap between them exceeds the cutoff.

import { at, inverse, type Run } from "./arrays";
import { doubles, type Scene, wholes } from "./scene";

export interface Cluster extends Run {
  lowest: number; // its lowest shown object
  family: number; // which colour it carries
  formed: number; // cutoff from which it is complete; -Infinity for a single object
  joined: number; // cutoff at which it becomes part of a larger one; Infinity for a root
}

export interface Cut {
  cutoff: number;
  clusters: Cluster[]; // of at least the smallest size; largest first, then lowest object first
  count: number; // clusters of any size
  largest: number;
  labels: Int32Array; // (shown,), place in `clusters`, or -1
  wholeLabels: Int32Array; // (all objects in leaf order), the same
}

const LAST = Number.MAX_VALUE; // separate trees stay apart at any cutoff

/** The gap before each place of leaf order and after the last; infinite at both ends. */
function paddedGaps(between: Float64Array): Float64Array {
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

function runAround(gaps: Float64Array, place: number, cutoff: number): Run {
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
  readonly sitePlace: Int32Array; // (sites,), place of the object of a site among all, or -1
  private readonly gaps: Float64Array;
  private readonly family: Int32Array; // of the clusters that start at each place
  private readonly wholeGaps: Float64Array;
  private readonly shownAt: Int32Array; // shown object at each place of all objects, or -1
  private readonly wholePlace: Int32Array; // place of each shown object among all

  constructor({ tree, whole, sites }: Pick<Scene, "tree" | "whole" | "sites">) {
    this.order = wholes(tree.order);
    this.size = this.order.length;
    this.gaps = paddedGaps(doubles(tree.gaps));
    this.levels = doubles(tree.levels);
    this.family = wholes(tree.family);
    this.place = inverse(this.order);
    const order = wholes(whole.order);
    const shown = wholes(whole.shown);
    this.wholeGaps = paddedGaps(doubles(whole.gaps));
    this.shownAt = order.map((object) => at(shown, object));
    this.wholePlace = new Int32Array(this.size);
    this.shownAt.forEach((object, place) => {
      if (object >= 0) this.wholePlace[object] = place;
    });
    const place = inverse(order);
    this.sitePlace = wholes(sites.objects).map((object) => (object < 0 ? -1 : at(place, object)));
  }

  /** How many levels lie at or below a cutoff. */
  level(cutoff: number): number {
    let [low, high] = [0, this.levels.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.levels[middle]! <= cutoff) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  cut(cutoff: number, minSize: number): Cut {
    const clusters: Cluster[] = [];
    let [count, largest] = [0, 0];
    const limit = Math.min(cutoff, LAST);
    for (let start = 0, stop = 0; start < this.size; start = stop, count++) {
      stop = endOf(this.gaps, start, limit);
      largest = Math.max(largest, stop - start);
      if (stop - start >= minSize) clusters.push(this.cluster({ start, stop }));
    }
    clusters.sort((a, b) => b.stop - b.start - (a.stop - a.start) || a.lowest - b.lowest);
    const labels = new Int32Array(this.size).fill(-1);
    const wholeLabels = new Int32Array(this.shownAt.length).fill(-1);
    clusters.forEach(({ start, stop, lowest }, label) => {
      for (let place = start; place < stop; place++) labels[this.order[place]!] = label;
      // A cluster of all objects holds one cluster of shown objects, or none.
      const whole = runAround(this.wholeGaps, at(this.wholePlace, lowest), cutoff);
      wholeLabels.fill(label, whole.start, whole.stop);
    });
    return { cutoff, clusters, count, largest, labels, wholeLabels };
  }

  /** Visit the runs of clusters of at least a size, in leaf order. */
  eachRun(cutoff: number, minSize: number, visit: (start: number, stop: number, family: number) => void): void {
    const limit = Math.min(cutoff, LAST);
    for (let start = 0, stop = 0; start < this.size; start = stop) {
      stop = endOf(this.gaps, start, limit);
      if (stop - start >= minSize) visit(start, stop, this.family[start]!);
    }
  }

  cluster({ start, stop }: Run): Cluster {
    const { gaps } = this;
    let [formed, lowest] = [-Infinity, this.size];
    for (let place = start + 1; place < stop; place++) formed = Math.max(formed, gaps[place]!);
    for (let place = start; place < stop; place++) lowest = Math.min(lowest, this.order[place]!);
    const joined = Math.min(at(gaps, start), at(gaps, stop));
    return { start, stop, lowest, family: at(this.family, start), formed, joined };
  }

  /** The run of a shown object at a cutoff. */
  run(shown: number, cutoff: number): Run {
    return runAround(this.gaps, at(this.place, shown), cutoff);
  }

  /** Shown objects in a run, ascending. */
  members({ start, stop }: Run): Int32Array {
    return this.order.slice(start, stop).sort();
  }

  /** The shown object of a site at a cutoff: its own, or one of its cluster; -1 if there is none. */
  shownOf(site: number, cutoff: number): number {
    const place = at(this.sitePlace, site);
    if (place < 0) return -1;
    const own = at(this.shownAt, place);
    if (own >= 0) return own;
    const { start, stop } = runAround(this.wholeGaps, place, cutoff);
    return this.shownAt.subarray(start, stop).find((object) => object >= 0) ?? -1;
  }

  /** The cutoff at which two shown objects come together. */
  joining(one: number, other: number): number {
    const [a, b] = [at(this.place, one), at(this.place, other)];
    let highest = -Infinity;
    for (let place = Math.min(a, b) + 1; place <= Math.max(a, b); place++) highest = Math.max(highest, this.gaps[place]!);
    return highest;
  }
}
