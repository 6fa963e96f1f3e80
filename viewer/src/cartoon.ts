// The polymers of the scene as a cartoon by ngl, recoloured and moved with the sites.

import * as NGL from "ngl";
import { at, minus, dot, type Point, pointAt } from "./arrays";
import { wholes, type Space } from "./scene";

const SHORTEST = 4; // residues: ngl draws no cartoon of fewer
const MANY = 8_000; // atoms above which a coarser cartoon is drawn

/** An atom that is no site: three sites near it, and where it is in the frame of axes that these span. */
interface Rider {
  atom: number;
  sites: [number, number, number];
  local: Point;
}

export class Cartoon {
  private constructor(
    private readonly repr: NGL.RepresentationElement,
    private readonly structure: NGL.Structure,
    private readonly sites: Int32Array, // of each atom, or -1
    private readonly riders: Rider[],
  ) {}

  /** Draw on a stage; `colourOf` gives the colour of a site as 0xrrggbb, `original` its place as in the file. */
  static async on(stage: NGL.Stage, space: Space, original: Float32Array, colourOf: (site: number) => number): Promise<Cartoon> {
    const sites = wholes(space.cifSites);
    const near = sites.slice();
    for (let atom = 1; atom < near.length; atom++) if (at(near, atom) < 0) near[atom] = at(near, atom - 1);
    const scheme = NGL.ColormakerRegistry.addScheme(function (this: { atomColor: (atom: { index: number }) => number }) {
      this.atomColor = ({ index }) => colourOf(at(near, index));
    } as never);
    const blob = new Blob([space.cif ?? ""], { type: "text/plain" });
    const loaded = await stage.loadFile(blob, { ext: "cif", name: "polymers", defaultRepresentation: false } as never);
    const component = loaded as NGL.StructureComponent;
    const quality = sites.length > MANY ? "medium" : "high";
    const look = { colorScheme: scheme, aspectRatio: 5, quality, smoothSheet: true, visible: false };
    const riders: Rider[] = [];
    component.structure.eachAtom(({ index, x, y, z }) => {
      if (at(sites, index) >= 0) return;
      const anchors = [index - 1, index - 2, index - 3].map((atom) => near[atom] ?? -1) as Rider["sites"];
      if (anchors.some((site) => site < 0) || new Set(anchors).size < 3) return;
      const axes = axesOf(original, anchors);
      const step = minus([x, y, z], pointAt(original, anchors[0]));
      riders.push({ atom: index, sites: anchors, local: axes.map((axis) => dot(step, axis)) as Point });
    });
    return new Cartoon(component.addRepresentation("cartoon", look as never), component.structure, sites, riders);
  }

  /** Sites within the cartoon; ligands, ions and short peptides are not. */
  covered(): number[] {
    const found: number[] = [];
    this.structure.eachPolymer((polymer) => {
      if (polymer.residueCount >= SHORTEST) polymer.eachAtom(({ index }) => found.push(at(this.sites, index)));
    });
    return found.filter((site) => site >= 0);
  }

  show(visible: boolean): void {
    this.repr.setVisibility(visible);
  }

  recolour(): void {
    this.repr.update({ color: true });
  }

  move(positions: Float32Array): void {
    const own = new Float32Array(3 * this.sites.length);
    this.sites.forEach((site, atom) => {
      if (site >= 0) own.set(pointAt(positions, site), 3 * atom);
    });
    for (const { atom, sites, local } of this.riders) {
      const axes = axesOf(positions, sites);
      const origin = pointAt(positions, sites[0]);
      own.set(origin.map((x, d) => x + axes.reduce((sum, axis, k) => sum + axis[d]! * local[k]!, 0)), 3 * atom);
    }
    this.structure.updatePosition(own);
    this.repr.update({ position: true });
  }
}

/** Three orthogonal axes of length 1, of which the first two lie in the plane of three sites. */
function axesOf(positions: Float32Array, [a, b, c]: [number, number, number]): [Point, Point, Point] {
  const origin = pointAt(positions, a);
  const first = unit(minus(origin, pointAt(positions, b)));
  const second = minus(origin, pointAt(positions, c));
  const third = unit(cross(first, second));
  return [first, cross(third, first), third];
}

function cross(a: Point, b: Point): Point {
  return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
}

function unit(a: Point): Point {
  const length = Math.hypot(...a) || 1;
  return [a[0] / length, a[1] / length, a[2] / length];
}
