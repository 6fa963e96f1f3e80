// How the result was made: version, command, inputs with their SHA-256, options, notes.

import { h } from "./dom";
import type { Scene } from "./scene";

export function about(scene: Scene): HTMLElement {
  const { version, command, inputs, options, notes } = scene.about;
  const rows: [string, string][] = [["TIMME", version]];
  if (command) rows.push(["command", command]);
  for (const { name, sha256 } of inputs) rows.push(["input", sha256 ? `${name}\nSHA-256 ${sha256}` : String(name)]);
  const list = h("dl", {});
  for (const [name, value] of rows) list.append(h("dt", {}, name), h("dd", {}, value));
  const settings = h("dl", { class: "options" });
  for (const [name, value] of Object.entries(options)) settings.append(h("dt", {}, name.replaceAll("_", " ")), h("dd", {}, value));
  const remarks = notes.length ? h("ul", {}, ...notes.map((note) => h("li", {}, note))) : h("p", {}, "none");
  return h(
    "div",
    { class: "about scroller", tabindex: 0, "aria-label": "How this was made" },
    list,
    h("h3", {}, "What was chosen or left out"),
    remarks,
    h("h3", {}, "Options"),
    settings,
  );
}
