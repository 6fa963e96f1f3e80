// Heights of pairs as a matrix in the order of the axis, with the clusters of this cutoff along its sides: σ, or the
// cutoff at which two sites join.

import { at, runs } from "./arrays";
import { along, type Box, type Ink, rgb, ticks } from "./axes";
import { joiningValues, percentile, triangle } from "./joining";
import { context2d, h, type SharpCanvas, sharpCanvas } from "./dom";
import type { Model } from "./model";
import { CanvasPainter, type Painter } from "./painter";
import { type Pairs, singles } from "./scene";
import { cutoffText, number, symbol, withUnit } from "./text";

const MOST_PIXELS = 1_000; // along a side
const TOP = 0.98; // of all pairs have a colour of their own, as in the figures
const STRIP = 8; // width of the clusters along the sides
const UNMEASURED = [0xdc, 0xdc, 0xdc] as const;

/** What a matrix shows; values are in the order of the axis: the upper triangle, row by row. */
export interface Heights {
  load: () => Loaded; // once they are to be seen
  size: number; // of a side, in pixels
  name: string; // of the card
  symbol: string;
  none: string; // what is said where there is none
  grey: string; // and what grey means
  means: boolean; // whether a pixel for several pairs is their mean, or one of them
}

interface Loaded {
  values: Float32Array; // NaN where there is none
  low: number; // the least and the largest that are told apart by colour
  top: number;
}

/** Heights that were measured. */
export function measured({ scene }: Model, { values, size, top }: Pairs): Heights {
  const { symbol: sign } = scene.quantity;
  const [none, grey] = ["not measured", "where no pair was measured"];
  const load = (): Loaded => ({ values: singles(values), low: 0, top: top || 1 });
  return { load, size, name: `${sign} matrix`, symbol: sign, none, grey, means: true };
}

/** The cutoffs at which any two join. */
export function joining(model: Model): Heights {
  const { hierarchy, scene } = model;
  const size = Math.min(hierarchy.size, MOST_PIXELS);
  const load = (): Loaded => {
    const values = joiningValues(hierarchy, along(model, "natural").order, size);
    const [low, top] = [hierarchy.levels.at(0) ?? 0, percentile(values, TOP)];
    return { values, low, top: top > low ? top : low + 1 };
  };
  return { load, size, name: "Joining", symbol: symbol(scene), none: "never", grey: "where two never join", means: false };
}

export class Matrix {
  readonly element: HTMLElement;
  readonly name: string;
  private readonly readout: HTMLElement;
  private readonly area: HTMLElement;
  private readonly plot: SharpCanvas;
  private known: Loaded | null = null; // once they are seen
  private readonly size: number;
  private readonly rows: Int32Array; // of each shown object: its place in the order of the values
  private readonly binned: boolean; // whether a pixel is the mean of several pairs
  private order: Int32Array; // shown object at each place
  private image: HTMLCanvasElement | null = null;

  constructor(
    private readonly model: Model,
    private readonly heights: Heights,
    private readonly ink: () => Ink,
  ) {
    this.name = heights.name;
    this.size = heights.size;
    const { place, order } = along(model, "natural");
    this.rows = place;
    this.binned = order.length > this.size;
    this.order = this.chosenOrder();
    this.area = h("div", { class: "area" });
    this.readout = h("p", { class: "hint" }, this.hint);
    this.element = h("div", { class: "matrix" }, this.area, this.readout);
    this.plot = sharpCanvas(this.area, "", (context, width, height) => {
      this.draw(new CanvasPainter(context), width, height);
      this.describe();
    });
    this.listen();
    this.describe();
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
  }

  private describe(): void {
    const { hierarchy, scene } = this.model;
    const top = this.known ? `, up to ${withUnit(Number(this.known.top.toPrecision(3)), scene)}` : "";
    this.plot.canvas.setAttribute(
      "aria-label",
      `Matrix of ${this.symbol} between ${hierarchy.size} ${scene.shownName}${top}; clusters at ${cutoffText(this.model)} along its sides.`,
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
    return this.heights.symbol;
  }

  private get hint(): string {
    const { label } = along(this.model, this.binned ? "natural" : this.model.axis);
    const per = Math.round(this.model.hierarchy.size / this.size);
    const each = this.binned ? ` A pixel is ${this.heights.means ? "the mean" : "one"} of about ${per}² pairs.` : "";
    return `${this.symbol} in the order of ${label.charAt(0).toLowerCase()}${label.slice(1)}; grey ${this.heights.grey}.${each}`;
  }

  /** The order of the axis; means of several pairs stay in the order in which they were made. */
  private chosenOrder(): Int32Array {
    return along(this.model, this.binned ? "natural" : this.model.axis).order;
  }

  private get loaded(): Loaded {
    return (this.known ??= this.heights.load());
  }

  /** How far up the scale of colours a height is; small and large ones side by side. */
  private part(value: number): number {
    const { low, top } = this.loaded;
    return Math.sqrt(Math.min(1, Math.max(0, (value - low) / (top - low))));
  }

  /** The height at a pixel. */
  private value(row: number, column: number): number {
    const place = (pixel: number): number => (this.binned ? pixel : (this.rows[this.order[pixel] ?? -1] ?? -1));
    return this.loaded.values[triangle(this.size, place(row), place(column))] ?? NaN;
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

  private paint(): HTMLCanvasElement {
    const { size } = this;
    const canvas = document.createElement("canvas");
    canvas.width = canvas.height = size;
    const context = context2d(canvas);
    const image = context.createImageData(size, size);
    const ramp = this.model.scene.palettes.heights.map(rgb);
    for (let row = 0; row < size; row++) {
      for (let column = 0; column < size; column++) {
        const place = Math.round(this.part(this.value(row, column)) * (ramp.length - 1));
        const colour = ramp[place] ?? UNMEASURED; // NaN has no place on the ramp
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
    for (const tick of ticks(this.loaded.low, this.loaded.top, 4)) {
      const y = box.y + box.height * (1 - this.part(tick));
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
      const what = this.binned && this.heights.means ? `mean ${this.symbol}` : this.symbol;
      const said = Number.isNaN(value) ? this.heights.none : `${what} = ${number(value)} ${this.model.scene.quantity.unit}`;
      this.readout.textContent = `${this.named(i)} and ${this.named(j)}: ${said.trim()}`;
    });
    this.area.addEventListener("pointerleave", () => {
      this.readout.textContent = this.hint;
    });
  }
}
