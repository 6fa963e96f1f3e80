// What all plots share: ink, round ticks, and the axes of cutoffs and of places.

import { at, inverse, type Run, runs } from "./arrays";
import { type Scene, wholes, words } from "./scene";
import { number, scaledLength, symbol } from "./text";
import type { Painter } from "./painter";
import type { Model } from "./model";

export interface Ink {
  text: string;
  muted: string;
  line: string;
  paper: string;
  mark: string; // of the cutoff line and of outlines
  halo: string; // around marks
}

export interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

const SIZE = 11;
// Along places, in pixels from one tick to the next: what is wanted, and what numbers need at least.
const ROOM = 48;
const LEAST_ROOM = 34;
const FEWEST = 3; // ticks by which a reader finds a place between them

export function inkOf(root: HTMLElement): Ink {
  const style = getComputedStyle(root);
  const of = (name: string): string => style.getPropertyValue(`--${name}`).trim();
  return {
    text: of("text"),
    muted: of("muted"),
    line: of("axis"),
    paper: of("paper"),
    mark: of("mark"),
    halo: of("halo"),
  };
}

/** Round numbers within a range, at most so many. */
export function ticks(low: number, high: number, most: number): number[] {
  const raw = (high - low) / Math.max(1, most);
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = power * ([1, 2, 5].find((factor) => factor * power >= raw * (1 - 1e-9)) ?? 10);
  const found: number[] = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k++) {
    found.push(Number((k * step).toPrecision(12)));
  }
  return found;
}

export function cutoffLabel(scene: Scene): string {
  const same = scene.length === 1 && !scene.quantity.unit && scene.quantity.isLength;
  if (same) return `${scene.quantity.cutoff} / a`;
  return scene.quantity.unit ? `${symbol(scene)} (${scene.quantity.unit})` : symbol(scene);
}

function scaledLabel(scene: Scene, length: number): string {
  return `${scene.quantity.cutoff} / a  (a = ${number(length)} ${scene.quantity.unit})`;
}

type Range = readonly [number, number];

/** Where a value of a range is, from the bottom of a box up. */
export function upward(value: number, [low, high]: Range, box: Box): number {
  return box.y + box.height * (1 - (value - low) / (high - low));
}

/** Where a value of a range is, from the left of a box on. */
export function onward(value: number, [low, high]: Range, box: Box): number {
  return box.x + (box.width * (value - low)) / (high - low);
}

/** Draw numbers along the left: so many pixels from one to the next, the label so many from the box. */
export function leftAxis(p: Painter, ink: Ink, box: Box, range: Range, label: string, { room = 30, away = 38 } = {}): void {
  for (const tick of ticks(...range, Math.max(2, Math.floor(box.height / room)))) {
    const y = upward(tick, range, box);
    p.line([box.x - 4, y, box.x, y], ink.line, 1);
    p.text(number(tick), box.x - 7, y, { fill: ink.muted, size: SIZE, align: "right", baseline: "middle" });
  }
  p.text(label, box.x - away, box.y + box.height / 2, { fill: ink.text, size: SIZE + 1, align: "center", baseline: "middle", turned: true });
}

/** Draw numbers along the bottom, if wanted whole ones alone. */
export function bottomAxis(p: Painter, ink: Ink, box: Box, range: Range, label: string, whole = false): void {
  const bottom = box.y + box.height;
  for (const tick of ticks(...range, Math.max(2, Math.floor(box.width / 40)))) {
    if (whole && !Number.isInteger(tick)) continue;
    const x = onward(tick, range, box);
    p.line([x, bottom, x, bottom + 4], ink.line, 1);
    p.text(number(tick), x, bottom + 7, { fill: ink.muted, size: SIZE, align: "center", baseline: "top" });
  }
  p.text(label, box.x + box.width / 2, bottom + 22, { fill: ink.text, size: SIZE + 1, align: "center", baseline: "top" });
}

/** Draw the cutoffs along the left, and divided by a length along the right. */
export function cutoffAxisY(p: Painter, ink: Ink, scene: Scene, box: Box, range: Range): void {
  const [low, high] = range;
  leftAxis(p, ink, box, range, cutoffLabel(scene), { room: 44, away: 50 });
  const middle = box.y + box.height / 2;
  const count = Math.max(2, Math.floor(box.height / 44));
  const length = scaledLength(scene);
  if (!length) return;
  const right = box.x + box.width;
  for (const tick of ticks(low / length, high / length, count)) {
    const height = upward(tick * length, range, box);
    p.line([right, height, right + 4, height], ink.line, 1);
    p.text(number(tick), right + 7, height, { fill: ink.muted, size: SIZE, baseline: "middle" });
  }
  p.text(scaledLabel(scene, length), right + 49, middle, { fill: ink.text, size: SIZE + 1, align: "center", baseline: "middle", turned: true });
}

