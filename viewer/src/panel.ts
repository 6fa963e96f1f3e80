// The controls of the cutoff and of the colours.

import { at } from "./arrays";
import { h, labelled, options } from "./dom";
import type { AxisOrder, Model } from "./model";
import type { PaletteName } from "./scene";
import { tells } from "./sure";
import { number, symbol, withUnit } from "./text";

export class Panel {
  readonly element: HTMLElement;
  private readonly cutoff: HTMLInputElement;
  private readonly level: HTMLElement;
  private readonly suggested: HTMLSelectElement;
  private readonly minSize: HTMLInputElement;
  private readonly palette: HTMLSelectElement;
  private readonly trusted: HTMLInputElement;
  private readonly why: HTMLElement; // the cutoff in view is suggested

  constructor(private readonly model: Model) {
    const { scene } = model;
    this.cutoff = h("input", {
      type: "text",
      inputmode: "decimal",
      class: "cutoff",
      "aria-label": `Cutoff ${symbol(scene)}${scene.quantity.unit ? ` in ${scene.quantity.unit}` : ""}`,
      change: () => this.enter(),
    });
    this.level = h("span", { class: "level" });
    const suggestions = scene.suggestions.map(
      ({ cutoff, reason }, k) => [String(k), `${withUnit(cutoff, scene)}: ${reason}`] as [string, string],
    );
    this.suggested = options([["", "suggested cutoffs …"], ...suggestions], "", (value) => {
      if (value !== "") model.setCutoff(at(scene.suggestions, Number(value)).cutoff);
    });
    this.suggested.classList.add("suggested");
    this.suggested.setAttribute("aria-label", "Suggested cutoffs");
    const next = { type: "button", "aria-label": "Next suggested cutoff", title: "Next suggested cutoff (s)", click: () => model.nextSuggestion() };
    this.why = h("p", { class: "why" });
    this.trusted = h("input", { type: "checkbox", change: () => model.setTrustedOnly(this.trusted.checked) });
    this.minSize = h("input", {
      type: "number",
      min: 1,
      max: model.hierarchy.size,
      value: model.minSize,
      class: "small",
      change: () => model.setMinSize(Number(this.minSize.value)),
    });
    this.palette = options<PaletteName>(
      [
        ["wide", "many colours"],
        ["safe", "colour-blind safe"],
      ],
      model.palette,
      (value) => model.setPalette(value),
    );
    const steps = h(
      "span",
      { class: "steps" },
      h("button", { type: "button", "aria-label": "Previous level", title: "Previous level (↓)", click: () => model.step(-1) }, "▾"),
      h("button", { type: "button", "aria-label": "Next level", title: "Next level (↑)", click: () => model.step(1) }, "▴"),
    );
    const look = h(
      "div",
      { class: "row" },
      labelled("min. size", this.minSize, "Clusters of fewer are left grey"),
      labelled("colours", this.palette),
    );
    if (tells(scene.confidence)) {
      const hint = "Leave clusters grey that would not be found again, do not move by themselves, or are too small to be judged";
      look.append(h("label", { class: "check", title: hint }, this.trusted, "trusted only"));
    }
    if (scene.axis) {
      const order = options<AxisOrder>(
        [
          ["natural", "by sequence"],
          ["label", "by site label"],
        ],
        model.axis,
        (value) => model.setAxis(value),
      );
      const pairs = scene.matrix ?? scene.apart;
      const stays = pairs !== null && pairs.size < model.hierarchy.size;
      look.append(labelled("order", order, stays ? "Of the dilution plot; means in the matrix stay in their order" : "Of the dilution plot and of the matrix"));
    }
    this.element = h(
      "div",
      { class: "controls", role: "group", "aria-label": "Cutoff and colours" },
      h(
        "div",
        { class: "row" },
        h("span", { class: "field" }, h("span", { title: scene.quantity.words }, symbol(scene)), this.cutoff, scene.quantity.unit, steps),
        this.level,
        this.suggested,
        scene.suggestions.length > 1 ? h("button", next, "next") : "",
      ),
      this.why,
      look,
    );
    this.why.hidden = scene.suggestions.length === 0;
    this.update();
  }

  update(): void {
    const { cut, hierarchy, scene } = this.model;
    if (document.activeElement !== this.cutoff) this.cutoff.value = number(cut.cutoff, 5).replace("−", "-");
    this.level.textContent = `level ${hierarchy.level(cut.cutoff)} of ${hierarchy.levels.length}`;
    const same = scene.suggestions.findIndex((suggestion) => suggestion.cutoff === cut.cutoff);
    this.suggested.value = same < 0 ? "" : String(same);
    this.why.textContent = this.reason(same);
    this.trusted.checked = this.model.trustedOnly;
    this.palette.value = this.model.palette;
    this.minSize.value = String(this.model.minSize);
  }

  /** Why the cutoff in view is suggested; of another, where the suggested ones are. */
  private reason(place: number): string {
    const { suggestions, confidence } = this.model.scene;
    const known = suggestions[place];
    if (known) return `Suggested, ${place + 1} of ${suggestions.length}: ${known.reason}.`;
    const levels = tells(confidence) && !confidence.standsOut ? "no level stands out; " : "";
    return `Not one of the ${suggestions.length} suggested cutoffs: ${levels}s goes to the next.`;
  }

  private enter(): void {
    const value = Number(this.cutoff.value.replace(",", ".").replace("−", "-"));
    this.cutoff.blur();
    if (Number.isFinite(value) && this.cutoff.value.trim() !== "") this.model.setCutoff(value);
    this.update();
  }
}
