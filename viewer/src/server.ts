// The pages of the server: upload with progress, polling, and actions such as deletion.
//
// Templates say what is to be done, in attributes:
// - form[data-upload]: files go to /api/jobs with their progress; fields with data-setting are settings.
// - form[data-json]: fields go to the address of the form as JSON; then the page of the new job is opened.
// - button[data-method]: sends this method to data-action, after data-confirm, and opens data-next, else reloads.
// - [data-recipe]: shown for these recipes.
// - [data-live] with an id: fetched again every second while any of them has data-live="yes".
// - [data-problem]: where errors are shown.

const PAUSE = 1_000; // milliseconds between polls

interface Job {
  id: string;
}

function tell(problem: unknown): void {
  const where = document.querySelector<HTMLElement>("[data-problem]");
  const text = problem instanceof Error ? problem.message : String(problem);
  if (!where) return window.alert(text);
  where.textContent = text;
  where.hidden = text === "";
  if (text) where.scrollIntoView({ block: "nearest" });
}

/** The reason of a failed answer, in one line. */
function reason(status: number, text: string): string {
  try {
    const { detail } = JSON.parse(text) as { detail: unknown };
    if (typeof detail === "string") return detail;
    return (detail as { msg: string }[]).map(({ msg }) => msg).join("; ");
  } catch {
    return `The server answered ${status}.`;
  }
}

async function ask(address: string, options: RequestInit): Promise<string> {
  const answer = await fetch(address, { credentials: "same-origin", ...options }).catch(() => {
    throw new Error("The server does not answer. Is it running?");
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(reason(answer.status, text));
  return text;
}

const pageOf = ({ id }: Job): string => `/results/${encodeURIComponent(id)}`;

// ---- upload ---------------------------------------------------------------------------------------

/** Texts of the fields in view that were filled in. */
function fieldsOf(form: HTMLFormElement, selector: string): Record<string, string> {
  const fields = Array.from(form.querySelectorAll<HTMLInputElement | HTMLSelectElement>(selector)).filter((field) => !field.closest("[hidden]"));
  return Object.fromEntries(fields.map((field) => [field.name, field.value.trim()] as const).filter(([, value]) => value !== ""));
}

/** What a form sends: the first file is the topology; settings go into one part, as JSON. */
function bodyOf(form: HTMLFormElement): FormData {
  const body = new FormData();
  for (const [name, value] of Object.entries(fieldsOf(form, "[name=recipe], [name=title]"))) body.append(name, value);
  body.append("settings", JSON.stringify(fieldsOf(form, "[data-setting]")));
  const files = Array.from(form.querySelectorAll<HTMLInputElement>("input[type=file]")).flatMap((input) => Array.from(input.files ?? []));
  if (files.length === 0) throw new Error("Choose at least one file.");
  files.forEach((file, place) => body.append(place ? "trajectories" : "topology", file, file.name));
  return body;
}

/** Send a form; fetch tells no progress of what is sent, an XMLHttpRequest does. */
function upload(form: HTMLFormElement): void {
  const bar = form.querySelector("progress");
  const buttons = form.querySelectorAll<HTMLButtonElement>("button");
  const busy = (sending: boolean): void => {
    for (const button of buttons) button.disabled = sending;
    if (bar) bar.hidden = !sending;
  };
  const failed = (problem: unknown): void => {
    busy(false);
    tell(problem);
  };
  try {
    const request = new XMLHttpRequest();
    const body = bodyOf(form);
    tell("");
    request.upload.addEventListener("progress", ({ loaded, total }) => bar && (bar.value = loaded / total));
    request.addEventListener("error", () => failed("The upload was interrupted."));
    request.addEventListener("load", () => {
      if (request.status >= 300) return failed(reason(request.status, request.responseText));
      window.location.assign(pageOf(JSON.parse(request.responseText) as Job));
    });
    request.open("POST", "/api/jobs");
    request.send(body);
    busy(true);
  } catch (problem) {
    failed(problem);
  }
}

// ---- actions --------------------------------------------------------------------------------------

async function sendJson(form: HTMLFormElement): Promise<void> {
  const body = JSON.stringify(fieldsOf(form, "[name]"));
  const answer = await ask(form.action, { method: "POST", body, headers: { "Content-Type": "application/json" } });
  window.location.assign(pageOf(JSON.parse(answer) as Job));
}

async function act({ dataset }: HTMLButtonElement): Promise<void> {
  if (dataset.confirm && !window.confirm(dataset.confirm)) return;
  await ask(dataset.action ?? "", { method: dataset.method ?? "POST" });
  if (dataset.next) window.location.assign(dataset.next);
  else await refresh();
}

// ---- polling --------------------------------------------------------------------------------------

/** Fetch the page again; an XMLHttpRequest parses it without a sink that trusted types refuse. */
function fetchPage(): Promise<Document> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.responseType = "document";
    request.addEventListener("error", () => reject(new Error("The server does not answer. Is it running?")));
    request.addEventListener("load", () => {
      if (request.responseXML && request.status < 300) resolve(request.responseXML);
      else reject(new Error(`The server answered ${request.status}.`));
    });
    request.open("GET", window.location.href);
    request.send();
  });
}

/** Take the live parts of the page, where they changed. */
async function refresh(): Promise<void> {
  const fresh = await fetchPage();
  for (const element of document.querySelectorAll("[data-live]")) {
    const next = fresh.getElementById(element.id);
    if (next && !next.isEqualNode(element)) element.replaceWith(document.importNode(next, true));
  }
}

async function watch(): Promise<void> {
  for (;;) {
    await new Promise((resolve) => window.setTimeout(resolve, PAUSE));
    if (document.hidden || !document.querySelector('[data-live="yes"]')) continue;
    await refresh().then(
      () => tell(""),
      (problem: unknown) => tell(problem),
    );
  }
}

document.addEventListener("submit", (event) => {
  const form = event.target as HTMLFormElement;
  if (!("upload" in form.dataset) && !("json" in form.dataset)) return;
  event.preventDefault();
  if ("upload" in form.dataset) upload(form);
  else void sendJson(form).catch(tell);
});
document.addEventListener("change", ({ target }) => {
  if (!(target instanceof HTMLSelectElement) || target.name !== "recipe") return;
  for (const part of document.querySelectorAll<HTMLElement>("[data-recipe]")) {
    part.hidden = !(part.dataset.recipe ?? "").split(" ").includes(target.value);
  }
});
document.addEventListener("click", (event) => {
  const button = (event.target as HTMLElement).closest<HTMLButtonElement>("button[data-method]");
  if (button) void act(button).catch(tell);
});
document.body.dataset.ready = "yes";
void watch();
