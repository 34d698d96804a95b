import type { FastifyInstance } from 'fastify';
import type { Account } from '../../accounts/store.ts';
import { ownerShown } from '../../clients/rules/unregistered.ts';
import type { Client } from '../../clients/store.ts';
import { hidden, isolate, operator } from '../../pages/components.ts';
import { html } from '../../pages/html.ts';
import { type Page, type Site, sendPage } from '../../pages/layout.ts';
import { formOf } from '../../platform/http/bodies.ts';
import { originOf } from '../../platform/validation/origin.ts';
import { denyRequest } from '../../protocol/authorize/denial.ts';
import { refuseByRedirect } from '../../protocol/authorize/rules/refusals.ts';
import { formActionSources } from '../../protocol/authorize/rules/request.ts';
import { sendDeviceGone } from '../authorize/device-answer.ts';
import {
  type AuthorizationPageServices,
  advance,
  IN_FLOW,
  loadPendingRequest,
  pendingRequestOf,
  readPending,
} from '../authorize/pending-request.ts';
import { requestFields } from '../authorize/request-fields.ts';
import { refusalOfRedirect, sendResponse } from '../authorize/send-response.ts';
import { logoutContext } from '../browser/signed-in.ts';

const noAccessContext = (handle: string, account: Account): string => `no access ${handle} ${account.id}`;

/** What the log and the trace say. */
const NO_ACCESS = refusalOfRedirect(refuseByRedirect('not assigned'));

/** Decisions §12: the page of a person to whom the app is not open. It offers another account, and the way back to the app. */
export function noAccessRoutes(app: FastifyInstance, services: AuthorizationPageServices): void {
  const { browsers, site } = services;
  const preHandler = loadPendingRequest(services);

  app.get('/no-access', { config: IN_FLOW, preHandler }, async (request, reply) => {
    const pending = pendingRequestOf(request);
    const { step, visitor, client, handle } = pending;
    if (step.kind !== 'no access' || visitor.kind !== 'signed in') return advance(services, request, reply, pending);
    const { account } = visitor;
    const browser = browsers.of(request, reply);
    const page = noAccessPage(site, {
      client,
      account,
      handle,
      token: browser.formToken(noAccessContext(handle, account), visitor),
      logoutToken: browser.formToken(logoutContext(account.id), visitor),
    });
    request.refusal = NO_ACCESS;
    return sendPage(reply, 403, site, page, formActionSources(pending.request.redirectUri));
  });

  app.post('/no-access', { config: IN_FLOW, preHandler }, async (request, reply) => {
    const pending = pendingRequestOf(request);
    const { handle, step, visitor } = pending;
    const isOwn =
      visitor.kind === 'signed in' &&
      browsers.of(request, reply).owns(formOf(request), noAccessContext(handle, visitor.account));
    // Also where access was given meanwhile: the person goes on.
    if (!isOwn || step.kind !== 'no access') return advance(services, request, reply, pending);
    const origin = originOf(request, { type: 'user', id: visitor.account.id });
    const response = await denyRequest(services, pending, 'no access', origin);
    if (response === 'device gone') return sendDeviceGone(services, request, reply);
    if (response === undefined) {
      return advance(services, request, reply, await readPending(services, request, reply, handle));
    }
    request.refusal = NO_ACCESS;
    return sendResponse(services, request, reply, response);
  });
}

interface NoAccessPage {
  readonly client: Client;
  readonly account: Account;
  readonly handle: string;
  readonly token: string;
  readonly logoutToken: string;
}

function noAccessPage(site: Site, { client, account, handle, token, logoutToken }: NoAccessPage): Page {
  const { messages, path } = site;
  const text = messages.noAccess;
  const name = isolate(client.name);
  const { username, theme } = account.profile;
  const owner = ownerShown(client);
  const whom = owner === null ? operator(site) : isolate(owner);
  return {
    title: text.title(client.name),
    layout: 'narrow',
    theme,
    body: html`<section class="card">
<header><h1>${text.heading(name)}</h1><p>${text.lead(name)}</p></header>
<p>${text.ask(whom, html`<strong>${isolate(username)}</strong>`)}</p>
<div class="who"><p><span class="muted">${text.signedInAs}</span> ${username}</p>
<form method="post" action="${path('/logout')}">${hidden(logoutToken, { request: handle })}<button class="link" type="submit">${text.otherAccount}</button></form></div>
<form method="post" action="${path('/no-access')}">${hidden(token, requestFields({ handle, client }))}<button class="primary" type="submit">${text.back(name)}</button></form>
</section>`,
  };
}
