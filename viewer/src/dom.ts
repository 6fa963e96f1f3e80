// Elements in few words. Whatever is shown is set as text, never as markup.

type Attributes = Record<string, string | number | boolean | ((event: never) => void)>;

export function h<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Attributes = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[Tag] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name, value as EventListener);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false) element.setAttribute(name, String(value));
  }
  element.append(...children);
  return element;
}

/** The element of the document with an id, which must be of a kind. */
export function byId<Kind extends HTMLElement = HTMLElement>(id: string, kind?: new () => Kind): Kind {
  const found = document.getElementById(id);
  if (!(found instanceof (kind ?? HTMLElement))) throw new Error(`the document needs an element ${id}`);
  return found as Kind;
}

/** A label with its control, as one element. */
export function labelled(text: string, control: HTMLElement, hint = ""): HTMLElement {
  return h("label", { class: "field", title: hint }, h("span", {}, text), control);
}

export function options<Value extends string>(
  choices: [Value, string][],
  chosen: Value,
  choose: (value: Value) => void,
): HTMLSelectElement {
  const select = h("select", { change: () => choose(select.value as Value) });
  for (const [value, text] of choices) select.append(h("option", { value }, text));
  select.value = chosen;
  return select;
}

/** What draws on a canvas; every browser has it. */
export function context2d(canvas: HTMLCanvasElement): CanvasRenderingContext2D {
  const context = canvas.getContext("2d");
  if (!context) throw new Error("this browser does not draw on a canvas");
  return context;
}

export interface SharpCanvas {
  canvas: HTMLCanvasElement;
  size: { width: number; height: number }; // of the box; 0 while it is out of view
  redraw: () => void;
}

/**
 * A canvas that fills its box, sharp on any screen; `draw` is called when it has changed size.
 * The size is kept, for to ask an element for it makes the browser lay out the whole page.
 */
export function sharpCanvas(
  box: HTMLElement,
  label: string,
  draw: (context: CanvasRenderingContext2D, width: number, height: number) => void,
): SharpCanvas {
  const canvas = h("canvas", { role: "img", "aria-label": label });
  const size = { width: 0, height: 0 };
  box.append(canvas);
  const redraw = (): void => {
    const { width, height } = size;
    if (width < 2 || height < 2) return;
    const ratio = window.devicePixelRatio || 1;
    const [wide, high] = [Math.round(width * ratio), Math.round(height * ratio)];
    if (canvas.width !== wide || canvas.height !== high) {
      canvas.width = wide;
      canvas.height = high;
    }
    const context = context2d(canvas);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    draw(context, width, height);
  };
  new ResizeObserver((entries) => {
    for (const { contentRect } of entries) [size.width, size.height] = [contentRect.width, contentRect.height];
    redraw();
  }).observe(box);
  return { canvas, size, redraw };
}
