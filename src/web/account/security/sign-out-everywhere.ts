import type { FastifyInstance } from 'fastify';
import { signOutEverywhere } from '../../../account-actions/accounts/accounts.ts';
import { takeGeneration } from '../../../account-actions/accounts/generation-limit.ts';
import { endOfTokens } from '../../../account-actions/sign-in/end-sessions.ts';
import { hidden, moment, revocationText } from '../../../pages/components.ts';
import { html } from '../../../pages/html.ts';
import { type Page, type Site, sendPage } from '../../../pages/layout.ts';
import type { RevocationSummary } from '../../../verdict/rules.ts';
import { forgetPerson } from '../../browser/forget-person.ts';
import type { PageServices } from '../../sign-in/routes.ts';
import type { AccountRow } from '../rows.ts';
import { type AccountHooks, servicesIn, visitOf } from '../visit.ts';
import type { SecuritySection, SecurityState } from './section.ts';

/** Ending every session and all access of apps. */
export const signOutEverywhereSection: SecuritySection = { name: 'sign-out-everywhere', row, routes };

function row({ site: { messages, path } }: PageServices, { token }: SecurityState): AccountRow {
  const { account: text } = messages;
  return {
    title: text.signOutEverywhere,
    state: text.signOutEverywhereState,
    content: html`<p class="muted small">${text.signOutEverywhereLead}</p>
<form method="post" action="${path('/account/sign-out-everywhere')}">${hidden(token)}<div><button class="danger" type="submit">${text.signOutEverywhere}</button></div></form>`,
  };
}

function routes(app: FastifyInstance, services: PageServices, { countEnding }: AccountHooks): void {
  const { site, browsers } = services;
  app.post('/account/sign-out-everywhere', { preHandler: countEnding }, async (request, reply) => {
    const visit = visitOf(request);
    await takeGeneration(services, { accountId: visit.account.id, origin: visit.origin });
    const { updatedAt } = await signOutEverywhere(servicesIn(services, visit), visit.account.id, visit.origin);
    forgetPerson(browsers, reply);
    const summary = await endOfTokens(services, visit.account);
    return sendPage(reply, 200, site, everywherePage(site, { at: updatedAt, ...summary }));
  });
}

/** What signing out everywhere ended, shown to a browser that is no longer signed in. */
function everywherePage(
  { messages, path }: Site,
  { at, ...summary }: RevocationSummary & { readonly at: number },
): Page {
  const text = messages.account;
  const checked = revocationText(summary, messages);
  return {
    title: text.everywhereDone,
    layout: 'narrow',
    body: html`<section class="card"><header><h1>${text.everywhereDone}</h1><p>${text.everywhereDoneText(moment(at))}</p></header>
${checked && html`<p>${checked}</p>`}
<p><a href="${path('/login')}">${messages.signOut.signInAgain}</a></p></section>`,
  };
}
