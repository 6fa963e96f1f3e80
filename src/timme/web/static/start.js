// The start page: files and choices go in, jobs are listed.

import {
  act, actionButton, api, byId, dateInWords, element, isUnderWay, kindInWords, progressInWords,
  removeButton, showProblem, showProgress, showState, sizeInWords, timeInWords,
} from "./shared.js";

const form = byId("new");
let defaults = null;
let chosen = []; // files, the topology or ensemble first
let upload = null;

// ---- files -------------------------------------------------------------------------------------

const kindOf = (name) => {
  const plain = name.toLowerCase().replace(/\.gz$/, "");
  return plain.includes(".") ? plain.slice(plain.lastIndexOf(".")) : "";
};

/** Tell what can only come first (0), what can come first or later (1), what names nothing (2). */
function rank(file) {
  const kind = kindOf(file.name);
  const follows = defaults.trajectories.includes(kind);
  const bare = [".xtc", ".trr", ".dcd", ".nc", ".ncdf", ".lammpstrj", ".dump"].includes(kind);
  return bare ? 2 : follows ? 1 : 0;
}

function add(files) {
  const known = new Set(chosen.map((file) => `${file.name}/${file.size}/${file.lastModified}`));
  const fresh = [...files].filter((file) => !known.has(`${file.name}/${file.size}/${file.lastModified}`));
  chosen = [...chosen, ...fresh].sort(
    (a, b) => rank(a) - rank(b) || a.name.localeCompare(b.name, undefined, { numeric: true }),
  );
  showChosen();
}

function showChosen() {
  const list = byId("chosen");
  list.hidden = chosen.length === 0;
  list.replaceChildren(...chosen.map(row));
  const wrong = complaint();
  showProblem(wrong);
  byId("go").disabled = chosen.length === 0 || wrong !== "";
}

function row(file, place) {
  const remove = element("button", { type: "button", className: "plain" }, "Remove");
  remove.setAttribute("aria-label", `Remove ${file.name}`);
  remove.addEventListener("click", () => {
    chosen = chosen.filter((other) => other !== file);
    showChosen();
  });
  const first = element("button", { type: "button", className: "plain" }, "Put first");
  first.setAttribute("aria-label", `Put ${file.name} first`);
  first.addEventListener("click", () => {
    chosen = [file, ...chosen.filter((other) => other !== file)];
    showChosen();
  });
  const role = place > 0 ? "then" : chosen.length > 1 ? "first" : "file";
  return element(
    "li", {},
    element("span", { className: "role" }, role),
    element("span", { className: "file" }, file.name),
    element("span", { className: "quiet" }, sizeInWords(file.size)),
    place > 0 ? first : null,
    remove,
  );
}

function complaint() {
  for (const [place, file] of chosen.entries()) {
    const known = place === 0 ? defaults.topologies : defaults.trajectories;
    if (!known.includes(kindOf(file.name))) {
      return `${file.name}: files of this kind are not taken ${place ? "after the first" : "here"}`;
    }
  }
  const size = chosen.reduce((sum, file) => sum + file.size, 0);
  if (size > defaults.limits.upload) {
    return `The files have ${sizeInWords(size)}, but a job may have ${sizeInWords(defaults.limits.upload)}: ` +
      "give fewer frames, or start the server with a larger --max-upload";
  }
  return "";
}

function watchDrops() {
  const drop = byId("drop");
  byId("files").addEventListener("change", (event) => {
    add(event.target.files);
    event.target.value = "";
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
    if (event.dataTransfer.files.length) add(event.dataTransfer.files);
  });
}

// ---- choices -----------------------------------------------------------------------------------

const RECIPES = { auto: "Automatic", run: "Co-moving clusters", rigidity: "Rigid clusters of one structure" };

/** Fill a list of choices, and keep the help on what is chosen below it. */
function fillList(id, choices, chosenValue, words = {}) {
  const select = byId(id);
  select.replaceChildren(...choices.map(({ value }) => element("option", { value }, words[value] ?? value)));
  select.value = chosenValue;
  const help = () => {
    byId(`${id}-help`).textContent = choices.find(({ value }) => value === select.value).help;
  };
  select.addEventListener("change", help);
  help();
}

