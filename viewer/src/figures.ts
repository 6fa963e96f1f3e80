// The figures of the page, and the menu that saves them.

import type { Ink } from "./axes";
import type { ClusterTable } from "./clusters";
import type { CurvePlot } from "./curves";
import type { Dilution } from "./dilution";
import { h } from "./dom";
import * as files from "./export";
import type { Matrix } from "./matrix";
import type { Mobility } from "./mobility";
import type { Model } from "./model";
import type { Molecule } from "./molecule";
import type { MotionPanel } from "./motion";
import type { Painter } from "./painter";
import type { Sequence } from "./sequence";
import { facts, messageOf } from "./text";
import type { WindowPanel } from "./windows";

interface Parts {
  heading: HTMLElement;
  molecule: Molecule | null;
  dilution: Dilution;
  table: ClusterTable;
  curves: readonly [CurvePlot, CurvePlot];
  matrices: Matrix[];
  mobility: Mobility;
  motion: MotionPanel | null;
  windows: WindowPanel | null;
  sequence: Sequence | null;
}

/** All figures; the heading has no name, for it is part of the whole page only. */
export function figuresOf(parts: Parts, ink: () => Ink): files.Figure[] {
  const { heading, molecule, dilution, table, curves, matrices, mobility, motion, windows, sequence } = parts;
  const [large, sizes] = curves;
  const made: files.Figure[] = [{ id: "heading", name: "", element: heading, draw: (p) => drawHeading(p, heading, ink()) }];
  if (molecule) {
    const draw: files.Figure["draw"] = (p, w, tall) => p.image(molecule.image(), 0, 0, w, tall);
    made.push({ id: "view", name: "3-D view", element: molecule.element, draw });
  }
  made.push(
    { id: "dilution", name: "Dilution plot", element: dilution.element, draw: (p, w, tall) => dilution.draw(p, w, tall) },
    { id: "fraction", name: "Fraction", element: large.element, draw: (p, w, tall) => large.figure(p, w, tall) },
    { id: "sizes", name: "Sizes P(r)", element: sizes.element, draw: (p, w, tall) => sizes.figure(p, w, tall) },
  );
  for (const matrix of matrices) {
    const id = matrix.name === "Joining" ? "joining" : "matrix";
    made.push({ id, name: matrix.name, element: matrix.element, draw: (p, w, tall) => matrix.draw(p, w, tall) });
  }
  made.push({ id: "mobility", name: "Mobility", element: mobility.element, draw: (p, w, tall) => mobility.draw(p, w, tall) });
  for (const { id, name, plot } of motion?.plots ?? []) {
    made.push({ id, name, element: plot.element, draw: (p, w, tall) => plot.figure(p, w, tall) });
  }
  if (windows) made.push({ id: "windows", name: "Windows", element: windows.element, draw: (p, w, tall) => windows.draw(p, w, tall) });
  if (sequence) made.push({ id: "sequence", name: "Sequence", element: sequence.element, draw: (p, w, tall) => sequence.draw(p, w, tall) });
  made.push({ id: "clusters", name: "Clusters", element: table.element, draw: (p, w, tall) => table.draw(p, w, tall) });
  return made;
}

/** Title and subtitle, where they stand. */
function drawHeading(p: Painter, heading: HTMLElement, ink: Ink): void {
  const origin = heading.getBoundingClientRect();
  for (const part of heading.children) {
    const { left, top, height } = part.getBoundingClientRect();
    const bold = part.tagName === "H1";
    const size = Number.parseFloat(getComputedStyle(part).fontSize);
    p.text(part.textContent ?? "", left - origin.left, top - origin.top + height / 2, {
      fill: bold ? ink.text : ink.muted,
      size,
      bold,
      baseline: "middle",
    });
  }
}

/** All figures in view, or one by its id; what lies in a card out of view takes the size of the dilution plot. */
export function chosenFigures(figures: files.Figure[], id?: string): files.Figure[] {
  const visible = (figure: files.Figure): boolean => figure.element.offsetParent !== null;
  if (!id) return figures.filter(visible);
  const figure = figures.find((one) => one.name !== "" && one.id === id);
  if (!figure) throw new Error(`a figure is one of ${figures.filter(({ name }) => name).map((one) => one.id).join(", ")}, got ${id}`);
  const sized = visible(figure) ? figure : figures.find((one) => one.id === "dilution");
  return [{ ...figure, element: (sized ?? figure).element }];
}

export function exportMenu(model: Model, figures: files.Figure[], root: HTMLElement, say: (text: string) => void): HTMLDetailsElement {
  const stem = model.scene.title.replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "") || "timme";
  const details = h("details", { class: "menu" }, h("summary", {}, "Export"));
  const item = (text: string, act: () => void | Promise<void>): HTMLElement =>
    h(
      "button",
      {
        type: "button",
        click: () => {
          details.open = false;
          void Promise.resolve(act()).then(
            () => say(`${text} saved`),
            (error: unknown) => say(messageOf(error)),
          );
        },
      },
      text,
    );
  const pictures = (name: string, id: string): HTMLElement => {
    const chosen = (): files.Figure[] => chosenFigures(figures, id === "page" ? "" : id);
    return h(
      "div",
      { class: "row" },
      h("span", {}, name),
      item("PNG", async () => files.save(`${stem}-${id}.png`, await files.png(chosen(), root))),
      item("SVG", () => files.save(`${stem}-${id}.svg`, files.svg(chosen(), root, facts(model)), "image/svg+xml")),
    );
  };
  const rows = figures.filter(({ name }) => name).map(({ name, id }) => pictures(name, id));
  rows.at(-1)?.append(item("CSV", () => files.save(`${stem}-clusters.csv`, files.csv(model), "text/csv")));
  details.append(h("div", { class: "items" }, pictures("All in view", "page"), ...rows));
  root.addEventListener("pointerdown", (event) => {
    if (!details.contains(event.target as Node)) details.open = false;
  });
  return details;
}
