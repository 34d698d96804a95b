import type { FoundRecovery } from '../../account-actions/recovery/complete.ts';
import {
  field,
  helpLine,
  hidden,
  isolate,
  NO_PROBLEMS,
  operator,
  type Problems,
  passwordField,
  problemSummary,
  resendForm,
} from '../../pages/components.ts';
import { type Html, html } from '../../pages/html.ts';
import type { Page, Site } from '../../pages/layout.ts';
import { passkeyButton, passkeyForm } from '../../pages/passkey.ts';

/** What the forms of these pages share. */
interface RecoveryForm {
  readonly token: string;
  readonly problems: Problems;
  /** The handle of the pending request that needs the sign-in, if there is one. */
  readonly request: string | undefined;
}

const requestField = (request: string | undefined) => (request === undefined ? {} : { request });
const requestQuery = (request: string | undefined) =>
  request === undefined ? '' : `?request=${encodeURIComponent(request)}`;

interface Around {
  readonly problems?: Problems;
  readonly foot?: Html;
}

function narrow(site: Site, title: string, body: Html, { problems = NO_PROBLEMS, foot }: Around = {}): Page {
  return {
    title,
    layout: 'narrow',
    problems,
    scripts: ['strength'],
    body: html`<section class="card"><header><h1>${title}</h1></header>
${body}</section>
${foot !== undefined && html`<p class="foot">${foot}</p>`}
${helpLine(site)}`,
  };
}

const backToSignIn = ({ messages, path }: Site, request: string | undefined): Html =>
  html`<a href="${path(`/login${requestQuery(request)}`)}">${messages.recovery.back}</a>`;

/** Asks for the name of the account. */
export function askPage(
  site: Site,
  { token, problems, request, identifier }: RecoveryForm & { readonly identifier: string },
): Page {
  const text = site.messages.recovery;
  const body = html`<p>${text.lead}</p>
${problemSummary(site.messages, problems)}
<form method="post" action="${site.path('/recover')}" novalidate>${hidden(token, requestField(request))}
${field({ name: 'identifier', label: text.identifier, type: 'text', autocomplete: 'username', value: identifier, problems, focus: true })}
<button class="primary" type="submit">${text.submit}</button></form>`;
  return narrow(site, text.title, body, { problems, foot: backToSignIn(site, request) });
}

/** Where the server sends no mail: whom to ask. */
export const noMailPage = (site: Site, request: string | undefined): Page =>
  narrow(site, site.messages.recovery.title, html`<p>${site.messages.recovery.noMail(operator(site))}</p>`, {
    foot: backToSignIn(site, request),
  });

interface CodePage extends RecoveryForm {
  /** About the mail of this server. */
  readonly hint: Html | undefined;
  /** The form that asks for the message again; undefined where the name is not known any more. */
  readonly resend: { readonly token: string; readonly seconds: number } | undefined;
}

/** Asks for the code of the message. */
export function codePage(site: Site, { token, problems, request, hint, resend }: CodePage): Page {
  const text = site.messages.recovery;
  const body = html`<p>${text.sentLead}</p><p class="muted small">${text.sentNote}</p>
${hint}
${problemSummary(site.messages, problems)}
<form method="post" action="${site.path('/recover/code')}" novalidate>${hidden(token, requestField(request))}
${field({ name: 'sent_code', label: text.code, type: 'text', autocomplete: 'one-time-code', inputMode: 'numeric', value: '', hint: text.codeHint, problems, focus: true })}
<button class="primary" type="submit">${text.codeSubmit}</button></form>
${
  resend &&
  resendForm(site, {
    action: '/recover',
    token: resend.token,
    values: { ...requestField(request), again: 'yes' },
    label: text.resend,
    seconds: resend.seconds,
  })
}`;
  const again = html`<a href="${site.path(`/recover${requestQuery(request)}`)}">${text.again}</a>`;
  return narrow(site, text.sentTitle, body, { problems, foot: again });
}

/** A recovery, and whether it disconnects other providers. */
export interface ShownRecovery extends FoundRecovery {
  readonly hasProviders: boolean;
}

interface LinkForm {
  readonly token: string;
  readonly link: string;
  readonly problems: Problems;
}

