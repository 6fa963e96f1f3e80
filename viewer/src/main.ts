// The page as a whole: mount(element, scene) builds it and returns what programs may ask of it.

import { Chart } from "./chart";
import { ClusterTable, clusterRows } from "./clusters";
import { Colouring } from "./colours";
import { Controls, Cutoffs } from "./controls";
import { angleFigure, curveFigures, type Figure } from "./curves";
import { Dilution } from "./dilution";
import { factList, h } from "./dom";
import { Film } from "./film";
import { aboutPanel, factsCard, groupTable, heading, samplingPanel } from "./finding";
import { keyHelp, listen } from "./keyboard";
import { MatrixPanel } from "./matrix";
import { csvText, pngOf, saveMenu, svgText } from "./save";
import { checkFormat, type Scene, wholes } from "./scene";
import { State } from "./state";
import { type Tab, tabs } from "./tabs";
import { messageOf } from "./text";
import { View } from "./view";

/** What programs may ask of a page, and tell it. */
export interface Page {
  state: State;
  view: View | null;
  csv(): string;
  dispose(): void;
}

/** The element of a page within a host, with the colours of the reader's theme. */
function pageRoot(host: HTMLElement, signal: AbortSignal, changed: () => void): HTMLElement {
  const root = h("div", { class: "timme" });
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const follow = (): void => {
    root.dataset.theme = dark.matches ? "dark" : "light";
    changed();
  };
  host.classList.add("timme-host");
  host.replaceChildren(root);
  follow();
  dark.addEventListener("change", follow, { signal });
  return root;
}

/** Build the page within an element; keys are heard there, or in what is given. */
export function mount(host: HTMLElement, scene: Scene, keys: HTMLElement | Document = host): Page {
  checkFormat(scene);
  const life = new AbortController();
  const state = new State(scene);
  const colouring = new Colouring(state);
  const built: { view: View | null } = { view: null };
  const root = pageRoot(host, life.signal, () => built.view?.update("theme"));
  const paper = (): string => getComputedStyle(root).getPropertyValue("--paper").trim();

  const [view, problem] = makeView(state, colouring, paper);
  built.view = view;
  const film = scene.space ? new Film(state, scene.space) : null;
  const controls = new Controls(state);
  const other = scene.other ? new State(scene.other) : null; // of two results that are compared, the first
  const plots = [...(other ? [other] : []), state].map((each) => new PlotCard(each));
  const zoom = (shown: Iterable<number>): void => view?.lookAt(new Set(shown));
  const clusters = new ClusterTable(state, colouring, zoom);
  const matrix = scene.matrix ? new MatrixPanel(state, scene.matrix) : null;
  const charts = new Map<string, { chart: Chart; figure: Figure }>();
  const card = (figure: Figure): HTMLElement => {
    const chart = new Chart({ ...figure.spec, ...(figure.marked ? { marker: state.cutoff } : {}) });
    charts.set(figure.id, { chart, figure });
    if (figure.marked) followClicks(chart, state);
    return h("figure", {}, h("figcaption", { title: figure.hint ?? null }, figure.title), chart.element);
  };
  const cards = (...figures: (Figure | null)[]): HTMLElement[] => figures.flatMap((figure) => (figure ? [card(figure)] : []));

  const ofSide = scene.side ? ` of ${scene.side}` : "";
  const entries: Tab[] = [
    { id: "clusters", title: `Clusters at ${scene.quantity.cutoff}${ofSide}`, panel: clusters.element },
    { id: "curves", title: `Curves${ofSide}`, panel: h("div", { class: "panel" }, ...cards(...curveFigures(state))) },
  ];
  if (matrix) entries.push({ id: "matrix", title: "Matrix", panel: matrix.element });
  if (scene.motion) {
    const facts = h("div", { class: "words" }, factList(scene.motion.facts));
    entries.push({ id: "motion", title: "Motion", panel: h("div", { class: "panel" }, facts, ...cards(angleFigure(state, colouring))) });
  }
  entries.push({ id: "sampling", title: "Sampling", panel: samplingPanel(scene) });
  entries.push({ id: "about", title: "About this result", panel: aboutPanel(scene) });

  const drawn = (): Map<string, SVGSVGElement> =>
    new Map([
      ...plots.map(({ dilution }, k) => [k + 1 < plots.length ? "dilution-first" : "dilution", dilution.chart.svg] as const),
      ...Array.from(charts, ([id, { chart }]): [string, SVGSVGElement] => [id, chart.svg]),
      ...(matrix ? [["matrix", matrix.chart.svg] as const] : []),
    ]);
  const csv = (): string => csvText(clusterRows(state, colouring), state.cutoff, scene.quantity);
  const save = saveMenu(() => files(scene.title, view, drawn(), csv));
  const help = keyHelp();
  const helpButton = h("button", { type: "button", title: "Keys (?)", "aria-label": "Keys", click: () => help.showModal() }, "?");
  const buttons = h("span", { class: "buttons" }, save, helpButton);

  const stage = view?.element ?? h("p", { class: "stage empty" }, problem);
  const structure = h("section", { class: "card structure", "aria-label": "Structure" }, controls.colours, stage, ...(film ? [film.element] : []));
  const labels = scene.groups && wholes(scene.groups.labels);
  const show = (row: number): void => {
    state.setColouring("groups");
    zoom(Array.from(labels ?? [], (label, object) => (label === row ? object : -1)));
  };
  const table = scene.groups?.rows.length ? groupTable(scene.groups, scene.shown.word, (row) => colouring.ofGroup(row), show) : null;
  const answer = h("div", { class: "answer" }, ...(table ? [table] : []), factsCard(scene.finding));
  const first = h("div", { class: other ? "first pair" : "first" }, structure, ...plots.map(({ element }) => element));
  root.append(heading(scene.finding, buttons), first, answer, tabs(entries), help);

  state.onChange((change) => {
    view?.update(change);
    clusters.update(change);
    if (change === "colour") other?.follow(state);
    if (change === "palette") {
      table?.querySelectorAll<HTMLElement>(".swatch").forEach((swatch, row) => swatch.style.setProperty("--colour", colouring.ofGroup(row)));
      const angles = angleFigure(state, colouring);
      if (angles) charts.get("angles")?.chart.update(angles.spec);
    }
    if (change === "frame") film?.update();
    if (change === "colour") controls.update();
    if (change === "cutoff") for (const { chart, figure } of charts.values()) if (figure.marked) chart.mark(state.cutoff);
  });
  listen(keys, { state, view, film, help }, life.signal);
  view?.reset();

  const parts = [view, clusters, matrix?.chart, ...plots.map(({ dilution }) => dilution.chart), ...Array.from(charts.values(), ({ chart }) => chart)];
  const dispose = (): void => {
    life.abort();
    film?.pause();
    for (const part of parts) part?.dispose();
    host.replaceChildren();
  };
  return { state, view, csv, dispose };
}

