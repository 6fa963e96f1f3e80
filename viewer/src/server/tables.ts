// Tables of a comparison: which cluster is which, and the best partner of each cutoff.

import { csvRows } from "../csv";
import { h } from "../dom";
import { fetched } from "./api";

const MOST = 200; // rows that are shown

/** Make a table of a file; a column of colours is shown as colours, next to their names. */
export async function tableOf(address: string, heading: string, name: string): Promise<HTMLElement> {
  const answer = await fetched(address, name);
  const [head = [], ...listed] = csvRows(await answer.text());
  const rows = listed.filter((row) => !trivial(head, row));
  const coloured = head.indexOf("colour");
  const cells = (row: string[]): HTMLElement[] => row.map((text, column) => cell(text, column === coloured));
  const left = rows.length - MOST;
  return h(
    "section",
    { class: "card" },
    h("h2", {}, heading),
    h(
      "div",
      { class: "scroll tall", tabindex: 0, "aria-label": heading },
      h(
        "table",
        { class: "figures-in" },
        h("thead", {}, h("tr", {}, ...head.map((text) => h("th", { scope: "col" }, text)))),
        h("tbody", {}, ...rows.slice(0, MOST).map((row) => h("tr", {}, ...cells(row)))),
      ),
    ),
    left > 0 ? h("p", { class: "quiet" }, `${left} more rows are in ${name}`) : "",
  );
}

/** Whether a row is of the cutoff below all levels, where everything is single and agrees with itself. */
export function trivial(head: string[], row: string[]): boolean {
  return row[head.indexOf("cutoff")] === "-inf";
}

/** A number of a table with four digits; any other text as it is. */
export function shortened(text: string): string {
  const value = Number(text);
  const long = text !== "" && Number.isFinite(value) && !Number.isInteger(value);
  return long ? String(Number(value.toPrecision(4))) : text.replace(/^-inf$/, "−∞");
}

function cell(text: string, coloured: boolean): HTMLElement {
  const short = shortened(text);
  const made = h("td", { title: short === text ? "" : text });
  if (coloured && /^#[0-9a-f]{6}$/i.test(text)) {
    const swatch = h("span", { class: "swatch" });
    swatch.style.background = text;
    made.append(swatch);
  }
  made.append(short);
  return made;
}
