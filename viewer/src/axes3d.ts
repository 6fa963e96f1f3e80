// Axes about which bodies turn: arrows with a cone for their error, and labels.

import * as NGL from "ngl";
import { minus, type Point } from "./arrays";
import { rgb } from "./colours";
import { h } from "./dom";
import type { Motion } from "./scene";

const SHAFT = 0.35; // radii, in Å
const TIP = 0.9;
const TIP_LENGTH = 2.6;
const CLEAR = 0.2; // opacity of a cone
const WIDEST = 60; // degrees of a cone that is drawn

interface Label {
  element: HTMLElement;
  place: Point;
}

export class BodyAxes {
  private readonly drawn: NGL.ShapeComponent[];
  private readonly labels: Label[] = [];
  private visible = false;

  /** `toView` turns a place of the scene into one of the view, where 1 Å is `unit`. */
  constructor(
    private readonly stage: NGL.Stage,
    host: HTMLElement,
    axes: Motion["axes"],
    colourOf: (body: number) => string,
    private readonly view: { toView(point: Point): Point; unit: number; project(point: Point): { x: number; y: number } },
  ) {
    const solid = new NGL.Shape("axes");
    const clear = new NGL.Shape("cones", { openEnded: true });
    for (const axis of axes) {
      const colour = rgb(colourOf(axis.body)).map((part) => part / 255) as Point;
      this.drawAxis(solid, clear, axis, colour);
      const element = h("span", { class: "label", hidden: true }, axis.label);
      element.style.setProperty("--colour", colourOf(axis.body));
      this.labels.push({ element, place: view.toView(axis.to) });
    }
    host.append(...this.labels.map(({ element }) => element));
    const glass = { opacity: CLEAR, depthWrite: false, side: "double", roughness: 1 };
    this.drawn = [hidden(stage, solid, { roughness: 0.6 }), hidden(stage, clear, glass)];
    stage.viewer.signals.rendered.add(this.placeLabels);
  }

  dispose(): void {
    this.stage.viewer.signals.rendered.remove(this.placeLabels);
    for (const each of this.drawn) this.stage.removeComponent(each);
    for (const { element } of this.labels) element.remove();
  }

  show(visible: boolean): void {
    this.visible = visible;
    for (const each of this.drawn) each.setVisibility(visible);
    for (const { element } of this.labels) element.hidden = !visible;
  }

  private drawAxis(solid: NGL.Shape, clear: NGL.Shape, axis: Motion["axes"][number], colour: Point): void {
    const { toView, unit } = this.view;
    const [from, to] = [toView(axis.from), toView(axis.to)];
    const neck = towards(to, from, TIP_LENGTH * unit);
    solid.addCylinder(from, neck, colour, SHAFT * unit, "");
    solid.addCone(neck, to, colour, TIP * unit, "");
    if (axis.cone === null || axis.cone > WIDEST) return;
    const middle = from.map((x, d) => (x + to[d]!) / 2) as Point;
    const width = Math.tan((axis.cone * Math.PI) / 180) * Math.hypot(...minus(to, middle));
    clear.addCone(to, middle, colour, width, "");
  }

  private readonly placeLabels = (): void => {
    if (!this.visible) return;
    for (const { element, place } of this.labels) {
      const { x, y } = this.view.project(place);
      element.style.transform = `translate(${x}px, ${y}px) translate(-50%, -120%)`;
    }
  };
}

function hidden(stage: NGL.Stage, shape: NGL.Shape, look: Record<string, unknown>): NGL.ShapeComponent {
  const component = stage.addComponentFromObject(shape) as NGL.ShapeComponent;
  component.addRepresentation("buffer", look as never);
  component.setVisibility(false);
  return component;
}

/** A point so far from one towards another. */
function towards(from: Point, other: Point, length: number): Point {
  const step = minus(other, from);
  const part = length / (Math.hypot(...step) || 1);
  return from.map((x, d) => x + part * step[d]!) as Point;
}
