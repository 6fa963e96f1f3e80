// A comparison: the finding, both dilution plots in matched colours, and the agreement of all cutoffs.

import { at, extent } from "./arrays";
import { Chart, type Spec } from "./chart";
import { Colouring } from "./colours";
import { Dilution } from "./dilution";
import { h } from "./dom";
import { factsCard, heading } from "./finding";
import { pageRoot } from "./main";
import { colourImage } from "./matrix";
import { type Comparison, singles } from "./scene";
import { State } from "./state";
import { cutoffText } from "./text";

export function mountComparison(host: HTMLElement, comparison: Comparison): { dispose(): void } {
  const life = new AbortController();
  const root = pageRoot(host, life.signal, () => {});
  const [first, second] = comparison.pair.map((scene) => new State({ ...scene, groups: null })) as [State, State];
  const plots = [new Dilution(first, new Colouring(first)), new Dilution(second, new Colouring(second))] as const;
  const states = [first, second] as const;
  const read = h("p", { class: "read", "aria-live": "polite" });
  const chart = agreementChart(comparison, states, read);
  states.forEach((state, k) => {
    state.onChange((change) => at(plots, k).update(change));
  });
  const card = (title: string, content: HTMLElement): HTMLElement => h("section", { class: "card" }, h("h2", {}, title), content);
  const agreement = h("div", { class: "matrix" }, read, chart.element);
  root.append(
    heading(comparison.finding, h("span")),
    h("div", { class: "first even" }, ...plots.map((plot, k) => card(at(states, k).scene.title, plot.element))),
    h("div", { class: "answer" }, card("Agreement at all pairs of cutoffs", agreement), factsCard(comparison.finding)),
  );
  return {
    dispose: () => {
      life.abort();
      for (const part of [...plots, chart]) part.dispose();
      host.replaceChildren();
    },
  };
}

/** The adjusted Rand index as an image over both cutoffs; a click cuts both results there. */
function agreementChart({ agreement }: Comparison, states: readonly [State, State], read: HTMLElement): Chart {
  const cutoffs = agreement.cutoffs.map(singles) as [Float32Array, Float32Array];
  const [down, across] = [cutoffs[0].length, cutoffs[1].length];
  const rand = singles(agreement.rand);
  const { heights } = states[0].scene.colours;
  const colour = (value: number): string => at(heights, Math.floor(Math.min(0.999, Math.max(0, value)) * heights.length));
  const cells = Array.from({ length: down * across }, (_, k) => colour(at(rand, (down - 1 - Math.floor(k / across)) * across + (k % across))));
  const axis = (state: State, of: Float32Array): Spec["x"] => ({ label: `${state.scene.quantity.cutoff} of ${state.scene.title}`, range: extent(of) });
  const chart = new Chart({
    name: "Adjusted Rand index of both results at all pairs of cutoffs",
    x: axis(states[1], cutoffs[1]),
    y: axis(states[0], cutoffs[0]),
    lines: [],
    raster: colourImage(cells, across, down),
  });
  const nearest = (of: Float32Array, value: number): number => of.reduce((best, x, k) => (Math.abs(x - value) < Math.abs(at(of, best) - value) ? k : best), 0);
  const tell = (): void => {
    const [one, other] = [nearest(cutoffs[0], states[0].cutoff), nearest(cutoffs[1], states[1].cutoff)];
    const value = at(rand, one * across + other);
    read.textContent = `Agreement at ${cutoffText(states[0].cutoff, states[0].scene)} and ${cutoffText(states[1].cutoff, states[1].scene)}: ${value.toFixed(2)} of 1`;
  };
  for (const state of states) state.onChange((change) => change === "cutoff" && tell());
  chart.element.addEventListener("pointerdown", (event) => {
    const { x, y, inside } = chart.under(event);
    if (!inside) return;
    states[0].setCutoff(y);
    states[1].setCutoff(x);
  });
  tell();
  return chart;
}
