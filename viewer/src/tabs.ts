// Cards of which one is in view.

import { h } from "./dom";

let made = 0;

export interface Card {
  name: string;
  content: HTMLElement;
  shown?: () => void; // called when it comes into view
}

export function tabs(cards: Card[], label: string): HTMLElement {
  const id = `timme-tabs-${++made}`;
  const list = h("div", { role: "tablist", "aria-label": label });
  const panels: HTMLElement[] = [];
  const buttons: HTMLButtonElement[] = [];
  const choose = (which: number): void => {
    buttons.forEach((button, k) => {
      button.setAttribute("aria-selected", String(k === which));
      button.tabIndex = k === which ? 0 : -1;
      panels[k]!.hidden = k !== which;
    });
    cards[which]!.shown?.();
  };
  cards.forEach(({ name, content }, k) => {
    const button = h(
      "button",
      { type: "button", role: "tab", id: `${id}-tab-${k}`, "aria-controls": `${id}-panel-${k}`, click: () => choose(k) },
      name,
    );
    buttons.push(button);
    panels.push(h("div", { role: "tabpanel", id: `${id}-panel-${k}`, "aria-labelledby": `${id}-tab-${k}` }, content));
  });
  list.addEventListener("keydown", (event) => {
    const now = buttons.indexOf(document.activeElement as HTMLButtonElement);
    const ends: Record<string, number> = { Home: 0, End: buttons.length - 1, ArrowRight: now + 1, ArrowLeft: now - 1 };
    const target = ends[event.key];
    if (now < 0 || target === undefined) return;
    event.preventDefault();
    const next = (target + buttons.length) % buttons.length;
    choose(next);
    buttons[next]!.focus();
  });
  list.append(...buttons);
  choose(0);
  return h("div", { class: "tabs" }, list, ...panels);
}
