// The clusters of this cutoff as a table, and the selected one in detail.

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
const HEAD = [
  { x: 0, align: "left" },
  { x: 95, align: "right" },
  { x: 190, align: "right" },
  { x: 285, align: "right" },
  { x: 305, align: "left" },
] as const;
const ROW = 24;
const SIZE = 12;
const LETTER = 6.6;

export class ClusterTable {
  readonly element: HTMLElement;
  private readonly head: string[];
  private readonly summary: HTMLElement;
  private readonly body: HTMLTableSectionElement;
  private readonly rows: HTMLTableRowElement[] = [];
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
    const unit = scene.unit ? ` (${scene.unit})` : "";
    this.head = ["Cluster", "Size", `Forms${unit}`, `Joins${unit}`, "Members"];
    const table = h(
      "table",
      { "aria-label": "Clusters at this cutoff" },
      h("thead", {}, h("tr", {}, ...this.head.map((text) => h("th", { scope: "col" }, text)))),
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
    HEAD.forEach(({ x, align }, k) => p.text(this.head[k]!, x, top, { fill: ink.muted, size: SIZE, align, bold: true }));
    const room = Math.max(0, Math.floor((height - top - 8) / ROW));
    const count = clusters.length > room ? room - 1 : clusters.length;
    for (let k = 0; k < count; k++) {
      const cluster = clusters[k]!;
      const y = top + ROW * (k + 1);
      const letters = Math.max(0, (width - HEAD.at(-1)!.x) / LETTER);
      const cells = [String(k + 1), String(cluster.size), born(cluster), dies(cluster), this.members(cluster, letters)];
      p.rect(0, y - 11, 13, 13, this.model.colour(cluster.family));
      cells.forEach((text, column) => {
        const { x, align } = HEAD[column]!;
        p.text(text, column ? x : x + 20, y, { fill: ink.text, size: SIZE, align });
      });
    }
    const more = clusters.length - count;
    if (more > 0) p.text(`… and ${more} more`, 0, top + ROW * (count + 1), { fill: ink.muted, size: SIZE });
  }

  private fill(): void {
    const { clusters } = this.model.cut;
    const count = Math.min(clusters.length, MOST_ROWS);
    while (this.rows.length < count) this.rows.push(this.newRow(this.rows.length));
    for (let k = 0; k < count; k++) this.fillRow(this.rows[k]!, clusters[k]!, k);
    while (this.body.childElementCount > count) this.body.lastElementChild!.remove();
    for (let k = this.body.childElementCount; k < count; k++) this.body.append(this.rows[k]!);
    this.more.hidden = clusters.length <= MOST_ROWS;
    this.more.textContent = `… and ${clusters.length - MOST_ROWS} more, all of them in the CSV.`;
  }

  private newRow(label: number): HTMLTableRowElement {
    const name = h("button", { type: "button", class: "name" }, h("span", { class: "swatch" }), String(label + 1));
    const row = h("tr", {}, h("td", {}, name), h("td"), h("td"), h("td"), h("td", { class: "members" }));
    const shown = (): number => this.model.cut.clusters[label]?.lowest ?? -1;
    row.addEventListener("pointerenter", () => this.model.hover(shown()));
    row.addEventListener("pointerleave", () => this.model.hover(-1));
    row.addEventListener("click", () => this.model.select(shown()));
    return row;
  }

  private fillRow(row: HTMLTableRowElement, cluster: Cluster, label: number): void {
    const [name, size, formed, joined, members] = row.children as unknown as HTMLElement[];
    const swatch = name!.querySelector<HTMLElement>(".swatch")!;
    swatch.style.backgroundColor = this.model.colour(cluster.family);
    name!.firstElementChild!.setAttribute("aria-label", clusterName(label));
    size!.textContent = String(cluster.size);
    formed!.textContent = born(cluster);
    joined!.textContent = dies(cluster);
    members!.textContent = this.members(cluster, LETTERS);
  }

  private members(cluster: Cluster, letters: number): string {
    return runsText(this.model, this.model.hierarchy.members(cluster), letters);
  }

  private mark(): void {
    const { model } = this;
    const lit = model.highlight && model.highlight.cutoff === model.cut.cutoff ? model.highlight.run.start : -1;
    this.rows.forEach((row, k) => {
      const cluster = model.cut.clusters[k];
      row.classList.toggle("lit", cluster !== undefined && cluster.start === lit);
      row.classList.toggle("selected", k === model.selected);
      row.firstElementChild!.firstElementChild!.setAttribute("aria-pressed", String(k === model.selected));
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
    if (this.zoom) buttons.prepend(h("button", { type: "button", class: "zoom", title: "Zoom to it (z)", click: () => this.zoom!(cluster) }, "Zoom"));
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
