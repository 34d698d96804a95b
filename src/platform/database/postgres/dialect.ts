import { setTimeout as wait } from 'node:timers/promises';
import {
  DummyDriver,
  FromNode,
  Kysely,
  type OnConflictNode,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type SelectModifierNode,
  TableNode,
  type UpdateQueryNode,
  ValueNode,
  type ValuesNode,
} from 'kysely';
import { DatabaseError } from 'pg';
import { condition, type NewIndex } from '../migrations/kinds.ts';
import type { MigrationDialect, Query } from '../migrations/migrate.ts';
import type { MigrationAdvance } from '../migrations/progress.ts';
import type { Tables } from '../schema.ts';
import { MIGRATION_SETTINGS, settings } from './settings.ts';

const builderWith = (createQueryCompiler: () => PostgresQueryCompiler): Kysely<Tables> =>
  new Kysely<Tables>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => new DummyDriver(),
      createIntrospector: (db) => new PostgresIntrospector(db),
      createQueryCompiler,
    },
  });

/** Builds queries for PostgreSQL; it has no connection and runs none. */
export const postgresBuilder = builderWith(() => new PostgresQueryCompiler());

/** The column that numbers the callers of a shared statement. */
export const CALLER_NUMBER = 'caller_number';

class SharedQueryCompiler extends PostgresQueryCompiler {
  #inConflict = false;

  protected override getCurrentParameterPlaceholder(): string {
    const parameter = `caller.p${this.numParameters}`;
    return this.#inConflict ? `(select ${parameter} from caller limit 1)` : parameter;
  }

  /** A row that another transaction has locked is left out, so that its caller does not delay the others. */
  protected override visitSelectModifier(node: SelectModifierNode): void {
    super.visitSelectModifier(node);
    if (node.modifier?.startsWith('For')) this.append(' skip locked');
  }

  protected override visitValues({ values: [row] }: ValuesNode): void {
    this.append('select ');
    const values = row?.kind === 'PrimitiveValueListNode' ? row.values.map(ValueNode.create) : row?.values;
    this.compileList(values ?? []);
    this.append(` from caller order by ${CALLER_NUMBER}`);
  }

  /** Its parameters cannot be the columns of a table; they are the same for all callers. */
  protected override visitOnConflict(node: OnConflictNode): void {
    this.#inConflict = true;
    super.visitOnConflict(node);
    this.#inConflict = false;
  }

  protected override visitUpdateQuery(node: UpdateQueryNode): void {
    super.visitUpdateQuery({ ...node, from: FromNode.create([TableNode.create('caller')]) });
  }
}

/** Builds queries whose parameters are the columns `p1`, `p2`, … of a table `caller`. */
export const sharedBuilder = builderWith(() => new SharedQueryCompiler());

/** The advisory lock of the migrations. An arbitrary number, which must never change. */
const MIGRATION_LOCK = '3853314791062309107';

/** Whether a process holds that lock, as an expression. */
export const MIGRATING = `EXISTS (SELECT FROM pg_locks JOIN pg_database ON pg_database.oid = pg_locks.database
  WHERE datname = current_database() AND locktype = 'advisory' AND objsubid = 1 AND granted
    AND (classid::bigint << 32) + objid::bigint = ${MIGRATION_LOCK})`;

/**
 * https://www.postgresql.org/docs/current/errcodes-appendix.html: deadlock detected, lock not available, and a duplicate relation, which
 * is an index that the server still builds for a process that was killed.
 */
const CONTENTION = ['40P01', '55P03', '42P07'];

/** How often a build by another process is looked at, in milliseconds. */
const BUILD_POLL = 500;

export const postgresColumnTypes: MigrationDialect = {
  int: 'BIGINT',
  serial: 'BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY',
  bytes: 'BYTEA',
  options: '',
  findTable: (table) => `SELECT to_regclass('${table}')::text AS name`,
  now: '(extract(epoch FROM now()) * 1000)::bigint',
  countRows: (table) =>
    `SELECT greatest(reltuples, 0)::bigint AS amount FROM pg_class WHERE oid = to_regclass('${table}')`,
  async begin(query) {
    // Each statement sees everything committed before it, including the migrations of another process.
    await query('BEGIN ISOLATION LEVEL READ COMMITTED');
    // Here as well, because a pooler may have led the connection elsewhere since it was opened.
    await query(`SELECT ${settings(MIGRATION_SETTINGS, true)}`);
    // Without waiting inside the statement, which could not report that, and would reach its time limit.
    const [lock] = await query(`SELECT pg_try_advisory_xact_lock(${MIGRATION_LOCK}) AS got`);
    if (lock?.['got'] === true) return true;
    await query('ROLLBACK');
    return false;
  },
  isContention: (error) => error instanceof DatabaseError && CONTENTION.includes(error.code ?? ''),
  indexing: { build: buildIndex, watch: watchIndex },
};

/**
 * Builds an index while others write to its table. That waits for all transactions that are older, but nobody waits for it. The server
 * completes the index of a process that was killed. A build that failed left an index that is not valid.
 */
async function buildIndex(query: Query, index: NewIndex): Promise<void> {
  const { name, table, columns, where } = index;
  while ((await watchIndex(query, index)) !== undefined) await wait(BUILD_POLL);
  const [found] = await query(`SELECT indisvalid AS valid FROM pg_index WHERE indexrelid = to_regclass('${name}')`);
  if (found?.['valid'] === true) return;
  if (found !== undefined) await query(`DROP INDEX CONCURRENTLY ${name}`);
  await query(`CREATE INDEX CONCURRENTLY ${name} ON ${table} (${columns})${condition(where)}`);
}

/** How far the build is: https://www.postgresql.org/docs/current/progress-reporting.html#CREATE-INDEX-PROGRESS-REPORTING */
async function watchIndex(query: Query, { name, table }: NewIndex): Promise<MigrationAdvance | undefined> {
  const [build] = await query(
    `SELECT phase, lockers_total AS lockers, lockers_done AS passed,
       greatest(blocks_total, tuples_total) AS total, greatest(blocks_done, tuples_done) AS done
     FROM pg_stat_progress_create_index WHERE datname = current_database() AND relid = to_regclass('${table}')`,
  );
  if (build === undefined) return undefined;
  const phase = String(build['phase']);
  const what = `${name}, ${phase}`;
  // Each of the phases counts something else.
  if (phase.startsWith('waiting')) return { what, done: Number(build['passed']), total: Number(build['lockers']) };
  return { what, done: Number(build['done']), total: Number(build['total']) };
}
