import { type Expression, type Kysely, sql } from 'kysely';
import { iso } from '../platform/clock.ts';
import { constant, rowsFrom } from '../platform/database/columns.ts';
import type { Database, TableParts, Work } from '../platform/database/database.ts';
import type { AuditEventTable, Tables } from '../platform/database/schema.ts';
import { many, one } from '../platform/database/statement.ts';
import type { EventType } from './audit.ts';
import type { EventFilter } from './schema.ts';
import { DISORDER, NEWEST } from './trim-store.ts';

/** A recorded event, as operators see it. */
export interface RecordedEvent {
  readonly id: string;
  readonly at: string;
  readonly type: EventType;
  readonly outcome: string;
  readonly actor: { readonly type: string; readonly id: string | null };
  readonly userId: string | null;
  readonly clientId: string | null;
  readonly address: string | null;
  readonly requestId: string | null;
  readonly details: unknown;
}

export interface EventSearch {
  readonly filter: EventFilter;
  /** In the order of recording, or newest first. */
  readonly order: 'asc' | 'desc';
  /** The event that precedes the results, in that order; `0` to start at the beginning. */
  readonly after: string;
  readonly limit: number;
}

/**
 * How many events one read examines at most. A search with few results goes through the whole trail in such steps, so that other
 * reads do not wait for it.
 */
const STEP = 20_000;

/**
 * The indexes by account and client are on the block of an event, `id / 1024`, and the account or client. New events then fall on
 * few index pages, so the index costs little to write, and all events about an account are found by one lookup per block.
 * A part of the trail, to which nothing is added any more, has an index by account and id as well.
 */
const BLOCK = 1024;
/** How many blocks one read looks up at most. It starts with one: a page is soon full when there are many events. */
const MAX_BLOCKS = 256;

/** How many events of an account one read examines at most, where a part of the trail has an index of them. */
const ACCOUNT_STEP = 1000;

/** The parameters of one step. */
interface SearchStep {
  /** The first and the last id. */
  readonly from: string;
  readonly to: string;
  readonly limit: number;
  readonly type: string;
  /** A pattern for the types of a family. */
  readonly family: string;
  readonly actor: string;
  readonly actorId: string;
  readonly userId: string;
  readonly clientId: string;
  readonly address: string;
  readonly requestId: string;
  readonly outcome: string;
  readonly since: number;
  readonly until: number;
}

/** The value of a filter that was not given, for texts and for ids, which are never 0. */
const ANY = '';
const ANY_ID = '0';

/** The block of an id, as in the indexes. */
const blockOf = (id: Expression<unknown>) => sql<number>`${id} / ${constant(BLOCK)}`;
const bigint = (id: string) => sql<string>`cast(${id} as bigint)`;

/** Among which events a statement looks: `outside` are those that are in no part of the trail. */
type Extent = 'all' | 'outside';

/** The events of the blocks between two ids, joined so that the index by block is used. */
const selectByBlock = (db: Kysely<Tables>, p: SearchStep, extent: Extent) =>
  db
    .withRecursive('block(number)', (cte) =>
      cte.selectNoFrom(blockOf(bigint(p.from)).as('number')).unionAll(
        cte
          .selectFrom('block')
          .select((eb) => eb('number', '+', 1).as('number'))
          .where('number', '<', blockOf(bigint(p.to))),
      ),
    )
    .selectFrom('block')
    // SQLite keeps the order of a cross join: first the block, then its index entries.
    .crossJoin(rowsFrom('audit_event', extent))
    .where(blockOf(sql.ref('audit_event.id')), '=', sql.ref<number>('block.number'));

const COLUMNS = [
  'audit_event.id',
  'audit_event.at',
  'audit_event.type',
  'audit_event.outcome',
  'audit_event.actor_type',
  'audit_event.actor_id',
  'audit_event.account_id',
  'audit_event.client_id',
  'audit_event.address',
  'audit_event.request_id',
  'audit_event.details',
] as const;

type EventRow = { readonly [K in keyof AuditEventTable]: K extends 'id' ? string : AuditEventTable[K] };

const toEvent = (row: EventRow): RecordedEvent => ({
  id: row.id,
  at: iso(row.at),
  type: row.type as EventType,
  outcome: row.outcome,
  actor: { type: row.actor_type, id: row.actor_id },
  userId: row.account_id,
  clientId: row.client_id,
  address: row.address,
  requestId: row.request_id,
  details: JSON.parse(row.details) as unknown,
});

interface StepOptions {
  /** Which index finds the events; without one, all events between the ids are examined. */
  readonly index?: 'account_id' | 'client_id';
  /** Whether that index is looked up block by block. */
  readonly byBlock?: boolean;
}

