// Curves as charts: fraction in large clusters, sizes, mobility, angles of bodies.

import { at, extent } from "./arrays";
import type { Line, Spec } from "./chart";
import { type Scene, singles, wholes } from "./scene";
import type { State } from "./state";

/** A chart with the name of its card. */
export interface Figure {
  id: string;
  title: string;
  spec: Spec;
  marked?: boolean; // whether the cutoff is drawn on its x axis
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
    largest.push({ name: "independent walkers (95 %)", colour: colours.theory, kind: "dashed", ...chance });
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
  const numbers = wholes(shown.numbers);
  const y = Array.from(order, (object) => at(mobility, object));
  const [, most] = extent(y);
  const every = Math.ceil(order.length / 10);
  const ticks = Array.from({ length: Math.ceil(order.length / every) }, (_, k) => ({ value: k * every, text: String(numbers[k * every]) }));
  const range: [number, number] = [0, most > 0 ? 1.05 * most : 1];
  return {
    id: "mobility",
    title: "Mobility",
    spec: {
      name: `Mobility: cutoff at which each of the ${shown.word} joins the core`,
      x: { label: shown.label, range: [-0.5, order.length - 0.5], ticks },
      y: { label: `Joins the core at ${scene.quantity.cutoff}`, range },
      lines: [{ name: "", colour: colours.core, kind: "dots", x: Float64Array.from(order, (_, place) => place), y }],
    },
  };
}

/** Angle of each body in each snapshot. */
export function angleFigure({ scene }: State): Figure | null {
  const { motion, groups, colours } = scene;
  if (!motion?.angles.length) return null;
  const lines = motion.angles.map(({ body, frames, values }): Line => ({
    name: `body ${body + 1}`,
    colour: groups?.rows[body]?.colour ?? colours.core,
    x: wholes(frames),
    y: singles(values),
  }));
  const [first, last] = extent(lines.flatMap(({ x }) => Array.from(x)));
  const [low, high] = extent(lines.flatMap(({ y }) => Array.from(y)));
  const room = 0.05 * (high - low || 1);
  return {
    id: "angles",
    title: "Angles against body 1",
    spec: {
      name: "Angle of each body against the first snapshot",
      x: { label: "Snapshot", range: [first, Math.max(last, first + 1)] },
      y: { label: "Angle (°)", range: [low - room, high + room] },
      lines,
      legend: true,
    },
  };
}
