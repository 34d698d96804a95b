import type { FastifyInstance } from 'fastify';
import {
  readScopeRequests,
  type ShownScopeRequest,
  scopesAboutPerson,
} from '../../account-actions/scope-requests/scope-requests.ts';
import { type ClientWithSecrets, readRegistered } from '../../clients/clients.ts';
import { mayEnable } from '../../clients/decided-fields.ts';
import { isCommandLine } from '../../clients/rules/command-line.ts';
import { presentsSecret } from '../../clients/rules/registration.ts';
import type { NamedRequest } from '../../clients/scope-request-store.ts';
import { type Client, type ClientSecret, wireId } from '../../clients/store.ts';
import { holds, holdsSomewhere, INSTALLATION } from '../../operators/rights.ts';
import { commandBlock, copyable, fact, facts, field, isolate, moment, NO_PROBLEMS } from '../../pages/components.ts';
import { type Html, type HtmlPart, html } from '../../pages/html.ts';
import { type Site, sendPage } from '../../pages/layout.ts';
import type { Messages } from '../../pages/messages.ts';
import { consolePage } from '../layout.ts';
import { foldedOnPhone, longItems } from '../list.ts';
import { type ConsoleServices, type ConsoleVisit, consoleVisitOf } from '../visit.ts';
import { appActAddress, logAddress, placeOfApp, tryAddress } from './addresses.ts';
import { scopeRequestRow } from './scope-request-row.ts';

/** The page about an app: its state, the settings to copy, where its answers go, its secrets, and where to look further. */
export function appPageRoutes(app: FastifyInstance, services: ConsoleServices): void {
  const { site, issuer, clock, developers } = services;
  const config = { permission: 'apps.read', objects: { app: ['clientId'] } } as const;

  app.get<{ Params: { clientId: string } }>('/console/apps/:clientId', { config }, async (request, reply) => {
    const visit = consoleVisitOf(request);
    const { found, requests, switches } = await visit.services.database.read(function* read() {
      const now = clock();
      const found = yield* readRegistered(request.params.clientId, now);
      const { client } = found;
      const isActive = client.status === 'active';
      return {
        found,
        requests: yield* readScopeRequests(client, { policy: developers.policy, now }),
        switches: manages(visit, client) && (isActive || (yield* mayEnable(visit.operator, client))),
      };
    });
    const { client } = found;
    const content = html`<header class="object"><h1>${isolate(client.name)}</h1><p class="muted">${stateText(site, client)}</p></header>
${about(site, visit, client, switches)}
${appSettings(site, client, issuer)}
${addresses(site, visit, client)}
${scopes(site, visit, client, requests)}
${presentsSecret(client) && secrets(site, visit, found)}
${previewForm(site, visit, client)}`;
    return sendPage(reply, 200, site, consolePage(site, visit, { section: 'apps', title: client.name, content }));
  });
}

/** Whether the operator may change the app. */
const manages = ({ operator }: ConsoleVisit, client: Client): boolean =>
  !isCommandLine(client) && holds(operator, 'apps.manage', placeOfApp(client));

function stateText({ messages }: Site, { status }: Client): HtmlPart {
  const { apps: text } = messages.operators;
  return status === 'active' ? text.active : html`<strong class="state">${text.disabled}</strong>`;
}

/** @param switches whether the operator may disable the app, or enable it */
function about(site: Site, visit: ConsoleVisit, client: Client, switches: boolean): Html {
  const { path, messages } = site;
  const { apps: text } = messages.operators;
  const isActive = client.status === 'active';
  const look: HtmlPart[] = [
    !isCommandLine(client) &&
      html`<a class="button" href="${path(tryAddress(client.id))}">${messages.operators.tryIt.link}</a>`,
    holdsSomewhere(visit.operator, 'traces.read') &&
      html`<a class="button" href="${path(`/console/explain?app=${client.id}`)}">${text.steps}</a>`,
    !holdsSomewhere(visit.operator, 'traces.read') &&
      holds(visit.operator, 'apps.traces', placeOfApp(client)) &&
      html`<a class="button" href="${path(logAddress(client.id))}">${text.log}</a>`,
    holdsSomewhere(visit.operator, 'events.read') &&
      html`<a class="button" href="${path(`/console/events?clientId=${client.id}`)}">${text.events}</a>`,
    switches &&
      html`<a class="button${isActive && ' danger'}" href="${path(appActAddress(isActive ? 'disable' : 'enable', { app: client.id }))}">${isActive ? text.disable : text.enable}</a>`,
    manages(visit, client) &&
      html`<a class="button danger" href="${path(appActAddress('delete', { app: client.id }))}">${text.delete}</a>`,
  ];
  return html`<section class="card" aria-label="${text.state}">${facts([
    fact(text.type, text.types[client.type]),
    fact(text.access, text.accessKinds[client.access]),
    fact(text.owner, client.owner === null ? text.noOwner : isolate(client.owner)),
    fact(text.registeredBy, registeredByOf(client, text)),
    fact(text.since, moment(client.createdAt)),
  ])}${isCommandLine(client) && html`<p>${text.builtIn}</p>`}${manages(visit, client) && !switches && html`<p>${text.disabledByOther}</p>`}<p class="acts">${look}</p></section>`;
}

function registeredByOf({ registeredBy, acceptedAt }: Client, text: Messages['operators']['apps']): string {
  if (registeredBy === 'developer') return acceptedAt === null ? text.byDeveloper : text.byDeveloperAccepted;
  return registeredBy === null ? text.byOperator : text.byItself;
}

