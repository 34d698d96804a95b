import type { FastifyRequest } from 'fastify';
import type { KnownNames } from '../accounts/rules/password.ts';
import { dateText, timeText } from '../platform/date-text.ts';
import { readableEmail } from '../platform/domain-name.ts';
import { FORM_TOKEN } from '../platform/http/form-tokens.ts';
import type { RevocationSummary } from '../verdict/rules.ts';
import { type Html, type HtmlPart, html } from './html.ts';
import type { Site } from './layout.ts';
import type { Messages } from './messages.ts';

/** The problems of a form: one text for each invalid field, and texts about the form as a whole. */
export interface Problems {
  readonly fields: Readonly<Record<string, string>>;
  readonly general: readonly HtmlPart[];
}

export const NO_PROBLEMS: Problems = { fields: {}, general: [] };

/** A problem of the form as a whole. */
export const generalProblem = (text: HtmlPart): Problems => ({ fields: {}, general: [text] });

/** The problem of a form that was not shown to this browser, as far as its cookies say. */
export const unownedForm = ({ account }: Messages, { headers, id }: Pick<FastifyRequest, 'headers' | 'id'>): Problems =>
  generalProblem(headers.cookie === undefined ? account.formWithoutCookies(id) : account.formExpired);

/** A problem of one field. */
export const fieldProblem = (name: string, text: string): Problems => ({ fields: { [name]: text }, general: [] });

export const hasProblems = ({ fields, general }: Problems): boolean =>
  general.length > 0 || Object.keys(fields).length > 0;

/** Whether the problem of this field is the only one. It stands at the field alone, which takes the focus (WCAG 2.2, 3.3.1). */
const isOnlyProblem = (name: string, { fields, general }: Problems): boolean =>
  fields[name] !== undefined && Object.keys(fields).length === 1 && general.length === 0;

/** Makes the problem of a field that is not on the page one of the form as a whole. */
export function withoutField({ fields, general }: Problems, name: string): Problems {
  const { [name]: problem, ...others } = fields;
  return { fields: others, general: problem === undefined ? general : [...general, problem] };
}

/**
 * The problems of a form, above it, with links to the fields. It takes the focus, so that screen readers read it first. Undefined for one
 * problem of one field, which is shown at the field.
 */
export function problemSummary(messages: Messages, problems: Problems): Html | undefined {
  const { fields, general } = problems;
  const links = Object.entries(fields).map(([name, text]) => html`<li><a href="#${name}">${text}</a></li>`);
  if (!hasProblems(problems) || (links.length === 1 && general.length === 0)) return undefined;
  const content =
    links.length === 0
      ? general.map((text) => html`<p>${text}</p>`)
      : html`<h2>${messages.problemTitle}</h2><ul>${general.map((text) => html`<li>${text}</li>`)}${links}</ul>`;
  return html`<div class="notice problem" role="alert" tabindex="-1" autofocus>${content}</div>`;
}

/** Says what was done. It takes the focus. */
export const doneNotice = (content: HtmlPart): Html =>
  html`<div class="notice done" role="status" tabindex="-1" autofocus>${content}</div>`;

/** Says how many tokens were found to have ended when they were judged again; undefined where there were none. */
export function revocationText({ families, live }: RevocationSummary, { stopped: text }: Messages): Html | undefined {
  if (live > 0) return html`<strong>${text.live(live)}</strong>`;
  return families === 0 ? undefined : html`${text.checked(families)}`;
}

/** A part of a list that is longer than one page. */
export interface ListPart {
  /** Counted from 1. */
  readonly number: number;
  readonly more: boolean;
}

/** The number of a part in a query or a form; 1 for anything else. */
export const partNumber = (text: string | undefined): number => (/^[1-9]\d{0,5}$/.test(text ?? '') ? Number(text) : 1);

/** Links to the previous and the next part. */
export function pager({ path, messages }: Site, address: string, { number, more }: ListPart): Html | undefined {
  if (number === 1 && !more) return undefined;
  const { previous, next, label } = messages.pager;
  const link = (to: number, rel: string, text: string) =>
    html`<a rel="${rel}" href="${path(address)}?page=${to}">${text}</a>`;
  return html`<nav class="pager" aria-label="${label}">${number > 1 && link(number - 1, 'prev', previous)}${more && link(number + 1, 'next', next)}</nav>`;
}

interface Field {
  readonly name: string;
  readonly label: string;
  readonly type: 'text' | 'email' | 'url' | 'tel' | 'date';
  readonly autocomplete: string;
  /** True unless set. */
  readonly required?: boolean;
  readonly value: string;
  readonly hint?: string;
  readonly problems: Problems;
  readonly focus?: boolean;
  /** How a virtual keyboard capitalizes: words for names of people, nothing for identifiers. */
  readonly capitals?: 'words';
  /** The keyboard of a phone, where it is not that of the type. */
  readonly inputMode?: 'numeric';
}

