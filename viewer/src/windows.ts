// Clusters in time: how large each is from window to window, and a slider through the windows.

import { at } from "./arrays";
import { bottomAxis, type Box, type Ink, leftAxis, onward, upward } from "./axes";
import { h, type SharpCanvas, sharpCanvas } from "./dom";
import type { Model } from "./model";
import { CanvasPainter, type Painter } from "./painter";
import type { Windows } from "./scene";
import { plural, runsText, withUnit } from "./text";

const WIDE = 0.7; // of a column, of the room for one
const MOST_LETTERS = 90; // of the members that joined or left

export class WindowPanel {
  readonly element: HTMLElement;
  private readonly area = h("div", { class: "area" });
  private readonly plot: SharpCanvas;
  private readonly slider: HTMLInputElement;
  private readonly said = h("p", { class: "said", "aria-live": "polite" });
  private readonly counts: Map<number, number>[]; // sites of each track, in every window

  constructor(
    private readonly model: Model,
    private readonly found: Windows,
    private readonly ink: () => Ink,
  ) {
    this.counts = found.tracks.map((tracks) => counted(tracks.filter((track) => track >= 0)));
    this.slider = h("input", {
      type: "range",
      min: 1,
      max: found.windows.length,
      step: 1,
      value: 1,
      "aria-label": "Window",
      input: () => model.setWindow(Number(this.slider.value) - 1),
    });
    this.element = h("div", { class: "windows" }, h("div", { class: "film" }, h("span", { class: "hint" }, "window"), this.slider), this.said, this.area);
    this.plot = sharpCanvas(this.area, "", (context, width, height) => this.draw(new CanvasPainter(context), width, height));
    this.area.addEventListener("click", (event) => {
      const bounds = this.area.getBoundingClientRect();
      const { x, width } = this.box(bounds.width, bounds.height);
      model.setWindow(Math.floor(((event.clientX - bounds.left - x) / width) * found.windows.length));
    });
    this.update("look");
  }

  /** Have the structure in the colours of the window while the panel is in view. */
  show(seen: boolean): void {
    if (seen) this.model.setWindow(this.model.window);
    this.model.setColouring(seen ? "windows" : "clusters");
  }

  update(change: string): void {
    if (change !== "look" && change !== "theme") return;
    const text = this.describe();
    this.slider.value = String(this.model.window + 1);
    this.slider.setAttribute("aria-valuetext", text);
    this.said.textContent = text;
    this.plot.canvas.setAttribute("aria-label", `Sites in clusters, window after window. ${text}`);
    this.plot.redraw();
  }

  /** Columns of tracks, the first lowest; what is in no large cluster is left white. */
  draw(p: Painter, width: number, height: number): void {
    const { model, found } = this;
    const ink = this.ink();
    const box = this.box(width, height);
    const [across, up] = [[0.5, found.windows.length + 0.5], [0, model.hierarchy.size]] as [[number, number], [number, number]];
    const room = box.width / found.windows.length;
    p.rect(box.x, box.y, box.width, box.height, ink.paper);
    this.counts.forEach((counts, window) => {
      const x = onward(window + 1, across, box);
      let floor = 0;
      for (const [track, count] of [...counts].sort(([one], [other]) => one - other)) {
        const [top, bottom] = [upward(floor + count, up, box), upward(floor, up, box)];
        p.rect(x - (WIDE * room) / 2, top, WIDE * room, bottom - top, model.trackColour(track));
        floor += count;
      }
      if (window === model.window) p.line([x - room / 2, box.y, x - room / 2, box.y + box.height, x + room / 2, box.y + box.height, x + room / 2, box.y, x - room / 2, box.y], ink.mark, 2);
    });
    p.frame(box.x, box.y, box.width, box.height, ink.line);
    leftAxis(p, ink, box, up, "Sites");
    bottomAxis(p, ink, box, across, "Window", true);
  }

  /** Which snapshots, how many clusters, and who joined or left since the window before. */
  private describe(): string {
    const { model, found } = this;
    const { window } = model;
    const [start, stop] = at(found.windows, window);
    const [here, before] = [at(found.tracks, window), found.tracks[window - 1]];
    const n = at(this.counts, window).size;
    const told = [`Window ${window + 1} of ${found.windows.length}, snapshots ${start + 1} to ${stop}: ${n} ${plural("cluster", n)} at ${withUnit(found.cutoff, model.scene)}`];
    for (const [track, count] of at(this.counts, window)) {
      if (!before?.includes(track)) {
        if (before) told.push(`cluster ${track + 1} (${count}) begins`);
        continue;
      }
      const joined = membersWhere(here, (now, site) => now === track && before[site] !== track);
      const left = membersWhere(before, (then, site) => then === track && here[site] !== track);
      if (joined.length) told.push(`${runsText(model, joined, MOST_LETTERS)} joined cluster ${track + 1}`);
      if (left.length) told.push(`${runsText(model, left, MOST_LETTERS)} left cluster ${track + 1}`);
    }
    return `${told.join("; ")}.`;
  }

  private box(width: number, height: number): Box {
    return { x: 52, y: 8, width: Math.max(10, width - 52 - 12), height: Math.max(10, height - 8 - 42) };
  }
}

function membersWhere(tracks: number[], wanted: (track: number, site: number) => boolean): Int32Array {
  return Int32Array.from(tracks.flatMap((track, site) => (wanted(track, site) ? [site] : [])));
}

/** How often each value comes. */
export function counted(values: number[]): Map<number, number> {
  const found = new Map<number, number>();
  for (const value of values) found.set(value, (found.get(value) ?? 0) + 1);
  return found;
}
