// For notebooks (anywidget): the scene comes with the model.

import { mount } from "./main";
import type { Scene } from "./scene";

interface Context {
  model: { get(name: "scene" | "height"): string };
  el: HTMLElement;
}

/** Build the page in a cell; what is returned is called when the cell is gone. */
function render({ model, el }: Context): () => void {
  el.style.setProperty("--height", model.get("height"));
  el.classList.add("timme-widget");
  const page = mount(el, JSON.parse(model.get("scene")) as Scene);
  return () => page.dispose();
}

export default { render };