/** A labeled input with its hint or its problem, connected for assistive technology. */
export function field(it: Field): Html {
  const { name, label, type, autocomplete, value, hint, problems, focus, capitals, inputMode, required = true } = it;
  const { attributes, notes } = described(name, hint, problems);
  return html`<div class="field"><label for="${name}">${label}</label>${notes}<input id="${name}" name="${name}" type="${type}" autocomplete="${autocomplete}" value="${value}" autocapitalize="${capitals ?? 'none'}" spellcheck="false"${inputMode !== undefined && html` inputmode="${inputMode}"`}${required && html` required`}${attributes}${focus && !hasProblems(problems) && html` autofocus`}></div>`;
}

interface FileField {
  readonly name: string;
  readonly label: string;
  readonly hint: Html;
  /** The media types that the browser offers. */
  readonly accept: readonly string[];
  /** In bytes: a larger picture is scaled down before it is sent, where scripts run. */
  readonly largest: number;
  readonly problems: Problems;
}

/** A labeled file input. */
export function fileField({ name, label, hint, accept, largest, problems }: FileField): Html {
  const { attributes, notes } = described(name, hint, problems);
  return html`<div class="field"><label for="${name}">${label}</label>${notes}<input id="${name}" name="${name}" type="file" accept="${accept.join(',')}" data-largest="${largest}"${attributes}></div>`;
}

interface TextArea {
  readonly name: string;
  readonly label: string;
  readonly hint: string;
  readonly rows: number;
  readonly value: string;
  readonly problems: Problems;
}

/** A labeled, optional text of several lines. */
export function textArea({ name, label, hint, rows, value, problems }: TextArea): Html {
  const { attributes, notes } = described(name, hint, problems);
  // The parser drops a line feed right after the tag (HTML §13.1.2.5), so there is one before the content.
  return html`<div class="field"><label for="${name}">${label}</label>${notes}<textarea id="${name}" name="${name}" rows="${rows}"${attributes}>
${value}</textarea></div>`;
}

interface SelectField {
  readonly name: string;
  readonly label: string;
  readonly hint?: string;
  readonly value: string;
  readonly problems: Problems;
  readonly autocomplete?: 'language';
  /** Value, text, and the language of the text if it is not that of the page. */
  readonly options: readonly (readonly [value: string, text: string, language?: string])[];
}

/** A labeled list of which one option is chosen. */
export function selectField({ name, label, hint, value, problems, autocomplete, options }: SelectField): Html {
  const { attributes, notes } = described(name, hint, problems);
  const list = options.map(
    ([option, text, language]) =>
      html`<option value="${option}"${language !== undefined && html` lang="${language}"`}${option === value && html` selected`}>${text}</option>`,
  );
  return html`<div class="field"><label for="${name}">${label}</label>${notes}<select id="${name}" name="${name}"${autocomplete !== undefined && html` autocomplete="${autocomplete}"`}${attributes}>${list}</select></div>`;
}

interface Swatches {
  readonly name: string;
  readonly label: string;
  readonly hint: string;
  readonly value: string;
  readonly colors: readonly string[];
  /** The names of the colors, in the same order; a color without a name is shown by its code. */
  readonly names: readonly string[];
}

/** Colors of which one is chosen. Each has a name, for people who cannot tell it by sight. */
export function swatches({ name, label, hint, value, colors, names }: Swatches): Html {
  return html`<fieldset class="field swatches" id="${name}" aria-describedby="${name}-note"><legend>${label}</legend><p class="hint" id="${name}-note">${hint}</p><div>${colors.map(
    (color) =>
      html`<label><input type="radio" name="${name}" value="${color}"${color === value && html` checked`}><svg viewBox="0 0 32 32" width="32" height="32" aria-hidden="true"><circle cx="16" cy="16" r="15" fill="${color}"/></svg><span>${names[colors.indexOf(color)] ?? color}</span></label>`,
  )}</div></fieldset>`;
}

interface PasswordField {
  readonly name: string;
  readonly label: string;
  /** `off` for a secret that is no password of the person. */
  readonly autocomplete: 'current-password' | 'new-password' | 'off';
  /** True unless set. */
  readonly required?: boolean;
  readonly focus?: boolean;
  readonly hint?: string;
  readonly problems: Problems;
  readonly messages: Messages;
  /**
   * Says how strong the password is, where scripts run: on a page with the script `strength`. Names that the form does not ask for
   * are given here.
   */
  readonly strengthFor?: KnownNames;
}

/** A password input, with a button that shows the password where scripts run. */
export function passwordField(it: PasswordField): Html {
  const { name, label, autocomplete, hint, problems, messages, focus, strengthFor, required = true } = it;
  const { attributes, notes } = described(name, hint, problems);
  const { show, hide, showLabel, hideLabel } = messages.password;
  return html`<div class="field"><label for="${name}">${label}</label>${notes}<div class="with-button"><input id="${name}" name="${name}" type="password" autocomplete="${autocomplete}"${required && html` required`}${attributes}${focus && !hasProblems(problems) && html` autofocus`}><button type="button" hidden data-reveal="${name}" data-other="${hide}" data-other-label="${hideLabel}" aria-label="${showLabel}">${show}</button></div>${strengthFor !== undefined && html`<p class="strength muted small" data-strength-of="${name}" data-texts="${JSON.stringify(messages.password.strength)}" data-names="${JSON.stringify(strengthFor)}" aria-live="polite"></p>`}</div>`;
}

