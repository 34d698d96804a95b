import type { FastifyInstance, FastifyReply } from 'fastify';
import {
  connectionsOf,
  type ListedConnection,
  type RevokedAccess,
  revokeAccess,
  revokedAccess,
  revokeEveryAccess,
} from '../../account-actions/connections/connections.ts';
import { ENDPOINT_RULES } from '../../claims/endpoint-set.ts';
import { appPicture } from '../../pages/app.ts';
import {
  confirmStep,
  doneNotice,
  fact,
  facts,
  generalProblem,
  hidden,
  isolate,
  type ListPart,
  moment,
  NO_PROBLEMS,
  type Problems,
  pager,
  problemSummary,
  revocationText,
} from '../../pages/components.ts';
import { type Html, html } from '../../pages/html.ts';
import { type Page, type Site, sendPage } from '../../pages/layout.ts';
import type { Messages } from '../../pages/messages.ts';
import { formOf } from '../../platform/http/bodies.ts';
import { queryOf, type RepeatableParameters } from '../../platform/http/parameters.ts';
import { isSnowflake } from '../../platform/ids/ids.ts';
import { isUnregistered } from '../../protocol/authorize/rules/next-step.ts';
import type { PageServices } from '../sign-in/routes.ts';
import { type AccountFrame, accountLayout, readListPart } from './layout.ts';
import { hasSwitches, permissionsPage, permissionsRoutes, switchedScopes } from './permissions.ts';
import { type AccountHooks, type AccountVisit, frameOf, servicesIn, visitOf } from './visit.ts';

/** The apps with access to an account, each with a button that revokes it. */
export function connectionsRoutes(app: FastifyInstance, services: PageServices, hooks: AccountHooks): void {
  permissionsRoutes(app, services, hooks);
  const { countForm } = hooks;
  const { site } = services;

  async function show(
    reply: FastifyReply,
    status: number,
    visit: AccountVisit,
    parameters: RepeatableParameters,
    result: Pick<ConnectionsPage, 'revoked' | 'problems'>,
  ): Promise<FastifyReply> {
    const { items, part } = await readListPart(parameters, (at) =>
      connectionsOf(services, visit.account.id, at, site.messages.language),
    );
    const page = connectionsPage(site, { ...frameOf(visit), connections: items, part, ...result });
    return sendPage(reply, status, site, page);
  }

  app.get('/account/connections', async (request, reply) => {
    const query = queryOf(request);
    return show(reply, 200, visitOf(request), query, { revoked: undefined, problems: NO_PROBLEMS });
  });

  app.post('/account/connections', { preHandler: countForm }, async (request, reply) => {
    const visit = visitOf(request);
    const form = formOf(request);
    if (form.get('all') === 'yes') {
      await revokeEveryAccess(servicesIn(services, visit), visit.account.id, visit.origin);
      return show(reply, 200, visit, form, { revoked: 'all', problems: NO_PROBLEMS });
    }
    const clientId = form.get('client_id') ?? '';
    if (!isSnowflake(clientId)) {
      const problems = generalProblem(site.messages.account.formExpired);
      return show(reply, 400, visit, form, { revoked: undefined, problems });
    }
    await revokeAccess(servicesIn(services, visit), visit.account.id, clientId, visit.origin);
    // A second press finds the access revoked already, and gets the same answer.
    const revoked = await revokedAccess(services, visit.account.id, clientId);
    return show(reply, 200, visit, form, { revoked, problems: NO_PROBLEMS });
  });
}

interface ConnectionsPage extends AccountFrame {
  readonly connections: readonly ListedConnection[];
  readonly part: ListPart;
  /** Access that was revoked with this form, or before. */
  readonly revoked: RevokedAccess | 'all' | undefined;
  readonly problems: Problems;
}

function connectionsPage(site: Site, page: ConnectionsPage): Page {
  const { messages } = site;
  const text = messages.connections;
  const { connections, revoked, part } = page;
  return accountLayout(
    site,
    page,
    'connections',
    text.title,
    html`<header><h1>${text.title}</h1><p class="muted">${connections.length === 0 ? text.none : text.lead}</p></header>
${revoked !== undefined && (revoked === 'all' ? allRevokedNotice(text) : revokedNotice(revoked, messages))}
${problemSummary(messages, page.problems)}
${connections.length > 0 && html`<div class="card apps">${connections.map((connection) => appRow(site, connection, page))}${pager(site, '/account/connections', part)}</div>`}
${connections.length > 1 && revokeAllForm(site, page.token)}`,
  );
}

