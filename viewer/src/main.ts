// The page as a whole: mount(element, scene) builds it and returns what programs may ask of it.

import { about } from "./about";
import { at } from "./arrays";
import { type Ink, inkOf } from "./axes";
import { banner } from "./banner";
import { ClusterTable } from "./clusters";
import { CurvePlot } from "./curves";
import { Dilution } from "./dilution";
import { h, labelled, options } from "./dom";
import * as files from "./export";
import { chosenFigures, exportMenu, figuresOf } from "./figures";
import { Film } from "./film";
import type { Cluster } from "./hierarchy";
import { KEYS, listen } from "./keyboard";
import { joining, Matrix, measured } from "./matrix";
import { Mobility } from "./mobility";
import { type Change, type Colouring, Model, type Style } from "./model";
import { Molecule } from "./molecule";
import { MotionPanel } from "./motion";
import { Panel } from "./panel";
import { pymolSelection } from "./pymol";
import type { Scene, Space } from "./scene";
import { Sequence } from "./sequence";
import { type Card, tabs } from "./tabs";
import { facts, messageOf, withUnit } from "./text";
import { WindowPanel } from "./windows";

type Theme = "light" | "dark";

/** What programs may ask of a page, and tell it. */
export interface Page {
  state(): {
    cutoff: number;
    level: number;
    levels: number;
    minSize: number;
    trustedOnly: boolean;
    palette: string;
    style: string;
    colouring: string;
    frame: number;
    turn: number | null;
    window: number;
    fixed: boolean;
    selected: number;
    highlighted: number[] | null;
    clusters: { number: number; trusted: boolean; look: string; size: number; colour: string; formed: number; joined: number; members: number[] }[];
  };
  setCutoff(cutoff: number): void;
  setMinSize(size: number): void;
  setTrustedOnly(only: boolean): void;
  setPalette(palette: "wide" | "safe"): void;
  setStyle(style: Style): void;
  setFrame(frame: number): void;
  setColouring(colouring: Colouring): void;
  setTurn(turn: number): void;
  setWindow(window: number): void;
  step(levels: number): void;
  select(shown: number): void;
  atomColours(): string[];
  atomPosition(site: number): [number, number] | null;
  atomSizes(): number[];
  sticks(): [number, number][];
  pymol(): string;
  csv(): string;
  svg(figure?: string): string;
  png(figure?: string): Promise<Blob>;
  dispose(): void; // end it, and give back what the browser has few of
}

const STYLES: Record<Style, string> = {
  cartoon: "cartoon",
  clusters: "thick clusters, thin rest",
  sticks: "sticks",
  spheres: "spheres",
};

