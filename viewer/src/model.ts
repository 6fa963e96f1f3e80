// The state of the page, in one place: what is cut where, what is hovered, selected and shown.

import { at, type Run } from "./arrays";
import { type Cluster, type Cut, Hierarchy } from "./hierarchy";
import { Presence } from "./presence";
import { type PaletteName, type Scene, wholes, words } from "./scene";
import { Judgements } from "./sure";
import { neighbours } from "./text";

export type Style = "clusters" | "cartoon" | "sticks" | "spheres";
export type AxisOrder = "natural" | "label";
export type Colouring = "clusters" | "bodies" | "windows"; // of the structure
export type Change = "cut" | "hover" | "select" | "look" | "frame";

export interface Highlight {
  run: Run; // in the leaf order of shown objects
  whole: Run; // in that of all
  cutoff: number;
  family: number;
}

export class Model {
  readonly hierarchy: Hierarchy;
  readonly names: string[];
  readonly chains: string[];
  readonly follows: Uint8Array; // of each shown object, whether it comes right after the one before
  readonly sure: Judgements; // how sure each cluster is
  cut: Cut;
  minSize: number;
  palette: PaletteName;
  axis: AxisOrder;
  style: Style;
  trustedOnly = false; // whether clusters that are not trusted are left grey
  colouring: Colouring = "clusters";
  window = 0; // of those in which clusters were found, the one in view
  turn: number | null = null; // how far bodies are moved along their screws, from 0 to 1; null for a snapshot
  frame = 0; // in view; at first, one in which most sites are seen
  anchor = -1; // a shown object of the selected cluster
  fixed = false; // whether the selected cluster, or else the core, is kept in place
  highlight: Highlight | null = null;
  private readonly colours: Record<PaletteName, Int32Array>; // of each family
  private suggested = 0; // the suggestion that was shown last
  private readonly listeners: ((change: Change) => void)[] = [];

  constructor(readonly scene: Scene) {
    this.hierarchy = new Hierarchy(scene);
    this.colours = { wide: wholes(scene.colours.wide), safe: wholes(scene.colours.safe) };
    this.sure = new Judgements(scene.confidence);
    this.names = scene.tree.names;
    this.chains = words(scene.tree.chains);
    this.follows = neighbours(this.chains, this.names);
    this.minSize = scene.minSize;
    this.palette = scene.palette;
    this.axis = scene.axis ? "natural" : "label";
    const { space } = scene;
    if (space) this.frame = new Presence(space, space.snapshots.length, wholes(scene.sites.objects).length).fullest();
    this.style = scene.space?.cartoon ? "cartoon" : "clusters";
    this.cut = this.hierarchy.cut(scene.suggestions[0]?.cutoff ?? scene.limits[1], this.minSize);
  }

  onChange(listener: (change: Change) => void): void {
    this.listeners.push(listener);
  }

  changed(change: Change): void {
    for (const listener of this.listeners) listener(change);
  }

  // ---- cutoffs ----------------------------------------------------------------------------------

  setCutoff(cutoff: number): void {
    if (Number.isNaN(cutoff) || cutoff === this.cut.cutoff) return;
    this.highlight = null;
    this.cut = this.cutAt(cutoff);
    const suggested = this.scene.suggestions.findIndex((suggestion) => suggestion.cutoff === cutoff);
    if (suggested >= 0) this.suggested = suggested;
    this.changed("cut");
  }

  /** Go to the suggested cutoff after the last one that was shown, wherever the cutoff went since. */
  nextSuggestion(): void {
    const { suggestions } = this.scene;
    for (let tried = 0; tried < suggestions.length; tried++) {
      this.suggested = (this.suggested + 1) % suggestions.length;
      const { cutoff } = at(suggestions, this.suggested);
      if (cutoff !== this.cut.cutoff) return this.setCutoff(cutoff);
    }
  }

  /** Go up or down by so many levels; a level is the first cutoff at which something is new. */
  step(levels: number): void {
    const all = this.hierarchy.levels;
    if (all.length === 0) return;
    const here = this.hierarchy.level(this.cut.cutoff) - 1;
    const on = here >= 0 && all[here] === this.cut.cutoff;
    const target = levels < 0 && !on ? here + levels + 1 : here + levels;
    this.setCutoff(target < 0 ? this.below : at(all, Math.min(target, all.length - 1)));
  }

  /** A cutoff below all levels, at which every object is single; NaN where there are no levels. */
  get below(): number {
    const [first = NaN, last = NaN] = [this.hierarchy.levels.at(0), this.hierarchy.levels.at(-1)];
    return first > 0 ? 0 : first - Math.max(0.01 * (last - first), 1e-6);
  }

  setMinSize(size: number): void {
    if (!Number.isFinite(size) || size < 1) return;
    this.minSize = Math.round(size);
    this.cut = this.cutAt(this.cut.cutoff);
    this.changed("look");
  }

