// What both pages share: the API, elements whose content is always text, sizes and times in words.

export async function api(path, options = {}) {
  let answer;
  try {
    answer = await fetch(`/api${path}`, { credentials: "same-origin", ...options });
  } catch {
    throw new Error("The server does not answer: is it running?");
  }
  if (answer.ok) return answer.status === 204 ? null : answer.json();
  throw new Error(await reason(answer));
}

async function reason(answer) {
  try {
    return (await answer.json()).detail;
  } catch {
    return `the server answered ${answer.status}`;
  }
}

export const byId = (id) => document.getElementById(id);

/** Make an element; children are elements or text, and text is never read as anything else. */
export function element(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name in made) made[name] = value;
    else made.setAttribute(name, value);
  }
  made.append(...children.filter((child) => child !== null));
  return made;
}

export function sizeInWords(bytes) {
  if (bytes >= 999.5e6) return `${(bytes / 1e9).toFixed(1)} GB`;
  if (bytes >= 999.5e3) return `${(bytes / 1e6).toFixed(1)} MB`;
  return `${Math.max(1, Math.round(bytes / 1e3))} kB`;
}

export function timeInWords(seconds) {
  if (seconds < 1) return "a moment";
  if (seconds < 90) return `${Math.round(seconds)} s`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} min`;
  return `${Number((seconds / 3600).toFixed(1))} h`;
}

export function dateInWords(text) {
  return new Date(text).toLocaleString([], { dateStyle: "medium", timeStyle: "short" });
}

const STAGES = {
  starting: "Starting",
  reading: "Reading",
  compiling: "Compiling, once after installation",
  measuring: "Measuring",
  decomposing: "Finding rigid clusters",
  comparing: "Comparing",
  drawing: "Drawing and writing",
};

const KINDS = {
  run: "Co-moving clusters",
  rigidity: "Rigid clusters of one structure",
  comparison: "Two results compared",
};

export const kindInWords = (job) => KINDS[job.recipe] ?? "";

/** Say how far a job is: what it does, the fraction done (or null), the time left (or ""). */
export function progressInWords(job) {
  if (job.state === "waiting") {
    const ahead = job.ahead === 1 ? "1 job waits before it" : `${job.ahead} jobs wait before it`;
    return { stage: "Waiting", fraction: null, left: job.ahead ? ahead : "It is next" };
  }
  const { stage, done, total, seconds_left: left } = job.progress ?? { stage: "starting" };
  return {
    stage: STAGES[stage],
    fraction: total ? done / total : null,
    left: left == null ? "" : `about ${timeInWords(left)} left`,
  };
}

export function showProgress(bar, fraction) {
  if (fraction === null) bar.removeAttribute("value");
  else bar.value = fraction;
}

export const isUnderWay = (job) => job.state === "waiting" || job.state === "running";

export function showState(place, job) {
  place.textContent = job.state;
  place.className = `state ${job.state}`;
}

export function showProblem(text) {
  byId("problem").textContent = text;
  byId("problem").hidden = !text;
}

/** A button that asks once more before it does what cannot be undone. */
export function removeButton(job, after) {
  const button = element("button", { type: "button", className: "plain" }, "Remove");
  button.setAttribute("aria-label", `Remove ${job.title}`);
  button.addEventListener("click", async () => {
    if (!button.classList.contains("sure")) {
      button.classList.add("sure");
      button.textContent = "Remove for good?";
      button.removeAttribute("aria-label");
      return;
    }
    await act(async () => {
      await api(`/jobs/${job.id}`, { method: "DELETE" });
      after();
    });
  });
  button.addEventListener("blur", () => {
    button.classList.remove("sure");
    button.textContent = "Remove";
  });
  return button;
}

export function actionButton(text, job, action, after) {
  const button = element("button", { type: "button", className: "plain" }, text);
  button.setAttribute("aria-label", `${text} ${job.title}`);
  button.addEventListener("click", () =>
    act(async () => {
      await api(`/jobs/${job.id}/${action}`, { method: "POST" });
      after();
    }),
  );
  return button;
}

/** Do something, and show why where it does not work. */
export async function act(step) {
  try {
    showProblem("");
    await step();
  } catch (error) {
    showProblem(error.message);
  }
}
