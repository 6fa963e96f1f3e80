// The table of clusters at σc, the selected cluster, and its selection for PyMOL.

import { at, runs } from "./arrays";
import type { Colouring } from "./colours";
import { h, swatch, unbroken } from "./dom";
import type { Cluster } from "./hierarchy";
import { wholes, words } from "./scene";
import type { Change, State } from "./state";
import { capitalized, count, cutoffText, number, ranges, shorten, withUnit } from "./text";

const MOST = 100; // rows of the table

/** What is written of a cluster: that of its branch, or its own members. */
export interface Row {
  cluster: Cluster;
  size: number;
  colour: string;
  members: string;
  forms: string;
  joins: string;
  support: string;
  separation: string;
  look: string;
  verdict: string;
}

/** One row for each cluster at the cutoff, largest first. */
export function clusterRows(state: State, colouring: Colouring): Row[] {
  const { hierarchy, cut, names, chains } = state;
  return cut.clusters.map((cluster) => {
    const branch = state.branchOf(cluster, cut.cutoff);
    return {
      cluster,
      size: cluster.stop - cluster.start,
      colour: colouring.ofFamily(cluster.family),
      members: ranges(hierarchy.members(cluster), names, chains),
      forms: number(cluster.formed),
      joins: number(cluster.joined),
      support: branch?.support ?? "",
      separation: branch?.separation ?? "",
      look: branch?.look ?? "plain",
      verdict: branch?.verdict ?? "",
    };
  });
}

/** A cluster as a selection of PyMOL: residues by chain and number, else atoms by their number. */
export function pymolSelection({ scene, hierarchy }: State, cluster: Cluster): string {
  const sites = wholes(scene.shown.sites);
  const [chains, icodes, residues] = [words(scene.sites.chains), words(scene.sites.icodes), wholes(scene.sites.resids)];
  const members = Array.from(hierarchy.members(cluster), (object) => ({ object, site: at(sites, object) }));
  if (words(scene.sites.resnames).every((name) => name === "")) return `id ${members.map(({ site }) => site + 1).join("+")}`;
  const escaped = (value: number): string => (value < 0 ? `\\${value}` : String(value)); // PyMOL takes -5 for a range
  // A range of PyMOL takes in residues with insertion codes: only neighbours without any are joined.
  const follows = (k: number): boolean => {
    const [before, here] = [at(members, k - 1), at(members, k)];
    const plain = !icodes[before.site] && !icodes[here.site] && chains[before.site] === chains[here.site];
    return plain && here.object === before.object + 1 && residues[here.site] === at(residues, before.site) + 1;
  };
  const listed = new Map<string, string[]>();
  for (const { start, stop } of runs(members.length, follows)) {
    const [first, last] = [at(members, start).site, at(members, stop - 1).site];
    const from = `${escaped(at(residues, first))}${icodes[first] ?? ""}`;
    const chain = at(chains, first);
    listed.set(chain, [...(listed.get(chain) ?? []), first === last ? from : `${from}-${escaped(at(residues, last))}`]);
  }
  const quoted = (chain: string): string => (/^[A-Za-z0-9]+$/.test(chain) ? chain : `"${chain.replace(/["\\]/g, "")}"`);
  return Array.from(listed, ([chain, parts]) => {
    const resi = `resi ${parts.join("+")}`;
    return chain ? `(chain ${quoted(chain)} and ${resi})` : resi;
  }).join(" or ");
}

const SUPPORT: [string, string][] = [
  ["Support", "How well this cluster is recovered in resampled data."],
  ["Separation", "Median σ to the sibling ÷ median σ inside."],
];

export class ClusterTable {
  readonly element: HTMLElement;
  private readonly summary = h("p", { class: "summary", "aria-live": "polite" });
  private readonly body = h("tbody");
  private readonly more = h("p", { class: "hint" });
  private readonly detail = h("div", { class: "detail" });
  private rows: Row[] = [];
  private pending = 0;

