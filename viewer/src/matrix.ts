// A matrix of pairs as an image with read-out: σ of pairs, or the cutoff at which they join.

import { at } from "./arrays";
import { type Axis, Chart } from "./chart";
import { rgb } from "./colours";
import { placeAxis } from "./curves";
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

/** The cutoffs at which pairs of places come together, in the form of a matrix of the scene. */
export function joiningMatrix(state: State, size: number, low: number, top: number): Uint8Array {
  const order = wholes(state.scene.shown.order);
  const objectAt = (bin: number): number => at(order, Math.floor(((bin + 0.5) * order.length) / size));
  const values = new Uint8Array((size * (size - 1)) / 2);
  for (let one = 0; one < size; one++) {
    for (let other = one + 1; other < size; other++) {
      const joins = state.hierarchy.joining(objectAt(one), objectAt(other));
      values[trianglePlace(one, other, size)] = Number.isFinite(joins) ? Math.round(STEPS * Math.sqrt((joins - low) / (top - low || 1))) : NONE;
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
  private low: number;
  private top: number;

  constructor(
    private readonly state: State,
    private readonly matrix: Matrix,
  ) {
    this.measured = octets(matrix.values);
    this.values = this.measured;
    [this.low, this.top] = [matrix.low, matrix.top];
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

  private choose(joining: boolean): void {
    const { matrix, state } = this;
    const [low, top] = joining ? [Math.min(0, state.below), state.hierarchy.levels.at(-1) ?? 1] : [matrix.low, matrix.top];
    if (joining) this.joining ??= joiningMatrix(state, matrix.size, low, top);
    this.values = (joining && this.joining) || this.measured;
    [this.low, this.top] = [low, top];
    this.draw();
  }

  private axis(down = false): Axis {
    const { label, range, ticks = [] } = placeAxis(this.state.scene.shown);
    const placed = (value: number): number => (down ? range[1] - value : value);
    return { label, range, ticks: ticks.map(({ value, text }) => ({ value: placed(value), text })) };
  }

  private draw(): void {
    const { matrix, values } = this;
    const { heights, rest } = this.state.scene.colours;
    const { size } = matrix;
    const colour = (value: number): string => (value === NONE ? rest : at(heights, Math.floor((value * heights.length) / (STEPS + 1))));
    const pixels = new Uint8ClampedArray(4 * size * size);
    for (let k = 0; k < size * size; k++) {
      const [row, column] = [Math.floor(k / size), k % size];
      pixels.set([...rgb(colour(row === column ? 0 : at(values, trianglePlace(row, column, size)))), 255], 4 * k);
    }
    const raster = imageOf(pixels, size, size);
    this.chart.update({ name: `${matrix.name}, ${size} by ${size}`, x: this.axis(), y: this.axis(true), lines: [], raster });
    this.scale.replaceChildren(rampOf(heights, number(this.low), withUnit(this.top, this.state.scene.quantity)));
  }

  private read(event: PointerEvent): void {
    const { state, matrix, low, top } = this;
    const { x, y, inside } = this.chart.under(event);
    if (!inside) return;
    const order = wholes(state.scene.shown.order);
    const places = [order.length - y, x].map((place) => Math.min(order.length - 1, Math.floor(place)));
    const [row, column] = places.map((place) => Math.floor((place * matrix.size) / order.length)) as [number, number];
    const [one, other] = places.map((place) => at(order, place)) as [number, number];
    const value = row === column ? NONE : at(this.values, trianglePlace(row, column, matrix.size));
    const named = [one, other].map((object) => `${state.chains[object] ?? ""} ${state.names[object]}`.trim());
    const text = value === NONE ? "–" : `${number(low + (top - low) * (value / STEPS) ** 2, 2)} ${state.scene.quantity.unit}`;
    this.output.textContent = `${named.join(" – ")}: ${text}; join at ${withUnit(state.hierarchy.joining(one, other), state.scene.quantity)}`;
    state.hover(state.clusterOf(one));
  }
}
