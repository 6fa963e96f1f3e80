// Words and numbers as people read them: cutoffs with their unit, clusters with their members.

import { at, runs } from "./arrays";
import type { Cluster } from "./hierarchy";
import type { Model } from "./model";
import type { Interval, Scene } from "./scene";

export function symbol(scene: Scene): string {
  return scene.quantity.cutoffName;
}

export function number(value: number, digits = 4): string {
  if (value === Infinity) return "∞";
  if (value === -Infinity) return "−∞";
  const text = String(Number(value.toPrecision(digits)));
  return text.replace("-", "−");
}

export function withUnit(value: number, scene: Scene): string {
  return scene.quantity.unit ? `${number(value)} ${scene.quantity.unit}` : number(value);
}

/** What an error says. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The cutoff in words: σc = 0.0252 Å (σc/a = 0.0164). */
export function cutoffText(model: Model, cutoff = model.cut.cutoff): string {
  const { scene } = model;
  const scaled = scaledLength(scene);
  const plain = `${symbol(scene)} = ${withUnit(cutoff, scene)}`;
  return scaled ? `${plain} (${scene.quantity.cutoff}/a = ${number(cutoff / scaled, 3)})` : plain;
}

/** The length a, where a second axis says something new. */
export function scaledLength(scene: Scene): number | null {
  if (!scene.quantity.isLength || !scene.length) return null;
  return scene.length === 1 && !scene.quantity.unit ? null : scene.length;
}

/** What there is at this cutoff, in one sentence. */
export function facts(model: Model): string {
  const { cut, scene, minSize, hierarchy } = model;
  const inside = cut.clusters.reduce((sum, cluster) => sum + cluster.size, 0);
  const n = cut.clusters.length;
  const least = `of at least ${minSize} ${plural(scene.shownName, minSize)}`;
  const kind = model.trustedOnly ? "trusted cluster" : "cluster";
  const what = `${n} ${kind}${n === 1 ? "" : "s"} ${least}`;
  if (n === 0) return `At ${cutoffText(model)} there is no ${kind} ${least}.`;
  return (
    `At ${cutoffText(model)}, ${what} hold${n === 1 ? "s" : ""} ${inside} of ${hierarchy.size}; ` +
    `the largest has ${at(cut.clusters, 0).size}.`
  );
}

/** Words have a plural, symbols such as Cα have none. */
export function plural(name: string, count: number): string {
  return count !== 1 && /^[a-z]+$/.test(name) ? `${name}s` : name;
}

export function clusterName({ rank }: Cluster): string {
  return rank === 0 ? "Cluster 1, the core" : `Cluster ${rank + 1}`;
}

/** From formation to joining, in words. */
export function life(cluster: Cluster, scene: Scene): string {
  const born = cluster.formed === -Infinity ? "always there" : `forms at ${withUnit(cluster.formed, scene)}`;
  const dies = cluster.joined === Infinity ? "never joins another" : `joins another at ${withUnit(cluster.joined, scene)}`;
  return `${born}, ${dies}`;
}

/** Bounds between which a cutoff lies: 0.021–0.03. */
export function intervalText([low, high]: Interval): string {
  return `${number(low, 3)}–${number(high, 3)}`;
}

/** What objects are called: their chain, their number or name, whether they come right after the one before. */
export interface Names {
  readonly chains: string[];
  readonly names: string[];
  readonly follows: Uint8Array;
}

/**
 * Members as runs of neighbours: A 5-32 40, B 7-9. As in clusters.csv. A text of more letters than
 * wanted ends after its last whole run that fits.
 */
export function runsText({ chains, names, follows }: Names, members: Int32Array, letters = Infinity): string {
  let text = "";
  let chain: string | null = null;
  const goesOn = (k: number): boolean => {
    const member = at(members, k);
    return at(members, k - 1) === member - 1 && follows[member] === 1;
  };
  for (const { start, stop } of runs(members.length, goesOn)) {
    const [first, last] = [at(members, start), at(members, stop - 1)];
    const name = at(chains, first);
    const ends = first === last ? at(names, first) : `${at(names, first)}-${at(names, last)}`;
    const longer = `${text}${name === chain ? "" : `${text ? ", " : ""}${name}`} ${ends}`;
    if (longer.trim().length > letters) return `${text} …`.trim();
    text = longer;
    chain = name;
  }
  return text.trim();
}

const NUMBERED = /^(-?\d+)[A-Za-z]?$/;

/**
 * Of each object, whether it comes right after the one before: in the same chain, with the next
 * number or the same with another letter. Names that are no numbers follow one another as they stand.
 */
export function neighbours(chains: string[], names: string[]): Uint8Array {
  let before = NaN;
  return Uint8Array.from(names, (name, k) => {
    const number = Number(NUMBERED.exec(name)?.[1] ?? NaN);
    const step = number - before;
    before = number;
    const goesOn = Number.isNaN(step) || step === 0 || step === 1;
    return Number(k > 0 && chains[k] === chains[k - 1] && goesOn);
  });
}
