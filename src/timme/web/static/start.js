// The start page: files and choices go in, jobs are listed.

import {
  act, actionButton, api, byId, dateInWords, element, isUnderWay, progressInWords, removeButton,
  showProblem, showProgress, showState, sizeInWords, timeInWords,
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

function fillChoices() {
  for (const name of ["objects", "pairs"]) {
    const select = byId(name);
    select.replaceChildren(...defaults[name].map(({ value }) => element("option", { value }, value)));
    select.value = defaults.settings[name];
    const help = () => {
      byId(`${name}-help`).textContent = defaults[name].find(({ value }) => value === select.value).help;
    };
    select.addEventListener("change", help);
    help();
  }
  byId("presets").replaceChildren(
    ...defaults.select.map(({ value, help }) => element("option", { value }, help)),
  );
  const { upload: size, seconds, memory } = defaults.limits;
  byId("limits").textContent =
    `Up to ${sizeInWords(size)} of files, ${timeInWords(seconds)}, ${sizeInWords(memory)} of memory`;
}

/** Collect what differs from the defaults; null where a field holds no number. */
function settings() {
  const wrong = [...form.elements].find((field) => !field.checkValidity());
  if (wrong) {
    wrong.closest("details")?.setAttribute("open", "");
    wrong.reportValidity();
    return null;
  }
  const given = {};
  for (const field of form.elements) {
    if (!field.name) continue;
    if (field.type === "checkbox") {
      if (field.checked) given[field.name] = true;
    } else if (field.value.trim() && field.value !== defaults.settings[field.name]) {
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
  const given = settings();
  if (given === null || chosen.length === 0) return;
  const body = new FormData();
  body.append("title", byId("title").value);
  body.append("settings", new Blob([JSON.stringify(given)], { type: "application/json" }));
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
    state: element("span"),
    actions: element("span", { className: "actions" }),
    bar: element("progress", { max: 1 }),
    line: element("p", { className: "quiet" }),
    shown: "",
  };
  parts.bar.setAttribute("aria-label", `Progress of ${job.title}`);
  const link = element("a", { href: `/results/${encodeURIComponent(job.id)}` }, job.title);
  parts.whole = element(
    "li", {}, element("div", { className: "heading" }, link, parts.state), parts.line, parts.bar, parts.actions,
  );
  return parts;
}

function update(parts, job) {
  showState(parts.state, job);
  parts.bar.hidden = !isUnderWay(job);
  if (isUnderWay(job)) {
    const { stage, fraction, left } = progressInWords(job);
    showProgress(parts.bar, fraction);
    parts.line.textContent = [stage, left].filter(Boolean).join(", ");
  } else {
    parts.line.textContent = [dateInWords(job.created), job.error].filter(Boolean).join(" · ");
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
  byId("abort").addEventListener("click", () => upload.abort());
  document.body.dataset.ready = "yes";
});
watch();
