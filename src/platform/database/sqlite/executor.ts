import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { type Row, type Step, StoreUnavailable, type Work } from '../database.ts';
import { type Compiled, compile, type Statement } from '../statement.ts';
import { resultCode, sqliteBuilder } from './dialect.ts';

interface PreparedStatement {
  readonly statement: StatementSync;
  readonly bind: Compiled['bind'];
  /** Rows with ids are read with 64-bit integers, which are slower, others without. */
  readonly toRow: (values: readonly unknown[]) => Row;
}

/** Runs units of work on a connection, and knows each statement that it has prepared. */
export class Executor {
  readonly connection: DatabaseSync;
  readonly #prepared = new Map<Statement<never, unknown>, PreparedStatement>();

  constructor(connection: DatabaseSync) {
    this.connection = connection;
  }

  drive<T>(work: Work<T>): T {
    let step = work.next();
    while (!step.done) step = work.next(this.#execute(step.value));
    return step.value;
  }

  rollBack(): void {
    try {
      if (this.connection.isTransaction) this.connection.exec('ROLLBACK');
    } catch {
      // The connection is broken, which the next BEGIN reports.
    }
  }

  #execute(step: Step): readonly Row[] {
    let query = this.#prepared.get(step.statement);
    if (query === undefined) {
      query = this.#prepare(step.statement);
      this.#prepared.set(step.statement, query);
    }
    const rows = query.statement.all(...(query.bind(step.params) as [])) as unknown as unknown[][];
    return rows.map(query.toRow);
  }

  #prepare(statement: Statement<never, unknown>): PreparedStatement {
    const { sql, bind } = compile(statement, sqliteBuilder);
    const native = this.connection.prepare(sql);
    const names = native.columns().map((column) => column.name);
    const ids = new Set(names.filter((name) => name === 'id' || name.endsWith('_id')));
    if (ids.size > 0) native.setReadBigInts(true);
    native.setReturnArrays(true);
    return { statement: native, bind, toRow: rowMaker(names, ids) };
  }
}

/**
 * Creates a function that converts rows from arrays to objects. Its code is generated from the columns of the statement, so that all
 * objects share one shape, which takes half the time of the driver's own objects.
 * @param ids the columns that contain ids; if there are any, all integers arrive as 64-bit integers
 */
function rowMaker(names: readonly string[], ids: ReadonlySet<string>): (values: readonly unknown[]) => Row {
  const integer = (value: string) => `typeof ${value} === 'bigint' ? Number(${value}) : ${value}`;
  const members = names.map((name, index) => {
    const value = `values[${index}]`;
    if (ids.size === 0) return `${JSON.stringify(name)}: ${value}`;
    return `${JSON.stringify(name)}: ${ids.has(name) ? `${value} === null ? null : String(${value})` : integer(value)}`;
  });
  return new Function('values', `return { ${members.join(', ')} };`) as (values: readonly unknown[]) => Row;
}

/** https://www.sqlite.org/rescode.html: busy, locked, read-only, I/O error, corrupt, full, cannot open, not a database. */
const OUTAGES = new Set([5, 6, 8, 10, 11, 13, 14, 26]);

/** An error of a statement, as callers see it. */
export function translate(error: unknown): unknown {
  if (error instanceof Error && OUTAGES.has(resultCode(error))) {
    return new StoreUnavailable(error.message, { cause: error });
  }
  return error;
}
