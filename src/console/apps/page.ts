import type { FastifyInstance } from 'fastify';
import { type ClientWithSecrets, getClient } from '../../clients/clients.ts';
import { mayEnable } from '../../clients/decided-fields.ts';
import { isCommandLine } from '../../clients/rules/command-line.ts';
import { presentsSecret } from '../../clients/rules/registration.ts';
import { type Client, type ClientSecret, wireId } from '../../clients/store.ts';
import { holds, holdsSomewhere } from '../../operators/rights.ts';
import { commandBlock, copyable, fact, facts, isolate, moment } from '../../pages/components.ts';
import { type Html, type HtmlPart, html } from '../../pages/html.ts';
import { type Site, sendPage } from '../../pages/layout.ts';
import { consolePage } from '../layout.ts';
import { type ConsoleServices, type ConsoleVisit, consoleVisitOf } from '../visit.ts';

export const appAddress = (id: string): string => `/console/apps/${id}`;

/** Where an act on an app is confirmed. */
export const appActAddress = (name: string, about: Readonly<Record<string, string>>): string =>
  `/console/apps/${name}?${new URLSearchParams(about)}`;

/** The page about an app: its state, the settings to copy, where its answers go, its secrets, and where to look further. */
export function appPageRoutes(app: FastifyInstance, services: ConsoleServices): void {
  const { site, issuer } = services;
  const config = { permission: 'apps.read', objects: { app: ['clientId'] } } as const;

  app.get<{ Params: { clientId: string } }>('/console/apps/:clientId', { config }, async (request, reply) => {
    const visit = consoleVisitOf(request);
    const found = await getClient(visit.services, request.params.clientId);
    const { client } = found;
    const isActive = client.status === 'active';
    const switches =
      manages(visit, client) &&
      (isActive || (await visit.services.database.read(() => mayEnable(visit.operator, client))));
    const content = html`<header class="object"><h1>${isolate(client.name)}</h1><p class="muted">${stateText(site, client)}</p></header>
${about(site, visit, client, switches)}
${appSettings(site, client, issuer)}
${addresses(site, visit, client)}
${presentsSecret(client) && secrets(site, visit, found)}`;
    return sendPage(reply, 200, site, consolePage(site, visit, { section: 'apps', title: client.name, content }));
  });
}

export const placeOfApp = ({ organizationId, developerId }: Client) => ({ organizationId, developerId });

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
    holdsSomewhere(visit.operator, 'traces.read') &&
      html`<a class="button" href="${path(`/console/explain?app=${client.id}`)}">${text.steps}</a>`,
    holdsSomewhere(visit.operator, 'events.read') &&
      html`<a class="button" href="${path(`/console/events?clientId=${client.id}`)}">${text.events}</a>`,
    switches &&
      html`<a class="button${isActive && ' danger'}" href="${path(appActAddress(isActive ? 'disable' : 'enable', { app: client.id }))}">${isActive ? text.disable : text.enable}</a>`,
  ];
  return html`<section class="card" aria-label="${text.state}">${facts([
    fact(text.type, text.types[client.type]),
    fact(text.access, text.accessKinds[client.access]),
    fact(text.owner, client.owner === null ? text.noOwner : isolate(client.owner)),
    fact(text.registeredBy, client.registeredBy === null ? text.byOperator : text.byItself),
    fact(text.since, moment(client.createdAt)),
  ])}${isCommandLine(client) && html`<p>${text.builtIn}</p>`}${manages(visit, client) && !switches && html`<p>${text.disabledByOther}</p>`}<p class="acts">${look}</p></section>`;
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
      fact(text.asEnvironment, commandBlock(lines.join('\n'), messages.error, text.copy(text.asEnvironment)), true),
    ],
  )}</section>`;
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
  return html`<section class="card" id="secrets"><h2>${text.secrets}</h2>${all.length === 0 ? html`<p class="muted">${text.noSecrets}</p>` : html`<ul class="items">${all.map(row)}</ul>`}${rotates}</section>`;
}
