// Elements of the document, made in one expression.

type Handler = (event: never) => void;
export type Attributes = Record<string, string | number | boolean | Handler | null | undefined>;
export type Child = Node | string;

/** Set attributes; a function listens to the event of that name, false and null leave an attribute out. */
export function fill(element: Element, attributes: Attributes, children: Child[]): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name, value as unknown as EventListener);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, String(value));
  }
  element.append(...children);
}

/** Make an HTML element. */
export function h<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[Name] {
  const element = document.createElement(name);
  fill(element, attributes, children);
  return element;
}

/** A coloured square; its look is hatched or faded as in the dilution plot. */
export function swatch(colour: string, look = "solid"): HTMLElement {
  const element = h("span", { class: "swatch", "data-look": look, "aria-hidden": "true" });
  element.style.setProperty("--colour", colour);
  return element;
}

/** A ramp of colours between what its ends mean. */
export function rampOf(colours: readonly string[], low = "", high = ""): HTMLElement {
  const bar = h("span", { class: "colours" });
  bar.style.background = `linear-gradient(90deg, ${colours.join(", ")})`;
  return h("span", { class: "ramp" }, low, bar, high);
}

/** Pairs of label and value, as a list that screen readers announce in pairs. */
export function factList(facts: readonly (readonly [string, string])[]): HTMLElement {
  return h("dl", { class: "facts" }, ...facts.flatMap(([label, value]) => [h("dt", {}, label), h("dd", {}, value)]));
}

/** Text whose ranges, such as "A 31-67", are never broken at the end of a line. */
export function unbroken(text: string): HTMLElement {
  const parts = text.split(/(\b(?:\w )?\d+-\d+)/);
  return h("span", {}, ...parts.map((part, k) => (k % 2 ? h("span", { class: "range" }, part) : part)));
}

/** Save text or a blob as a file of the reader. */
export function download(name: string, content: Blob): void {
  const address = URL.createObjectURL(content);
  h("a", { href: address, download: name }).click();
  window.setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
