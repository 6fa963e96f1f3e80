// Angles of rigid bodies in every snapshot, and the share of all motion that bodies account for.

import { at } from "./arrays";
import { bottomAxis, type Box, type Ink, leftAxis, onward, upward } from "./axes";
import { h, type SharpCanvas, sharpCanvas } from "./dom";
import type { Model } from "./model";
import { CanvasPainter, type Painter } from "./painter";
import { type Explained, type Motion, singles, wholes } from "./scene";
import { angleText } from "./screw";
import { number } from "./text";

type Range = [number, number];

const BINS = 20; // of a histogram
const BESIDE = 60; // its width
const FEWEST = 3; // snapshots of which there is one
const MOST_NAMED = 3; // bodies that the legend has room to tell about
const COMPONENTS = "#d55e00";

/** A plot under its heading. */
abstract class Plot {
  readonly element: HTMLElement;
  protected readonly area = h("div", { class: "area still" });
  private readonly plot: SharpCanvas;

  constructor(
    private readonly title: string,
    label: string,
    protected readonly ink: () => Ink,
  ) {
    this.element = h("div", { class: "curve" }, h("h3", {}, title), this.area);
    this.plot = sharpCanvas(this.area, label, (context, width, height) => this.draw(new CanvasPainter(context), width, height));
  }

  redraw(): void {
    this.plot.redraw();
  }

  figure(p: Painter, width: number, height: number): void {
    p.text(this.title, 4, 14, { fill: this.ink().text, size: 13, bold: true });
    p.clipped(0, 0, width, height, () => this.draw(p, width, height, 24));
  }

  protected abstract draw(p: Painter, width: number, height: number, top?: number): void;
}

interface Series {
  colour: string;
  name: string;
  frames: Int32Array;
  angles: Float32Array;
}

export class AnglePlot extends Plot {
  private readonly series: Series[];
  private readonly range: Range; // of angles
  private readonly last: number; // snapshot
  private readonly beside: number; // width of the histogram

  constructor(
    private readonly model: Model,
    { hinges, colours }: Motion,
    ink: () => Ink,
  ) {
    const moving = hinges.filter(({ turns }) => turns !== null);
    const told = moving.map((hinge) => `body ${hinge.body + 1} ${hinge.kind}, ${angleText(hinge)}`);
    super("Angle from the mean (°)", `Angle of each body against the snapshot, with its histogram: ${told.join("; ")}.`, ink);
    this.series = moving.map((hinge) => ({
      colour: at(colours, hinge.body),
      name: moving.length > MOST_NAMED ? String(hinge.body + 1) : `body ${hinge.body + 1}: ${angleText(hinge)}`,
      frames: wholes(hinge.frames),
      angles: singles(hinge.angles),
    }));
    const ends = moving.flatMap(({ turns }) => turns ?? []);
    const [low, high] = [Math.min(...ends), Math.max(...ends)];
    const room = 0.06 * (high - low || 1);
    this.range = [low - room, high + room];
    this.last = Math.max(1, ...this.series.map(({ frames }) => frames.at(-1) ?? 0));
    this.beside = this.series.some(({ frames }) => frames.length >= FEWEST) ? BESIDE : 0;
    this.area.addEventListener("click", (event) => this.go(event.clientX));
  }

  protected draw(p: Painter, width: number, height: number, top = 0): void {
    const ink = this.ink();
    const box = this.box(width, height, top);
    const across: Range = [1, this.last + 1];
    const beside = { ...box, x: box.x + box.width + 6, width: this.beside };
    const boxes = this.beside ? [box, beside] : [box];
    for (const { x, y, width: w, height: tall } of boxes) p.rect(x, y, w, tall, ink.paper);
    const counts = this.series.map(({ angles }) => histogram(angles, BINS));
    const most = Math.max(...counts.flatMap(({ values }) => values));
    this.series.forEach(({ colour, frames, angles }, k) => {
      const points = Array.from(frames, (frame, place) => [onward(frame + 1, across, box), upward(at(angles, place), this.range, box)]);
      p.line(points.flat(), colour, 1.4);
      if (frames.length <= 30) for (const [x = 0, y = 0] of points) p.rect(x - 2.5, y - 2.5, 5, 5, colour);
      if (this.beside) p.line(this.steps(at(counts, k), most, beside), colour, 1.4);
    });
    this.legend(p, ink, box);
    this.markNow(p, ink, box, across);
    for (const { x, y, width: w, height: tall } of boxes) p.frame(x, y, w, tall, ink.line);
    leftAxis(p, ink, box, this.range, "");
    bottomAxis(p, ink, box, across, "Snapshot", true);
  }

  /** The outline of a histogram that lies beside the curve. */
  private steps({ low, step, values }: Histogram, most: number, box: Box): number[] {
    const y = (bin: number): number => upward(low + bin * step, this.range, box);
    const x = (count: number): number => onward(count, [0, 1.08 * most], box);
    const corners = values.flatMap((count, bin) => [x(count), y(bin), x(count), y(bin + 1)]);
    return [x(0), y(0), ...corners, x(0), y(values.length)];
  }

  private legend(p: Painter, ink: Ink, box: Box): void {
    let x = box.x;
    for (const { name, colour } of this.series) {
      p.line([x, box.y - 9, x + 14, box.y - 9], colour, 2.5);
      p.text(name, x + 18, box.y - 9, { fill: ink.text, size: 11, baseline: "middle" });
      x += 34 + 6 * name.length;
    }
  }

