// The page by keyboard.

export interface Actions {
  step(levels: number): void;
  ends(first: boolean): void;
  frame(by: number): void;
  play(): void;
  cluster(by: number): void;
  zoom(): void;
  reset(): void;
  suggestion(): void;
  deselect(): void;
  help(): void;
}

export const KEYS: [string, string][] = [
  ["↑ ↓", "next or previous level"],
  ["Page ↑ ↓", "ten levels"],
  ["Home, End", "below the first level, at the last"],
  ["s", "next suggested cutoff"],
  ["← →", "previous or next snapshot"],
  ["space", "play the snapshots"],
  ["[ ]", "previous or next cluster"],
  ["z", "zoom to the selected cluster"],
  ["r", "reset the view"],
  ["Esc", "close the menu, or else deselect"],
  ["?", "this list"],
];

/** Hear keys until a signal. */
export function listen(where: HTMLElement | Document, actions: Actions, until: AbortSignal): void {
  const hear = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey || taken(event)) return;
    const action = actionFor(event.key, actions);
    if (!action) return;
    event.preventDefault();
    action();
  };
  (where as HTMLElement).addEventListener("keydown", hear, { signal: until });
}

/** Fields, lists and buttons keep the keys that they need themselves. */
function taken(event: KeyboardEvent): boolean {
  const target = event.target as HTMLElement;
  if (target.closest("dialog")) return true;
  if (target instanceof HTMLInputElement) return !(target.type === "checkbox" && event.key !== " ");
  if (target instanceof HTMLSelectElement || target instanceof HTMLTextAreaElement) return true;
  if (target.getAttribute("role") === "tab") return event.key.startsWith("Arrow") || ["Home", "End", " "].includes(event.key);
  if (target.closest("button, summary, [role=menu]")) return event.key === " ";
  if (target.classList.contains("scroller")) return /^(Arrow|Page|Home|End)/.test(event.key);
  return false;
}

function actionFor(key: string, actions: Actions): (() => void) | null {
  switch (key) {
    case "ArrowUp":
      return () => actions.step(1);
    case "ArrowDown":
      return () => actions.step(-1);
    case "PageUp":
      return () => actions.step(10);
    case "PageDown":
      return () => actions.step(-10);
    case "Home":
      return () => actions.ends(true);
    case "End":
      return () => actions.ends(false);
    case "ArrowRight":
      return () => actions.frame(1);
    case "ArrowLeft":
      return () => actions.frame(-1);
    case " ":
      return () => actions.play();
    case "]":
      return () => actions.cluster(1);
    case "[":
      return () => actions.cluster(-1);
    case "s":
      return () => actions.suggestion();
    case "z":
      return () => actions.zoom();
    case "r":
      return () => actions.reset();
    case "Escape":
      return () => actions.deselect();
    case "?":
      return () => actions.help();
    default:
      return null;
  }
}
