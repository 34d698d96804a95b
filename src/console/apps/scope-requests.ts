import type { FastifyInstance } from 'fastify';
import { waitingScopeRequests } from '../../account-actions/scope-requests/scope-requests.ts';
import { reachOf } from '../../operators/rights.ts';
import { html } from '../../pages/html.ts';
import { sendPage } from '../../pages/layout.ts';
import { queryOf } from '../../platform/http/parameters.ts';
import { consolePage } from '../layout.ts';
import { afterOf, forward, items, onward, PAGE_SIZE, pageOfRows } from '../list.ts';
import { type ConsoleServices, consoleVisitOf } from '../visit.ts';
import { placeOfApp, SCOPE_REQUESTS } from './addresses.ts';
import { scopeRequestRow } from './scope-request-row.ts';

/** The scope requests that wait, of every app that the operator reaches. */
export function waitingRequestRoutes(app: FastifyInstance, services: ConsoleServices): void {
  const { site, clock, developers } = services;
  const { scopes: text } = site.messages.operators;

  app.get(SCOPE_REQUESTS, { config: { permission: 'apps.read' } }, async (request, reply) => {
    const visit = consoleVisitOf(request);
    const after = afterOf(queryOf(request));
    const page = { after, limit: PAGE_SIZE + 1 };
    const moment = { policy: developers.policy, now: clock() };
    const found = await visit.services.database.read(() =>
      waitingScopeRequests(page, reachOf(visit.operator, 'apps.read'), moment),
    );
    const { rows, next } = pageOfRows(found);
    const listed = rows.map((one) => scopeRequestRow(site, visit, one, placeOfApp(one), one.appName));
    const content = html`<header><h1>${text.waitingTitle}</h1><p class="muted">${text.waitingLead}</p></header>
<section class="card" aria-label="${text.waitingTitle}">${items(listed, text.noneWaits)}${onward(site, SCOPE_REQUESTS, forward(site, after, next))}</section>`;
    return sendPage(reply, 200, site, consolePage(site, visit, { section: 'apps', title: text.waitingTitle, content }));
  });
}