/** The values with which the app is set up, each to copy. */
export function appSettings({ messages }: Site, client: Client, issuer: string, secret?: string): Html {
  const { apps: text } = messages.operators;
  const id = wireId(client);
  const value = (name: string, of: string) => fact(name, copyable(of, messages.error, text.copy(name)), true);
  const lines = [
    `ISSUER=${issuer}`,
    `CLIENT_ID=${id}`,
    ...(presentsSecret(client) ? [`CLIENT_SECRET=${secret ?? text.secretPlaceholder}`] : []),
  ];
  return html`<section class="card" id="settings"><header><h2>${text.settings}</h2><p class="muted small">${text.settingsLead}</p></header>${facts(
    [
      value(text.issuer, issuer),
      value(text.clientId, id),
      secret !== undefined && value(text.secret, secret),
      value(text.discovery, `${issuer}/.well-known/openid-configuration`),
    ],
  )}${foldedOnPhone(text.asEnvironment, html`<p class="small muted">${text.asEnvironment}</p>${commandBlock(lines.join('\n'), messages.error, text.copy(text.asEnvironment))}`)}</section>`;
}

/** Asks of whom the claims are previewed. */
function previewForm({ path, messages }: Site, { operator }: ConsoleVisit, client: Client): HtmlPart {
  const { preview: text } = messages.operators;
  if (!holds(operator, 'apps.preview', INSTALLATION)) return undefined;
  const person = { name: 'member', label: text.person, type: 'text', autocomplete: 'off', value: '' } as const;
  return html`<section class="card" id="preview">${foldedOnPhone(
    text.link,
    html`<header><h2>${text.link}</h2><p class="muted small">${text.linkLead}</p></header><form class="search" method="get" action="${path('/console/apps/preview')}"><input type="hidden" name="app" value="${client.id}">${field({ ...person, problems: NO_PROBLEMS })}<button class="primary" type="submit">${text.next}</button></form>`,
  )}</section>`;
}

/** What the app may learn of a person, and what its developer asks for. */
function scopes(
  site: Site,
  visit: ConsoleVisit,
  client: Client,
  requests: readonly (NamedRequest & ShownScopeRequest)[],
): Html {
  const { path, messages } = site;
  const { scopes: text } = messages.operators;
  const asks =
    manages(visit, client) &&
    !holds(visit.operator, 'apps.approve', placeOfApp(client)) &&
    html`<a href="${path(appActAddress('request-scope', { app: client.id }))}">${text.ask}</a>`;
  const rowsOf = (found: typeof requests): readonly Html[] =>
    found.map((request) => scopeRequestRow(site, visit, request, placeOfApp(client)));
  const waiting = rowsOf(requests.filter(({ outcome, isEnded }) => outcome === null && !isEnded));
  const decided = rowsOf(requests.filter(({ outcome, isEnded }) => outcome !== null || isEnded));
  const about = html`<header class="with-link"><h2>${text.title}</h2>${asks}</header><p>${isolate(scopesAboutPerson(client).join(' '))}</p>`;
  if (requests.length === 0)
    return html`<section class="card" id="scopes">${foldedOnPhone(text.title, about)}</section>`;
  return html`<section class="card" id="scopes">${about}<h3 class="small muted">${text.requests}</h3>${longItems(site, [...waiting, ...decided], undefined, Math.max(1, waiting.length))}</section>`;
}

function addresses({ path, messages }: Site, visit: ConsoleVisit, client: Client): Html {
  const { apps: text } = messages.operators;
  const rows = client.redirectUris.map((uri) => html`<li><div>${isolate(uri)}</div></li>`);
  return html`<section class="card" id="redirect-uris"><header class="with-link"><h2>${text.redirectUris}</h2>${manages(visit, client) && html`<a href="${path(appActAddress('redirect-uris', { app: client.id }))}">${text.change}</a>`}</header>${rows.length === 0 ? html`<p class="muted">${text.noRedirectUris}</p>` : html`<ul class="items">${rows}</ul>`}</section>`;
}

function secrets({ path, messages }: Site, visit: ConsoleVisit, { client, secrets: all }: ClientWithSecrets): Html {
  const { apps: text } = messages.operators;
  const isManaged = manages(visit, client);
  const row = ({ id, createdAt, lastUsedAt, expiresAt }: ClientSecret) => {
    const used = lastUsedAt === null ? text.neverUsed : text.lastUsed(moment(lastUsedAt));
    const ends =
      isManaged &&
      all.length > 1 &&
      html`<a href="${path(appActAddress('end-secret', { app: client.id, secret: id }))}">${text.endSecret}</a>`;
    return html`<li><div>${text.secretSince(moment(createdAt))}<br><span class="small muted">${used}${expiresAt !== null && html`, ${text.validUntil(moment(expiresAt))}`}</span></div>${ends}</li>`;
  };
  const rotates =
    isManaged &&
    html`<p class="acts"><a class="button" href="${path(appActAddress('rotate-secret', { app: client.id }))}">${text.newSecret}</a></p>`;
  return html`<section class="card" id="secrets">${foldedOnPhone(
    text.secrets,
    html`<h2>${text.secrets}</h2>${all.length === 0 ? html`<p class="muted">${text.noSecrets}</p>` : html`<ul class="items">${all.map(row)}</ul>`}${rotates}`,
  )}</section>`;
}
