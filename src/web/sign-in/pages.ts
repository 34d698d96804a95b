import { appHalf, type ShownApp } from '../kit/app.ts';
import {
  field,
  foreign,
  hidden,
  NO_PROBLEMS,
  type Problems,
  passwordField,
  problemSummary,
} from '../kit/components.ts';
import type { Html } from '../kit/html.ts';
import { html } from '../kit/html.ts';
import type { Page, Site } from '../kit/layout.ts';
import { tile } from '../kit/mark.ts';

/** Who waits for the sign-in, and how the request is carried on. */
export interface Waiting {
  readonly handle: string;
  readonly client: ShownApp;
  readonly host: string;
}

interface Form {
  readonly token: string;
  readonly waiting: Waiting | undefined;
  readonly problems: Problems;
}

const carried = (waiting: Waiting | undefined) => (waiting === undefined ? {} : { request: waiting.handle });
const query = (waiting: Waiting | undefined) =>
  waiting === undefined ? '' : `?request=${encodeURIComponent(waiting.handle)}`;

/** Who asks, if somebody does: its half of the tile waits for the other. */
function heading(title: string, lead: string, waiting: Waiting | undefined, site: Site): Html {
  if (waiting === undefined) return html`<header><h1>${title}</h1></header>`;
  const { client, host } = waiting;
  return html`<header class="asks">${tile({ kind: 'large', app: appHalf(site, client) })}<div><h1>${lead} <strong>${foreign(client.name)}</strong></h1><p class="muted small">${site.messages.signIn.returnsTo(foreign(host))}</p></div></header>`;
}

/** A person who may go on without signing in again. */
export interface Present {
  readonly displayName: string;
  readonly username: string;
  /** For the form that goes on. */
  readonly token: string;
}

interface SignIn extends Form {
  readonly identifier: string;
  readonly present: Present | undefined;
}

/** One press for the person who is signed in, above the form for another. */
function continueForm({ messages, path }: Site, { displayName, username, token }: Present, form: Form): Html {
  const text = messages.signIn;
  return html`<form method="post" action="${path('/continue')}">${hidden(token, carried(form.waiting))}<button class="primary" type="submit"${form.problems === NO_PROBLEMS && html` autofocus`}>${text.continueAs(foreign(displayName), username)}</button></form>
<h2>${text.another}</h2>`;
}

export function signInPage(site: Site, form: SignIn): Page {
  const { messages, path } = site;
  const text = messages.signIn;
  const { problems, waiting, identifier, present } = form;
  const asks = present === undefined;
  return {
    title: text.title,
    layout: 'narrow',
    body: html`<section class="card">
${heading(text.title, asks ? text.lead : text.chooseLead, waiting, site)}
${problemSummary(messages, problems)}
${present !== undefined && continueForm(site, present, form)}
<form method="post" action="${path('/login')}" novalidate>
${hidden(form.token, carried(waiting))}
${field({ name: 'identifier', label: text.identifier, type: 'text', autocomplete: 'username', value: identifier, problems, focus: asks && identifier === '' })}
${passwordField({ name: 'password', label: text.password, autocomplete: 'current-password', problems, messages, focus: asks && identifier !== '' })}
<button class="${asks ? 'primary' : 'equal'}" type="submit">${text.submit}</button>
</form>
</section>
<p class="foot">${text.noAccount} <a href="${path(`/signup${query(waiting)}`)}">${text.create}</a></p>`,
  };
}

/** What a person typed on the sign-up page; the password is never shown again. */
export interface SignUpValues {
  readonly displayName: string;
  readonly username: string;
  readonly email: string;
}

export function signUpPage(site: Site, form: Form & { readonly values: SignUpValues }): Page {
  const { messages, path } = site;
  const text = messages.signUp;
  const { problems, waiting, values } = form;
  return {
    title: text.title,
    layout: 'narrow',
    body: html`<section class="card">
${heading(text.title, text.lead, waiting, site)}
${problemSummary(messages, problems)}
<form method="post" action="${path('/signup')}" novalidate>
${hidden(form.token, carried(waiting))}
${field({ name: 'displayName', label: text.displayName, type: 'text', autocomplete: 'name', capitals: 'words', value: values.displayName, hint: text.displayNameHint, problems, focus: true })}
${field({ name: 'username', label: text.username, type: 'text', autocomplete: 'username', value: values.username, hint: text.usernameHint, problems })}
${field({ name: 'email', label: text.email, type: 'email', autocomplete: 'email', value: values.email, problems })}
${passwordField({ name: 'password', label: text.password, autocomplete: 'new-password', hint: text.passwordHint, problems, messages })}
<button class="primary" type="submit">${text.submit}</button>
</form>
</section>
<p class="foot">${text.haveAccount} <a href="${path(`/login${query(waiting)}`)}">${text.signIn}</a></p>`,
  };
}
