// One chart in SVG: lines, dots, a raster, two axes, a cutoff marker, a legend.

import { h } from "./dom";
import { pathThrough, s } from "./svg";

const LEFT = 66; // pixels for numbers and the title of the y axis

export interface Axis {
  label: string;
  range: [number, number];
  ticks?: { value: number; text: string }[]; // round numbers by default
}

export interface Line {
  name: string;
  colour: string; // #rrggbb, or "" for the colour of text
  x: ArrayLike<number>;
  y: ArrayLike<number>;
  kind?: "line" | "step" | "dashed" | "dots";
}

export interface Spec {
  name: string; // for screen readers and saved files
  x: Axis;
  y: Axis;
  lines: Line[];
  raster?: string; // address of an image that fills the frame
  marker?: number; // on the x axis
  legend?: boolean;
}

export interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** Round numbers that divide a range into about so many parts. */
export function ticks([low, high]: readonly [number, number], about: number): { value: number; text: string }[] {
  if (!(high > low)) return [];
  const rough = (high - low) / Math.max(1, about);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5, 10].find((factor) => factor * power >= rough * 0.999) ?? 10);
  const digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  const first = Math.ceil(low / step - 1e-9);
  const last = Math.floor(high / step + 1e-9);
  return Array.from({ length: last - first + 1 }, (_, k) => {
    const value = (first + k) * step;
    return { value, text: value.toFixed(digits) };
  });
}

/** Where a value of an axis lies between two pixels. */
export function scale([low, high]: readonly [number, number], from: number, to: number): (value: number) => number {
  const unit = (to - from) / (high - low || 1);
  return (value) => from + (value - low) * unit;
}

/** The points of a staircase that holds each value until the next. */
export function steps(x: ArrayLike<number>, y: ArrayLike<number>, end: number): [number, number][] {
  const points: [number, number][] = [];
  for (let k = 0; k < x.length; k++) points.push([x[k]!, y[k]!], [k + 1 < x.length ? x[k + 1]! : Math.max(end, x[k]!), y[k]!]);
  return points;
}

export class Chart {
  readonly element: HTMLElement;
  readonly svg: SVGSVGElement;
  readonly overlay = s("g", { class: "overlay" }); // for marks of whoever owns the chart
  box: Box = { x: 0, y: 0, width: 1, height: 1 };
  onDraw: () => void = () => {};
  private readonly marker = s("line", { class: "marker" });
  private readonly observer: ResizeObserver;
  private size: [number, number] = [0, 0];

  /** `room` is what the owner draws above the frame, in pixels. */
  constructor(
    private spec: Spec,
    private readonly room = 0,
  ) {
    this.svg = s("svg", { class: "chart", role: "img" });
    this.element = h("div", { class: "plot" }, this.svg);
    this.observer = new ResizeObserver(() => this.resize());
    this.observer.observe(this.element);
  }

  dispose(): void {
    this.observer.disconnect();
  }

  update(spec: Spec): void {
    this.spec = spec;
    this.draw();
  }

  /** Move the marker without drawing anything else. */
  mark(value: number | undefined): void {
    if (value !== undefined) this.spec.marker = value;
    const { marker, x } = this.spec;
    const shown = marker !== undefined && marker >= x.range[0] && marker <= x.range[1];
    this.marker.setAttribute("visibility", shown ? "visible" : "hidden");
    if (!shown) return;
    const place = this.toX(marker);
    for (const [name, at] of Object.entries({ x1: place, x2: place, y1: this.box.y, y2: this.box.y + this.box.height })) {
      this.marker.setAttribute(name, at.toFixed(1));
    }
  }

  toX = (value: number): number => scale(this.spec.x.range, this.box.x, this.box.x + this.box.width)(value);
  toY = (value: number): number => scale(this.spec.y.range, this.box.y + this.box.height, this.box.y)(value);

  /** Values of both axes under a pointer, and whether it is within the frame. */
  under(event: MouseEvent): { x: number; y: number; inside: boolean } {
    const { left, top } = this.svg.getBoundingClientRect();
    const { x, y, width, height } = this.box;
    const [right, down] = [(event.clientX - left - x) / width, (event.clientY - top - y) / height];
    const inside = right >= 0 && right < 1 && down >= 0 && down <= 1;
    const value = ([low, high]: [number, number], part: number): number => low + (high - low) * Math.min(1, Math.max(0, part));
    return { x: value(this.spec.x.range, right), y: value(this.spec.y.range, 1 - down), inside };
  }

