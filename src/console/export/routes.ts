import type { FastifyInstance } from 'fastify';
import { BEFORE_NEWEST, type ListedAccount, listed, listNewestAccounts } from '../../accounts/directory-store.ts';
import { searchAccounts } from '../../accounts/store.ts';
import type { RecordedEvent } from '../../audit/event-store.ts';
import { searchEvents } from '../../audit/search-store.ts';
import { isolate } from '../../pages/components.ts';
import { html } from '../../pages/html.ts';
import { sendPage } from '../../pages/layout.ts';
import { joinList } from '../../pages/lists.ts';
import { iso } from '../../platform/clock.ts';
import type { Database } from '../../platform/database/database.ts';
import { invalid } from '../../platform/failure.ts';
import { formOf } from '../../platform/http/bodies.ts';
import { queryOf, type RepeatableParameters } from '../../platform/http/parameters.ts';
import { accountStatus } from '../../verdict/rules.ts';
import { eventFilterOf, problemsOfFilter, typedFilters } from '../events/filter.ts';
import { requireFreshProof } from '../fresh-proof.ts';
import { typedIn } from '../typed.ts';
import { type ConsoleServices, consoleVisitOf } from '../visit.ts';
import { EXPORT_ADDRESSES } from './addresses.ts';
import { type ExportedPage, exportPage, formatIn, sendExport } from './stream.ts';

/** How many rows one read gets: few enough that other requests do not wait for it. */
const AT_ONCE = 500;
const LONGEST = 254;

/** The lists that are saved to a file: what a filter shows of the audit trail, and of people. */
export function listExportRoutes(app: FastifyInstance, services: ConsoleServices): void {
  eventExport(app, services);
  peopleExport(app, services);
}

const EVENT_COLUMNS = [
  'id',
  'at',
  'type',
  'outcome',
  'actorType',
  'actorId',
  'userId',
  'clientId',
  'address',
  'requestId',
  'details',
];

const eventRow = ({ actor, ...event }: RecordedEvent) => ({ ...event, actorType: actor.type, actorId: actor.id });

function eventExport(app: FastifyInstance, services: ConsoleServices): void {
  const { site } = services;
  const { events: text } = site.messages.operators.exports;
  const address = EXPORT_ADDRESSES.events;
  const config = { permission: 'events.read', isExport: true } as const;
  const preHandler = requireFreshProof(services);

  /** @throws {Failure} `invalid` for a filter that the page of events would not take either */
  function filterIn(given: Pick<RepeatableParameters, 'get'>): ReadonlyMap<string, string> {
    const typed = typedFilters(given);
    const [wrong] = Object.values(problemsOfFilter(eventFilterOf(typed), site.messages).fields);
    if (wrong !== undefined) throw invalid(wrong);
    return typed;
  }

  app.get(address, { config, preHandler }, async (request, reply) => {
    const visit = consoleVisitOf(request);
    const typed = filterIn(queryOf(request));
    const parts = [...typed].map(([name, value]) => html`${name} ${isolate(value)}`);
    const named = joinList(parts, site.messages, 'enumeration');
    const lead = typed.size === 0 ? text.all : text.filtered(named);
    const query = new URLSearchParams([...typed]);
    const back = `/console/events${typed.size === 0 ? '' : `?${query}`}`;
    const question = {
      section: 'events',
      address,
      title: text.title,
      lead,
      about: Object.fromEntries(typed),
      back,
    } as const;
    return sendPage(reply, 200, site, exportPage(site, visit, question));
  });

  app.post(address, { config, preHandler }, async (request, reply) => {
    const visit = consoleVisitOf(request);
    const form = formOf(request);
    const typed = filterIn(form);
    const { database } = visit.services;
    async function read(after: string): Promise<ExportedPage> {
      const found = await searchEvents(database, {
        filter: eventFilterOf(typed),
        order: 'desc',
        after,
        limit: AT_ONCE,
      });
      return { rows: found.items.map(eventRow), next: found.next };
    }
    const list = {
      list: 'events',
      columns: EVENT_COLUMNS,
      filter: Object.fromEntries(typed),
      start: '0',
      read,
    } as const;
    return sendExport(reply, visit, list, formatIn(form));
  });
}

const PEOPLE_COLUMNS = ['id', 'username', 'displayName', 'email', 'status', 'deletionDueAt', 'createdAt'];

const personRow = (account: ListedAccount, now: number) => ({
  ...{ id: account.id, username: account.username, displayName: account.displayName, email: account.email },
  status: accountStatus(account, now),
  deletionDueAt: account.deletionDueAt === null ? null : iso(account.deletionDueAt),
  createdAt: iso(account.createdAt),
});

/** People after one of them: everybody with the newest first, or those whose name or address contains a text. */
async function peopleAfter(
  database: Pick<Database, 'read'>,
  text: string,
  after: string,
): Promise<{ readonly items: readonly ListedAccount[]; readonly next: string | undefined }> {
  if (text !== '') {
    const { items, next } = await searchAccounts(database, { text, after, limit: AT_ONCE });
    return { items: items.map(listed), next };
  }
  const items = await database.read(() => listNewestAccounts({ before: after, limit: AT_ONCE }));
  return { items, next: items.length < AT_ONCE ? undefined : items.at(-1)?.id };
}

function peopleExport(app: FastifyInstance, services: ConsoleServices): void {
  const { site, clock } = services;
  const { people: text } = site.messages.operators.exports;
  const address = EXPORT_ADDRESSES.people;
  const config = { permission: 'users.read', isExport: true } as const;
  const preHandler = requireFreshProof(services);

  app.get(address, { config, preHandler }, async (request, reply) => {
    const visit = consoleVisitOf(request);
    const q = typedIn(queryOf(request), 'q', LONGEST);
    const lead = q === '' ? text.all : text.containing(isolate(q));
    const back = q === '' ? '/console/people' : `/console/people?${new URLSearchParams({ q })}`;
    const question = {
      section: 'people',
      address,
      title: text.title,
      lead,
      about: q === '' ? {} : { q },
      back,
    } as const;
    return sendPage(reply, 200, site, exportPage(site, visit, question));
  });

  app.post(address, { config, preHandler }, async (request, reply) => {
    const visit = consoleVisitOf(request);
    const form = formOf(request);
    const q = typedIn(form, 'q', LONGEST);
    const { database } = visit.services;
    async function read(after: string): Promise<ExportedPage> {
      const { items, next } = await peopleAfter(database, q, after);
      return { rows: items.map((account) => personRow(account, clock())), next };
    }
    const list = { list: 'people', columns: PEOPLE_COLUMNS, filter: q === '' ? {} : { q }, read } as const;
    return sendExport(reply, visit, { ...list, start: q === '' ? BEFORE_NEWEST : '0' }, formatIn(form));
  });
}
