// The page of one job: how far it is, then what was found.

import { byId, h } from "../dom";
import { messageOf } from "../text";
import { api, resultAddress } from "./api";
import { showFound } from "./found";
import { buttonsOf, showProblem, showProgress, showState } from "./jobs";
import type { Comparison, File, JobStatus, State } from "./wire";
import { dateInWords, isUnderWay, kindInWords, progressInWords, sizeInWords } from "./words";

class ResultPage {
  private shown: State | null = null;
  private told = "";
  private problem = ""; // of the job, as long as the server answers
  private lost = false;

  constructor(private readonly id: string) {}

  /** Look again and again, now and then even when the job has ended: it may be started again elsewhere. */
  async watch(): Promise<void> {
    let again = true;
    try {
      again = await this.look();
      if (this.lost) showProblem(this.problem);
      this.lost = false;
    } catch (error) {
      showProblem(messageOf(error));
      this.lost = true;
    }
    setTimeout(() => void this.watch(), again ? 500 : 5000);
  }

  /** Show the job as it is; tells whether it is under way. */
  private async look(): Promise<boolean> {
    const job = await api<JobStatus>(`/jobs/${encodeURIComponent(this.id)}`);
    this.showUnderWay(job);
    if (job.state !== this.shown) await this.change(job);
    return isUnderWay(job);
  }

  private async change(job: JobStatus): Promise<void> {
    showHead(job);
    if (this.shown && !isUnderWay(job)) this.tell(`The job is ${job.state}`);
    this.shown = job.state;
    this.problem = job.error;
    showProblem(this.problem);
    byId("actions").replaceChildren(...buttonsOf(job, () => this.look(), () => location.replace("/")));
    if (job.state === "done") await showFound(job);
    document.body.dataset.state = job.state;
  }

  private showUnderWay(job: JobStatus): void {
    byId("under-way").hidden = !isUnderWay(job);
    if (!isUnderWay(job)) return;
    const { stage, fraction, left } = progressInWords(job);
    const share = fraction === null ? "" : `${Math.floor(100 * fraction)} %`;
    byId("stage").textContent = stage;
    byId("left").textContent = [share, left].filter(Boolean).join(", ");
    showProgress(byId("bar", HTMLProgressElement), fraction);
    // To those who listen, in steps of a quarter.
    this.tell(fraction === null ? stage : `${stage}, ${25 * Math.floor(4 * fraction)} %`);
  }

  private tell(text: string): void {
    if (text === this.told) return;
    this.told = text;
    byId("live").textContent = text;
  }
}

function showHead(job: JobStatus): void {
  byId("title").textContent = job.title;
  document.title = `${job.title} · TIMME`;
  showState(byId("state"), job);
  const sizes = job.files.map((file) => `${file.name} (${sizeInWords(file.size)})`).join(", ");
  const given = job.comparison ? comparedIn(job.comparison, job.files) : [sizes];
  const kind = kindInWords(job);
  byId("given").replaceChildren(kind ? `${kind} · ` : "", ...given, ` · ${dateInWords(job.created)}`);
}

/** Links to the two results, should they still be there. */
function comparedIn({ one, other }: Comparison, [first, second]: File[]): (Node | string)[] {
  const link = (job: string, name = job): HTMLElement => h("a", { href: resultAddress(job) }, name);
  return [link(one, first?.name), " and ", link(other, second?.name)];
}

const [, , id = ""] = location.pathname.split("/");
void new ResultPage(decodeURIComponent(id)).watch();
