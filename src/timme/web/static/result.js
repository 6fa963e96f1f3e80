// The page of one job: how far it is, then what was found.

import {
  act, actionButton, api, byId, dateInWords, element, isUnderWay, progressInWords, removeButton,
  showProblem, showProgress, showState, sizeInWords,
} from "./shared.js";

const id = decodeURIComponent(location.pathname.split("/")[2]);
const base = `/jobs/${encodeURIComponent(id)}`;
const FIGURES = {
  "dilution.png": "Clusters at every cutoff",
  "fraction.png": "Fraction of sites in large clusters",
  "size-distribution.png": "Fraction of sites in small clusters",
  "cluster-sizes.png": "Largest cluster, mean size, number of clusters",
  "sigma-matrix.png": "σ of the pairs",
};
let shown = "";
let told = "";
let problem = ""; // of the job, as long as the server answers
let lost = false;

function showHead(job) {
  byId("title").textContent = job.title;
  document.title = `${job.title} · TIMME`;
  showState(byId("state"), job);
  const files = job.files.map((file) => `${file.name} (${sizeInWords(file.size)})`).join(", ");
  byId("given").textContent = `${files} · ${dateInWords(job.created)}`;
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

function showFound(job) {
  byId("summary").replaceChildren(
    ...job.summary.flatMap(({ name, value }) => [element("dt", {}, name), element("dd", {}, value)]),
  );
  byId("notes").replaceChildren(...job.notes.map((note) => element("li", {}, note)));
  byId("remarks").hidden = job.notes.length === 0;
  byId("found").hidden = false;
}

async function showFiles(job) {
  const { files } = await api(`${base}/files`);
  const address = (name) => `/api${base}/files/${encodeURIComponent(name)}`;
  const link = ({ name, size }) =>
    element("a", { href: address(name), download: name, title: sizeInWords(size) }, name);
  const kinds = Map.groupBy(files, (file) => file.about);
  byId("list").replaceChildren(
    ...[...kinds].map(([about, same]) =>
      element("tr", {}, element("td", { className: "quiet" }, about), element("td", {}, ...same.map(link))),
    ),
  );
  byId("archive").href = `/api${base}/archive.zip`;
  byId("downloads").hidden = false;
  const drawn = Object.keys(FIGURES).filter((name) => files.some((file) => file.name === name));
  byId("figures").replaceChildren(
    ...drawn.map((name) =>
      element(
        "figure", { className: "card" },
        element("img", { src: address(name), alt: FIGURES[name], loading: "lazy" }),
        element("figcaption", {}, FIGURES[name]),
      ),
    ),
  );
  byId("figures").hidden = drawn.length === 0;
  if (job.report) showReport(job);
}

/** Embed the report: apart from this page, with no access to it or to the server. */
function showReport(job) {
  const address = `/results/${encodeURIComponent(id)}/report`;
  const frame = element("iframe", { src: address, title: `Report on ${job.title}` });
  frame.setAttribute("sandbox", "allow-scripts allow-downloads");
  const alone = element("a", { href: address, target: "_blank", rel: "noopener" }, "Open the report alone");
  byId("report").replaceChildren(frame, element("p", {}, alone));
  byId("report").hidden = false;
}

async function look() {
  const job = await api(base);
  showHead(job);
  showUnderWay(job);
  if (job.state !== shown) {
    if (shown && !isUnderWay(job)) tell(`The job is ${job.state}`);
    shown = job.state;
    problem = job.error;
    showProblem(problem);
    showActions(job);
    if (job.state === "done") {
      showFound(job);
      await showFiles(job);
    }
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
