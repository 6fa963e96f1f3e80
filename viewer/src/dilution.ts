// The dilution plot: a strip of the colours of the structure above stripes of clusters at every cutoff.

import { at, inverse, type Run, runs } from "./arrays";
import { Chart, type Spec } from "./chart";
import type { Colouring } from "./colours";
import { placeAxis } from "./curves";
import { h, swatch } from "./dom";
import type { Cluster } from "./hierarchy";
import { wholes } from "./scene";
import type { Change, State } from "./state";
import { imageOf, stripes } from "./stripes";
import { s } from "./svg";
import { cutoffText, number } from "./text";

const CLICK = 4; // pixels a pointer may move between down and up
const STRIP = 16; // height of the strip
const ROOM = 38; // for the strip and names of chains
const LOOKS: Record<string, string> = {
  solid: "well supported",
  hatched: "tentative",
  faded: "not established",
};

export class Dilution {
  readonly element: HTMLElement;
  readonly chart: Chart;
  private readonly order: Int32Array; // shown object at each place
  private readonly place: Int32Array; // place of each shown object
  private readonly chainRuns: Run[];
  private readonly strip = s("g", { class: "strip" });
  private readonly marks = s("g");
  private readonly handle: HTMLElement;
  private range: [number, number];
  private dragged: { x: number; y: number; moved: boolean } | null = null;

  constructor(
    private readonly state: State,
    private readonly colouring: Colouring,
  ) {
    const { shown } = state.scene;
    this.order = wholes(shown.order);
    this.place = inverse(this.order);
    const chain = (place: number): string => at(state.chains, at(this.order, place));
    this.chainRuns = Array.from(runs(this.order.length, (place) => chain(place) === chain(place - 1)));
    this.range = this.usefulRange();
    this.handle = h("div", {
      class: "handle",
      role: "slider",
      tabindex: 0,
      "aria-orientation": "vertical",
      "aria-valuemin": 0,
      "aria-valuemax": state.hierarchy.levels.length,
      "aria-label": `Cutoff ${state.scene.quantity.cutoff}`,
    });
    this.chart = new Chart(this.spec(), ROOM);
    this.chart.overlay.append(this.strip, this.marks);
    this.chart.onDraw = () => this.paint();
    this.chart.element.append(this.handle);
    this.element = h("div", { class: "dilution" }, this.chart.element, this.legend());
    this.listen();
  }

  update(change: Change): void {
    const range = this.usefulRange();
    if (range[1] !== this.range[1] || range[0] !== this.range[0]) {
      this.range = range;
      this.chart.update(this.spec());
    }
    if (change === "colour") this.paint();
    if (change === "cutoff" && this.state.colouring === "clusters") this.drawStrip();
    if (change !== "frame") this.drawMarks();
  }

  private usefulRange(): [number, number] {
    const { scene, cutoff, hierarchy } = this.state;
    const [low, high] = scene.limits;
    if (cutoff >= low && cutoff <= high) return [low, high];
    const last = hierarchy.levels.at(-1) ?? high;
    return [Math.min(low, cutoff, hierarchy.levels.length ? this.state.below : low), 1.03 * Math.max(high, cutoff, last)];
  }

  private spec(): Spec {
    const { scene } = this.state;
    const { quantity, shown } = scene;
    const size = this.order.length;
    const unit = quantity.unit ? ` (${quantity.unit})` : "";
    return {
      name: `Dilution plot: clusters of ${size} ${shown.word} at cutoffs from ${number(this.range[0])} to ${number(this.range[1])}${unit}`,
      x: placeAxis(shown),
      y: { label: `Cutoff ${quantity.cutoff}${unit}`, range: this.range },
      lines: [],
    };
  }

  /** Paint stripes at the resolution of the screen, then everything above them. */
  private paint(): void {
    const { box, svg } = this.chart;
    const grain = window.devicePixelRatio || 1;
    const size = [Math.round(box.width * grain), Math.round(box.height * grain)] as const;
    const pixels = stripes(this.state, this.colouring, this.order, this.range, size, grain);
    const frame = { ...box, href: imageOf(pixels, ...size), preserveAspectRatio: "none", class: "stripes" };
    svg.querySelector(".stripes")?.remove();
    svg.querySelector(".paper")?.after(s("image", frame));
    this.drawStrip();
    this.drawMarks();
  }

