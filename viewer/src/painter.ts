// One way to draw for the screen, for PNG and for SVG.

import { at } from "./arrays";

export interface Painter {
  readonly vector: boolean; // whether lines stay lines, or become pixels
  readonly ratio: number; // of which there are so many for one unit
  rect(x: number, y: number, width: number, height: number, fill: string): void;
  hatch(x: number, y: number, width: number, height: number, stroke: string): void;
  frame(x: number, y: number, width: number, height: number, stroke: string): void;
  line(points: ArrayLike<number>, stroke: string, width: number, dash?: number[]): void;
  text(text: string, x: number, y: number, style: TextStyle): void;
  image(source: HTMLCanvasElement, x: number, y: number, width: number, height: number): void;
  clipped(x: number, y: number, width: number, height: number, draw: () => void): void;
}

export interface TextStyle {
  fill: string;
  size: number;
  align?: "left" | "center" | "right";
  baseline?: "top" | "middle" | "bottom" | "alphabetic";
  turned?: boolean; // a quarter turn to the left
  bold?: boolean;
}

// How hatching repeats along a line of pixels, and how wide its lines are across.
export const HATCH_PERIOD = 6;
export const HATCH_LINE = 1.2;

const FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Liberation Sans', sans-serif";

export class CanvasPainter implements Painter {
  readonly vector = false;
  readonly ratio: number;

  constructor(readonly context: CanvasRenderingContext2D) {
    this.ratio = context.getTransform().a;
  }

  /** Whole pixels, for rectangles that touch must not show a seam. */
  rect(x: number, y: number, width: number, height: number, fill: string): void {
    const [left, top] = [this.whole(x), this.whole(y)];
    this.context.fillStyle = fill;
    this.context.fillRect(left, top, this.whole(x + width) - left, this.whole(y + height) - top);
  }

  hatch(x: number, y: number, width: number, height: number, stroke: string): void {
    const lines = hatching(x, y, width, height);
    this.clipped(x, y, width, height, () => lines.forEach((line) => this.line(line, stroke, HATCH_LINE)));
  }

  frame(x: number, y: number, width: number, height: number, stroke: string): void {
    this.context.strokeStyle = stroke;
    this.context.lineWidth = 1;
    this.context.setLineDash([]);
    this.context.strokeRect(x + 0.5, y + 0.5, width - 1, height - 1);
  }

  line(points: ArrayLike<number>, stroke: string, width: number, dash: number[] = []): void {
    const { context } = this;
    context.strokeStyle = stroke;
    context.lineWidth = width;
    context.lineJoin = "round";
    context.setLineDash(dash);
    context.beginPath();
    eachCorner(points, (x, y) => context.lineTo(x, y));
    context.stroke();
    context.setLineDash([]);
  }

  text(text: string, x: number, y: number, style: TextStyle): void {
    const { context } = this;
    context.save();
    context.font = `${style.bold ? "600 " : ""}${style.size}px ${FONT}`;
    context.fillStyle = style.fill;
    context.textAlign = style.align ?? "left";
    context.textBaseline = style.baseline ?? "alphabetic";
    context.translate(x, y);
    if (style.turned) context.rotate(-Math.PI / 2);
    context.fillText(text, 0, 0);
    context.restore();
  }

  image(source: HTMLCanvasElement, x: number, y: number, width: number, height: number): void {
    const [left, top] = [this.whole(x), this.whole(y)];
    this.context.imageSmoothingEnabled = source.width > this.ratio * width;
    this.context.drawImage(source, left, top, this.whole(x + width) - left, this.whole(y + height) - top);
  }

  clipped(x: number, y: number, width: number, height: number, draw: () => void): void {
    this.context.save();
    this.context.beginPath();
    this.context.rect(x, y, width, height);
    this.context.clip();
    draw();
    this.context.restore();
  }

  private whole(value: number): number {
    return Math.round(value * this.ratio) / this.ratio;
  }
}

/** Lines that rise to the right, wherever a rectangle is the same ones. */
function hatching(x: number, y: number, width: number, height: number): [number, number, number, number][] {
  const found: [number, number, number, number][] = [];
  for (let sum = HATCH_PERIOD * Math.floor((x + y) / HATCH_PERIOD); sum <= x + y + width + height; sum += HATCH_PERIOD) {
    found.push([sum - y, y, sum - y - height, y + height]);
  }
  return found;
}

/** Go through the corners of a line, x and y one after the other. */
function eachCorner(points: ArrayLike<number>, tell: (x: number, y: number) => void): void {
  for (let k = 0; k + 1 < points.length; k += 2) tell(at(points, k), at(points, k + 1));
}

