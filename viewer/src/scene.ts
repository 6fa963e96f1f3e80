// The scene (format 6): what Python decided and the page shows. Types, and how packed arrays unpack.

import { at } from "./arrays";

export const FORMAT = 6;

/** Numbers in bulk: their type, a colon, and the base64 of their little-endian bytes. */
export type Packed = string;

/** Words that repeat: each once, and the number (i4) of the word of each entry. */
export interface Words {
  values: string[];
  codes: Packed;
}

export type Fact = [label: string, value: string];

export interface Scene {
  format: number;
  title: string; // name of the files, for the window and for saved files
  colours: Colours;
  quantity: Quantity;
  length: { value: number; name: string } | null; // a length to compare cutoffs with
  finding: Finding;
  groups: Groups | null;
  sites: Sites;
  shown: Shown;
  tree: { order: Packed; gaps: Packed; levels: Packed; family: Packed }; // i4, f8, f8, i4
  whole: { order: Packed; gaps: Packed; shown: Packed }; // i4, f8, i4: all objects; the shown one of each, or -1
  scales: { label: string; cutoff: number }[];
  limits: [low: number, high: number]; // cutoffs worth drawing
  clusters: Condensed[];
  curves: Curves;
  mobility: Packed; // f4, of each shown object
  matrix: Matrix | null;
  motion: Motion | null;
  sampling: { facts: Fact[] };
  about: { rows: Fact[]; notes: string[] };
  space: Space | null; // null for a matrix
  side?: string; // name of a result that is compared
  other?: Scene; // the first of two results
}

export interface Colours {
  core: string; // of curves
  rest: string;
  palettes: Palette[]; // the page opens with the first
  heights: string[]; // ramp from small to large σ
  sizes: string[]; // one for each of curves.sizes
  theory: string;
}

export interface Palette {
  name: string;
  groups: string[]; // of each group
  families: Words; // of each family; one that matches a group has its colour
}

export interface Quantity {
  cutoff: string; // symbol of a cutoff, σc
  unit: string;
}

export interface Finding {
  sentence: string;
  badge: string;
  size: string; // 214 Cα · 98 snapshots
  facts: Fact[];
  notes: string[];
  cutoff: number; // where the page opens
}

/** What the first picture shows; labels (i4) are of shown objects, -1 for none. */
export interface Groups {
  what: "body" | "group" | "network" | "cluster";
  labels: Packed;
  rows: { members: string; size: string; fit: string; moves: string }[];
}

export interface Sites {
  objects: Packed; // i4, object of each site, or -1
  elements: Words;
  resnames: Words;
  resids: Packed; // i4
  icodes: Words;
  chains: Words;
}

export interface Shown {
  word: string; // residues, particles, …
  label: string; // of the axis of places
  minSize: number;
  names: string[];
  chains: Words;
  sites: Packed; // i4, the site at which each is drawn
  order: Packed; // i4, shown object at each place of the axis
  numbers: Packed; // i4, number written at each place of the axis
}

export type Look = "solid" | "hatched" | "faded" | "plain";

/** A branch of the condensed tree: all clusters within a run of leaf order, between two cutoffs. */
export interface Condensed {
  start: number;
  stop: number;
  forms: number;
  joins: number | null; // null if it never joins
  support: string;
  separation: string;
  look: Look;
  verdict: string;
}

/** Values at each of tree.levels. */
export interface Curves {
  large: number; // R: clusters of so many or more are large
  fraction: Packed; // f4, sites in large clusters
  sizes: number[];
  sizeFractions: Packed[]; // f4, sites in clusters of each of these sizes
  largest: Packed; // i4
  theory: { cutoffs: Packed; fraction: Packed } | null; // f4
  chance: { cutoffs: Packed; largest: Packed } | null; // f4, largest cluster of independent walkers (95 %)
}

/** Upper triangle without the diagonal, row by row in the order of the axis, in 254 steps of the root of what is above low; 255 for none. */
export interface Matrix {
  name: string;
  size: number; // may be less than the shown objects: then bins of equal width
  low: number;
  top: number;
  values: Packed; // u1
}

/** Axes in the space of frames superposed on body 1. */
export interface Motion {
  axes: {
    body: number;
    from: [number, number, number];
    to: [number, number, number];
    cone: number | null; // half the angle in which the axis lies, in degrees
    label: string;
  }[];
  angles: { body: number; frames: Packed; values: Packed }[]; // i4, f4 in degrees
  facts: Fact[];
}

export interface Space {
  dimensions: number;
  molecular: boolean;
  cif: string | null; // the sites seen in the first frame, drawn as a cartoon
  cifSites: Packed; // i4, site of each atom of it
  spacing: number; // typical distance of neighbours
  bonds: Packed; // i4, pairs of sites
  box: number[][] | null; // three vectors, of length 0 where space is open
  centre: [number, number, number];
  step: number; // a position is centre + step × frames
  frames: Packed; // i2 (frames, sites, 3); -32768 where a site is missing
  fits: Packed | null; // f4 (frames, 12): rotation row by row, then shift, onto body 1 of the first frame
  view: number[] | null; // 9: rotation of the opening view, row by row
  snapshots: number[]; // number of each frame, from 1
  opens: number; // frame in which the most sites are seen
}

/** Refuse a scene that another version wrote. */
export function checkFormat(scene: { format: number }): void {
  if (scene.format !== FORMAT) {
    throw new Error(`the page needs a scene of format ${FORMAT}, got ${scene.format}; write the report again`);
  }
}

function bytes(packed: Packed, kind: string): ArrayBuffer {
  if (!packed.startsWith(`${kind}:`)) throw new Error(`the scene needs ${kind} numbers, got ${packed.slice(0, 3)}`);
  return Uint8Array.from(atob(packed.slice(kind.length + 1)), (letter) => letter.charCodeAt(0)).buffer;
}

export const doubles = (packed: Packed): Float64Array => new Float64Array(bytes(packed, "f8"));
export const singles = (packed: Packed): Float32Array => new Float32Array(bytes(packed, "f4"));
export const wholes = (packed: Packed): Int32Array => new Int32Array(bytes(packed, "i4"));
export const shorts = (packed: Packed): Int16Array => new Int16Array(bytes(packed, "i2"));
export const octets = (packed: Packed): Uint8Array => new Uint8Array(bytes(packed, "u1"));

export function words(packed: Words): string[] {
  return Array.from(wholes(packed.codes), (code) => at(packed.values, code));
}
