// σ of pairs as a matrix in the order of the axis, with the clusters of this cutoff along its sides.

import { at, runs } from "./arrays";
import { along, type Box, type Ink, rgb, ticks } from "./axes";
import { context2d, h, type SharpCanvas, sharpCanvas } from "./dom";
import type { Model } from "./model";
import { CanvasPainter, type Painter } from "./painter";
import { type Pairs, singles } from "./scene";
import { cutoffText, number } from "./text";

const STRIP = 8; // width of the clusters along the sides
const UNMEASURED = [0xdc, 0xdc, 0xdc] as const;

export class Matrix {
  readonly element: HTMLElement;
  private readonly readout: HTMLElement;
  private readonly area: HTMLElement;
  private readonly plot: SharpCanvas;
  private readonly values: Float32Array;
  private readonly size: number;
  private readonly top: number;
  private readonly rows: Int32Array; // of each shown object: its place in the order of the values
  private readonly binned: boolean; // whether a pixel is the mean of several pairs
  private order: Int32Array; // shown object at each place
  private image: HTMLCanvasElement | null = null;

  constructor(
    private readonly model: Model,
    { values, size, top }: Pairs,
    private readonly ink: () => Ink,
  ) {
    this.values = singles(values);
    this.size = size;
    this.top = top || 1;
    const { place, order } = along(model, "natural");
    this.rows = place;
    this.binned = order.length > this.size;
    this.order = this.chosenOrder();
    this.area = h("div", { class: "area" });
    this.readout = h("p", { class: "hint" }, this.hint);
    this.element = h("div", { class: "matrix" }, this.area, this.readout);
    this.plot = sharpCanvas(this.area, "", (context, width, height) => {
      this.draw(new CanvasPainter(context), width, height);
    });
    this.listen();
    this.describe();
  }

  get name(): string {
    return `${this.symbol} matrix`;
  }

  update(change: string): void {
    if (change === "hover" || change === "frame") return;
    if (change === "look") {
      this.order = this.chosenOrder();
      this.image = null;
      this.readout.textContent = this.hint;
    }
    if (this.plot.size.width === 0) return;
    this.plot.redraw();
    this.describe();
  }

  private describe(): void {
    this.plot.canvas.setAttribute(
      "aria-label",
      `Matrix of ${this.symbol} between ${this.model.hierarchy.size} ${this.model.scene.shownName}, ` +
        `up to ${number(this.top, 3)} ${this.model.scene.quantity.unit}; clusters at ${cutoffText(this.model)} along its sides.`,
    );
  }

  draw(p: Painter, width: number, height: number): void {
    const ink = this.ink();
    const box = this.box(width, height);
    this.image ??= this.paint();
    p.image(this.image, box.x, box.y, box.width, box.height);
    p.frame(box.x, box.y, box.width, box.height, ink.line);
    this.strips(p, ink, box);
    this.bar(p, ink, box);
  }

  // ---- parts ------------------------------------------------------------------------------------

  private get symbol(): string {
    return this.model.scene.quantity.symbol;
  }

  private get hint(): string {
    const { label } = along(this.model, this.binned ? "natural" : this.model.axis);
    const per = Math.round(this.model.hierarchy.size / this.size);
    const each = this.binned ? ` A pixel is the mean of about ${per}² pairs.` : "";
    return `${this.symbol} in the order of ${label.charAt(0).toLowerCase()}${label.slice(1)}; grey where no pair was measured.${each}`;
  }

  /** The order of the axis; means of several pairs stay in the order in which they were made. */
  private chosenOrder(): Int32Array {
    return along(this.model, this.binned ? "natural" : this.model.axis).order;
  }

  /** σ at a pixel. */
  private value(row: number, column: number): number {
    const place = (pixel: number): number => (this.binned ? pixel : (this.rows[this.order[pixel] ?? -1] ?? -1));
    return this.values[this.index(place(row), place(column))] ?? NaN;
  }