/** Show the fields of what is chosen; automatic are those of snapshots. */
function showFields() {
  const structure = byId("recipe").value === "rigidity";
  for (const part of document.querySelectorAll("[data-for]")) {
    part.hidden = (part.dataset.for === "rigidity") !== structure;
  }
}

function fillChoices() {
  fillList("recipe", defaults.recipes, "auto", RECIPES);
  fillList("tethers", defaults.tethers, defaults.rigidity.tethers);
  for (const name of ["objects", "pairs"]) fillList(name, defaults[name], defaults.settings[name]);
  byId("recipe").addEventListener("change", showFields);
  showFields();
  byId("presets").replaceChildren(
    ...defaults.select.map(({ value, help }) => element("option", { value }, help)),
  );
  const { upload: size, seconds, memory } = defaults.limits;
  byId("limits").textContent =
    `Up to ${sizeInWords(size)} of files, ${timeInWords(seconds)}, ${sizeInWords(memory)} of memory`;
}

/** Collect what differs from the defaults, of fields in use; null where one holds no number. */
function settings(usual) {
  const used = [...form.elements].filter((field) => !field.closest("[hidden]"));
  const wrong = used.find((field) => !field.checkValidity());
  if (wrong) {
    wrong.closest("details")?.setAttribute("open", "");
    wrong.reportValidity();
    return null;
  }
  const given = {};
  for (const field of used) {
    if (!field.name) continue;
    if (field.type === "checkbox") {
      if (field.checked) given[field.name] = true;
    } else if (field.value.trim() && field.value !== usual[field.name]) {
      given[field.name] = parsed(field);
    }
  }
  return given;
}

function parsed(field) {
  const text = field.value.trim();
  if (field.dataset.kind === "number" || field.dataset.kind === "whole") return Number(text);
  if (field.dataset.kind === "list") return text.split(",").map((part) => part.trim());
  return text;
}

// ---- upload ------------------------------------------------------------------------------------

function send(event) {
  event.preventDefault();
  const recipe = byId("recipe").value;
  const part = recipe === "rigidity" ? "rigidity" : "settings";
  const given = settings(defaults[part]);
  if (given === null || chosen.length === 0) return;
  const body = new FormData();
  body.append("title", byId("title").value);
  body.append("recipe", recipe);
  body.append(part, new Blob([JSON.stringify(given)], { type: "application/json" }));
  body.append("topology", chosen[0], chosen[0].name);
  for (const file of chosen.slice(1)) body.append("trajectories", file, file.name);

  showProblem("");
  upload = new XMLHttpRequest(); // as it tells how much is sent
  upload.open("POST", "/api/jobs");
  upload.responseType = "json";
  upload.upload.addEventListener("progress", ({ loaded, total }) => {
    byId("sent").value = loaded / total;
  });
  upload.addEventListener("load", () => {
    if (upload.status === 201) location.href = `/results/${upload.response.id}`;
    else refuse(upload.response?.detail ?? `the server answered ${upload.status}`);
  });
  upload.addEventListener("error", () => refuse("The connection broke: is the server running?"));
  upload.addEventListener("abort", () => refuse(""));
  upload.send(body);
  showSending(true);
}

function refuse(text) {
  showSending(false);
  showProblem(text);
}

function showSending(sending) {
  byId("sending").hidden = byId("abort").hidden = !sending;
  byId("go").disabled = sending;
}

// ---- results -----------------------------------------------------------------------------------

const items = new Map(); // elements by id, so that nothing that has the focus is ever replaced

function item(job) {
  const parts = {
    job,
    pick: element("input", { type: "checkbox", hidden: true }),
    state: element("span"),
    actions: element("span", { className: "actions" }),
    bar: element("progress", { max: 1 }),
    line: element("p", { className: "quiet" }),
    shown: "",
  };
  parts.bar.setAttribute("aria-label", `Progress of ${job.title}`);
  parts.pick.setAttribute("aria-label", `Compare ${job.title}`);
  parts.pick.addEventListener("change", showPicked);
  const link = element("a", { href: `/results/${encodeURIComponent(job.id)}` }, job.title);
  parts.whole = element(
    "li", {}, element("div", { className: "heading" }, parts.pick, link, parts.state),
    parts.bar, element("div", { className: "below" }, parts.line, parts.actions),
  );
  return parts;
}

