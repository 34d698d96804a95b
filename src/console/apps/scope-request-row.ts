import type { ShownScopeRequest } from '../../account-actions/scope-requests/scope-requests.ts';
import type { NamedRequest } from '../../clients/scope-request-store.ts';
import { holds, type Place } from '../../operators/rights.ts';
import { isolate, moment } from '../../pages/components.ts';
import { type Html, type HtmlPart, html } from '../../pages/html.ts';
import type { Site } from '../../pages/layout.ts';
import { personLink } from '../links.ts';
import type { ConsoleVisit } from '../visit.ts';
import { appActAddress, appAddress } from './addresses.ts';

/** The acts on a request, each the last part of its address. */
export const SCOPE_ACTS = { approve: 'approve-scope', decline: 'decline-scope', withdraw: 'withdraw-scope' } as const;

/**
 * A request with its state, and what the operator may do with it.
 * @param appName where the list has requests of several apps
 */
export function scopeRequestRow(
  site: Site,
  visit: ConsoleVisit,
  request: NamedRequest & ShownScopeRequest,
  place: Place,
  appName?: string,
): Html {
  const { path, messages } = site;
  const { scopes: text } = messages.operators;
  const { id, clientId, scope, resource, reason, outcome, answer } = request;
  const status = outcome ?? (request.isEnded ? 'ended' : 'waiting');
  const to = (name: string) => path(appActAddress(name, { app: clientId, asked: id }));
  const link = (name: string, label: string, of: string): Html =>
    html`<a href="${to(name)}" aria-label="${of}">${label}</a>`;
  const decides = outcome === null && holds(visit.operator, 'apps.approve', place);
  const links: HtmlPart[] = [
    decides && !request.isEnded && link(SCOPE_ACTS.approve, text.approve, text.approveOf(scope, appName ?? clientId)),
    decides && link(SCOPE_ACTS.decline, text.decline, text.declineOf(scope, appName ?? clientId)),
    outcome === null &&
      !decides &&
      holds(visit.operator, 'apps.manage', place) &&
      link(SCOPE_ACTS.withdraw, text.withdraw, text.withdrawOf(scope)),
  ];
  const forApp =
    appName !== undefined && text.forApp(html`<a href="${path(appAddress(clientId))}">${isolate(appName)}</a>`);
  // A list of requests that wait says so once.
  const state =
    (appName === undefined || status !== 'waiting') &&
    html`<strong${status === 'ended' && html` class="state"`}>${text.statuses[status]}</strong><br>`;
  return html`<li><div>${state}<code>${isolate(scope)}</code>${resource !== null && text.ofApi(isolate(resource))}${forApp}<br><span class="small muted">${askedText(site, visit, request)}</span><br><span class="small">${text.reason(isolate(reason))}</span>${answer !== null && html`<br><span class="small">${text.answer(isolate(answer))}</span>`}</div><span class="row-acts">${links}</span></li>`;
}

function askedText(site: Site, visit: ConsoleVisit, { askedBy, askerName, askedAt }: NamedRequest): HtmlPart {
  const { scopes: text } = site.messages.operators;
  const at = moment(askedAt);
  if (askedBy === null || askedBy === visit.account.id) return text.asked(at);
  return text.askedBy(at, askerName === null ? text.adminKey : personLink(site, visit, askedBy, isolate(askerName)));
}
