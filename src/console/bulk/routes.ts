import type { FastifyInstance, FastifyReply } from 'fastify';
import { type BulkActName, bulkActKind, bulkActNames } from '../../account-actions/bulk/acts.ts';
import {
  bulkActNotFound,
  makeList,
  requireBulkPermission,
  startBulkAct,
  stopBulkAct,
} from '../../account-actions/bulk/lists.ts';
import { type BulkAct, findBulkAct, listBulkActs, type Outcome } from '../../account-actions/bulk/store.ts';
import { holds, INSTALLATION } from '../../operators/rights.ts';
import { generalProblem, moment, type Problems } from '../../pages/components.ts';
import { html } from '../../pages/html.ts';
import { sendPage } from '../../pages/layout.ts';
import { Failure, notFound } from '../../platform/failure.ts';
import { formOf } from '../../platform/http/bodies.ts';
import { toOAuthError } from '../../platform/http/errors.ts';
import { queryOf, type RepeatableParameters } from '../../platform/http/parameters.ts';
import { redirect } from '../../platform/http/server.ts';
import { isSnowflake } from '../../platform/ids/ids.ts';
import { takeDraft } from '../../web/sign-in/draft.ts';
import { requireFreshProof } from '../fresh-proof.ts';
import { consolePage } from '../layout.ts';
import { items } from '../list.ts';
import { type ConsoleServices, type ConsoleVisit, consoleVisitOf } from '../visit.ts';
import { BULK, BULK_FORMS, bulkAddress, bulkListAddress } from './addresses.ts';
import { bulkFormPage, readBulkForm } from './form.ts';
import { bulkListPage, readList, type Shown } from './list-page.ts';

const OUTCOMES: readonly Outcome[] = ['waiting', 'done', 'nothing', 'refused', 'failed'];
/** How many lists are offered again. */
const NEWEST = 10;

/** Acts on many people: the list is shown first, and the act is done to those who are on it. */
export function bulkRoutes(app: FastifyInstance, services: ConsoleServices): void {
  chooseRoute(app, services);
  listRoute(app, services);
  makeRoutes(app, services);
  startRoutes(app, services);
}

// What each act needs is checked besides, in every unit of work.
const config = { permission: 'users.read', acts: true } as const;

/** @throws {Failure} `not found` */
function actIn(visit: ConsoleVisit, given: Pick<RepeatableParameters, 'get'>): BulkActName {
  const name = bulkActNames.find((one) => one === given.get('act'));
  if (name === undefined) throw notFound(visit.services.site.messages.operators.bulk.noAct);
  return name;
}

/** The acts that the operator may do, and the lists that they made. */
function chooseRoute(app: FastifyInstance, { site }: ConsoleServices): void {
  const { bulk: text } = site.messages.operators;
  app.get(BULK, { config: { permission: 'users.read' } }, async (request, reply) => {
    const visit = consoleVisitOf(request);
    const lists = await visit.services.database.read(() =>
      listBulkActs({ accountId: visit.account.id, limit: NEWEST }),
    );
    const acts = bulkActNames.filter((name) => holds(visit.operator, bulkActKind(name).permission, INSTALLATION));
    const rows = lists.map(
      ({ id, act, total, state, createdAt }) =>
        html`<li><div><a href="${site.path(bulkListAddress(id))}">${text.row(text.act[act].title, total)}</a><br><span class="small muted">${moment(createdAt)}</span></div><span class="small">${text.states[state]}</span></li>`,
    );
    const members = queryOf(request).get('members') ?? '';
    const links = acts.map(
      (name) =>
        html`<a class="button" href="${site.path(bulkAddress(name, isSnowflake(members) ? members : undefined))}">${text.act[name].title}</a>`,
    );
    const content = html`<header class="object"><h1>${text.title}</h1><p class="muted">${text.lead}</p></header>
<section class="card"><h2>${text.chosen}</h2>${acts.length === 0 ? html`<p class="muted">${text.none}</p>` : html`<p class="acts">${links}</p>`}</section>
<section class="card" id="lists"><h2>${text.newest}</h2>${items(rows, text.noLists)}</section>`;
    return sendPage(reply, 200, site, consolePage(site, visit, { section: 'people', title: text.title, content }));
  });
}

/** @throws {Failure} `not found` */
async function getList({ services, account }: ConsoleVisit, id: string): Promise<BulkAct> {
  const found = isSnowflake(id)
    ? await services.database.read(() => findBulkAct({ id, accountId: account.id }))
    : undefined;
  if (found === undefined) throw bulkActNotFound(id.slice(0, 64));
  return found;
}

