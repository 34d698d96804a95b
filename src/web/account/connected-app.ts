import type { FastifyInstance, FastifyReply } from 'fastify';
import { connectionsOf, type ListedConnection, narrowAccess } from '../../account-actions/connections/connections.ts';
import { isUnregistered, ownerShown } from '../../clients/rules/unregistered.ts';
import { appPicture } from '../../pages/app.ts';
import {
  confirmStep,
  doneNotice,
  fact,
  facts,
  generalProblem,
  hidden,
  isolate,
  moment,
  NO_PROBLEMS,
  type Problems,
  problemSummary,
} from '../../pages/components.ts';
import { type Html, type HtmlPart, html } from '../../pages/html.ts';
import { type Site, sendPage } from '../../pages/layout.ts';
import { joinList } from '../../pages/lists.ts';
import type { Messages } from '../../pages/messages.ts';
import { formOf } from '../../platform/http/bodies.ts';
import { redirect } from '../../platform/http/server.ts';
import type { PageServices } from '../sign-in/routes.ts';
import { accountLayout } from './layout.ts';
import { permissionsForm, scopeName, sharesIdentity, switchedOff, switchedScopes, switchesOf } from './permissions.ts';
import { type AccountHooks, type AccountVisit, frameOf, servicesIn, visitOf } from './visit.ts';

/** The page of all apps, and where access is taken away. */
export const CONNECTIONS = '/account/connections';
const ADDRESS = `${CONNECTIONS}/:clientId`;

/** The page of one connected app. */
export const connectedAppPage = (clientId: string): string => ADDRESS.replace(':clientId', clientId);

/** The page of one connected app: what it may see, and what of that the person takes away. */
export function connectedAppRoutes(app: FastifyInstance, services: PageServices, { countForm }: AccountHooks): void {
  const { site } = services;
  const { messages, path } = site;
  const { connections: text } = messages;

  const find = async (visit: AccountVisit, clientId: string): Promise<ListedConnection | undefined> =>
    (await connectionsOf(services, visit.account.id, undefined, messages.language)).find(
      (connection) => connection.clientId === clientId,
    );

  function show(
    reply: FastifyReply,
    status: number,
    visit: AccountVisit,
    connection: ListedConnection,
    problems: Problems,
    done?: HtmlPart,
  ): FastifyReply {
    const frame = frameOf(visit);
    const permissions = permissionsForm(site, connection, frame.token, path(connectedAppPage(connection.clientId)));
    const content = html`${appHeader(site, connection)}
${done !== undefined && doneNotice(html`<p>${done}</p>`)}
${problemSummary(messages, problems)}
<section class="card">${appFacts(connection, messages)}</section>
<section class="card"><header><h2>${text.permissions}</h2><p class="muted small">${permissions === undefined ? text.nothingToTake : text.permissionsLead}</p></header>
${permissions}</section>
${revokeForm(site, connection, frame.token)}
<p><a href="${path(CONNECTIONS)}">${text.back}</a></p>`;
    return sendPage(reply, status, site, accountLayout(site, frame, 'connections', connection.name, content, problems));
  }

  app.get<{ Params: { clientId: string } }>(ADDRESS, async (request, reply) => {
    const visit = visitOf(request);
    const connection = await find(visit, request.params.clientId);
    if (connection === undefined) return redirect(request, reply, path(CONNECTIONS));
    return show(reply, 200, visit, connection, NO_PROBLEMS);
  });

  app.post<{ Params: { clientId: string } }>(ADDRESS, { preHandler: countForm }, async (request, reply) => {
    const visit = visitOf(request);
    const { clientId } = request.params;
    const connection = await find(visit, clientId);
    if (connection === undefined) return redirect(request, reply, path(CONNECTIONS));
    const off = switchedOff(connection, formOf(request), messages);
    if (off.length === 0) return show(reply, 400, visit, connection, generalProblem(text.nothingTaken));
    const change = { accountId: visit.account.id, clientId, off };
    await narrowAccess(servicesIn(services, visit), change, visit.origin);
    // As it is stored now, not as it was asked for.
    const after = (await find(visit, clientId)) ?? connection;
    const held = new Set(switchesOf(after, messages).map(({ scope }) => scope));
    const taken = switchesOf(connection, messages).filter(({ scope }) => off.includes(scope) && !held.has(scope));
    const names = taken.map(({ name }, index) => html`${index > 0 && ' · '}${name}`);
    return show(reply, 200, visit, after, NO_PROBLEMS, text.narrowed(isolate(connection.name), names));
  });
}