  /** A line at the snapshot in view. */
  private markNow(p: Painter, ink: Ink, box: Box, across: Range): void {
    const { model } = this;
    const snapshot = model.scene.space?.snapshots[model.frame];
    if (snapshot === undefined || model.turn !== null) return;
    const x = onward(snapshot, across, box);
    p.line([x, box.y, x, box.y + box.height], ink.mark, 1, [4, 3]);
  }

  private box(width: number, height: number, top: number): Box {
    return { x: 40, y: top + 20, width: Math.max(10, width - 40 - this.beside - 14), height: Math.max(10, height - top - 20 - 42) };
  }

  /** Show the snapshot that is nearest to where one clicked. */
  private go(clientX: number): void {
    const { snapshots } = this.model.scene.space ?? {};
    if (!snapshots) return;
    const bounds = this.area.getBoundingClientRect();
    const { x, width } = this.box(bounds.width, bounds.height, 0);
    const wanted = 1 + (this.last * (clientX - bounds.left - x)) / width;
    const distance = (snapshot: number): number => Math.abs(snapshot - wanted);
    const nearest = snapshots.reduce((best, snapshot, k) => (distance(snapshot) < distance(at(snapshots, best)) ? k : best), 0);
    this.model.setFrame(nearest);
  }
}

interface Histogram {
  low: number;
  step: number;
  values: number[];
}

/** How many values fall into each of so many equal parts of their range. */
export function histogram(values: Float32Array, bins: number): Histogram {
  const [low, high] = values.reduce(([a, b], x) => [Math.min(a, x), Math.max(b, x)], [Infinity, -Infinity]);
  const step = (high - low) / bins || 1;
  const counts = new Array<number>(bins).fill(0);
  for (const value of values) {
    const bin = Math.min(bins - 1, Math.floor((value - low) / step));
    counts[bin] = at(counts, bin) + 1;
  }
  return { low, step, values: counts };
}

const SHARES: { key: keyof Explained; name: string; colour: string | null; dash: number[]; marked: boolean }[] = [
  { key: "finite", name: "rigid bodies", colour: null, dash: [], marked: true },
  { key: "held_out", name: "… held out", colour: null, dash: [5, 3], marked: true },
  { key: "linear", name: "… linearly", colour: null, dash: [1.5, 2.5], marked: false },
  { key: "components", name: "components", colour: COMPONENTS, dash: [], marked: true },
  { key: "components_held_out", name: "… held out", colour: COMPONENTS, dash: [5, 3], marked: true },
];

interface Share {
  freedom: number;
  share: number; // in percent
  bodies: number;
}

export class VariancePlot extends Plot {
  private readonly curves: { name: string; colour: string; dash: number[]; marked: boolean; points: Share[] }[];

  constructor(
    private readonly motion: Motion,
    ink: () => Ink,
  ) {
    const { explained, levels, chosen, colours } = motion;
    const share = explained.finite[chosen];
    const told = share == null ? "" : ` ${levels[chosen]?.[0] ?? 1} rigid: ${number(100 * share, 3)} %.`;
    super("Variance explained (%)", `Variance that rigid bodies and as many principal components account for, by degrees of freedom.${told}`, ink);
    this.curves = SHARES.map(({ key, colour, ...look }) => ({
      ...look,
      colour: colour ?? at(colours, 0),
      points: explained.freedom
        .flatMap((freedom, k): Share[] => {
          const value = explained[key][k];
          return value == null ? [] : [{ freedom, share: 100 * value, bodies: at(explained.n_bodies, k) }];
        })
        .sort((one, other) => one.freedom - other.freedom),
    })).filter(({ points }) => points.length > 0);
  }

  protected draw(p: Painter, width: number, height: number, top = 0): void {
    const ink = this.ink();
    const { explained } = this.motion;
    const box = { x: 44, y: top + 8, width: Math.max(10, width - 44 - 104), height: Math.max(10, height - top - 8 - 42) };
    const lowest = Math.min(0, ...this.curves.flatMap(({ points }) => points.map(({ share }) => share)));
    const most = Math.max(1, ...explained.freedom);
    const [across, up]: [Range, Range] = [[-0.03 * most, 1.03 * most], [Math.max(-40, lowest) - 12, 104]];
    p.rect(box.x, box.y, box.width, box.height, ink.paper);
    p.clipped(box.x, box.y, box.width, box.height, () => {
      for (const { colour, dash, points, marked } of this.curves) {
        const corners = points.map(({ freedom, share }) => [onward(freedom, across, box), upward(share, up, box)] as const);
        p.line(corners.flat(), colour, 1.4, dash);
        if (marked) for (const [x, y] of corners) p.rect(x - 2, y - 2, 4, 4, colour);
      }
      for (const { freedom, share, bodies } of this.curves[0]?.points ?? []) {
        const place = [onward(freedom, across, box), upward(share, up, box) + 5] as const;
        p.text(String(bodies), ...place, { fill: ink.mark, size: 10, align: "center", baseline: "top" });
      }
    });
    p.frame(box.x, box.y, box.width, box.height, ink.line);
    leftAxis(p, ink, box, up, "");
    bottomAxis(p, ink, box, across, "Degrees of freedom");
    this.curves.forEach(({ name, colour, dash }, k) => {
      const [x, y] = [box.x + box.width + 8, box.y + 10 + 18 * k];
      p.rect(x, y - 7, 20, 14, ink.paper);
      p.line([x, y, x + 20, y], colour, 1.6, dash);
      p.text(name, x + 25, y, { fill: ink.text, size: 11, baseline: "middle" });
    });
  }
}
