import { type Kysely, sql } from 'kysely';
import { record } from '../audit/audit.ts';
import { CLOCK_SKEW, HOUR } from '../platform/clock.ts';
import type { Work } from '../platform/database/database.ts';
import type { Tables } from '../platform/database/schema.ts';
import { changes, command, joint, many, one } from '../platform/database/statement.ts';
import { addressBucket, networkBucket, type Origin } from '../platform/validation/origin.ts';
import type { Limit, LimitName } from './settings.ts';

/** A use of a bucket. */
interface Addition {
  readonly bucket: string;
  readonly weight: number;
  /** The end of a window that begins now on this node, */
  readonly endsAt: number;
  /** and its distance from now. */
  readonly windowMs: number;
  readonly most: number;
}

/** The latest end that another node, by its clock, can have given a window which would end then if it began now on this node. */
const latestEnd = (endsAt: number): number => endsAt + CLOCK_SKEW;

/**
 * Adds `weight` to the count of a bucket. Nothing is written once the count is above `most`.
 *
 * A window that ends after the {@link latestEnd} was begun by a clock that was ahead and has been corrected. It is shortened to that and
 * keeps its count. Shortened further, it would already be over for a node whose clock is a little ahead, and that would start a new one.
 */
function addition(db: Kysely<Tables>, p: Addition) {
  const isOver = sql<boolean>`rate_count.window_ends_at <= excluded.window_ends_at - ${p.windowMs}`;
  const latest = sql<number>`excluded.window_ends_at + ${CLOCK_SKEW}`;
  const isTooLong = sql<boolean>`rate_count.window_ends_at > ${latest}`;
  return db
    .insertInto('rate_count')
    .values({ bucket: p.bucket, count: p.weight, window_ends_at: p.endsAt })
    .onConflict((conflict) =>
      conflict
        .column('bucket')
        .doUpdateSet((eb) => ({
          count: eb
            .case()
            .when(isOver)
            .then(eb.ref('excluded.count'))
            .else(eb('rate_count.count', '+', eb.ref('excluded.count')))
            .end(),
          window_ends_at: eb
            .case()
            .when(isOver)
            .then(eb.ref('excluded.window_ends_at'))
            .when(isTooLong)
            .then(latest)
            .else(eb.ref('rate_count.window_ends_at'))
            .end(),
        }))
        .where((eb) => eb.or([eb('rate_count.count', '<=', p.most), isOver, isTooLong])),
    )
    .returning(['bucket', 'count', 'window_ends_at']);
}

const addToCount = one(addition);

/** The same for requests that arrive together: their sum is added, which may exceed `most` by more than one use. */
const addTogether = one(
  joint(
    { sum: { of: 'bucket', amount: 'weight', total: 'count', most: 'most', common: ['windowMs', 'most'] } },
    addition,
  ),
);

interface Count {
  readonly count: number;
  readonly window_ends_at: number;
}

/** By the bucket alone: with the end in the condition, PostgreSQL may go through all counts by the index of their ends. */
const findCount = one((db, p: { bucket: string }) =>
  db.selectFrom('rate_count').select(['count', 'window_ends_at']).where('bucket', '=', p.bucket),
);

/** A window that ends after `latest` is ignored here: the next use corrects it, see {@link addToCount}. */
function* readCount(bucket: string, now: number, latest: number): Work<Count | undefined> {
  const found = yield* findCount({ bucket });
  return found !== undefined && found.window_ends_at > now && found.window_ends_at <= latest ? found : undefined;
}

const subtractFromCount = command((db, p: { bucket: string; weight: number }) =>
  db
    .updateTable('rate_count')
    .set((eb) => ({ count: eb('count', '-', p.weight) }))
    .where('bucket', '=', p.bucket)
    .where('count', '>=', p.weight),
);

const readQuarters = many((db, p: { ahead: string; p0: string; p1: string; p2: string; p3: string; p4: string }) =>
  db
    .selectFrom('rate_count')
    .select(['count', 'window_ends_at'])
    .where('bucket', 'in', [p.ahead, p.p0, p.p1, p.p2, p.p3, p.p4]),
);

/** What the audit event of an exceeded limit says. */
interface LimitSubject {
  readonly name: LimitName;
  readonly origin: Origin;
  readonly clientId?: string | null;
  readonly accountId?: string | null;
}

/**
 * Counts one use of a bucket, in one atomic statement that all nodes of a database share. Only the first use above the limit in a window
 * is recorded, so that a flood cannot fill the audit trail.
 * @returns 0 when it is within the limit, else the seconds until the window ends
 */
export const take = (bucket: string, limit: Limit, now: number, subject: LimitSubject): Work<number> =>
  takeBy(addToCount, bucket, limit, now, subject);