function appHeader(site: Site, connection: ListedConnection): Html {
  const { clientId, name, host, picture } = connection;
  const owner = ownerShown(connection);
  const { connections: text, consent } = site.messages;
  const kind = appKind(connection, host, text);
  return html`<header><div class="app">${appPicture(site, { id: clientId, name, picture })}<div class="app-name"><h1>${isolate(name)}</h1><p class="small muted">${kind !== undefined && html`<strong>${kind}</strong>${host !== '' && ' · '}`}${isolate(host)}${owner !== null && html`, ${consent.by(isolate(owner))}`}</p></div></div></header>`;
}

const lines = (values: readonly HtmlPart[]): Html =>
  html`<ul class="lines">${values.map((value) => html`<li>${value}</li>`)}</ul>`;

/** What the app sees and what not, where it acts, who allowed that, since when, and when it last used it. */
function appFacts(connection: ListedConnection, messages: Messages): Html {
  const { connections: text, consent, sessions } = messages;
  const { endpoints, resources, decidedBy, connectedAt, lastUsedAt, lastNetwork } = connection;
  const named = (scopes: readonly string[]) =>
    // What cannot be switched off in an app for assigned people is shared all the same.
    switchedScopes({ endpoints, access: 'everyone' }, scopes).map((scope) => scopeName(connection, scope, consent));
  const sees = [...(sharesIdentity(connection) ? text.basics : [text.idAlone]), ...named(connection.scopes)];
  const declined = [
    ...named(connection.declined),
    ...resources.flatMap((place) => place.declined.map(({ text }) => isolate(text))),
  ];
  const places = resources.map(({ name, scopes }) => {
    const allowed = scopes.map(({ text }) => isolate(text));
    return html`<p>${isolate(name)}${allowed.length > 0 && html`: ${joinList(allowed, messages)}`}</p>`;
  });
  return facts([
    fact(text.sees, lines(sees), true),
    declined.length > 0 && fact(text.declined, lines(declined), true),
    places.length > 0 && fact(consent.places, places, true),
    decidedBy === 'operator' && fact(text.decidedBy, text.byOperator, true),
    fact(text.since, moment(connectedAt)),
    fact(text.lastUsed, lastUsedAt === null ? text.never : moment(lastUsedAt)),
    lastNetwork !== null && fact(sessions.from, lastNetwork),
  ]);
}

function revokeForm({ messages, path }: Site, { clientId, name }: ListedConnection, token: string): Html {
  const { connections: text } = messages;
  return confirmStep(
    text.revoke,
    html`<form method="post" action="${path(CONNECTIONS)}">${hidden(token, { client_id: clientId })}<p class="small">${text.revokeLead(isolate(name))}</p><div><button class="danger" type="submit" aria-label="${text.revokeOf(name)}">${text.revokeYes}</button></div></form>`,
  );
}

/** What an app is, where it is no ordinary one. */
export function appKind(
  connection: Parameters<typeof isUnregistered>[0],
  host: string,
  text: Messages['connections'],
): string | undefined {
  if (isUnregistered(connection)) {
    if (connection.registeredBy === 'developer') return text.registeredByUser;
    return connection.registeredBy === 'open' ? text.selfRegistered : text.unregistered;
  }
  return host === '' ? text.device : undefined;
}