/** The cutoff and the dilution plot of a result. */
class PlotCard {
  readonly dilution: Dilution;
  readonly element: HTMLElement;

  constructor(state: State) {
    const cutoffs = new Cutoffs(state);
    this.dilution = new Dilution(state, new Colouring(state));
    const name = state.scene.side ? [h("h2", {}, state.scene.side)] : [];
    this.element = h("section", { class: "card", "aria-label": "Dilution plot" }, ...name, cutoffs.element, this.dilution.element);
    state.onChange((change) => {
      this.dilution.update(change);
      if (change === "cutoff") cutoffs.update();
    });
  }
}

/** The view, or null with the reason: the rest of the page works without. */
function makeView(state: State, colouring: Colouring, paper: () => string): [View | null, string] {
  const { space } = state.scene;
  if (!space) return [null, "A matrix has no structure to show."];
  try {
    return [new View(state, colouring, space, paper), ""];
  } catch (error) {
    return [null, `The structure cannot be drawn: ${messageOf(error)}.`];
  }
}

/** A click or drag on a curve sets the cutoff. */
function followClicks(chart: Chart, state: State): void {
  const follow = (event: PointerEvent): void => {
    const { x, inside } = chart.under(event);
    if (inside && event.buttons === 1) state.setCutoff(x);
  };
  chart.element.addEventListener("pointerdown", follow);
  chart.element.addEventListener("pointermove", follow);
}

/** What can be saved: the structure, the table, and the figures that were drawn. */
function files(title: string, view: View | null, drawn: Map<string, SVGSVGElement>, csv: () => string): { name: string; make: () => Blob | Promise<Blob> }[] {
  const stem = title.replace(/[^\w.-]+/g, "-") || "timme";
  const plots = [...drawn].filter(([, svg]) => svg.hasAttribute("viewBox")).flatMap(([id, svg]) => [
    { name: `${stem}-${id}.svg`, make: () => new Blob([svgText(svg)], { type: "image/svg+xml" }) },
    { name: `${stem}-${id}.png`, make: () => pngOf(svg) },
  ]);
  const structure = view ? [{ name: `${stem}-structure.png`, make: () => view.image() }] : [];
  return [...structure, { name: `${stem}-clusters.csv`, make: () => new Blob([csv()], { type: "text/csv" }) }, ...plots];
}
