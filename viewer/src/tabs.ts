// Tabs: one panel in view at a time, chosen by pointer or arrow keys.

import { at } from "./arrays";
import { h } from "./dom";

export interface Tab {
  id: string;
  title: string;
  panel: HTMLElement;
}

let made = 0; // so that several pages in one notebook have ids of their own

export function tabs(entries: Tab[]): HTMLElement {
  const prefix = `timme-${++made}`;
  const buttons = entries.map(({ id, title }, k) =>
    h("button", { type: "button", role: "tab", id: `${prefix}-tab-${id}`, "aria-controls": `${prefix}-${id}`, click: () => show(k) }, title),
  );
  const panels = entries.map(({ id, panel }) =>
    h("div", { role: "tabpanel", id: `${prefix}-${id}`, "aria-labelledby": `${prefix}-tab-${id}` }, panel),
  );
  const show = (chosen: number): void => {
    buttons.forEach((button, k) => {
      button.setAttribute("aria-selected", String(k === chosen));
      button.tabIndex = k === chosen ? 0 : -1;
      at(panels, k).hidden = k !== chosen;
    });
  };
  const turn = (event: KeyboardEvent): void => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!by) return;
    event.preventDefault();
    const next = (buttons.indexOf(event.target as HTMLButtonElement) + by + buttons.length) % buttons.length;
    show(next);
    at(buttons, next).focus();
  };
  show(0);
  return h("section", { class: "card tabs" }, h("div", { role: "tablist", "aria-label": "Details", keydown: turn }, ...buttons), ...panels);
}
