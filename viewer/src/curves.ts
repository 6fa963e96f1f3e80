// Fractions of objects in clusters, against the cutoff, with the same line as the dilution plot.

import { at } from "./arrays";
import { type Box, cutoffAxisX, FRACTIONS, type Ink, leftAxis, onward, upward } from "./axes";
import { h, type SharpCanvas, sharpCanvas } from "./dom";
import type { Model } from "./model";
import { CanvasPainter, type Painter, shifted } from "./painter";
import { doubles, singles } from "./scene";
import { cutoffText, number, scaledLength } from "./text";

const HEADING = 24; // room of a heading in a figure of its own

interface Curve {
  values: Float32Array;
  theory: Float32Array | null;
  colour: string;
  label: string;
}

export class CurvePlot {
  readonly element: HTMLElement;
  private readonly title: HTMLElement;
  private readonly plot: SharpCanvas;
  private readonly area: HTMLElement;
  private readonly line: HTMLElement;
  private readonly curves: Curve[];
  private readonly grid: Float64Array | null;

  constructor(
    private readonly model: Model,
    private readonly ink: () => Ink,
    readonly kind: "large" | "sizes",
  ) {
    const { curves, palettes, large } = model.scene;
    const expected = curves.theory;
    this.grid = expected ? doubles(expected.cutoffs) : null;
    this.curves =
      kind === "large"
        ? [
            {
              values: singles(curves.large),
              theory: expected ? singles(expected.large) : null,
              colour: palettes.core,
              label: `r ≥ ${large}`,
            },
          ]
        : curves.sizes.map((size, k) => ({
            values: singles(at(curves.sizeFractions, k)),
            theory: expected ? singles(at(expected.sizes, k)) : null,
            colour: at(palettes.sizes, k % palettes.sizes.length),
            label: `r = ${size}`,
          }));
    this.title = h("h3", {});
    this.area = h("div", { class: "area" });
    this.line = h("div", { class: "line", "aria-hidden": "true" });
    this.element = h("div", { class: "curve" }, this.title, this.area);
    this.plot = sharpCanvas(this.area, "", (context, width, height) => {
      this.draw(new CanvasPainter(context), width, height, false);
      this.follow();
    });
    this.area.append(this.line);
    this.listen();
    this.update("cut");
  }

  update(change: string): void {
    if (change === "theme" || change === "look") this.plot.redraw();
    if (change === "cut" || change === "look") {
      this.follow();
      const here = this.curves.map((curve) => `${curve.label}: ${number(this.valueAt(curve), 3)}`);
      const name = this.kind === "large" ? `Fraction in clusters ${here[0]}` : "Fraction P(r) in clusters of size r";
      this.title.textContent = name;
      const what = this.kind === "large" ? "Fraction of sites in large clusters" : "Fraction of sites in clusters of size r";
      this.plot.canvas.setAttribute("aria-label", `${what} against the cutoff. At ${cutoffText(this.model)}, ${here.join(", ")}.`);
    }
  }

  /** Draw it under its heading, as on the page. */
  figure(p: Painter, width: number, height: number): void {
    p.text(this.title.textContent ?? "", 4, 14, { fill: this.ink().text, size: 13, bold: true });
    this.draw(shifted(p, 0, HEADING), width, height - HEADING);
  }

  draw(p: Painter, width: number, height: number, marked = true): void {
    const ink = this.ink();
    const box = this.box(width, height);
    const range = this.model.scene.limits;
    p.rect(box.x, box.y, box.width, box.height, ink.paper);
    p.clipped(box.x, box.y, box.width, box.height, () => {
      for (const curve of this.curves) p.line(this.stairs(curve, box), curve.colour, 2);
      for (const curve of this.curves) {
        if (!curve.theory || !this.grid) continue;
        p.line(this.smooth(curve.theory, this.grid, box), this.kind === "large" ? this.model.scene.palettes.theory : "#000000", 1.2, [4, 3]);
      }
    });
    p.frame(box.x, box.y, box.width, box.height, ink.line);
    cutoffAxisX(p, ink, this.model.scene, box, range);
    leftAxis(p, ink, box, FRACTIONS, this.kind === "large" ? "Fraction" : "P(r)");
    this.legend(p, ink, box);
    if (marked) {
      const x = this.lineX(box);
      p.line([x, box.y, x, box.y + box.height], ink.mark, 1.5, [6, 3]);
    }
  }

