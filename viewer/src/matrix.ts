// A matrix of pairs as an image with read-out: σ of pairs, or the cutoff at which they join.

import { at } from "./arrays";
import { Chart } from "./chart";
import { rgb } from "./colours";
import { h, rampOf } from "./dom";
import { type Matrix, octets, wholes } from "./scene";
import type { State } from "./state";
import { imageOf } from "./stripes";
import { number, withUnit } from "./text";

export const NONE = 255;
const STEPS = 254;

/** Place of a pair in the upper triangle without the diagonal, written row by row. */
export function trianglePlace(one: number, other: number, size: number): number {
  const [low, high] = one < other ? [one, other] : [other, one];
  return low * size - (low * (low + 1)) / 2 + high - low - 1;
}

/** Colours as an image, row by row, the first row at the top. */
export function colourImage(colours: readonly string[], width: number, height: number): string {
  const pixels = new Uint8ClampedArray(4 * width * height);
  colours.forEach((colour, k) => pixels.set([...rgb(colour), 255], 4 * k));
  return imageOf(pixels, width, height);
}

/** The cutoffs at which pairs of places come together, in the form of a matrix of the scene. */
export function joiningMatrix(state: State, size: number, top: number): Uint8Array {
  const order = wholes(state.scene.shown.order);
  const objectAt = (bin: number): number => at(order, Math.floor(((bin + 0.5) * order.length) / size));
  const values = new Uint8Array((size * (size - 1)) / 2);
  for (let one = 0; one < size; one++) {
    for (let other = one + 1; other < size; other++) {
      const joins = state.hierarchy.joining(objectAt(one), objectAt(other));
      values[trianglePlace(one, other, size)] = Number.isFinite(joins) ? Math.min(STEPS, Math.round((STEPS * joins) / top)) : NONE;
    }
  }
  return values;
}

export class MatrixPanel {
  readonly element: HTMLElement;
  readonly chart: Chart;
  private readonly scale = h("span");
  private readonly output = h("output", { class: "read" });
  private readonly measured: Uint8Array;
  private joining: Uint8Array | null = null;
  private values: Uint8Array;
  private top: number;

  constructor(
    private readonly state: State,
    private readonly matrix: Matrix,
  ) {
    this.measured = octets(matrix.values);
    this.values = this.measured;
    this.top = matrix.top;
    const what = h(
      "select",
      { "aria-label": "Matrix", change: () => this.choose(what.value === "joining") },
      h("option", { value: "measured" }, matrix.name),
      h("option", { value: "joining" }, `Cutoff at which pairs join`),
    );
    this.chart = new Chart({ name: matrix.name, x: this.axis(), y: this.axis(true), lines: [] });
    this.chart.element.addEventListener("pointermove", (event) => this.read(event));
    this.chart.element.addEventListener("pointerleave", () => {
      this.output.textContent = "";
      state.hover(null);
    });
    this.element = h("div", { class: "matrix" }, h("p", { class: "tools" }, what, this.scale, this.output), this.chart.element);
    this.draw();
  }

  dispose(): void {
    this.chart.dispose();
  }

  private choose(joining: boolean): void {
    const last = this.state.hierarchy.levels.at(-1) ?? 1;
    if (joining) this.joining ??= joiningMatrix(this.state, this.matrix.size, last);
    this.values = (joining && this.joining) || this.measured;
    this.top = joining ? last : this.matrix.top;
    this.draw();
  }

  private axis(down = false): { label: string; range: [number, number]; ticks: { value: number; text: string }[] } {
    const { size } = this.matrix;
    const numbers = wholes(this.state.scene.shown.numbers);
    const every = Math.ceil(size / 8);
    const ticks = Array.from({ length: Math.ceil(size / every) }, (_, k) => {
      const bin = k * every;
      return { value: down ? size - bin - 0.5 : bin + 0.5, text: String(numbers[Math.floor((bin * numbers.length) / size)] ?? "") };
    });
    return { label: this.state.scene.shown.label, range: [0, size], ticks };
  }

  private draw(): void {
    const { matrix, values } = this;
    const { heights, rest } = this.state.scene.colours;
    const { size } = matrix;
    const colour = (value: number): string => (value === NONE ? rest : at(heights, Math.floor((value * heights.length) / (STEPS + 1))));
    const cells = Array.from({ length: size * size }, (_, k) => {
      const [row, column] = [Math.floor(k / size), k % size];
      return colour(row === column ? 0 : at(values, trianglePlace(row, column, size)));
    });
    const raster = colourImage(cells, size, size);
    this.chart.update({ name: `${matrix.name}, ${size} by ${size}`, x: this.axis(), y: this.axis(true), lines: [], raster });
    this.scale.replaceChildren(rampOf(heights, "0", withUnit(this.top, this.state.scene.quantity)));
  }

  private read(event: PointerEvent): void {
    const { state, matrix } = this;
    const { x, y, inside } = this.chart.under(event);
    if (!inside) return;
    const [column, row] = [Math.floor(x), Math.min(matrix.size - 1, Math.floor(matrix.size - y))];
    const order = wholes(state.scene.shown.order);
    const [one, other] = [row, column].map((bin) => at(order, Math.floor(((bin + 0.5) * order.length) / matrix.size))) as [number, number];
    const value = row === column ? NONE : at(this.values, trianglePlace(row, column, matrix.size));
    const named = [one, other].map((object) => `${state.chains[object] ?? ""} ${state.names[object]}`.trim());
    const text = value === NONE ? "–" : `${number((value * this.top) / STEPS, 2)} ${state.scene.quantity.unit}`;
    this.output.textContent = `${named.join(" – ")}: ${text}; join at ${withUnit(state.hierarchy.joining(one, other), state.scene.quantity)}`;
    state.hover(state.clusterOf(one));
  }
}
