// The polymers of a scene as mmCIF, from which NGL finds secondary structure and draws cartoons.

import { type Scene, wholes, words } from "./scene";

const COLUMNS = [
  ...["group_PDB", "id", "type_symbol", "label_atom_id", "label_alt_id", "label_comp_id"],
  ...["label_asym_id", "label_entity_id", "label_seq_id", "pdbx_PDB_ins_code"],
  ...["Cartn_x", "Cartn_y", "Cartn_z", "occupancy", "B_iso_or_equiv"],
  ...["auth_seq_id", "auth_comp_id", "auth_asym_id", "auth_atom_id", "pdbx_PDB_model_num"],
];

export interface Polymers {
  cif: string;
  sites: number[]; // the site of each atom written
}

/** Write the residues that have a Cα or a C4'; residues are numbered anew, so that none collide. */
export function polymers(scene: Scene, positions: Float32Array): Polymers {
  const { sites } = scene;
  const [names, elements] = [words(sites.names), words(sites.elements)];
  const [resnames, chains, icodes] = [words(sites.resnames), words(sites.chains), words(sites.icodes)];
  const resids = wholes(sites.resids);
  const written: number[] = [];
  const rows: string[] = [];
  const asym = new Map<string, string>();
  const kinds = new Map<string, string>();
  let residue = 0;
  for (let start = 0; start < names.length; ) {
    let stop = start + 1;
    const same = (site: number): boolean =>
      resids[site] === resids[start] && chains[site] === chains[start] && icodes[site] === icodes[start];
    while (stop < names.length && same(stop)) stop++;
    const inside = names.slice(start, stop);
    if (inside.includes("CA") || inside.includes("C4'")) {
      residue++;
      if (!asym.has(chains[start]!)) asym.set(chains[start]!, `C${asym.size + 1}`);
      const chain = asym.get(chains[start]!)!;
      const comp = word(resnames[start]!) || "UNK";
      kinds.set(comp, inside.includes("CA") ? "'L-PEPTIDE LINKING'" : "'RNA LINKING'");
      for (let site = start; site < stop; site++) {
        written.push(site);
        const [x, y, z] = positions.subarray(3 * site, 3 * site + 3);
        const element = word(elements[site]!) || names[site]!.replace(/[^A-Za-z]/g, "").charAt(0) || "C";
        const name = `"${names[site]!.replace(/[^A-Za-z0-9'*]/g, "_") || "X"}"`;
        rows.push(
          `ATOM ${written.length} ${element} ${name} . ${comp} ${chain} 1 ${residue} ? ` +
            `${x!.toFixed(3)} ${y!.toFixed(3)} ${z!.toFixed(3)} 1 0 ${residue} ${comp} ${chain} ${name} 1`,
        );
      }
    }
    start = stop;
  }
  const header = COLUMNS.map((column) => `_atom_site.${column}`).join("\n");
  const residues = Array.from(kinds, ([comp, kind]) => `${comp} ${kind}`).join("\n");
  const cif =
    `data_scene\nloop_\n_chem_comp.id\n_chem_comp.type\n${residues}\n#\n` +
    `loop_\n${header}\n${rows.join("\n")}\n#\n`;
  return { cif, sites: written };
}

function word(text: string): string {
  return text.replace(/[^A-Za-z0-9]/g, "");
}
