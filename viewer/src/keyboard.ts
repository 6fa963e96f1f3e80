// The page by keyboard.

import { h } from "./dom";
import type { Film } from "./film";
import type { State } from "./state";
import type { View } from "./view";

const KEYS: [string, string][] = [
  ["↑ ↓", "next or previous level of σc"],
  ["Page ↑ ↓", "ten levels"],
  ["space", "play or pause"],
  ["Esc", "deselect"],
  ["r", "reset the view"],
  ["?", "this list"],
];

/** The list of keys, as a dialog. */
export function keyHelp(): HTMLDialogElement {
  const rows = KEYS.flatMap(([key, meaning]) => [h("dt", {}, h("kbd", {}, key)), h("dd", {}, meaning)]);
  return h("dialog", { "aria-label": "Keys" }, h("form", { method: "dialog" }, h("dl", { class: "facts" }, ...rows), h("button", {}, "Close")));
}

/** Act on keys until a signal. */
export function listen(
  where: HTMLElement | Document,
  { state, view, film, help }: { state: State; view: View | null; film: Film | null; help: HTMLDialogElement },
  signal: AbortSignal,
): void {
  const acts: Record<string, () => void> = {
    ArrowUp: () => state.step(1),
    ArrowDown: () => state.step(-1),
    PageUp: () => state.step(10),
    PageDown: () => state.step(-10),
    " ": () => film?.toggle(),
    Escape: () => state.select(-1),
    r: () => view?.reset(),
    "?": () => help.showModal(),
  };
  const hear = (event: Event): void => {
    const { key, ctrlKey, metaKey, altKey } = event as KeyboardEvent;
    const act = acts[key];
    if (!act || ctrlKey || metaKey || altKey || taken(event.target as HTMLElement, key)) return;
    event.preventDefault();
    act();
  };
  where.addEventListener("keydown", hear, { signal });
}

/** Fields, buttons and lists keep the keys that they need. */
function taken(target: HTMLElement, key: string): boolean {
  if (target.closest("dialog")) return true;
  if (target.closest("select, textarea, input:not([type=checkbox])")) return key !== "Escape";
  if (target.closest("button, input, summary")) return key === " ";
  return target.classList.contains("scroller") && /^(Arrow|Page)/.test(key);
}
