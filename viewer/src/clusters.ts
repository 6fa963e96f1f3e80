// The clusters of this cutoff as a table, and the selected one in detail.

import { at } from "./arrays";
import type { Ink } from "./axes";
import { h } from "./dom";
import type { Cluster } from "./hierarchy";
import type { Model } from "./model";
import type { Painter } from "./painter";
import { pymolSelection } from "./pymol";
import type { Interval } from "./scene";
import { tells } from "./sure";
import { clusterName, facts, intervalText, life, number, plural, runsText, withUnit } from "./text";

const MOST_ROWS = 100;
const LETTERS = 80; // of the list of members in a row
const MOST_LETTERS = 600; // and of the selected cluster

// The table in a picture: where columns stand, the size of letters, and about the room of one.
interface Column {
  width: number;
  align: "left" | "right";
  head: string;
  about?: string; // what it is, in words
  text: (cluster: Cluster) => string;
  interval?: (cluster: Cluster) => Interval | null; // in which it is 9 times of 10
}
const GAP = 20; // between the last column and the members
const ROW = 24;
const SIZE = 12;
const LETTER = 6.6;
const SWATCH = 20; // room of the colour before the number of a cluster

/** A row of the table, and its parts. */
interface Row {
  element: HTMLTableRowElement;
  swatch: HTMLElement;
  name: HTMLElement;
  number: Text;
  cells: HTMLElement[]; // one for each column but the first
  members: HTMLElement;
}

export class ClusterTable {
  readonly element: HTMLElement;
  private readonly columns: Column[]; // but that of the members
  private readonly summary: HTMLElement;
  private readonly body: HTMLTableSectionElement;
  private readonly rows: Row[] = [];
  private readonly more: HTMLElement;
  private readonly detail: HTMLElement;

  constructor(
    private readonly model: Model,
    private readonly zoom: ((cluster: Cluster) => void) | null,
    private readonly say: (text: string) => void,
    private readonly ink: () => Ink,
  ) {
    this.summary = h("p", { class: "summary" });
    this.body = h("tbody");
    this.more = h("p", { class: "hint" });
    this.detail = h("div", { class: "detail" });
    this.columns = [...lifeColumns(model), ...sureColumns(model)];
    const heads = this.columns.map(({ head, about = "" }) => h("th", { scope: "col", title: about }, head));
    const table = h(
      "table",
      { "aria-label": "Clusters at this cutoff" },
      h("thead", {}, h("tr", {}, ...heads, h("th", { scope: "col" }, "Members"))),
      this.body,
    );
    this.element = h("div", { class: "clusters" }, this.summary, this.detail, h("div", { class: "scroller", tabindex: 0, "aria-label": "Table of clusters" }, table, this.more));
    this.update("cut");
  }

  update(change: string): void {
    if (change === "frame") return;
    if (change !== "hover") {
      this.summary.textContent = facts(this.model);
      this.fill();
      this.describe();
    }
    this.mark();
  }

  /** Draw as many rows as there is room for. */
  draw(p: Painter, width: number, height: number): void {
    const { clusters } = this.model.cut;
    const ink = this.ink();
    const lines = broken(facts(this.model), width / LETTER);
    lines.forEach((line, k) => p.text(line, 0, 16 + 18 * k, { fill: ink.text, size: SIZE }));
    const top = 18 * lines.length + 30;
    const ends = this.columns.map((_, k) => this.columns.slice(0, k + 1).reduce((sum, { width: own }) => sum + own, 0));
    const placed = this.columns.map((column, k) => ({ ...column, x: column.align === "left" ? 0 : at(ends, k) }));
    const membersX = at(ends, ends.length - 1) + GAP;
    for (const { x, align, head } of placed) p.text(head, x, top, { fill: ink.muted, size: SIZE, align, bold: true });
    p.text("Members", membersX, top, { fill: ink.muted, size: SIZE, bold: true });
    const room = Math.max(0, Math.floor((height - top - 8) / ROW));
    const count = clusters.length > room ? room - 1 : clusters.length;
    const letters = Math.max(0, (width - membersX) / LETTER);
    clusters.slice(0, Math.max(0, count)).forEach((cluster, label) => {
      const y = top + ROW * (label + 1);
      p.rect(0, y - 11, 13, 13, this.model.colour(cluster.family));
      for (const { x, align, text } of placed) {
        p.text(text(cluster), Math.max(x, SWATCH), y, { fill: ink.text, size: SIZE, align });
      }
      p.text(this.members(cluster, letters), membersX, y, { fill: ink.text, size: SIZE });
    });
    const more = clusters.length - count;
    if (more > 0) p.text(`… and ${more} more`, 0, top + ROW * (count + 1), { fill: ink.muted, size: SIZE });
  }

