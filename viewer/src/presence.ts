// Which sites are seen in which frame: tracks begin, end and have gaps.

import { at } from "./arrays";
import { type Space, wholes } from "./scene";

export class Presence {
  readonly gapped: boolean; // whether any site is missing in any frame
  private readonly absent: Uint8Array; // (frames, sites)

  constructor(
    space: Pick<Space, "absent">,
    private readonly nFrames: number,
    private readonly nSites: number,
  ) {
    this.absent = new Uint8Array(nFrames * nSites);
    const places = wholes(space.absent);
    for (const place of places) this.absent[place] = 1;
    this.gapped = places.length > 0;
  }

  has(frame: number, site: number): boolean {
    return !this.absent[frame * this.nSites + site];
  }

  /** The first of the frames in which most sites are seen. */
  fullest(): number {
    const missing = Array.from({ length: this.nFrames }, (_, frame) =>
      this.absent.subarray(frame * this.nSites, (frame + 1) * this.nSites).reduce((sum, one) => sum + one, 0),
    );
    return missing.reduce((best, count, frame) => (count < at(missing, best) ? frame : best), 0);
  }
}