  // ---- parts ------------------------------------------------------------------------------------

  private legend(p: Painter, ink: Ink, box: Box): void {
    const entries = this.curves.map(({ label, colour }) => ({ label, colour, dash: [] as number[] }));
    if (this.grid) {
      const colour = this.kind === "large" ? this.model.scene.palettes.theory : "#000000";
      entries.push({ label: "theory", colour, dash: [4, 3] });
    }
    if (this.kind === "large" && !this.grid) return;
    const x = box.x + box.width + 8;
    entries.forEach(({ label, colour, dash }, k) => {
      const y = box.y + 10 + 18 * k;
      p.rect(x, y - 7, 20, 14, ink.paper);
      p.line([x, y, x + 20, y], colour, dash.length ? 1.2 : 2.5, dash);
      p.text(label, x + 25, y, { fill: ink.text, size: 11, baseline: "middle" });
    });
  }

  private box(width: number, height: number): Box {
    const top = scaledLength(this.model.scene) ? 42 : 8;
    const right = this.kind === "sizes" || this.grid ? 74 : 16;
    return { x: 50, y: top, width: Math.max(10, width - 50 - right), height: Math.max(10, height - top - 42) };
  }

  /** Where the line of the cutoff is: at the border where the cutoff is beyond. */
  private lineX(box: Box): number {
    return Math.min(box.x + box.width, Math.max(box.x, this.x(this.model.cut.cutoff, box)));
  }

  private x(cutoff: number, box: Box): number {
    return onward(cutoff, this.model.scene.limits, box);
  }

  /** Corners of a curve that is constant from each level to the next. */
  private stairs({ values }: Curve, box: Box): number[] {
    const { levels } = this.model.hierarchy;
    const y = (value: number): number => upward(value, FRACTIONS, box);
    let [lastX, lastY] = [box.x, y(at(values, 0))];
    const points = [lastX, lastY];
    for (const [k, level] of levels.entries()) {
      const x = this.x(level, box);
      const here = y(at(values, k + 1));
      if (x < box.x || (x - lastX < 0.25 && Math.abs(here - lastY) < 0.25)) continue;
      points.push(x, lastY, x, here);
      [lastX, lastY] = [x, here];
      if (x > box.x + box.width) break;
    }
    points.push(box.x + box.width, lastY);
    return points;
  }

  private smooth(values: Float32Array, grid: Float64Array, box: Box): number[] {
    return Array.from(grid).flatMap((cutoff, k) => [this.x(cutoff, box), upward(at(values, k), FRACTIONS, box)]);
  }

  private valueAt({ values }: Curve): number {
    return at(values, this.model.hierarchy.level(this.model.cut.cutoff));
  }

  private follow(): void {
    const box = this.box(this.plot.size.width, this.plot.size.height);
    const x = this.lineX(box);
    this.line.style.transform = `translateX(${x}px)`;
    this.line.style.top = `${box.y}px`;
    this.line.style.height = `${box.height}px`;
  }

  private listen(): void {
    const set = (event: PointerEvent): void => {
      const bounds = this.area.getBoundingClientRect();
      const box = this.box(bounds.width, bounds.height);
      const part = Math.min(1, Math.max(0, (event.clientX - bounds.left - box.x) / box.width));
      const [low, high] = this.model.scene.limits;
      this.model.setCutoff(low + part * (high - low));
    };
    this.area.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      this.area.setPointerCapture(event.pointerId);
      set(event);
    });
    this.area.addEventListener("pointermove", (event) => {
      if (this.area.hasPointerCapture(event.pointerId)) set(event);
    });
  }
}
