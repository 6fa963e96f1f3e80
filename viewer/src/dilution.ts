// The dilution plot: which objects are together at every cutoff, with the line one can drag.

import { at, type Run, runs } from "./arrays";
import { type Along, along, type Box, chainRuns, cutoffAxisY, type Ink, placesAxis } from "./axes";
import { h, type SharpCanvas, sharpCanvas } from "./dom";
import type { Cluster } from "./hierarchy";
import type { Model } from "./model";
import { CanvasPainter, type Painter } from "./painter";
import type { Confidence } from "./scene";
import { stripesImage, veiled, vectorStripes } from "./stripes";
import { tells } from "./sure";
import { cutoffText, facts, number, scaledLength } from "./text";

const CLICK = 4; // pixels a pointer may move between down and up
const LATER = 300; // milliseconds after which what may be needed is painted
const KEPT = 2; // images of stripes: of the range worth drawing, and of all
const LEGEND = 20; // room of the legend below the axis
const SAMPLE = "#555555"; // colour of what stands for any cluster in it
const LETTER = 5.8; // about the width of one of its letters

type Range = [number, number];

export class Dilution {
  readonly element: HTMLElement;
  private readonly base: SharpCanvas;
  private readonly marks: SharpCanvas;
  private readonly handle: HTMLElement;
  private readonly told: Confidence | null; // how sure clusters are, where anything can be told
  private shown: Along;
  private range: Range;
  private readonly images = new Map<string, HTMLCanvasElement>(); // by what they show, the newest last
  private soon = 0;

  constructor(
    private readonly model: Model,
    private readonly ink: () => Ink,
  ) {
    const { confidence } = model.scene;
    this.told = tells(confidence) ? confidence : null;
    this.shown = along(model);
    this.range = this.usefulRange();
    this.element = h("div", { class: "plot dilution" });
    this.base = sharpCanvas(this.element, "", (context, width, height) => {
      this.draw(new CanvasPainter(context), width, height, false);
      this.prepare(width, height);
    });
    const marks = sharpCanvas(this.element, "", (context, width, height) => {
      this.drawMarks(new CanvasPainter(context), width, height);
      this.placeHandle(width, height);
    });
    marks.canvas.setAttribute("aria-hidden", "true");
    marks.canvas.removeAttribute("role");
    this.marks = marks;
    this.handle = h(
      "div",
      { class: "handle", role: "slider", tabindex: 0, "aria-orientation": "vertical", "aria-label": "Cutoff" },
      h("span", { "aria-hidden": "true" }),
    );
    this.element.append(this.handle);
    this.listen();
    this.describe();
  }

  update(change: string): void {
    if (change === "look") this.shown = along(this.model);
    const range = this.usefulRange();
    const moved = range[0] !== this.range[0] || range[1] !== this.range[1];
    this.range = range;
    if (change === "look" || change === "theme" || moved) this.base.redraw();
    this.marks.redraw();
    if (change === "cut" || change === "look") this.describe();
  }

  dispose(): void {
    window.clearTimeout(this.soon);
  }

  /** Draw everything; stripes as vectors where that is possible. */
  draw(p: Painter, width: number, height: number, marked = true): void {
    const { model, shown, range } = this;
    const ink = this.ink();
    const box = this.box(width, height);
    p.rect(box.x, box.y, box.width, box.height, ink.paper);
    p.clipped(box.x, box.y, box.width, box.height, () => {
      if (p.vector && vectorStripes(p, model, shown, range, box, ink.paper)) return;
      p.image(this.stripes(box, range, p.ratio), box.x, box.y, box.width, box.height);
    });
    p.frame(box.x, box.y, box.width, box.height, ink.line);
    cutoffAxisY(p, ink, model.scene, box, range);
    placesAxis(p, ink, shown, box);
    if (this.told) legend(p, ink, this.told, width, height);
    if (marked) this.drawMarks(p, width, height);
  }

  // ---- geometry ---------------------------------------------------------------------------------

  private box(width: number, height: number): Box {
    const right = scaledLength(this.model.scene) ? 62 : 26;
    const top = chainRuns(this.shown).length ? 18 : 8;
    const below = this.told ? 42 + LEGEND : 42;
    return { x: 62, y: top, width: Math.max(10, width - 62 - right), height: Math.max(10, height - top - below) };
  }

