import type { RowChange } from './kinds.ts';
import type { MigrationDialect, Query } from './migrate.ts';

/** The table that says how far each migration is that changes rows in batches. */
export const PROGRESS_TABLE = 'migration_progress';

/** How many rows a batch has: at first, at least and at most. */
export const FIRST_BATCH = 500;
const SMALLEST = 100;
const LARGEST = 10_000;

/** Other writers wait for a batch: on SQLite all, on PostgreSQL those that change the same rows. In milliseconds. */
const FAST = 25;
const SLOW = 100;
const LONGEST_REST = 200;

interface Batch {
  readonly name: string;
  readonly change: RowChange;
  /** How many rows of the table it goes through. */
  readonly size: number;
}

/**
 * Goes through the next rows of a table, in the order of their ids, and records how far that is, in the same transaction. The numbers in
 * the statements come from the database.
 * @returns through how many rows all batches went, and whether this was the last one
 */
export async function changeBatch(
  query: Query,
  kind: MigrationDialect,
  { name, change, size }: Batch,
): Promise<{ readonly done: number; readonly complete: boolean }> {
  const { table, set, where } = change;
  // As texts, because 64-bit integers exceed the range of numbers.
  const [progress] = await query(
    `SELECT CAST(last_id AS TEXT) AS last, rows_done AS done FROM ${PROGRESS_TABLE} WHERE name = '${name}'`,
  );
  const after = String(progress?.['last'] ?? 0);
  const [batch] = await query(
    `SELECT CAST(max(id) AS TEXT) AS last, count(*) AS amount
     FROM (SELECT id FROM ${table} WHERE id > ${after} ORDER BY id LIMIT ${size}) AS batch`,
  );
  const amount = Number(batch?.['amount']);
  const done = Number(progress?.['done'] ?? 0) + amount;
  const last = String(batch?.['last'] ?? after);
  await query(`UPDATE ${table} SET ${set} WHERE id > ${after} AND id <= ${last} AND ${where(kind)}`);
  if (amount < size) {
    await query(`DELETE FROM ${PROGRESS_TABLE} WHERE name = '${name}'`);
    return { done, complete: true };
  }
  await query(
    `INSERT INTO ${PROGRESS_TABLE} (name, last_id, rows_done) VALUES ('${name}', ${last}, ${done})
     ON CONFLICT (name) DO UPDATE SET last_id = excluded.last_id, rows_done = excluded.rows_done`,
  );
  return { done, complete: false };
}

/** How many rows the next batch has, and how long it waits, after one that took so many milliseconds. */
export function paceAfter(size: number, took: number): { readonly next: number; readonly rest: number } {
  const next = took < FAST ? size * 2 : took > SLOW ? Math.floor(size / 2) : size;
  return { next: Math.max(SMALLEST, Math.min(LARGEST, next)), rest: Math.min(LONGEST_REST, took) };
}
