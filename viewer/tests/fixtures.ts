// Scenes as Python writes them, made here: a molecule of three bodies, particles with one group, a comparison.

import type { Comparison, Packed, Scene, Words } from "../src/scene";

export type Place = [number, number, number];
type Kind = "f8" | "f4" | "i4" | "i2" | "u1";
const ARRAYS = { f8: Float64Array, f4: Float32Array, i4: Int32Array, i2: Int16Array, u1: Uint8Array };

export function pack(kind: Kind, values: Iterable<number>): Packed {
  const bytes = new Uint8Array(ARRAYS[kind].from([...values]).buffer);
  return `${kind}:${btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""))}`;
}

export function packWords(words: string[]): Words {
  const values = [...new Set(words)].sort();
  return { values, codes: pack("i4", words.map((word) => values.indexOf(word))) };
}

/** Uniform numbers between -1 and 1, always the same. */
function noise(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 31 - 1;
  };
}

function spreads(frames: Place[][]): number[][] {
  const size = frames[0]!.length;
  return Array.from({ length: size }, (_, i) =>
    Array.from({ length: size }, (_, j) => {
      const apart = frames.map((frame) => Math.hypot(...frame[i]!.map((x, d) => x - frame[j]![d]!)));
      const mean = apart.reduce((sum, x) => sum + x, 0) / apart.length;
      return Math.sqrt(apart.reduce((sum, x) => sum + (x - mean) ** 2, 0) / apart.length);
    }),
  );
}

export interface Tree {
  order: number[];
  gaps: number[];
  levels: number[];
  family: number[];
}

/** Levels, and a family for each place: clusters that start there, numbered by their size when they join. */
export function treeOf(order: number[], gaps: number[]): Tree {
  const sizeAt = (place: number): number => {
    let stop = place + 1;
    while (stop < order.length && gaps[stop - 1]! < gaps[place - 1]!) stop++;
    return stop - place;
  };
  const ranked = order.map((_, place) => place).slice(1).sort((a, b) => sizeAt(b) - sizeAt(a) || a - b);
  return { order, gaps, levels: [...new Set(gaps)].sort((a, b) => a - b), family: order.map((_, place) => ranked.indexOf(place) + 1) };
}

/** Single linkage: leaf order and the gaps between neighbours in it. */
export function linked(sigma: number[][]): Tree {
  const pairs = sigma.flatMap((row, i) => row.slice(0, i).map((height, j) => ({ i, j, height })));
  const own = sigma.map((_, leaf) => ({ leaves: [leaf], gaps: [] as number[] }));
  for (const { i, j, height } of pairs.sort((a, b) => a.height - b.height)) {
    const [a, b] = [own[i]!, own[j]!];
    if (a === b) continue;
    const [large, small] = a.leaves.length >= b.leaves.length ? [a, b] : [b, a];
    const joined = { leaves: [...large.leaves, ...small.leaves], gaps: [...large.gaps, height, ...small.gaps] };
    for (const leaf of joined.leaves) own[leaf] = joined;
  }
  return treeOf(own[0]!.leaves, own[0]!.gaps);
}

/** The tree of some objects, numbered anew: the gap between two is the largest gap on the way. */
export function restricted({ order, gaps }: Tree, kept: number[]): Tree {
  const places = order.flatMap((object, place) => (kept.includes(object) ? [place] : []));
  const between = places.slice(1).map((place, k) => Math.max(...gaps.slice(places[k], place)));
  return treeOf(places.map((place) => kept.indexOf(order[place]!)), between);
}

const RAMP = ["#440154", "#46327e", "#365c8d", "#277f8e", "#1fa187", "#4ac16d", "#a0da39", "#fde725"];
const WIDE = ["#d62728", "#f2a900", "#2ca02c", "#8e44ad", "#17a2b8", "#f078e1", "#a5874b", "#0f69e1"];

interface System {
  title: string;
  frames: Place[][];
  shown: number[]; // sites
  residues: { chain: string; name: string; number: number; atom: string; element: string }[]; // of sites
  groups: number[][]; // places among the shown objects
  molecular: boolean;
  box: number[][] | null;
}

