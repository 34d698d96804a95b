import { type Expression, type Kysely, sql } from 'kysely';
import { iso } from '../platform/clock.ts';
import { constant, rowsFrom } from '../platform/database/columns.ts';
import type { Tables } from '../platform/database/schema.ts';
import {
  columnsOf,
  decoder,
  json,
  many,
  one,
  plain,
  readAs,
  storedField,
  type Values,
} from '../platform/database/statement.ts';
import { matches } from '../platform/database/text-search.ts';
import type { EventType } from './audit.ts';

const EVENT = {
  id: storedField('id', plain<string>()),
  at: storedField('at', readAs(iso)),
  type: storedField('type', plain<EventType>()),
  outcome: storedField('outcome', plain<string>()),
  actor: {
    type: storedField('actor_type', plain<string>()),
    id: storedField('actor_id', plain<string | null>()),
  },
  userId: storedField('account_id', plain<string | null>()),
  clientId: storedField('client_id', plain<string | null>()),
  address: storedField('address', plain<string | null>()),
  requestId: storedField('request_id', plain<string | null>()),
  details: storedField('details', json<unknown>()),
} as const;

/** A recorded event, as operators see it. */
export type RecordedEvent = Values<typeof EVENT>;

/**
 * The indexes by account and client are on the block of an event, `id / 1024`, and the account or client. New events then fall on
 * few index pages, so the index costs little to write, and all events about an account are found by one lookup per block.
 * A part of the trail, to which nothing is added any more, has an index by account and id as well.
 */
export const BLOCK = 1024;

/** The parameters of one step of a search. */
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
  /** A pattern for the details. */
  readonly details: string;
  readonly since: number;
  readonly until: number;
}

/** The value of a filter that was not given, for texts and for ids, which are never 0. */
export const ANY = '';
export const ANY_ID = '0';

/** The block of an id, as in the indexes. */
const blockOf = (id: Expression<unknown>) => sql<number>`${id} / ${constant(BLOCK)}`;
const bigint = (id: string) => sql<string>`cast(${id} as bigint)`;

/** The id of the newest event; 0 where there is none. */
export const newestEventId = one(
  (db, _p: object) => db.selectFrom('audit_event').select('id').orderBy('id', 'desc').limit(1),
  ({ id }) => id,
);

/** The events of the blocks between two ids, joined so that the index by block is used. */
const selectByBlock = (db: Kysely<Tables>, p: SearchStep, extent: string) =>
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

const COLUMNS = columnsOf(EVENT).map((column) => `audit_event.${column}` as const);
const toEvent: (row: object) => RecordedEvent = decoder(EVENT);

interface StepOptions {
  /** Which index finds the events; without one, all events between the ids are examined. */
  readonly index?: 'account_id' | 'client_id';
  /** Whether that index is looked up block by block. */
  readonly byBlock?: boolean;
}

const searchStep = (order: 'asc' | 'desc', extent: string, { index, byBlock = false }: StepOptions = {}) =>
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
      .where((eb) => eb.or([eb(eb.val(p.details), '=', ANY), matches(eb.ref('details'), p.details)]))
      .where('at', '>=', p.since)
      .where('at', '<', p.until)
      .orderBy('id', order)
      .limit(p.limit);
  }, toEvent);

/** How many events of an account one read examines at most, where a part of the trail has an index of them. */
export const ACCOUNT_STEP = 1000;

/** As a constant in the SQL: PostgreSQL makes a new plan each time for a limit that it does not know. */
const ONE = constant(1);

/** The last event of a step that examines so many events of an account; undefined if there are fewer. */
const endOfAccountStep = (order: 'asc' | 'desc', extent: string) =>
  one((db, p: { userId: string; from: string; to: string }) =>
    db
      .selectFrom(rowsFrom('audit_event', extent))
      .select('id')
      .where('account_id', '=', p.userId)
      .where('id', '>=', p.from)
      .where('id', '<=', p.to)
      .orderBy('id', order)
      .limit(ONE)
      .offset(constant(ACCOUNT_STEP - 1)),
  );

const stepsIn = (extent: string, order: 'asc' | 'desc') => ({
  all: searchStep(order, extent),
  client: searchStep(order, extent, { index: 'client_id', byBlock: true }),
  account: searchStep(order, extent, { index: 'account_id', byBlock: true }),
  accountIndexed: searchStep(order, extent, { index: 'account_id' }),
  endOfAccountStep: endOfAccountStep(order, extent),
});

const statementsIn = (extent: string) => ({
  /** The first event from an id on. */
  next: one((db, p: { id: string }) =>
    db
      .selectFrom(rowsFrom('audit_event', extent))
      .select(['id', 'at'])
      .where('id', '>=', p.id)
      .orderBy('id')
      .limit(ONE),
  ),
  /** The last event up to an id. */
  previous: one((db, p: { id: string }) =>
    db
      .selectFrom(rowsFrom('audit_event', extent))
      .select(['id', 'at'])
      .where('id', '<=', p.id)
      .orderBy('id', 'desc')
      .limit(ONE),
  ),
  asc: stepsIn(extent, 'asc'),
  desc: stepsIn(extent, 'desc'),
});

const made = new Map<string, ReturnType<typeof statementsIn>>();

/**
 * The statements that find events.
 * @param extent among which: those of `all` tables of the trail, those `outside` of its parts, or those of a part, by its name
 */
export function eventsIn(extent: string): ReturnType<typeof statementsIn> {
  const statements = made.get(extent) ?? statementsIn(extent);
  made.set(extent, statements);
  return statements;
}
