// What both pages show of a job: its state, how far it is, what can be done with it, what went wrong.

import { byId, h } from "../dom";
import { messageOf } from "../text";
import { tell } from "./api";
import type { JobStatus } from "./wire";
import { isUnderWay } from "./words";

export function showState(place: HTMLElement, { state }: JobStatus): void {
  place.textContent = state;
  place.className = `state ${state}`;
}

export function showProgress(bar: HTMLProgressElement, fraction: number | null): void {
  if (fraction === null) bar.removeAttribute("value");
  else bar.value = fraction;
}

/** Say what is wrong, or nothing. */
export function showProblem(text: string, place = byId("problem")): void {
  place.textContent = text;
  place.hidden = !text;
}

/** Do something, and show why where it does not work. */
export async function act(step: () => unknown): Promise<void> {
  try {
    showProblem("");
    await step();
  } catch (error) {
    showProblem(messageOf(error));
  }
}

/** Buttons for what can be done with a job; `after` is called once it is done, `removed` once the job is gone. */
export function buttonsOf(job: JobStatus, after: () => unknown, removed = after): HTMLElement[] {
  if (isUnderWay(job)) return [actionButton("Cancel", job, "cancel", after)];
  const resumable = job.state === "interrupted" || job.state === "cancelled";
  const remove = removeButton(job, removed);
  return resumable ? [actionButton("Start again", job, "start", after), remove] : [remove];
}

function actionButton(text: string, job: JobStatus, action: "cancel" | "start", after: () => unknown): HTMLElement {
  const click = (): Promise<void> =>
    act(async () => {
      await tell(`/jobs/${job.id}/${action}`, "POST");
      await after();
    });
  return h("button", { type: "button", class: "plain", "aria-label": `${text} ${job.title}`, click }, text);
}

/** A button that asks once more before it does what cannot be undone. */
function removeButton(job: JobStatus, after: () => unknown): HTMLElement {
  const name = `Remove ${job.title}`;
  const button = h("button", { type: "button", class: "plain", "aria-label": name }, "Remove");
  button.addEventListener("click", () => {
    if (button.classList.contains("sure")) {
      void act(async () => {
        await tell(`/jobs/${job.id}`, "DELETE");
        await after();
      });
      return;
    }
    button.classList.add("sure");
    button.textContent = "Remove for good?";
    button.removeAttribute("aria-label");
  });
  button.addEventListener("blur", () => {
    button.classList.remove("sure");
    button.textContent = "Remove";
    button.setAttribute("aria-label", name);
  });
  return button;
}
