// The snapshots of the ensemble, one after another: step, play, keep a cluster in place.

import { h } from "./dom";
import type { Model } from "./model";
import type { Space } from "./scene";

const PAUSE = 120; // milliseconds between frames

export class Film {
  readonly element: HTMLElement;
  private readonly slider: HTMLInputElement;
  private readonly label: HTMLElement;
  private readonly button: HTMLButtonElement;
  private readonly fix: HTMLInputElement;
  private readonly what = new Text(); // is kept in place
  private readonly keep: HTMLElement;
  private timer = 0;

  /** `canKeep` tells whether the cluster that is to be kept in place is whole in every snapshot. */
  constructor(
    private readonly model: Model,
    private readonly space: Space,
    private readonly canKeep: () => boolean,
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
    this.element = h(
      "div",
      { class: "film", role: "group", "aria-label": "Snapshots" },
      h("button", { type: "button", "aria-label": "Previous snapshot", title: "Previous snapshot (←)", click: () => this.step(-1) }, "‹"),
      this.button,
      h("button", { type: "button", "aria-label": "Next snapshot", title: "Next snapshot (→)", click: () => this.step(1) }, "›"),
      this.slider,
      this.label,
      this.keep,
    );
    this.element.hidden = count < 2;
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
    this.keep.title = possible
      ? "Superpose every snapshot on the selected cluster, or else on the core"
      : `Not for the ${name}, which the walls of the periodic box break in some snapshots`;
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