const allRevokedNotice = (text: Messages['connections']): Html =>
  doneNotice(html`<p><strong>${text.revokedAll}</strong></p><p>${text.keptAll}</p>`);

function revokeAllForm({ messages: { connections: text }, path }: Site, token: string): Html {
  return confirmStep(
    text.revokeAll,
    html`<form method="post" action="${path('/account/connections')}">${hidden(token, { all: 'yes' })}<p class="small">${text.revokeAllLead}</p><div><button class="danger" type="submit">${text.revokeAllYes}</button></div></form>`,
  );
}

/** What the revocation ended, as found when everything was judged again. */
function revokedNotice({ app, at, ...summary }: RevokedAccess, messages: Messages): Html {
  const { connections: text } = messages;
  return doneNotice(
    html`<p><strong>${text.revoked(isolate(app), moment(at))}</strong></p><p>${revocationText(summary, messages)} ${text.stopped} ${text.kept}</p>`,
  );
}

function appRow(site: Site, connection: ListedConnection, { token, part }: ConnectionsPage): Html {
  const { messages, path } = site;
  const text = messages.connections;
  const { clientId, name, owner, host, endpoints, resources, decidedBy, connectedAt, lastUsedAt, lastNetwork } =
    connection;
  const sharesIdentity = endpoints.some((endpointSet) => ENDPOINT_RULES[endpointSet].identityClaims);
  const named = (scopes: readonly string[]) =>
    // What cannot be switched off in an app for assigned people is shared all the same.
    switchedScopes({ endpoints, access: 'everyone' }, scopes).map((scope) =>
      scope === 'email' && !sharesIdentity ? messages.consent.address : messages.scopeNames[scope],
    );
  const declined = [
    ...named(connection.declined),
    ...resources.flatMap((place) => place.declined.map(({ text }) => isolate(text))),
  ];
  const id = `app-${clientId}`;
  const kind = kindOf(connection, host, text);
  return html`<article class="app" aria-labelledby="${id}">${appPicture(site, { id: clientId, name, picture: connection.picture })}<div class="app-name"><h2 id="${id}">${isolate(name)}</h2><p class="small muted">${kind !== undefined && html`<strong>${kind}</strong>${host !== '' && ' '}`}${isolate(host)}${owner !== null && html`, ${messages.consent.by(isolate(owner))}`}</p></div>
${facts([
  fact(text.sees, [sharesIdentity ? text.basics : text.idAlone, ...named(connection.scopes)].join(', '), true),
  declined.length > 0 &&
    fact(
      text.declined,
      declined.map((name, index) => html`${index > 0 && ', '}${name}`),
      true,
    ),
  resources.length > 0 &&
    fact(
      messages.consent.places,
      resources.map(
        ({ name, scopes }) =>
          html`<p>${isolate(name)}${scopes.length > 0 && html`: ${scopes.map(({ text }, index) => html`${index > 0 && ', '}${isolate(text)}`)}`}</p>`,
      ),
      true,
    ),
  decidedBy === 'operator' && fact(text.decidedBy, text.byOperator, true),
  fact(text.since, moment(connectedAt)),
  fact(text.lastUsed, lastUsedAt === null ? text.never : moment(lastUsedAt)),
  lastNetwork !== null && fact(messages.sessions.from, lastNetwork),
])}
${hasSwitches(connection) && html`<a class="edit" href="${path(permissionsPage(clientId))}" aria-label="${text.editOf(name)}">${text.edit}</a>`}
${confirmStep(
  text.revoke,
  html`<form method="post" action="${path('/account/connections')}">${hidden(token, { client_id: clientId, page: String(part.number) })}<p class="small">${text.revokeLead}</p><div><button class="danger" type="submit" aria-label="${text.revokeOf(name)}">${text.revokeYes}</button></div></form>`,
)}</article>`;
}

/** What an app is, where it is no ordinary one. */
function kindOf(
  connection: Parameters<typeof isUnregistered>[0],
  host: string,
  text: Messages['connections'],
): string | undefined {
  if (isUnregistered(connection)) return connection.registeredBy === 'open' ? text.selfRegistered : text.unregistered;
  return host === '' ? text.device : undefined;
}
