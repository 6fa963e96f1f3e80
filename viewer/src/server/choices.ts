// The choices of a new analysis: what the server offers, and what differs from the defaults.

import { byId, h } from "../dom";
import { explain, fieldset } from "./form";
import type { Defaults } from "./wire";
import { sizeInWords, timeInWords } from "./words";

const RECIPES: Record<string, string> = {
  auto: "Automatic",
  run: "Co-moving clusters",
  rigidity: "Rigid clusters of one structure",
};

type Field = HTMLInputElement | HTMLSelectElement;
export type Settings = Record<string, string | number | boolean | string[]>;

export function fillChoices(defaults: Defaults): void {
  const { settings, rigidity, limits } = defaults;
  for (const part of defaults.form) {
    byId(part.main ? "main" : "more").append(fieldset(part, part.recipe === "run" ? settings : rigidity));
  }
  const recipe = byId("recipe", HTMLSelectElement);
  recipe.replaceChildren(...defaults.recipes.map(({ value }) => h("option", { value }, RECIPES[value] ?? value)));
  explain(recipe, defaults.recipes, byId("recipe-help"));
  recipe.addEventListener("change", showFields);
  showFields();
  byId("limits").textContent =
    `Up to ${sizeInWords(limits.upload)} of files, ${timeInWords(limits.seconds)}, ${sizeInWords(limits.memory)} of memory`;
}

export const chosenRecipe = (): string => byId("recipe", HTMLSelectElement).value;

/** Collect what differs from the defaults, of fields in use; null where one holds no number. */
export function settingsOf(form: HTMLFormElement, usual: object): Settings | null {
  const used = [...form.elements].filter(isField).filter((field) => !field.closest("[hidden]"));
  const wrong = used.find((field) => !field.checkValidity());
  if (wrong) {
    wrong.closest("details")?.setAttribute("open", "");
    wrong.reportValidity();
    return null;
  }
  const given: Settings = {};
  const known = new Map<string, unknown>(Object.entries(usual));
  for (const field of used.filter(({ name }) => name)) {
    if (isTick(field)) {
      if (field.checked) given[field.name] = true;
    } else if (field.value.trim() && field.value !== known.get(field.name)) {
      given[field.name] = parsed(field.value.trim(), field.dataset.kind);
    }
  }
  return given;
}

/** Show the fields of what is chosen; automatic are those of snapshots. */
function showFields(): void {
  const structure = chosenRecipe() === "rigidity";
  for (const part of document.querySelectorAll<HTMLElement>("[data-for]")) {
    part.hidden = (part.dataset.for === "rigidity") !== structure;
  }
}

function isField(element: Element): element is Field {
  return element instanceof HTMLInputElement || element instanceof HTMLSelectElement;
}

function isTick(field: Field): field is HTMLInputElement {
  return field.type === "checkbox";
}

function parsed(text: string, kind: string | undefined): string | number | string[] {
  if (kind === "number" || kind === "whole") return Number(text);
  if (kind === "list") return text.split(",").map((part) => part.trim());
  return text;
}
