// What the page shows, as Python wrote it (src/timme/output/scene.py), and how its arrays unpack.

import { at } from "./arrays";

export type Packed = string;

export interface Words {
  values: string[];
  codes: Packed;
}

export interface Suggestion {
  cutoff: number;
  reason: string;
}

/** What heights are, as hierarchy/quantity.py says it. */
export interface Quantity {
  symbol: string; // σ
  unit: string; // of heights and cutoffs
  words: string; // fluctuation of distance
  cutoff: string; // σc
  cutoffName: string; // of an axis: σc, or E cutoff
  clusters: string; // co-moving clusters
  isLength: boolean; // whether σ/a means something
}

export interface Scene {
  format: number;
  title: string;
  quantity: Quantity; // what heights and cutoffs are
  length: number | null;
  lengthName: string;
  shownName: string;
  minSize: number;
  large: number;
  palette: PaletteName;
  palettes: {
    core: string;
    rest: string;
    wide: string[];
    safe: string[];
    sizes: string[]; // of P(r), r = 1, 2, …
    heights: string[]; // of pairs, from 0 to the largest
    theory: string;
  };
  suggestions: Suggestion[];
  limits: [number, number];
  tree: {
    order: Packed;
    gaps: Packed;
    levels: Packed;
    family: Packed; // of the clusters that start at each place of leaf order
    chains: Words;
    names: string[];
    sites: Packed;
  };
  colours: Record<PaletteName, Packed>; // of each family: 0 is that of the core, k the k-th of the palette
  whole: { order: Packed; gaps: Packed; shown: Packed };
  axis: {
    order: Packed;
    numbers: Packed;
    chains: Words;
    label: string;
    letters: string | null;
  } | null;
  sites: {
    objects: Packed;
    names: Words;
    elements: Words;
    resnames: Words;
    resids: Packed;
    icodes: Words;
    chains: Words;
  };
  space: Space | null;
  curves: {
    large: Packed;
    sizes: number[];
    sizeFractions: Packed[];
    largest: Packed;
    mean: Packed;
    number: Packed;
    theory: { cutoffs: Packed; large: Packed; sizes: Packed[] } | null;
  };
  matrix: Pairs | null; // heights of pairs, such as σ
  apart: Pairs | null; // fraction of snapshots in which pairs are apart
  confidence: Confidence | null; // how sure clusters are, where that is told
  motion: Motion | null; // rigid bodies, where they were looked for
  windows?: Windows | null; // clusters in time, where they were asked for
  about: {
    version: string;
    command: string;
    inputs: Record<string, string>[];
    options: Record<string, string>;
    notes: string[];
  };
}

/** How sure clusters are, as output/confidence.py says it. */
export interface Confidence {
  words: string; // whether there is data enough
  colour: "red" | "amber" | "green" | "grey"; // the same; grey where nothing can be told
  effective: number | null; // independent snapshots
  levels: string; // which levels stand out, or that none does
  standsOut: boolean;
  least: number; // sites that a cluster needs to be judged
  columns: string[]; // of tables, for each cluster
  looks: Record<Exclude<Look, "plain">, { words: string; veil: number }>; // what each means, how far it is dimmed
  runs: [start: number, stop: number, cluster: number][]; // clusters that were judged, in leaf order
  clusters: Judgement[];
}

export type Look = "solid" | "hatched" | "faded" | "plain";
export type Interval = [low: number, high: number]; // in which something is 9 times of 10

export interface Judgement {
  words: string; // a sentence
  look: Look; // plain where nothing can be told
  trusted: boolean;
  cells: string[]; // for the columns
  birth: number; // cutoff at which it is complete: below, parts of it stand for it
  death: number | null; // at which it joins its sibling; null if never
  formed: Interval | null; // in which these cutoffs lie
  joined: Interval | null;
}

/** Rigid bodies and how they move, as output/scene_motion.py says it. */
export interface Motion {
  words: string; // how many there are
  bodies: string[]; // a line for each of several: its members, and how it moves
  more: string[]; // sites of none, and what the next best number of bodies would be
  unit: string; // of lengths
  labels: Packed; // body of each shown object, -1 for none
  colours: string[]; // of each body, and of none
  reference: number; // the body that is held still
  hinges: Hinge[];
  levels: [bodies: number, gap: number | null, separation: number | null, sharpness: number | null, rest: number | null][];
  chosen: number; // place among these
  enough: number; // the gap that is asked for
  sharp: number; // and the sharpness
  explained: Explained;
}

export interface Hinge {
  body: number;
  kind: string;
  axis: number[] | null; // its direction, of length 1
  point: number[] | null; // on it
  cone: number | null; // half the angle of the cone in which it is 95 times of 100, in degrees
  turns: Interval | null; // least and largest angle, in degrees from the mean
  error: number | null; // of one angle; null of two snapshots
  pitch: number | null; // shift for a turn by 1 rad
  frames: Packed; // snapshots, from 0
  angles: Packed; // of these
}

/** Clusters of sliding windows, of which those that go on are one track. */
export interface Windows {
  cutoff: number; // at which they are cut
  windows: [start: number, stop: number][]; // snapshots of each, from 0
  tracks: number[][]; // of each window: the track of every shown object, -1 in no large cluster
}

/** Shares of the variance, one for each number of bodies. */
export interface Explained {
  n_bodies: number[];
  freedom: number[];
  finite: (number | null)[];
  linear: (number | null)[];
  held_out: (number | null)[];
  components: (number | null)[];
  components_held_out: (number | null)[];
}

/** Numbers of pairs in the order of the axis: the upper triangle, row by row, NaN where there is none. */
export interface Pairs {
  size: number;
  top: number;
  values: Packed;
}

export interface Space {
  dimensions: number;
  molecular: boolean;
  cartoon: boolean;
  spacing: number;
  bonds: Packed;
  contacts: Packed;
  contactHeights: Packed; // σ of the contacts, or what else cutoffs are compared with
  box: number[][] | null;
  origin: number[]; // where the vectors of the box start
  scale: number; // Å in the unit of the snapshots
  centre: number[]; // from which places are measured here, in Å
  snapshots: number[];
  nSnapshots: number;
  frames: Packed;
  absent: Packed; // frame · number of sites + site, of those that are not seen there and stand where they were last
}

export type PaletteName = "wide" | "safe";

function bytes(packed: Packed, kind: string): ArrayBuffer {
  if (!packed.startsWith(`${kind}:`)) throw new Error(`a scene with ${kind} numbers is needed`);
  const text = atob(packed.slice(kind.length + 1));
  const raw = new Uint8Array(text.length);
  for (let k = 0; k < text.length; k++) raw[k] = text.charCodeAt(k);
  return raw.buffer;
}

export const doubles = (packed: Packed): Float64Array => new Float64Array(bytes(packed, "f8"));
export const singles = (packed: Packed): Float32Array => new Float32Array(bytes(packed, "f4"));
export const wholes = (packed: Packed): Int32Array => new Int32Array(bytes(packed, "i4"));

export function words(packed: Words): string[] {
  return Array.from(wholes(packed.codes), (code) => at(packed.values, code));
}