  /** What lies along a pixel: one object, or the first and the last of several. */
  private named(pixel: number): string {
    const name = (place: number): string => {
      const object = at(this.order, place);
      return `${this.model.chains[object]} ${this.model.names[object]}`.trim();
    };
    if (!this.binned) return name(pixel);
    const first = (k: number): number => Math.ceil((k * this.order.length) / this.size);
    const last = first(pixel + 1) - 1;
    return last === first(pixel) ? name(last) : `${name(first(pixel))} to ${name(last)}`;
  }

  private box(width: number, height: number): Box {
    const side = Math.max(10, Math.min(width - 110 - STRIP, height - STRIP - 10));
    return { x: Math.max(STRIP + 4, (width - side - 90) / 2), y: STRIP + 4, width: side, height: side };
  }

  private index(row: number, column: number): number {
    const [i, j] = row < column ? [row, column] : [column, row];
    return i * this.size - (i * (i - 1)) / 2 + (j - i);
  }

  private paint(): HTMLCanvasElement {
    const { size } = this;
    const canvas = document.createElement("canvas");
    canvas.width = canvas.height = size;
    const context = context2d(canvas);
    const image = context.createImageData(size, size);
    const ramp = this.model.scene.palettes.heights.map(rgb);
    for (let row = 0; row < size; row++) {
      for (let column = 0; column < size; column++) {
        const value = this.value(row, column);
        const part = Math.sqrt(Math.min(1, value / this.top)); // small and large motions side by side
        const colour = ramp[Math.round(part * (ramp.length - 1))] ?? UNMEASURED; // NaN has no place on the ramp
        image.data.set([...colour, 255], 4 * (row * size + column));
      }
    }
    context.putImageData(image, 0, 0);
    return canvas;
  }

  private strips(p: Painter, ink: Ink, box: Box): void {
    const { order, model } = this;
    const step = box.width / order.length;
    const labels = order.map((object) => at(model.cut.labels, object));
    for (const { start, stop } of runs(order.length, (place) => labels[place] === labels[place - 1])) {
      const fill = model.colourOf(at(order, start)) ?? ink.paper;
      p.rect(box.x + start * step, box.y - STRIP - 2, (stop - start) * step, STRIP, fill);
      p.rect(box.x - STRIP - 2, box.y + start * step, STRIP, (stop - start) * step, fill);
    }
  }

  private bar(p: Painter, ink: Ink, box: Box): void {
    const ramp = this.model.scene.palettes.heights;
    const x = box.x + box.width + 16;
    const step = box.height / ramp.length;
    ramp.forEach((colour, k) => p.rect(x, box.y + box.height - (k + 1) * step, 12, step + 0.5, colour));
    p.frame(x, box.y, 12, box.height, ink.line);
    for (const tick of ticks(0, this.top, 4)) {
      const y = box.y + box.height * (1 - Math.sqrt(tick / this.top));
      p.line([x + 12, y, x + 16, y], ink.line, 1);
      p.text(number(tick, 3), x + 19, y, { fill: ink.muted, size: 11, baseline: "middle" });
    }
    const unit = this.model.scene.quantity.unit;
    p.text(unit ? `${this.symbol} (${unit})` : this.symbol, x + 58, box.y + box.height / 2, {
      fill: ink.text,
      size: 12,
      align: "center",
      baseline: "middle",
      turned: true,
    });
  }

  private listen(): void {
    this.area.addEventListener("pointermove", (event) => {
      const bounds = this.area.getBoundingClientRect();
      const box = this.box(bounds.width, bounds.height);
      const column = (event.clientX - bounds.left - box.x) / box.width;
      const row = (event.clientY - bounds.top - box.y) / box.height;
      if (column < 0 || column >= 1 || row < 0 || row >= 1) {
        this.readout.textContent = this.hint;
        return;
      }
      const [i, j] = [Math.floor(row * this.size), Math.floor(column * this.size)];
      const value = this.value(i, j);
      const what = this.binned ? `mean ${this.symbol}` : this.symbol;
      const said = Number.isNaN(value) ? "not measured" : `${what} = ${number(value)} ${this.model.scene.quantity.unit}`;
      this.readout.textContent = `${this.named(i)} and ${this.named(j)}: ${said.trim()}`;
    });
    this.area.addEventListener("pointerleave", () => {
      this.readout.textContent = this.hint;
    });
  }
}
