import type { FastifyInstance, FastifyReply } from 'fastify';
import {
  connectionsOf,
  type ListedConnection,
  type RevokedAccess,
  revokeAccess,
  revokedAccess,
  revokeEveryAccess,
} from '../../account-actions/connections/connections.ts';
import { appPicture } from '../../pages/app.ts';
import {
  confirmStep,
  doneNotice,
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
import type { PageServices } from '../sign-in/routes.ts';
import { appKind, CONNECTIONS, connectedAppPage, connectedAppRoutes } from './connected-app.ts';
import { type AccountFrame, accountLayout, readListPart } from './layout.ts';
import { accountRow, accountRows } from './rows.ts';
import { type AccountHooks, type AccountVisit, frameOf, servicesIn, visitOf } from './visit.ts';

/** The apps with access to an account, each a row that leads to its page, and where access is taken away. */
export function connectionsRoutes(app: FastifyInstance, services: PageServices, hooks: AccountHooks): void {
  connectedAppRoutes(app, services, hooks);
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

  app.get(CONNECTIONS, async (request, reply) => {
    const query = queryOf(request);
    return show(reply, 200, visitOf(request), query, { revoked: undefined, problems: NO_PROBLEMS });
  });

  app.post(CONNECTIONS, { preHandler: countForm }, async (request, reply) => {
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
${connections.length > 0 && html`${accountRows(connections.map((connection) => appRow(site, connection)))}${pager(site, CONNECTIONS, part)}${revokeAllForm(site, page.token)}`}`,
    page.problems,
  );
}

const allRevokedNotice = (text: Messages['connections']): Html =>
  doneNotice(html`<p><strong>${text.revokedAll}</strong></p><p>${text.keptAll}</p>`);

function revokeAllForm({ messages: { connections: text }, path }: Site, token: string): Html {
  return confirmStep(
    text.revokeAll,
    html`<form method="post" action="${path(CONNECTIONS)}">${hidden(token)}<p class="small">${text.revokeAllLead}</p><div><button class="danger" type="submit" name="all" value="yes">${text.revokeAllYes}</button></div></form>`,
  );
}

/** What the revocation ended, as found when everything was judged again. */
function revokedNotice({ app, at, ...summary }: RevokedAccess, messages: Messages): Html {
  const { connections: text } = messages;
  return doneNotice(
    html`<p><strong>${text.revoked(isolate(app), moment(at))}</strong></p><p>${revocationText(summary, messages) ?? messages.stopped.none} ${text.stopped} ${text.kept}</p>`,
  );
}

/** The row of an app, which leads to its page. */
function appRow(site: Site, connection: ListedConnection): Html | undefined {
  const { messages, path } = site;
  const { connections: text } = messages;
  const { clientId, name, host, picture, lastUsedAt } = connection;
  const used = lastUsedAt === null ? text.neverUsed : text.used(moment(lastUsedAt));
  const parts = [appKind(connection, host, text), host !== '' && isolate(host), used];
  const state = parts.filter((part) => part !== undefined && part !== false);
  const row = {
    title: isolate(name),
    state: state.map((part, index) => html`${index > 0 && ' · '}${part}`),
    picture: appPicture(site, { id: clientId, name, picture }),
    page: path(connectedAppPage(clientId)),
  };
  return accountRow(`app-${clientId}`, row, false);
}
