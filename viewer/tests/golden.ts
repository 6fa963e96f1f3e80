// The golden vectors (../../tests/golden), and scenes made of them as Python would write them.

import motionsFile from "../../tests/golden/motions.json";
import screwsFile from "../../tests/golden/screws.json";
import treesFile from "../../tests/golden/trees.json";
import wordsFile from "../../tests/golden/words.json";
import type { Point } from "../src/arrays";
import { Model } from "../src/model";
import type { Packed, Scene, Words } from "../src/scene";

type Real = number | string; // infinities are text, which Number reads

export interface Tree {
  name: string;
  objects: number;
  residues: [string, number, string][];
  shown: number[];
  minSize: number;
  tree: { order: number[]; gaps: Real[]; levels: number[]; family: number[] };
  colours: { wide: number[]; safe: number[] }; // of each family
  whole: { order: number[]; gaps: Real[] };
  cuts: Cut[];
  axis: number[];
  stripes: [number, number, Real, Real, number][];
  limits: [number, number];
  rows: (string | null)[][];
  joining: Real[][]; // of sites in the order of the axis: rows of the upper triangle
  mobility: Real[]; // of each site
}

export interface Cut {
  cutoff: Real;
  count: number;
  largest: number;
  clusters: {
    members: number[];
    objects: number[];
    formed: Real;
    joined: Real;
    family: number;
    wide: string;
    safe: string;
  }[];
  csv: string;
}

export interface Motion {
  name: string;
  flat: boolean;
  points: number[][];
  reference: number[][];
  chosen: number[];
  moved: number[][];
}

export interface Screw {
  degrees: number;
  pitch: number;
  point: Point;
  along: Point;
  points: Point[];
  moved: Point[];
}

export interface Runs {
  residues: [string, string][];
  members: number[];
  letters?: number;
  text: string;
}

interface GoldenWords {
  runs: Runs[];
  shortened: Required<Runs>[];
  selections: { about: string; residues: [string, number, string][]; members: number[]; text: string }[];
  numbers: { value: Real; digits: number; text: string }[];
  tables: { rows: string[][]; text: string }[];
}

const golden = treesFile as unknown as { palettes: { core: string; wide: string[]; safe: string[] }; trees: Tree[] };
export const { trees, palettes } = golden;
export const motions = motionsFile as unknown as Motion[];
export const screws = screwsFile as unknown as Screw[];
export const words = wordsFile as unknown as GoldenWords;

export function packed(kind: "f8" | "f4" | "i4", values: readonly Real[]): Packed {
  const numbers = values.map(Number);
  const { buffer } = { f8: Float64Array, f4: Float32Array, i4: Int32Array }[kind].from(numbers);
  return `${kind}:${btoa(String.fromCharCode(...new Uint8Array(buffer)))}`;
}

function packedWords(texts: string[]): Words {
  const values = [...new Set(texts)];
  return { values, codes: packed("i4", texts.map((text) => values.indexOf(text))) };
}

/** The objects of a tree as residues of one site each. */
export function sceneOf(tree: Tree): Scene {
  const { shown, residues } = tree;
  const drawn = residues.filter((_, object) => shown.includes(object));
  const everything = residues.map((_, object) => object);
  const same = packedWords(residues.map(() => "GLY"));
  const nothing = { large: "", sizes: [], sizeFractions: [], largest: "", mean: "", number: "", theory: null };
  return {
    format: 5,
    title: tree.name,
    quantity: {
      symbol: "σ",
      unit: "Å",
      words: "fluctuation of distance",
      cutoff: "σc",
      cutoffName: "σc",
      clusters: "co-moving clusters",
      isLength: true,
    },
    length: null,
    lengthName: "",
    shownName: "residue",
    minSize: tree.minSize,
    large: 10,
    palette: "wide",
    palettes: { ...palettes, rest: "#bdbdbd", sizes: [], heights: [], theory: "" },
    suggestions: [],
    limits: tree.limits,
    tree: {
      order: packed("i4", tree.tree.order),
      gaps: packed("f8", tree.tree.gaps),
      levels: packed("f8", tree.tree.levels),
      family: packed("i4", tree.tree.family),
      chains: packedWords(drawn.map(([chain]) => chain)),
      names: drawn.map(([, number, code]) => `${number}${code}`),
      sites: packed("i4", shown),
    },
    colours: { wide: packed("i4", tree.colours.wide), safe: packed("i4", tree.colours.safe) },
    whole: {
      order: packed("i4", tree.whole.order),
      gaps: packed("f8", tree.whole.gaps),
      shown: packed("i4", everything.map((object) => shown.indexOf(object))),
    },
    axis: null,
    sites: {
      objects: packed("i4", everything),
      names: same,
      elements: same,
      resnames: same,
      resids: packed("i4", residues.map(([, number]) => number)),
      icodes: packedWords(residues.map(([, , code]) => code)),
      chains: packedWords(residues.map(([chain]) => chain)),
    },
    space: null,
    curves: nothing,
    matrix: null,
    apart: null,
    confidence: null,
    motion: null,
    about: { version: "", command: "", inputs: [], options: {}, notes: [] },
  };
}

export function treeNamed(name: string): Tree {
  const found = trees.find((tree) => tree.name === name);
  if (!found) throw new Error(`there is no golden tree ${name}`);
  return found;
}

/** Residues that are together from 0 on, each of them shown. */
export function oneCluster(residues: [string, number, string][]): Tree {
  const order = residues.map((_, object) => object);
  const gaps = order.slice(1).map(() => 0);
  const levels = gaps.length ? [0] : [];
  return {
    name: "one cluster",
    objects: order.length,
    residues,
    shown: order,
    minSize: 1,
    tree: { order, gaps, levels, family: order },
    colours: { wide: order.map((_, k) => k && 1), safe: order.map((_, k) => k && 1) },
    whole: { order, gaps },
    cuts: [],
    axis: order,
    stripes: [],
    limits: [0, 1],
    rows: [],
    joining: [],
    mobility: [],
  };
}

export function modelOf(tree: Tree): Model {
  return new Model(sceneOf(tree));
}
