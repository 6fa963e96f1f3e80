// Cartoons by NGL, which finds secondary structure in the polymers of a scene, written as mmCIF.

import * as NGL from "ngl";
import { at, copyPoint, pointAt, runs } from "./arrays";
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
        const [red, green, blue] = pointAt(colours, at(sites, index));
        return (Math.round(255 * red) << 16) | (Math.round(255 * green) << 8) | Math.round(255 * blue);
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
      if (polymer.residueCount >= SHORTEST) polymer.eachAtom((atom) => found.push(at(this.sites, atom.index)));
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
    this.sites.forEach((site, k) => copyPoint(positions, site, own, k));
    this.structure.updatePosition(own);
    if (visible) this.repr.update({ position: true });
  }
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
function polymers(scene: Scene, positions: Float32Array): Polymers {
  const atoms = atomsOf(scene);
  const sites: number[] = [];
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
    for (const atom of inside) {
      sites.push(atom.site);
      const place = pointAt(positions, atom.site).map((part) => part.toFixed(3)).join(" ");
      const element = word(atom.element) || atom.name.replace(/[^A-Za-z]/g, "").charAt(0) || "C";
      const name = `"${atom.name.replace(/[^A-Za-z0-9'*]/g, "_") || "X"}"`;
      rows.push(
        `ATOM ${sites.length} ${element} ${name} . ${comp} ${chain} 1 ${residue} ? ` +
          `${place} 1 0 ${residue} ${comp} ${chain} ${name} 1`,
      );
    }
  }
  const header = COLUMNS.map((column) => `_atom_site.${column}`).join("\n");
  const residues = Array.from(kinds, ([comp, kind]) => `${comp} ${kind}`).join("\n");
  const cif =
    `data_scene\nloop_\n_chem_comp.id\n_chem_comp.type\n${residues}\n#\n` +
    `loop_\n${header}\n${rows.join("\n")}\n#\n`;
  return { cif, sites };
}

function atomsOf({ sites }: Scene): Atom[] {
  const [names, elements, residues] = [words(sites.names), words(sites.elements), words(sites.resnames)];
  const [chains, codes] = [words(sites.chains), words(sites.icodes)];
  return Array.from(wholes(sites.resids), (number, site) => {
    const chain = at(chains, site);
    const key = `${chain}/${number}/${at(codes, site)}`;
    return { site, name: at(names, site), element: at(elements, site), residue: at(residues, site), chain, key };
  });
}

function word(text: string): string {
  return text.replace(/[^A-Za-z0-9]/g, "");
}
