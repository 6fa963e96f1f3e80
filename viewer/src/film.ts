// The frames, one after another: a slider, Play, and superposition on body 1.

import { at } from "./arrays";
import { h } from "./dom";
import type { Space } from "./scene";
import type { State } from "./state";

const PAUSE = 120; // milliseconds between frames

export class Film {
  readonly element: HTMLElement;
  private readonly slider: HTMLInputElement;
  private readonly label = h("span", { class: "count" });
  private readonly button: HTMLButtonElement;
  private readonly fit: HTMLInputElement;
  private timer = 0;

  constructor(
    private readonly state: State,
    private readonly space: Space,
  ) {
    const last = space.snapshots.length - 1;
    this.slider = h("input", { type: "range", min: 0, max: last, value: 0, "aria-label": "Snapshot", input: () => this.go(Number(this.slider.value)) });
    this.button = h("button", { type: "button", click: () => this.toggle() });
    this.fit = h("input", { type: "checkbox", change: () => state.setSuperposed(this.fit.checked) });
    const what = state.scene.groups?.what === "body" ? "Superpose on body 1" : "Superpose on the core";
    const title = "Removes overall tumbling, so that only relative motion is left.";
    const fitted = h("label", { title, hidden: !space.fits }, this.fit, what);
    this.element = h("div", { class: "film", role: "group", "aria-label": "Snapshots" }, this.button, this.slider, this.label, fitted);
    this.element.hidden = last < 1;
    this.pause();
    this.update();
  }

  update(): void {
    const name = `snapshot ${at(this.space.snapshots, this.state.frame)} of ${at(this.space.snapshots, this.space.snapshots.length - 1)}`;
    this.slider.value = String(this.state.frame);
    this.slider.setAttribute("aria-valuetext", name);
    this.label.textContent = name;
    this.fit.checked = this.state.superposed;
  }

  toggle(): void {
    if (this.element.hidden) return;
    if (this.timer) return this.pause();
    this.timer = window.setInterval(() => this.state.setFrame(this.state.frame + 1), PAUSE);
    this.name("❚❚ Pause");
  }

  pause(): void {
    window.clearInterval(this.timer);
    this.timer = 0;
    this.name("▶ Play");
  }

  private go(frame: number): void {
    this.pause();
    this.state.setFrame(frame);
  }

  private name(text: string): void {
    this.button.textContent = text;
    this.button.title = `${text.slice(2).trim()} (space)`;
  }
}
