// The API of the server: what it answers, or in one line why it does not.

import type { Problem } from "./wire";

/** Ask the API; what comes is as the description of the path says. */
export async function api<Answer>(path: string, options: RequestInit = {}): Promise<Answer> {
  const answer = await asked(`/api${path}`, options);
  return (await answer.json()) as Answer;
}

/** Tell the API to do something whose answer is not needed. */
export async function tell(path: string, method: "POST" | "DELETE"): Promise<void> {
  await asked(`/api${path}`, { method });
}

async function asked(address: string, options: RequestInit): Promise<Response> {
  let answer: Response;
  try {
    answer = await fetch(address, { credentials: "same-origin", ...options });
  } catch {
    throw new Error("The server does not answer: is it running?");
  }
  if (!answer.ok) throw new Error(await reason(answer));
  return answer;
}

async function reason(answer: Response): Promise<string> {
  try {
    return ((await answer.json()) as Problem).detail;
  } catch {
    return `the server answered ${answer.status}`;
  }
}

/** Read a file of the server; `what` names it where that fails. */
export async function fetched(address: string, what: string): Promise<Response> {
  const answer = await fetch(address, { credentials: "same-origin" });
  if (!answer.ok) throw new Error(`${what}: the server answered ${answer.status}`);
  return answer;
}

export const resultAddress = (id: string): string => `/results/${encodeURIComponent(id)}`;
