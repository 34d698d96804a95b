import type { FastifyInstance, FastifyReply } from 'fastify';
import { connectionsOf, type ListedConnection, narrowAccess } from '../../account-actions/connections/connections.ts';
import { ENDPOINT_RULES, endpointRulesOf } from '../../claims/endpoint-set.ts';
import type { OptionalScope, SwitchedScope } from '../../claims/permissions.ts';
import { appPicture } from '../../pages/app.ts';
import {
  doneNotice,
  generalProblem,
  hidden,
  isolate,
  NO_PROBLEMS,
  type Problems,
  problemSummary,
} from '../../pages/components.ts';
import { type Html, type HtmlPart, html } from '../../pages/html.ts';
import { type Site, sendPage } from '../../pages/layout.ts';
import type { Messages } from '../../pages/messages.ts';
import { formOf } from '../../platform/http/bodies.ts';
import { redirect } from '../../platform/http/server.ts';
import type { PageServices } from '../sign-in/routes.ts';
import { accountLayout } from './layout.ts';
import { type AccountHooks, type AccountVisit, frameOf, servicesIn, visitOf } from './visit.ts';

const ADDRESS = '/account/connections/:clientId';

/** The page of what one app may see. */
export const permissionsPage = (clientId: string): string => ADDRESS.replace(':clientId', clientId);

/** The page on which a person takes single permissions away from an app. */
export function permissionsRoutes(app: FastifyInstance, services: PageServices, { countForm }: AccountHooks): void {
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
    const title = text.permissionsOf(connection.name);
    const content = html`<header><h1>${text.permissions(isolate(connection.name))}</h1><p class="muted">${text.permissionsLead}</p></header>
${done !== undefined && doneNotice(html`<p>${done}</p>`)}
${problemSummary(messages, problems)}
<section class="card">${permissionsForm(site, connection, frame.token)}</section>
<p><a href="${path('/account/connections')}">${text.back}</a></p>`;
    return sendPage(reply, status, site, accountLayout(site, frame, 'connections', title, content));
  }

  app.get<{ Params: { clientId: string } }>(ADDRESS, async (request, reply) => {
    const visit = visitOf(request);
    const connection = await find(visit, request.params.clientId);
    if (connection === undefined) return redirect(request, reply, path('/account/connections'));
    return show(reply, 200, visit, connection, NO_PROBLEMS);
  });

  app.post<{ Params: { clientId: string } }>(ADDRESS, { preHandler: countForm }, async (request, reply) => {
    const visit = visitOf(request);
    const { clientId } = request.params;
    const connection = await find(visit, clientId);
    if (connection === undefined) return redirect(request, reply, path('/account/connections'));
    const form = formOf(request);
    const shown = new Set((form.get('shown') ?? '').split(' '));
    const switches = switchesOf(connection, messages).map(({ scope }) => scope);
    const off = switches.filter((scope) => shown.has(scope) && !form.has(fieldOf(scope)));
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

/** The name of the switch of a scope. */
const fieldOf = (scope: SwitchedScope): string => `allow ${scope}`;

interface Switch {
  readonly scope: SwitchedScope;
  readonly name: HtmlPart;
  /** The scope as developers write it, for one of an API. */
  readonly term?: string;
}

/** The scopes about the person that an app has and that every set of endpoints which it uses has a switch for. */
export const switchedScopes = (
  { endpoints, access }: Pick<ListedConnection, 'endpoints' | 'access'>,
  scopes: readonly string[],
): readonly OptionalScope[] =>
  ENDPOINT_RULES.oidc.optionalScopes.filter(
    (scope) =>
      scopes.includes(scope) &&
      endpoints
        .map((endpointSet) => endpointRulesOf(endpointSet, { access }))
        .every((of) => (of.optionalScopes as readonly string[]).includes(scope) || !of.scopes.includes(scope)),
  );

/** What the person can take away from an app, in the order of the consent page. */
function switchesOf(connection: ListedConnection, { consent }: Messages): readonly Switch[] {
  const sharesIdentity = connection.endpoints.some((endpointSet) => ENDPOINT_RULES[endpointSet].identityClaims);
  const nameOf = (scope: OptionalScope) =>
    scope === 'email' && !sharesIdentity ? consent.emailAddress : consent.scopes[scope];
  return [
    ...switchedScopes(connection, connection.scopes).map((scope) => ({ scope, name: nameOf(scope) })),
    ...connection.resources.flatMap(({ scopes }) =>
      scopes.map(({ id, name, text }) => ({ scope: id, name: isolate(text), term: name })),
    ),
  ];
}

function permissionsForm(site: Site, connection: ListedConnection, token: string): Html {
  const { messages, path } = site;
  const { connections: text } = messages;
  const { clientId, name, host } = connection;
  const switches = switchesOf(connection, messages);
  const head = html`<div class="app">${appPicture(site, { id: clientId, name, picture: connection.picture })}<div class="app-name"><p><strong>${isolate(name)}</strong></p><p class="small muted">${isolate(host)}</p></div></div>`;
  if (switches.length === 0) return html`${head}<p>${text.nothingToTake}</p>`;
  const rows = switches.map(({ scope, name, term }) => {
    const id = `scope-${scope.replaceAll('.', '-')}`;
    return html`<li><label for="${id}"><span class="name">${name}</span>${term !== undefined && html`<span class="muted">${term}</span>`}</label><input class="switch" type="checkbox" role="switch" id="${id}" name="${fieldOf(scope)}" value="on" checked></li>`;
  });
  const shown = switches.map(({ scope }) => scope).join(' ');
  return html`${head}<form method="post" action="${path(permissionsPage(clientId))}">${hidden(token, { shown })}
<ul class="rows">${rows}</ul>
<p class="muted small">${text.takeLead}</p>
<div><button class="danger" type="submit">${text.take}</button></div></form>`;
}

/** Whether a person can take single permissions away from an app. */
export const hasSwitches = (connection: ListedConnection): boolean =>
  switchedScopes(connection, connection.scopes).length > 0 ||
  connection.resources.some(({ scopes }) => scopes.length > 0);
