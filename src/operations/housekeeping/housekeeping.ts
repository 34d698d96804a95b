import { sql } from 'kysely';
import { trimEvents } from '../../audit/trim-store.ts';
import { claim } from '../../limits/limits.ts';
import { type Clock, DAY, databaseTime, MINUTE, NODE_CLOCK_TOLERANCE, SECOND } from '../../platform/clock.ts';
import type { Database, Work } from '../../platform/database/database.ts';
import { all, statement } from '../../platform/database/statement.ts';

const BATCH = 500;

/** A retired refresh token of a family can be told from an unknown one until no token of the family could live. */
const AFTER_END = 8 * DAY;
const KNOWN_BROWSER = 400 * DAY;
/** One of all nodes sweeps in a time like this. */
const TURN = MINUTE - SECOND;

const interactions = statement((db, p: { before: number; limit: number }) =>
  db
    .deleteFrom('interaction')
    .where('hash', 'in', db.selectFrom('interaction').select('hash').where('expires_at', '<=', p.before).limit(p.limit))
    .returning('hash'),
);
const sessions = statement((db, p: { before: number; limit: number }) =>
  db
    .deleteFrom('browser_session')
    .where(
      'hash',
      'in',
      db.selectFrom('browser_session').select('hash').where('expires_at', '<=', p.before).limit(p.limit),
    )
    .returning('hash'),
);
const counts = statement((db, p: { before: number; limit: number }) =>
  db
    .deleteFrom('rate_count')
    .where(
      'bucket',
      'in',
      db.selectFrom('rate_count').select('bucket').where('window_ends_at', '<=', p.before).limit(p.limit),
    )
    .returning('bucket'),
);
/** Used assertions. A node whose clock is behind would take one again while it has not expired there (RFC 7523 §3, `jti`). */
const assertions = statement((db, p: { before: number; limit: number }) =>
  db
    .deleteFrom('client_assertion')
    .where(
      'hash',
      'in',
      db.selectFrom('client_assertion').select('hash').where('expires_at', '<=', p.before).limit(p.limit),
    )
    .returning('hash'),
);
/** Codes that were never redeemed; a redeemed one is the evidence for its family, and goes with it. */
const codes = statement((db, p: { before: number; limit: number }) =>
  db
    .deleteFrom('authorization_code')
    .where(
      'hash',
      'in',
      db
        .selectFrom('authorization_code')
        .select('hash')
        .where('expires_at', '<=', p.before)
        .where('redeemed_at', 'is', null)
        .limit(p.limit),
    )
    .returning('hash'),
);
const families = statement((db, p: { before: number; limit: number }) =>
  db
    .deleteFrom('token_family')
    .where('id', 'in', db.selectFrom('token_family').select('id').where('ends_at', '<=', p.before).limit(p.limit))
    .returning('id'),
);
/** Where a token has ended, its own `exp` says so. */
const clientTokens = statement((db, p: { before: number; limit: number }) =>
  db
    .deleteFrom('client_token')
    .where('jti', 'in', db.selectFrom('client_token').select('jti').where('ends_at', '<=', p.before).limit(p.limit))
    .returning('jti'),
);
/** Revoked grants none of whose tokens could live; without their families nothing points at them. */
const grants = statement((db, p: { before: number; limit: number }) =>
  db
    .deleteFrom('consent_grant')
    .where(
      'id',
      'in',
      db
        .selectFrom('consent_grant')
        .select('id')
        .where('revoked_at', '<=', p.before)
        // As the index of those that were revoked says it.
        .where(sql<boolean>`revoked_at > 0`)
        .where(({ not, exists, selectFrom }) =>
          not(
            exists(selectFrom('token_family').select('id').whereRef('token_family.grant_id', '=', 'consent_grant.id')),
          ),
        )
        .limit(p.limit),
    )
    .returning('id'),
);
/** No form that was shown before the revocation can still be sent: its request has expired. */
const revocations = statement((db, p: { before: number; limit: number }) =>
  db
    .deleteFrom('consent_revocation')
    .where((eb) =>
      eb(
        eb.refTuple('account_id', 'client_id'),
        'in',
        db
          .selectFrom('consent_revocation')
          .select(['account_id', 'client_id'])
          .where('revoked_at', '<=', p.before)
          .limit(p.limit)
          .$asTuple('account_id', 'client_id'),
      ),
    )
    .returning('name'),
);
/** The clients of visits to the playground: the visit goes with its client, and so does all that the client was given. */
const visits = statement((db, p: { before: number; limit: number }) =>
  db
    .deleteFrom('client')
    .where(
      'id',
      'in',
      db.selectFrom('playground_visit').select('client_id').where('expires_at', '<=', p.before).limit(p.limit),
    )
    .returning('id'),
);
const browsers = statement((db, p: { before: number; limit: number }) =>
  db
    .deleteFrom('known_browser')
    .where((eb) =>
      eb(
        eb.refTuple('account_id', 'browser_hash'),
        'in',
        db
          .selectFrom('known_browser')
          .select(['account_id', 'browser_hash'])
          .where('last_seen_at', '<=', p.before)
          .limit(p.limit)
          .$asTuple('account_id', 'browser_hash'),
      ),
    )
    .returning('browser_hash'),
);