function listRoute(app: FastifyInstance, { site }: ConsoleServices): void {
  app.get<{ Params: { id: string } }>(
    `${BULK}/lists/:id`,
    { config: { permission: 'users.read' } },
    async (request, reply) => {
      const visit = consoleVisitOf(request);
      const query = queryOf(request);
      const after = query.get('after') ?? '';
      const shown: Shown = {
        outcome: OUTCOMES.find((name) => name === query.get('show')),
        after: /^\d{1,5}$/.test(after) ? Number(after) : 0,
      };
      const act = await getList(visit, request.params.id);
      const found = await visit.services.database.read(() => readList(act, shown));
      return sendPage(reply, 200, site, bulkListPage(site, visit, { ...found, shown }));
    },
  );
}

/** Whether a refusal is shown with the form, so that nothing typed is lost. */
const isShown = (error: unknown): error is Failure =>
  error instanceof Failure && ['conflict', 'invalid', 'limited'].includes(error.kind);

const ALL: Shown = { outcome: undefined, after: 0 };

/** Who an act is for, and what it would do: the list is stored, and nothing else happens. */
function makeRoutes(app: FastifyInstance, services: ConsoleServices): void {
  const { site } = services;
  const preHandler = requireFreshProof(services);

  app.get(BULK_FORMS.make, { config, preHandler }, async (request, reply) => {
    const visit = consoleVisitOf(request);
    const query = queryOf(request);
    const name = actIn(visit, query);
    requireBulkPermission(visit.operator, name);
    const draft = takeDraft(services, request, reply, visit.account.id);
    // A link from a group names it; nothing else is filled in by a link.
    const get = (input: string) => draft?.[input] ?? (input === 'members' ? query.get('members') : undefined);
    return sendPage(reply, 200, site, bulkFormPage(site, visit, name, { get }));
  });

  app.post(BULK_FORMS.make, { config, preHandler }, async (request, reply) => {
    const visit = consoleVisitOf(request);
    const form = formOf(request);
    const act = actIn(visit, form);
    // Before what was typed is looked up, such as a group.
    requireBulkPermission(visit.operator, act);
    const again = (status: number, problems: Problems) =>
      sendPage(reply, status, site, bulkFormPage(site, visit, act, form, problems));
    const read = await readBulkForm(visit, act, form);
    if ('problems' in read) return again(400, read.problems);
    try {
      const { session, origin } = visit;
      const { id, unknown } = await makeList(visit.services, { act, ...read, session, origin });
      const made = await getList(visit, id);
      const found = await visit.services.database.read(() => readList(made, ALL));
      return sendPage(reply, 200, site, bulkListPage(site, visit, { ...found, shown: ALL, unknown }));
    } catch (error) {
      if (!isShown(error)) throw error;
      const { status, headers } = toOAuthError(error, request);
      reply.headers(headers);
      return again(status, generalProblem(error.message));
    }
  });
}

/** Begins an act on a list that was shown, and stops it. */
function startRoutes(app: FastifyInstance, services: ConsoleServices): void {
  const { site } = services;
  const preHandler = requireFreshProof(services);
  const idOf = ({ named: { id = '' } }: ConsoleVisit): string => {
    if (!isSnowflake(id)) throw bulkActNotFound(id.slice(0, 64));
    return id;
  };
  const toList = (id: string): string => site.path(bulkListAddress(id));

  async function again(reply: FastifyReply, visit: ConsoleVisit, id: string, { message }: Failure) {
    const act = await getList(visit, id);
    const found = await visit.services.database.read(() => readList(act, ALL));
    const view = { ...found, shown: ALL, problems: generalProblem(message) };
    return sendPage(reply, 409, site, bulkListPage(site, visit, view));
  }

  app.post(BULK_FORMS.start, { config, preHandler }, async (request, reply) => {
    const visit = consoleVisitOf(request);
    const id = idOf(visit);
    const { session, origin } = visit;
    try {
      const shown = Number(formOf(request).get('shown') ?? '');
      await startBulkAct(visit.services, { id, shown, session, origin });
      return redirect(request, reply, toList(id));
    } catch (error) {
      if (!(error instanceof Failure) || error.kind !== 'conflict') throw error;
      return again(reply, visit, id, error);
    }
  });

  // Stopping waits for no proof: it leaves people as they are.
  app.post(BULK_FORMS.stop, { config }, async (request, reply) => {
    const visit = consoleVisitOf(request);
    const id = idOf(visit);
    await stopBulkAct(visit.services, { id });
    return redirect(request, reply, toList(id));
  });
}
