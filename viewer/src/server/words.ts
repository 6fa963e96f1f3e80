// Sizes, times and jobs in words.

import type { JobStatus, Recipe, Stage } from "./wire";

export function sizeInWords(bytes: number): string {
  if (bytes >= 999.5e6) return `${(bytes / 1e9).toFixed(1)} GB`;
  if (bytes >= 999.5e3) return `${(bytes / 1e6).toFixed(1)} MB`;
  return `${Math.max(1, Math.round(bytes / 1e3))} kB`;
}

export function timeInWords(seconds: number): string {
  if (seconds < 1) return "a moment";
  if (seconds < 90) return `${Math.round(seconds)} s`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} min`;
  return `${Number((seconds / 3600).toFixed(1))} h`;
}

export function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

export function dateInWords(text: string): string {
  return new Date(text).toLocaleString([], { dateStyle: "medium", timeStyle: "short" });
}

const STAGES: Record<Stage, string> = {
  starting: "Starting",
  reading: "Reading",
  compiling: "Compiling, once after installation",
  measuring: "Measuring",
  decomposing: "Finding rigid clusters",
  comparing: "Comparing",
  drawing: "Drawing and writing",
};

const KINDS: Record<Recipe, string> = {
  auto: "",
  run: "Co-moving clusters",
  rigidity: "Rigid clusters of one structure",
  comparison: "Two results compared",
};

export const kindInWords = ({ recipe }: Pick<JobStatus, "recipe">): string => KINDS[recipe];

export interface Progress {
  stage: string; // what is being done
  fraction: number | null; // how much of it, where that is known
  left: string; // the time left, where that is known
}

/** Say how far a job is. */
export function progressInWords(job: Pick<JobStatus, "state" | "ahead" | "progress">): Progress {
  if (job.state === "waiting") {
    const ahead = job.ahead === 1 ? "1 job waits before it" : `${job.ahead} jobs wait before it`;
    return { stage: "Waiting", fraction: null, left: job.ahead ? ahead : "It is next" };
  }
  if (!job.progress) return { stage: STAGES.starting, fraction: null, left: "" };
  const { stage, done, total, seconds_left: left } = job.progress;
  return {
    stage: STAGES[stage],
    fraction: total ? done / total : null,
    left: left === null ? "" : `about ${timeInWords(left)} left`,
  };
}

export const isUnderWay = ({ state }: Pick<JobStatus, "state">): boolean => state === "waiting" || state === "running";