/** Build the page within an element; keys are heard there, or in what is given: an element around it, the document. */
export function mount(host: HTMLElement, scene: Scene, keys?: HTMLElement | Document): Page {
  if (scene.format !== 5) throw new Error(`a scene of format 5 is needed, got ${scene.format}: use the page of the same version`);
  const model = new Model(scene);
  const root = h("div", { class: "timme" });
  host.classList.add("timme-host");
  host.replaceChildren(root);

  const life = new AbortController();
  const theme = themed(root, life.signal);
  let known: Ink = inkOf(root);
  const ink = (): Ink => known;
  const live = h("p", { class: "live", "aria-live": "polite", role: "status" });
  const say = announcer(live, life.signal);

  const [molecule, problem] = withoutFail(() => (scene.space ? new Molecule(model, scene.space, ink) : null));
  const dilution = new Dilution(model, ink);
  const panel = new Panel(model);
  const film = molecule && scene.space ? new Film(model, scene.space, () => molecule.canKeep(), molecule.bodies) : null;
  const zoom = molecule ? (cluster: Cluster): void => zoomTo(model, molecule, cluster) : null;
  const table = new ClusterTable(model, zoom, say, ink);
  const curves = [new CurvePlot(model, ink, "large"), new CurvePlot(model, ink, "sizes")] as const;
  const pairs = scene.matrix ?? scene.apart;
  const matrices = [...(pairs ? [measured(model, pairs)] : []), joining(model)].map((heights) => new Matrix(model, heights, ink));
  const mobility = new Mobility(model, ink);
  const motion = scene.motion ? new MotionPanel(model, scene.motion, ink) : null;
  const windows = scene.windows ? new WindowPanel(model, scene.windows, ink) : null;
  const sequence = scene.axis?.letters ? new Sequence(model, scene.axis, scene.axis.letters, ink) : null;
  const heading = h("div", { class: "heading" }, h("h1", {}, scene.title), h("p", {}, subtitle(scene, model)));
  const figures = figuresOf({ heading, molecule, dilution, table, curves, matrices, mobility, motion, windows, sequence }, ink);

  const help = helpDialog();
  const menu = exportMenu(model, figures, root, say);
  const header = h(
    "header",
    {},
    heading,
    h(
      "div",
      { class: "actions" },
      menu,
      h("button", { type: "button", class: "theme", "aria-label": "Light or dark", title: "Light or dark", click: () => theme.toggle() }, "◐"),
      h("button", { type: "button", "aria-label": "Keys", title: "Keys (?)", click: () => help.showModal() }, "?"),
    ),
  );
  if (scene.confidence) header.append(banner(scene.confidence));
  root.append(header, ...sections(model, { molecule, problem, film, panel, dilution, table, curves, matrices, mobility, motion, windows, sequence }), live, help);
  root.classList.toggle("no-view", !scene.space);

  const views = [molecule, dilution, table, ...curves, ...matrices, mobility, motion, windows, sequence];
  const update = (change: Change | "theme"): void => {
    for (const view of views) view?.update(change as Change);
    panel.update();
    film?.update();
    if (change === "cut" || change === "look") say(facts(model), 400);
  };
  model.onChange(update);
  theme.onChange(() => {
    known = inkOf(root);
    update("theme");
  });
  known = inkOf(root);
  update("theme");
  molecule?.reset();

  listen(keys ?? root, {
    step: (levels) => model.step(levels),
    ends: (first) => model.setCutoff(first ? model.below : (model.hierarchy.levels.at(-1) ?? model.below)),
    frame: (by) => film?.step(by),
    play: () => film?.toggle(),
    cluster: (by) => nextCluster(model, by),
    zoom: () => {
      const cluster = model.cut.clusters[Math.max(0, model.selected)];
      if (cluster) zoom?.(cluster);
    },
    reset: () => molecule?.reset(),
    suggestion: () => model.nextSuggestion(),
    deselect: () => {
      if (menu.open) menu.open = false;
      else model.select(-1);
    },
    help: () => help.showModal(),
  }, life.signal);
  life.signal.addEventListener("abort", () => {
    film?.pause();
    dilution.dispose();
    molecule?.dispose();
    root.remove();
  });
  return { ...pageOf(model, molecule, figures, root, update), dispose: () => life.abort() };
}

// ---- parts of the page --------------------------------------------------------------------------

interface Parts {
  molecule: Molecule | null;
  problem: string;
  film: Film | null;
  panel: Panel;
  dilution: Dilution;
  table: ClusterTable;
  curves: readonly [CurvePlot, CurvePlot];
  matrices: Matrix[];
  mobility: Mobility;
  motion: MotionPanel | null;
  windows: WindowPanel | null;
  sequence: Sequence | null;
}

