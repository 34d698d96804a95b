import type { Limit, LimitName } from '../config/limits.ts';
import type { Work } from '../database/database.ts';
import { first, run, statement } from '../database/statement.ts';
import { type Origin, record } from '../events/audit.ts';
import { canonicalAddress } from '../validation/ip-address.ts';

/** One more use. Over the limit nothing is written: the first use beyond it is the last that counts. */
const count = statement((db, p: { bucket: string; now: number; endsAt: number; most: number }) =>
  db
    .insertInto('rate_count')
    .values({ bucket: p.bucket, count: 1, window_ends_at: p.endsAt })
    .onConflict((conflict) =>
      conflict
        .column('bucket')
        .doUpdateSet((eb) => ({
          count: eb
            .case()
            .when('rate_count.window_ends_at', '<=', p.now)
            .then(1)
            .else(eb('rate_count.count', '+', 1))
            .end(),
          window_ends_at: eb
            .case()
            .when('rate_count.window_ends_at', '<=', p.now)
            .then(eb.ref('excluded.window_ends_at'))
            .else(eb.ref('rate_count.window_ends_at'))
            .end(),
        }))
        .where((eb) => eb.or([eb('rate_count.count', '<=', p.most), eb('rate_count.window_ends_at', '<=', p.now)])),
    )
    .returning(['count', 'window_ends_at']),
);

const current = statement((db, p: { bucket: string; now: number }) =>
  db
    .selectFrom('rate_count')
    .select(['count', 'window_ends_at'])
    .where('bucket', '=', p.bucket)
    .where('window_ends_at', '>', p.now),
);

const uncount = statement((db, p: { bucket: string }) =>
  db
    .updateTable('rate_count')
    .set((eb) => ({ count: eb('count', '-', 1) }))
    .where('bucket', '=', p.bucket)
    .where('count', '>', 0),
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
  const row = yield* first(count, { bucket, now, endsAt: now + limit.windowMs, most: limit.count });
  if (row === undefined) {
    const full = yield* first(current, { bucket, now });
    return secondsUntil(full?.window_ends_at ?? now, now);
  }
  if (row.count <= limit.count) return 0;
  const { name, ...whose } = about;
  yield* record({ at: now, type: 'limit.exceeded', outcome: 'failure', details: { limit: name }, ...whose });
  return secondsUntil(row.window_ends_at, now);
}

/** Whether the caller is the first of all nodes to claim this name in the window that now begins or runs. */
export function* claim(name: string, windowMs: number, now: number): Work<boolean> {
  const row = yield* first(count, { bucket: `claim ${name}`, now, endsAt: now + windowMs, most: 0 });
  return row !== undefined;
}

/** Whether a bucket is over its limit already, without counting: 0, or the seconds until the window ends. */
export function* exceeded(bucket: string, limit: Limit, now: number): Work<number> {
  if (limit === null) return 0;
  const row = yield* first(current, { bucket, now });
  return row === undefined || row.count <= limit.count ? 0 : secondsUntil(row.window_ends_at, now);
}

const secondsUntil = (instant: number, now: number): number => Math.max(1, Math.ceil((instant - now) / 1000));

/** Takes a use back: it turned out to be none of those that are limited. */
export function* giveBack(bucket: string, limit: Limit): Work<void> {
  if (limit !== null) yield* run(uncount, { bucket });
}

/**
 * The part of an address that is limited as one: an IPv4 address, or the /64 of an IPv6 one (one household's own). All that
 * is no address shares one bucket, so that nobody gets a fresh count by writing something else.
 */
export function addressBucket(text: string | null): string {
  const address = canonicalAddress(text ?? '');
  if (address === undefined) return 'unknown';
  if (!address.includes(':')) return address;
  const [head = '', tail] = address.split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail === undefined || tail === '' ? [] : tail.split(':');
  const groups = [...left, ...Array<string>(8 - left.length - right.length).fill('0'), ...right];
  return `${groups.slice(0, 4).join(':')}::/64`;
}