function update(parts, job) {
  parts.job = job;
  showState(parts.state, job);
  parts.bar.hidden = !isUnderWay(job);
  if (isUnderWay(job)) {
    const { stage, fraction, left } = progressInWords(job);
    showProgress(parts.bar, fraction);
    parts.line.textContent = [stage, left].filter(Boolean).join(", ");
  } else {
    const what = job.state === "done" ? kindInWords(job) : "";
    parts.line.textContent = [what, dateInWords(job.created), job.error].filter(Boolean).join(" · ");
  }
  if (parts.shown === job.state) return;
  if (parts.shown) byId("live").textContent = `${job.title}: ${job.state}`;
  parts.shown = job.state;
  const resumable = job.state === "interrupted" || job.state === "cancelled";
  parts.actions.replaceChildren(
    ...(isUnderWay(job) ? [actionButton("Cancel", job, "cancel", refresh)] : []),
    ...(resumable ? [actionButton("Start again", job, "start", refresh)] : []),
    ...(isUnderWay(job) ? [] : [removeButton(job, refresh)]),
  );
}

// ---- comparing two -----------------------------------------------------------------------------

/** Say how many of the two are ticked; no third can be. */
function showPicked() {
  const fit = [...items.values()].filter(({ job }) => job.state === "done" && job.recipe !== "comparison");
  const picked = fit.filter(({ pick }) => pick.checked);
  for (const parts of items.values()) {
    const unfit = !fit.includes(parts);
    parts.pick.hidden = fit.length < 2;
    parts.pick.classList.toggle("unfit", unfit); // which keeps its place
    parts.pick.disabled = unfit || (picked.length === 2 && !parts.pick.checked);
  }
  byId("compare").hidden = fit.length < 2;
  byId("pair").hidden = picked.length < 2;
  byId("picked").textContent = [
    "Tick two results to compare them", "Tick another to compare it with", "Compare the two that are ticked",
  ][picked.length];
  return picked.map(({ job }) => job.id); // the older one first
}

function chainsFrom(text) {
  if (!text.trim()) return null;
  const pairs = text.split(",").map((part) => part.split("=").map((name) => name.trim()));
  if (pairs.some((pair) => pair.length !== 2)) throw new Error(`Chains are written as A=B,C=D, got ${text}`);
  return Object.fromEntries(pairs);
}

async function compare(event) {
  event.preventDefault();
  const problem = byId("unfit");
  try {
    const [one, other] = showPicked();
    const asked = { one, other, chains: chainsFrom(byId("chains").value) };
    const headers = { "Content-Type": "application/json" };
    const made = await api("/comparisons", { method: "POST", headers, body: JSON.stringify(asked) });
    location.href = `/results/${encodeURIComponent(made.id)}`;
  } catch (error) {
    problem.textContent = error.message;
    problem.hidden = false;
  }
}

async function refresh() {
  const { jobs } = await api("/jobs");
  byId("none").hidden = jobs.length > 0;
  const there = new Set(jobs.map((job) => job.id));
  for (const [id, parts] of items) {
    if (there.has(id)) continue;
    parts.whole.remove();
    items.delete(id);
  }
  for (const job of [...jobs].reverse()) {
    if (!items.has(job.id)) {
      items.set(job.id, item(job));
      byId("jobs").prepend(items.get(job.id).whole);
    }
    update(items.get(job.id), job);
  }
  showPicked();
  return jobs.some(isUnderWay);
}

async function watch() {
  let busy = false;
  let lost = "";
  try {
    busy = await refresh();
  } catch (error) {
    lost = error.message;
  }
  byId("lost").textContent = lost;
  byId("lost").hidden = !lost;
  setTimeout(watch, busy ? 1000 : 5000);
}

await act(async () => {
  defaults = await api("/defaults");
  fillChoices();
  watchDrops();
  form.addEventListener("submit", send);
  byId("compare").addEventListener("submit", compare);
  byId("abort").addEventListener("click", () => upload.abort());
  document.body.dataset.ready = "yes";
});
watch();
