import { setTimeout as wait } from 'node:timers/promises';
import { type Dialect, Kysely, sql } from 'kysely';
import { VERSION } from '../../version.ts';
import { type Row, UnusableDatabase } from '../database.ts';
import type { ColumnTypes, IndexMigration, NewIndex, RewriteMigration, RowMigration, Timeline } from './kinds.ts';
import { type AppliedMigration, BEFORE_BASELINE, migrationState, type UnfinishedMigration } from './position.ts';
import type { MigrationAdvance, MigrationProgress, MigrationStep } from './progress.ts';
import { changeBatch, FIRST_BATCH, PROGRESS_TABLE, paceAfter } from './row-batches.ts';

/** Runs one statement. */
export type Query = (text: string) => Promise<readonly Row[]>;

/** What the two databases do differently around a migration. */
export interface MigrationDialect extends ColumnTypes {
  /** A query that returns a row with a `name` that is not null if the table exists. */
  findTable(table: string): string;
  /** A query that returns about how many rows a table has, as `amount`. */
  countRows(table: string): string;
  /** Begins a transaction that holds the lock of the migrations. Returns false, without a transaction, if another process holds it. */
  begin(query: Query): Promise<boolean>;
  /** Whether an error means that a transaction of a running node kept the migration from a lock, so that it is tried again. */
  isContention(error: unknown): boolean;
  /** Builds indexes outside of a transaction; undefined if that has no advantage. */
  readonly indexing: IndexBuilding | undefined;
}

interface IndexBuilding {
  /** Builds an index, unless it is there. It may have been interrupted at any point before. */
  build(query: Query, index: NewIndex): Promise<void>;
  /** How far the build of an index is; undefined if it is not known. */
  watch(query: Query, index: NewIndex): Promise<MigrationAdvance | undefined>;
}

/** A migration failed. */
class MigrationFailed extends UnusableDatabase {}

/** The table of the migrations that have run, and of which version each of them needs. */
const TABLE = 'schema_migration';

/** In this, versions before 0.2.0 recorded theirs, as Kysely's migrator does. */
const EARLIER_TABLE = 'kysely_migration';

/** The tables of the migrations themselves. A migration that changes rows in batches says how far it is; its row goes when it is complete. */
export const migrationTables = ({ int, options }: MigrationDialect): readonly string[] => [
  `CREATE TABLE IF NOT EXISTS ${TABLE} (
    name TEXT PRIMARY KEY,
    earliest_version TEXT,
    applied_by TEXT NOT NULL,
    applied_at TEXT NOT NULL
  ) ${options}`,
  `CREATE TABLE IF NOT EXISTS ${PROGRESS_TABLE} (
    name TEXT PRIMARY KEY,
    last_id ${int} NOT NULL,
    rows_done ${int} NOT NULL
  ) ${options}`,
];

/** How long to wait for a migration by another process, and how often to try the lock, in milliseconds. */
const LOCK_TIMEOUT = 60 * 60 * 1000;
const LOCK_RETRY = 100;
const TOLD_AFTER = 1000;

/** How often something is tried that transactions of others keep from its locks, and how long these go before, in milliseconds. */
const ATTEMPTS = 20;
const ATTEMPT_PAUSE = 1000;

/** How often the build of an index is looked at, in milliseconds. */
const WATCH_INTERVAL = 1000;

/** A run of the pending migrations. */
interface Run {
  readonly query: Query;
  /** Any other connection, while that one is busy. */
  readonly beside: Query;
  /** Holds the lock of the migrations by a transaction of another connection. */
  locked(work: () => Promise<void>): Promise<void>;
  readonly kind: MigrationDialect;
  readonly steps: Timeline;
  readonly progress: MigrationProgress;
  /** The migrations that are complete. */
  readonly ran: string[];
}

export interface MigrationOptions {
  readonly steps: Timeline;
  readonly progress?: MigrationProgress | undefined;
}

/**
 * Migrates a database along a timeline. Pending migrations commit together, apart from those that add indexes or change many rows:
 * these are interrupted anywhere without a loss, and the next run continues them. Of several processes that start at the same time, one
 * migrates at a time. Another may take over between two batches, and each returns when all migrations are complete.
 * @returns the names of the migrations that it ran
 * @throws {NewerDatabase} when the schema needs a later version
 * @throws {MigrationFailed} when a migration fails
 */
export function migrate(
  dialect: Dialect,
  kind: MigrationDialect,
  { steps, progress = {} }: MigrationOptions,
): Promise<readonly string[]> {
  const database = new Kysely<unknown>({ dialect });
  const queryOn =
    (executor: Kysely<unknown>): Query =>
    async (text) =>
      (await sql.raw<Row>(text).execute(executor)).rows;
  return database.connection().execute(async (connection) => {
    const locked = (work: () => Promise<void>): Promise<void> =>
      database.connection().execute(async (other) => {
        const guard = queryOn(other);
        await acquire(guard, kind, progress);
        try {
          await guard("SELECT set_config('idle_in_transaction_session_timeout', '0', true)");
          await work();
        } finally {
          await guard('ROLLBACK').catch(() => {});
        }
      });
    const run: Run = { query: queryOn(connection), beside: queryOn(database), locked, kind, steps, progress, ran: [] };
    while (await runNext(run));
    return run.ran;
  });
}

