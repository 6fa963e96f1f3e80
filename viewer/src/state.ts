// The state of the page in one place: cutoff, colouring, frame, selection, hover.

import { at, type Run } from "./arrays";
import { type Cluster, type Cut, Hierarchy } from "./hierarchy";
import { type Look, type Scene, words } from "./scene";

export type Colouring = "groups" | "clusters" | "mobility";
export type Style = "cartoon" | "sticks" | "spheres";
export type Change = "cutoff" | "colour" | "palette" | "style" | "frame" | "select" | "hover";

export class State {
  readonly hierarchy: Hierarchy;
  readonly names: string[];
  readonly chains: string[];
  cut: Cut;
  colouring: Colouring;
  style: Style;
  palette = 0; // of scene.colours.palettes
  frame: number;
  superposed: boolean;
  anchor = -1; // a shown object of the selected cluster
  hovered: Run | null = null; // a cluster, as a run of leaf order
  private readonly listeners: ((change: Change) => void)[] = [];

  constructor(readonly scene: Scene) {
    this.hierarchy = new Hierarchy(scene);
    this.names = scene.shown.names;
    this.chains = words(scene.shown.chains);
    this.colouring = scene.groups ? "groups" : "clusters";
    this.style = scene.space?.cif ? "cartoon" : "sticks";
    this.frame = scene.space?.opens ?? 0;
    this.superposed = Boolean(scene.space?.fits);
    this.cut = this.hierarchy.cut(scene.finding.cutoff, scene.shown.minSize);
  }

  onChange(listener: (change: Change) => void): void {
    this.listeners.push(listener);
  }

  private tell(change: Change): void {
    for (const listener of this.listeners) listener(change);
  }

  // ---- cutoff -----------------------------------------------------------------------------------

  get cutoff(): number {
    return this.cut.cutoff;
  }

  setCutoff(cutoff: number): void {
    if (Number.isNaN(cutoff) || cutoff === this.cutoff) return;
    this.hovered = null;
    this.cut = this.hierarchy.cut(cutoff, this.scene.shown.minSize);
    if (this.anchor >= 0 && at(this.cut.labels, this.anchor) < 0) this.anchor = -1;
    this.tell("cutoff");
  }

  /** Go up or down by so many levels; a level is the first cutoff at which something changes. */
  step(by: number): void {
    const { levels } = this.hierarchy;
    if (levels.length === 0) return;
    const here = this.hierarchy.level(this.cutoff) - 1;
    const on = here >= 0 && levels[here] === this.cutoff;
    const target = by < 0 && !on ? here + by + 1 : here + by;
    this.setCutoff(target < 0 ? this.below : at(levels, Math.min(target, levels.length - 1)));
  }

  /** A cutoff below all levels, at which every object is single. */
  get below(): number {
    const { levels } = this.hierarchy;
    const [first, last] = [at(levels, 0), at(levels, levels.length - 1)];
    return first > 0 ? 0 : first - Math.max(0.01 * (last - first), 1e-6);
  }

  // ---- looks ------------------------------------------------------------------------------------

  setColouring(colouring: Colouring): void {
    if (colouring === "groups" && !this.scene.groups) return;
    this.colouring = colouring;
    this.tell("colour");
  }

  setPalette(palette: number): void {
    this.palette = palette;
    this.tell("palette");
    this.tell("colour");
  }

  /** Take over how another result is coloured. */
  follow({ palette, colouring }: State): void {
    this.palette = palette;
    this.setColouring(colouring);
  }

  setStyle(style: Style): void {
    this.style = style;
    this.tell("style");
  }

  setFrame(frame: number): void {
    const frames = this.scene.space?.snapshots.length ?? 1;
    this.frame = ((frame % frames) + frames) % frames;
    this.tell("frame");
  }

  setSuperposed(superposed: boolean): void {
    this.superposed = superposed;
    this.tell("frame");
  }

  // ---- pointer ----------------------------------------------------------------------------------

  /** The cluster of a shown object at a cutoff, if it is large enough to be coloured. */
  clusterOf(shown: number, cutoff = this.cutoff): Cluster | null {
    if (shown < 0) return null;
    const run = this.hierarchy.run(shown, cutoff);
    return run.stop - run.start < this.scene.shown.minSize ? null : this.hierarchy.cluster(run);
  }

  hover(run: Run | null): void {
    if (run?.start === this.hovered?.start && run?.stop === this.hovered?.stop) return;
    this.hovered = run;
    this.tell("hover");
  }

  select(shown: number): void {
    this.anchor = this.clusterOf(shown) ? shown : -1;
    this.tell("select");
  }

  /** Place of the selected cluster in the cut, or -1. */
  get selected(): number {
    return this.anchor < 0 ? -1 : at(this.cut.labels, this.anchor);
  }

  // ---- what is known of clusters ----------------------------------------------------------------

  /** The branch of the condensed tree to which a cluster belongs at a cutoff, or null. */
  branchOf({ start, stop }: Run, cutoff: number): Scene["clusters"][number] | null {
    let found: Scene["clusters"][number] | null = null;
    for (const branch of this.scene.clusters) {
      const inside = branch.start <= start && stop <= branch.stop;
      const alive = branch.forms <= cutoff && cutoff < (branch.joins ?? Infinity);
      if (inside && alive && (!found || branch.stop - branch.start < found.stop - found.start)) found = branch;
    }
    return found;
  }

  lookOf(run: Run, cutoff: number): Look {
    return this.branchOf(run, cutoff)?.look ?? "plain";
  }

  /** Whether confidence is known for any cluster, so that looks mean something. */
  get judged(): boolean {
    return this.scene.clusters.some(({ look }) => look !== "plain");
  }
}
