// Cards of which one is in view.

import { at } from "./arrays";
import { h } from "./dom";

let count = 0; // of all tabs, for their names

export interface Card {
  name: string;
  content: HTMLElement;
  shown?: () => void; // called when it comes into view
  hidden?: () => void; // and when it goes out of it
}

export function tabs(cards: Card[], label: string): HTMLElement {
  const id = `timme-tabs-${++count}`;
  const list = h("div", { role: "tablist", "aria-label": label });
  const choose = (which: number): void => {
    made.forEach(({ button, panel, hidden }, k) => {
      if (k !== which && !panel.hidden) hidden?.();
      button.setAttribute("aria-selected", String(k === which));
      button.tabIndex = k === which ? 0 : -1;
      panel.hidden = k !== which;
    });
    at(made, which).shown?.();
  };
  const made = cards.map(({ name, content, shown, hidden }, k) => {
    const [tab, controls] = [`${id}-tab-${k}`, `${id}-panel-${k}`];
    const click = (): void => choose(k);
    const button = h("button", { type: "button", role: "tab", id: tab, "aria-controls": controls, click }, name);
    const panel = h("div", { role: "tabpanel", id: controls, "aria-labelledby": tab }, content);
    panel.hidden = true;
    return { button, panel, shown, hidden };
  });
  list.addEventListener("keydown", (event) => {
    const now = made.findIndex(({ button }) => button === document.activeElement);
    const ends: Record<string, number> = { Home: 0, End: made.length - 1, ArrowRight: now + 1, ArrowLeft: now - 1 };
    const target = ends[event.key];
    if (now < 0 || target === undefined) return;
    event.preventDefault();
    const next = (target + made.length) % made.length;
    choose(next);
    at(made, next).button.focus();
  });
  list.append(...made.map(({ button }) => button));
  choose(0);
  return h("div", { class: "tabs" }, list, ...made.map(({ panel }) => panel));
}