  constructor(
    private readonly state: State,
    private readonly colouring: Colouring,
    private readonly zoom: (shown: Iterable<number>) => void,
  ) {
    const { shown, quantity } = state.scene;
    const heads: [string, string?][] = [
      ["Cluster"],
      ["Size"],
      [`Forms at ${quantity.cutoff}`, "Smallest cutoff at which the cluster is complete."],
      [`Joins at ${quantity.cutoff}`, "Cutoff at which it becomes part of a larger cluster."],
      ...(state.judged ? SUPPORT : []),
      [capitalized(shown.word)],
    ];
    const head = h("tr", {}, ...heads.map(([name, title]) => h("th", { scope: "col", title }, name)));
    const scroller = h("div", { class: "scroller", tabindex: 0 }, h("table", {}, h("thead", {}, head), this.body));
    this.element = h("div", { class: "clusters" }, this.summary, scroller, this.more, this.detail);
    this.refresh();
  }

  dispose(): void {
    cancelAnimationFrame(this.pending);
  }

  update(change: Change): void {
    if (change === "hover" || change === "select") return this.mark();
    if (change !== "cutoff" && change !== "colour") return;
    cancelAnimationFrame(this.pending); // of the steps of a drag only the last is written
    this.pending = requestAnimationFrame(() => this.refresh());
  }

  private refresh(): void {
    const { state } = this;
    const { cut, scene } = state;
    this.rows = clusterRows(state, this.colouring);
    const { word, minSize } = scene.shown;
    const small = cut.count - this.rows.length;
    const sizes = `${count(this.rows.length, "clusters")} of ≥ ${minSize} ${word}`;
    this.summary.textContent = `${cutoffText(cut.cutoff, scene)}: ${sizes}; ${small} smaller; the largest has ${cut.largest}.`;
    this.body.replaceChildren(...this.rows.slice(0, MOST).map((row, k) => this.rowOf(row, k)));
    const hidden = this.rows.length - MOST;
    this.more.hidden = hidden <= 0;
    this.more.textContent = hidden > 0 ? `${hidden} more clusters: save the table as CSV to see all.` : "";
    this.mark();
  }

  private rowOf(row: Row, k: number): HTMLElement {
    const { state } = this;
    const name = h("button", { type: "button", class: "name" }, swatch(row.colour, row.look), String(k + 1));
    const known = state.judged ? [row.support, row.separation] : [];
    const cells = [String(row.size), row.forms, row.joins, ...known, unbroken(shorten(row.members, 90))];
    return h(
      "tr",
      {
        title: row.verdict || null,
        click: () => state.select(state.selected === k ? -1 : row.cluster.lowest),
        pointerenter: () => state.hover(row.cluster),
        pointerleave: () => state.hover(null),
      },
      h("th", { scope: "row" }, name),
      ...cells.map((cell) => h("td", {}, cell)),
    );
  }

  private mark(): void {
    const { state, rows } = this;
    Array.from(this.body.children).forEach((element, k) => {
      const run = rows[k]?.cluster;
      element.classList.toggle("selected", k === state.selected);
      element.classList.toggle("lit", run !== undefined && run.start === state.hovered?.start && run.stop === state.hovered.stop);
    });
    this.describe(rows[state.selected]);
  }

  /** The selected cluster in whole: all members, and ways to use it elsewhere. */
  private describe(row: Row | undefined): void {
    this.detail.hidden = !row;
    if (!row) return;
    const { state } = this;
    const { quantity } = state.scene;
    const selection = pymolSelection(state, row.cluster);
    const copy = (button: HTMLButtonElement): void => {
      void navigator.clipboard.writeText(selection).then(() => (button.textContent = "Copied"));
    };
    const button: HTMLButtonElement = h("button", { type: "button", title: selection, click: () => copy(button) }, "Copy for PyMOL");
    const look = h("button", { type: "button", click: () => this.zoom(state.hierarchy.members(row.cluster)) }, "Zoom");
    const life = `Together from ${withUnit(row.cluster.formed, quantity)} to ${withUnit(row.cluster.joined, quantity)}.`;
    this.detail.replaceChildren(
      h("p", {}, swatch(row.colour, row.look), h("strong", {}, ` Cluster ${state.selected + 1}, ${count(row.size, state.scene.shown.word)} `), look, button),
      h("p", {}, row.members),
      h("p", {}, row.verdict ? `${row.verdict} ${life}` : life),
    );
  }
}
