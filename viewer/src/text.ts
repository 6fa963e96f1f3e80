// Numbers with units, members as ranges, and the two sentences that depend on the pointer.

import { at, runs } from "./arrays";
import type { Quantity, Scene } from "./scene";

/** Write a number with so many significant digits, without an exponent where that is readable. */
export function number(value: number, digits = 3): string {
  if (value === Infinity) return "never";
  if (value === -Infinity) return "always";
  if (!Number.isFinite(value)) return "–";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e6 || size < 1e-5) return value.toExponential(digits - 1);
  return value.toFixed(Math.max(0, digits - 1 - Math.floor(Math.log10(size))));
}

export function withUnit(value: number, { unit }: Quantity): string {
  return unit && Number.isFinite(value) ? `${number(value)} ${unit}` : number(value);
}

export function count(value: number, word: string): string {
  return `${value.toLocaleString("en")} ${value === 1 ? word.replace(/s$/, "") : word}`;
}

export function capitalized(word: string): string {
  return word.slice(0, 1).toUpperCase() + word.slice(1);
}

/** Write members as ranges such as "A 1-29, 68-115"; names end with numbers where they are to be joined. */
export function ranges(members: ArrayLike<number>, names: string[], chains: string[]): string {
  const several = new Set(chains).size > 1 || (chains[0] ?? "") !== "";
  const follows = (k: number): boolean => {
    const [before, here] = [at(members, k - 1), at(members, k)];
    return here === before + 1 && chains[here] === chains[before] && Number(names[here]) === Number(names[before]) + 1;
  };
  let chain = "";
  const parts = Array.from(runs(members.length, follows), ({ start, stop }) => {
    const [first, last] = [at(members, start), at(members, stop - 1)];
    const prefix = several && chains[first] !== chain ? `${chains[first]} ` : "";
    chain = chains[first] ?? "";
    return prefix + (first === last ? at(names, first) : `${names[first]}-${names[last]}`);
  });
  return parts.join(", ");
}

/** Cut a list of ranges to a length, saying how many ranges are left out. */
export function shorten(text: string, length: number): string {
  if (text.length <= length) return text;
  const kept = text.slice(0, length).split(", ").slice(0, -1);
  return `${kept.join(", ")} (+${text.split(", ").length - kept.length})`;
}

/** A cutoff in units of the length of the scene. */
export function relativeText(cutoff: number, { length }: Scene): string {
  return length && cutoff > 0 ? `= ${number(cutoff / length.value)} ${length.name}` : "";
}

export function cutoffText(cutoff: number, scene: Scene): string {
  return `${scene.quantity.cutoff} = ${withUnit(cutoff, scene.quantity)} ${relativeText(cutoff, scene)}`.trim();
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
