// For notebooks (anywidget): the scene comes with the model.

import { mount } from "./main";
import type { Scene } from "./scene";

interface Context {
  model: { get(name: "scene" | "height"): string };
  el: HTMLElement;
}

function render({ model, el }: Context): void {
  el.style.setProperty("--height", model.get("height"));
  el.classList.add("timme-widget");
  mount(el, JSON.parse(model.get("scene")) as Scene);
}

export default { render };