/** The hint or the problem of a field. A page with controls of its own uses it for them. */
export function described(name: string, hint: HtmlPart, problems: Problems) {
  const problem = problems.fields[name];
  // A problem says what to do, as the hint does, so it replaces the hint.
  const note = problem ?? hint;
  if (note === undefined) return { attributes: undefined, notes: undefined };
  const kind = problem === undefined ? 'hint' : 'problem';
  return {
    attributes: html` aria-describedby="${name}-note"${problem !== undefined && html` aria-invalid="true"`}${isOnlyProblem(name, problems) && html` autofocus`}`,
    notes: html`<p class="${kind}" id="${name}-note">${note}</p>`,
  };
}

/** The hidden fields of a form: its token, and other values. */
export function hidden(token: string, values: Readonly<Record<string, string>> = {}): Html {
  const inputs = Object.entries({ [FORM_TOKEN]: token, ...values });
  return html`${inputs.map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}`;
}

interface ResendForm {
  readonly action: string;
  readonly token: string;
  readonly values: Readonly<Record<string, string>>;
  readonly label: string;
  /** For how long it is not offered yet, where scripts run. */
  readonly seconds: number;
}

/** Asks for another message. A script counts down until it is offered. */
export const resendForm = ({ messages, path }: Site, { action, token, values, label, seconds }: ResendForm): Html =>
  html`<p class="muted small" hidden data-text="${messages.mail.resendIn}"></p>
<form method="post" action="${path(action)}" data-wait="${seconds}">${hidden(token, values)}<button class="link" type="submit">${label}</button></form>`;

/** A button for what cannot be undone: it opens the form, which says what happens. It needs no script. */
export const confirmStep = (label: HtmlPart, form: Html): Html =>
  html`<details class="confirm"><summary>${label}</summary>${form}</details>`;

/** Text that people or apps chose, isolated so that its direction does not reorder the text around it. */
export const isolate = (text: string): Html => html`<bdi>${text}</bdi>`;

/** A value below its name, in a list of {@link facts}. */
export const fact = (name: HtmlPart, value: HtmlPart, wide = false): Html =>
  html`<div${wide && html` class="wide"`}><dt>${name}</dt><dd>${value}</dd></div>`;

export const facts = (list: readonly HtmlPart[]): Html => html`<dl class="facts">${list}</dl>`;

/** Whom to ask for help: the configured contact as a link, or else the operator of the host, which says whose service it is. */
export function operator({ contact, host, messages }: Site): HtmlPart {
  if (contact === undefined) return messages.help.operatorOf(isolate(host));
  const [local = '', domain] = contact.startsWith('https:') ? [] : contact.split('@');
  const address = domain === undefined ? contact : `mailto:${encodeURIComponent(local)}@${domain}`;
  return html`<a href="${address}">${domain === undefined ? contact : readableEmail(contact)}</a>`;
}

/** Below a page: whom to ask for help, if a contact is configured. */
export const helpLine = (site: Site): Html | undefined =>
  site.contact === undefined
    ? undefined
    : html`<footer class="foot small muted">${site.messages.help.line(operator(site))}</footer>`;

/** A command, with a button that copies it where scripts run. */
export const commandBlock = (value: string, text: Pick<Messages['error'], 'copy' | 'copied'>, label: string): Html =>
  html`<div class="command"><pre><bdi><code>${value}</code></bdi></pre>${copyButton(value, text, label)}</div>`;

/** A button that copies a text where scripts run. */
export const copyButton = (value: string, text: Pick<Messages['error'], 'copy' | 'copied'>, label: string): Html =>
  html`<button class="small" type="button" hidden data-copy="${value}" data-other="${text.copied}" aria-label="${label}">${text.copy}</button>`;

/** A text, with a button that copies it where scripts run. */
export const copyable = (value: string, text: Pick<Messages['error'], 'copy' | 'copied'>, label: string): Html =>
  html`<span class="copyable"><bdi><code>${value}</code></bdi>${copyButton(value, text, label)}</span>`;

/** An instant as text, in UTC. */
export const formatMoment = (instant: number): string => `${dateText(instant)}, ${timeText(instant)}`;

/** An instant in UTC, readable by people and programs. */
export const moment = (instant: number): Html =>
  html`<time datetime="${new Date(instant).toISOString()}">${dateText(instant)}, <span class="together">${timeText(instant)}</span></time>`;

/** A date, given as `YYYY-MM-DD`. */
export const day = (date: string): Html =>
  html`<time datetime="${date}">${dateText(Date.parse(`${date}T00:00:00Z`))}</time>`;
