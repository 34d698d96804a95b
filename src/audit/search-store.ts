import { type Expression, type Kysely, sql } from 'kysely';
import { iso } from '../platform/clock.ts';
import { constant } from '../platform/database/columns.ts';
import type { Database, Work } from '../platform/database/database.ts';
import type { AuditEventTable, Tables } from '../platform/database/schema.ts';
import { many, one } from '../platform/database/statement.ts';
import type { EventType } from './audit.ts';
import type { EventFilter } from './schema.ts';
import { DISORDER } from './trim-store.ts';

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
 */
const BLOCK = 1024;
/** How many blocks one read looks up at most. It starts with one: a page is soon full when there are many events. */
const MAX_BLOCKS = 256;

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

/** The events of the blocks between two ids, joined so that the index by block is used. */
const selectByBlock = (db: Kysely<Tables>, p: SearchStep) =>
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
    .crossJoin('audit_event')
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

/** @param index which index finds the events; without one, all events between the ids are examined */
const searchStep = (order: 'asc' | 'desc', index?: 'account_id' | 'client_id') =>
  many((db, p: SearchStep) => {
    const from = index === undefined ? db.selectFrom('audit_event') : selectByBlock(db, p);
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

const searchSteps = {
  asc: { all: searchStep('asc'), account: searchStep('asc', 'account_id'), client: searchStep('asc', 'client_id') },
  desc: { all: searchStep('desc'), account: searchStep('desc', 'account_id'), client: searchStep('desc', 'client_id') },
} as const;

const oldestEvent = one((db, _p: object) => db.selectFrom('audit_event').select('id').orderBy('id').limit(1));
const newestEvent = one((db, _p: object) => db.selectFrom('audit_event').select('id').orderBy('id', 'desc').limit(1));
const nextEvent = one((db, p: { id: string }) =>
  db.selectFrom('audit_event').select(['id', 'at']).where('id', '>=', p.id).orderBy('id').limit(1),
);

/**
 * The lowest id between two whose event is not older than an instant, found by bisection: times increase with ids, except for some
 * disorder. An index of times would make every event more expensive to write.
 */
function* idAt(low: bigint, high: bigint, instant: number): Work<bigint> {
  let [from, to] = [low, high + 1n];
  while (from < to) {
    const middle = (from + to) / 2n;
    const event = yield* nextEvent({ id: String(middle) });
    if (event === undefined || event.at >= instant) to = middle;
    else from = BigInt(event.id) + 1n;
  }
  return from;
}

/** The ids between which all results are; undefined if there are none. */
function* bounds({ filter, order, after }: EventSearch): Work<{ low: bigint; high: bigint } | undefined> {
  const [oldest, newest] = [yield* oldestEvent({}), yield* newestEvent({})];
  if (oldest === undefined || newest === undefined) return undefined;
  let [low, high] = [BigInt(oldest.id), BigInt(newest.id)];
  if (after !== ANY_ID && order === 'asc') low = largest(low, BigInt(after) + 1n);
  if (after !== ANY_ID && order === 'desc') high = smallest(high, BigInt(after) - 1n);
  if (filter.since !== undefined) low = yield* idAt(low, high, Date.parse(filter.since) - DISORDER);
  if (filter.until !== undefined) high = smallest(high, yield* idAt(low, high, Date.parse(filter.until) + DISORDER));
  return low > high ? undefined : { low, high };
}

const largest = (a: bigint, b: bigint): bigint => (a > b ? a : b);
const smallest = (a: bigint, b: bigint): bigint => (a < b ? a : b);

/**
 * Lists the events that match, in the order asked for. No single read takes long, however few match: see {@link STEP}.
 * @returns fewer than `limit` only if there are no more
 */
export async function listEvents(database: Database, search: EventSearch): Promise<RecordedEvent[]> {
  const { filter, order, limit } = search;
  const range = await database.read(() => bounds(search));
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
    const step = BigInt(index === 'all' ? STEP : blocks * BLOCK);
    blocks = Math.min(2 * blocks, MAX_BLOCKS);
    const from = order === 'asc' ? low : largest(low, high - step + 1n);
    const to = order === 'asc' ? smallest(high, low + step - 1n) : high;
    const params = { ...criteria, from: String(from), to: String(to), limit: limit - events.length };
    events.push(...(await database.read(() => searchSteps[order][index](params))));
    if (order === 'asc') low = to + 1n;
    else high = from - 1n;
  }
  return events;
}