  private fill(): void {
    const { clusters } = this.model.cut;
    const count = Math.min(clusters.length, MOST_ROWS);
    while (this.rows.length < count) this.rows.push(this.newRow(this.rows.length));
    clusters.slice(0, count).forEach((cluster, label) => this.fillRow(at(this.rows, label), cluster));
    while (this.body.childElementCount > count) this.body.lastElementChild?.remove();
    this.body.append(...this.rows.slice(this.body.childElementCount, count).map(({ element }) => element));
    this.more.hidden = clusters.length <= MOST_ROWS;
    this.more.textContent = `… and ${clusters.length - MOST_ROWS} more, all of them in the CSV.`;
  }

  private newRow(label: number): Row {
    const swatch = h("span", { class: "swatch" });
    const number = new Text();
    const name = h("button", { type: "button", class: "name" }, swatch, number);
    const cells = this.columns.slice(1).map(() => h("td"));
    const members = h("td", { class: "members" });
    const row = h("tr", {}, h("td", {}, name), ...cells, members);
    const shown = (): number => this.model.cut.clusters[label]?.lowest ?? -1;
    row.addEventListener("pointerenter", () => this.model.hover(shown()));
    row.addEventListener("pointerleave", () => this.model.hover(-1));
    row.addEventListener("click", () => this.model.select(shown()));
    return { element: row, swatch, name, number, cells, members };
  }

  private fillRow({ swatch, name, number: shown, cells, members }: Row, cluster: Cluster): void {
    this.paint(swatch, cluster);
    const judged = this.model.sure.of(cluster);
    name.setAttribute("aria-label", clusterName(cluster) + (judged?.trusted ? ", trusted" : ""));
    this.columns.forEach(({ text, interval }, k) => {
      const cell = cells[k - 1];
      if (!cell) shown.data = text(cluster);
      else {
        const bounds = interval?.(cluster);
        cell.replaceChildren(text(cluster), ...(bounds ? [" ", h("small", { title: "9 times of 10" }, intervalText(bounds))] : []));
      }
    });
    members.textContent = this.members(cluster, LETTERS);
  }

  /** Give a swatch the colour of a cluster, and the look of how sure it is. */
  private paint(swatch: HTMLElement, cluster: Cluster): void {
    swatch.style.setProperty("--colour", this.model.colour(cluster.family));
    swatch.dataset.look = this.model.sure.lookOf(cluster);
  }

  private members(cluster: Cluster, letters: number): string {
    return runsText(this.model, this.model.hierarchy.members(cluster), letters);
  }

  private mark(): void {
    const { model } = this;
    const lit = model.highlight && model.highlight.cutoff === model.cut.cutoff ? model.highlight.run.start : -1;
    const { selected } = model;
    this.rows.forEach(({ element, name }, label) => {
      element.classList.toggle("lit", model.cut.clusters[label]?.start === lit);
      element.classList.toggle("selected", label === selected);
      name.setAttribute("aria-pressed", String(label === selected));
    });
  }

  /** The selected cluster: name, size, residues, life; zoom to it, copy it. */
  private describe(): void {
    const { model } = this;
    const label = model.selected;
    const cluster = model.cut.clusters[label];
    this.detail.hidden = !cluster;
    if (!cluster) return;
    const { scene } = model;
    const copy = h("button", {
      type: "button",
      class: "copy",
      title: "Copy it as a selection for PyMOL",
      click: () => void this.copy(pymolSelection(model, cluster)),
    }, "Copy PyMOL selection");
    const buttons = h("div", { class: "buttons" }, copy);
    const { zoom } = this;
    if (zoom) buttons.prepend(h("button", { type: "button", class: "zoom", title: "Zoom to it (z)", click: () => zoom(cluster) }, "Zoom"));
    buttons.append(h("button", { type: "button", "aria-label": "Deselect", title: "Deselect (Esc)", click: () => model.select(-1) }, "✕"));
    const swatch = h("span", { class: "swatch" });
    this.paint(swatch, cluster);
    this.detail.replaceChildren(
      h("div", { class: "title" }, swatch, h("strong", {}, clusterName(cluster)), buttons),
      h("p", {}, `${cluster.size} ${plural(scene.shownName, cluster.size)}; ${life(cluster, scene)}.`),
      ...this.sureness(cluster),
      h("p", { class: "members" }, this.members(cluster, MOST_LETTERS)),
    );
  }

