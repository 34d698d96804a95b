import { setTimeout as wait } from 'node:timers/promises';
import { isDividable, oldestEventAt } from '../../audit/trim-store.ts';
import { claim, prolongClaim } from '../../limits/limits.ts';
import { type Clock, databaseTime, HOUR, MINUTE, SECOND } from '../../platform/clock.ts';
import { type Database, StoreUnavailable, type TablePart, type Work } from '../../platform/database/database.ts';
import type { HousekeepingMeter } from '../../platform/metrics/metrics.ts';
import type { Batch, Removal } from './removal.ts';
import { type RetentionSettings, removals } from './removal-store.ts';
import { BATCH, nextBatchSize, restAfter } from './rules/pace.ts';

/** Within this time, one of all nodes sweeps. */
const TURN = MINUTE - SECOND;
/** How many batches of one kind of rows are removed before the next kind has its turn. */
const BATCHES_IN_A_ROW = 20;
/** A pass ends after this time, in milliseconds, and the next one begins at once: other periodic work comes between them. */
const LONGEST_PASS = MINUTE / 2;

/**
 * How much of the audit trail one run removes at most, in milliseconds. A clock that is set wrong makes the whole trail due at once, and what
 * is removed is lost; at an hour each minute, operators have days to notice.
 */
const TRIMMED_AT_ONCE = HOUR;

const UNMETERED: HousekeepingMeter = { removed: () => {}, passed: () => {} };

/**
 * Removes the rows that no longer matter. Then it empties the journal of the database, which would keep what was deleted or changed since
 * the last sweep.
 * @param keepEvents for how long audit events are kept, in milliseconds; null keeps them forever
 * @param keepTraces for how long the steps of traces are kept, in milliseconds; null leaves them alone
 * @returns how many rows were removed
 */
export async function sweep(
  database: Database,
  now: number,
  keepEvents: number | null = null,
  keepTraces: number | null = null,
): Promise<number> {
  let removed = 0;
  for (const removal of removals({ events: keepEvents, steps: keepTraces }, database.auditParts)) {
    for (let left = true; left; ) {
      const batch = await removeBatch(database, removal, now, BATCH.most);
      removed += batch.removed;
      left = batch.handled === BATCH.most;
    }
  }
  await database.emptyJournal();
  return removed;
}

/** @param notBefore the rows that ended at this instant or later stay, also if they are due */
const removeBatch = (
  database: Database,
  { batch, kept }: Removal,
  now: number,
  limit: number,
  notBefore = Number.POSITIVE_INFINITY,
): Promise<Batch> => database.commit(() => batch({ now, before: Math.min(now - kept, notBefore), limit }));

/** Leaves for the next pass what others hold too long, such as a backup a table that is to be dropped. */
async function orLater<T>(attempt: Promise<T>): Promise<T | undefined> {
  try {
    return await attempt;
  } catch (error) {
    // Whether the database is away is told by what comes next.
    if (error instanceof StoreUnavailable) return undefined;
    throw error;
  }
}

/**
 * For how long the oldest rows have been due that are not removed yet, in milliseconds, by table. Between two passes they are due for up
 * to a minute.
 */
export async function readBacklog(
  { database, clock }: Pick<Housekeeping, 'database' | 'clock'>,
  settings: RetentionSettings,
): Promise<ReadonlyMap<string, number>> {
  const now = clock();
  return database.read(function* read(): Work<ReadonlyMap<string, number>> {
    const overdue = new Map<string, number>();
    for (const { table, kept, oldest } of removals(settings, database.auditParts)) {
      const at = yield* oldest({ before: now - kept });
      overdue.set(table, Math.max(overdue.get(table) ?? 0, at === undefined ? 0 : now - kept - at));
    }
    return overdue;
  });
}

export interface Housekeeping {
  readonly database: Database;
  readonly clock: Clock;
  /** How often it runs, in milliseconds. With rows left to remove, it goes on at once. */
  readonly interval: number;
  readonly settings?: RetentionSettings;
  readonly meter?: HousekeepingMeter | undefined;
  /** Other periodic work, done after each pass. */
  readonly afterSweep?: (now: number) => Promise<unknown>;
  /** Called with an error that kept it from its work, such as a clock that is out of sync. */
  readonly failed: (error: unknown) => void;
}

