import { closeSync, openSync } from 'node:fs';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { type Database, type Row, type Step, StoreUnavailable, type Work } from '../database.ts';
import { migrate } from '../migrations/timeline.ts';
import { bind, compile, type Statement } from '../statement.ts';
import { builder, columnTypes, migrationDialect } from './dialect.ts';

interface Prepared {
  readonly statement: StatementSync;
  readonly parameters: readonly unknown[];
  /** The columns that hold ids where there are any: only then is the slower reading of 64-bit integers needed. */
  readonly ids: ReadonlySet<string> | undefined;
}

interface Waiting {
  run(): void;
  settle(): void;
  fail(error: unknown): void;
}

/**
 * Opens (and creates, and migrates) a SQLite database.
 *
 * Reads run at once. Units of work that arrive in one turn of the event loop share one commit, each under a savepoint
 * of its own, and their promises settle after that commit has reached the disk.
 * @param path a file, or `:memory:`
 */
export async function openSqlite(path: string): Promise<Database> {
  const connection = connect(path);
  await migrate(migrationDialect(connection), columnTypes);
  const prepared = new Map<Statement<never, unknown>, Prepared>();
  let waiting: Waiting[] = [];
  let closed = false;

  function prepare(statement: Statement<never, unknown>): Prepared {
    const { sql, parameters } = compile(statement, builder);
    const native = connection.prepare(sql);
    const names = native.columns().map((column) => column.name);
    const ids = new Set(names.filter((name) => name === 'id' || name.endsWith('_id')));
    if (ids.size > 0) native.setReadBigInts(true);
    return { statement: native, parameters, ids: ids.size > 0 ? ids : undefined };
  }

  function execute(step: Step): readonly Row[] {
    let query = prepared.get(step.statement);
    if (query === undefined) {
      query = prepare(step.statement);
      prepared.set(step.statement, query);
    }
    const rows = query.statement.all(...(bind(query.parameters, step.params) as [])) as Row[];
    const { ids } = query;
    return ids === undefined ? rows : rows.map((row) => withIds(row, ids));
  }

  function drive<T>(work: Work<T>): T {
    let step = work.next();
    while (!step.done) step = work.next(execute(step.value));
    return step.value;
  }

  function flush(): void {
    const batch = waiting;
    waiting = [];
    if (batch.length === 0) return;
    let begun = false;
    const done: Waiting[] = [];
    try {
      connection.exec('BEGIN IMMEDIATE');
      begun = true;
      for (const unit of batch) {
        connection.exec('SAVEPOINT unit');
        try {
          unit.run();
          connection.exec('RELEASE unit');
          done.push(unit);
        } catch (error) {
          // A full disk ends the whole transaction by itself: then nobody's work has happened.
          if (!connection.isTransaction) throw error;
          connection.exec('ROLLBACK TO unit');
          connection.exec('RELEASE unit');
          unit.fail(translate(error));
        }
      }
      connection.exec('COMMIT');
    } catch (error) {
      if (begun && connection.isTransaction) connection.exec('ROLLBACK');
      for (const unit of batch) unit.fail(translate(error));
      return;
    }
    for (const unit of done) unit.settle();
  }

  return {
    async read(work) {
      if (closed) throw new StoreUnavailable('the database is closed');
      try {
        return drive(work());
      } catch (error) {
        throw translate(error);
      }
    },
    commit<T>(work: () => Work<T>) {
      return new Promise<T>((resolve, reject) => {
        if (closed) return reject(new StoreUnavailable('the database is closed'));
        let result: { value: T } | undefined;
        if (waiting.length === 0) setImmediate(flush);
        waiting.push({
          run: () => {
            result = { value: drive(work()) };
          },
          settle: () => result && resolve(result.value),
          fail: reject,
        });
      });
    },
    async close() {
      if (closed) return;
      flush();
      closed = true;
      connection.close();
    },
  };
}

function connect(path: string): DatabaseSync {
  // Made readable by its owner alone; SQLite gives its journal files the same mode.
  if (path !== ':memory:') closeSync(openSync(path, 'a', 0o600));
  const connection = new DatabaseSync(path, { timeout: 5000 });
  connection.exec('PRAGMA journal_mode = WAL');
  connection.exec('PRAGMA synchronous = FULL');
  connection.exec('PRAGMA foreign_keys = ON');
  return connection;
}

function withIds(row: Row, ids: ReadonlySet<string>): Row {
  const read: Record<string, unknown> = {};
  for (const name in row) {
    const value = row[name];
    read[name] = typeof value !== 'bigint' ? value : ids.has(name) ? value.toString() : Number(value);
  }
  return read;
}

/** https://www.sqlite.org/rescode.html: busy, locked, read-only, I/O error, corrupt, full, cannot open, not a database. */
const OUTAGES = new Set([5, 6, 8, 10, 11, 13, 14, 26]);

function translate(error: unknown): unknown {
  if (error instanceof Error && 'errcode' in error && OUTAGES.has(Number(error.errcode) & 0xff)) {
    return new StoreUnavailable(error.message, { cause: error });
  }
  return error;
}
