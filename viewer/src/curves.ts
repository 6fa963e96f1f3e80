// Curves as charts: fraction in large clusters, sizes, mobility, angles of bodies.

import { at, extent } from "./arrays";
import { type Axis, type Line, type Spec, ticks } from "./chart";
import type { Colouring } from "./colours";
import { type Scene, type Shown, singles, wholes } from "./scene";
import type { State } from "./state";

/** A chart with the name of its card. */
export interface Figure {
  id: string;
  title: string;
  spec: Spec;
  marked?: boolean; // whether the cutoff is drawn on its x axis
  hint?: string;
}

export const MOBILITY = "σc at which a residue joins the core: small = rigid, large = loose.";

/** The axis of places, with round numbers; place k reaches from k to k + 1. */
export function placeAxis({ label, numbers }: Shown): Axis {
  const all = Array.from(wholes(numbers), (value, place) => ({ value: place + 0.5, text: String(value) }));
  const [first, second] = ticks([0, all.length], 12);
  const every = Math.max(1, (second?.value ?? 1) - (first?.value ?? 0));
  return { label, range: [0, all.length], ticks: all.filter(({ text }) => Number(text) % every === 0) };
}

function cutoffLabel({ quantity }: Scene): string {
  return `Cutoff ${quantity.cutoff}${quantity.unit ? ` (${quantity.unit})` : ""}`;
}

/** Values at each level, after one below all levels. */
function fromBelow(state: State, values: ArrayLike<number>, below: number): { x: number[]; y: number[] } {
  const { levels } = state.hierarchy;
  const start = Math.min(state.scene.limits[0], levels[0] ?? 0);
  return { x: [start, ...levels], y: [below, ...Array.from(values)] };
}

export function curveFigures(state: State): Figure[] {
  const { scene } = state;
  const { curves, colours, limits, shown } = scene;
  const x = { label: cutoffLabel(scene), range: limits };
  const fraction: Line[] = [{ name: "measured", colour: colours.core, kind: "step", ...fromBelow(state, singles(curves.fraction), 0) }];
  if (curves.theory) {
    const theory = { x: singles(curves.theory.cutoffs), y: singles(curves.theory.fraction) };
    fraction.push({ name: "theory", colour: colours.theory, kind: "dashed", ...theory });
  }
  const sizes = curves.sizes.map(
    (size, k): Line => ({
      name: `${size}`,
      colour: colours.sizes[k] ?? colours.core,
      kind: "step",
      ...fromBelow(state, singles(at(curves.sizeFractions, k)), size === 1 ? 1 : 0),
    }),
  );
  const largest: Line[] = [{ name: "measured", colour: colours.core, kind: "step", ...fromBelow(state, wholes(curves.largest), 1) }];
  if (curves.chance) {
    const chance = { x: singles(curves.chance.cutoffs), y: singles(curves.chance.largest) };
    largest.push({ name: "chance (95 %)", colour: colours.theory, kind: "dashed", ...chance });
  }
  const share = { label: `Fraction of ${shown.word}`, range: [0, 1.02] as [number, number] };
  const many = { label: `Size of the largest cluster`, range: [0, 1.02 * shown.names.length] as [number, number] };
  return [
    {
      id: "fraction",
      title: `In clusters of ≥ ${curves.large}`,
      marked: true,
      spec: { name: `Fraction of ${shown.word} in clusters of ${curves.large} or more`, x, y: share, lines: fraction, legend: true },
    },
    { id: "largest", title: "Largest cluster", marked: true, spec: { name: "Size of the largest cluster", x, y: many, lines: largest, legend: true } },
    {
      id: "sizes",
      title: "In clusters of size r",
      marked: true,
      spec: { name: `Fraction of ${shown.word} in clusters of size r`, x, y: share, lines: sizes, legend: true },
    },
    mobilityFigure(state),
  ];
}

/** σc at which each shown object joins the core, along the axis of the dilution plot. */
function mobilityFigure({ scene }: State): Figure {
  const { shown, colours } = scene;
  const mobility = singles(scene.mobility);
  const order = wholes(shown.order);
  const y = Array.from(order, (object) => at(mobility, object));
  const [, most] = extent(y);
  const range: [number, number] = [0, most > 0 ? 1.05 * most : 1];
  return {
    id: "mobility",
    title: "Mobility",
    hint: MOBILITY,
    spec: {
      name: `Mobility: cutoff at which each of the ${shown.word} joins the core`,
      x: placeAxis(shown),
      y: { label: `Joins the core at ${scene.quantity.cutoff}`, range },
      lines: [{ name: "", colour: colours.core, kind: "dots", x: Float64Array.from(order, (_, place) => place + 0.5), y }],
    },
  };
}

/** Angle of each body in each snapshot. */
export function angleFigure({ scene }: State, colouring: Colouring): Figure | null {
  const { motion } = scene;
  if (!motion?.angles.length) return null;
  const lines = motion.angles.map(({ body, frames, values }): Line => ({
    name: `body ${body + 1}`,
    colour: colouring.ofGroup(body),
    x: wholes(frames),
    y: singles(values),
  }));
  const [first, last] = extent(lines.flatMap(({ x }) => Array.from(x)));
  const [low, high] = extent(lines.flatMap(({ y }) => Array.from(y)));
  const room = 0.05 * (high - low || 1);
  return {
    id: "angles",
    title: "Angles of bodies",
    spec: {
      name: "Angle of each body from the mean, in each snapshot",
      x: { label: "Snapshot", range: [first, Math.max(last, first + 1)] },
      y: { label: "Angle from the mean (°)", range: [low - room, high + room] },
      lines,
      legend: true,
    },
  };
}
