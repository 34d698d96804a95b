import type { Method } from '../../authenticators/rules/authentication-context.ts';
import {
  doneNotice,
  field,
  helpLine,
  hidden,
  isolate,
  operator,
  type Problems,
  problemSummary,
} from '../../pages/components.ts';
import { type Html, html } from '../../pages/html.ts';
import type { Page, Site } from '../../pages/layout.ts';
import { passkeyButton, passkeyForm } from '../../pages/passkey.ts';
import { DAY } from '../../platform/clock.ts';
import type { RepeatableParameters } from '../../platform/http/parameters.ts';
import { requestFields } from '../authorize/request-fields.ts';
import { heading, type RequestingApp, requestQuery } from './pages.ts';

/** The methods for which a person types a code. */
export type CodeMethod = Extract<Method, 'totp' | 'recovery code'>;

interface VerifyPage {
  readonly token: string;
  readonly app: RequestingApp | undefined;
  readonly username: string;
  readonly problems: Problems;
  /** The one whose form is shown. */
  readonly shown: CodeMethod;
  /** Whether a passkey can be used instead. */
  readonly passkeys: boolean;
  /** Whether a code can be typed: of an authenticator app, or a recovery code. */
  readonly codes: boolean;
  /** For how long the browser can be trusted, in milliseconds; null where that is not offered. */
  readonly trustLifetime: number | null;
}

/** The name of the field of a person who trusts the browser. */
export const TRUST = 'trust';

/** The name of the parameter and field that says which code is typed. */
const WITH = 'with';

const nameOf = (method: CodeMethod): string => (method === 'totp' ? 'app' : 'recovery-code');

/** Which code is typed, by the parameters of a page or form. */
export const codeMethodOf = (parameters: RepeatableParameters): CodeMethod =>
  parameters.get(WITH) === 'recovery-code' ? 'recovery code' : 'totp';

/** A link to the same page with the form of the other kind of code. */
export function otherCodeLink(
  { messages, path }: Site,
  address: string,
  shown: CodeMethod,
  parameters: Readonly<Record<string, string>>,
): Html {
  const text = messages.verify;
  const other: CodeMethod = shown === 'totp' ? 'recovery code' : 'totp';
  const query = new URLSearchParams({ ...parameters, [WITH]: nameOf(other) });
  return html`<a href="${path(address)}?${query.toString()}">${other === 'totp' ? text.useTotp : text.useRecoveryCode}</a>`;
}

/** The input for a code, with the name and the value that say which kind it is. */
export function codeField({ messages }: Site, method: CodeMethod, problems: Problems): Html {
  const text = messages.verify;
  const about =
    method === 'totp'
      ? ({ label: text.totpCode, hint: text.totpHint, autocomplete: 'one-time-code', inputMode: 'numeric' } as const)
      : ({ label: text.recoveryCode, autocomplete: 'off', hint: text.recoveryHint } as const);
  return html`<input type="hidden" name="${WITH}" value="${nameOf(method)}">
${field({ name: 'code', type: 'text', value: '', problems, focus: true, ...about })}`;
}

/** What is said of a wrong code. */
export const wrongCode = ({ messages }: Site, method: CodeMethod): Problems => ({
  fields: { code: method === 'totp' ? messages.verify.totpWrong : messages.verify.recoveryWrong },
  general: [],
});

export function verifyPage(site: Site, page: VerifyPage): Page {
  const { messages, path } = site;
  const text = messages.verify;
  const { token, app, problems, shown, username, passkeys, codes, trustLifetime } = page;
  const options = `/login/verify/passkey${requestQuery(app)}`;
  return {
    title: text.title,
    layout: 'narrow',
    problems,
    scripts: passkeys ? ['passkeys'] : [],
    body: html`<section class="card">
${heading(text.title, messages.signIn.lead, app, site)}
<p class="muted">${text.signingIn(html`<strong>${isolate(username)}</strong>`)}</p>
${problemSummary(messages, problems)}
${passkeys && passkeyForm(site, { id: 'use-passkey', action: '/login/verify', options, kind: 'get', token, values: requestFields(app) })}
${passkeys && passkeyButton('use-passkey', messages.passkeys.use, 'equal')}
<form method="post" action="${path('/login/verify')}" novalidate>
${hidden(token, requestFields(app))}
${
  codes &&
  html`${codeField(site, shown, problems)}
${shown === 'recovery code' && html`<p class="muted small">${text.codesLost(operator(site))}</p>`}
${trustLifetime !== null && html`<label class="check"><input type="checkbox" name="${TRUST}" value="on"><span>${text.trust(trustLifetime / DAY)}</span></label>`}
<button class="primary" type="submit">${text.submit}</button>
<p>${otherCodeLink(site, '/login/verify', shown, requestFields(app))}</p>`
}
<button class="link" type="submit" name="action" value="another" formnovalidate>${text.another}</button>
</form>
</section>
${shown === 'totp' && helpLine(site)}`,
  };
}

/** After a sign-in with a recovery code: how many are left, and where the person continues. */
export function codeUsedPage(
  site: Site,
  { app, left, next }: { readonly app: RequestingApp | undefined; readonly left: number; readonly next: string },
): Page {
  const { messages, path } = site;
  const text = messages.verify;
  return {
    title: text.usedTitle,
    layout: 'narrow',
    body: html`<section class="card">
${heading(text.usedTitle, messages.signIn.lead, app, site)}
${doneNotice(html`<p>${text.used(left)}</p>`)}
<p>${text.usedLost}</p>
<a class="button primary" href="${path(next)}">${text.submit}</a>
</section>
${helpLine(site)}`,
  };
}
