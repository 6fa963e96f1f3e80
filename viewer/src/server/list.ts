// The list of all jobs on the start page, and the comparison of two that are ticked.

import { byId, h } from "../dom";
import { messageOf } from "../text";
import { api, resultAddress } from "./api";
import { buttonsOf, showProblem, showProgress, showState } from "./jobs";
import type { JobList, JobStatus, State } from "./wire";
import { dateInWords, isUnderWay, kindInWords, progressInWords } from "./words";

const PICKED = [
  "Tick two results to compare them",
  "Tick another to compare it with",
  "Compare the two that are ticked",
] as const;

/** One job of the list; its parts stay, so that nothing that has the focus is ever replaced. */
class Item {
  readonly element: HTMLElement;
  readonly pick: HTMLInputElement;
  private readonly state = h("span");
  private readonly actions = h("span", { class: "actions" });
  private readonly line = h("p", { class: "quiet" });
  private readonly bar: HTMLProgressElement;
  private shown: State | null = null;

  constructor(
    public job: JobStatus,
    private readonly list: { refresh(): unknown; showPicked(): unknown },
  ) {
    const change = (): unknown => list.showPicked();
    this.pick = h("input", { type: "checkbox", hidden: true, "aria-label": `Compare ${job.title}`, change });
    this.bar = h("progress", { max: 1, "aria-label": `Progress of ${job.title}` });
    const link = h("a", { href: resultAddress(job.id) }, job.title);
    this.element = h(
      "li",
      {},
      h("div", { class: "heading" }, this.pick, link, this.state),
      this.bar,
      h("div", { class: "below" }, this.line, this.actions),
    );
  }

  update(job: JobStatus): void {
    this.job = job;
    showState(this.state, job);
    this.bar.hidden = !isUnderWay(job);
    if (isUnderWay(job)) {
      const { stage, fraction, left } = progressInWords(job);
      showProgress(this.bar, fraction);
      this.line.textContent = [stage, left].filter(Boolean).join(", ");
    } else {
      const what = job.state === "done" ? kindInWords(job) : "";
      this.line.textContent = [what, dateInWords(job.created), job.error].filter(Boolean).join(" · ");
    }
    if (this.shown === job.state) return;
    if (this.shown) byId("live").textContent = `${job.title}: ${job.state}`;
    this.shown = job.state;
    this.actions.replaceChildren(...buttonsOf(job, () => this.list.refresh()));
  }
}

export class List {
  private readonly items = new Map<string, Item>(); // by id, the oldest first

  constructor() {
    byId("compare").addEventListener("submit", (event) => {
      event.preventDefault();
      void this.compare();
    });
  }

  /** Look again and again, more often while something is under way. */
  async watch(): Promise<void> {
    let busy = false;
    let lost = "";
    try {
      busy = await this.refresh();
    } catch (error) {
      lost = messageOf(error);
    }
    showProblem(lost, byId("lost"));
    setTimeout(() => void this.watch(), busy ? 1000 : 5000);
  }

  /** Show all jobs as they are; tells whether any is under way. */
  async refresh(): Promise<boolean> {
    const { jobs } = await api<JobList>("/jobs");
    byId("none").hidden = jobs.length > 0;
    const there = new Set(jobs.map((job) => job.id));
    for (const [id, item] of this.items) {
      if (there.has(id)) continue;
      item.element.remove();
      this.items.delete(id);
    }
    for (const job of [...jobs].reverse()) (this.items.get(job.id) ?? this.added(job)).update(job);
    this.showPicked();
    return jobs.some(isUnderWay);
  }

  private added(job: JobStatus): Item {
    const item = new Item(job, this);
    this.items.set(job.id, item);
    byId("jobs").prepend(item.element);
    return item;
  }

  /** Say how many of the two are ticked; no third can be. */
  showPicked(): void {
    const [fit, picked] = [this.fit(), this.picked()];
    for (const item of this.items.values()) {
      const unfit = !fit.includes(item);
      item.pick.hidden = fit.length < 2;
      item.pick.classList.toggle("unfit", unfit); // which keeps its place
      item.pick.disabled = unfit || (picked.length === 2 && !item.pick.checked);
    }
    byId("compare").hidden = fit.length < 2;
    byId("pair").hidden = picked.length < 2;
    byId("picked").textContent = PICKED[picked.length] ?? "";
  }

  /** Jobs that can be compared. */
  private fit(): Item[] {
    return [...this.items.values()].filter(({ job }) => job.state === "done" && job.recipe !== "comparison");
  }

  private picked(): Item[] {
    return this.fit().filter(({ pick }) => pick.checked);
  }

  private async compare(): Promise<void> {
    try {
      const [one, other] = this.picked().map(({ job }) => job.id); // the older one first
      const asked = { one, other, chains: chainsFrom(byId("chains", HTMLInputElement).value) };
      const headers = { "Content-Type": "application/json" };
      const made = await api<JobStatus>("/comparisons", { method: "POST", headers, body: JSON.stringify(asked) });
      location.href = resultAddress(made.id);
    } catch (error) {
      showProblem(messageOf(error), byId("unfit"));
    }
  }
}

/** Chains of one result and what they are called in the other, as people write them: A=B,C=D. */
export function chainsFrom(text: string): Record<string, string> | null {
  if (!text.trim()) return null;
  const pairs = text.split(",").map((part) => part.split("=").map((name) => name.trim()));
  if (pairs.some((pair) => pair.length !== 2)) throw new Error(`Chains are written as A=B,C=D, got ${text}`);
  return Object.fromEntries(pairs) as Record<string, string>;
}
