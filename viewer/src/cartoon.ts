// The polymers of the scene as a cartoon by ngl, recoloured and moved with the sites.

import * as NGL from "ngl";
import { at, pointAt } from "./arrays";
import { wholes, type Space } from "./scene";

const SHORTEST = 4; // residues: ngl draws no cartoon of fewer
const MANY = 8_000; // atoms above which a coarser cartoon is drawn

export class Cartoon {
  private constructor(
    private readonly repr: NGL.RepresentationElement,
    private readonly structure: NGL.Structure,
    private readonly sites: Int32Array, // of each atom
  ) {}

  /** Draw on a stage; `colourOf` gives the colour of a site as 0xrrggbb. */
  static async on(stage: NGL.Stage, space: Space, colourOf: (site: number) => number): Promise<Cartoon> {
    const sites = wholes(space.cifSites);
    const scheme = NGL.ColormakerRegistry.addScheme(function (this: { atomColor: (atom: { index: number }) => number }) {
      this.atomColor = ({ index }) => colourOf(at(sites, index));
    } as never);
    const blob = new Blob([space.cif ?? ""], { type: "text/plain" });
    const loaded = await stage.loadFile(blob, { ext: "cif", name: "polymers", defaultRepresentation: false } as never);
    const component = loaded as NGL.StructureComponent;
    const quality = sites.length > MANY ? "medium" : "high";
    const look = { colorScheme: scheme, aspectRatio: 5, quality, smoothSheet: true, visible: false };
    return new Cartoon(component.addRepresentation("cartoon", look as never), component.structure, sites);
  }

  /** Sites within the cartoon; ligands, ions and short peptides are not. */
  covered(): number[] {
    const found: number[] = [];
    this.structure.eachPolymer((polymer) => {
      if (polymer.residueCount >= SHORTEST) polymer.eachAtom(({ index }) => found.push(at(this.sites, index)));
    });
    return found;
  }

  show(visible: boolean): void {
    this.repr.setVisibility(visible);
  }

  recolour(): void {
    this.repr.update({ color: true });
  }

  move(positions: Float32Array): void {
    const own = new Float32Array(3 * this.sites.length);
    this.sites.forEach((site, atom) => own.set(pointAt(positions, site), 3 * atom));
    this.structure.updatePosition(own);
    this.repr.update({ position: true });
  }
}
