import { setTimeout as wait } from 'node:timers/promises';
import { type Dialect, Kysely, sql } from 'kysely';
import { VERSION } from '../../version.ts';
import { type Row, UnusableDatabase } from '../database.ts';
import { type AppliedMigration, migrationState } from './position.ts';
import type { ColumnTypes, Timeline } from './timeline.ts';

/** Runs one statement. */
export type Query = (text: string) => Promise<readonly Row[]>;

/** What the two databases do differently around a migration. */
export interface MigrationDialect extends ColumnTypes {
  /** A query that returns a row with a `name` that is not null if the table exists. */
  findTable(table: string): string;
  /** Begins a transaction that holds the lock of the migrations. Returns false, without a transaction, if another process holds it. */
  begin(query: Query): Promise<boolean>;
  /** Whether an error means that the migrations and a transaction of a running node waited for each other's locks. */
  isDeadlock(error: unknown): boolean;
}

/** A migration that is running. */
export interface MigrationStep {
  readonly name: string;
  readonly number: number;
  readonly of: number;
}

/** Callbacks for the progress of the migrations. */
export interface MigrationProgress {
  /** Called once if another process holds the lock. */
  waiting?(): void;
  began?(step: MigrationStep): void;
  /** The migration has run. It is committed once all have. */
  ran?(step: MigrationStep, milliseconds: number): void;
}

/** A migration failed, and all of them were rolled back. */
class MigrationFailed extends UnusableDatabase {}

/**
 * The table of the migrations that every version must know, with the name and columns that Kysely's migrator uses. Version 0.1.0
 * refuses a database that has an unknown one.
 */
const TABLE = 'kysely_migration';

/** The table of all migrations since version 0.1.0. */
const LATER_TABLE = 'schema_migration';

/** How long to wait for a migration by another process, and how often to try the lock, in milliseconds. */
const LOCK_TIMEOUT = 60 * 60 * 1000;
const LOCK_RETRY = 100;

/** How often the migrations are tried where running nodes keep locking the same tables in another order. */
const DEADLOCK_ATTEMPTS = 20;

/** Runs the pending migrations of a timeline; see `migrate`. */
export function migrateAlong(
  steps: Timeline,
  dialect: Dialect,
  kind: MigrationDialect,
  progress: MigrationProgress,
): Promise<readonly string[]> {
  return new Kysely<unknown>({ dialect }).connection().execute(async (connection) => {
    const query: Query = async (text) => (await sql.raw<Row>(text).execute(connection)).rows;
    // Without the lock, because nearly every start finds nothing to do.
    if ((await pendingOn(query, kind, steps)).length === 0) return [];
    for (let attempt = 1; ; attempt++) {
      await acquire(query, kind, progress);
      try {
        const ran = await runPending(query, kind, steps, progress);
        await query('COMMIT');
        return ran;
      } catch (error) {
        // A broken connection has rolled back by itself; the first error tells the cause.
        await query('ROLLBACK').catch(() => {});
        const cause = error instanceof MigrationFailed ? error.cause : error;
        if (attempt === DEADLOCK_ATTEMPTS || !kind.isDeadlock(cause)) throw error;
        await wait(LOCK_RETRY);
      }
    }
  });
}

/** The applied migrations, in their order. */
export async function appliedOn(
  query: Query,
  { findTable }: Pick<MigrationDialect, 'findTable'>,
): Promise<readonly AppliedMigration[]> {
  const exists = async (table: string): Promise<boolean> =>
    ((await query(findTable(table)))[0]?.['name'] ?? null) !== null;
  if (!(await exists(TABLE))) return [];
  const first = await query(`SELECT name FROM ${TABLE}`);
  const later = (await exists(LATER_TABLE)) ? await query(`SELECT name, earliest_version FROM ${LATER_TABLE}`) : [];
  const applied = new Map<string, AppliedMigration>();
  for (const { name } of first) applied.set(String(name), { name: String(name), earliest: undefined });
  for (const { name, earliest_version: earliest } of later) {
    applied.set(String(name), { name: String(name), earliest: earliest === null ? null : String(earliest) });
  }
  return [...applied.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
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
    if (performance.now() - since > LOCK_TIMEOUT) {
      throw new UnusableDatabase(
        'Another process has held the lock of the migrations for an hour. Stop it, and try again.',
      );
    }
    await wait(LOCK_RETRY);
  }
}

async function runPending(
  query: Query,
  kind: MigrationDialect,
  steps: Timeline,
  progress: MigrationProgress,
): Promise<readonly string[]> {
  // Again, under the lock: the process that held it before may have run them.
  const pending = await pendingOn(query, kind, steps);
  if (pending.length === 0) return [];
  await query(`CREATE TABLE IF NOT EXISTS ${TABLE} (name VARCHAR(255) PRIMARY KEY, timestamp VARCHAR(255) NOT NULL)`);
  for (const [index, name] of pending.entries()) {
    const step = { name, number: index + 1, of: pending.length };
    progress.began?.(step);
    const start = performance.now();
    try {
      await run(query, kind, steps, name);
    } catch (error) {
      throw failed(name, error);
    }
    progress.ran?.(step, performance.now() - start);
  }
  return pending;
}

async function run(query: Query, kind: MigrationDialect, steps: Timeline, name: string): Promise<void> {
  const step = steps[name];
  if (step === undefined) return;
  for (const statement of step.statements(kind)) await query(statement);
  // What is inserted are constants of the sources, and a time that is for operators only.
  if (step.kind !== 'expand') {
    await query(`INSERT INTO ${TABLE} (name, timestamp) VALUES ('${name}', CURRENT_TIMESTAMP)`);
  }
  if (step.kind === 'initial') return;
  const earliest = step.kind === 'contract' ? `'${step.earliest}'` : 'NULL';
  await query(
    `INSERT INTO ${LATER_TABLE} (name, earliest_version, applied_by, applied_at) ` +
      `VALUES ('${name}', ${earliest}, '${VERSION}', CURRENT_TIMESTAMP)`,
  );
}

function failed(name: string, error: unknown): MigrationFailed {
  const cause = error instanceof Error ? error.message : String(error);
  return new MigrationFailed(
    `The migration ${name} failed: ${cause.replace(/\.$/, '')}. The database is as it was before, and the version that ` +
      'ran on it still does. Remove the cause, then run: tessera migrate',
    { cause: error },
  );
}