  /** How sure a cluster is: in a sentence, and in numbers. */
  private sureness(cluster: Cluster): HTMLElement[] {
    const { scene, sure } = this.model;
    const { confidence } = scene;
    if (!tells(confidence)) return [];
    const judged = sure.of(cluster);
    if (!judged) return [h("p", { class: "sure" }, `Clusters of fewer than ${confidence.least} are not judged.`)];
    const verdict = judged.look === "plain" ? "" : judged.trusted ? "Trusted. " : "Not trusted. ";
    const numbers = sureColumns(this.model).map(({ head, about = "", text }) => h("span", { title: about }, `${head} ${text(cluster)}`));
    const { birth, death, formed, joined } = judged;
    if (formed) numbers.push(h("span", {}, `complete at ${withUnit(birth, scene)} (${intervalText(formed)})`));
    if (joined && death !== null) numbers.push(h("span", {}, `joins at ${withUnit(death, scene)} (${intervalText(joined)})`));
    if (formed || joined) numbers.push(h("span", {}, "9 times of 10"));
    const listed = numbers.flatMap((part, k) => (k ? [" · ", part] : [part]));
    return [h("p", { class: "sure" }, h("strong", {}, verdict), `${judged.words}. `, h("span", { class: "numbers" }, ...listed))];
  }

  private async copy(text: string): Promise<void> {
    const copied = (await written(text)) || this.copiedByHand(text);
    this.say(copied ? "PyMOL selection copied" : "This browser does not let the page copy");
  }

  /** The older way: a page from a file may not use the clipboard directly. */
  private copiedByHand(text: string): boolean {
    const field = h("textarea", { "aria-hidden": "true", class: "offscreen" });
    field.value = text;
    this.element.append(field);
    field.select();
    const done = document.execCommand("copy");
    field.remove();
    return done;
  }
}

/** What there is to tell of any cluster. */
function lifeColumns({ scene, sure }: Model): Column[] {
  const unit = scene.quantity.unit ? ` (${scene.quantity.unit})` : "";
  // Bounds are those of a cluster that is complete, and of no part of it.
  const known = (cluster: Cluster, cutoff: "birth" | "death", bounds: "formed" | "joined"): Interval | null => {
    const judged = sure.of(cluster);
    return judged?.[cutoff] === cluster[bounds] ? judged[bounds] : null;
  };
  return [
    { width: 60, align: "left", head: "Cluster", text: ({ rank }) => String(rank + 1) },
    { width: 35, align: "right", head: "Size", text: ({ size }) => String(size) },
    { width: 95, align: "right", head: `Forms${unit}`, text: born, interval: (cluster) => known(cluster, "birth", "formed") },
    { width: 95, align: "right", head: `Joins${unit}`, text: dies, interval: (cluster) => known(cluster, "death", "joined") },
  ];
}

/** And of how sure it is, where that can be told; cells are those of clusters.csv. */
function sureColumns({ scene, sure }: Model): Column[] {
  const { confidence } = scene;
  if (!tells(confidence)) return [];
  const known: Record<string, [head: string, about: string]> = {
    support: ["Support", "support: overlap with resampled clusters"],
    separation: ["Q", "separation Q: motion against the rest, over that inside"],
    excess: ["X", "excess X: motion against the rest, over what jitter explains"],
  };
  return confidence.columns.flatMap((name, place) => {
    const [head, about] = known[name] ?? [];
    const text = (cluster: Cluster): string => sure.of(cluster)?.cells[place] || "–";
    return head && about ? [{ width: head === "Q" || head === "X" ? 45 : 65, align: "right" as const, head, about, text }] : [];
  });
}

function born({ formed }: Cluster): string {
  return formed === -Infinity ? "–" : number(formed);
}

function dies({ joined }: Cluster): string {
  return joined === Infinity ? "–" : number(joined);
}

/** Words in lines of at most so many letters. */
function broken(text: string, letters: number): string[] {
  const lines = [""];
  for (const word of text.split(" ")) {
    const line = `${lines.at(-1)} ${word}`.trim();
    if (line.length > letters && lines.at(-1)) lines.push(word);
    else lines[lines.length - 1] = line;
  }
  return lines;
}

async function written(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}