/** Draw the cutoffs along the bottom, and divided by a length along the top. */
export function cutoffAxisX(p: Painter, ink: Ink, scene: Scene, box: Box, range: Range): void {
  const [low, high] = range;
  bottomAxis(p, ink, box, range, cutoffLabel(scene));
  const middle = box.x + box.width / 2;
  const count = Math.max(2, Math.floor(box.width / 40));
  const length = scaledLength(scene);
  if (!length) return;
  for (const tick of ticks(low / length, high / length, count)) {
    const place = onward(tick * length, range, box);
    p.line([place, box.y - 4, place, box.y], ink.line, 1);
    p.text(number(tick), place, box.y - 7, { fill: ink.muted, size: SIZE, align: "center", baseline: "bottom" });
  }
  p.text(scaledLabel(scene, length), middle, box.y - 22, { fill: ink.text, size: SIZE + 1, align: "center", baseline: "bottom" });
}

/** The range in which fractions are drawn: a little room is left below 0 and above 1. */
export const FRACTIONS: Range = [-0.02, 1.02];

/** How shown objects lie along an axis. */
export interface Along {
  order: Int32Array; // shown object at each place
  place: Int32Array; // place of each shown object
  numbers: Int32Array | null; // written along it; site labels from 1 without
  chains: string[] | null;
  label: string;
}

export function along(model: Model, wanted = model.axis): Along {
  const { scene, hierarchy } = model;
  const axis = wanted === "natural" ? scene.axis : null;
  const order = axis ? wholes(axis.order) : hierarchy.order;
  return {
    order,
    place: inverse(order),
    numbers: axis ? wholes(axis.numbers) : null,
    chains: axis ? words(axis.chains) : null,
    label: axis ? axis.label : "Site label",
  };
}

/** Write site labels, or residue numbers and chains, along the bottom. */
export function placesAxis(p: Painter, ink: Ink, shown: Along, box: Box): void {
  const size = shown.order.length;
  const bottom = box.y + box.height;
  const x = (place: number): number => box.x + (box.width * place) / size;
  for (const { place, value } of placeTicks(shown, box.width)) {
    const middle = x(place + 0.5);
    p.line([middle, bottom, middle, bottom + 4], ink.line, 1);
    p.text(String(value), middle, bottom + 7, { fill: ink.muted, size: SIZE, align: "center", baseline: "top" });
  }
  p.text(shown.label, box.x + box.width / 2, bottom + 22, { fill: ink.text, size: SIZE + 1, align: "center", baseline: "top" });
  for (const { start, stop, name } of chainRuns(shown)) {
    if (start > 0) p.line([x(start), box.y, x(start), bottom], ink.line, 1);
    if (x(stop) - x(start) > 14) {
      p.text(name, x((start + stop) / 2), box.y - 3, { fill: ink.muted, size: SIZE, align: "center", baseline: "bottom" });
    }
  }
}

interface PlaceTick {
  place: number;
  value: number; // what is written there
}

/** Round numbers along the places: with room between them, and closer where too few would be left. */
export function placeTicks(shown: Along, width: number): PlaceTick[] {
  const wide = ticksApart(shown, width, ROOM);
  return wide.length < FEWEST ? ticksApart(shown, width, LEAST_ROOM) : wide;
}

function ticksApart({ order, numbers }: Along, width: number, room: number): PlaceTick[] {
  const size = order.length;
  const step = Math.max(1, ticks(0, size, Math.max(2, Math.floor(width / room)))[1] ?? 1);
  const found: PlaceTick[] = [];
  for (let place = 0; place < size; place++) {
    const value = numbers?.[place] ?? place + 1;
    const repeated = place > 0 && numbers?.[place - 1] === value;
    const apart = ((place - (found.at(-1)?.place ?? -Infinity)) * width) / size;
    if (value % step === 0 && !repeated && apart >= LEAST_ROOM) found.push({ place, value });
  }
  return found;
}

/** Runs of places in one chain; none where there is but one. */
export function chainRuns({ chains }: Along): (Run & { name: string })[] {
  if (!chains) return [];
  const found = [...runs(chains.length, (place) => chains[place] === chains[place - 1])];
  return found.length > 1 ? found.map((run) => ({ ...run, name: at(chains, run.start) })) : [];
}

export function rgb(hex: string): [number, number, number] {
  const value = Number.parseInt(hex.slice(1), 16);
  return [(value >> 16) & 255, (value >> 8) & 255, value & 255];
}