/** The limit of a whole IPv6 network, from that of an address: one home has thousands of addresses, and one site has thousands of homes. */
export const ofNetwork = (limit: Limit): Limit => limit && { ...limit, count: limit.count * NETWORK_SHARE };
const NETWORK_SHARE = 8;

/** The buckets of an asker who is known by an address alone, each with its limit: those of the address and of its IPv6 network. */
function bucketsFrom(
  what: string,
  limit: Limit,
  { address }: Origin,
): readonly (readonly [bucket: string, limit: Limit])[] {
  const network = networkBucket(address);
  const own = [`${what} ${addressBucket(address)}`, limit] as const;
  return network === undefined ? [own] : [own, [`${what} ${network}`, ofNetwork(limit)]];
}

/**
 * {@link take} for an asker who is known by an address alone: the use counts for the address, and for its IPv6 network.
 * @param what is asked for, which begins the names of the buckets
 * @param takeUse {@link takeTogether} for uses that are never given back
 */
export function* takeFrom(
  what: string,
  limit: Limit,
  now: number,
  subject: LimitSubject,
  takeUse: typeof take = take,
): Work<number> {
  for (const [bucket, most] of bucketsFrom(what, limit, subject.origin)) {
    const seconds = yield* takeUse(bucket, most, now, subject);
    if (seconds > 0) return seconds;
  }
  return 0;
}

/** The limit of all askers together, from that of each: one of them alone uses up a part of it. */
export const ofAllAskers = (limit: Limit): Limit => limit && { ...limit, count: limit.count * ASKERS };
const ASKERS = 5;

/** {@link take} for uses that are never given back: those that arrive together are counted together. */
export const takeTogether = (bucket: string, limit: Limit, now: number, subject: LimitSubject): Work<number> =>
  takeBy(addTogether, bucket, limit, now, subject);

function* takeBy(
  add: typeof addToCount,
  bucket: string,
  limit: Limit,
  now: number,
  subject: LimitSubject,
): Work<number> {
  if (limit === null) return 0;
  const { windowMs, count: most } = limit;
  const endsAt = now + windowMs;
  // The first use above the limit is counted, too; later ones write nothing.
  const row = yield* add({ bucket, weight: 1, endsAt, windowMs, most });
  if (row === undefined) {
    const full = yield* readCount(bucket, now, latestEnd(endsAt));
    return secondsUntil(full?.window_ends_at ?? now, now);
  }
  if (row.count <= most) return 0;
  if (row.count === most + 1) yield* recordExceeded(now, subject);
  return secondsUntil(row.window_ends_at, now);
}

/**
 * Counts one use of something that the limit only slows down, so that its end is no event.
 * @returns whether it is within the limit
 */
export function* takeWithin(bucket: string, { count, windowMs }: NonNullable<Limit>, now: number): Work<boolean> {
  const row = yield* addToCount({ bucket, weight: 1, endsAt: now + windowMs, windowMs, most: count });
  return row !== undefined && row.count <= count;
}

/** Lets the units of work that name the same thing come one after the other. Who comes second waits for the first to commit. */
export function* oneAtATime(name: string, now: number): Work<void> {
  yield* takeWithin(name, { count: Number.MAX_SAFE_INTEGER, windowMs: HOUR }, now);
}

const recordExceeded = (at: number, { name, ...whose }: LimitSubject): Work<void> =>
  record({ at, type: 'limit.exceeded', outcome: 'failure', details: { limit: name }, ...whose });

/** Rolling limits count by quarters of their period: a use counts until the quarter in which it was made is a period old. */
const QUARTERS = 4;

/**
 * Takes `weight` from what a caller may have in any period of the limit's length. (With the fixed windows of {@link take}, a caller could
 * use up one window at its end and the next at its beginning.) What does not fit is not taken.
 * @returns 0 when it fits, else the seconds until the oldest quarter may no longer count
 */
export function* takeRolling(
  bucket: string,
  limit: Limit,
  weight: number,
  now: number,
  subject: LimitSubject,
): Work<number> {
  if (limit === null) return 0;
  const { name, endsAt } = quarterOf(bucket, limit, now);
  const current = name(0);
  yield* addToCount({ bucket: current, weight, endsAt, windowMs: endsAt - now, most: Number.MAX_SAFE_INTEGER });
  const seconds = yield* exceededRolling(bucket, limit, 0, now, subject);
  if (seconds > 0) yield* subtractFromCount({ bucket: current, weight });
  return seconds;
}

/** Whether `weight` does not fit into a rolling limit, without taking it: as {@link takeRolling} answers, which it records as well. */
export function* exceededRolling(
  bucket: string,
  limit: Limit,
  weight: number,
  now: number,
  subject: LimitSubject,
): Work<number> {
  if (limit === null) return 0;
  const { nextAt } = quarterOf(bucket, limit, now);
  const counts = (yield* readQuarters(quartersOf(bucket, limit, now))).filter(
    ({ window_ends_at }) => window_ends_at > now,
  );
  const taken = counts.reduce((sum, { count }) => sum + count, weight);
  if (taken <= limit.count) return 0;
  if (yield* claim(`over ${bucket}`, limit.windowMs, now)) yield* recordExceeded(now, subject);
  return secondsUntil(nextAt, now);
}

