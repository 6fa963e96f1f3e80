// Tables of a comparison: which cluster is which, and the best partner of each cutoff.

import { element } from "./shared.js";

const MOST = 200; // rows that are shown

/** Read a table with commas, in which a text may be quoted. */
function rowsOf(text) {
  const rows = [[]];
  for (const [, quoted, plain, end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n|$)/g)) {
    rows.at(-1).push(quoted === undefined ? plain : quoted.replaceAll('""', '"'));
    if (end === "") break;
    if (end !== ",") rows.push([]);
  }
  return rows.filter((row) => row.length > 1);
}

/** Make a table of a file; a column of colours is shown as colours, next to their names. */
export async function tableOf(address, heading, name) {
  const answer = await fetch(address, { credentials: "same-origin" });
  if (!answer.ok) throw new Error(`${name}: the server answered ${answer.status}`);
  const [head, ...rows] = rowsOf(await answer.text());
  const coloured = head.indexOf("colour");
  const cells = (row) => row.map((text, column) => cell(text, column === coloured));
  const left = rows.length - MOST;
  return element(
    "section", { className: "card" },
    element("h2", {}, heading),
    element(
      "div", { className: "scroll tall", tabIndex: 0, ariaLabel: heading },
      element(
        "table", { className: "figures-in" },
        element("thead", {}, element("tr", {}, ...head.map((text) => element("th", { scope: "col" }, text)))),
        element("tbody", {}, ...rows.slice(0, MOST).map((row) => element("tr", {}, ...cells(row)))),
      ),
    ),
    left > 0 ? element("p", { className: "quiet" }, `${left} more rows are in ${name}`) : null,
  );
}

function cell(text, coloured) {
  const value = Number(text);
  const rounded = text !== "" && Number.isFinite(value) && !Number.isInteger(value);
  const short = rounded ? String(Number(value.toPrecision(4))) : text.replace(/^-inf$/, "−∞");
  const made = element("td", { title: short === text ? "" : text });
  if (coloured && /^#[0-9a-f]{6}$/i.test(text)) {
    const swatch = element("span", { className: "swatch" });
    swatch.style.background = text;
    made.append(swatch);
  }
  made.append(short);
  return made;
}
