// Axes of bodies in the view: an arrow with a cone of how sure it is, and an arc of how far the body turned.

import * as NGL from "ngl";
import { at, less, type Point } from "./arrays";
import { rgb } from "./axes";
import { h } from "./dom";
import type { Painter } from "./painter";
import { across, angleText, dot, screwed, type Turning } from "./screw";
import { centroid } from "./superpose";

const SHAFT = 0.35; // radii, as in the scripts for other viewers
const TIP = 0.9;
const TIP_LENGTH = 2.6;
const ARC = 0.22;
const SPOKE = 0.06; // from an axis to the ends of an arc, unless it is far away
const STEP = 3; // degrees of one piece of an arc
const CLEAR = 0.2; // opacity of a cone
const BESIDE = 6; // from the middle of a body to its arc
const LABEL = 4; // from there to what is written

type Colour = [number, number, number];

/** What is written beside an arc. */
interface Label {
  text: string;
  place: Point;
}

/** The axes of bodies in a view, which are seen once they are shown. */
export class HingeView {
  private readonly drawn: NGL.RepresentationElement[];
  private readonly labels: (Label & { element: HTMLElement })[] = [];
  private visible = false;

  /** `unit` is 1 Å in the units of the view, `project` tells where a place is on the screen. */
  constructor(
    stage: NGL.Stage,
    host: HTMLElement,
    bodies: Turning[],
    { colours, first, unit }: { colours: string[]; first: Float32Array; unit: number },
    private readonly project: (place: Point) => readonly [number, number, ...number[]],
  ) {
    const solid = new NGL.Shape("axes");
    const clear = new NGL.Shape("cones", { openEnded: true });
    for (const body of bodies) {
      const own = at(colours, body.hinge.body);
      const colour = rgb(own).map((part) => part / 255) as Colour;
      drawAxis(solid, body, colour, unit);
      if (body.width > 0) clear.addCone(moved(body.axis.point, body.axis.along, body.reach), body.axis.point, colour, body.width, "");
      const label = drawArc(solid, body, colour, first, unit);
      if (!label) continue;
      const element = h("span", { class: "label", hidden: true }, label.text);
      element.style.setProperty("--colour", own);
      this.labels.push({ ...label, element });
    }
    host.append(...this.labels.map(({ element }) => element));
    const look = { opacity: CLEAR, depthWrite: false, side: "double", roughness: 1 };
    this.drawn = [shown(stage, solid, { roughness: 0.6 }), shown(stage, clear, look)];
    stage.viewer.signals.rendered.add(() => this.place());
  }

  show(visible: boolean): void {
    this.visible = visible;
    for (const each of this.drawn) each.setVisibility(visible);
    for (const { element } of this.labels) element.hidden = !visible;
  }

  /** Draw labels onto a picture, of which so many pixels are one of the screen. */
  draw(p: Painter, ratio: number, fill: string): void {
    if (!this.visible) return;
    for (const { place, text } of this.labels) {
      const [x, y] = this.project(place);
      p.text(text, ratio * x, ratio * y, { fill, size: 13 * ratio, bold: true, align: "center", baseline: "middle" });
    }
  }

  /** Keep labels where their places are seen. */
  private place(): void {
    if (!this.visible) return;
    for (const { place, element } of this.labels) {
      const [x, y] = this.project(place);
      element.style.transform = `translate(${x}px, ${y}px) translate(-50%, -50%)`;
    }
  }
}

function shown(stage: NGL.Stage, shape: NGL.Shape, look: Record<string, unknown>): NGL.RepresentationElement {
  const component = stage.addComponentFromObject(shape) as NGL.ShapeComponent;
  return component.addRepresentation("buffer", { visible: false, ...look } as never);
}

function drawAxis(shape: NGL.Shape, { reach, axis: { point, along } }: Turning, colour: Colour, unit: number): void {
  const neck = moved(point, along, reach - TIP_LENGTH * unit);
  shape.addCylinder(moved(point, along, -reach), neck, colour, SHAFT * unit, "");
  shape.addCone(neck, moved(point, along, reach), colour, TIP * unit, "");
}

/** The way of the middle of a body about its axis; returns the angle that belongs beside it. */
function drawArc(shape: NGL.Shape, body: Turning, colour: Colour, first: Float32Array, unit: number): Label | null {
  const { axis, turns: [low, high], first: from, hinge, sites, reach } = body;
  const middle = centroid(first, sites);
  const arm = across(less(middle, axis.point), axis);
  const radius = Math.hypot(...arm);
  if (radius < unit || high - low < 0.5) return null;
  const out = arm.map((x) => x / radius) as Point;
  const foot = moved(axis.point, axis.along, dot(less(middle, axis.point), axis.along));
  const flat = { ...axis, pitch: 0 };
  const beside = moved(foot, out, radius + BESIDE * unit);
  const point = (degrees: number): Point => screwed(beside, flat, degrees - from);
  const pieces = Math.max(2, Math.ceil((high - low) / STEP));
  const corners = Array.from({ length: pieces + 1 }, (_, k) => point(low + ((high - low) * k) / pieces));
  corners.slice(1).forEach((corner, k) => {
    shape.addCylinder(at(corners, k), corner, colour, ARC * unit, "");
    shape.addSphere(corner, colour, ARC * unit, "");
  });
  const last = at(corners, pieces);
  const before = at(corners, pieces - 1);
  const length = Math.hypot(...less(last, before)) || 1;
  const ahead = less(last, before).map((x) => x / length) as Point;
  shape.addCone(last, moved(last, ahead, TIP_LENGTH * unit), colour, TIP * unit, "");
  if (radius < 2 * reach) {
    for (const end of [low, high]) shape.addCylinder(foot, point(end), colour, SPOKE * unit, "");
  }
  const place = screwed(moved(beside, out, LABEL * unit), flat, (low + high) / 2 - from);
  return { text: angleText(hinge), place };
}

function moved(point: Point, along: Point, by: number): Point {
  return point.map((x, d) => x + by * at(along, d)) as Point;
}
