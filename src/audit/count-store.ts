import { type Kysely, sql } from 'kysely';
import { HOUR } from '../platform/clock.ts';
import type { Work } from '../platform/database/database.ts';
import { forUpdate } from '../platform/database/row-locks.ts';
import type { Tables } from '../platform/database/schema.ts';
import { changes, command, many, one } from '../platform/database/statement.ts';
import { type CountableEvent, countsOf, REFUSAL_TYPES } from './rules/counts.ts';

/*
 * How many events of a type there were in each hour. They are counted from the trail, in the background: nothing is written for it where
 * they happen.
 */

const lockCursor = one(
  (db, _p: object) => db.selectFrom('counted_event').select('last_event').where('id', '=', '1').$call(forUpdate),
  (row) => row.last_event,
);

const moveCursor = command((db, p: { last: string }) =>
  db.updateTable('counted_event').set({ last_event: p.last }).where('id', '=', '1'),
);

const eventsAfter = many(
  (db, p: { after: string; until: number; limit: number }) =>
    db
      .selectFrom('audit_event')
      .select(['id', 'at', 'type', 'outcome', 'client_id as clientId', 'details'])
      .where('id', '>', p.after)
      .where('at', '<=', p.until)
      .orderBy('id')
      .limit(p.limit),
  (row): CountableEvent => row,
);

const add = command((db, p: { hour: number; type: string; reason: string; clientId: string; count: number }) =>
  db
    .insertInto('event_count')
    .values({ hour: p.hour, type: p.type, reason: p.reason, client_id: p.clientId, count: p.count })
    .onConflict((conflict) =>
      conflict
        .columns(['hour', 'type', 'reason', 'client_id'])
        .doUpdateSet((eb) => ({ count: eb('event_count.count', '+', eb.ref('excluded.count')) })),
    ),
);

const removeBefore = changes((db, p: { hour: number }) =>
  db.deleteFrom('event_count').where('hour', '<', p.hour).returning('hour'),
);

/**
 * Counts the next events of the trail, in the commit that remembers the last of them: none is counted twice, whichever nodes do it.
 * @returns how many events there were
 */
export function* countNextEvents({ until, limit }: { readonly until: number; readonly limit: number }): Work<number> {
  const after = (yield* lockCursor({})) ?? '0';
  const events = yield* eventsAfter({ after, until, limit });
  const last = events.at(-1);
  if (last === undefined) return 0;
  for (const count of countsOf(events)) yield* add(count);
  yield* moveCursor({ last: last.id });
  return events.length;
}

/** Removes counts of hours that are over for long. */
export const removeOldCounts = (before: number) => removeBefore({ hour: Math.floor(before / HOUR) });

/** How many events of a type there were in a span of some hours. */
export interface CountInSpan {
  /** Counted from the Unix epoch, in spans of that width. */
  readonly span: number;
  readonly type: string;
  readonly count: number;
}

/** Why something was refused, and to which app. */
export interface RefusalCount {
  readonly type: string;
  readonly reason: string;
  /** `0` for no app. */
  readonly clientId: string;
  readonly count: number;
}

interface Since {
  readonly since: number;
  readonly width: number;
  readonly limit: number;
}

const bySpan = (db: Kysely<Tables>, p: Since) =>
  db
    .selectFrom('event_count')
    .select((eb) => [eb('hour', '/', eb.val(p.width)).$castTo<number | null>().as('span'), 'type'])
    .select((eb) => [
      sql<string | null>`cast(null as text)`.as('reason'),
      sql<string>`cast(0 as bigint)`.as('clientId'),
      eb.fn.sum<number>('count').as('count'),
    ])
    .where('hour', '>=', p.since)
    .groupBy(['span', 'type']);

const refused = (db: Kysely<Tables>, p: Since) =>
  db
    .selectFrom('event_count')
    .select([sql<number | null>`cast(null as bigint)`.as('span'), 'type', 'reason', 'client_id as clientId'])
    .select((eb) => eb.fn.sum<number>('count').as('count'))
    .where('hour', '>=', p.since)
    .where('type', 'in', REFUSAL_TYPES)
    .groupBy(['type', 'reason', 'client_id'])
    .orderBy('count', 'desc')
    .limit(p.limit);

const countsSince = many((db, p: Since) =>
  bySpan(db, p).unionAll(
    db
      .selectFrom(refused(db, p).as('refused'))
      .select((eb) => ['span', 'type', eb.ref('reason').$castTo<string | null>().as('reason'), 'clientId', 'count']),
  ),
);

/** The counts since an hour: of each type by spans of some hours, and the most frequent refusals, of which there is a limit. */
export function* listCounts(since: Since): Work<{
  readonly counts: readonly CountInSpan[];
  readonly refusals: readonly RefusalCount[];
}> {
  const rows = yield* countsSince(since);
  return {
    counts: rows.flatMap(({ span, type, count }) =>
      span === null ? [] : [{ span: Number(span), type, count: Number(count) }],
    ),
    refusals: rows
      .filter(({ span }) => span === null)
      .map(({ type, reason, clientId, count }) => ({ type, reason: reason ?? '', clientId, count: Number(count) }))
      .sort((one, other) => other.count - one.count),
  };
}
