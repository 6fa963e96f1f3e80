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
    return `id ${ranges(members.map((site) => [site + 1, ""]))}`;
  }
  const byChain = new Map<string, [number, string][]>();
  for (const site of members) {
    const known = byChain.get(chains[site]!) ?? [];
    known.push([resids[site]!, icodes[site]!]);
    byChain.set(chains[site]!, known);
  }
  const parts = Array.from(byChain, ([chain, numbers]) => {
    const resi = `resi ${ranges(numbers)}`;
    return chain === "" ? resi : `(chain ${quoted(chain)} and ${resi})`;
  });
  return parts.join(" or ");
}

function quoted(chain: string): string {
  return /^[A-Za-z0-9]+$/.test(chain) ? chain : `"${chain.replace(/["\\]/g, "")}"`;
}

/** 5-32+40+52A; PyMOL wants a backslash before a negative number. */
function ranges(numbers: [number, string][]): string {
  const text = (value: number): string => (value < 0 ? `\\${value}` : String(value));
  const parts: string[] = [];
  for (let first = 0; first < numbers.length; ) {
    const [start, code] = numbers[first]!;
    let last = first;
    while (
      code === "" &&
      last + 1 < numbers.length &&
      numbers[last + 1]![1] === "" &&
      numbers[last + 1]![0] === numbers[last]![0] + 1
    )
      last++;
    parts.push(last === first ? `${text(start)}${code}` : `${text(start)}-${text(numbers[last]![0])}`);
    first = last + 1;
  }
  return parts.join("+");
}
