// Tables with commas, in which a text may be quoted: written as Python's csv writes them, and read.

export function csvText(rows: string[][]): string {
  return rows.map((row) => `${row.map(cell).join(",")}\n`).join("");
}

/** Rows of a table; lines with a single cell, which are no rows, are left out. */
export function csvRows(text: string): string[][] {
  let row: string[] = [];
  const rows = [row];
  for (const [, quoted, plain = "", end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n|$)/g)) {
    row.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'));
    if (end === "") break;
    if (end !== ",") rows.push((row = []));
  }
  return rows.filter((cells) => cells.length > 1);
}

function cell(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