  /** The range worth drawing, or all of it once the cutoff is beyond. */
  private usefulRange(): Range {
    const [low, high] = this.model.scene.limits;
    const { cutoff } = this.model.cut;
    return cutoff >= low && cutoff <= high ? [low, high] : this.wholeRange();
  }

  /** The same for all cutoffs at which something is new, so that it is painted once. */
  private wholeRange(): Range {
    const { hierarchy, scene, cut, below } = this.model;
    const { levels } = hierarchy;
    const low = Math.min(scene.limits[0], levels.length ? below : Infinity, cut.cutoff);
    const high = Math.max(scene.limits[1], levels.at(-1) ?? -Infinity, cut.cutoff);
    return [low, high + 0.03 * (high - low)];
  }

  /** The image of stripes; those of the screen are kept. */
  private stripes(box: Box, range: Range, ratio = this.ratio): HTMLCanvasElement {
    const { model } = this;
    const size = [Math.round(box.width * ratio), Math.round(box.height * ratio)] as const;
    if (ratio !== this.ratio) return stripesImage(model, this.shown, range, ...size, ratio);
    const key = [...size, ...range, model.minSize, model.palette, model.axis, model.trustedOnly].join();
    const image = this.images.get(key) ?? stripesImage(model, this.shown, range, ...size, ratio);
    this.images.delete(key);
    this.images.set(key, image);
    for (const old of [...this.images.keys()].slice(0, -KEPT)) this.images.delete(old);
    return image;
  }

  private get ratio(): number {
    return window.devicePixelRatio || 1;
  }

  /** Paint the other range once there is time, so that no step of the cutoff waits for it. */
  private prepare(width: number, height: number): void {
    window.clearTimeout(this.soon);
    this.soon = window.setTimeout(() => {
      const [inner, whole] = [this.model.scene.limits, this.wholeRange()];
      const other = this.range[0] === inner[0] && this.range[1] === inner[1] ? whole : inner;
      this.stripes(this.box(width, height), other);
      this.stripes(this.box(width, height), this.range);
    }, LATER);
  }

  private y(cutoff: number, box: Box): number {
    const [low, high] = this.range;
    const part = (cutoff - low) / (high - low);
    return box.y + box.height * (1 - Math.min(1, Math.max(0, part)));
  }

  private under(event: PointerEvent): { shown: number; cutoff: number; inside: boolean } {
    const bounds = this.element.getBoundingClientRect();
    const box = this.box(bounds.width, bounds.height);
    const x = (event.clientX - bounds.left - box.x) / box.width;
    const y = (event.clientY - bounds.top - box.y) / box.height;
    const [low, high] = this.range;
    const place = Math.floor(x * this.shown.order.length);
    const inside = x >= 0 && x < 1 && y >= 0 && y <= 1;
    const cutoff = high - Math.min(1, Math.max(0, y)) * (high - low);
    return { shown: inside ? at(this.shown.order, place) : -1, cutoff, inside };
  }

  // ---- marks ------------------------------------------------------------------------------------

  private drawMarks(p: Painter, width: number, height: number): void {
    const { model } = this;
    const ink = this.ink();
    const box = this.box(width, height);
    const selected = model.cut.clusters[model.selected];
    if (selected) this.outline(p, selected, box, ink, 2.5);
    if (model.highlight) this.outline(p, model.hierarchy.cluster(model.highlight.run), box, ink, 1.5);
    const y = this.y(model.cut.cutoff, box);
    p.line([box.x, y, box.x + box.width, y], ink.halo, 4);
    p.line([box.x, y, box.x + box.width, y], ink.mark, 1.5, [6, 3]);
  }

  /** Outline a cluster from its formation to its joining, wherever its members lie. */
  private outline(p: Painter, cluster: Cluster, box: Box, ink: Ink, width: number): void {
    const top = this.y(cluster.joined, box);
    const bottom = this.y(cluster.formed, box);
    const x = (place: number): number => box.x + (box.width * place) / this.shown.order.length;
    for (const { start, stop } of this.placeRuns(cluster)) {
      const corners = [x(start), top, x(stop), top, x(stop), bottom, x(start), bottom, x(start), top];
      p.line(corners, ink.halo, width + 2);
      p.line(corners, ink.mark, width);
    }
  }

