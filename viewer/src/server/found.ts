// What a job has found: summary, files to take away, figures, tables, and the interactive page.

import { byId, h } from "../dom";
import { messageOf } from "../text";
import { api, resultAddress } from "./api";
import { showScene } from "./interactive";
import { showProblem } from "./jobs";
import { tableOf } from "./tables";
import type { JobStatus, ResultFile, ResultFiles } from "./wire";
import { capitalised, dateInWords, sizeInWords } from "./words";

const TABLES = ["matched.csv", "best-cutoffs.csv"]; // of a comparison, which are shown as they are

export async function showFound(job: JobStatus): Promise<void> {
  const base = `/jobs/${encodeURIComponent(job.id)}`;
  const { files } = await api<ResultFiles>(`${base}/files`);
  const address = (name: string): string => `/api${base}/files/${encodeURIComponent(name)}`;
  showSummary(job);
  showDownloads(job, files, address);
  byId("archive", HTMLAnchorElement).href = `/api${base}/archive.zip`;
  const drawn = figures(files, address);
  const compared = job.recipe === "comparison";
  byId("figures").replaceChildren(...(compared ? [] : drawn));
  byId("drawn").hidden = compared || drawn.length === 0;
  if (compared) await showComparison(drawn, files, address);
  else await showPage(job, `/api${base}/scene.json`);
}

function showSummary(job: JobStatus): void {
  byId("summary").replaceChildren(...described(job.summary.map(({ name, value }) => [name, value])));
  byId("notes").replaceChildren(...job.notes.map((note) => h("li", {}, note)));
  byId("remarks").hidden = job.notes.length === 0;
  const [started, finished] = [job.started ?? job.created, job.finished ?? job.created];
  const took = `${((Date.parse(finished) - Date.parse(started)) / 1000).toFixed(1)} s`;
  byId("made").replaceChildren(
    ...described([
      ["TIMME", job.version],
      ["finished", `${dateInWords(finished)}, after ${took}`],
      ["the same by", h("code", {}, job.command)],
    ]),
  );
  byId("found").hidden = false;
}

function described(rows: [string, Node | string][]): HTMLElement[] {
  return rows.flatMap(([name, value]) => [h("dt", {}, name), h("dd", {}, value)]);
}

function showDownloads(job: JobStatus, files: ResultFile[], address: (name: string) => string): void {
  const kinds = new Map<string, HTMLElement[]>();
  for (const { name, size, about } of files) {
    const link = h("a", { href: address(name), download: name, title: sizeInWords(size) }, name);
    kinds.set(about, [...(kinds.get(about) ?? []), link]);
  }
  const rows = Array.from(kinds, ([about, links]) =>
    h("tr", {}, h("td", { class: "quiet" }, about), h("td", {}, ...links)),
  );
  byId("list").replaceChildren(...rows);
  byId("report", HTMLAnchorElement).href = `${resultAddress(job.id)}/report`;
  byId("report").hidden = !job.report;
  byId("downloads").hidden = false;
}

/** All pictures among the files, with what the server says that they show. */
function figures(files: ResultFile[], address: (name: string) => string): HTMLElement[] {
  return files
    .filter(({ name }) => name.endsWith(".png"))
    .map(({ name, about }) =>
      h(
        "figure",
        { class: "card" },
        h("img", { loading: "lazy", src: address(name), alt: capitalised(about) }),
        h("figcaption", {}, capitalised(about)),
      ),
    );
}

async function showComparison(drawn: HTMLElement[], files: ResultFile[], address: (name: string) => string): Promise<void> {
  const tables = files
    .filter(({ name }) => TABLES.includes(name))
    .map(({ name, about }) => tableOf(address(name), capitalised(about), name));
  byId("compared").replaceChildren(...drawn, ...(await Promise.all(tables)));
  byId("compared").hidden = false;
}

/** Show the interactive page; where that cannot be done, say why, and show the figures. */
async function showPage(job: JobStatus, scene: string): Promise<void> {
  let missing = "";
  try {
    if (job.scene) await showScene(byId("page"), scene);
  } catch (error) {
    missing = messageOf(error);
  }
  showProblem(missing, byId("missing"));
  if (byId("page").hidden) byId("drawn", HTMLDetailsElement).open = true;
}
