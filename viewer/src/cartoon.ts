// Cartoons by NGL, which finds secondary structure in the polymers of a scene, written as mmCIF.

import * as NGL from "ngl";
import { at, copyPoint, pointAt } from "./arrays";
import { type Oxygen, oxygenAt, polymers } from "./polymers";
import type { Scene } from "./scene";

const SHORTEST = 4; // residues of a polymer: NGL draws no cartoon of fewer
const MANY = 8_000; // atoms, from which a coarser cartoon must do

export class Cartoon {
  private constructor(
    private readonly repr: NGL.RepresentationElement,
    private readonly structure: NGL.Structure,
    private readonly sites: number[], // of each atom
    private readonly oxygens: Oxygen[], // atoms that are no sites
  ) {}

  /** Draw on a stage; `colours` are those of sites, of which some may be part of a polymer. */
  static async on(stage: NGL.Stage, scene: Scene, positions: Float32Array, colours: Float32Array): Promise<Cartoon> {
    const { cif, sites, oxygens } = polymers(scene, positions);
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
    return new Cartoon(component.addRepresentation("cartoon", look as never), component.structure, sites, oxygens);
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
    for (const oxygen of this.oxygens) own.set(oxygenAt(positions, oxygen), 3 * oxygen.atom);
    this.structure.updatePosition(own);
    if (visible) this.repr.update({ position: true });
  }
}