/** A scene with everything that follows from positions; confidence is made up. */
export function sceneOf({ title, frames, shown, residues, groups, molecular, box }: System): Scene {
  const sites = frames[0]!.length;
  const all = spreads(frames);
  const sigma = shown.map((i) => shown.map((j) => all[i]![j]!));
  const whole = linked(all);
  const tree = restricted(whole, shown);
  const size = shown.length;
  const top = Math.max(...sigma.flat());
  const labels = shown.map((_, object) => groups.findIndex((members) => members.includes(object)));
  const colours = ["#00008b", ...WIDE];
  const cutoff = tree.gaps.toSorted((a, b) => a - b)[Math.floor(0.93 * size) - 1]!;
  const counts = tree.levels.map((level) => {
    const found: number[] = [1];
    for (const gap of tree.gaps) gap <= level ? found[found.length - 1]!++ : found.push(1);
    return found;
  });
  const share = (keep: (r: number) => boolean): number[] => counts.map((found) => found.filter(keep).reduce((sum, r) => sum + r, 0) / size);
  const members = (start: number, stop: number): string => `${tree.order.slice(start, stop).length} ${molecular ? "residues" : "particles"}`;
  const clusters: Scene["clusters"] = [];
  tree.levels.forEach((level, k) => {
    for (let start = 0, stop = 0; start < size; start = stop) {
      for (stop = start + 1; stop < size && tree.gaps[stop - 1]! <= level; ) stop++;
      const known = clusters.find((cluster) => cluster.start === start && cluster.stop === stop);
      if (stop - start < 10 || known) continue;
      const look = (["solid", "hatched", "faded"] as const)[clusters.length % 3]!;
      const joins = Math.min(start ? tree.gaps[start - 1]! : Infinity, stop < size ? tree.gaps[stop - 1]! : Infinity);
      const text = { solid: "Well supported.", hatched: "Tentative.", faded: "Not reproducible." }[look];
      const judged = { support: `${99 - 8 * (k % 4)} %`, separation: `${(2 + (k % 5)).toFixed(1)}×`, look, verdict: text };
      clusters.push({ start, stop, members: members(start, stop), forms: level, joins: Number.isFinite(joins) ? joins : null, ...judged });
    }
  });
  const centre = [0, 1, 2].map((d) => frames[0]!.reduce((sum, place) => sum + place[d]!, 0) / sites) as Place;
  const step = 0.01;
  const unit = molecular ? "Å" : "µm";
  return {
    format: 6,
    title,
    colours: { core: "#00008b", rest: "#bdbdbd", palette: colours, families: packWords(tree.family.map((family) => colours[family % colours.length]!)), heights: RAMP, sizes: RAMP.slice(0, 4), theory: "#888888" },
    quantity: { symbol: "σ", cutoff: "σc", unit, words: "fluctuation of distance", isLength: true },
    length: { value: 3.8, name: molecular ? "Cα–Cα" : "a" },
    finding: {
      kind: molecular ? "bodies" : "groups",
      sentence: molecular
        ? `${title}: three rigid bodies, well supported. 26-42 turns by 40°, 43-60 by 55° against the core.`
        : `${title}: one group moves together, well supported: 20 of 60 particles (1-20). The rest do not.`,
      badge: "well supported",
      size: `${size} ${molecular ? "Cα" : "particles"} · ${frames.length} snapshots · about 4 independent samples`,
      facts: [
        ["fit", "0.67 Å rms as three bodies; 2.20 Å as one, 1.09 Å as two"],
        ["separation", "bodies move 3.8× as far as parts within them (2.5× needed); 91 % of motion"],
        ["support", "the same bodies in both alternating halves of the frames (agreement 0.97 of 1)"],
      ],
      notes: ["about 2 independent samples: one passage between two states. A second run may differ."],
      cutoff,
    },
    groups: {
      what: molecular ? "bodies" : "groups",
      labels: pack("i4", labels),
      rows: groups.map((group, k) => ({
        colour: colours[k]!,
        members: `${molecular ? "A " : ""}${group[0]! + 1}-${group.at(-1)! + 1}`,
        size: String(group.length),
        fit: `0.5${k} ${unit}`,
        moves: k ? `${25 + 15 * k}°` : "",
      })),
    },
    sites: {
      objects: pack("i4", residues.keys()),
      names: packWords(residues.map(({ atom }) => atom)),
      elements: packWords(residues.map(({ element }) => element)),
      resnames: packWords(residues.map(({ name }) => name)),
      resids: pack("i4", residues.map((residue) => residue.number)),
      icodes: packWords(residues.map(() => "")),
      chains: packWords(residues.map(({ chain }) => chain)),
    },
    shown: {
      word: molecular ? "residues" : "particles",
      label: molecular ? "Residue" : "Particle",
      minSize: molecular ? 8 : 5,
      names: shown.map((site) => String(residues[site]!.number)),
      chains: packWords(shown.map((site) => residues[site]!.chain)),
      sites: pack("i4", shown),
      order: pack("i4", shown.keys()),
      numbers: pack("i4", shown.map((site) => residues[site]!.number)),
      letters: molecular ? "ACDEFGHIKLMNPQRSTVWY".repeat(size).slice(0, size) : null,
    },
    tree: { order: pack("i4", tree.order), gaps: pack("f8", tree.gaps), levels: pack("f8", tree.levels), family: pack("i4", tree.family) },
    whole: { order: pack("i4", whole.order), gaps: pack("f8", whole.gaps), shown: pack("i4", residues.map((_, site) => shown.indexOf(site))) },
    scales: [{ label: "whole finding", cutoff }, { label: "widest plateau", cutoff: tree.levels.at(-2)! }],
    limits: [0, 1.05 * tree.levels.at(-1)!],
    clusters,
    curves: {
      large: 10,
      fraction: pack("f4", share((r) => r >= 10)),
      sizes: [1, 2, 3],
      sizeFractions: [1, 2, 3].map((r) => pack("f4", share((x) => x === r))),
      largest: pack("i4", counts.map((found) => Math.max(...found))),
      mean: pack("f4", counts.map((found) => size / found.length)),
      number: pack("i4", counts.map((found) => found.length)),
      theory: null,
      chance: { cutoffs: pack("f4", [0, tree.levels.at(-1)!]), largest: pack("f4", [1, 4]) },
    },
    mobility: pack("f4", shown.map((_, object) => Math.max(tree.gaps[0]!, ...tree.gaps.slice(0, tree.order.indexOf(object))))),
    matrix: { name: "σ of pairs", size, top, values: pack("u1", sigma.flatMap((row, i) => row.slice(i + 1).map((value) => Math.round((254 * value) / top)))) },
    motion: molecular
      ? {
          axes: [{ body: 1, from: [30, -20, 0], to: [30, 20, 0], cone: 8, arc: pack("f4", [30, 12, 12, 34, 12, 11, 38, 12, 8]), label: "40°" }],
          angles: [1, 2].map((body) => ({ body, frames: pack("i4", frames.map((_, k) => k + 1)), values: pack("f4", frames.map((_, k) => 15 * body * Math.sin(k / 3))) })),
          facts: [["body 2", "turns by 40° as on a hinge, shift 0.3 Å"], ["body 3", "turns by 55°, shift 1.1 Å"]],
        }
      : null,
    sampling: {
      facts: [["independent samples", "about 4 of the slowest motion; 8 or more usually decide"]],
    },
    about: { rows: [["version", "0.1"], ["command", "timme run fixture.pdb"]], notes: ["A note."], options: [["pairs", "contact:10"]] },
    space: {
      dimensions: 3,
      molecular,
      cif: molecular ? cifOf(frames[0]!, residues) : null,
      cifSites: pack("i4", residues.flatMap(({ atom }, site) => (atom === "C" ? [site, -1] : [site]))),
      spacing: molecular ? 3.8 : 2.5,
      bonds: pack("i4", molecular ? residues.slice(1).flatMap((_, k) => [k, k + 1]) : []),
      contacts: pack("i4", molecular ? [] : shown.slice(1).flatMap((_, k) => [k, k + 1])),
      contactHeights: pack("f4", molecular ? [] : shown.slice(1).map((_, k) => sigma[k]![k + 1]!)),
      box,
      centre,
      step,
      frames: pack("i2", frames.flatMap((frame) => frame.flatMap((place) => place.map((x, d) => Math.round((x - centre[d]!) / step))))),
      fits: molecular ? pack("f4", frames.flatMap(() => [1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0])) : null,
      view: molecular ? [1, 0, 0, 0, 1, 0, 0, 0, 1] : null,
      snapshots: frames.map((_, k) => k + 1),
    },
  };
}

