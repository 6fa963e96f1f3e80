// Cartoons by NGL, which finds secondary structure in the polymers of a scene, written as mmCIF.

import * as NGL from "ngl";
import { type Scene, wholes, words } from "./scene";

const COLUMNS = [
  ...["group_PDB", "id", "type_symbol", "label_atom_id", "label_alt_id", "label_comp_id"],
  ...["label_asym_id", "label_entity_id", "label_seq_id", "pdbx_PDB_ins_code"],
  ...["Cartn_x", "Cartn_y", "Cartn_z", "occupancy", "B_iso_or_equiv"],
  ...["auth_seq_id", "auth_comp_id", "auth_asym_id", "auth_atom_id", "pdbx_PDB_model_num"],
];

const SHORTEST = 4; // residues of a polymer: NGL draws no cartoon of fewer
const MANY = 8_000; // atoms, from which a coarser cartoon must do

interface Polymers {
  cif: string;
  sites: number[]; // the site of each atom written
}

export class Cartoon {
  private constructor(
    private readonly repr: NGL.RepresentationElement,
    private readonly structure: NGL.Structure,
    private readonly sites: number[], // of each atom
  ) {}

  /** Draw on a stage; `colours` are those of sites, of which some may be part of a polymer. */
  static async on(stage: NGL.Stage, scene: Scene, positions: Float32Array, colours: Float32Array): Promise<Cartoon> {
    const { cif, sites } = polymers(scene, positions);
    const scheme = NGL.ColormakerRegistry.addScheme(function (this: { atomColor: (atom: { index: number }) => number }) {
      this.atomColor = ({ index }) => {
        const at = 3 * sites[index]!;
        const part = (d: number): number => Math.round(255 * colours[at + d]!);
        return (part(0) << 16) | (part(1) << 8) | part(2);
      };
    } as never);
    const options = { ext: "cif", name: "polymers", defaultRepresentation: false };
    const loaded = await stage.loadFile(new Blob([cif], { type: "text/plain" }), options as never);
    const component = loaded as NGL.StructureComponent;
    const quality = sites.length > MANY ? "medium" : "high";
    const look = { colorScheme: scheme, aspectRatio: 5, radiusScale: 1, quality, smoothSheet: true };
    return new Cartoon(component.addRepresentation("cartoon", look as never), component.structure, sites);
  }

  /** Sites that are part of what is drawn: ligands, ions and short peptides are not. */
  drawn(): number[] {
    const found: number[] = [];
    this.structure.eachPolymer((polymer) => {
      if (polymer.residueCount >= SHORTEST) polymer.eachAtom((atom) => found.push(this.sites[atom.index]!));
    });
    return found;
  }

  show(visible: boolean): void {
    this.repr.setVisibility(visible);
  }

  recolour(): void {
    this.repr.update({ color: true });
  }

  move(positions: Float32Array, visible: boolean): void {
    const own = new Float32Array(3 * this.sites.length);
    this.sites.forEach((site, k) => own.set(positions.subarray(3 * site, 3 * site + 3), 3 * k));
    this.structure.updatePosition(own);
    if (visible) this.repr.update({ position: true });
  }
}

/** Write the residues that have a Cα or a C4'; residues are numbered anew, so that none collide. */
function polymers(scene: Scene, positions: Float32Array): Polymers {
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
