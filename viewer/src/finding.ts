// The finding: title, badge, facts, notes, and the table of bodies or groups.

import { factList, h, swatch } from "./dom";
import type { Finding, Groups } from "./scene";

const HEADS = {
  bodies: { row: "Body", members: "Residues", fit: "Fit", moves: "Moves by" },
  groups: { row: "Group", members: "Members", fit: "Inside", moves: "To others" },
  core: { row: "Cluster", members: "Residues", fit: "Fit", moves: "Moves by" },
  network: { row: "Network", members: "Members", fit: "Inside", moves: "To others" },
};

/** The heading of the page: sentence, badge, source and size. */
export function heading({ sentence, badge, size }: Finding, buttons: HTMLElement): HTMLElement {
  const level = /well supported/i.test(badge) ? "good" : /tentative/i.test(badge) ? "fair" : "open";
  return h(
    "header",
    {},
    h("h1", {}, sentence),
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
export function groupTable({ what, rows }: Groups, look: (row: number) => void): HTMLElement {
  const heads = HEADS[what];
  const columns = (["members", "size", "fit", "moves"] as const).filter((name) => rows.some((row) => row[name] !== ""));
  const title = { ...heads, size: "Size" };
  const body = rows.map((row, k) => {
    const name = h("button", { type: "button", class: "name", title: "Show in the structure", click: () => look(k) }, swatch(row.colour), String(k + 1));
    return h("tr", {}, h("th", { scope: "row" }, name), ...columns.map((column) => h("td", { class: column }, row[column])));
  });
  return h(
    "section",
    { class: "card", "aria-label": `Table of ${what}` },
    h(
      "table",
      {},
      h("thead", {}, h("tr", {}, h("th", { scope: "col" }, heads.row), ...columns.map((column) => h("th", { scope: "col" }, title[column])))),
      h("tbody", {}, ...body),
    ),
  );
}
