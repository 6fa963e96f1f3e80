// The sequence of a polymer, one letter for each residue, in the colours of the clusters.

import { at, type Run, runs } from "./arrays";
import type { Ink } from "./axes";
import { h, type SharpCanvas, sharpCanvas } from "./dom";
import type { Model } from "./model";
import { CanvasPainter, type Painter } from "./painter";
import { type Scene, wholes, words } from "./scene";
import { onTop } from "./stripes";
import { facts } from "./text";

const CELL = 15;
const ROW = 34;
const LEFT = 46;

type Axis = NonNullable<Scene["axis"]>;

export class Sequence {
  readonly element: HTMLElement;
  private readonly scroller: HTMLElement;
  private readonly area: HTMLElement;
  private readonly plot: SharpCanvas;
  private readonly order: Int32Array;
  private readonly numbers: Int32Array;
  private readonly chains: string[];

  constructor(
    private readonly model: Model,
    axis: Axis,
    private readonly letters: string,
    private readonly ink: () => Ink,
  ) {
    this.order = wholes(axis.order);
    this.numbers = wholes(axis.numbers);
    this.chains = words(axis.chains);
    this.area = h("div", { class: "letters" });
    this.scroller = h("div", { class: "scroller", tabindex: 0, "aria-label": "Sequence" }, this.area);
    this.element = h("div", { class: "sequence" }, this.scroller);
    this.plot = sharpCanvas(this.area, "", (context, width, height) => {
      this.draw(new CanvasPainter(context), width, height);
    });
    new ResizeObserver(() => this.resize()).observe(this.scroller);
    this.listen();
    this.describe();
  }

  update(change: string): void {
    if (change === "frame" || this.plot.size.width === 0) return;
    this.plot.redraw();
    if (change !== "hover") this.describe();
  }

  private describe(): void {
    this.plot.canvas.setAttribute("aria-label", `Sequence of ${this.letters.length} residues. ${facts(this.model)}`);
  }

  draw(p: Painter, width: number, height: number): void {
    const ink = this.ink();
    this.lines(width).forEach(({ start, stop }, row) => {
      const y = 18 + row * ROW;
      if (y > height) return;
      const first = `${at(this.chains, start)} ${at(this.numbers, start)}`.trim();
      p.text(first, LEFT - 8, y + CELL / 2 + 1, { fill: ink.muted, size: 11, align: "right", baseline: "middle" });
      for (let place = start; place < stop; place++) this.drawLetter(p, ink, place, LEFT + (place - start) * CELL, y);
    });
  }

  private drawLetter(p: Painter, ink: Ink, place: number, x: number, y: number): void {
    const { model } = this;
    const object = at(this.order, place);
    const colour = model.colourOf(object);
    p.rect(x, y, CELL, CELL + 3, colour ?? ink.paper);
    p.text(this.letters.charAt(place), x + CELL / 2, y + CELL / 2 + 2, {
      fill: colour ? onTop(colour) : "#3a3f47",
      size: 11,
      align: "center",
      baseline: "middle",
    });
    if (this.isMarked(object)) p.rect(x, y + CELL + 4, CELL, 2.5, ink.mark);
    const number = at(this.numbers, place);
    if (number % 10 === 0) {
      p.text(String(number), x + CELL / 2, y - 3, { fill: ink.muted, size: 9, align: "center", baseline: "bottom" });
    }
  }

  /** Whether an object is in the cluster that is hovered or selected. */
  private isMarked(object: number): boolean {
    const { highlight, hierarchy, selected, cut } = this.model;
    const leaf = at(hierarchy.place, object);
    const lit = highlight !== null && leaf >= highlight.run.start && leaf < highlight.run.stop;
    return lit || (selected >= 0 && cut.labels[object] === selected);
  }

  /** Rows of whole tens that fit the width, a new one for each chain. */
  private lines(width: number): Run[] {
    const { chains } = this;
    const fit = Math.floor((width - LEFT - 6) / CELL);
    const perLine = Math.max(5, fit >= 10 ? fit - (fit % 10) : fit);
    const lines: Run[] = [];
    for (const { start, stop } of runs(chains.length, (place) => chains[place] === chains[place - 1])) {
      for (let first = start; first < stop; first += perLine) {
        lines.push({ start: first, stop: Math.min(stop, first + perLine) });
      }
    }
    return lines;
  }

  private resize(): void {
    this.area.style.height = `${this.lines(this.scroller.clientWidth).length * ROW + 12}px`;
  }

  private under(event: PointerEvent): number {
    const bounds = this.area.getBoundingClientRect();
    const line = this.lines(bounds.width)[Math.floor((event.clientY - bounds.top - 8) / ROW)];
    const column = Math.floor((event.clientX - bounds.left - LEFT) / CELL);
    if (!line || column < 0 || line.start + column >= line.stop) return -1;
    return at(this.order, line.start + column);
  }

  private listen(): void {
    this.area.addEventListener("pointermove", (event) => this.model.hover(this.under(event)));
    this.area.addEventListener("pointerleave", () => this.model.hover(-1));
    this.area.addEventListener("click", (event) => this.model.select(this.under(event as PointerEvent)));
  }
}