function sections(model: Model, parts: Parts): HTMLElement[] {
  const { molecule, film, panel, dilution, table, curves, matrices, mobility, motion, windows, sequence } = parts;
  const cards: Card[] = [{ name: "Curves", content: h("div", { class: "curves" }, ...curves.map((curve) => curve.element)) }];
  if (sequence) cards.push({ name: "Sequence", content: sequence.element, shown: () => sequence.update("cut") });
  for (const matrix of matrices) cards.push({ name: matrix.name, content: matrix.element, shown: () => matrix.update("cut") });
  cards.push({ name: "Mobility", content: mobility.element, shown: () => mobility.update("cut") });
  if (motion) cards.push({ name: "Motion", content: motion.element, shown: () => motion.show(true), hidden: () => motion.show(false) });
  if (windows) cards.push({ name: "Windows", content: windows.element, shown: () => windows.show(true), hidden: () => windows.show(false) });
  cards.push({ name: "Provenance", content: about(model.scene) });
  const made: HTMLElement[] = [];
  const { space } = model.scene;
  if (space) {
    const view = h("section", { class: "card view", "aria-label": "Structure" });
    if (molecule && film) view.append(viewBar(model, space, molecule), molecule.element, film.element);
    else view.append(h("p", { class: "problem" }, parts.problem));
    made.push(view);
  }
  made.push(
    h("section", { class: "card plots", "aria-label": "Dilution plot" }, panel.element, dilution.element),
    h("section", { class: "card list", "aria-label": "Clusters" }, table.element),
    h("section", { class: "card more", "aria-label": "Details" }, tabs(cards, "Details")),
  );
  return made;
}

function viewBar(model: Model, space: Space, molecule: Molecule): HTMLElement {
  const choices = (Object.entries(STYLES) as [Style, string][]).filter(([style]) => style !== "cartoon" || space.cartoon);
  const style = options(choices, model.style, (value) => model.setStyle(value));
  model.onChange((change) => {
    if (change === "look") style.value = model.style;
  });
  const known: [Colouring, string][] = [["clusters", "clusters"]];
  if (model.scene.motion?.bodies.length) known.push(["bodies", "rigid bodies"]);
  if (model.scene.windows) known.push(["windows", "a window"]);
  const colouring = options(known, model.colouring, (value) => model.setColouring(value));
  model.onChange((change) => {
    if (change === "look") colouring.value = model.colouring;
  });
  const dimensions = space.dimensions > 3 ? h("span", { class: "hint" }, `first 3 of ${space.dimensions} dimensions`) : "";
  return h(
    "div",
    { class: "bar" },
    h("span", { class: "field" }, labelled("show", style), known.length > 1 ? labelled("of", colouring) : ""),
    dimensions,
    h("button", { type: "button", title: "Reset the view (r)", click: () => molecule.reset() }, "Reset view"),
  );
}

function subtitle(scene: Scene, model: Model): string {
  const parts = [`${model.hierarchy.size.toLocaleString("en")} × ${scene.shownName}`];
  if (scene.space && scene.space.nSnapshots > 0) parts.push(`${scene.space.nSnapshots.toLocaleString("en")} snapshot${scene.space.nSnapshots === 1 ? "" : "s"}`);
  if (scene.length) {
    const name = scene.lengthName && scene.lengthName !== "a" ? ` (${scene.lengthName})` : "";
    parts.push(`a = ${withUnit(scene.length, scene)}${name}`);
  }
  return parts.join(" · ");
}

function helpDialog(): HTMLDialogElement {
  const list = h("dl", {});
  for (const [key, meaning] of KEYS) list.append(h("dt", {}, key), h("dd", {}, meaning));
  const dialog = h("dialog", { "aria-label": "Keys" });
  dialog.append(
    h("h2", {}, "Keys"),
    list,
    h("p", {}, "Drag the line of the dilution plot, hover a stripe to light up its atoms, click it to select. In the view: drag to turn, right-drag to move, wheel to zoom."),
    h("button", { type: "button", click: () => dialog.close() }, "Close"),
  );
  return dialog;
}

// ---- behaviour ----------------------------------------------------------------------------------

