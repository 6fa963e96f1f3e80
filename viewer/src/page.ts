// For reports and servers: builds the page from the scene in the document, or from the address it names.

import { mount, type Page } from "./main";
import type { Scene } from "./scene";
import { messageOf } from "./text";

declare global {
  interface Window {
    timme?: { mount: typeof mount; page?: Page };
  }
}

async function sceneOf(host: HTMLElement): Promise<Scene> {
  const inside = document.getElementById("timme-scene");
  if (inside) return JSON.parse(inside.textContent ?? "") as Scene;
  const address = host.dataset.scene ?? "scene.json";
  const answer = await fetch(address);
  if (!answer.ok) throw new Error(`${address}: ${answer.status} ${answer.statusText}`);
  return (await answer.json()) as Scene;
}

async function start(host: HTMLElement): Promise<void> {
  try {
    timme.page = mount(host, await sceneOf(host), document);
  } catch (error) {
    host.textContent = `The result cannot be shown: ${messageOf(error)}`;
    throw error;
  }
}

const timme: NonNullable<Window["timme"]> = { mount };
window.timme = timme;
const host = document.getElementById("timme");
if (host) void start(host);
