import { record } from '../audit/audit.ts';
import { CLOCK_SKEW } from '../platform/clock.ts';
import type { Limit, LimitName } from '../platform/config/limits.ts';
import type { Work } from '../platform/database/database.ts';
import { all, first, run, statement } from '../platform/database/statement.ts';
import type { Origin } from '../platform/http/origin.ts';

/** When a window that a node begins now ends, and when the last one ends that a node with another clock may have begun. */
interface Window {
  readonly endsAt: number;
  readonly latest: number;
}
const windowUntil = (endsAt: number): Window => ({ endsAt, latest: endsAt + CLOCK_SKEW });

/**
 * One more use, or `weight` of them. Where the count is beyond `most`, nothing is written, unless the window ends later than
 * `latest`, which is no window of a node that serves: a clock was ahead then, and went back. It ends at `latest` then, and its
 * count goes on: were it shortened to what this node would have begun now, a node whose clock is a little ahead would find it
 * over, and begin anew.
 */
const count = statement((db, p: Window & { bucket: string; weight: number; now: number; most: number }) =>
  db
    .insertInto('rate_count')
    .values({ bucket: p.bucket, count: p.weight, window_ends_at: p.endsAt })
    .onConflict((conflict) =>
      conflict
        .column('bucket')
        .doUpdateSet((eb) => ({
          count: eb
            .case()
            .when('rate_count.window_ends_at', '<=', p.now)
            .then(eb.ref('excluded.count'))
            .else(eb('rate_count.count', '+', eb.ref('excluded.count')))
            .end(),
          window_ends_at: eb
            .case()
            .when('rate_count.window_ends_at', '<=', p.now)
            .then(eb.ref('excluded.window_ends_at'))
            .when('rate_count.window_ends_at', '>', p.latest)
            .then(p.latest)
            .else(eb.ref('rate_count.window_ends_at'))
            .end(),
        }))
        .where((eb) =>
          eb.or([
            eb('rate_count.count', '<=', p.most),
            eb('rate_count.window_ends_at', '<=', p.now),
            eb('rate_count.window_ends_at', '>', p.latest),
          ]),
        ),
    )
    .returning(['count', 'window_ends_at']),
);

/** A window that ends later than any could by the clocks of nodes that serve is the next use's to correct: see `count`. */
const current = statement((db, p: { bucket: string; now: number; latest: number }) =>
  db
    .selectFrom('rate_count')
    .select(['count', 'window_ends_at'])
    .where('bucket', '=', p.bucket)
    .where('window_ends_at', '>', p.now)
    .where('window_ends_at', '<=', p.latest),
);

const uncount = statement((db, p: { bucket: string; weight: number }) =>
  db
    .updateTable('rate_count')
    .set((eb) => ({ count: eb('count', '-', p.weight) }))
    .where('bucket', '=', p.bucket)
    .where('count', '>=', p.weight),
);

const inParts = statement(
  (db, p: { ahead: string; p0: string; p1: string; p2: string; p3: string; p4: string; now: number }) =>
    db
      .selectFrom('rate_count')
      .select('count')
      .where('bucket', 'in', [p.ahead, p.p0, p.p1, p.p2, p.p3, p.p4])
      .where('window_ends_at', '>', p.now),
);

/** What a limit is about, for its event. */
interface About {
  readonly name: LimitName;
  readonly origin: Origin;
  readonly clientId?: string | null;
  readonly accountId?: string | null;
}

/**
 * Counts one use in a bucket, in one atomic statement that all nodes of a database share. The first use beyond the limit
 * is recorded; those after it in the same window are not, so that a flood cannot fill the audit trail.
 * @returns 0 when it is within the limit, else the seconds until the window ends
 */
export function* take(bucket: string, limit: Limit, now: number, about: About): Work<number> {
  if (limit === null) return 0;
  // The first use beyond the limit is the last that counts.
  const row = yield* first(count, { bucket, weight: 1, now, ...windowUntil(now + limit.windowMs), most: limit.count });
  if (row === undefined) {
    const full = yield* first(current, { bucket, now, latest: windowUntil(now + limit.windowMs).latest });
    return secondsUntil(full?.window_ends_at ?? now, now);
  }
  if (row.count <= limit.count) return 0;
  yield* recordExceeded(now, about);
  return secondsUntil(row.window_ends_at, now);
}

const recordExceeded = (at: number, { name, ...whose }: About): Work<void> =>
  record({ at, type: 'limit.exceeded', outcome: 'failure', details: { limit: name }, ...whose });

/** In how many parts a period is counted: what was taken in one counts until all of that part is a period old. */
const PARTS = 4;

/**
 * Takes `weight` of what a caller may have in any period of the limit's length, wherever that begins: of two windows of
 * {@link take}, one could be used up at its end and the next at its beginning. What does not fit is not taken.
 * @returns 0 when it fits, else the seconds until some of what was taken may count no more
 */
export function* takeRolling(bucket: string, limit: Limit, weight: number, now: number, about: About): Work<number> {
  if (limit === null) return 0;
  const length = limit.windowMs / PARTS;
  const part = Math.floor(now / length);
  const name = (ago: number) => `${bucket} ${part - ago}`;
  const endsAt = (part + 1 + PARTS) * length;
  yield* run(count, { bucket: name(0), weight, now, ...windowUntil(endsAt), most: Number.MAX_SAFE_INTEGER });
  // A node whose clock is ahead may have begun the next part already.
  const parts = { ahead: name(-1), p0: name(0), p1: name(1), p2: name(2), p3: name(3), p4: name(4) };
  const taken = (yield* all(inParts, { ...parts, now })).reduce((sum, row) => sum + row.count, 0);
  if (taken <= limit.count) return 0;
  yield* run(uncount, { bucket: name(0), weight });
  if (yield* claim(`over ${bucket}`, limit.windowMs, now)) yield* recordExceeded(now, about);
  return secondsUntil((part + 1) * length, now);
}

/** Whether the caller is the first of all nodes to claim this name in the window that now begins or runs. */
export function* claim(name: string, windowMs: number, now: number): Work<boolean> {
  const row = yield* first(count, { bucket: `claim ${name}`, weight: 1, now, ...windowUntil(now + windowMs), most: 0 });
  // A second use is written where the window is corrected.
  return row?.count === 1;
}

/** Whether a bucket is over its limit already, without counting: 0, or the seconds until the window ends. */
export function* exceeded(bucket: string, limit: Limit, now: number): Work<number> {
  if (limit === null) return 0;
  const row = yield* first(current, { bucket, now, latest: windowUntil(now + limit.windowMs).latest });
  return row === undefined || row.count <= limit.count ? 0 : secondsUntil(row.window_ends_at, now);
}

const secondsUntil = (instant: number, now: number): number => Math.max(1, Math.ceil((instant - now) / 1000));

/** Takes a use back: it turned out to be none of those that are limited. */
export function* giveBack(bucket: string, limit: Limit): Work<void> {
  if (limit !== null) yield* run(uncount, { bucket, weight: 1 });
}
