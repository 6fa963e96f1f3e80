// Files of what is seen: figures as SVG and PNG, clusters as CSV.

import type { Row } from "./clusters";
import { download, h } from "./dom";
import type { Quantity } from "./scene";

const PAINT = ["fill", "stroke", "stroke-width", "stroke-dasharray", "font-family", "font-size", "font-weight", "visibility", "opacity"];
const SHARP = 2; // pixels of a PNG for one of the screen

/** A figure as a file of its own: styles of the page are written into its elements. */
export function svgText(svg: SVGSVGElement): string {
  const copy = svg.cloneNode(true) as SVGSVGElement;
  const [originals, copies] = [svg.querySelectorAll<SVGElement>("*"), copy.querySelectorAll<SVGElement>("*")];
  originals.forEach((original, k) => {
    const style = getComputedStyle(original);
    for (const name of PAINT) copies[k]?.setAttribute(name, style.getPropertyValue(name));
  });
  const { width, height } = svg.viewBox.baseVal;
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  copy.setAttribute("width", String(width));
  copy.setAttribute("height", String(height));
  return new XMLSerializer().serializeToString(copy);
}

/** The same as pixels, on the background of a card. */
export async function pngOf(svg: SVGSVGElement): Promise<Blob> {
  const picture = new Image();
  picture.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svgText(svg))}`;
  await picture.decode();
  const { width, height } = svg.viewBox.baseVal;
  const canvas = h("canvas", { width: SHARP * width, height: SHARP * height });
  const context = canvas.getContext("2d");
  if (!context) throw new Error("this browser cannot draw on a canvas");
  context.fillStyle = getComputedStyle(svg).getPropertyValue("--card") || "#ffffff";
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.drawImage(picture, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve, reject) => {
    canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("the picture is too large"))));
  });
}

/** A cell of CSV; one that a spreadsheet would run as a formula gets an apostrophe. */
function cell(text: string): string {
  const safe = /^[=+@\t]|^-(?!\d)/.test(text) ? `'${text}` : text;
  return /[",\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** The clusters at a cutoff, one row each, units in the heads. */
export function csvText(rows: readonly Row[], cutoff: number, { unit }: Quantity): string {
  const named = (name: string): string => (unit ? `${name} (${unit})` : name);
  const heads = [named("cutoff"), "cluster", "size", "colour", named("forms"), named("joins"), "support", "separation", "members"];
  const lines = rows.map(({ size, colour, forms, joins, support, separation, members }, k) => [
    ...[String(cutoff), String(k + 1), String(size), colour],
    ...[forms, joins, support, separation, members],
  ]);
  return [heads, ...lines].map((line) => `${line.map(cell).join(",")}\n`).join("");
}

/** A menu "Save" with one entry for each file that can be made when it is opened. */
export function saveMenu(entries: () => { name: string; make: () => Blob | Promise<Blob> }[]): HTMLElement {
  const list = h("div");
  const choose = async (name: string, make: () => Blob | Promise<Blob>): Promise<void> => {
    details.open = false;
    download(name, await make());
  };
  const fill = (): void => {
    list.replaceChildren(...entries().map(({ name, make }) => h("button", { type: "button", click: () => void choose(name, make) }, name)));
  };
  const details: HTMLDetailsElement = h("details", { class: "menu", toggle: fill }, h("summary", {}, "Save"), list);
  return details;
}
