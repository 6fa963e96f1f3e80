// Colours of shown objects, of sites and of clusters, as the switch "Colour by" says.

import { at, extent } from "./arrays";
import { type Scene, singles, wholes, words } from "./scene";
import type { State } from "./state";

export type Rgb = [number, number, number]; // from 0 to 255

export function rgb(hex: string): Rgb {
  const value = Number.parseInt(hex.slice(1), 16);
  return [value >> 16, (value >> 8) & 255, value & 255];
}

export function hex(colour: readonly number[]): string {
  return `#${colour.map((part) => Math.round(part).toString(16).padStart(2, "0")).join("")}`;
}

/** Mix a share of another colour into a colour. */
export function mixed(colour: string, other: string, share: number): string {
  const [above, below] = [rgb(colour), rgb(other)];
  return hex(above.map((part, k) => part * (1 - share) + below[k]! * share));
}

/** Shown object that stands for each site: its own, else that of its residue, else -1. */
export function shownOfSites({ sites, shown }: Pick<Scene, "sites" | "shown">): Int32Array {
  const [chains, icodes, resids] = [words(sites.chains), words(sites.icodes), wholes(sites.resids)];
  const key = (site: number): string => `${chains[site]} ${resids[site]} ${icodes[site]}`;
  const own = new Int32Array(resids.length).fill(-1);
  const ofResidue = new Map<string, number>();
  wholes(shown.sites).forEach((site, object) => {
    own[site] = object;
    if (resids[site] !== undefined && !ofResidue.has(key(site))) ofResidue.set(key(site), object);
  });
  return own.map((object, site) => (object >= 0 ? object : (ofResidue.get(key(site)) ?? -1)));
}

/** Smallest and largest finite mobility. */
export function mobilityRange(scene: Pick<Scene, "mobility">): [number, number] {
  return extent(singles(scene.mobility));
}

export class Colouring {
  readonly shownOfSite: Int32Array;
  private readonly palettes: { groups: string[]; families: string[] }[];
  private readonly groups: Int32Array | null; // label of each shown object
  private readonly mobility: Float32Array;
  private readonly range: [number, number]; // of finite mobility

  constructor(private readonly state: State) {
    const { scene } = state;
    this.palettes = scene.colours.palettes.map(({ groups, families }) => ({ groups, families: words(families) }));
    this.groups = scene.groups && wholes(scene.groups.labels);
    this.mobility = singles(scene.mobility);
    this.range = mobilityRange(scene);
    this.shownOfSite = shownOfSites(scene);
  }

  private get palette(): { groups: string[]; families: string[] } {
    return at(this.palettes, this.state.palette);
  }

  ofFamily(family: number): string {
    return at(this.palette.families, family);
  }

  ofGroup(group: number): string {
    return this.palette.groups[group] ?? this.state.scene.colours.rest;
  }

  /** Label of a shown object among what is coloured now, or -1; in mobility everything is one. */
  labelOf(shown: number): number {
    if (this.state.colouring === "mobility") return 0;
    return (this.state.colouring === "groups" ? this.groups : this.state.cut.labels)?.[shown] ?? -1;
  }

  /** Colour of a shown object, grey for the rest. */
  ofShown(shown: number): string {
    const { scene, colouring, cut } = this.state;
    if (colouring === "mobility") return this.ofMobility(at(this.mobility, shown));
    const label = this.labelOf(shown);
    if (label < 0) return scene.colours.rest;
    if (colouring === "groups") return this.ofGroup(label);
    return this.ofFamily(at(cut.clusters, label).family);
  }

  /** Label of a site, which follows its own cluster even where it is not shown. */
  labelOfSite(site: number): number {
    const { colouring, hierarchy, cut } = this.state;
    if (colouring === "clusters") return cut.wholeLabels[at(hierarchy.sitePlace, site)] ?? -1;
    const shown = at(this.shownOfSite, site);
    return shown < 0 ? -1 : this.labelOf(shown);
  }

  ofSite(site: number): string {
    const { scene, colouring, cut } = this.state;
    const label = this.labelOfSite(site);
    if (label < 0) return scene.colours.rest;
    if (colouring === "clusters") return this.ofFamily(at(cut.clusters, label).family);
    return this.ofShown(at(this.shownOfSite, site));
  }

  private ofMobility(value: number): string {
    const { heights, rest } = this.state.scene.colours;
    if (!Number.isFinite(value)) return rest;
    const [low, high] = this.range;
    const part = high > low ? (value - low) / (high - low) : 0;
    return at(heights, Math.min(heights.length - 1, Math.floor(part * heights.length)));
  }
}
