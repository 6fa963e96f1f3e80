// The cutoff at which each site joins the core: how mobile it is.

import { at } from "./arrays";
import { type Along, along, type Box, cutoffAxisY, type Ink, placesAxis } from "./axes";
import { h, type SharpCanvas, sharpCanvas } from "./dom";
import type { Model } from "./model";
import { CanvasPainter, type Painter } from "./painter";
import { scaledLength, symbol, withUnit } from "./text";

const NEVER = "#dcdcdc"; // of what never joins

export class Mobility {
  readonly element: HTMLElement;
  private readonly area: HTMLElement;
  private readonly readout: HTMLElement;
  private readonly plot: SharpCanvas;
  private readonly joins: Float64Array; // of each shown object
  private readonly top: number;
  private shown: Along;

  constructor(
    private readonly model: Model,
    private readonly ink: () => Ink,
  ) {
    this.joins = model.hierarchy.mobility();
    const finite = this.joins.filter(Number.isFinite);
    this.top = 1.05 * finite.reduce((most, value) => Math.max(most, value), 0) || 1;
    this.shown = along(model);
    this.area = h("div", { class: "area" });
    this.readout = h("p", { class: "hint" }, this.hint);
    this.element = h("div", { class: "mobility" }, this.area, this.readout);
    this.plot = sharpCanvas(this.area, "", (context, width, height) => this.draw(new CanvasPainter(context), width, height));
    const never = this.joins.length - finite.length;
    const some = never ? ` ${never} never join it.` : "";
    this.plot.canvas.setAttribute("aria-label", `Cutoff at which each of ${this.joins.length} ${model.scene.shownName} joins the core.${some}`);
    this.listen();
  }

  update(change: string): void {
    if (change === "hover" || change === "frame" || change === "select") return;
    if (change === "look") this.shown = along(this.model);
    if (this.plot.size.width > 0) this.plot.redraw();
  }

  /** Columns as high as the cutoff from which on a site belongs to the core, and the line of the cutoff. */
  draw(p: Painter, width: number, height: number): void {
    const { shown, model, top } = this;
    const ink = this.ink();
    const box = this.box(width, height);
    const y = (cutoff: number): number => box.y + box.height * (1 - Math.min(1, Math.max(0, cutoff / top)));
    const x = (place: number): number => box.x + (box.width * place) / shown.order.length;
    p.rect(box.x, box.y, box.width, box.height, ink.paper);
    shown.order.forEach((object, place) => {
      const joins = at(this.joins, object);
      const high = y(Math.min(joins, top));
      p.rect(x(place), high, x(place + 1) - x(place), box.y + box.height - high, joins === Infinity ? NEVER : model.scene.palettes.core);
    });
    const line = y(model.cut.cutoff);
    p.line([box.x, line, box.x + box.width, line], ink.halo, 3);
    p.line([box.x, line, box.x + box.width, line], ink.mark, 1.5, [6, 3]);
    p.frame(box.x, box.y, box.width, box.height, ink.line);
    cutoffAxisY(p, ink, model.scene, box, [0, top]);
    placesAxis(p, ink, shown, box);
  }

  private get hint(): string {
    return `Joins the core at ${symbol(this.model.scene)}: how mobile each site is; dashed, the cutoff in view.`;
  }

  private box(width: number, height: number): Box {
    const right = scaledLength(this.model.scene) ? 62 : 16;
    return { x: 62, y: 18, width: Math.max(10, width - 62 - right), height: Math.max(10, height - 18 - 42) };
  }

  private listen(): void {
    const { model, area } = this;
    area.addEventListener("pointermove", (event) => {
      const bounds = area.getBoundingClientRect();
      const box = this.box(bounds.width, bounds.height);
      const place = Math.floor(((event.clientX - bounds.left - box.x) / box.width) * this.shown.order.length);
      const object = this.shown.order[place];
      model.hover(object ?? -1);
      if (object === undefined) return this.rest();
      const joins = at(this.joins, object);
      const name = `${model.chains[object]} ${model.names[object]}`.trim();
      this.readout.textContent = joins === Infinity ? `${name} never joins the core.` : `${name} joins the core at ${withUnit(joins, model.scene)}.`;
    });
    area.addEventListener("pointerleave", () => {
      model.hover(-1);
      this.rest();
    });
  }

  private rest(): void {
    this.readout.textContent = this.hint;
  }
}
