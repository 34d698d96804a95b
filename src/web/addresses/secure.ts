import type { FastifyInstance } from 'fastify';
import { readReport, secureAccount } from '../../account-actions/addresses/secure-account.ts';
import { SECURE_PATH } from '../../account-actions/notices/notices.ts';
import { isByOperators, reportSentences } from '../../account-actions/notices/rules/notice-text.ts';
import { isOffboarded } from '../../accounts/rules/may-act.ts';
import type { Account } from '../../accounts/store.ts';
import { hidden, isolate, moment, operator } from '../../pages/components.ts';
import { type Html, html } from '../../pages/html.ts';
import { type Page, type Site, sendPage } from '../../pages/layout.ts';
import { formOf } from '../../platform/http/bodies.ts';
import { queryOf } from '../../platform/http/parameters.ts';
import { redirect } from '../../platform/http/server.ts';
import { originOf } from '../../platform/validation/origin.ts';
import { accountStatus } from '../../verdict/rules.ts';
import type { PageServices } from '../sign-in/routes.ts';
import { sendDeadLink } from './dead-link.ts';

const CONTEXT = 'secure account';

/** The page behind "This was not me" in messages. */
export function secureAccountRoutes(app: FastifyInstance, services: PageServices): void {
  const { site, browsers } = services;
  const text = site.messages.address;

  app.get(SECURE_PATH, async (request, reply) => {
    const token = queryOf(request).get('token') ?? '';
    const open = await readReport(services, token);
    if (open === undefined) return sendDeadLink(services, reply, 'secure', token);
    const browser = browsers.of(request, reply);
    const { account, report, since, decidedSince } = open;
    const asks = text.secure[isByOperators(report) ? 'operator' : 'person'];
    return sendPage(reply, 200, site, {
      title: asks.title,
      layout: 'narrow',
      body: html`<section class="card"><header><h1>${asks.title}</h1><p class="muted">${text.secureLead(isolate(account.profile.username))}</p></header>
<ul>${reportSentences(report).map((sentence) => html`<li>${sentence}</li>`)}</ul>
<p>${asks.text}</p>
${effectsList(services, account, { since, isEarlierToo: decidedSince === undefined, address: 'present' })}
<form method="post" action="${site.path(SECURE_PATH)}">${hidden(browser.formToken(CONTEXT), { token })}
<div><button class="danger" type="submit">${asks.submit}</button></div></form>
<p class="muted small">${asks.stay}</p></section>`,
    });
  });

  app.post(SECURE_PATH, async (request, reply) => {
    browsers.rejectCrossSiteForm(request);
    const form = formOf(request);
    const token = form.get('token') ?? '';
    // A form of another browser: the page is shown, and asks again.
    if (!browsers.of(request, reply).owns(form, CONTEXT)) {
      return redirect(request, reply, site.path(`${SECURE_PATH}?token=${encodeURIComponent(token)}`));
    }
    const account = await secureAccount(services, token, originOf(request));
    if (account === undefined) return sendDeadLink(services, reply, 'secure', token);
    return sendPage(reply, 200, site, securedPage(site, accountStatus(account, services.clock()) !== 'active'));
  });
}

/** What happens to an account that its person takes back. */
export function effectsList(
  { site, clock }: Pick<PageServices, 'site' | 'clock'>,
  account: Account,
  back: {
    readonly since: number;
    readonly isEarlierToo: boolean;
    readonly address: 'present' | 'earlier';
  },
): Html {
  const effects = site.messages.address.effects({
    ...back,
    since: moment(back.since),
    isBarred: accountStatus(account, clock()) !== 'active',
    isDeletionAsked: account.deletionDueAt !== null && !isOffboarded(account),
  });
  return html`<ul>${effects.map((effect) => html`<li>${effect}</li>`)}</ul>`;
}

function securedPage(site: Site, isBarred: boolean): Page {
  const { address: text } = site.messages;
  return {
    title: text.securedTitle,
    layout: 'narrow',
    body: html`<section class="card"><header><h1>${text.securedTitle}</h1><p>${text.secured}</p></header>
${nextSteps(site, isBarred)}${!isBarred && html`<p class="muted small">${text.securedLost}${operator(site)}.</p>`}</section>`,
  };
}

/** What a person does next whose account was secured: nobody recovers a banned or suspended one. */
export function nextSteps(site: Site, isBarred: boolean): Html {
  const { address: text } = site.messages;
  return isBarred
    ? html`<p>${text.securedBarred}${operator(site)}.</p>`
    : html`<p>${text.securedNext}</p>
<p><a class="button" href="${site.path('/recover')}">${text.securedAgain}</a></p>`;
}