/** The applied migrations, in their order. */
export async function appliedOn(
  query: Query,
  { findTable }: Pick<MigrationDialect, 'findTable'>,
): Promise<readonly AppliedMigration[]> {
  const exists = async (table: string): Promise<boolean> =>
    ((await query(findTable(table)))[0]?.['name'] ?? null) !== null;
  const recorded = (await exists(TABLE)) ? await query(`SELECT name, earliest_version FROM ${TABLE}`) : [];
  // Other programs may use Kysely beside this one.
  const earlier = (await exists(EARLIER_TABLE))
    ? await query(`SELECT name, NULL AS earliest_version FROM ${EARLIER_TABLE} WHERE name = '${BEFORE_BASELINE}'`)
    : [];
  return [...recorded, ...earlier]
    .map(({ name, earliest_version: earliest }) => ({
      name: String(name),
      earliest: earliest === null ? null : String(earliest),
    }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** The migration that has changed a part of its rows; undefined if there is none. */
export async function unfinishedOn(
  query: Query,
  { findTable }: Pick<MigrationDialect, 'findTable'>,
): Promise<UnfinishedMigration | undefined> {
  if (((await query(findTable(PROGRESS_TABLE)))[0]?.['name'] ?? null) === null) return undefined;
  const [row] = await query(`SELECT name, rows_done FROM ${PROGRESS_TABLE}`);
  return row && { name: String(row['name']), rowsDone: Number(row['rows_done']) };
}

async function pendingOn({ query, kind, steps }: Run): Promise<readonly string[]> {
  const { pending, obstacle } = migrationState(await appliedOn(query, kind), steps);
  if (obstacle !== undefined) throw obstacle;
  return pending;
}

async function acquire(query: Query, kind: MigrationDialect, progress: MigrationProgress): Promise<void> {
  const since = performance.now();
  for (let told = false; !(await kind.begin(query)); ) {
    const waited = performance.now() - since;
    // Shorter waits are for a transaction of a running node, on SQLite.
    if (!told && waited > TOLD_AFTER) {
      told = true;
      progress.waiting?.();
    }
    if (waited > LOCK_TIMEOUT) {
      throw new UnusableDatabase(
        'Another process has held the lock of the migrations for an hour. Stop it, and try again.',
      );
    }
    await wait(LOCK_RETRY);
  }
}

/** Runs the next of the pending migrations, or several that belong together. @returns whether one was left */
async function runNext(run: Run): Promise<boolean> {
  const pending = await pendingOn(run);
  const [name] = pending;
  if (name === undefined) return false;
  const migration = run.steps[name];
  const step = { name, number: run.ran.length + 1, of: run.ran.length + pending.length };
  if (runsTogether(run, name, pending)) await runGroup(run);
  else if (migration?.kind === 'rows') await runRows(run, step, migration);
  else if (migration?.kind === 'rewrite') await runRewrite(run, step, migration);
  else if (migration?.kind === 'indexes') await runIndexes(run, step, migration);
  return true;
}

/** Whether a migration shares a transaction with its neighbors. On a new database all do: there is nothing that would take long. */
function runsTogether({ kind, steps }: Run, name: string, pending: readonly string[]): boolean {
  if (pending.length === Object.keys(steps).length) return true;
  const migration = steps[name];
  if (migration?.kind === 'rows' || migration?.kind === 'rewrite') return false;
  return migration?.kind !== 'indexes' || kind.indexing === undefined;
}

/** Runs the pending migrations up to the next that stands for itself: all of them commit, or none does. */
async function runGroup(run: Run): Promise<void> {
  const { query, kind, progress } = run;
  const group = await transaction(run, async (pending) => {
    const end = pending.findIndex((name) => !runsTogether(run, name, pending));
    const names = end === -1 ? pending : pending.slice(0, end);
    if (names.length === 0) return [];
    for (const statement of migrationTables(kind)) await query(statement);
    for (const [index, name] of names.entries()) {
      const step = { name, number: run.ran.length + index + 1, of: run.ran.length + pending.length };
      progress.began?.(step);
      const start = performance.now();
      try {
        for (const statement of run.steps[name]?.statements(kind) ?? []) await query(statement);
        await record(run, name);
      } catch (error) {
        throw failed(run, name, error, run.ran.length === 0);
      }
      progress.ran?.(step, performance.now() - start);
    }
    return names;
  });
  run.ran.push(...group);
}

/** Changes the rows batch by batch. The last one is committed together with the record that the migration is complete. */
async function runRows(run: Run, step: MigrationStep, { change }: RowMigration): Promise<void> {
  const { query, kind, progress } = run;
  const { name } = step;
  progress.began?.(step);
  const start = performance.now();
  const estimate = Number((await query(kind.countRows(change.table)))[0]?.['amount']);
  for (let size = FIRST_BATCH; ; ) {
    const began = performance.now();
    const batch = await transaction(run, async (pending) => {
      if (pending[0] !== name) return undefined;
      try {
        const changed = await changeBatch(query, kind, { name, change, size });
        if (changed.complete) await record(run, name);
        return changed;
      } catch (error) {
        throw failed(run, name, error);
      }
    });
    // The lock is free between two batches, and another process has completed it.
    if (batch === undefined) return;
    const total = estimate === 0 ? 0 : Math.max(estimate, batch.done);
    progress.advanced?.(step, { what: 'rows', done: batch.done, total });
    if (batch.complete) break;
    const { next, rest } = paceAfter(size, performance.now() - began);
    size = next;
    await wait(rest);
  }
  progress.ran?.(step, performance.now() - start);
  run.ran.push(name);
}

/** Rewrites rows in one transaction, with the record that this is complete. */
async function runRewrite(run: Run, step: MigrationStep, { rewrite }: RewriteMigration): Promise<void> {
  const { query, progress } = run;
  const { name } = step;
  progress.began?.(step);
  const start = performance.now();
  const found = await transaction(run, async (pending) => {
    if (pending[0] !== name) return undefined;
    try {
      const texts = await rewrite(query);
      await record(run, name);
      return texts;
    } catch (error) {
      throw failed(run, name, error);
    }
  });
  // The process that held the lock before has run it.
  if (found === undefined) return;
  for (const text of found) progress.found?.(step, text);
  progress.ran?.(step, performance.now() - start);
  run.ran.push(name);
}

/** Builds indexes while others write to the tables. */
const runIndexes = (run: Run, step: MigrationStep, { indexes }: IndexMigration): Promise<void> =>
  run.locked(async () => {
    const { query, kind, progress } = run;
    // The process that held the lock before may have built them.
    if ((await pendingOn(run))[0] !== step.name) return;
    progress.began?.(step);
    const start = performance.now();
    try {
      for (const index of indexes) {
        await watched(run, step, index, () => persistently(run, async () => kind.indexing?.build(query, index)));
      }
      await record(run, step.name);
    } catch (error) {
      throw failed(run, step.name, error);
    }
    progress.ran?.(step, performance.now() - start);
    run.ran.push(step.name);
  });

/** Tells how far the build of an index is, while it runs. */
async function watched(
  { beside, kind, progress }: Run,
  step: MigrationStep,
  index: NewIndex,
  build: () => Promise<void>,
): Promise<void> {
  let look: Promise<void> | undefined;
  const timer = setInterval(() => {
    look ??= kind.indexing
      ?.watch(beside, index)
      .then(
        (advance) => advance && progress.advanced?.(step, advance),
        // What cannot be told is not worth a failure.
        () => {},
      )
      .finally(() => {
        look = undefined;
      });
  }, WATCH_INTERVAL);
  try {
    await build();
  } finally {
    clearInterval(timer);
    await look;
  }
}

/** Runs a transaction, which learns which migrations are pending in it. */
const transaction = <T>(run: Run, work: (pending: readonly string[]) => Promise<T>): Promise<T> =>
  persistently(run, async () => {
    const { query, kind, progress } = run;
    await acquire(query, kind, progress);
    try {
      const result = await work(await pendingOn(run));
      await query('COMMIT');
      return result;
    } catch (error) {
      // A broken connection has rolled back by itself; the first error tells the cause.
      await query('ROLLBACK').catch(() => {});
      throw error;
    }
  });

/** Tries something again while transactions of others keep it from its locks. */
async function persistently<T>({ kind, progress }: Run, attempt: () => Promise<T>): Promise<T> {
  for (let number = 1; ; number++) {
    try {
      return await attempt();
    } catch (error) {
      const cause = error instanceof MigrationFailed ? error.cause : error;
      if (number === ATTEMPTS || !kind.isContention(cause)) throw error;
      progress.retrying?.(number, ATTEMPTS);
      await wait(ATTEMPT_PAUSE);
    }
  }
}

/** Records that a migration is complete. What is inserted are constants of the sources, and a time that is for operators only. */
async function record({ query, steps }: Run, name: string): Promise<void> {
  const step = steps[name];
  const earliest = step?.kind === 'contract' ? `'${step.earliest}'` : 'NULL';
  await query(
    `INSERT INTO ${TABLE} (name, earliest_version, applied_by, applied_at) ` +
      `VALUES ('${name}', ${earliest}, '${VERSION}', CURRENT_TIMESTAMP)`,
  );
}

function failed({ kind }: Run, name: string, error: unknown, unchanged = false): MigrationFailed {
  const cause = error instanceof Error ? error.message : String(error);
  const left = unchanged ? 'The database is as it was before' : 'What is done is kept';
  const remedy = kind.isContention(error)
    ? 'Transactions of other programs hold its locks: end them'
    : 'Remove the cause';
  return new MigrationFailed(
    `The migration ${name} failed: ${cause.replace(/\.$/, '')}. ${left}, and the version that ran on the database still ` +
      `does. ${remedy}, then run: tessera migrate`,
    { cause: error },
  );
}