/** Keeps the audit trail in parts, where it is trimmed and the database can divide it. */
function trailUpkeep(
  { database, failed, kept }: Pick<Housekeeping, 'database' | 'failed'> & { readonly kept: number | null },
  isStopped: () => boolean,
) {
  const { auditParts: parts } = database;
  let indexing: Promise<void> | undefined;
  return {
    /** Puts the events since the last time aside as a part of the trail, where they are a month's. */
    async divide(now: number): Promise<void> {
      if (kept === null || parts === undefined) return;
      if (await database.read(() => isDividable({ kept, parts }, now)))
        await orLater(database.commit(() => parts.divide()));
    },
    /** Has the oldest part of the trail that has no index by account yet get one. That may take minutes, which nothing else waits for. */
    async index(): Promise<void> {
      if (kept === null || parts === undefined || indexing !== undefined) return;
      const part = await database.read(function* bare(): Work<TablePart | undefined> {
        return (yield* parts.mayDivide()) ? (yield* parts.list()).find(({ isIndexed }) => !isIndexed) : undefined;
      });
      if (part === undefined || isStopped()) return;
      indexing = orLater(parts.index(part))
        .catch(failed)
        .finally(() => {
          indexing = undefined;
        });
    },
  };
}

/**
 * Removes what is due, periodically, until stopped: in small batches with rests in between, on one node at a time.
 * @returns stops it, and waits for the batches of a pass that is running, one of each kind at most, but not for an index that is being built
 */
export function startHousekeeping({
  database,
  clock,
  interval,
  settings = { events: null, steps: null },
  meter = UNMETERED,
  afterSweep,
  failed,
}: Housekeeping) {
  const kinds = removals(settings, database.auditParts);
  const sizes = new Map<Removal, number>();
  let running: Promise<void> | undefined;
  let stopped = false;
  const trail = trailUpkeep({ database, failed, kept: settings.events }, () => stopped);
  /** Up to which instant events may be removed. */
  let trimmedTo: number | undefined;

  async function advanceTrimming(now: number): Promise<void> {
    if (settings.events === null) return;
    const from = trimmedTo ?? (await database.read(oldestEventAt)) ?? now;
    trimmedTo = Math.min(now - settings.events, from + TRIMMED_AT_ONCE);
  }

  /** Removes several batches of one kind. @returns whether more are left */
  async function removeSome(removal: Removal, now: number): Promise<boolean> {
    for (let batch = 0; batch < BATCHES_IN_A_ROW; batch++) {
      const size = sizes.get(removal) ?? BATCH.first;
      const began = performance.now();
      const usage = performance.eventLoopUtilization();
      const isTrail = removal.table === 'audit_event';
      const removing = removeBatch(database, removal, now, size, isTrail ? trimmedTo : undefined);
      const done = isTrail ? await orLater(removing) : await removing;
      if (done === undefined) return false;
      const { handled, removed } = done;
      const time = { took: performance.now() - began, busy: performance.eventLoopUtilization(usage).active };
      if (removed > 0) meter.removed(removal.table, removed);
      if (handled < size || stopped) return false;
      sizes.set(removal, nextBatchSize(size, time));
      await wait(restAfter(time));
    }
    return true;
  }

  /** @returns whether more is left to do than fits in one pass */
  async function pass(began: number): Promise<boolean> {
    const start = performance.now();
    let now = began;
    let heldUntil = now + TURN;
    if (!(await database.commit(() => claim('housekeeping', TURN, now)))) return false;
    await trail.divide(now);
    await trail.index();
    for (;;) {
      let left = false;
      for (const removal of kinds) left = (await removeSome(removal, now)) || left;
      if (!left) return false;
      now = await databaseTime(database, clock);
      // So that no other node sweeps meanwhile; at the end of the pass, so that any node may go on.
      const isOver = performance.now() - start > LONGEST_PASS;
      const until = isOver ? now : now + TURN;
      const isHeld = await database.commit(() => prolongClaim('housekeeping', heldUntil, until));
      if (isOver || !isHeld) return isHeld;
      heldUntil = until;
    }
  }

  async function run(): Promise<void> {
    for (let [left, first] = [true, true]; left && !stopped; first = false) {
      // The time that all nodes share: a node with a wrong clock would delete what has not expired.
      const now = await databaseTime(database, clock);
      if (first) await advanceTrimming(now);
      left = await pass(now);
      await database.emptyJournal();
      meter.passed(now);
      await afterSweep?.(now);
    }
  }

  const timer = setInterval(() => {
    running ??= run()
      .catch(failed)
      .finally(() => {
        running = undefined;
      });
  }, interval);
  timer.unref();
  return async function stop(): Promise<void> {
    stopped = true;
    clearInterval(timer);
    await running;
  };
}
