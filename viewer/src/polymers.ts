// The polymers of a scene as mmCIF, of which NGL draws cartoons.

import { at, less, type Point, pointAt, runs } from "./arrays";
import { type Scene, wholes, words } from "./scene";

const COLUMNS = [
  ...["group_PDB", "id", "type_symbol", "label_atom_id", "label_alt_id", "label_comp_id"],
  ...["label_asym_id", "label_entity_id", "label_seq_id", "pdbx_PDB_ins_code"],
  ...["Cartn_x", "Cartn_y", "Cartn_z", "occupancy", "B_iso_or_equiv"],
  ...["auth_seq_id", "auth_comp_id", "auth_asym_id", "auth_atom_id", "pdbx_PDB_model_num"],
];

// Names of an oxygen at the end of a residue. NGL lays a ribbon along it, and knows no residue without.
const OXYGENS = ["O", "OC1", "O1", "OX1", "OXT", "OT1", "OT2"];
const DOUBLE_BOND = 1.23; // Å, from C to O

export interface Polymers {
  cif: string;
  sites: number[]; // the site of each atom written
  oxygens: Oxygen[]; // atoms written that are no sites
}

/** An oxygen that a residue lacks, and the sites from which follows where it would be. */
export interface Oxygen {
  atom: number; // among those written
  alpha: number;
  carbon: number;
  nitrogen: number; // of the residue after it, or its own where there is none
}

interface Atom {
  site: number;
  name: string;
  element: string;
  residue: string;
  chain: string;
  key: string; // the same for all atoms of a residue
}

/** Write the residues that have a Cα or a C4'; residues are numbered anew, so that none collide. */
export function polymers(scene: Scene, positions: Float32Array): Polymers {
  const atoms = atomsOf(scene);
  const sites: number[] = [];
  const oxygens: Oxygen[] = [];
  const rows: string[] = [];
  const asym = new Map<string, string>();
  const kinds = new Map<string, string>();
  let residue = 0;
  for (const { start, stop } of runs(atoms.length, (site) => atoms[site]?.key === atoms[site - 1]?.key)) {
    const inside = atoms.slice(start, stop);
    const protein = inside.some(({ name }) => name === "CA");
    if (!protein && !inside.some(({ name }) => name === "C4'")) continue;
    residue++;
    const first = at(inside, 0);
    const chain = asym.get(first.chain) ?? `C${asym.size + 1}`;
    asym.set(first.chain, chain);
    const comp = word(first.residue) || "UNK";
    kinds.set(comp, protein ? "'L-PEPTIDE LINKING'" : "'RNA LINKING'");
    const write = (site: number, element: string, label: string, point: Point): void => {
      sites.push(site);
      const place = point.map((part) => part.toFixed(3)).join(" ");
      const name = `"${label}"`;
      rows.push(
        `ATOM ${sites.length} ${element} ${name} . ${comp} ${chain} 1 ${residue} ? ` +
          `${place} 1 0 ${residue} ${comp} ${chain} ${name} 1`,
      );
    };
    for (const { site, name, element } of inside) {
      const kind = word(element) || name.replace(/[^A-Za-z]/g, "").charAt(0) || "C";
      write(site, kind, name.replace(/[^A-Za-z0-9'*]/g, "_") || "X", pointAt(positions, site));
    }
    const missing = protein ? missingOxygen(atoms, start, stop) : null;
    if (!missing) continue;
    const oxygen = { ...missing, atom: sites.length };
    oxygens.push(oxygen);
    write(oxygen.carbon, "O", "O", oxygenAt(positions, oxygen)); // it has the colour of its carbon
  }
  const header = COLUMNS.map((column) => `_atom_site.${column}`).join("\n");
  const residues = Array.from(kinds, ([comp, kind]) => `${comp} ${kind}`).join("\n");
  const cif =
    `data_scene\nloop_\n_chem_comp.id\n_chem_comp.type\n${residues}\n#\n` +
    `loop_\n${header}\n${rows.join("\n")}\n#\n`;
  return { cif, sites, oxygens };
}

/** What an oxygen would be placed by, of a residue that has none. */
function missingOxygen(atoms: Atom[], start: number, stop: number): Omit<Oxygen, "atom"> | null {
  const inside = atoms.slice(start, stop);
  if (inside.some(({ name }) => OXYGENS.includes(name))) return null;
  const siteOf = (name: string): number | undefined => inside.find((atom) => atom.name === name)?.site;
  const [alpha, carbon, own] = [siteOf("CA"), siteOf("C"), siteOf("N")];
  if (alpha === undefined || carbon === undefined || own === undefined) return null;
  const after = atoms[stop];
  const next = atoms.slice(stop).find(({ name, key }) => key !== after?.key || name === "N");
  const follows = next?.name === "N" && next.key === after?.key && next.chain === at(inside, 0).chain;
  return { alpha, carbon, nitrogen: follows ? next.site : own };
}

/** Where an oxygen would be: in the plane of its neighbours, and away from both. */
export function oxygenAt(positions: Float32Array, { alpha, carbon, nitrogen }: Oxygen): Point {
  const centre = pointAt(positions, carbon);
  const [one, other] = [alpha, nitrogen].map((site) => unit(less(centre, pointAt(positions, site))));
  const away = unit([0, 1, 2].map((k) => (one?.[k] ?? 0) + (other?.[k] ?? 0)) as Point);
  return centre.map((part, k) => part + DOUBLE_BOND * at(away, k)) as Point;
}

function unit([x, y, z]: Point): Point {
  const length = Math.hypot(x, y, z) || 1;
  return [x / length, y / length, z / length];
}

/** Of each site a text that is the same for all sites of its residue. */
export function residueKeys({ sites }: Scene): string[] {
  const [chains, codes] = [words(sites.chains), words(sites.icodes)];
  return Array.from(wholes(sites.resids), (number, site) => `${at(chains, site)}/${number}/${at(codes, site)}`);
}

function atomsOf(scene: Scene): Atom[] {
  const { sites } = scene;
  const [names, elements, residues] = [words(sites.names), words(sites.elements), words(sites.resnames)];
  const chains = words(sites.chains);
  return residueKeys(scene).map((key, site) => ({
    site,
    name: at(names, site),
    element: at(elements, site),
    residue: at(residues, site),
    chain: at(chains, site),
    key,
  }));
}

function word(text: string): string {
  return text.replace(/[^A-Za-z0-9]/g, "");
}
