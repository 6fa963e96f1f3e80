// Sampling: what is known of it in words.

import { factList, h } from "./dom";
import type { Scene } from "./scene";

export function samplingPanel({ sampling }: Scene): HTMLElement {
  const facts = sampling.facts.length ? factList(sampling.facts) : h("p", {}, "Nothing is known about the sampling of this result.");
  return h("div", { class: "panel" }, h("div", { class: "words" }, facts));
}
