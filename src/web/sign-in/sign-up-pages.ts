import {
  field,
  helpLine,
  hidden,
  isolate,
  operator,
  type Problems,
  problemSummary,
  resendForm,
} from '../../pages/components.ts';
import { type Html, type HtmlPart, html } from '../../pages/html.ts';
import type { Page, Site } from '../../pages/layout.ts';
import { readableEmail } from '../../platform/domain-name.ts';
import { requestFields } from '../authorize/request-fields.ts';
import { heading, type RequestingApp, requestQuery } from './pages.ts';
import { signUpTexts as text } from './sign-up-messages.ts';

const startAgain = ({ path }: Site, app: RequestingApp | undefined, label: string): Html =>
  html`<a href="${path(`/signup${requestQuery(app)}`)}">${label}</a>`;

export const notice = (site: Site, title: string, content: HtmlPart, after: HtmlPart): Page => ({
  title,
  layout: 'narrow',
  body: html`<section class="card"><header><h1>${title}</h1></header>
<p>${content}</p>
<p>${after}</p></section>
${helpLine(site)}`,
});

/** Where people cannot create accounts, or only with an invitation. */
export function noSignUpPage(site: Site, mode: 'invitation' | 'closed', app: RequestingApp | undefined): Page {
  const signIn = html`<a href="${site.path(`/login${requestQuery(app)}`)}">${text.haveAccount}</a>`;
  return mode === 'closed'
    ? notice(site, text.closedTitle, text.closed(operator(site)), signIn)
    : notice(site, text.invitationTitle, text.invitation(operator(site)), signIn);
}

interface VerifyPage {
  readonly token: string;
  readonly app: RequestingApp | undefined;
  readonly problems: Problems;
  /** Undefined where no sign-up waits in this browser. */
  readonly address: string | undefined;
  /** About the mail of this server. */
  readonly hint: Html | undefined;
  /** In how many seconds another code is offered; undefined where no sign-up waits. */
  readonly seconds: number | undefined;
}

/** Asks for the code that was sent to the address of a sign-up. */
export function verifySignUpPage(site: Site, { token, app, problems, address, hint, seconds }: VerifyPage): Page {
  const { path } = site;
  const again = html`<a href="${path(`/signup?${new URLSearchParams({ ...(app && { request: app.handle }), again: 'yes' }).toString()}`)}">${text.again}</a>`;
  return {
    title: text.verifyTitle,
    layout: 'narrow',
    problems,
    body: html`<section class="card">
${heading(text.verifyTitle, site.messages.signUp.lead, app, site)}
<p>${address === undefined ? text.verifyLeadUnknown : text.verifyLead(isolate(readableEmail(address)))}</p>
${hint}
${problemSummary(site.messages, problems)}
<form method="post" action="${path('/signup/verify')}" novalidate>
${hidden(token, requestFields(app))}
${field({ name: 'code', label: text.code, type: 'text', autocomplete: 'one-time-code', inputMode: 'numeric', value: '', hint: text.codeHint, problems, focus: true })}
<button class="primary" type="submit">${text.submit}</button>
</form>
${seconds !== undefined && resendForm(site, { action: '/signup/verify', token, values: { ...requestFields(app), action: 'resend' }, label: text.resend, seconds })}
</section>
<p class="foot">${text.nothing} ${again}.</p>
${helpLine(site)}`,
  };
}

/** The page of the link in the browser that began the sign-up: only its button does anything. */
export function signUpLinkPage(
  site: Site,
  { token, link, address, handle }: { token: string; link: string; address: string; handle: string | undefined },
): Page {
  const fields = { link, ...(handle !== undefined && { request: handle }) };
  return {
    title: text.linkTitle,
    layout: 'narrow',
    body: html`<section class="card"><header><h1>${text.linkTitle}</h1></header>
<p>${text.linkLead(isolate(readableEmail(address)))}</p>
<form method="post" action="${site.path('/signup/verify')}">${hidden(token, fields)}<button class="primary" type="submit">${text.submit}</button></form></section>
${helpLine(site)}`,
  };
}

/** The page of the link in another browser. */
export const signUpElsewherePage = (site: Site): Page =>
  notice(site, text.elsewhereTitle, text.elsewhere, startAgain(site, undefined, text.startAgain));

/** The page of a link that no longer works. */
export const signUpDeadLinkPage = (site: Site): Page =>
  notice(
    site,
    text.deadTitle,
    text.dead,
    html`${startAgain(site, undefined, text.startAgain)}<br><a href="${site.path('/login')}">${text.haveAccount}</a>`,
  );
