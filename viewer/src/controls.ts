// Controls of the first picture: Colour by, Cutoff σc, Scales, style.

import { mobilityRange } from "./colours";
import { MOBILITY } from "./curves";
import { h, rampOf } from "./dom";
import type { Colouring, State, Style } from "./state";
import { number, relativeText, withUnit } from "./text";

const COLOURINGS = "Bodies come from the motion as a whole, clusters from pair fluctuations at one cutoff.";
const CUTOFF = "Pairs whose distance varies by less than σc move together. Drag, or use ↑ ↓.";
const PALETTE = "Safe: told apart with any form of colour blindness. Wide: more colours.";
const SCALES = "Cutoffs at which the clusters stay the same over a wide range.";

function select<Value extends string>(
  label: string,
  title: string,
  entries: readonly (readonly [Value, string])[],
  choose: (value: Value) => void,
): { element: HTMLElement; input: HTMLSelectElement } {
  const options = entries.map(([value, text]) => h("option", { value }, text));
  const input = h("select", { change: () => choose(input.value as Value) }, ...options);
  return { element: h("label", { title }, label, input), input };
}

/** How the structure is drawn and coloured. */
export class Controls {
  readonly colours: HTMLElement;
  private readonly colouring: HTMLSelectElement;
  private readonly ramp: HTMLElement; // what colours of mobility mean

  constructor(private readonly state: State) {
    const { scene } = state;
    const cluster = `clusters of ${scene.other?.side ?? "the finding"}`;
    const what = { body: "rigid bodies", group: "groups", network: "network", cluster };
    const colourings: [Colouring, string][] = scene.groups ? [["groups", what[scene.groups.what]]] : [];
    colourings.push(["clusters", `clusters at ${scene.quantity.cutoff}`], ["mobility", "mobility"]);
    const colouring = select("Colour by", `${COLOURINGS} Mobility: ${MOBILITY}`, colourings, (value) => state.setColouring(value));
    const styles: [Style, string][] = [["sticks", scene.space?.molecular ? "sticks" : "points"], ["spheres", "spheres"]];
    if (scene.space?.cif) styles.unshift(["cartoon", "cartoon"]);
    const style = select("Draw", "How sites are drawn", styles, (value) => state.setStyle(value));
    const palettes = scene.colours.palettes.map(({ name }, k): [string, string] => [String(k), name]);
    const palette = select("Palette", PALETTE, palettes, (value) => state.setPalette(Number(value)));
    this.colouring = colouring.input;
    this.ramp = rampOf(scene.colours.heights, ...mobilityRange(scene).map((value) => withUnit(value, scene.quantity)));
    style.element.hidden = !scene.space;
    this.colours = h("div", { class: "tools" }, colouring.element, style.element, palette.element, this.ramp);
    this.update();
  }

  update(): void {
    this.colouring.value = this.state.colouring;
    this.ramp.hidden = this.state.colouring !== "mobility";
  }
}

/** The cutoff of a dilution plot. */
export class Cutoffs {
  readonly element: HTMLElement;
  private readonly scale: HTMLSelectElement;
  private readonly field: HTMLInputElement;
  private readonly relative = h("span", { class: "count" });

  constructor(private readonly state: State) {
    const { scene } = state;
    this.field = h("input", { type: "number", step: "any", change: () => state.setCutoff(this.field.valueAsNumber) });
    const named = scene.scales.map(({ label, cutoff }): [string, string] => [String(cutoff), `${label} (${number(cutoff)})`]);
    const scale = select("Scales", SCALES, [["", "choose …"], ...named], (value) => value && state.setCutoff(Number(value)));
    this.scale = scale.input;
    scale.element.hidden = scene.scales.length === 0;
    const cutoff = h("label", { title: CUTOFF }, `Cutoff ${scene.quantity.cutoff}`, this.field);
    this.element = h("div", { class: "tools" }, cutoff, this.relative, scale.element);
    this.update();
  }

  update(): void {
    const { cutoff, scene } = this.state;
    this.field.value = number(cutoff, 4);
    this.relative.textContent = [scene.quantity.unit, relativeText(cutoff, scene)].filter(Boolean).join(" ");
    this.scale.value = scene.scales.some((scale) => scale.cutoff === cutoff) ? String(cutoff) : "";
  }
}
