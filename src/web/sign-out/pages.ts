import type { Account } from '../../accounts/store.ts';
import type { DeveloperAdvice } from '../../clients/rules/developer-advice.ts';
import { destinationOf } from '../../clients/rules/redirect-uri.ts';
import { fact, hidden, isolate } from '../../pages/components.ts';
import { adviceFacts, developerDetails } from '../../pages/error-page.ts';
import { type Html, html } from '../../pages/html.ts';
import type { Page, Site } from '../../pages/layout.ts';

/** Why the page has no link to the client, for its developer. */
export interface LogoutFault {
  readonly description: string;
  /** About an address that is not registered. */
  readonly advice: DeveloperAdvice | undefined;
  readonly correlationId: string;
}

interface ConfirmationPage {
  readonly account: Account;
  /** The name of the client of the request, if it is identified. */
  readonly app: string | undefined;
  readonly returnTo: string | undefined;
  readonly fault: LogoutFault | undefined;
  readonly token: string;
  /** The parameters of the request, as hidden fields. */
  readonly carried: Readonly<Record<string, string>>;
}

/** The path of the confirmation form. */
export const CONFIRM_PATH = '/oidc/logout/confirm';

/** Asks the person whether to sign out: OpenID Connect RP-Initiated Logout 1.0 §2. */
export function confirmationPage(
  site: Site,
  { account, app, returnTo, fault, token, carried }: ConfirmationPage,
): Page {
  const { messages, path } = site;
  const text = messages.signOut;
  return {
    title: text.askTitle,
    layout: 'narrow',
    theme: account.profile.theme,
    body: html`<section class="card">
<header><h1>${text.askHeading}</h1><p>${app === undefined ? text.somebodyAsks : text.asks(html`<strong>${isolate(app)}</strong>`)}</p></header>
<p><span class="muted">${messages.consent.signedInAs}</span> ${account.profile.username}</p>
<form method="post" action="${path(CONFIRM_PATH)}">${hidden(token, carried)}
<p class="muted small">${text.whatHappens}${returnTo !== undefined && html` ${text.returnsTo(isolate(destinationOf(returnTo)))}`}</p>
<div class="actions"><button class="primary" type="submit">${text.confirm}</button><a href="${path('/account')}">${text.stay}</a></div></form>
${faultSection(site, fault)}</section>`,
  };
}

interface SignedOutPage {
  readonly app: string | undefined;
  /** The registered address with the client's state. */
  readonly wayBack: string | undefined;
  readonly fault: LogoutFault | undefined;
}

/** Says that the visitor is signed out. */
export function signedOutPage(site: Site, { app, wayBack, fault }: SignedOutPage): Page {
  const { messages, path } = site;
  const text = messages.signOut;
  return {
    title: text.doneTitle,
    layout: 'narrow',
    body: html`<section class="card">
<header><h1>${text.doneTitle}</h1><p>${text.done}</p></header>
${app !== undefined && wayBack !== undefined && html`<p><a href="${wayBack}">${text.backTo(isolate(app))}</a></p>`}
<p><a href="${path('/login')}">${text.signInAgain}</a></p>
${faultSection(site, fault)}</section>`,
  };
}

function faultSection({ messages }: Site, fault: LogoutFault | undefined): Html | undefined {
  if (fault === undefined) return undefined;
  const { description, advice, correlationId } = fault;
  const reason = fact(messages.error.reason, description, true);
  return developerDetails(
    messages,
    [reason, ...(advice === undefined ? [] : adviceFacts(messages, advice))],
    correlationId,
  );
}