const searchStep = (order: 'asc' | 'desc', extent: Extent, { index, byBlock = false }: StepOptions = {}) =>
  many((db, p: SearchStep) => {
    const from = byBlock ? selectByBlock(db, p, extent) : db.selectFrom(rowsFrom('audit_event', extent));
    let query = from.select(COLUMNS).where('id', '>=', p.from).where('id', '<=', p.to);
    if (index === 'account_id') query = query.where('account_id', '=', p.userId);
    if (index === 'client_id') query = query.where('client_id', '=', p.clientId);
    return query
      .where((eb) =>
        eb.or([eb(eb.val(p.type), '=', ANY), eb('type', '=', p.type), eb('type', 'like', eb.val(p.family))]),
      )
      .where((eb) => eb.or([eb(eb.val(p.actor), '=', ANY), eb('actor_type', '=', p.actor)]))
      .where((eb) => eb.or([eb(eb.val(p.actorId), '=', ANY_ID), eb('actor_id', '=', p.actorId)]))
      .where((eb) => eb.or([eb(eb.val(p.userId), '=', ANY_ID), eb('account_id', '=', p.userId)]))
      .where((eb) => eb.or([eb(eb.val(p.clientId), '=', ANY_ID), eb('client_id', '=', p.clientId)]))
      .where((eb) => eb.or([eb(eb.val(p.address), '=', ANY), eb('address', '=', p.address)]))
      .where((eb) => eb.or([eb(eb.val(p.requestId), '=', ANY), eb('request_id', '=', p.requestId)]))
      .where((eb) => eb.or([eb(eb.val(p.outcome), '=', ANY), eb('outcome', '=', p.outcome)]))
      .where('at', '>=', p.since)
      .where('at', '<', p.until)
      .orderBy('id', order)
      .limit(p.limit);
  }, toEvent);

/** The last event of a step that examines so many events of an account; undefined if there are fewer. */
const endOfAccountStep = (order: 'asc' | 'desc') =>
  one((db, p: { userId: string; from: string; to: string; before: number }) =>
    db
      .selectFrom('audit_event')
      .select('id')
      .where('account_id', '=', p.userId)
      .where('id', '>=', p.from)
      .where('id', '<=', p.to)
      .orderBy('id', order)
      .limit(1)
      .offset(p.before),
  );

const stepsIn = (order: 'asc' | 'desc') => ({
  all: searchStep(order, 'all'),
  allOutside: searchStep(order, 'outside'),
  client: searchStep(order, 'all', { index: 'client_id', byBlock: true }),
  clientOutside: searchStep(order, 'outside', { index: 'client_id', byBlock: true }),
  account: searchStep(order, 'all', { index: 'account_id', byBlock: true }),
  accountOutside: searchStep(order, 'outside', { index: 'account_id', byBlock: true }),
  accountIndexed: searchStep(order, 'all', { index: 'account_id' }),
});
const searchSteps = { asc: stepsIn('asc'), desc: stepsIn('desc') } as const;
const endOfAccountSteps = { asc: endOfAccountStep('asc'), desc: endOfAccountStep('desc') } as const;

const oldestEvent = one((db, _p: object) => db.selectFrom('audit_event').select('id').orderBy('id').limit(1));

const eventsIn = (extent: Extent) => ({
  newest: one((db, _p: object) =>
    db.selectFrom(rowsFrom('audit_event', extent)).select('audit_event.id').orderBy('audit_event.id', 'desc').limit(1),
  ),
  next: one((db, p: { id: string }) =>
    db
      .selectFrom(rowsFrom('audit_event', extent))
      .select(['audit_event.id', 'audit_event.at'])
      .where('audit_event.id', '>=', p.id)
      .orderBy('audit_event.id')
      .limit(1),
  ),
});
const everywhere = eventsIn('all');
const outside = eventsIn('outside');

/**
 * The lowest id between two whose event is not older than an instant, found by bisection: times increase with ids, except for some
 * disorder. An index of times would make every event more expensive to write.
 * @param next reads the first event from an id on
 */
function* bisect(low: bigint, high: bigint, instant: number, next: typeof everywhere.next): Work<bigint> {
  let [from, to] = [low, high + 1n];
  while (from < to) {
    const middle = (from + to) / 2n;
    const event = yield* next({ id: String(middle) });
    if (event === undefined || event.at >= instant) to = middle;
    else from = BigInt(event.id) + 1n;
  }
  return from;
}

/** The same, without a look into each part of the trail for events that are newer than all of them. */
function* idAt(low: bigint, high: bigint, instant: number, { aside, isDivided }: Division): Work<bigint> {
  if (!isDivided) return yield* bisect(low, high, instant, everywhere.next);
  const first = largest(low, aside + 1n);
  const event = yield* outside.next({ id: String(first) });
  if (event !== undefined && event.at < instant) return yield* bisect(first, high, instant, outside.next);
  return yield* bisect(low, smallest(high, aside), instant, everywhere.next);
}

/** The ids between which all results are; undefined if there are none. */
function* bounds(
  { filter, order, after }: EventSearch,
  division: Division,
): Work<{ low: bigint; high: bigint } | undefined> {
  const oldest = yield* oldestEvent({});
  const newest = (division.isDivided ? yield* outside.newest({}) : undefined) ?? (yield* everywhere.newest({}));
  if (oldest === undefined || newest === undefined) return undefined;
  let [low, high] = [BigInt(oldest.id), BigInt(newest.id)];
  if (after !== ANY_ID && order === 'asc') low = largest(low, BigInt(after) + 1n);
  if (after !== ANY_ID && order === 'desc') high = smallest(high, BigInt(after) - 1n);
  if (filter.since !== undefined) low = yield* idAt(low, high, Date.parse(filter.since) - DISORDER, division);
  if (filter.until !== undefined) {
    high = smallest(high, yield* idAt(low, high, Date.parse(filter.until) + DISORDER, division));
  }
  return low > high ? undefined : { low, high };
}

