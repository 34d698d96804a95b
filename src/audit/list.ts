import { type Kysely, sql } from 'kysely';
import { iso, MINUTE } from '../platform/clock.ts';
import type { Database, Work } from '../platform/database/database.ts';
import type { AuditEventTable, Tables } from '../platform/database/schema.ts';
import { all, first, statement } from '../platform/database/statement.ts';
import type { EventType } from './audit.ts';
import type { EventFilter } from './schema.ts';

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

export interface EventQuery {
  readonly filter: EventFilter;
  /** Newest first, or in the order in which they were recorded. */
  readonly order: 'asc' | 'desc';
  /** The event after which the part begins, in that order; `0` is the start. */
  readonly after: string;
  readonly limit: number;
}

/**
 * How many events one read looks at. A search that finds little looks at the whole trail in such steps, so that nothing
 * else waits for it.
 */
const STEP = 20_000;

/**
 * Events of an account or a client stand together in their index for so many events at a time. So an index that costs each
 * event little leads to all events of somebody, by one look for each block. The index names the number, so the SQL does, too.
 */
const BLOCK = 1024;
/** How many blocks one read looks into: one at first, for a page is soon full where somebody has many events. */
const MOST_BLOCKS = 256;

interface Span {
  readonly from: string;
  readonly to: string;
  readonly limit: number;
  readonly type: string;
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

const ANY = '';
/** Ids are never 0. */
const NOBODY = '0';

/** The events of the blocks from one id to another, as the query builder takes them. */
const inBlocks = (db: Kysely<Tables>, p: Span) =>
  db
    .withRecursive('block(number)', (cte) =>
      cte.selectNoFrom(blockOf(p.from).as('number')).unionAll(
        cte
          .selectFrom('block')
          .select((eb) => eb('number', '+', 1).as('number'))
          .where('number', '<', blockOf(p.to)),
      ),
    )
    .selectFrom('block')
    // SQLite keeps the order of a cross join: first the block, then what the index has of it.
    .crossJoin('audit_event')
    .where(sql`audit_event.id / 1024`, '=', sql.ref('block.number'));

const blockOf = (id: string) => sql<number>`cast(${id} as bigint) / 1024`;

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

/** @param about the column whose index leads to the events, where one is asked for: else the ids do */
const span = (order: 'asc' | 'desc', about?: 'account_id' | 'client_id') =>
  statement((db, p: Span) => {
    const from = about === undefined ? db.selectFrom('audit_event') : inBlocks(db, p);
    let query = from.select(COLUMNS).where('id', '>=', p.from).where('id', '<=', p.to);
    if (about === 'account_id') query = query.where('account_id', '=', p.userId);
    if (about === 'client_id') query = query.where('client_id', '=', p.clientId);
    return query
      .where((eb) =>
        eb.or([eb(eb.val(p.type), '=', ANY), eb('type', '=', p.type), eb('type', 'like', eb.val(p.family))]),
      )
      .where((eb) => eb.or([eb(eb.val(p.actor), '=', ANY), eb('actor_type', '=', p.actor)]))
      .where((eb) => eb.or([eb(eb.val(p.actorId), '=', NOBODY), eb('actor_id', '=', p.actorId)]))
      .where((eb) => eb.or([eb(eb.val(p.userId), '=', NOBODY), eb('account_id', '=', p.userId)]))
      .where((eb) => eb.or([eb(eb.val(p.clientId), '=', NOBODY), eb('client_id', '=', p.clientId)]))
      .where((eb) => eb.or([eb(eb.val(p.address), '=', ANY), eb('address', '=', p.address)]))
      .where((eb) => eb.or([eb(eb.val(p.requestId), '=', ANY), eb('request_id', '=', p.requestId)]))
      .where((eb) => eb.or([eb(eb.val(p.outcome), '=', ANY), eb('outcome', '=', p.outcome)]))
      .where('at', '>=', p.since)
      .where('at', '<', p.until)
      .orderBy('id', order)
      .limit(p.limit);
  });

const spans = {
  asc: { all: span('asc'), account: span('asc', 'account_id'), client: span('asc', 'client_id') },
  desc: { all: span('desc'), account: span('desc', 'account_id'), client: span('desc', 'client_id') },
} as const;

const oldest = statement((db, _p: object) => db.selectFrom('audit_event').select('id').orderBy('id').limit(1));
const newest = statement((db, _p: object) => db.selectFrom('audit_event').select('id').orderBy('id', 'desc').limit(1));
const firstFrom = statement((db, p: { id: string }) =>
  db.selectFrom('audit_event').select(['id', 'at']).where('id', '>=', p.id).orderBy('id').limit(1),
);

/**
 * How far times and ids may disagree. An event bears the time at which its request began, by the clock of its node, and
 * gets its id when it is written.
 */
const DISORDER = 10 * MINUTE;

/**
 * The first id between two from which on events are of an instant or later, found by halving: times rise with ids, but for
 * some disorder. An index of times would cost every event that is written.
 */
function* idAt(low: bigint, high: bigint, instant: number): Work<bigint> {
  let [from, to] = [low, high + 1n];
  while (from < to) {
    const middle = (from + to) / 2n;
    const event = yield* first(firstFrom, { id: String(middle) });
    if (event === undefined || event.at >= instant) to = middle;
    else from = BigInt(event.id) + 1n;
  }
  return from;
}

/** The ids between which everything lies that is asked for; undefined where there is nothing. */
function* bounds({ filter, order, after }: EventQuery): Work<{ low: bigint; high: bigint } | undefined> {
  const ends = { low: yield* first(oldest, {}), high: yield* first(newest, {}) };
  if (ends.low === undefined || ends.high === undefined) return undefined;
  let [low, high] = [BigInt(ends.low.id), BigInt(ends.high.id)];
  if (after !== NOBODY && order === 'asc') low = largest(low, BigInt(after) + 1n);
  if (after !== NOBODY && order === 'desc') high = smallest(high, BigInt(after) - 1n);
  if (filter.since !== undefined) low = yield* idAt(low, high, Date.parse(filter.since) - DISORDER);
  if (filter.until !== undefined) high = smallest(high, yield* idAt(low, high, Date.parse(filter.until) + DISORDER));
  return low > high ? undefined : { low, high };
}

const largest = (a: bigint, b: bigint): bigint => (a > b ? a : b);
const smallest = (a: bigint, b: bigint): bigint => (a < b ? a : b);

/**
 * Events that fit, in the order asked for. However few fit, no single read takes long: see {@link STEP}.
 * @returns fewer than `limit` only where there are no more
 */
export async function listEvents(database: Database, query: EventQuery): Promise<RecordedEvent[]> {
  const { filter, order, limit } = query;
  const within = await database.read(() => bounds(query));
  const found: RecordedEvent[] = [];
  if (within === undefined) return found;
  const leads = filter.userId !== undefined ? 'account' : filter.clientId !== undefined ? 'client' : 'all';
  const wanted = {
    type: filter.type ?? ANY,
    family: `${filter.type ?? ANY}.%`,
    actor: filter.actor ?? ANY,
    actorId: filter.actorId ?? NOBODY,
    userId: filter.userId ?? NOBODY,
    clientId: filter.clientId ?? NOBODY,
    address: filter.address ?? ANY,
    requestId: filter.requestId ?? ANY,
    outcome: filter.outcome ?? ANY,
    since: filter.since === undefined ? 0 : Date.parse(filter.since),
    until: filter.until === undefined ? Number.MAX_SAFE_INTEGER : Date.parse(filter.until),
  };
  let { low, high } = within;
  let blocks = 1;
  while (low <= high && found.length < limit) {
    const step = BigInt(leads === 'all' ? STEP : blocks * BLOCK);
    blocks = Math.min(2 * blocks, MOST_BLOCKS);
    const from = order === 'asc' ? low : largest(low, high - step + 1n);
    const to = order === 'asc' ? smallest(high, low + step - 1n) : high;
    const part = { ...wanted, from: String(from), to: String(to), limit: limit - found.length };
    const rows = await database.read(() => all(spans[order][leads], part));
    found.push(...rows.map(toEvent));
    if (order === 'asc') low = to + 1n;
    else high = from - 1n;
  }
  return found;
}

type Row = { readonly [K in keyof AuditEventTable]: K extends 'id' ? string : AuditEventTable[K] };

const toEvent = (row: Row): RecordedEvent => ({
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
