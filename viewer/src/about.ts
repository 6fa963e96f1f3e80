// About this result: version, command, inputs, notes, options.

import { factList, h } from "./dom";
import type { Scene } from "./scene";

export function aboutPanel({ about }: Pick<Scene, "about">): HTMLElement {
  const notes = about.notes.map((note) => h("li", {}, note));
  const options = about.options.length ? [h("h2", {}, "Options"), factList(about.options)] : [];
  return h(
    "div",
    { class: "words" },
    factList(about.rows),
    ...(notes.length ? [h("h2", {}, "Notes"), h("ul", {}, ...notes)] : []),
    ...options,
  );
}