/**
 * Removes every row that can no longer matter, a batch at a time, so that requests come in between. Nothing depends on it but the size of the database:
 * validity is computed from the clock whenever it is asked for. Then the journal is emptied, which would keep what was
 * deleted or changed since the last sweep.
 * @param keepEvents for how long events are kept, in milliseconds; null is for ever
 * @returns how many rows went
 */
export async function sweep(database: Database, now: number, keepEvents: number | null = null): Promise<number> {
  const ends = [
    [interactions, now],
    [sessions, now],
    [counts, now],
    [assertions, now - NODE_CLOCK_TOLERANCE],
    [codes, now - DAY],
    [revocations, now - DAY],
    [families, now - AFTER_END],
    [grants, now - AFTER_END],
    [clientTokens, now],
    [visits, now],
    [browsers, now - KNOWN_BROWSER],
  ] as const;
  let removed = keepEvents === null ? 0 : await trimEvents(database, now - keepEvents, now);
  for (const [statement, before] of ends) {
    for (let batch = BATCH; batch === BATCH; removed += batch) {
      batch = await database.commit(function* remove(): Work<number> {
        return (yield* all(statement, { before, limit: BATCH })).length;
      });
    }
  }
  await database.emptyJournal();
  return removed;
}

/** Sweeps, unless another node of this database does so in these moments. */
export async function sweepInTurn(database: Database, now: number, keepEvents: number | null = null): Promise<number> {
  const mine = await database.commit(() => claim('housekeeping', TURN, now));
  return mine ? sweep(database, now, keepEvents) : 0;
}

/**
 * Sweeps now and then until stopped.
 * @param failed told of what kept it from that, such as a clock that is far from the database's
 * @param tend what else is done from time to time, after each sweep
 * @param keepEvents see {@link sweep}
 */
export function startHousekeeping(
  database: Database,
  clock: Clock,
  intervalMs: number,
  failed: (error: unknown) => void,
  tend: (now: number) => Promise<unknown> = async () => {},
  keepEvents: number | null = null,
) {
  let running: Promise<unknown> = Promise.resolve();
  let busy = false;
  async function tidy(): Promise<void> {
    // By the clock that the nodes share: one node whose own is wrong would delete what lives.
    const now = await databaseTime(database, clock);
    await sweepInTurn(database, now, keepEvents);
    await tend(now);
  }
  const timer = setInterval(() => {
    if (busy) return;
    busy = true;
    running = tidy()
      .catch(failed)
      .finally(() => {
        busy = false;
      });
  }, intervalMs);
  timer.unref();
  return async function stop(): Promise<void> {
    clearInterval(timer);
    await running;
  };
}
