// What a job has found: summary, files to take away, figures, tables, and the interactive page.

import { byId, h } from "../dom";
import { messageOf } from "../text";
import { api, resultAddress } from "./api";
import { showScene } from "./interactive";
import { showProblem } from "./jobs";
import { tableOf } from "./tables";
import type { JobStatus, ResultFile, ResultFiles } from "./wire";
import { dateInWords, sizeInWords } from "./words";

type Named = Record<string, string>; // what is said of a file, by its name

const FIGURES: Named = {
  "dilution.png": "Clusters at every cutoff",
  "fraction.png": "Fraction of sites in large clusters",
  "size-distribution.png": "Fraction of sites in small clusters",
  "cluster-sizes.png": "Largest cluster, mean size, number of clusters",
  "sigma-matrix.png": "σ of the pairs",
  "flexibility.png": "Flexibility index along the chain",
  "together.png": "How often two sites are rigid together",
};
const COMPARED: Named = {
  "dilutions.png": "Both dilutions, matched clusters in one colour; dashed are the cutoffs that agree best",
  "agreement.png": "Adjusted Rand index over both cutoffs; + is the best pair",
};
const TABLES: Named = {
  "matched.csv": "Which cluster is which",
  "best-cutoffs.csv": "The best partner of each cutoff",
};

export async function showFound(job: JobStatus): Promise<void> {
  const base = `/jobs/${encodeURIComponent(job.id)}`;
  const { files } = await api<ResultFiles>(`${base}/files`);
  const address = (name: string): string => `/api${base}/files/${encodeURIComponent(name)}`;
  showSummary(job);
  showDownloads(job, files, address);
  byId("archive", HTMLAnchorElement).href = `/api${base}/archive.zip`;
  const drawn = figures(FIGURES, files, address);
  byId("figures").replaceChildren(...drawn);
  byId("drawn").hidden = drawn.length === 0;
  if (job.recipe === "comparison") await showComparison(files, address);
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

/** Those of some figures that are among the files. */
function figures(captions: Named, files: ResultFile[], address: (name: string) => string): HTMLElement[] {
  const there = new Set(files.map(({ name }) => name));
  return Object.entries(captions)
    .filter(([name]) => there.has(name))
    .map(([name, caption]) =>
      h(
        "figure",
        { class: "card" },
        h("img", { loading: "lazy", src: address(name), alt: caption }),
        h("figcaption", {}, caption),
      ),
    );
}

async function showComparison(files: ResultFile[], address: (name: string) => string): Promise<void> {
  const tables = Object.entries(TABLES).map(([name, heading]) => tableOf(address(name), heading, name));
  byId("compared").replaceChildren(...figures(COMPARED, files, address), ...(await Promise.all(tables)));
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