/** A painter whose origin lies elsewhere. */
export function shifted(p: Painter, dx: number, dy: number): Painter {
  return {
    vector: p.vector,
    ratio: p.ratio,
    rect: (x, y, ...rest) => p.rect(x + dx, y + dy, ...rest),
    hatch: (x, y, ...rest) => p.hatch(x + dx, y + dy, ...rest),
    frame: (x, y, ...rest) => p.frame(x + dx, y + dy, ...rest),
    line: (points, ...rest) => p.line(Array.from(points, (value, k) => value + (k % 2 ? dy : dx)), ...rest),
    text: (text, x, y, style) => p.text(text, x + dx, y + dy, style),
    image: (source, x, y, ...rest) => p.image(source, x + dx, y + dy, ...rest),
    clipped: (x, y, ...rest) => p.clipped(x + dx, y + dy, ...rest),
  };
}

const BASELINES = { top: "hanging", middle: "central", bottom: "text-after-edge", alphabetic: "alphabetic" };
const ANCHORS = { left: "start", center: "middle", right: "end" };

/** Draws into a text; everything that is not a number is escaped. */
export class SvgPainter implements Painter {
  readonly vector = true;
  readonly ratio = 2; // of images within
  private readonly parts: string[] = [];
  private clips = 0;

  rect(x: number, y: number, width: number, height: number, fill: string): void {
    // Crisp, for stripes that touch must not show a seam.
    const place = `x="${n(x)}" y="${n(y)}" width="${n(width)}" height="${n(height)}"`;
    this.parts.push(`<rect ${place} fill="${escaped(fill)}" shape-rendering="crispEdges"/>`);
  }

  hatch(x: number, y: number, width: number, height: number, stroke: string): void {
    this.clipped(x, y, width, height, () => {
      for (const line of hatching(x, y, width, height)) this.line(line, stroke, HATCH_LINE);
    });
  }

  frame(x: number, y: number, width: number, height: number, stroke: string): void {
    this.parts.push(
      `<rect x="${n(x + 0.5)}" y="${n(y + 0.5)}" width="${n(width - 1)}" height="${n(height - 1)}" ` +
        `fill="none" stroke="${escaped(stroke)}"/>`,
    );
  }

  line(points: ArrayLike<number>, stroke: string, width: number, dash: number[] = []): void {
    const pairs: string[] = [];
    eachCorner(points, (x, y) => pairs.push(`${n(x)},${n(y)}`));
    const dashes = dash.length ? ` stroke-dasharray="${dash.map(n).join(" ")}"` : "";
    this.parts.push(
      `<polyline points="${pairs.join(" ")}" fill="none" stroke="${escaped(stroke)}" ` +
        `stroke-width="${n(width)}" stroke-linejoin="round"${dashes}/>`,
    );
  }

  text(text: string, x: number, y: number, style: TextStyle): void {
    const turned = style.turned ? ` transform="rotate(-90 ${n(x)} ${n(y)})"` : "";
    this.parts.push(
      `<text x="${n(x)}" y="${n(y)}" fill="${escaped(style.fill)}" font-size="${n(style.size)}" ` +
        `font-family="${escaped(FONT)}"${style.bold ? ' font-weight="600"' : ""} ` +
        `text-anchor="${ANCHORS[style.align ?? "left"]}" ` +
        `dominant-baseline="${BASELINES[style.baseline ?? "alphabetic"]}"${turned}>${escaped(text)}</text>`,
    );
  }

  image(source: HTMLCanvasElement, x: number, y: number, width: number, height: number): void {
    this.parts.push(
      `<image x="${n(x)}" y="${n(y)}" width="${n(width)}" height="${n(height)}" preserveAspectRatio="none" ` +
        `href="${source.toDataURL("image/png")}"/>`,
    );
  }

  clipped(x: number, y: number, width: number, height: number, draw: () => void): void {
    const id = `clip${++this.clips}`;
    this.parts.push(
      `<clipPath id="${id}"><rect x="${n(x)}" y="${n(y)}" width="${n(width)}" height="${n(height)}"/></clipPath>` +
        `<g clip-path="url(#${id})">`,
    );
    draw();
    this.parts.push("</g>");
  }

  svg(width: number, height: number, title: string): string {
    return (
      `<svg xmlns="http://www.w3.org/2000/svg" width="${n(width)}" height="${n(height)}" ` +
      `viewBox="0 0 ${n(width)} ${n(height)}"><title>${escaped(title)}</title>${this.parts.join("\n")}</svg>\n`
    );
  }
}

function n(value: number): string {
  return String(Math.round(value * 100) / 100);
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (letter) => `&#${letter.charCodeAt(0)};`);
}
