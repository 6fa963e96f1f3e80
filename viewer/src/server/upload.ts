// The upload of a new analysis: a form on its way to the server, with a bar that tells how much is sent.

import { byId } from "../dom";
import { resultAddress } from "./api";
import { showProblem } from "./jobs";
import type { JobStatus, Problem } from "./wire";

/** Send a form, and go to the page of the job that is made of it. */
export function send(form: FormData): void {
  showProblem("");
  const upload = new XMLHttpRequest(); // as it tells how much is sent
  const end = new AbortController();
  const stop = (reason: string): void => {
    end.abort();
    showSending(false);
    showProblem(reason);
  };
  upload.open("POST", "/api/jobs");
  upload.responseType = "json";
  upload.upload.addEventListener("progress", ({ loaded, total }) => {
    byId("sent", HTMLProgressElement).value = loaded / total;
  });
  upload.addEventListener("load", () => {
    if (upload.status === 201) location.href = resultAddress((upload.response as JobStatus).id);
    else stop((upload.response as Problem | null)?.detail ?? `the server answered ${upload.status}`);
  });
  upload.addEventListener("error", () => stop("The connection broke: is the server running?"));
  upload.addEventListener("abort", () => stop(""));
  byId("abort").addEventListener("click", () => upload.abort(), { signal: end.signal });
  upload.send(form);
  showSending(true);
}

function showSending(sending: boolean): void {
  byId("sending").hidden = byId("abort").hidden = !sending;
  byId("go", HTMLButtonElement).disabled = sending;
}
