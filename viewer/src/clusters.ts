// The clusters of this cutoff as a table, and the selected one in detail.

import { at } from "./arrays";
import type { Ink } from "./axes";
import { h } from "./dom";
import type { Cluster } from "./hierarchy";
import type { Model } from "./model";
import type { Painter } from "./painter";
import { pymolSelection } from "./pymol";
import { clusterName, facts, life, number, plural, runsText } from "./text";

const MOST_ROWS = 100;
const LETTERS = 80; // of the list of members in a row
const MOST_LETTERS = 600; // and of the selected cluster

// The table in a picture: where columns stand, the size of letters, and about the room of one.
interface Column {
  x: number;
  align: "left" | "right";
  head: string;
  text: (cluster: Cluster, label: number) => string;
}
const MEMBERS = 305;
const ROW = 24;
const SIZE = 12;
const LETTER = 6.6;
const SWATCH = 20; // room of the colour before the number of a cluster

/** A row of the table, and its parts. */
interface Row {
  element: HTMLTableRowElement;
  swatch: HTMLElement;
  name: HTMLElement;
  cells: [HTMLElement, HTMLElement, HTMLElement, HTMLElement]; // size, formed, joined, members
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
    const { scene } = model;
    this.summary = h("p", { class: "summary" });
    this.body = h("tbody");
    this.more = h("p", { class: "hint" });
    this.detail = h("div", { class: "detail" });
    const unit = scene.quantity.unit ? ` (${scene.quantity.unit})` : "";
    this.columns = [
      { x: 0, align: "left", head: "Cluster", text: (_, label) => String(label + 1) },
      { x: 95, align: "right", head: "Size", text: ({ size }) => String(size) },
      { x: 190, align: "right", head: `Forms${unit}`, text: born },
      { x: 285, align: "right", head: `Joins${unit}`, text: dies },
    ];
    const heads = [...this.columns.map(({ head }) => head), "Members"];
    const table = h(
      "table",
      { "aria-label": "Clusters at this cutoff" },
      h("thead", {}, h("tr", {}, ...heads.map((text) => h("th", { scope: "col" }, text)))),
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
    for (const { x, align, head } of this.columns) p.text(head, x, top, { fill: ink.muted, size: SIZE, align, bold: true });
    p.text("Members", MEMBERS, top, { fill: ink.muted, size: SIZE, bold: true });
    const room = Math.max(0, Math.floor((height - top - 8) / ROW));
    const count = clusters.length > room ? room - 1 : clusters.length;
    const letters = Math.max(0, (width - MEMBERS) / LETTER);
    clusters.slice(0, Math.max(0, count)).forEach((cluster, label) => {
      const y = top + ROW * (label + 1);
      p.rect(0, y - 11, 13, 13, this.model.colour(cluster.family));
      for (const { x, align, text } of this.columns) {
        p.text(text(cluster, label), Math.max(x, SWATCH), y, { fill: ink.text, size: SIZE, align });
      }
      p.text(this.members(cluster, letters), MEMBERS, y, { fill: ink.text, size: SIZE });
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
    const button = { type: "button", class: "name", "aria-label": clusterName(label) };
    const name = h("button", button, swatch, String(label + 1));
    const cells: Row["cells"] = [h("td"), h("td"), h("td"), h("td", { class: "members" })];
    const row = h("tr", {}, h("td", {}, name), ...cells);
    const shown = (): number => this.model.cut.clusters[label]?.lowest ?? -1;
    row.addEventListener("pointerenter", () => this.model.hover(shown()));
    row.addEventListener("pointerleave", () => this.model.hover(-1));
    row.addEventListener("click", () => this.model.select(shown()));
    return { element: row, swatch, name, cells };
  }

  private fillRow({ swatch, cells: [size, formed, joined, members] }: Row, cluster: Cluster): void {
    swatch.style.backgroundColor = this.model.colour(cluster.family);
    size.textContent = String(cluster.size);
    formed.textContent = born(cluster);
    joined.textContent = dies(cluster);
    members.textContent = this.members(cluster, LETTERS);
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
    swatch.style.backgroundColor = model.colour(cluster.family);
    this.detail.replaceChildren(
      h("div", { class: "title" }, swatch, h("strong", {}, clusterName(label)), buttons),
      h("p", {}, `${cluster.size} ${plural(scene.shownName, cluster.size)}; ${life(cluster, scene)}.`),
      h("p", { class: "members" }, this.members(cluster, MOST_LETTERS)),
    );
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
