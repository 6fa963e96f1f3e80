// The interactive page within this one: its parts come from the server, its scene from the API.

import { element } from "./shared.js";

/** Show a scene; keys are heard while the focus is within. */
export async function showScene(place, address) {
  const host = element("div", { tabIndex: 0 });
  host.setAttribute("role", "group");
  host.setAttribute("aria-label", "Interactive result; press ? for its keys");
  const [scene] = await Promise.all([fetched(address), import("/page/page.js"), styled("/page/page.css")]);
  place.replaceChildren(host);
  place.hidden = false; // before, for what is drawn asks for its size
  window.timme.page = window.timme.mount(host, scene, host);
  const keyboard = matchMedia("(hover: hover)").matches; // as far as one can tell
  if (keyboard && document.activeElement === document.body) host.focus({ preventScroll: true });
}

async function fetched(address) {
  const answer = await fetch(address, { credentials: "same-origin" });
  if (!answer.ok) throw new Error(`The scene cannot be read: the server answered ${answer.status}`);
  return answer.json();
}

function styled(href) {
  return new Promise((done, fail) => {
    const link = element("link", { rel: "stylesheet", href });
    link.addEventListener("load", done);
    link.addEventListener("error", () => fail(new Error("The style of the interactive page cannot be read")));
    document.head.append(link);
  });
}