  setTrustedOnly(only: boolean): void {
    this.trustedOnly = only;
    this.cut = this.cutAt(this.cut.cutoff);
    this.changed("look");
  }

  /** Whether a cluster that is large enough is to be coloured. */
  wants(run: Run): boolean {
    return !this.trustedOnly || this.sure.trusts(run);
  }

  private cutAt(cutoff: number): Cut {
    return this.hierarchy.cut(cutoff, this.minSize, (run) => this.wants(run));
  }

  setPalette(palette: PaletteName): void {
    this.palette = palette;
    this.changed("look");
  }

  // ---- colours ----------------------------------------------------------------------------------

  colour(family: number): string {
    const { core, [this.palette]: others } = this.scene.palettes;
    const chosen = at(this.colours[this.palette], family);
    return chosen === 0 ? core : at(others, chosen - 1);
  }

  /** Label of each site at this cutoff, -1 for the rest. */
  siteLabel(site: number): number {
    const place = this.hierarchy.sitePlace[site] ?? -1;
    return place < 0 ? -1 : (this.cut.wholeLabels[place] ?? -1);
  }

  // ---- what is looked at ------------------------------------------------------------------------

  /** The colour of a shown object at this cutoff, if its cluster is large enough to be coloured. */
  colourOf(shown: number): string | null {
    const label = at(this.cut.labels, shown);
    return label < 0 ? null : this.colour(at(this.cut.clusters, label).family);
  }

  /** The cluster of a shown object at a cutoff, if it is large enough to be coloured. */
  clusterOf(shown: number, cutoff = this.cut.cutoff): Cluster | null {
    if (shown < 0) return null;
    const run = this.hierarchy.run(shown, cutoff);
    if (run.stop - run.start < this.minSize || !this.wants(run)) return null;
    return this.hierarchy.cluster(run);
  }

  hover(shown: number, cutoff = this.cut.cutoff): void {
    const cluster = this.clusterOf(shown, cutoff);
    const known = this.highlight;
    if (!cluster) {
      if (known) {
        this.highlight = null;
        this.changed("hover");
      }
      return;
    }
    if (known && known.run.start === cluster.start && known.run.stop === cluster.stop) return;
    this.highlight = {
      run: cluster,
      whole: this.hierarchy.wholeRun(shown, cutoff),
      cutoff,
      family: cluster.family,
    };
    this.changed("hover");
  }

  select(shown: number): void {
    this.anchor = this.clusterOf(shown) ? shown : -1;
    this.changed("select");
  }

  /** Place of the selected cluster in the list, -1 for none. */
  get selected(): number {
    return this.anchor < 0 ? -1 : at(this.cut.labels, this.anchor);
  }

  setFrame(frame: number): void {
    const count = this.scene.space?.snapshots.length ?? 1;
    this.frame = ((frame % count) + count) % count;
    this.turn = null;
    this.changed("frame");
  }

  /** Move bodies along their screws, from one end (0) of what was seen to the other (1). */
  setTurn(turn: number | null): void {
    this.turn = turn === null || Number.isNaN(turn) ? null : Math.min(1, Math.max(0, turn));
    this.changed("frame");
  }

  /** Go to a window, and to the snapshot nearest to its middle. */
  setWindow(window: number): void {
    const { windows, space } = this.scene;
    if (!windows) return;
    this.window = Math.min(windows.windows.length - 1, Math.max(0, Math.round(window)));
    const [start, stop] = at(windows.windows, this.window);
    const middle = (start + stop + 1) / 2; // counted from 1
    const distances = (space?.snapshots ?? [0]).map((snapshot) => Math.abs(snapshot - middle));
    this.frame = distances.indexOf(Math.min(...distances));
    this.turn = null;
    this.changed("look");
    this.changed("frame");
  }

  /** The colour of a track of clusters, which it keeps from window to window. */
  trackColour(track: number): string {
    const { core, [this.palette]: others } = this.scene.palettes;
    return track === 0 ? core : at(others, (track - 1) % others.length);
  }

  /** Colour the structure by clusters, by those of a window, or by rigid bodies, of which one is then held still. */
  setColouring(colouring: Colouring): void {
    const { motion, windows } = this.scene;
    const possible = { clusters: true, bodies: motion, windows }[colouring];
    if (colouring === this.colouring || !possible) return;
    this.colouring = colouring;
    this.turn = null;
    this.changed("look");
    this.changed("frame");
  }

  setFixed(fixed: boolean): void {
    this.fixed = fixed;
    this.changed("frame");
  }

  setStyle(style: Style): void {
    this.style = style;
    this.changed("look");
  }

  setAxis(axis: AxisOrder): void {
    this.axis = axis;
    this.changed("look");
  }
}
