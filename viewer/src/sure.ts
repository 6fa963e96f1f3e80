// How sure clusters are: the judgement of each, by where it lies in leaf order.

import type { Run } from "./arrays";
import type { Confidence, Judgement, Look } from "./scene";

export class Judgements {
  private readonly known = new Map<string, Judgement>(); // by the run of every judged node

  constructor(confidence: Confidence | null) {
    for (const [start, stop, place] of confidence?.runs ?? []) {
      const judged = confidence?.clusters[place];
      if (judged) this.known.set(`${start} ${stop}`, judged);
    }
  }

  /** What is known of a cluster; null for one that is too small to be judged. */
  of({ start, stop }: Run): Judgement | null {
    return this.known.get(`${start} ${stop}`) ?? null;
  }

  lookOf(run: Run): Look {
    return this.of(run)?.look ?? "plain";
  }

  trusts(run: Run): boolean {
    return this.of(run)?.trusted ?? false;
  }
}

/** Whether there is any cluster of which something can be told, so that solid means trusted. */
export function tells(confidence: Confidence | null): confidence is Confidence {
  return confidence?.clusters.some(({ look }) => look !== "plain") ?? false;
}
