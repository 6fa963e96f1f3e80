// What the server sends, as src/timme/web/models.py describes it: of each model, the fields that the pages use.

export type State = "waiting" | "running" | "done" | "failed" | "cancelled" | "interrupted";
export type Stage = "starting" | "reading" | "compiling" | "measuring" | "decomposing" | "comparing" | "drawing";
export type Recipe = "auto" | "run" | "rigidity" | "comparison";

export interface JobStatus {
  id: string;
  title: string;
  recipe: Recipe;
  state: State;
  files: File[];
  comparison: Comparison | null;
  created: string;
  started: string | null;
  finished: string | null;
  version: string;
  command: string;
  summary: Row[];
  notes: string[];
  error: string;
  progress: Progress | null;
  ahead: number;
  report: boolean;
  scene: boolean;
}

export interface JobList {
  jobs: JobStatus[];
}

export interface File {
  name: string;
  size: number;
}

export interface Comparison {
  one: string;
  other: string;
}

export interface Row {
  name: string;
  value: string;
}

export interface Progress {
  stage: Stage;
  done: number;
  total: number;
  seconds_left: number | null;
}

export interface ResultFiles {
  files: ResultFile[];
}

export interface ResultFile {
  name: string;
  size: number;
  about: string;
}

export interface Choice {
  value: string;
  help: string;
}

export interface FormField {
  name: string;
  label: string;
  kind: "text" | "list" | "whole" | "number" | "tick" | "choice";
  help: string;
  usual: string;
  least: number | null;
  longest: number | null;
  choices: Choice[];
}

export interface FormPart {
  recipe: "run" | "rigidity";
  legend: string;
  main: boolean;
  fields: FormField[];
}

export interface ServerLimits {
  upload: number;
  seconds: number;
  memory: number;
}

export interface Defaults {
  settings: Record<string, unknown>;
  rigidity: Record<string, unknown>;
  recipes: Choice[];
  form: FormPart[];
  topologies: string[];
  trajectories: string[];
  bare_trajectories: string[];
  limits: ServerLimits;
}

export interface Problem {
  detail: string;
}
