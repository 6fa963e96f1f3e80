// SVG elements, made in one expression.

import { type Attributes, type Child, fill } from "./dom";

const SVG = "http://www.w3.org/2000/svg";

/** Make an SVG element. */
export function s<Name extends keyof SVGElementTagNameMap>(
  name: Name,
  attributes: Attributes = {},
  ...children: Child[]
): SVGElementTagNameMap[Name] {
  const element = document.createElementNS(SVG, name);
  fill(element, attributes, children);
  return element;
}

/** The data of a polyline through points; a gap where a value is not finite. */
export function pathThrough(points: Iterable<readonly [number, number]>): string {
  let [path, pen] = ["", "M"];
  for (const [x, y] of points) {
    if (Number.isFinite(x) && Number.isFinite(y)) {
      path += `${pen}${x.toFixed(1)} ${y.toFixed(1)}`;
      pen = "L";
    } else pen = "M";
  }
  return path;
}
