// Start in a notebook cell (anywidget): the scene comes with the model, as JSON.

import { mount } from "./main";

interface Context {
  model: { get(name: "scene" | "height"): string };
  el: HTMLElement;
}

/** Build the page in a cell; the function returned is called when the cell is gone. */
function render({ model, el }: Context): () => void {
  el.style.setProperty("--height", model.get("height"));
  el.classList.add("timme-widget");
  const page = mount(el, JSON.parse(model.get("scene")) as Parameters<typeof mount>[1]);
  return () => page.dispose();
}

export default { render };
