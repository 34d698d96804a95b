import { setTimeout as wait } from 'node:timers/promises';
import { ClockOutOfSync, MAX_CLOCK_OFFSET, SECOND } from '../../platform/clock.ts';
import { type Database, StoreUnavailable } from '../../platform/database/database.ts';
import { positionOf } from '../../platform/database/migrations/position.ts';
import type { Timeline } from '../../platform/database/migrations/timeline.ts';
import { all, statement } from '../../platform/database/statement.ts';
import type { Ids } from '../../platform/ids/ids.ts';

/** Migrations are numbered: those that this version does not know come after its own. */
const migrationsAfter = statement((db, p: { last: string }) =>
  db.selectFrom('kysely_migration').select('name').where('name', '>', p.last),
);

/** How long an answer about writes and clocks is good, and how long one is waited for, in milliseconds. */
const FRESH = SECOND;
const PATIENCE = 2 * SECOND;

export interface ReadinessParts {
  readonly database: Database;
  readonly ids: Pick<Ids, 'renew'>;
  /** See `ClockWatch`. */
  readonly compareClocks: () => Promise<number>;
  /** The migrations that this version knows. */
  readonly timeline: Timeline;
  /** Whether the process is about to end. */
  leaving(): boolean;
}

/**
 * Tells why this node should get no requests now, or undefined where it should: what a request would meet, writes included. It
 * reads each time it is asked, and writes once a second at most, however often that is.
 * @throws {StoreUnavailable} where the database does not answer, or takes no writes
 */
export function readiness({
  database,
  ids,
  compareClocks,
  timeline,
  leaving,
}: ReadinessParts): () => Promise<string | undefined> {
  const known = Object.keys(timeline);
  let latest: { readonly at: number; readonly outcome: Promise<string | undefined> } | undefined;

  async function writesAndTime(): Promise<string | undefined> {
    // A durable write of this node's own row, which a node without a number to make ids with does not have.
    await ids.renew();
    const offset = await compareClocks();
    return Math.abs(offset) > MAX_CLOCK_OFFSET ? new ClockOutOfSync(offset).message : undefined;
  }

  function refreshed(): Promise<string | undefined> {
    if (latest !== undefined && performance.now() < latest.at + FRESH) return latest.outcome;
    const outcome = Promise.race([writesAndTime(), late()]);
    const begun = { at: Number.POSITIVE_INFINITY, outcome };
    latest = begun;
    const ended = () => {
      latest = { at: performance.now(), outcome };
    };
    outcome.then(ended, ended);
    return outcome;
  }

  return async () => {
    if (leaving()) return 'This node is about to stop.';
    const later = await database.read(() => all(migrationsAfter, { last: known.at(-1) ?? '' }));
    const { obstacle } = positionOf([...known, ...later.map(({ name }) => name)], timeline);
    if (obstacle !== undefined) return obstacle.message;
    return refreshed();
  };
}

async function late(): Promise<never> {
  await wait(PATIENCE, undefined, { ref: false });
  throw new StoreUnavailable(`the database has not confirmed a write within ${PATIENCE / SECOND} seconds`);
}
