// Files of what is seen: pictures as PNG and SVG, clusters as CSV.

import { type Ink, inkOf } from "./axes";
import { csvText } from "./csv";
import { context2d } from "./dom";
import type { Cluster } from "./hierarchy";
import type { Model } from "./model";
import { CanvasPainter, type Painter, shifted, SvgPainter } from "./painter";
import { runsText } from "./text";

export interface Figure {
  id: string;
  name: string;
  element: HTMLElement; // where it is on the page, whose size it takes
  draw: (p: Painter, width: number, height: number) => void;
}

const MARGIN = 16; // around several figures
const SHARP = 2; // pixels of a PNG for one of the screen

/** Draw one figure, or all that are in view as they lie on the page. */
export function compose(figures: Figure[], root: HTMLElement): { draw: (p: Painter, ink: Ink) => void; width: number; height: number } {
  const placed = figures.map((figure) => [figure, figure.element.getBoundingClientRect()] as const);
  const boxes = placed.map(([, box]) => box);
  const margin = figures.length > 1 ? MARGIN : 0;
  const left = Math.min(...boxes.map((box) => box.left)) - margin;
  const top = Math.min(...boxes.map((box) => box.top)) - margin;
  const width = Math.max(...boxes.map((box) => box.right)) - left + margin;
  const height = Math.max(...boxes.map((box) => box.bottom)) - top + margin;
  const background = getComputedStyle(root).getPropertyValue("--card").trim();
  const draw = (p: Painter): void => {
    p.rect(0, 0, width, height, background);
    for (const [figure, box] of placed) {
      figure.draw(shifted(p, box.left - left, box.top - top), box.width, box.height);
    }
  };
  return { draw, width, height };
}

export function svg(figures: Figure[], root: HTMLElement, title: string): string {
  const { draw, width, height } = compose(figures, root);
  const painter = new SvgPainter();
  draw(painter, inkOf(root));
  return painter.svg(width, height, title);
}

export function png(figures: Figure[], root: HTMLElement): Promise<Blob> {
  const { draw, width, height } = compose(figures, root);
  const canvas = document.createElement("canvas");
  canvas.width = Math.round(SHARP * width);
  canvas.height = Math.round(SHARP * height);
  const context = context2d(canvas);
  context.scale(SHARP, SHARP);
  draw(new CanvasPainter(context), inkOf(root));
  return new Promise((resolve, reject) => {
    canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("the picture is too large"))), "image/png");
  });
}

/** The clusters in view, in the columns of clusters.csv, with their numbers there. */
export function csv(model: Model): string {
  const { scene, cut } = model;
  const named = (name: string): string => (scene.quantity.unit ? `${name} (${scene.quantity.unit})` : name);
  const objects = ({ lowest }: Cluster): number => {
    const { start, stop } = model.hierarchy.wholeRun(lowest, cut.cutoff);
    return stop - start;
  };
  const columns = scene.confidence?.columns ?? [];
  const sure = (cluster: Cluster): string[] => model.sure.of(cluster)?.cells ?? columns.map(() => "");
  const rows: string[][] = [
    [named("cutoff"), "cluster", "size", "objects", "colour", named("formed"), named("joined"), "members", ...columns],
    ...cut.clusters.map((cluster) => [
      float(cut.cutoff),
      String(cluster.rank + 1),
      String(cluster.size),
      String(objects(cluster)),
      model.colour(cluster.family),
      float(cluster.formed),
      float(cluster.joined),
      runsText(model, model.hierarchy.members(cluster)),
      ...sure(cluster),
    ]),
  ];
  return csvText(rows);
}

function float(value: number): string {
  if (!Number.isFinite(value)) return value < 0 ? "-inf" : "inf";
  return Number.isInteger(value) ? value.toFixed(1) : String(value);
}

export function save(name: string, content: Blob | string, type = "text/plain"): void {
  const blob = typeof content === "string" ? new Blob([content], { type }) : content;
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
