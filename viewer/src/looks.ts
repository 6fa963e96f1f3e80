// Sizes and colours of sites and of the sticks between them.

import { copyPoint, eachPair } from "./arrays";
import { type Ink, rgb } from "./axes";
import type { Model } from "./model";
import { doubles, type Space, wholes, words } from "./scene";

// Radii of molecules in Å: sticks of clusters, of all, and of the grey rest.
const THICK = 0.32;
const STICK = 0.2;
const THIN = 0.09;
const LONE = 0.7; // of a site without bonds, such as an ion, beside ribbons and sticks
const VDW: Record<string, number> = { H: 1.1, C: 1.7, N: 1.55, O: 1.52, F: 1.47, P: 1.8, S: 1.8, CL: 1.75 };

// Radii of particles, in units of the distance of neighbours, as in the scripts for other viewers.
const NODE = 0.3;
const JOINT = 0.2;
const SMALL = 0.12;
// And at least this part of how far all of them reach, or else few in a wide room are hardly seen.
const LEAST_NODE = 0.011;
const LEAST_SMALL = 0.008;

export const SPAN = 3; // distance of neighbouring particles in the units of the view
const FADE = 0.8; // how far what is not looked at is mixed with the background

/** What sites belong to, other than clusters, and the colours of these. */
export interface Groups {
  of: Int32Array; // (sites,), -1 for none
  colours: string[];
}

/** What is looked at: how far sites reach, how many they are, which of them are in view, and other groups of them. */
export interface Seen {
  width: number;
  nSites: number;
  here(site: number): boolean;
  others(): Groups | null;
}

export class Looks {
  readonly bonds: Int32Array; // pairs of sites
  readonly contacts: Int32Array;
  readonly sticks: Int32Array; // bonds, then contacts
  readonly colours: Float32Array; // (sites, 3)
  readonly radius: Float32Array; // (sites,)
  readonly from: Float32Array; // (sticks, 3), colour of one half
  readonly to: Float32Array; // and of the other
  readonly stickRadius: Float32Array;
  readonly ribbon: Uint8Array; // (sites,), whether a cartoon shows it
  readonly crossing: Uint8Array; // (sticks,), whether it runs through the whole box in the frame in view
  private readonly heights: Float64Array; // of contacts
  private readonly elements: string[];
  private readonly bonded: Uint8Array; // (sites,)

  constructor(
    private readonly model: Model,
    private readonly space: Space,
    private readonly ink: () => Ink,
    private readonly seen: Seen,
  ) {
    const { nSites } = seen;
    this.bonds = wholes(this.space.bonds);
    this.contacts = wholes(this.space.contacts);
    this.sticks = Int32Array.from([...this.bonds, ...this.contacts]);
    this.heights = doubles(this.space.contactHeights);
    this.elements = words(model.scene.sites.elements);
    this.bonded = new Uint8Array(nSites);
    for (const site of this.bonds) this.bonded[site] = 1;
    this.ribbon = new Uint8Array(nSites);
    this.colours = new Float32Array(3 * nSites);
    this.radius = new Float32Array(nSites);
    const nSticks = this.sticks.length / 2;
    this.crossing = new Uint8Array(nSticks);
    this.from = new Float32Array(3 * nSticks);
    this.to = new Float32Array(3 * nSticks);
    this.stickRadius = new Float32Array(nSticks);
  }

  colourSites(): void {
    const { model, colours } = this;
    const { highlight, hierarchy, cut } = model;
    const rest = rgb(model.scene.palettes.rest);
    const paper = rgb(this.ink().paper);
    const others = this.seen.others();
    const known = (others?.colours ?? cut.clusters.map(({ family }) => model.colour(family))).map(rgb);
    const lit = highlight ? rgb(model.colour(highlight.family)) : rest;
    for (let site = 0; site < this.radius.length; site++) {
      const place = hierarchy.sitePlace[site] ?? -1;
      let colour = known[this.groupOf(site)] ?? rest;
      let fade = 0;
      if (highlight) {
        const inside = place >= highlight.whole.start && place < highlight.whole.stop;
        if (!inside) fade = FADE;
        else if (!others) colour = lit;
      }
      colours[3 * site] = (colour[0] * (1 - fade) + paper[0] * fade) / 255;
      colours[3 * site + 1] = (colour[1] * (1 - fade) + paper[1] * fade) / 255;
      colours[3 * site + 2] = (colour[2] * (1 - fade) + paper[2] * fade) / 255;
    }
  }

  /** Number of the cluster of a site, or of what else it is coloured by; -1 for none. */
  private groupOf(site: number): number {
    const others = this.seen.others();
    return (others ? others.of[site] : this.model.siteLabel(site)) ?? -1;
  }

  /** Sites that are not in view have no size. */
  sizeSites(): void {
    for (let site = 0; site < this.radius.length; site++) {
      this.radius[site] = this.seen.here(site) ? this.sizeOf(site) : 0;
    }
  }

  /** Colours of sticks are those of the sites at their ends; what is not to be seen has no size. */
  paintSticks(): void {
    const { sticks, colours, stickRadius } = this;
    eachPair(sticks, (a, b, k) => {
      copyPoint(colours, a, this.from, k);
      copyPoint(colours, b, this.to, k);
      const unseen = !this.seen.here(a) || !this.seen.here(b);
      const hidden = unseen || this.crossing[k] || (this.model.style === "cartoon" && this.ribbon[a] && this.ribbon[b]);
      stickRadius[k] = hidden ? 0 : this.thickness(k, a, b);
    });
  }

  private sizeOf(site: number): number {
    const { model, space } = this;
    const { molecular } = space;
    const unit = molecular ? 1 : SPAN;
    if (model.style === "spheres") return molecular ? (VDW[this.elements[site]?.toUpperCase() ?? ""] ?? 1.7) : 0.5 * unit;
    if (model.style === "cartoon" && this.ribbon[site]) return 0;
    if (model.style !== "clusters") return molecular ? (this.bonded[site] ? STICK : this.lone) : JOINT * unit;
    const inside = this.groupOf(site) >= 0;
    if (molecular && this.bonds.length) return inside ? THICK : THIN;
    if (molecular) return (inside ? NODE : SMALL) * space.spacing;
    const { width } = this.seen;
    return inside ? Math.max(NODE * unit, LEAST_NODE * width) : Math.max(SMALL * unit, LEAST_SMALL * width);
  }

  private get lone(): number {
    return this.bonds.length ? LONE : STICK;
  }

  private thickness(stick: number, a: number, b: number): number {
    const { model, space } = this;
    const { molecular } = space;
    const group = this.groupOf(a);
    const together = group >= 0 && group === this.groupOf(b);
    const contact = stick - this.bonds.length / 2;
    if (contact >= 0) {
      const close = together && (this.heights[contact] ?? Infinity) <= model.cut.cutoff;
      return close ? JOINT * (molecular ? 0.6 * space.spacing : SPAN) : 0;
    }
    if (model.style !== "clusters") return molecular ? STICK : 0.5 * JOINT * SPAN;
    if (molecular) return together ? THICK : THIN;
    return (together ? JOINT : 0.25 * SMALL) * SPAN;
  }
}