function cifOf(places: Place[], residues: System["residues"]): string {
  const columns = ["group_PDB", "id", "type_symbol", "label_atom_id", "label_alt_id", "label_comp_id", "label_asym_id", "label_entity_id", "label_seq_id", "pdbx_PDB_ins_code", "Cartn_x", "Cartn_y", "Cartn_z", "occupancy", "B_iso_or_equiv", "auth_seq_id", "auth_comp_id", "auth_asym_id", "auth_atom_id", "pdbx_PDB_model_num"];
  const rows: string[] = [];
  residues.forEach(({ atom, name, number, element }, site) => {
    const write = (label: string, symbol: string, [x, y, z]: Place): void => {
      const place = [x, y, z].map((part) => part.toFixed(3)).join(" ");
      rows.push(`ATOM ${rows.length + 1} ${symbol} ${label} . ${name} A 1 ${number} ? ${place} 1 0 ${number} ${name} A ${label} 1`);
    };
    const here = places[site]!;
    write(atom, element, here);
    if (atom === "C") write("O", "O", [here[0] + 1.2, here[1], here[2] + 0.2]); // along the helix
  });
  return `data_fixture\nloop_\n_chem_comp.id\n_chem_comp.type\nALA 'L-PEPTIDE LINKING'\n#\nloop_\n${columns.map((name) => `_atom_site.${name}`).join("\n")}\n${rows.join("\n")}\n#\n`;
}

