import { appHalf } from '../../pages/app.ts';
import {
  fact,
  facts,
  field,
  helpLine,
  hidden,
  isolate,
  NO_PROBLEMS,
  type Problems,
  passwordField,
  problemSummary,
  withoutField,
} from '../../pages/components.ts';
import { type Html, type HtmlPart, html } from '../../pages/html.ts';
import type { Page, Site } from '../../pages/layout.ts';
import { tile } from '../../pages/mark.ts';
import { passkeyButton, passkeyForm } from '../../pages/passkey.ts';
import { readableEmail } from '../../platform/domain-name.ts';
import type { PendingRequest } from '../../protocol/authorize/authorization.ts';
import type { Upstream } from '../../upstreams/store.ts';
import { placeOf } from '../authorize/device-answer.ts';
import { requestFields } from '../authorize/request-fields.ts';
import type { OfferedHome } from './home.ts';

/** The app whose authorization request needs the sign-in. */
export type RequestingApp = Pick<PendingRequest, 'handle' | 'client' | 'request'>;

/** Another provider through which people sign in. */
export type UpstreamButton = Pick<Upstream, 'name' | 'displayName'>;

interface SignInForm {
  /** The other providers, in the order of their buttons. */
  readonly upstreams: readonly UpstreamButton[];
  readonly token: string;
  readonly app: RequestingApp | undefined;
  readonly problems: Problems;
}

export const requestQuery = (app: RequestingApp | undefined) =>
  app === undefined ? '' : `?request=${encodeURIComponent(app.handle)}`;

/** The heading of a step of a sign-in, with the app that asks for it. */
export function heading(title: string, lead: string, app: RequestingApp | undefined, site: Site): Html {
  if (app === undefined) return html`<header><h1>${title}</h1></header>`;
  const { client, request } = app;
  return html`<header class="asks">${tile({ kind: 'large', app: appHalf(site, client) })}<div><h1>${lead} <strong>${isolate(client.name)}</strong></h1><p class="muted small">${site.messages.signIn.returnsTo(isolate(placeOf(site, request)))}</p></div></header>`;
}

/** A signed-in person who may continue without signing in again. */
export interface ContinueAs {
  readonly displayName: string;
  readonly username: string;
  /** The token of the form that continues. */
  readonly token: string;
}

interface SignInPage extends SignInForm {
  readonly identifier: string;
  /** The provider to which the page leads. */
  readonly home: OfferedHome | undefined;
  /** What interrupted the person, if anything did. */
  readonly notice: HtmlPart;
  /** The hidden fields of a request that has expired. */
  readonly expired: Readonly<Record<string, string>>;
  readonly continueAs: ContinueAs | undefined;
  /** Whether people can sign in with passkeys. */
  readonly passkeys: boolean;
  /** Whether people can sign in with a code by mail. */
  readonly signInCode: boolean;
  /** Whether people can create accounts. */
  readonly offersSignUp: boolean;
}

/** The form of the button below the password, which also offers the passkeys of this device in the autofill. */
const PASSKEY_FORM = 'use-passkey';

/** A button for the signed-in person, above the form for another account. */
function continueForm(
  { messages, path }: Site,
  { displayName, username, token }: ContinueAs,
  { app, problems }: SignInForm,
): Html {
  const text = messages.signIn;
  return html`<form method="post" action="${path('/continue')}">${hidden(token, requestFields(app))}<button class="primary" type="submit"${problems === NO_PROBLEMS && html` autofocus`}>${text.continueAs(isolate(displayName), username)}</button></form>
<h2>${text.another}</h2>`;
}

/** The buttons of other providers. */
const upstreamButtons = (
  { messages, path }: Site,
  { upstreams, app }: Pick<SignInForm, 'upstreams' | 'app'>,
): HtmlPart =>
  upstreams.map(
    ({ name, displayName }) =>
      html`\n<a class="button" href="${path(`/login/with/${name}${requestQuery(app)}`)}">${messages.signIn.continueWith(isolate(displayName))}</a>`,
  );

/** Leads people with an address of a domain, or the members of an organization, to their provider. */
function homeNotice(
  { messages: { signIn: text }, path }: Site,
  { upstream: { name, displayName }, organization }: OfferedHome,
  app: RequestingApp | undefined,
): Html {
  const provider = isolate(displayName);
  const who = organization === null ? text.home(provider) : text.homeOfMembers(isolate(organization), provider);
  return html`<div class="notice" role="status"><p>${who}</p><div><a class="button primary" href="${path(`/login/with/${name}${requestQuery(app)}`)}">${text.continueAtHome(provider)}</a></div></div>`;
}

