// Positions of all sites in each frame, in the units of the view.

import type { Point } from "./arrays";
import { shorts, singles, type Space } from "./scene";

const MISSING = -32768;
export const SPAN = 3; // distance of neighbouring particles in the view; molecules are in Å

export class Frames {
  readonly nSites: number;
  readonly scale: number;
  private readonly packed: Int16Array;
  private readonly fits: Float32Array | null;

  constructor(private readonly space: Pick<Space, "frames" | "snapshots" | "fits" | "molecular" | "spacing" | "centre" | "step">) {
    this.packed = shorts(space.frames);
    this.nSites = this.packed.length / space.snapshots.length / 3;
    this.fits = space.fits ? singles(space.fits) : null;
    this.scale = space.molecular ? 1 : SPAN / space.spacing;
  }

  /** A place of the scene in the view, whose origin is the centre of the scene. */
  toView = (point: Point): Point => {
    const { centre } = this.space;
    return [0, 1, 2].map((d) => (point[d]! - centre[d]!) * this.scale) as Point;
  };

  /** Whether a site is seen in a frame. */
  has(frame: number, site: number): boolean {
    return this.packed[3 * (frame * this.nSites + site)] !== MISSING;
  }

  /** Whether any site is missing in any frame. */
  get gapped(): boolean {
    return this.packed.includes(MISSING);
  }

  /** Positions in a frame, superposed on body 1 if asked; a missing site stays where it was last. */
  positions(frame: number, superposed: boolean): Float32Array {
    const { nSites, packed, space, scale } = this;
    const { centre, step } = space;
    const fit = superposed && this.fits ? this.fits.subarray(12 * frame, 12 * frame + 12) : null;
    const found = new Float32Array(3 * nSites);
    for (let site = 0; site < nSites; site++) {
      const from = 3 * (this.lastSeen(frame, site) * nSites + site);
      let [x, y, z] = [centre[0] + step * packed[from]!, centre[1] + step * packed[from + 1]!, centre[2] + step * packed[from + 2]!];
      if (fit) {
        [x, y, z] = [
          fit[0]! * x + fit[1]! * y + fit[2]! * z + fit[9]!,
          fit[3]! * x + fit[4]! * y + fit[5]! * z + fit[10]!,
          fit[6]! * x + fit[7]! * y + fit[8]! * z + fit[11]!,
        ];
      }
      found[3 * site] = (x - centre[0]) * scale;
      found[3 * site + 1] = (y - centre[1]) * scale;
      found[3 * site + 2] = (z - centre[2]) * scale;
    }
    return found;
  }

  /** The last frame, up to one, in which a site is seen; else the first after it. */
  private lastSeen(frame: number, site: number): number {
    for (let before = frame; before >= 0; before--) if (this.has(before, site)) return before;
    for (let after = frame + 1; after < this.space.snapshots.length; after++) if (this.has(after, site)) return after;
    return frame;
  }
}
