import { FORM_TOKEN } from '../http/browser.ts';
import { type Html, html } from './html.ts';
import type { Messages } from './messages.ts';

/** What is wrong with a form: one text for each field, and texts that belong to none. */
export interface Problems {
  readonly fields: Readonly<Record<string, string>>;
  readonly general: readonly string[];
}

export const NO_PROBLEMS: Problems = { fields: {}, general: [] };

export const hasProblems = ({ fields, general }: Problems): boolean =>
  general.length > 0 || Object.keys(fields).length > 0;

/** The list of problems above a form. It takes the focus, and each problem leads to its field. */
export function problemSummary(messages: Messages, { fields, general }: Problems): Html | undefined {
  const links = Object.entries(fields).map(([name, text]) => html`<li><a href="#${name}">${text}</a></li>`);
  const texts = general.map((text) => html`<li>${text}</li>`);
  if (links.length + texts.length === 0) return undefined;
  return html`<div class="notice problem" role="alert" tabindex="-1" data-takes-focus><h2>${messages.problemTitle}</h2><ul>${texts}${links}</ul></div>`;
}

interface Field {
  readonly name: string;
  readonly label: string;
  readonly type: 'text' | 'email';
  readonly autocomplete: string;
  readonly value: string;
  readonly hint?: string;
  readonly problems: Problems;
  readonly focus?: boolean;
}

/** A labelled field with its hint and its problem, tied together for assistive technology. */
export function field({ name, label, type, autocomplete, value, hint, problems, focus }: Field): Html {
  const { attributes, notes } = described(name, hint, problems);
  return html`<div class="field"><label for="${name}">${label}</label><input id="${name}" name="${name}" type="${type}" autocomplete="${autocomplete}" value="${value}" autocapitalize="none" spellcheck="false" required${attributes}${focus && html` autofocus`}>${notes}</div>`;
}

interface PasswordField {
  readonly name: string;
  readonly label: string;
  readonly autocomplete: 'current-password' | 'new-password';
  readonly hint?: string;
  readonly problems: Problems;
  readonly messages: Messages;
}

/** A field for a password, with a button that shows it. */
export function passwordField({ name, label, autocomplete, hint, problems, messages }: PasswordField): Html {
  const { attributes, notes } = described(name, hint, problems);
  return html`<div class="field"><label for="${name}">${label}</label><div class="with-button"><input id="${name}" name="${name}" type="password" autocomplete="${autocomplete}" required${attributes}><button class="button quiet" type="button" hidden data-reveal="${name}" data-show="${messages.showPassword}" data-hide="${messages.hidePassword}" aria-pressed="false">${messages.showPassword}</button></div>${notes}</div>`;
}

function described(name: string, hint: string | undefined, { fields }: Problems) {
  const problem = fields[name];
  const ids = [hint && `${name}-hint`, problem && `${name}-problem`].filter((id) => id !== undefined).join(' ');
  return {
    attributes: html`${ids !== '' && html` aria-describedby="${ids}"`}${problem !== undefined && html` aria-invalid="true"`}`,
    notes: html`${hint !== undefined && html`<p class="hint" id="${name}-hint">${hint}</p>`}${problem !== undefined && html`<p class="field-error" id="${name}-problem">${problem}</p>`}`,
  };
}

/** The hidden fields of a form: its token, and what it belongs to. */
export function hidden(token: string, values: Readonly<Record<string, string>> = {}): Html {
  const inputs = Object.entries({ [FORM_TOKEN]: token, ...values });
  return html`${inputs.map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}`;
}

/** A moment, readable by people and machines, in UTC. */
export function moment(instant: number): Html {
  const iso = new Date(instant).toISOString();
  return html`<time datetime="${iso}">${formatMoment(instant)}</time>`;
}

/** A moment as text, in UTC. */
export const formatMoment = (instant: number): string =>
  `${new Date(instant).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