export function signInPage(site: Site, form: SignInPage): Page {
  const { messages, path } = site;
  const text = messages.signIn;
  const { problems, app, identifier, continueAs, passkeys, notice, home } = form;
  const asks = continueAs === undefined;
  // The button of that provider is above.
  const others = form.upstreams.filter(({ name }) => name !== home?.upstream.name);
  return {
    title: text.title,
    layout: 'narrow',
    problems,
    scripts: passkeys ? ['passkeys'] : [],
    body: html`<section class="card">
${heading(text.title, asks ? text.lead : text.chooseLead, app, site)}
${notice !== undefined && html`<div class="notice" role="status"><p>${notice}</p></div>`}
${problemSummary(messages, problems)}
${home !== undefined && homeNotice(site, home, app)}
${continueAs !== undefined && continueForm(site, continueAs, form)}
${passkeys && passkeyForm(site, { id: PASSKEY_FORM, action: '/login/passkey', options: `/login/passkey${requestQuery(app)}`, kind: 'get', token: form.token, values: requestFields(app), autofill: true })}
<form method="post" action="${path('/login')}" novalidate>
${hidden(form.token, { ...form.expired, ...requestFields(app) })}
${field({ name: 'identifier', label: text.identifier, type: 'text', autocomplete: passkeys ? 'username webauthn' : 'username', value: identifier, problems, focus: asks && identifier === '' })}
${passwordField({ name: 'password', label: text.password, autocomplete: 'current-password', problems, messages, focus: asks && identifier !== '' })}
<button class="${asks && home === undefined ? 'primary' : 'equal'}" type="submit">${text.submit}</button>
</form>
${passkeys && passkeyButton(PASSKEY_FORM, messages.passkeys.signIn, 'equal')}
${form.signInCode && html`<a class="button" href="${path(`/login/code${requestQuery(app)}`)}">${messages.signInCode.offer}</a>`}${upstreamButtons(site, { app, upstreams: others })}
</section>
<p class="foot"><a href="${path(`/recover${requestQuery(app)}`)}">${messages.recovery.forgot}</a></p>
${form.offersSignUp && html`<p class="foot">${text.noAccount} <a href="${path(`/signup${requestQuery(app)}`)}">${text.create}</a></p>`}
${helpLine(site)}`,
  };
}

/** What a person typed on the sign-up page. The password is never shown again. */
export interface SignUpValues {
  readonly displayName: string;
  readonly username: string;
  readonly email: string;
}

/** A sign-up by invitation: its secret, and the address that it is bound to. */
interface InvitedForm {
  readonly invitation?: string | undefined;
  readonly fixedEmail?: string | undefined;
}

/**
 * The fields of a new account.
 * @param fixedEmail the address, where it cannot be chosen
 */
export function accountFields(
  { messages }: Site,
  values: SignUpValues,
  problems: Problems,
  fixedEmail?: string | undefined,
): Html {
  const text = messages.signUp;
  return html`${field({ name: 'displayName', label: text.displayName, type: 'text', autocomplete: 'name', capitals: 'words', value: values.displayName, hint: text.displayNameHint, problems, focus: true })}
${field({ name: 'username', label: text.username, type: 'text', autocomplete: 'username', value: values.username, hint: text.usernameHint, problems })}
${fixedEmail === undefined ? field({ name: 'email', label: text.email, type: 'email', autocomplete: 'email', value: values.email, problems }) : facts([fact(text.email, isolate(readableEmail(fixedEmail)), true)])}
${passwordField({ name: 'password', label: text.password, autocomplete: 'new-password', hint: text.passwordHint, problems, messages, strengthFor: {} })}`;
}

export function signUpPage(site: Site, form: SignInForm & InvitedForm & { readonly values: SignUpValues }): Page {
  const { messages, path } = site;
  const text = messages.signUp;
  const { app, values, fixedEmail } = form;
  const problems = fixedEmail === undefined ? form.problems : withoutField(form.problems, 'email');
  return {
    title: text.title,
    layout: 'narrow',
    problems,
    scripts: ['strength'],
    body: html`<section class="card">
${heading(text.title, text.lead, app, site)}
${problemSummary(messages, problems)}
<form method="post" action="${path('/signup')}" novalidate>
${hidden(form.token, { ...requestFields(app), ...(form.invitation !== undefined && { invitation: form.invitation }) })}
${accountFields(site, values, problems, fixedEmail)}
<button class="primary" type="submit">${text.submit}</button>
</form>${upstreamButtons(site, form)}
</section>
<p class="foot">${text.haveAccount} <a href="${path(`/login${requestQuery(app)}`)}">${text.signIn}</a></p>
${helpLine(site)}`,
  };
}
