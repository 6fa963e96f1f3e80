// The page by keyboard.

import { h } from "./dom";

export interface Actions {
  step(levels: number): void;
  play(): void;
  deselect(): void;
  reset(): void;
}

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
export function listen(where: HTMLElement | Document, help: HTMLDialogElement, actions: Actions, signal: AbortSignal): void {
  const acts: Record<string, () => void> = {
    ArrowUp: () => actions.step(1),
    ArrowDown: () => actions.step(-1),
    PageUp: () => actions.step(10),
    PageDown: () => actions.step(-10),
    " ": () => actions.play(),
    Escape: () => actions.deselect(),
    r: () => actions.reset(),
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