  private placeRuns(run: Run): Run[] {
    const places = this.model.hierarchy.members(run).map((object) => at(this.shown.place, object)).sort();
    const follows = (k: number): boolean => at(places, k) === at(places, k - 1) + 1;
    return Array.from(runs(places.length, follows), ({ start, stop }) => {
      const first = at(places, start);
      return { start: first, stop: first + stop - start };
    });
  }

  private placeHandle(width: number, height: number): void {
    const box = this.box(width, height);
    this.handle.style.transform = `translateY(${this.y(this.model.cut.cutoff, box)}px)`;
    this.handle.style.left = `${box.x + box.width - 12}px`;
  }

  private describe(): void {
    const { model } = this;
    const { hierarchy, scene } = model;
    this.handle.setAttribute("aria-valuemin", "0");
    this.handle.setAttribute("aria-valuemax", String(hierarchy.levels.length));
    this.handle.setAttribute("aria-valuenow", String(hierarchy.level(model.cut.cutoff)));
    this.handle.setAttribute("aria-valuetext", cutoffText(model));
    this.base.canvas.setAttribute(
      "aria-label",
      `Dilution plot of ${hierarchy.size} ${scene.shownName} over ${hierarchy.levels.length} levels, ` +
        `cutoffs from ${number(this.range[0])} to ${number(this.range[1])}${scene.quantity.unit ? ` ${scene.quantity.unit}` : ""}. ${facts(model)}`,
    );
  }

  // ---- pointers ---------------------------------------------------------------------------------

  private listen(): void {
    const { element, model } = this;
    let from: { x: number; y: number; moved: boolean } | null = null;
    element.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      const grip = event.target instanceof Node && this.handle.contains(event.target);
      if (!grip && !this.under(event).inside) return;
      from = { x: event.clientX, y: event.clientY, moved: false };
      if (grip || event.pointerType === "mouse") element.setPointerCapture(event.pointerId);
      if (event.pointerType === "mouse") event.preventDefault();
      this.handle.focus({ preventScroll: true });
    });
    element.addEventListener("pointermove", (event) => {
      const here = this.under(event);
      if (!from) {
        model.hover(here.shown, here.cutoff);
        return;
      }
      from.moved ||= Math.hypot(event.clientX - from.x, event.clientY - from.y) > CLICK;
      if (from.moved) model.setCutoff(here.cutoff);
    });
    element.addEventListener("pointerup", (event) => {
      const here = this.under(event);
      if (from && !from.moved && here.inside) {
        model.setCutoff(here.cutoff);
        model.select(here.shown);
      }
      from = null;
    });
    element.addEventListener("pointercancel", () => {
      from = null;
    });
    element.addEventListener("pointerleave", () => model.hover(-1));
  }
}

/** Say below the axis what solid, hatched and faded stripes are. */
function legend(p: Painter, ink: Ink, { looks, least }: Confidence, width: number, height: number): void {
  const y = height - 9;
  const rest = `(fewer than ${least}, and the whole: not judged)`;
  const entries = Object.entries(looks).map(([look, { words, veil }]) => ({ look, words, veil, wide: 24 + LETTER * words.length }));
  const gap = 14;
  const known = entries.reduce((sum, { wide }) => sum + wide + gap, -gap);
  const roomy = known + gap + LETTER * rest.length < width;
  const whole = roomy ? known + gap + LETTER * rest.length : known;
  let x = Math.max(2, (width - whole) / 2);
  for (const { look, words, veil, wide } of entries) {
    p.rect(x, y - 6, 18, 12, veiled(SAMPLE, ink.paper, veil));
    if (look === "hatched") p.hatch(x, y - 6, 18, 12, ink.paper);
    p.frame(x, y - 6, 18, 12, ink.line);
    p.text(words, x + 23, y, { fill: ink.muted, size: 11, baseline: "middle" });
    x += wide + gap;
  }
  if (roomy) p.text(rest, x, y, { fill: ink.muted, size: 11, baseline: "middle" });
}
