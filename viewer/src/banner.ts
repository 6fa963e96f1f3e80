// Whether there is data enough, in words and in a colour.

import { h } from "./dom";
import type { Confidence } from "./scene";
import { number } from "./text";

const VERDICTS: Record<Confidence["colour"], string> = {
  red: "Too few data",
  amber: "Few data",
  green: "Data enough",
  grey: "No confidence given",
};

export function banner({ colour, words, effective }: Confidence): HTMLElement {
  const made = h("p", { class: "banner", role: "note", "aria-label": "How sure" }, h("strong", {}, VERDICTS[colour]), h("span", {}, sentence(words)));
  made.dataset.colour = colour;
  if (effective !== null) made.append(h("small", { title: "Independent snapshots, as the slowest pairs see it" }, `n_eff = ${number(effective, 2)}`));
  return made;
}

function sentence(words: string): string {
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}.`;
}
