// The sequence of a polymer, one letter for each residue, in the colours of the clusters.

import type { Ink } from "./axes";
import { h, type SharpCanvas, sharpCanvas } from "./dom";
import type { Model } from "./model";
import { CanvasPainter, type Painter } from "./painter";
import { wholes, words } from "./scene";
import { onTop } from "./stripes";
import { facts } from "./text";

const CELL = 15;
const ROW = 34;
const LEFT = 46;

interface Line {
  chain: string;
  start: number;
  stop: number;
}

export class Sequence {
  readonly element: HTMLElement;
  private readonly scroller: HTMLElement;
  private readonly area: HTMLElement;
  private readonly plot: SharpCanvas;
  private readonly letters: string;
  private readonly order: Int32Array;
  private readonly numbers: Int32Array;
  private readonly chains: string[];

  constructor(
    private readonly model: Model,
    private readonly ink: () => Ink,
  ) {
    const axis = model.scene.axis!;
    this.letters = axis.letters!;
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
    const { cut, highlight, hierarchy } = this.model;
    const selected = this.model.selected;
    this.lines(width).forEach((line, row) => {
      const y = 18 + row * ROW;
      if (y > height) return;
      const first = `${line.chain} ${this.numbers[line.start]}`.trim();
      p.text(first, LEFT - 8, y + CELL / 2 + 1, { fill: ink.muted, size: 11, align: "right", baseline: "middle" });
      for (let at = line.start; at < line.stop; at++) {
        const object = this.order[at]!;
        const x = LEFT + (at - line.start) * CELL;
        const label = cut.labels[object]!;
        const fill = label < 0 ? ink.paper : this.model.colour(cut.clusters[label]!.family);
        p.rect(x, y, CELL, CELL + 3, fill);
        p.text(this.letters[at]!, x + CELL / 2, y + CELL / 2 + 2, {
          fill: label < 0 ? "#3a3f47" : onTop(fill),
          size: 11,
          align: "center",
          baseline: "middle",
        });
        const place = hierarchy.place[object]!;
        const lit = highlight !== null && place >= highlight.run.start && place < highlight.run.stop;
        if (lit || (selected >= 0 && label === selected)) p.rect(x, y + CELL + 4, CELL, 2.5, ink.mark);
        if (this.numbers[at]! % 10 === 0) {
          p.text(String(this.numbers[at]), x + CELL / 2, y - 3, { fill: ink.muted, size: 9, align: "center", baseline: "bottom" });
        }
      }
    });
  }

  /** Rows of whole tens that fit the width, a new one for each chain. */
  private lines(width: number): Line[] {
    const fit = Math.floor((width - LEFT - 6) / CELL);
    const perLine = Math.max(5, fit >= 10 ? fit - (fit % 10) : fit);
    const lines: Line[] = [];
    for (let start = 0; start < this.order.length; ) {
      let stop = start + 1;
      while (stop < this.order.length && stop - start < perLine && this.chains[stop] === this.chains[start]) stop++;
      lines.push({ chain: this.chains[start]!, start, stop });
      start = stop;
    }
    return lines;
  }

  private resize(): void {
    this.area.style.height = `${this.lines(this.scroller.clientWidth).length * ROW + 12}px`;
  }

  private at(event: PointerEvent): number {
    const bounds = this.area.getBoundingClientRect();
    const line = this.lines(bounds.width)[Math.floor((event.clientY - bounds.top - 8) / ROW)];
    const column = Math.floor((event.clientX - bounds.left - LEFT) / CELL);
    if (!line || column < 0 || line.start + column >= line.stop) return -1;
    return this.order[line.start + column]!;
  }

  private listen(): void {
    this.area.addEventListener("pointermove", (event) => this.model.hover(this.at(event)));
    this.area.addEventListener("pointerleave", () => this.model.hover(-1));
    this.area.addEventListener("click", (event) => this.model.select(this.at(event as PointerEvent)));
  }
}
