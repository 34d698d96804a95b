import { seedUri } from '../../account-actions/authentication/totp.ts';
import type { Enrollment } from '../../account-actions/factors/second-factors.ts';
import { field, helpLine, hidden, isolate, type Problems, problemSummary } from '../../pages/components.ts';
import { type Html, html } from '../../pages/html.ts';
import type { Page, Site } from '../../pages/layout.ts';
import { passkeyButton, passkeyForm } from '../../pages/passkey.ts';
import { seedToScan } from '../../pages/two-step.ts';
import { readableEmail } from '../../platform/domain-name.ts';
import { requestFields } from '../authorize/request-fields.ts';
import { heading, type RequestingApp, requestQuery } from './pages.ts';

export const ENROLL = '/login/enroll';
export const ENROLL_PASSKEY = '/login/enroll/passkey';

/** What every page of an enrollment shows. */
interface EnrollFrame {
  readonly app: RequestingApp | undefined;
  readonly username: string;
  readonly token: string;
  readonly problems: Problems;
  /** Whether only a passkey meets what is required. */
  readonly isPasskeyAlone: boolean;
}

interface EnrollPage extends EnrollFrame {
  /** The authenticator app to set up; undefined where none meets what is required. */
  readonly totp: { readonly enrollment: Enrollment; readonly issuer: string } | undefined;
  readonly passkeys: boolean;
  /** Whether the person has nothing beside their password, so that a passkey secures the account. */
  readonly isFirst: boolean;
}

/** The page on which a person sets up a second factor that is required of them. */
export async function enrollFactorPage(site: Site, page: EnrollPage): Promise<Page> {
  const { messages } = site;
  const text = messages.enroll;
  const { totp, passkeys, isPasskeyAlone } = page;
  const totpSection =
    totp &&
    html`${await seedToScan(site, totp.enrollment.seed, await seedUri(totp.enrollment.seed, totp.issuer, page.username))}
${form(
  site,
  page,
  { enrollment: totp.enrollment.sealed },
  html`<h2>${messages.twoStep.show}</h2>
${field({ name: 'code', label: messages.verify.totpCode, type: 'text', autocomplete: 'one-time-code', inputMode: 'numeric', value: '', problems: page.problems })}
<p class="muted small">${messages.twoStep.securedLead}</p>
<button class="primary" type="submit">${messages.twoStep.confirm}</button>`,
)}`;
  const content = html`<p>${isPasskeyAlone ? text.passkeyLead : text.lead}</p>
${totpSection}
${passkeys && passkeySection(site, page)}`;
  return framed(site, page, content, passkeys ? ['passkeys'] : []);
}

function passkeySection(site: Site, { app, token, isPasskeyAlone, isFirst }: EnrollPage): Html {
  const { enroll: text, passkeys, twoStep } = site.messages;
  return html`${!isPasskeyAlone && html`<h2>${text.passkey}</h2>`}
${passkeyForm(site, {
  id: 'add-passkey',
  action: ENROLL,
  options: `${ENROLL_PASSKEY}${requestQuery(app)}`,
  kind: 'create',
  token,
  values: requestFields(app),
  content: html`<p class="muted small" data-without-passkeys>${passkeys.unsupported}</p>${isFirst && html`<p class="muted small">${twoStep.securedLead}</p>`}${passkeyButton('add-passkey', passkeys.add, isPasskeyAlone ? 'primary' : 'equal')}`,
})}`;
}

/** The page that verifies the person's address before they set up a factor. */
export function verifyAddressPage(
  site: Site,
  page: EnrollFrame & { readonly email: string; readonly isSent: boolean; readonly hint: Html | undefined },
): Page {
  const { enroll: text, address } = site.messages;
  const { email, isSent, hint, problems } = page;
  const shown = isolate(readableEmail(email));
  const codeField = {
    name: 'code',
    label: address.code,
    hint: address.codeHint,
    type: 'text',
    autocomplete: 'one-time-code',
    inputMode: 'numeric',
    value: '',
    problems,
  } as const;
  const content = html`<h2>${text.verifyTitle}</h2>
<p>${isSent ? address.codeLead(shown) : text.verifyLead(shown)}</p>
${hint}
${
  isSent &&
  form(
    site,
    page,
    { action: 'verify' },
    html`${field(codeField)}<button class="primary" type="submit">${address.codeSubmit}</button>`,
  )
}
${form(site, page, { action: 'send' }, html`<button class="${isSent ? 'equal' : 'primary'}" type="submit">${isSent ? text.resend : text.send}</button>`)}
<p><a href="${site.path('/account/email')}">${text.changeAddress}</a>${text.comeBack}</p>`;
  return framed(site, page, content, []);
}

const form = ({ path }: Site, { token, app }: EnrollFrame, values: Readonly<Record<string, string>>, content: Html) =>
  html`<form method="post" action="${path(ENROLL)}" novalidate>${hidden(token, { ...requestFields(app), ...values })}
${content}</form>`;

/** A page of an enrollment, which always has a way out: back to the app, or to another account. */
function framed(site: Site, page: EnrollFrame, content: Html, scripts: NonNullable<Page['scripts']>): Page {
  const { messages, path } = site;
  const text = messages.enroll;
  const { app, username, problems, isPasskeyAlone } = page;
  const { title, appLead } = isPasskeyAlone ? text.passkeyAlone : text.twoStep;
  return {
    title,
    layout: 'narrow',
    problems,
    scripts,
    body: html`<section class="card">
${heading(title, appLead, app, site)}
<p class="muted">${messages.consent.signedInAs} <strong>${isolate(username)}</strong></p>
${problemSummary(messages, problems)}
${content}
<hr>
${form(site, page, { action: 'cancel' }, html`<button class="link" type="submit">${text.cancel}</button>`)}
<p><a href="${path(`/login${requestQuery(app)}`)}">${text.another}</a></p>
</section>
${helpLine(site)}`,
  };
}