  private drawStrip(): void {
    const { box, toX } = this.chart;
    const top = box.y - STRIP - 4;
    const colours = Array.from(this.order, (object) => this.colouring.ofShown(object));
    const parts: SVGElement[] = [];
    for (const { start, stop } of runs(colours.length, (place) => colours[place] === colours[place - 1])) {
      parts.push(s("rect", { x: toX(start), y: top, width: toX(stop) - toX(start), height: STRIP, fill: colours[start] }));
    }
    if (this.chainRuns.length > 1) {
      for (const { start, stop } of this.chainRuns) {
        const name = at(this.state.chains, at(this.order, start));
        parts.push(s("text", { x: toX((start + stop) / 2), y: top - 5, "text-anchor": "middle" }, name));
        if (start) parts.push(s("line", { class: "tick", x1: toX(start), x2: toX(start), y1: top - 4, y2: box.y + box.height }));
      }
    }
    this.strip.replaceChildren(...parts);
  }

  private drawMarks(): void {
    const { state, chart } = this;
    const { box } = chart;
    const y = Math.min(box.y + box.height, Math.max(box.y, chart.toY(state.cutoff)));
    const selected = state.cut.clusters[state.selected];
    const line = { x1: box.x, x2: box.x + box.width, y1: y, y2: y };
    this.marks.replaceChildren(
      ...(selected ? this.outline(selected, "outline selected") : []),
      ...(state.hovered ? this.outline(state.hierarchy.cluster(state.hovered), "outline") : []),
      s("line", { ...line, class: "halo" }),
      s("line", { ...line, class: "cutoff" }),
    );
    this.handle.style.transform = `translate(${box.x + box.width - 14}px, ${y}px)`;
    this.handle.setAttribute("aria-valuenow", String(state.hierarchy.level(state.cutoff)));
    this.handle.setAttribute("aria-valuetext", `${cutoffText(state.cutoff, state.scene)}, ${state.cut.clusters.length} clusters`);
  }

  /** Outline a cluster from where it forms to where it joins, wherever its members lie. */
  private outline(cluster: Cluster, look: string): SVGElement[] {
    const { box, toX, toY } = this.chart;
    const inside = (y: number): number => Math.min(box.y + box.height, Math.max(box.y, y));
    const [top, bottom] = [inside(toY(Math.min(cluster.joined, this.range[1]))), inside(toY(Math.max(cluster.formed, this.range[0])))];
    const places = this.state.hierarchy.members(cluster).map((object) => at(this.place, object)).sort();
    return Array.from(runs(places.length, (k) => at(places, k) === at(places, k - 1) + 1)).flatMap(({ start, stop }) => {
      const [left, right] = [toX(at(places, start)), toX(at(places, stop - 1) + 1)];
      const frame = { x: left, y: top, width: right - left, height: Math.max(1, bottom - top) };
      return [s("rect", { ...frame, class: `${look} under` }), s("rect", { ...frame, class: look })];
    });
  }

  /** What solid, hatched, pale and empty stripes mean, where confidence is known. */
  private legend(): HTMLElement {
    const { state } = this;
    if (!state.judged) return h("p", { class: "legend", hidden: true });
    const entries = Object.entries(LOOKS).map(([look, meaning]) => h("span", {}, swatch("#555555", look), meaning));
    const small = h("span", {}, swatch("#555555", "outline"), `too small to judge (< ${state.scene.shown.minSize})`);
    return h("p", { class: "legend" }, ...entries, small);
  }

  private listen(): void {
    const { state, chart } = this;
    const host = chart.element;
    const shownAt = (x: number): number => at(this.order, Math.min(this.order.length - 1, Math.floor(x)));
    host.addEventListener("pointerdown", (event) => {
      const grip = event.target === this.handle;
      if (event.button !== 0 || (!grip && !chart.under(event).inside)) return;
      this.dragged = { x: event.clientX, y: event.clientY, moved: false };
      if (grip || event.pointerType === "mouse") host.setPointerCapture(event.pointerId);
      if (event.pointerType === "mouse") event.preventDefault();
      this.handle.focus({ preventScroll: true });
    });
    host.addEventListener("pointermove", (event) => {
      const { x, y, inside } = chart.under(event);
      const { dragged } = this;
      if (!dragged) return state.hover(inside ? state.clusterOf(shownAt(x), y) : null);
      dragged.moved ||= Math.hypot(event.clientX - dragged.x, event.clientY - dragged.y) > CLICK;
      if (dragged.moved) state.setCutoff(y);
    });
    host.addEventListener("pointerup", (event) => {
      const { x, y, inside } = chart.under(event);
      if (this.dragged && !this.dragged.moved && inside) {
        state.setCutoff(y);
        state.select(shownAt(x));
      }
      this.dragged = null;
    });
    host.addEventListener("pointercancel", () => (this.dragged = null));
    host.addEventListener("pointerleave", () => state.hover(null));
  }
}
