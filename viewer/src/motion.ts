// Rigid bodies: who they are, how they move, how many there are, and how much of all motion they account for.

import { at } from "./arrays";
import type { Ink } from "./axes";
import { h } from "./dom";
import type { Model } from "./model";
import { AnglePlot, VariancePlot } from "./motionplots";
import type { Motion } from "./scene";
import { number } from "./text";

export class MotionPanel {
  readonly element: HTMLElement;
  readonly plots: { id: string; name: string; plot: AnglePlot | VariancePlot }[];

  constructor(
    private readonly model: Model,
    motion: Motion,
    ink: () => Ink,
  ) {
    const turns = motion.hinges.some(({ turns: range }) => range !== null);
    this.plots = [
      ...(turns ? [{ id: "angles", name: "Angles of bodies", plot: new AnglePlot(model, motion, ink) }] : []),
      { id: "variance", name: "Explained variance", plot: new VariancePlot(motion, ink) },
    ];
    const pieces = h("div", { class: "pieces" }, ...this.plots.map(({ plot }) => plot.element), numbersTable(motion));
    const more = motion.more.map((line) => h("p", {}, sentence(line)));
    this.element = h(
      "div",
      { class: "motion scroller", tabindex: 0, "aria-label": "Rigid bodies and their motions" },
      h("p", {}, h("strong", {}, sentence(motion.words))),
      ...(motion.bodies.length ? [bodyList(motion), pieces, ...more] : [...more, pieces]),
    );
  }

  update(change: string): void {
    if (change === "theme" || change === "frame") for (const { plot } of this.plots) plot.redraw();
  }

  /** Have the structure in the colours of bodies while the panel is in view, if there are several. */
  show(seen: boolean): void {
    if (this.model.scene.motion?.bodies.length) this.model.setColouring(seen ? "bodies" : "clusters");
  }
}

/** Each body with its colour, its members, and how it moves against the one that is held still. */
function bodyList({ bodies, colours }: Motion): HTMLElement {
  const lines = bodies.map((line, body) => {
    const swatch = h("span", { class: "swatch" });
    swatch.style.setProperty("--colour", at(colours, body));
    return h("li", {}, swatch, h("span", {}, line));
  });
  return h("ul", { class: "bodies", "aria-label": "Bodies" }, ...lines);
}

/** What each number of bodies would be like; the one that was chosen is marked. */
function numbersTable({ levels, chosen, unit, enough, sharp }: Motion): HTMLElement {
  const heads: [string, string][] = [
    ["Bodies", ""],
    ["G", "gap: how much more they move than parts inside them do"],
    ["Q", "separation: motion across over that inside"],
    ["S", "sharpness: high where parts turn by steps, low where all bends evenly"],
    [unit ? `Rest (${unit})` : "Rest", "what rigid bodies leave, root mean square"],
  ];
  const rows = levels.map(([count, ...values], place) => {
    const row = h("tr", {}, h("td", {}, `${count}${place === chosen ? " ✓" : ""}`), ...values.map((value) => h("td", {}, value === null ? "–" : number(value, 3))));
    if (place === chosen) row.setAttribute("aria-current", "true");
    return row;
  });
  return h(
    "table",
    { "aria-label": "By number of bodies" },
    h("caption", {}, `The largest number with a gap G of ${enough} or more (provisional) and a sharpness S of ${sharp} or more, or one.`),
    h("thead", {}, h("tr", {}, ...heads.map(([name, about]) => h("th", { scope: "col", title: about }, name)))),
    h("tbody", {}, ...rows),
  );
}

function sentence(words: string): string {
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}.`;
}