const largest = (a: bigint, b: bigint): bigint => (a > b ? a : b);
const smallest = (a: bigint, b: bigint): bigint => (a < b ? a : b);

/** A range of ids, and the statement that finds events in it. */
interface Zone {
  readonly first: bigint;
  readonly last: bigint;
  readonly steps: keyof typeof searchSteps.asc;
}

/** How the trail is divided. */
interface Division {
  /** Up to which id the events are in parts that have an index by account; 0 if there are none. */
  readonly indexed: bigint;
  /** Up to which id they are in parts at all. A trail that cannot be divided is searched as if everything was. */
  readonly aside: bigint;
  /** Whether there are parts. */
  readonly isDivided: boolean;
}

function* divisionOf(parts: TableParts | undefined): Work<Division> {
  if (parts === undefined) return { indexed: 0n, aside: BigInt(NEWEST), isDivided: false };
  const list = yield* parts.list();
  const bare = list.findIndex(({ isIndexed }) => !isIndexed);
  const indexed = list.slice(0, bare === -1 ? list.length : bare).at(-1);
  return {
    indexed: BigInt(indexed?.through ?? 0),
    aside: BigInt(list.at(-1)?.through ?? 0),
    isDivided: list.length > 0,
  };
}

/** The zone that an id is in. A lookup by block costs as many descents as there are parts, so newer events are found without them. */
function zoneOf(id: bigint, index: 'all' | 'account' | 'client', { indexed, aside }: Division): Zone {
  if (index === 'account' && id <= indexed) return { first: 0n, last: indexed, steps: 'accountIndexed' };
  if (id <= aside) return { first: index === 'account' ? indexed + 1n : 0n, last: aside, steps: index };
  return { first: aside + 1n, last: BigInt(NEWEST), steps: `${index}Outside` };
}

/**
 * Lists the events that match, in the order asked for. No single read takes long, however few match: see {@link STEP}.
 * @returns fewer than `limit` only if there are no more
 */
export async function listEvents(database: Database, search: EventSearch): Promise<RecordedEvent[]> {
  const readDivision = () => database.read(() => divisionOf(database.auditParts));
  for (let division = await readDivision(); ; ) {
    const events = await searchDivided(database, search, division);
    const now = await readDivision();
    // What was divided off meanwhile was perhaps looked for where it no longer was.
    if (now.aside === division.aside) return events;
    division = now;
  }
}

async function searchDivided(database: Database, search: EventSearch, division: Division): Promise<RecordedEvent[]> {
  const { filter, order, limit } = search;
  const range = await database.read(() => bounds(search, division));
  const events: RecordedEvent[] = [];
  if (range === undefined) return events;
  const index = filter.userId !== undefined ? 'account' : filter.clientId !== undefined ? 'client' : 'all';
  const criteria = {
    type: filter.type ?? ANY,
    family: `${filter.type ?? ANY}.%`,
    actor: filter.actor ?? ANY,
    actorId: filter.actorId ?? ANY_ID,
    userId: filter.userId ?? ANY_ID,
    clientId: filter.clientId ?? ANY_ID,
    address: filter.address ?? ANY,
    requestId: filter.requestId ?? ANY,
    outcome: filter.outcome ?? ANY,
    since: filter.since === undefined ? 0 : Date.parse(filter.since),
    until: filter.until === undefined ? Number.MAX_SAFE_INTEGER : Date.parse(filter.until),
  };
  let { low, high } = range;
  let blocks = 1;
  while (low <= high && events.length < limit) {
    const zone = zoneOf(order === 'asc' ? low : high, index, division);
    let [from, to] = [largest(low, zone.first), smallest(high, zone.last)];
    if (zone.steps === 'accountIndexed') {
      const step = { userId: criteria.userId, from: String(from), to: String(to), before: ACCOUNT_STEP - 1 };
      const end = (await database.read(() => endOfAccountSteps[order](step)))?.id;
      if (end !== undefined && order === 'asc') to = BigInt(end);
      if (end !== undefined && order === 'desc') from = BigInt(end);
    } else {
      const step = BigInt(index === 'all' ? STEP : blocks * BLOCK);
      blocks = Math.min(2 * blocks, MAX_BLOCKS);
      if (order === 'asc') to = smallest(to, from + step - 1n);
      else from = largest(from, to - step + 1n);
    }
    const params = { ...criteria, from: String(from), to: String(to), limit: limit - events.length };
    events.push(...(await database.read(() => searchSteps[order][zone.steps](params))));
    if (order === 'asc') low = to + 1n;
    else high = from - 1n;
  }
  return events;
}
