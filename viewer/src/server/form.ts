// The inputs of a new analysis, as the server describes its settings.

import { h } from "../dom";
import type { Choice, FormField, FormPart } from "./wire";

/** A fieldset of a part of the form; what stands alone says what it is to those who listen only. */
export function fieldset(part: FormPart, usual: Record<string, unknown>): HTMLFieldSetElement {
  const ticks = part.fields.every(({ kind }) => kind === "tick");
  const entry = ticks ? tick : part.main ? told : bare;
  return h(
    "fieldset",
    { class: ticks ? "ticks" : "grid", "data-for": part.recipe },
    h("legend", { class: ticks || part.main ? "away" : "" }, part.legend),
    ...part.fields.map((field) => entry(field, `${part.recipe}-${field.name}`, usual[field.name])),
  );
}

/** Keep the help on what is chosen below a list of choices, or what it is about where nothing is. */
export function explain(select: HTMLSelectElement, choices: Choice[], help: HTMLElement): void {
  const about = help.textContent;
  const say = (): void => {
    help.textContent = choices.find(({ value }) => value === select.value)?.help ?? about;
  };
  select.addEventListener("change", say);
  say();
}

/** An input with its help below it. */
function told(field: FormField, id: string, usual: unknown): HTMLElement {
  const help = h("p", { id: `${id}-help`, class: "help" }, field.help);
  if (field.kind === "tick") return h("div", { class: "tick" }, tick(field, id), help);
  const control = controlOf(field, id, usual, { "aria-describedby": help.id });
  if (control instanceof HTMLSelectElement) explain(control, field.choices, help);
  return h("div", {}, h("label", { for: id }, field.label), control, ...proposals(field, id), help);
}

/** An input whose help comes when one points at it; a list of choices says what is chosen. */
function bare(field: FormField, id: string, usual: unknown): HTMLElement {
  if (field.kind === "choice") return told(field, id, usual);
  const control = controlOf(field, id, usual, { title: sentence(field) });
  return h("div", {}, h("label", { for: id }, field.label), control, ...proposals(field, id));
}

function tick(field: FormField, id: string): HTMLElement {
  const box = h("input", { id, name: field.name, type: "checkbox" });
  return h("label", { title: sentence(field) }, box, ` ${field.label}`);
}

function sentence({ help, usual }: FormField): string {
  return usual ? `${help} (${usual})` : help;
}

function controlOf(
  field: FormField,
  id: string,
  usual: unknown,
  about: Record<string, string>,
): HTMLInputElement | HTMLSelectElement {
  const shared = { id, name: field.name, ...about };
  if (field.kind === "choice") {
    const select = h("select", shared, ...field.choices.map(({ value }) => h("option", { value }, value)));
    // What follows from the system is none of the choices.
    if (typeof usual === "string") select.value = usual;
    else select.prepend(h("option", { value: "", selected: true }, field.usual));
    return select;
  }
  const number = field.kind === "whole" || field.kind === "number";
  return h("input", {
    ...shared,
    "data-kind": field.kind,
    placeholder: field.usual,
    autocomplete: "off",
    spellcheck: "false",
    ...(number ? { type: "number", step: field.kind === "whole" ? 1 : "any", min: field.least ?? false } : {}),
    maxlength: field.longest ?? false,
    list: field.choices.length > 0 ? `${id}-choices` : false,
  });
}

function proposals({ kind, choices }: FormField, id: string): HTMLElement[] {
  if (kind === "choice" || choices.length === 0) return [];
  const listed = choices.map(({ value, help }) => h("option", { value }, help));
  return [h("datalist", { id: `${id}-choices` }, ...listed)];
}
