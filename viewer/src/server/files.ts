// The files of a new analysis: what may be given, in which order, and the list of those that are chosen.

import { byId, h } from "../dom";
import { showProblem } from "./jobs";
import type { Defaults } from "./wire";
import { sizeInWords } from "./words";

type Kinds = Pick<Defaults, "topologies" | "trajectories" | "bare_trajectories">;
type Named = Pick<File, "name" | "size">;

/** The extension of a name, without that of a compression. */
export function kindOf(name: string): string {
  const plain = name.toLowerCase().replace(/\.gz$/, "");
  return plain.includes(".") ? plain.slice(plain.lastIndexOf(".")) : "";
}

/** Files with what can only come first in front, then what can follow, and last what names nothing. */
export function ordered<Given extends Named>(files: Given[], kinds: Kinds): Given[] {
  const rank = ({ name }: Given): number => {
    const kind = kindOf(name);
    if (kinds.bare_trajectories.includes(kind)) return 2;
    return kinds.trajectories.includes(kind) ? 1 : 0;
  };
  const byName = (a: Given, b: Given): number => a.name.localeCompare(b.name, undefined, { numeric: true });
  return [...files].sort((a, b) => rank(a) - rank(b) || byName(a, b));
}

/** What is wrong with files in this order, or nothing. */
export function complaint(files: Named[], kinds: Kinds, most: number): string {
  for (const [place, { name }] of files.entries()) {
    const known = place === 0 ? kinds.topologies : kinds.trajectories;
    if (!known.includes(kindOf(name))) return `${name}: files of this kind are not taken ${place ? "after the first" : "here"}`;
  }
  const size = files.reduce((sum, file) => sum + file.size, 0);
  if (size <= most) return "";
  return (
    `The files have ${sizeInWords(size)}, but a job may have ${sizeInWords(most)}: ` +
    "give fewer frames, or start the server with a larger --max-upload"
  );
}

export class ChosenFiles {
  files: File[] = []; // the topology or ensemble first

  constructor(private readonly defaults: Defaults) {
    this.listen();
  }

  private add(given: Iterable<File>): void {
    const key = ({ name, size, lastModified }: File): string => `${name}/${size}/${lastModified}`;
    const known = new Set(this.files.map(key));
    const fresh = [...given].filter((file) => !known.has(key(file)));
    this.set(ordered([...this.files, ...fresh], this.defaults));
  }

  private set(files: File[]): void {
    this.files = files;
    const list = byId("chosen");
    list.hidden = files.length === 0;
    list.replaceChildren(...files.map((file, place) => this.row(file, place)));
    const wrong = complaint(files, this.defaults, this.defaults.limits.upload);
    showProblem(wrong);
    byId("go", HTMLButtonElement).disabled = files.length === 0 || wrong !== "";
  }

  private row(file: File, place: number): HTMLElement {
    const others = (): File[] => this.files.filter((other) => other !== file);
    const button = (text: string, name: string, click: () => void): HTMLElement =>
      h("button", { type: "button", class: "plain", "aria-label": name, click }, text);
    const role = place > 0 ? "then" : this.files.length > 1 ? "first" : "file";
    return h(
      "li",
      {},
      h("span", { class: "role" }, role),
      h("span", { class: "file" }, file.name),
      h("span", { class: "quiet" }, sizeInWords(file.size)),
      place > 0 ? button("Put first", `Put ${file.name} first`, () => this.set([file, ...others()])) : "",
      button("Remove", `Remove ${file.name}`, () => this.set(others())),
    );
  }

  private listen(): void {
    const [drop, field] = [byId("drop"), byId("files", HTMLInputElement)];
    field.addEventListener("change", () => {
      this.add(field.files ?? []);
      field.value = "";
    });
    // Wherever it is dropped: else the browser would leave the page and open the file.
    addEventListener("dragover", (event) => {
      event.preventDefault();
      drop.classList.add("over");
    });
    addEventListener("dragleave", (event) => {
      if (!event.relatedTarget) drop.classList.remove("over");
    });
    addEventListener("drop", (event) => {
      event.preventDefault();
      drop.classList.remove("over");
      if (event.dataTransfer?.files.length) this.add(event.dataTransfer.files);
    });
  }
}
