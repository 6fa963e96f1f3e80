// Rigid bodies that turn about their axes: where their sites are once they have turned so far.

import { at, less, type Point, pointAt } from "./arrays";
import { residueKeys } from "./polymers";
import { type Hinge, type Interval, type Motion, type Scene, singles, type Space, wholes } from "./scene";

const REACH = 0.4; // of the width of the structure: half the length of an arrow, as in the scripts for other viewers
const WIDEST = 60; // degrees of a cone that is drawn

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
  reach: number; // from the middle of the arrow along the axis to its end
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

  /** `scale` is that of the view, `wide` how far the first snapshot reaches there. */
  constructor(scene: Scene, motion: Motion, space: Space, scale: number, wide: number) {
    this.of = labelsOfSites(scene, wholes(motion.labels));
    const members = (body: number): number[] => Array.from(this.of.keys()).filter((site) => this.of[site] === body);
    const place = (point: number[]): Point => point.map((x, d) => scale * (space.scale * x - at(space.centre, d))) as Point;
    const reach = REACH * wide;
    this.still = members(motion.reference);
    this.turning = motion.hinges.flatMap((hinge) => {
      const { axis: along, point, turns, cone } = hinge;
      if (along?.length !== 3 || point?.length !== 3 || !turns || space.dimensions > 3) return [];
      const pitch = hinge.kind === "screw" ? scale * space.scale * (hinge.pitch ?? 0) : 0;
      const width = reach * Math.tan((Math.min(cone ?? 0, WIDEST) * Math.PI) / 180);
      const first = singles(hinge.angles)[0] ?? 0;
      return [{ hinge, axis: { point: place(point), along: along as Point, pitch }, reach, width, turns, first, sites: members(hinge.body) }];
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

/** Label of each site: that of its own object, if that is shown, or else of the shown one of its residue; -1 for none. */
export function labelsOfSites(scene: Scene, labels: Int32Array): Int32Array {
  const keys = residueKeys(scene);
  const [places, shown] = [wholes(scene.tree.sites), wholes(scene.whole.shown)];
  const ofResidue = new Map(Array.from(labels, (label, object) => [at(keys, at(places, object)), label]));
  return wholes(scene.sites.objects).map((object, site) => labels[shown[object] ?? -1] ?? ofResidue.get(at(keys, site)) ?? -1);
}

/** The range of an angle, with its error where there is one: 52° ± 3°. */
export function angleText({ turns, error }: Pick<Hinge, "turns" | "error">): string {
  if (!turns) return "";
  const range = turns[1] - turns[0];
  const digits = range < 10 ? 1 : 0;
  if (error === null) return `${range.toFixed(digits)}°`;
  return `${range.toFixed(digits)}° ± ${error < 1 ? error.toPrecision(1) : error.toFixed(digits)}°`;
}
