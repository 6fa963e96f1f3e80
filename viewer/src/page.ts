// Start from a document: the scene stands in it, packed as gzip and base64.

import { mount, type Page } from "./main";
import { messageOf } from "./text";

declare global {
  interface Window {
    timme?: { mount: typeof mount; page?: Page };
  }
}

async function unpack(packed: string): Promise<unknown> {
  const bytes = Uint8Array.from(atob(packed.trim()), (letter) => letter.charCodeAt(0));
  const plain = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(plain).json();
}

async function start(host: HTMLElement): Promise<void> {
  try {
    const packed = document.getElementById("timme-scene")?.textContent ?? "";
    timme.page = mount(host, (await unpack(packed)) as Parameters<typeof mount>[1], document);
  } catch (error) {
    host.textContent = `The result cannot be shown: ${messageOf(error)}`;
    throw error;
  }
}

const timme: NonNullable<Window["timme"]> = { mount };
window.timme = timme;
const host = document.getElementById("timme");
if (host) void start(host);
