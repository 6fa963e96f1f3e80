// A cluster in PyMOL's words, for the user's own structure.

import type { Run } from "./hierarchy";
import type { Model } from "./model";
import { wholes, words } from "./scene";

/** Residues by chain and number; atoms by their number in the written structure otherwise. */
export function pymolSelection(model: Model, run: Run): string {
  const { scene, hierarchy } = model;
  const sites = wholes(scene.tree.sites);
  const members = Array.from(hierarchy.members(run), (object) => sites[object]!);
  const chains = words(scene.sites.chains);
  const icodes = words(scene.sites.icodes);
  const resnames = words(scene.sites.resnames);
  const resids = wholes(scene.sites.resids);
  const residue = (site: number): string => `${chains[site]}/${resids[site]}${icodes[site]}`;
  const all = Array.from(sites, residue);
  if (resnames[members[0]!] === "" || new Set(all).size < all.length) {
    return `id ${ranges(members.map((site) => ({ number: site + 1, code: "", alone: false })))}`;
  }
  const taken = new Set(members.map(residue));
  const barred = new Set<string>(); // numbers of residues with letters that a range would take in
  resids.forEach((number, site) => {
    if (icodes[site] !== "" && !taken.has(residue(site))) barred.add(`${chains[site]}/${number}`);
  });
  const byChain = new Map<string, Residue[]>();
  for (const site of members) {
    const [chain, number] = [chains[site]!, resids[site]!];
    const known = byChain.get(chain) ?? [];
    known.push({ number, code: icodes[site]!, alone: barred.has(`${chain}/${number}`) });
    byChain.set(chain, known);
  }
  const named = chains.some((chain) => chain !== "");
  const parts = Array.from(byChain, ([chain, residues]) => {
    const resi = `resi ${ranges(residues)}`;
    return named ? `(chain ${quoted(chain)} and ${resi})` : resi;
  });
  return parts.join(" or ");
}

interface Residue {
  number: number;
  code: string; // of insertion
  alone: boolean; // must not be part of a range
}

function quoted(chain: string): string {
  if (chain === "") return "''";
  return /^[A-Za-z0-9]+$/.test(chain) ? chain : `"${chain.replace(/["\\]/g, "")}"`;
}

/** 5-32+40+52A; PyMOL wants a backslash before a negative number, and takes 10A into 10-11. */
function ranges(residues: Residue[]): string {
  const text = (value: number): string => (value < 0 ? `\\${value}` : String(value));
  const plain = ({ code, alone }: Residue): boolean => code === "" && !alone;
  const parts: string[] = [];
  for (let first = 0; first < residues.length; ) {
    const { number, code } = residues[first]!;
    let last = first;
    while (
      plain(residues[last]!) &&
      last + 1 < residues.length &&
      plain(residues[last + 1]!) &&
      residues[last + 1]!.number === residues[last]!.number + 1
    )
      last++;
    parts.push(last === first ? `${text(number)}${code}` : `${text(number)}-${text(residues[last]!.number)}`);
    first = last + 1;
  }
  return parts.join("+");
}