/** The form of a link: a new password, and a code where one is asked for. */
export function passwordPage(
  site: Site,
  { account, asks, isImpossible, offersPasskey, hasProviders }: ShownRecovery,
  form: LinkForm,
): Page {
  const { messages, path } = site;
  const text = messages.recovery;
  const { username, displayName, email } = account.profile;
  const { problems } = form;
  if (isImpossible) return narrow(site, text.passwordTitle, html`<p>${text.impossible(operator(site))}</p>`);
  const lead = html`<p>${text.passwordLead(html`<strong>${isolate(username)}</strong>`)}</p>
<p class="muted small">${text.effects} ${text.effectsPasskeys} ${hasProviders && text.providers}</p>
${problemSummary(messages, problems)}`;
  const body = html`${lead}
<form method="post" action="${path('/recover/link')}" novalidate>${hidden(form.token, { token: form.link })}
<input type="text" name="username" value="${username}" autocomplete="username" hidden>
${factorFields(site, asks, problems)}
${passwordField({ name: 'password', label: text.newPassword, autocomplete: 'new-password', hint: messages.signUp.passwordHint, problems, messages, focus: asks.length === 0, strengthFor: { username, displayName, email } })}
<button class="primary" type="submit">${text.set}</button></form>
${offersPasskey && html`<p class="small"><a href="${replacementLink(site, form.link, 'passkey')}">${text.usePasskey}</a></p>`}`;
  return narrow(site, text.passwordTitle, body, { problems });
}

/** The address of a link's page with one of its forms. */
const replacementLink = ({ path }: Site, link: string, form: 'passkey' | 'password'): string =>
  path(`/recover/link?${new URLSearchParams({ token: link, ...(form === 'passkey' && { with: form }) }).toString()}`);

/** The field of the code that is asked for beside the link. */
function factorFields(site: Site, asks: FoundRecovery['asks'], problems: Problems): Html | undefined {
  const text = site.messages.recovery;
  if (asks.length === 0) return undefined;
  const about = asks.includes('totp')
    ? ({ label: text.factor, hint: text.factorHint, autocomplete: 'one-time-code' } as const)
    : ({ label: text.recoveryCode, hint: text.recoveryCodeHint, autocomplete: 'off' } as const);
  return html`${field({ name: 'factor', ...about, type: 'text', value: '', problems, focus: true })}
<p class="muted small">${text.factorLost(operator(site))}</p>`;
}

/** The form of a link that adds a new passkey in place of a password. */
export function passkeyPage(site: Site, { account, asks, hasProviders }: ShownRecovery, form: LinkForm): Page {
  const { messages } = site;
  const text = messages.recovery;
  const { problems, token, link } = form;
  const body = html`<p>${text.passwordLead(html`<strong>${isolate(account.profile.username)}</strong>`)}</p>
<p class="muted small">${text.passkeyLead} ${text.effects} ${hasProviders && text.providers}</p>
${problemSummary(messages, problems)}
${passkeyForm(site, {
  id: 'new-passkey',
  action: '/recover/link',
  options: `/recover/passkey?${new URLSearchParams({ token: link }).toString()}`,
  kind: 'create',
  token,
  values: { token: link },
  content: html`${factorFields(site, asks, problems)}
<p class="muted small" data-without-passkeys>${messages.passkeys.unsupported}</p><div>${passkeyButton('new-passkey', messages.passkeys.add, 'primary')}</div>`,
})}
<p class="small"><a href="${replacementLink(site, link, 'password')}">${text.usePassword}</a></p>`;
  return { ...narrow(site, text.passkeyTitle, body, { problems }), scripts: ['passkeys'] };
}

/** After a recovery with a passkey, where it made no recovery codes: where the person continues. */
export function passkeyDonePage(site: Site, isSignedIn: boolean, next: string, hadProviders: boolean): Page {
  const text = site.messages.recovery;
  const body = html`<p>${isSignedIn ? text.passkeyDoneHere : text.passkeyDoneLead} ${hadProviders && text.providers}</p>
<div><a class="button primary" href="${site.path(next)}">${isSignedIn ? text.next : text.signIn}</a></div>`;
  return narrow(site, text.passkeyDone, body);
}

/** A link that does not work (any more). */
export function gonePage(site: Site): Page {
  const text = site.messages.recovery;
  const again = html`<div><a class="button primary" href="${site.path('/recover')}">${text.goneAgain}</a></div>`;
  return narrow(
    site,
    text.goneTitle,
    html`<p>${text.gone}</p>
${again}`,
    { foot: backToSignIn(site, undefined) },
  );
}

/** The password is set, and this browser is not signed in. */
export function donePage(site: Site, hadProviders: boolean): Page {
  const text = site.messages.recovery;
  return narrow(
    site,
    text.doneTitle,
    html`<p>${text.done} ${hadProviders && text.providers}</p><div><a class="button primary" href="${site.path('/login')}">${text.signIn}</a></div>`,
  );
}
