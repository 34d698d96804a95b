import { setTimeout as wait } from 'node:timers/promises';
import { ClockOutOfSync, MAX_CLOCK_OFFSET, SECOND } from '../../platform/clock.ts';
import { type Database, StoreUnavailable } from '../../platform/database/database.ts';
import type { Timeline } from '../../platform/database/migrations/kinds.ts';
import { migrationState } from '../../platform/database/migrations/position.ts';
import { many } from '../../platform/database/statement.ts';
import type { Ids } from '../../platform/ids/ids.ts';

/** Migrations are numbered, so those of later versions follow the last known one. */
const migrationsAfter = many((db, p: { last: string }) =>
  db.selectFrom('schema_migration').where('name', '>', p.last).select(['name', 'earliest_version as earliest']),
);

/** How long the result of a write and a comparison of the clocks is used again, and how long it may take, in milliseconds. */
const MAX_AGE = SECOND;
const TIMEOUT = 2 * SECOND;

export interface ReadinessOptions {
  readonly database: Database;
  readonly ids: Pick<Ids, 'renew'>;
  /** See `ClockWatch`. */
  readonly compareClocks: () => Promise<number>;
  /** The migrations that this version knows. */
  readonly timeline: Timeline;
  /** Whether the process is about to stop. */
  readonly isDraining: () => boolean;
}

/**
 * Creates the readiness check. It returns why this node should get no requests now, or undefined if it should. Each call reads from the
 * database; at most once a second a call also writes, as most requests do, and compares the clocks.
 * @throws {StoreUnavailable} when the database does not answer, or takes no writes
 */
export function readiness({
  database,
  ids,
  compareClocks,
  timeline,
  isDraining,
}: ReadinessOptions): () => Promise<string | undefined> {
  const known = Object.keys(timeline).map((name) => ({ name, earliest: null }));
  let latest: { readonly at: number; readonly result: Promise<string | undefined> } | undefined;

  async function checkWritesAndClock(): Promise<string | undefined> {
    // A durable write of this node's own row. A node that has no node number cannot do it.
    await ids.renew();
    const offset = await compareClocks();
    return Math.abs(offset) > MAX_CLOCK_OFFSET ? new ClockOutOfSync(offset).message : undefined;
  }

  function latestCheck(): Promise<string | undefined> {
    if (latest !== undefined && performance.now() < latest.at + MAX_AGE) return latest.result;
    const result = Promise.race([checkWritesAndClock(), timeOut()]);
    // Shared while it runs, and for a second after its end.
    latest = { at: Number.POSITIVE_INFINITY, result };
    const ended = () => {
      latest = { at: performance.now(), result };
    };
    result.then(ended, ended);
    return result;
  }

  return async () => {
    if (isDraining()) return 'This node is about to stop.';
    const later = await database.read(() => migrationsAfter({ last: known.at(-1)?.name ?? '' }));
    const { obstacle } = migrationState([...known, ...later], timeline);
    if (obstacle !== undefined) return obstacle.message;
    return latestCheck();
  };
}

async function timeOut(): Promise<never> {
  await wait(TIMEOUT, undefined, { ref: false });
  throw new StoreUnavailable(`the database has not confirmed a write within ${TIMEOUT / SECOND} seconds`);
}
