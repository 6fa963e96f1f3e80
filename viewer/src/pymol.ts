// A cluster in PyMOL's words, for the user's own structure.

import { at, type Run, runs } from "./arrays";
import type { Model } from "./model";
import { type Scene, wholes, words } from "./scene";

interface Residue {
  name: string;
  chain: string;
  number: number;
  code: string; // of insertion
}

interface Listed {
  number: number;
  code: string;
  alone: boolean; // must not be part of a range
}

/** Residues by chain and number; atoms by their number in the written structure otherwise. */
export function pymolSelection(model: Model, run: Run): string {
  const { scene, hierarchy } = model;
  const residues = residuesOf(scene);
  const shown = wholes(scene.tree.sites);
  const sites = Array.from(hierarchy.members(run), (object) => at(shown, object));
  const members = sites.map((site) => at(residues, site));
  const all = Array.from(shown, (site) => nameOf(at(residues, site)));
  if (members[0]?.name === "" || new Set(all).size < all.length) {
    return `id ${ranges(sites.map((site) => ({ number: site + 1, code: "", alone: false })))}`;
  }
  const taken = new Set(members.map(nameOf));
  const barred = new Set<string>(); // numbers of residues with letters that a range would take in
  for (const residue of residues) {
    if (residue.code !== "" && !taken.has(nameOf(residue))) barred.add(numberOf(residue));
  }
  const byChain = new Map<string, Listed[]>();
  for (const residue of members) {
    const { chain, number, code } = residue;
    const listed = byChain.get(chain) ?? [];
    listed.push({ number, code, alone: barred.has(numberOf(residue)) });
    byChain.set(chain, listed);
  }
  const named = residues.some(({ chain }) => chain !== "");
  const parts = Array.from(byChain, ([chain, listed]) => {
    const resi = `resi ${ranges(listed)}`;
    return named ? `(chain ${quoted(chain)} and ${resi})` : resi;
  });
  return parts.join(" or ");
}

/** The residue of every site. */
function residuesOf({ sites }: Scene): Residue[] {
  const [names, chains, codes] = [words(sites.resnames), words(sites.chains), words(sites.icodes)];
  return Array.from(wholes(sites.resids), (number, site) => ({
    name: at(names, site),
    chain: at(chains, site),
    number,
    code: at(codes, site),
  }));
}

const numberOf = ({ chain, number }: Residue): string => `${chain}/${number}`;
const nameOf = (residue: Residue): string => `${numberOf(residue)}${residue.code}`;

function quoted(chain: string): string {
  if (chain === "") return "''";
  return /^[A-Za-z0-9]+$/.test(chain) ? chain : `"${chain.replace(/["\\]/g, "")}"`;
}

/** 5-32+40+52A; PyMOL wants a backslash before a negative number, and takes 10A into 10-11. */
function ranges(listed: Listed[]): string {
  const text = (value: number): string => (value < 0 ? `\\${value}` : String(value));
  const goesOn = (k: number): boolean => {
    const [before, here] = [at(listed, k - 1), at(listed, k)];
    const plain = [before, here].every(({ code, alone }) => code === "" && !alone);
    return plain && here.number === before.number + 1;
  };
  const parts = Array.from(runs(listed.length, goesOn), ({ start, stop }) => {
    const [first, last] = [at(listed, start), at(listed, stop - 1)];
    return first === last ? `${text(first.number)}${first.code}` : `${text(first.number)}-${text(last.number)}`;
  });
  return parts.join("+");
}
