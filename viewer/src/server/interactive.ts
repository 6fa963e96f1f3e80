// The interactive page within that of a result: its parts come from the server, its scene from the API.

import { h } from "../dom";
import type { Scene } from "../scene";
import { fetched } from "./api";

const [SCRIPT, STYLE] = ["/page/page.js", "/page/page.css"];

/** Show a scene; keys are heard while the focus is within. */
export async function showScene(place: HTMLElement, address: string): Promise<void> {
  const host = h("div", { tabindex: 0, role: "group", "aria-label": "Interactive result; press ? for its keys" });
  // The script is large, and fetched only once there is something to show: it is no part of this bundle.
  const [answer] = await Promise.all([fetched(address, "The scene cannot be read"), import(SCRIPT), styled(STYLE)]);
  const scene = (await answer.json()) as Scene;
  const { timme } = window;
  if (!timme) throw new Error("The interactive page cannot be read");
  place.replaceChildren(host);
  place.hidden = false; // before, for what is drawn asks for its size
  timme.page = timme.mount(host, scene, host);
  const keyboard = matchMedia("(hover: hover)").matches; // as far as one can tell
  if (keyboard && document.activeElement === document.body) host.focus({ preventScroll: true });
}

function styled(href: string): Promise<void> {
  return new Promise((done, fail) => {
    const error = (): void => fail(new Error("The style of the interactive page cannot be read"));
    document.head.append(h("link", { rel: "stylesheet", href, load: () => done(), error }));
  });
}
