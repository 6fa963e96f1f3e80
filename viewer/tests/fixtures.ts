// Small scenes as Python writes them: a molecule of 60 residues and 60 particles, in one made-up tree.

import type { Packed, Scene, Words } from "../src/scene";

type Kind = "f8" | "f4" | "i4" | "i2" | "u1";
const ARRAYS = { f8: Float64Array, f4: Float32Array, i4: Int32Array, i2: Int16Array, u1: Uint8Array };
const SIZE = 60;
const GROUP = 20; // places from the first on that form a cluster of their own
const COLOURS = ["#00008b", "#e69f00", "#56b4e9", "#882255", "#009e73"];

export function pack(kind: Kind, values: Iterable<number>): Packed {
  const bytes = new Uint8Array(ARRAYS[kind].from([...values]).buffer);
  return `${kind}:${btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""))}`;
}

export function packWords(words: string[]): Words {
  const values = [...new Set(words)].sort();
  return { values, codes: pack("i4", words.map((word) => values.indexOf(word))) };
}

/** A scene of objects with so many sites each, of which the second (or only one) is shown. */
function sceneOf(sitesPerObject: number, chain: string): Scene {
  const objects = Array.from({ length: SIZE }, (_, k) => k);
  const order = objects.map((k) => (7 * k) % SIZE);
  const gaps = objects.slice(1).map((k) => (k === GROUP ? 2 : (k < GROUP ? 0.1 : 0.6) + ((37 * k) % 41) / 100));
  const sizeAt = (place: number): number => {
    const stop = gaps.findIndex((gap, k) => k >= place && gap >= gaps[place - 1]!);
    return (stop < 0 ? SIZE - 1 : stop) + 1 - place;
  };
  const ranked = objects.slice(1).sort((a, b) => sizeAt(b) - sizeAt(a) || a - b);
  const family = objects.map((place) => ranked.indexOf(place) + 1);
  const within = Array.from({ length: sitesPerObject - 1 }, () => 0.01);
  const shown = objects.map((object) => sitesPerObject * object + (sitesPerObject > 1 ? 1 : 0));
  const sites = objects.flatMap((object) => Array.from({ length: sitesPerObject }, () => object));
  const wholeOrder = order.flatMap((object) => sites.flatMap((own, site) => (own === object ? [site] : [])));
  const blank = packWords(sites.map(() => ""));
  const known = { support: "99 %", separation: "3.0×", look: "solid", verdict: "Well supported." } as const;
  return {
    format: 6,
    title: "fixture",
    colours: { core: "#00008b", rest: "#bdbdbd", palettes: [{ name: "safe", groups: COLOURS, families: packWords(family.map((k) => COLOURS[k % COLOURS.length]!)) }], heights: COLOURS, sizes: COLOURS, theory: "#888888" },
    quantity: { cutoff: "σc", unit: "Å" },
    length: null,
    finding: { sentence: "", badge: "", size: "", facts: [], notes: [], cutoff: 1 },
    groups: null,
    sites: {
      objects: pack("i4", sites.keys()),
      elements: blank,
      resnames: chain ? packWords(sites.map(() => "ALA")) : blank,
      resids: pack("i4", sites.map((object) => object + 1)),
      icodes: blank,
      chains: packWords(sites.map(() => chain)),
    },
    shown: {
      word: "residues",
      label: "Residue",
      minSize: 5,
      names: objects.map((object) => String(object + 1)),
      chains: packWords(objects.map(() => chain)),
      sites: pack("i4", shown),
      order: pack("i4", objects),
      numbers: pack("i4", objects.map((object) => object + 1)),
    },
    tree: { order: pack("i4", order), gaps: pack("f8", gaps), levels: pack("f8", [...new Set(gaps)].sort((a, b) => a - b)), family: pack("i4", family) },
    whole: {
      order: pack("i4", wholeOrder),
      gaps: pack("f8", order.flatMap((_, k) => (k ? [gaps[k - 1]!, ...within] : within))),
      shown: pack("i4", sites.map((object, site) => (shown[object] === site ? object : -1))),
    },
    scales: [],
    limits: [0, 2.1],
    clusters: [{ start: 0, stop: GROUP, forms: Math.max(...gaps.slice(0, GROUP - 1)), joins: 2, ...known }],
    curves: { large: 10, fraction: "", sizes: [], sizeFractions: [], largest: "", theory: null, chance: null },
    mobility: pack("f4", objects),
    matrix: null,
    motion: null,
    sampling: { facts: [] },
    about: { rows: [], notes: [] },
    space: null,
  };
}

/** Residues of three atoms each. */
export const molecule = (): Scene => sceneOf(3, "A");

export const particles = (): Scene => sceneOf(1, "");
