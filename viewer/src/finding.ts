// What Python says in words: title, badge, facts, notes, the table of bodies or groups, sampling and origin.

import { factList, h, swatch, unbroken } from "./dom";
import type { Finding, Groups, Scene } from "./scene";
import { capitalized, shorten } from "./text";

const LONGEST = 160; // characters of members

/** The heading of the page: sentence, badge, source and size. */
export function heading({ sentence, badge, size }: Finding, buttons: HTMLElement): HTMLElement {
  const level = /well supported/i.test(badge) ? "good" : /tentative/i.test(badge) ? "fair" : "open";
  return h(
    "header",
    {},
    h("h1", {}, unbroken(sentence)),
    h("p", { class: "source" }, ...(badge ? [h("span", { class: "badge", "data-level": level }, badge)] : []), h("span", {}, size), buttons),
  );
}

/** Facts and notes, as on the console. */
export function factsCard({ facts, notes }: Finding): HTMLElement {
  return h(
    "section",
    { class: "card facts-card", "aria-label": "Facts" },
    factList(facts),
    ...notes.map((note) => h("p", { class: "note" }, `Note: ${note.replace(/^Note: /, "")}`)),
  );
}

/** The table of bodies, groups or networks; `look` is called with the number of a chosen row. */
export function groupTable({ what, rows }: Groups, word: string, colourOf: (row: number) => string, look: (row: number) => void): HTMLElement {
  const bodies = what === "body";
  const title = { members: capitalized(word), size: "Size", fit: bodies ? "Fit" : "Inside", moves: bodies ? "Moves by" : "To others" };
  const columns = (["members", "size", "fit", "moves"] as const).filter((name) => rows.some((row) => row[name] !== ""));
  const body = rows.map((row, k) => {
    const name = h("button", { type: "button", class: "name", title: "Show in the structure", click: () => look(k) }, swatch(colourOf(k)), String(k + 1));
    return h("tr", {}, h("th", { scope: "row" }, name), ...columns.map((column) => h("td", { class: column }, unbroken(shorten(row[column], LONGEST)))));
  });
  return h(
    "section",
    { class: "card", "aria-label": `Table of ${what}` },
    h("div", { class: "scroller", tabindex: 0 }, h(
      "table",
      {},
      h("thead", {}, h("tr", {}, h("th", { scope: "col" }, capitalized(what)), ...columns.map((column) => h("th", { scope: "col" }, title[column])))),
      h("tbody", {}, ...body),
    )),
  );
}

export function samplingPanel({ sampling }: Scene): HTMLElement {
  return h("div", { class: "words" }, sampling.facts.length ? factList(sampling.facts) : "Nothing is known about the sampling.");
}

/** Version, command, inputs and notes. */
export function aboutPanel({ about }: Scene): HTMLElement {
  const notes = about.notes.length ? [h("h2", {}, "Notes"), h("ul", {}, ...about.notes.map((note) => h("li", {}, note)))] : [];
  return h("div", { class: "words" }, factList(about.rows), ...notes);
}
