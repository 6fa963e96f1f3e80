// Rigid bodies that turn about their axes: where their sites are once they have turned so far.

import { at, less, type Point, pointAt } from "./arrays";
import { type Hinge, type Interval, type Motion, type Scene, singles, type Space, wholes } from "./scene";

/** A line about which a body turns, and along which it may be shifted meanwhile. */
export interface Axis {
  point: Point; // on it
  along: Point; // of length 1
  pitch: number; // shift for a turn by 1 rad
}

/** Where a point is after a turn by some degrees about an axis, and a shift along it. */
export function screwed(point: Point, { point: on, along, pitch }: Axis, degrees: number): Point {
  const angle = (degrees * Math.PI) / 180;
  const [c, s] = [Math.cos(angle), Math.sin(angle)];
  const away = less(point, on);
  const rise = dot(away, along) * (1 - c) + pitch * angle;
  const across = cross(along, away);
  return [0, 1, 2].map((d) => at(on, d) + c * at(away, d) + s * at(across, d) + rise * at(along, d)) as Point;
}

/** The part of a step that is across an axis. */
export function across(step: Point, { along }: Axis): Point {
  const part = dot(step, along);
  return step.map((value, d) => value - part * at(along, d)) as Point;
}

export function dot(a: Point, b: Point): number {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

function cross(a: Point, b: Point): Point {
  return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
}

/** A body that turns, in the units of the view. */
export interface Turning {
  hinge: Hinge;
  axis: Axis;
  start: Point; // of the arrow along the axis
  end: Point;
  width: number; // of the cone about the arrow, at its end
  turns: Interval; // in degrees
  first: number; // angle in the first snapshot
  sites: number[];
}

/** The bodies of a scene: who belongs to which, and how they turn. */
export class Bodies {
  readonly of: Int32Array; // body of each site, -1 for none
  readonly still: number[]; // sites of the body that is held still
  readonly turning: Turning[];

  /** `scale` is that of the view; places are those of the first snapshot there. */
  constructor({ sites }: Scene, motion: Motion, space: Space, scale: number) {
    const objects = wholes(motion.objects);
    this.of = wholes(sites.objects).map((object) => (object < 0 ? -1 : at(objects, object)));
    const members = (body: number): number[] => Array.from(this.of.keys()).filter((site) => this.of[site] === body);
    const place = (point: number[]): Point => point.map((x, d) => scale * (x - at(space.centre, d))) as Point;
    this.still = members(motion.reference);
    this.turning = motion.hinges.flatMap((hinge) => {
      if (!hinge.axis || !hinge.turns || space.dimensions !== 3) return [];
      const [start, end] = [place(hinge.axis.start), place(hinge.axis.end)];
      const step = less(end, start);
      const length = Math.hypot(...step);
      const axis: Axis = {
        point: start.map((x, d) => (x + at(end, d)) / 2) as Point,
        along: step.map((x) => x / length) as Point,
        pitch: scale * (hinge.kind === "screw" ? (hinge.pitch ?? 0) : 0),
      };
      const first = singles(hinge.angles)[0] ?? 0;
      return [{ hinge, axis, start, end, width: scale * hinge.axis.width, turns: hinge.turns, first, sites: members(hinge.body) }];
    });
  }

  /** How far along its way (0 to 1) the first of the bodies is in the first snapshot. */
  get begin(): number {
    const [body] = this.turning;
    if (!body) return 0;
    const [low, high] = body.turns;
    return high > low ? (body.first - low) / (high - low) : 0;
  }

  /** Sites of the first snapshot with every body as far along its way. */
  at(first: Float32Array, part: number): Float32Array {
    const moved = first.slice();
    for (const { axis, turns: [low, high], first: from, sites } of this.turning) {
      const degrees = low + part * (high - low) - from;
      for (const site of sites) moved.set(screwed(pointAt(first, site), axis, degrees), 3 * site);
    }
    return moved;
  }
}

/** The range of an angle, with its error where there is one: 52° ± 3°. */
export function angleText({ turns, error }: Pick<Hinge, "turns" | "error">): string {
  if (!turns) return "";
  const range = turns[1] - turns[0];
  const digits = range < 10 ? 1 : 0;
  if (error === null) return `${range.toFixed(digits)}°`;
  return `${range.toFixed(digits)}° ± ${error < 1 ? error.toPrecision(1) : error.toFixed(digits)}°`;
}
