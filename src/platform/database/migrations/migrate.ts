import { setTimeout as wait } from 'node:timers/promises';
import { type Dialect, Kysely, sql } from 'kysely';
import { type Row, UnusableDatabase } from '../database.ts';
import { migrationState } from './position.ts';
import type { ColumnTypes, Timeline } from './timeline.ts';

/** Runs one statement. */
export type Query = (text: string) => Promise<readonly Row[]>;

/** What the two databases do differently around a migration. */
export interface MigrationDialect extends ColumnTypes {
  /** Answers one row with a `name` that is not null where the table of migrations is there. */
  readonly findTable: string;
  /** Begins a transaction beside which nobody else migrates. False where another does: then none has begun. */
  begin(query: Query): Promise<boolean>;
}

/** One step of a timeline that runs. */
export interface MigrationStep {
  readonly name: string;
  readonly number: number;
  readonly of: number;
}

/** What somebody who watches a migration is told. */
export interface MigrationProgress {
  /** Another process holds the lock; told once. */
  waiting?(): void;
  began?(step: MigrationStep): void;
  /** The step has run; it holds once all have. */
  ran?(step: MigrationStep, milliseconds: number): void;
}

/** A step failed, and nothing of the migration holds. */
class MigrationFailed extends UnusableDatabase {}

/** Kept from the first version on, so that a database tells every version where it stands. */
const TABLE = 'kysely_migration';

/** How long somebody else's migration is waited for, and how often it is asked for the lock, in milliseconds. */
const PATIENCE = 60 * 60 * 1000;
const PAUSE = 100;

/** Runs the steps of a timeline that a database lacks; see `migrate`. */
export function migrateAlong(
  steps: Timeline,
  dialect: Dialect,
  kind: MigrationDialect,
  progress: MigrationProgress,
): Promise<readonly string[]> {
  return new Kysely<unknown>({ dialect }).connection().execute(async (connection) => {
    const query: Query = async (text) => (await sql.raw<Row>(text).execute(connection)).rows;
    // Without the lock, since nearly every start finds nothing to do.
    if ((await pendingOn(query, kind, steps)).length === 0) return [];
    await acquire(query, kind, progress);
    try {
      const ran = await runPending(query, kind, steps, progress);
      await query('COMMIT');
      return ran;
    } catch (error) {
      // A connection that broke has rolled back by itself; the first error says what happened.
      await query('ROLLBACK').catch(() => {});
      throw error;
    }
  });
}

/** The names of the steps that ran on a database. */
export async function appliedOn(query: Query, { findTable }: Pick<MigrationDialect, 'findTable'>): Promise<string[]> {
  const [table] = await query(findTable);
  if (table === undefined || table['name'] === null) return [];
  return (await query(`SELECT name FROM ${TABLE} ORDER BY name`)).map(({ name }) => String(name));
}

async function pendingOn(query: Query, kind: MigrationDialect, steps: Timeline): Promise<readonly string[]> {
  const { pending, obstacle } = migrationState(await appliedOn(query, kind), steps);
  if (obstacle !== undefined) throw obstacle;
  return pending;
}

async function acquire(query: Query, kind: MigrationDialect, progress: MigrationProgress): Promise<void> {
  const since = performance.now();
  for (let told = false; !(await kind.begin(query)); told = true) {
    if (!told) progress.waiting?.();
    if (performance.now() - since > PATIENCE) {
      throw new UnusableDatabase(
        'Another process has held the lock of the migrations for an hour. End it, and run this again.',
      );
    }
    await wait(PAUSE);
  }
}

async function runPending(
  query: Query,
  kind: MigrationDialect,
  steps: Timeline,
  progress: MigrationProgress,
): Promise<readonly string[]> {
  // Again, under the lock: whoever had it before may have run them.
  const pending = await pendingOn(query, kind, steps);
  if (pending.length === 0) return [];
  await query(`CREATE TABLE IF NOT EXISTS ${TABLE} (name VARCHAR(255) PRIMARY KEY, timestamp VARCHAR(255) NOT NULL)`);
  for (const [index, name] of pending.entries()) {
    const step = { name, number: index + 1, of: pending.length };
    progress.began?.(step);
    const start = performance.now();
    try {
      for (const statement of steps[name]?.(kind) ?? []) await query(statement);
      // The name is one of ours; the time is the database's own, for whoever looks.
      await query(`INSERT INTO ${TABLE} (name, timestamp) VALUES ('${name}', CURRENT_TIMESTAMP)`);
    } catch (error) {
      throw failed(name, error);
    }
    progress.ran?.(step, performance.now() - start);
  }
  return pending;
}

function failed(name: string, error: unknown): MigrationFailed {
  const cause = error instanceof Error ? error.message : String(error);
  return new MigrationFailed(
    `The migration ${name} failed: ${cause.replace(/\.$/, '')}. The database is as it was before, and the version that ` +
      'ran on it still does. Remove the cause, then run: tessera migrate',
    { cause: error },
  );
}