  private resize(): void {
    const { clientWidth, clientHeight } = this.element;
    if (clientWidth === this.size[0] && clientHeight === this.size[1]) return;
    this.size = [clientWidth, clientHeight];
    if (clientWidth && clientHeight) this.draw();
  }

  private draw(): void {
    const { spec, svg, room } = this;
    const [width, height] = this.size;
    if (!width || !height) return;
    const legend = spec.legend && spec.lines.length > 1 ? 20 : 0;
    this.box = { x: LEFT, y: 10 + room + legend, width: Math.max(20, width - LEFT - 22), height: Math.max(20, height - 50 - room - legend) };
    const { x, y, width: wide, height: high } = this.box;
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    svg.setAttribute("aria-label", spec.name);
    const frame = { x, y, width: wide, height: high };
    const inside = s("svg", { ...frame, viewBox: `${x} ${y} ${wide} ${high}` }, ...spec.lines.flatMap((line) => this.drawLine(line)));
    svg.replaceChildren(
      s("rect", { ...frame, class: "paper" }),
      ...(spec.raster ? [s("image", { ...frame, href: spec.raster, preserveAspectRatio: "none" })] : []),
      inside,
      s("rect", { ...frame, class: "frame" }),
      ...this.drawBottom(spec.x),
      ...this.drawSide(spec.y),
      ...(legend ? this.drawLegend(spec.lines) : []),
      this.marker,
      this.overlay,
    );
    this.mark(undefined);
    this.onDraw();
  }

  private drawLine({ colour, x, y, kind = "line" }: Line): SVGElement[] {
    const { toX, toY } = this;
    const paint = { class: colour ? "line" : "line ink", stroke: colour || null };
    const points = Array.from(x, (value, k): [number, number] => [toX(value), toY(y[k] ?? NaN)]);
    if (kind === "dots") return points.filter(([, y]) => Number.isFinite(y)).map(([cx, cy]) => s("circle", { cx, cy, r: 2.2, fill: colour }));
    const path = kind === "step" ? steps(x, y, this.spec.x.range[1]).map(([a, b]) => [toX(a), toY(b)] as const) : points;
    return [s("path", { ...paint, d: pathThrough(path), "stroke-dasharray": kind === "dashed" ? "5 3" : null })];
  }

  private drawBottom({ label, range, ticks: given }: Axis): SVGElement[] {
    const { x, y, width, height } = this.box;
    const place = scale(range, x, x + width);
    const all = given ?? ticks(range, width / 55);
    const room = 10 + 7 * Math.max(0, ...all.map(({ text }) => text.length)); // for one number
    const every = Math.ceil((room * all.length) / width);
    const shown = all.filter((_, k) => (k + 1) % every === 0);
    const marks = shown.flatMap(({ value, text }) => [
      s("line", { class: "tick", x1: place(value), x2: place(value), y1: y + height, y2: y + height + 4 }),
      s("text", { x: place(value), y: y + height + 16, "text-anchor": "middle" }, text),
    ]);
    return [...marks, s("text", { x: x + width / 2, y: y + height + 33, "text-anchor": "middle", class: "title" }, label)];
  }

  private drawSide({ label, range, ticks: given }: Axis): SVGElement[] {
    const { x, y, height } = this.box;
    const place = scale(range, y + height, y);
    const marks = (given ?? ticks(range, height / 45)).flatMap(({ value, text }) => [
      s("line", { class: "tick", x1: x, x2: x - 4, y1: place(value), y2: place(value) }),
      s("text", { x: x - 7, y: place(value) + 4, "text-anchor": "end" }, text),
    ]);
    const [along, middle] = [14, y + height / 2];
    const turned = `rotate(-90 ${along} ${middle})`;
    return [...marks, s("text", { x: along, y: middle, "text-anchor": "middle", class: "title", transform: turned }, label)];
  }

  private drawLegend(lines: Line[]): SVGElement[] {
    let along = this.box.x;
    return lines.filter(({ name }) => name).flatMap(({ name, colour, kind }) => {
      const start = along;
      along += 34 + 6.3 * name.length;
      const paint = { class: colour ? "line" : "line ink", stroke: colour || null, "stroke-dasharray": kind === "dashed" ? "5 3" : null };
      return [s("line", { ...paint, x1: start, x2: start + 18, y1: 11, y2: 11 }), s("text", { x: start + 23, y: 15 }, name)];
    });
  }
}
