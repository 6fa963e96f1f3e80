// The start page: files and choices go in, jobs are listed.

import { byId } from "../dom";
import { api } from "./api";
import { chosenRecipe, fillChoices, type Settings, settingsOf } from "./choices";
import { ChosenFiles } from "./files";
import { act } from "./jobs";
import { List } from "./list";
import { send } from "./upload";
import type { Defaults } from "./wire";

async function start(): Promise<void> {
  const list = new List();
  await act(async () => {
    const defaults = await api<Defaults>("/defaults");
    const chosen = new ChosenFiles(defaults);
    fillChoices(defaults);
    const form = byId("new", HTMLFormElement);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      submit(form, defaults, chosen.files);
    });
    document.body.dataset.ready = "yes";
  });
  await list.watch();
}

function submit(form: HTMLFormElement, defaults: Defaults, files: File[]): void {
  const recipe = chosenRecipe();
  const part = recipe === "rigidity" ? "rigidity" : "settings";
  const given = settingsOf(form, defaults[part]);
  if (given && files.length) send(formOf(recipe, part, given, files));
}

function formOf(recipe: string, part: string, given: Settings, files: File[]): FormData {
  const form = new FormData();
  form.append("title", byId("title", HTMLInputElement).value);
  form.append("recipe", recipe);
  form.append(part, new Blob([JSON.stringify(given)], { type: "application/json" }));
  files.forEach((file, place) => form.append(place === 0 ? "topology" : "trajectories", file, file.name));
  return form;
}

void start();