function themed(root: HTMLElement, until: AbortSignal): { toggle: () => void; onChange: (listener: () => void) => void } {
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  let listener = (): void => {};
  const set = (theme: Theme): void => {
    root.dataset.theme = theme;
    listener();
  };
  set(dark.matches ? "dark" : "light");
  dark.addEventListener("change", () => set(dark.matches ? "dark" : "light"), { signal: until });
  return {
    toggle: () => set(root.dataset.theme === "dark" ? "light" : "dark"),
    onChange: (given) => {
      listener = given;
    },
  };
}

/** Say things to those who listen, the last of many only. */
function announcer(live: HTMLElement, until: AbortSignal): (text: string, delay?: number) => void {
  let timer = 0;
  until.addEventListener("abort", () => window.clearTimeout(timer));
  return (text, delay = 0) => {
    window.clearTimeout(timer);
    timer = window.setTimeout(() => {
      live.textContent = text;
    }, delay);
  };
}

function withoutFail<Value>(make: () => Value): [Value | null, string] {
  try {
    return [make(), ""];
  } catch (error) {
    return [null, `The structure cannot be shown: ${messageOf(error)}`];
  }
}

function zoomTo(model: Model, molecule: Molecule, cluster: Cluster): void {
  const whole = model.hierarchy.wholeRun(cluster.lowest, model.cut.cutoff);
  molecule.lookAt(molecule.sitesOf(whole.start, whole.stop));
}

function nextCluster(model: Model, by: number): void {
  const { clusters } = model.cut;
  if (clusters.length === 0) return;
  const from = model.selected < 0 && by < 0 ? 0 : model.selected;
  model.select(at(clusters, (from + by + clusters.length) % clusters.length).lowest);
}

function pageOf(
  model: Model,
  molecule: Molecule | null,
  figures: files.Figure[],
  root: HTMLElement,
  update: (change: Change) => void,
): Omit<Page, "dispose"> {
  const { hierarchy } = model;
  return {
    state: () => ({
      cutoff: model.cut.cutoff,
      level: hierarchy.level(model.cut.cutoff),
      levels: hierarchy.levels.length,
      minSize: model.minSize,
      trustedOnly: model.trustedOnly,
      palette: model.palette,
      style: model.style,
      colouring: model.colouring,
      frame: model.frame,
      turn: model.turn,
      window: model.window,
      fixed: model.fixed,
      selected: model.selected,
      highlighted: model.highlight ? Array.from(hierarchy.members(model.highlight.run)) : null,
      clusters: model.cut.clusters.map((cluster) => ({
        number: cluster.rank + 1,
        trusted: model.sure.trusts(cluster),
        look: model.sure.lookOf(cluster),
        size: cluster.size,
        colour: model.colour(cluster.family),
        formed: cluster.formed,
        joined: cluster.joined,
        members: Array.from(hierarchy.members(cluster)),
      })),
    }),
    setCutoff: (cutoff) => model.setCutoff(cutoff),
    setMinSize: (size) => model.setMinSize(size),
    setTrustedOnly: (only) => model.setTrustedOnly(only),
    setPalette: (palette) => model.setPalette(palette),
    setStyle: (style) => model.setStyle(style),
    setFrame: (frame) => model.setFrame(frame),
    setColouring: (colouring) => model.setColouring(colouring),
    setTurn: (turn) => model.setTurn(turn),
    setWindow: (window) => model.setWindow(window),
    step: (levels) => model.step(levels),
    select: (shown) => {
      model.select(shown);
      update("select");
    },
    atomColours: () => molecule?.shownColours() ?? [],
    atomPosition: (site) => molecule?.onScreen(site) ?? null,
    atomSizes: () => molecule?.shownSizes() ?? [],
    sticks: () => molecule?.shownSticks() ?? [],
    pymol: () => {
      const cluster = model.cut.clusters[model.selected];
      return cluster ? pymolSelection(model, cluster) : "";
    },
    csv: () => files.csv(model),
    svg: (figure) => files.svg(chosenFigures(figures, figure), root, facts(model)),
    png: (figure) => files.png(chosenFigures(figures, figure), root),
  };
}
