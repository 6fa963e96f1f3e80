// The page of one job: how far it is, then what was found.

import {
  actionButton, api, byId, dateInWords, element, isUnderWay, kindInWords, progressInWords, removeButton,
  showProblem, showProgress, showState, sizeInWords,
} from "./shared.js";
import { tableOf } from "./tables.js";
import { showScene } from "./viewer.js";

const id = decodeURIComponent(location.pathname.split("/")[2]);
const base = `/jobs/${encodeURIComponent(id)}`;
const FIGURES = {
  "dilution.png": "Clusters at every cutoff",
  "fraction.png": "Fraction of sites in large clusters",
  "size-distribution.png": "Fraction of sites in small clusters",
  "cluster-sizes.png": "Largest cluster, mean size, number of clusters",
  "sigma-matrix.png": "σ of the pairs",
  "flexibility.png": "Flexibility index along the chain",
  "together.png": "How often two sites are rigid together",
};
const COMPARED = {
  "dilutions.png": "Both dilutions, matched clusters in one colour; dashed are the cutoffs that agree best",
  "agreement.png": "Adjusted Rand index over both cutoffs; + is the best pair",
};
const TABLES = { "matched.csv": "Which cluster is which", "best-cutoffs.csv": "The best partner of each cutoff" };
let shown = "";
let told = "";
let problem = ""; // of the job, as long as the server answers
let lost = false;

function showHead(job) {
  byId("title").textContent = job.title;
  document.title = `${job.title} · TIMME`;
  showState(byId("state"), job);
  const files = job.comparison ? comparedIn(job) : [
    job.files.map((file) => `${file.name} (${sizeInWords(file.size)})`).join(", "),
  ];
  const kind = kindInWords(job);
  byId("given").replaceChildren(kind ? `${kind} · ` : "", ...files, ` · ${dateInWords(job.created)}`);
}

/** Links to the two results, should they still be there. */
function comparedIn({ comparison, files }) {
  const link = (name, job) => element("a", { href: `/results/${encodeURIComponent(job)}` }, name);
  return [link(files[0].name, comparison.one), " and ", link(files[1].name, comparison.other)];
}

function showUnderWay(job) {
  byId("under-way").hidden = !isUnderWay(job);
  if (!isUnderWay(job)) return;
  const { stage, fraction, left } = progressInWords(job);
  const share = fraction === null ? "" : `${Math.floor(100 * fraction)} %`;
  byId("stage").textContent = stage;
  byId("left").textContent = [share, left].filter(Boolean).join(", ");
  showProgress(byId("bar"), fraction);
  // To those who listen, in steps of a quarter.
  const quarter = `${stage}${fraction === null ? "" : `, ${25 * Math.floor(4 * fraction)} %`}`;
  tell(quarter);
}

function tell(text) {
  if (text === told) return;
  told = text;
  byId("live").textContent = text;
}

function showActions(job) {
  const resumable = job.state === "interrupted" || job.state === "cancelled";
  byId("actions").replaceChildren(
    ...(isUnderWay(job) ? [actionButton("Cancel", job, "cancel", look)] : []),
    ...(resumable ? [actionButton("Start again", job, "start", look)] : []),
    ...(isUnderWay(job) ? [] : [removeButton(job, () => location.replace("/"))]),
  );
}

const pairs = (rows) => rows.flatMap(([name, value]) => [element("dt", {}, name), element("dd", {}, value)]);

function showFound(job) {
  byId("summary").replaceChildren(...pairs(job.summary.map(({ name, value }) => [name, value])));
  byId("notes").replaceChildren(...job.notes.map((note) => element("li", {}, note)));
  byId("remarks").hidden = job.notes.length === 0;
  const took = `${((new Date(job.finished) - new Date(job.started)) / 1000).toFixed(1)} s`;
  byId("made").replaceChildren(
    ...pairs([["TIMME", job.version], ["finished", `${dateInWords(job.finished)}, after ${took}`]]),
    element("dt", {}, "the same by"), element("dd", {}, element("code", {}, job.command)),
  );
  byId("found").hidden = false;
}

const address = (name) => `/api${base}/files/${encodeURIComponent(name)}`;

function showDownloads(job, files) {
  const link = ({ name, size }) =>
    element("a", { href: address(name), download: name, title: sizeInWords(size) }, name);
  const kinds = Map.groupBy(files, (file) => file.about);
  byId("list").replaceChildren(
    ...[...kinds].map(([about, same]) =>
      element("tr", {}, element("td", { className: "quiet" }, about), element("td", {}, ...same.map(link))),
    ),
  );
  byId("archive").href = `/api${base}/archive.zip`;
  byId("report").href = `/results/${encodeURIComponent(id)}/report`;
  byId("report").hidden = !job.report;
  byId("downloads").hidden = false;
}

/** Those of some figures that are among the files. */
function figures(captions, files) {
  return Object.entries(captions)
    .filter(([name]) => files.some((file) => file.name === name))
    .map(([name, caption]) =>
      element(
        "figure", { className: "card" },
        element("img", { src: address(name), alt: caption, loading: "lazy" }),
        element("figcaption", {}, caption),
      ),
    );
}

async function showComparison(files) {
  const tables = Object.entries(TABLES).map(([name, heading]) => tableOf(address(name), heading, name));
  byId("compared").replaceChildren(...figures(COMPARED, files), ...(await Promise.all(tables)));
  byId("compared").hidden = false;
}

async function showResult(job) {
  const { files } = await api(`${base}/files`);
  showFound(job);
  showDownloads(job, files);
  const drawn = figures(FIGURES, files);
  byId("figures").replaceChildren(...drawn);
  byId("drawn").hidden = drawn.length === 0;
  if (job.recipe === "comparison") await showComparison(files);
  else await showPage(job);
}

/** Show the interactive page; where that cannot be done, say why, and show the figures. */
async function showPage(job) {
  let { page_missing: missing } = await api("/version");
  try {
    if (job.scene && !missing) await showScene(byId("page"), `/api${base}/scene.json`);
  } catch (error) {
    missing = error.message;
  }
  byId("missing").textContent = missing;
  byId("missing").hidden = !missing;
  if (byId("page").hidden) byId("drawn").open = true;
}

async function look() {
  const job = await api(base);
  showUnderWay(job);
  if (job.state !== shown) {
    showHead(job);
    if (shown && !isUnderWay(job)) tell(`The job is ${job.state}`);
    shown = job.state;
    problem = job.error;
    showProblem(problem);
    showActions(job);
    if (job.state === "done") await showResult(job);
    document.body.dataset.state = job.state;
  }
  return isUnderWay(job);
}

async function watch() {
  let again = true;
  try {
    again = await look();
    if (lost) showProblem(problem);
    lost = false;
  } catch (error) {
    showProblem(error.message);
    lost = true;
  }
  // Looked at now and then even when it has ended: it may be started again elsewhere.
  setTimeout(watch, again ? 500 : 5000);
}

watch();