/** Three helices of 60 residues; the second and third turn about the ends of the first. */
export function molecule(seed = 7, title = "fixture"): Scene {
  const random = noise(seed);
  const bodies: [number, number][] = [[0, 25], [25, 42], [42, 60]];
  const atoms = [["N", 1.55, -27, -0.9], ["CA", 2.29, 0, 0], ["C", 1.69, 26, 1.1]] as const;
  const residues = Array.from({ length: 60 }, (_, k) => atoms.map(([atom]) => ({ chain: "A", name: "ALA", number: k + 1, atom, element: atom[0]! }))).flat();
  const frames = Array.from({ length: 20 }, (_, time) =>
    bodies.flatMap(([start, stop], body) => {
      const angle = (body * 1.9 * Math.PI) / 3 + 0.35 * body * Math.sin(time / 3);
      const origin: Place = [[0, 0, 0], [37, 4, 0], [30, 22, 0]][body] as Place;
      return Array.from({ length: stop - start }, (_, k) =>
        atoms.map(([, radius, degrees, rise]): Place => {
          const turn = ((100 * k + degrees) * Math.PI) / 180;
          const [x, y, z] = [1.5 * k + rise, radius * Math.cos(turn), radius * Math.sin(turn)];
          const turned: Place = [x * Math.cos(angle) - y * Math.sin(angle), x * Math.sin(angle) + y * Math.cos(angle), z];
          return turned.map((part, d) => part + origin[d]! + 0.2 * random()) as Place;
        }),
      ).flat();
    }),
  );
  const groups = bodies.map(([start, stop]) => Array.from({ length: stop - start }, (_, k) => start + k));
  const shown = Array.from({ length: 60 }, (_, k) => 3 * k + 1);
  return sceneOf({ title, frames, shown, residues, groups, molecular: true, box: null });
}

/** 60 particles in a periodic box, of which the first 20 drift together. */
export function particles(): Scene {
  const random = noise(3);
  const start = Array.from({ length: 60 }, (_, k): Place => (k < 20 ? [7 + 3 * random(), 7 + 3 * random(), 7 + 3 * random()] : [10 + 9 * random(), 10 + 9 * random(), 10 + 9 * random()]));
  const places = start.map((place): Place => [...place]);
  const frames = Array.from({ length: 30 }, () => {
    const drift = [0.3 * random(), 0.3 * random(), 0.3 * random()];
    return places.map((place, k): Place => {
      for (let d = 0; d < 3; d++) place[d]! += k < 20 ? drift[d]! + 0.02 * random() : 0.3 * random();
      return [...place];
    });
  });
  const residues = places.map((_, k) => ({ chain: "", name: "", number: k + 1, atom: "", element: "" }));
  const groups = [Array.from({ length: 20 }, (_, k) => k)];
  const box = [[20, 0, 0], [0, 20, 0], [0, 0, 20]];
  return sceneOf({ title: "tracks", frames, shown: [...places.keys()], residues, groups, molecular: false, box });
}

/** Two molecules that move alike, compared; the agreement is made up. */
export function comparison(): Comparison {
  const pair: [Scene, Scene] = [molecule(7, "first"), molecule(11, "second")];
  const cutoffs = pair.map(({ limits }) => Array.from({ length: 30 }, (_, k) => ((k + 1) * limits[1]) / 30)) as [number[], number[]];
  const rand = cutoffs[0].flatMap((_, i) => cutoffs[1].map((_, j) => Math.exp(-(((i - j) / 8) ** 2)) * Math.min(1, i / 10)));
  const finding: Comparison["finding"] = {
    ...pair[0].finding,
    sentence: "first and second: the same three bodies; agreement 0.94 of 1 (by chance 0.02).",
  };
  const agreement = { cutoffs: [pack("f4", cutoffs[0]), pack("f4", cutoffs[1])] as [Packed, Packed], rand: pack("f4", rand) };
  return { format: 6, title: "first and second", finding, pair, agreement };
}
