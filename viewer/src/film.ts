// The snapshots of the ensemble, one after another: step, play, keep a cluster in place; and the way of rigid bodies.

import { h } from "./dom";
import type { Model } from "./model";
import type { Space } from "./scene";
import { angleText, type Bodies } from "./screw";

const PAUSE = 120; // milliseconds between frames

export class Film {
  readonly element: HTMLElement;
  private readonly slider: HTMLInputElement;
  private readonly label: HTMLElement;
  private readonly button: HTMLButtonElement;
  private readonly fix: HTMLInputElement;
  private readonly what = new Text(); // is kept in place
  private readonly keep: HTMLElement;
  private readonly way: { element: HTMLElement; slider: HTMLInputElement; label: HTMLElement } | null; // of bodies
  private timer = 0;

  /** `canKeep` tells whether the cluster that is to be kept in place is whole in every snapshot. */
  constructor(
    private readonly model: Model,
    private readonly space: Space,
    private readonly canKeep: () => boolean,
    private readonly bodies: Bodies | null,
  ) {
    const count = space.snapshots.length;
    this.slider = h("input", {
      type: "range",
      min: 0,
      max: count - 1,
      step: 1,
      value: 0,
      "aria-label": "Snapshot",
      input: () => model.setFrame(Number(this.slider.value)),
    });
    this.label = h("span", { class: "count" });
    this.button = h("button", { type: "button", class: "play", click: () => this.toggle() });
    this.fix = h("input", { type: "checkbox", change: () => model.setFixed(this.fix.checked) });
    this.keep = h("label", { class: "check" }, this.fix, this.what);
    const snapshots = h(
      "div",
      { class: "film", role: "group", "aria-label": "Snapshots" },
      h("button", { type: "button", "aria-label": "Previous snapshot", title: "Previous snapshot (←)", click: () => this.step(-1) }, "‹"),
      this.button,
      h("button", { type: "button", "aria-label": "Next snapshot", title: "Next snapshot (→)", click: () => this.step(1) }, "›"),
      this.slider,
      this.label,
      this.keep,
    );
    snapshots.hidden = count < 2;
    this.way = bodies?.turning.length ? this.makeWay(bodies) : null;
    this.element = h("div", {}, snapshots, this.way?.element ?? "");
    this.pause();
    this.update();
  }

  update(): void {
    const { model } = this;
    const { snapshots, nSnapshots } = this.space;
    this.slider.value = String(model.frame);
    this.label.textContent = `${snapshots[model.frame]} of ${Math.max(nSnapshots, 1)}`;
    this.slider.setAttribute("aria-valuetext", `snapshot ${this.label.textContent}`);
    const possible = this.canKeep();
    this.fix.disabled = !possible;
    this.fix.checked = model.fixed && possible;
    const kept = model.cut.clusters[Math.max(0, model.selected)]?.rank ?? 0;
    const name = kept > 0 ? `cluster ${kept + 1}` : "core";
    this.what.data = `keep ${name} in place`;
    this.showWay();
    this.keep.hidden = model.colouring === "bodies"; // of which one is kept in any case
    this.keep.title = possible
      ? "Superpose every snapshot on the selected cluster, or else on the core"
      : `Not for the ${name}, which the walls of the periodic box break in some snapshots`;
  }

  private makeWay({ begin }: Bodies): NonNullable<Film["way"]> {
    const slider = h("input", {
      type: "range",
      min: 0,
      max: 1,
      step: 0.01,
      value: begin,
      "aria-label": "Way of the bodies",
      input: () => {
        this.pause();
        this.model.setTurn(Number(slider.value));
      },
    });
    const label = h("span", { class: "count" });
    const element = h("div", { class: "film way", role: "group", "aria-label": "Rigid bodies" }, h("span", { class: "hint" }, "along the axes"), slider, label);
    return { element, slider, label };
  }

  /** How far bodies are along their ways, in view while the structure has their colours. */
  private showWay(): void {
    const { way, bodies, model } = this;
    if (!way || !bodies) return;
    way.element.hidden = model.colouring !== "bodies";
    const part = model.turn ?? bodies.begin;
    way.slider.value = String(part);
    const angles = bodies.turning.map(({ turns: [low, high] }) => `${(part * (high - low)).toFixed(0)}°`);
    way.label.textContent = model.turn === null ? bodies.turning.map(({ hinge }) => angleText(hinge)).join(", ") : angles.join(", ");
    way.slider.setAttribute("aria-valuetext", angles.join(", "));
  }

  /** Go on or back by so many snapshots, and stop there. */
  step(by: number): void {
    this.pause();
    this.model.setFrame(this.model.frame + by);
  }

  toggle(): void {
    if (this.timer) this.pause();
    else {
      this.timer = window.setInterval(() => this.model.setFrame(this.model.frame + 1), PAUSE);
      this.show("❚❚", "Pause");
    }
  }

  pause(): void {
    window.clearInterval(this.timer);
    this.timer = 0;
    this.show("▶", "Play");
  }

  private show(sign: string, name: string): void {
    this.button.textContent = sign;
    this.button.setAttribute("aria-label", name);
    this.button.title = `${name} (space)`;
  }
}