const removeCounts = command((db, p: { ahead: string; p0: string; p1: string; p2: string; p3: string; p4: string }) =>
  db.deleteFrom('rate_count').where('bucket', 'in', [p.ahead, p.p0, p.p1, p.p2, p.p3, p.p4]),
);

/** Forgets all that was taken from a rolling limit. */
export function* forgetRolling(bucket: string, limit: Limit, now: number): Work<void> {
  if (limit !== null) yield* removeCounts(quartersOf(bucket, limit, now));
}

/** The names of all quarters that may count. A node whose clock is ahead may have begun the next one already. */
function quartersOf(bucket: string, limit: NonNullable<Limit>, now: number) {
  const { name } = quarterOf(bucket, limit, now);
  return { ahead: name(-1), p0: name(0), p1: name(1), p2: name(2), p3: name(3), p4: name(4) };
}

/** The quarter of a rolling limit's period in which an instant falls: the names of the buckets, and the ends of quarter and count. */
function quarterOf(bucket: string, { windowMs }: NonNullable<Limit>, now: number) {
  const length = windowMs / QUARTERS;
  const quarter = Math.floor(now / length);
  return {
    name: (ago: number) => `${bucket} ${quarter - ago}`,
    nextAt: (quarter + 1) * length,
    endsAt: (quarter + 1 + QUARTERS) * length,
  };
}

/** Whether the caller is the first of all nodes to claim a name in the current window. */
export function* claim(name: string, windowMs: number, now: number): Work<boolean> {
  const row = yield* addToCount({ bucket: `claim ${name}`, weight: 1, endsAt: now + windowMs, windowMs, most: 0 });
  // A window that is shortened returns a row as well, with a higher count.
  return row?.count === 1;
}

/** Whether a name was claimed in the current window, without claiming it. */
export function* isClaimed(name: string, windowMs: number, now: number): Work<boolean> {
  return (yield* readCount(`claim ${name}`, now, latestEnd(now + windowMs))) !== undefined;
}

/** When a name was claimed last; undefined where it was not, or its window is over. */
export function* claimedAt(name: string, windowMs: number, now: number): Work<number | undefined> {
  const held = yield* readCount(`claim ${name}`, now, latestEnd(now + windowMs));
  return held === undefined ? undefined : held.window_ends_at - windowMs;
}

/** Claims a name, or moves its window where it was claimed before. */
export function* claimAgain(name: string, windowMs: number, now: number): Work<void> {
  if (yield* claim(name, windowMs, now)) return;
  const held = yield* readCount(`claim ${name}`, now, latestEnd(now + windowMs));
  if (held !== undefined && held.window_ends_at < now + windowMs) {
    yield* prolongClaim(name, held.window_ends_at, now + windowMs);
  }
}

/**
 * Claims a name again before its window ends.
 * @param heldUntil the end of the window that the caller claimed
 * @returns whether it was still the caller's
 */
export const prolongClaim = (name: string, heldUntil: number, until: number): Work<boolean> =>
  moveEnd({ bucket: `claim ${name}`, heldUntil, until });

const moveEnd = changes((db, p: { bucket: string; heldUntil: number; until: number }) =>
  db
    .updateTable('rate_count')
    .set({ window_ends_at: p.until })
    .where('bucket', '=', p.bucket)
    .where('window_ends_at', '=', p.heldUntil)
    .returning('bucket'),
);

/** Whether a bucket is above its limit, without counting a use: 0, or the seconds until the window ends. */
export function* exceeded(bucket: string, limit: Limit, now: number): Work<number> {
  if (limit === null) return 0;
  const row = yield* readCount(bucket, now, latestEnd(now + limit.windowMs));
  return row === undefined || row.count <= limit.count ? 0 : secondsUntil(row.window_ends_at, now);
}

const secondsUntil = (instant: number, now: number): number => Math.max(1, Math.ceil((instant - now) / 1000));

/** Ends a window, so that the next use is the first. */
export const forget = command((db, p: { bucket: string }) =>
  db.deleteFrom('rate_count').where('bucket', '=', p.bucket),
);

/** Takes a use back: it turned out not to be one that is limited. */
export function* giveBack(bucket: string, limit: Limit): Work<void> {
  if (limit !== null) yield* subtractFromCount({ bucket, weight: 1 });
}

/** {@link giveBack} for a use that was taken by {@link takeFrom}. */
export function* giveBackFrom(what: string, limit: Limit, origin: Origin): Work<void> {
  for (const [bucket, most] of bucketsFrom(what, limit, origin)) yield* giveBack(bucket, most);
}
