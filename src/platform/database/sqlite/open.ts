import { closeSync, openSync } from 'node:fs';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { setTimeout as wait } from 'node:timers/promises';
import { type Database, type DatabaseMeter, type Row, type Step, StoreUnavailable, type Work } from '../database.ts';
import { type MigrationOptions, migrate } from '../migrations/timeline.ts';
import { type Compiled, compile, type Statement } from '../statement.ts';
import { realPath, SEQUENCE, sequenceIn } from './continuity.ts';
import { isLocked, migrationDialect, resultCode, sqliteBuilder, sqliteColumnTypes } from './dialect.ts';
import { keepMark } from './mark.ts';

interface Prepared {
  readonly statement: StatementSync;
  readonly bind: Compiled['bind'];
  /** Statements that hold ids are read with the slower 64-bit integers, the others without. */
  readonly toRow: (values: readonly unknown[]) => Row;
}

interface Waiting {
  /** When it was handed over, by the clock of the process. */
  readonly since: number;
  readonly run: () => void;
  readonly settle: () => void;
  readonly fail: (error: unknown) => void;
}

/** How long a unit waits for another process to finish writing, and how often it asks, in milliseconds. */
const PATIENCE = 5000;
const RETRY = 5;

/** So many reads that wait are done at once: what they need is still at hand then, and more would hardly be cheaper each. */
const CROWD = 32;

/**
 * Opens (and creates, and migrates) a SQLite database.
 *
 * Reads of one turn of the event loop share a lock, {@link CROWD} at most. Units of work that arrive in one turn share one
 * commit, and their promises settle after that commit has reached the disk. Where one of them fails, all are run again, each
 * under a savepoint of its own.
 * @param path a file, or `:memory:`
 */
export async function openSqlite(path: string, options?: MigrationOptions, meter?: DatabaseMeter): Promise<Database> {
  const connection = connect(path);
  try {
    await migrate(migrationDialect(connection), sqliteColumnTypes, options);
  } catch (error) {
    connection.close();
    throw error;
  }
  // From now on nothing waits inside a statement, where the whole process would wait with it.
  connection.exec('PRAGMA busy_timeout = 10');
  // What a statement or a savepoint may have to undo would be written to a file once it is more than 64 KiB. Not so for a
  // migration, which sorts whole tables.
  connection.exec('PRAGMA temp_store = MEMORY');
  const prepared = new Map<Statement<never, unknown>, Prepared>();
  const committed = path === ':memory:' ? undefined : sequenceIn(connection);
  const mark = committed === undefined ? undefined : keepMark(realPath(path), committed);
  const sequence = mark && connection.prepare(SEQUENCE);
  sequence?.setReturnArrays(true);
  let waiting: Waiting[] = [];
  let reading: (() => void)[] = [];
  let closed = false;

  function prepare(statement: Statement<never, unknown>): Prepared {
    const { sql, bind } = compile(statement, sqliteBuilder);
    const native = connection.prepare(sql);
    const names = native.columns().map((column) => column.name);
    const ids = new Set(names.filter((name) => name === 'id' || name.endsWith('_id')));
    if (ids.size > 0) native.setReadBigInts(true);
    native.setReturnArrays(true);
    return { statement: native, bind, toRow: rowMaker(names, ids) };
  }

  function execute(step: Step): readonly Row[] {
    let query = prepared.get(step.statement);
    if (query === undefined) {
      query = prepare(step.statement);
      prepared.set(step.statement, query);
    }
    const rows = query.statement.all(...(query.bind(step.params) as [])) as unknown as unknown[][];
    return rows.map(query.toRow);
  }

  function drive<T>(work: Work<T>): T {
    let step = work.next();
    while (!step.done) step = work.next(execute(step.value));
    return step.value;
  }

  /**
   * Runs all units that wait, in one commit; while another process writes they wait on, and reads go on meanwhile.
   * @param apart whether each can fail by itself. That needs a copy of every page that it changes, and nearly always all succeed.
   */
  function flush(apart = false): void {
    const batch = waiting;
    waiting = [];
    if (batch.length === 0) return;
    const began = performance.now();
    try {
      connection.exec('BEGIN IMMEDIATE');
    } catch (error) {
      const patient = isLocked(error) ? batch.filter((unit) => performance.now() - unit.since < PATIENCE) : [];
      refuse(
        batch.filter((unit) => !patient.includes(unit)),
        error,
      );
      waiting = [...patient, ...waiting];
      if (waiting.length > 0) setTimeout(() => flush(), RETRY);
      return;
    }
    let settled: (() => void)[];
    let last: number;
    try {
      settled = batch.map(apart ? runApart : runUnit);
      last = Number(sequence?.get()?.[0] ?? 0);
    } catch (error) {
      rollBack();
      if (apart || batch.length === 1) {
        refuse(batch, error);
      } else {
        waiting = [...batch, ...waiting];
        flush(true);
      }
      return;
    }
    try {
      connection.exec('COMMIT');
    } catch (error) {
      rollBack();
      refuse(batch, error);
      return;
    }
    meter?.committed(batch.length, (performance.now() - began) / 1000);
    // Never before the commit: the mark would ask for what has not happened.
    mark?.note(last);
    // Also a refusal is told only now: it may rest on what another unit of this commit wrote.
    for (const settle of settled) settle();
  }

  function refuse(units: readonly Waiting[], error: unknown): void {
    for (const unit of units) unit.fail(translate(error));
  }

  function runUnit(unit: Waiting): () => void {
    unit.run();
    return unit.settle;
  }

  function runApart(unit: Waiting): () => void {
    connection.exec('SAVEPOINT unit');
    try {
      runUnit(unit);
      connection.exec('RELEASE unit');
      return unit.settle;
    } catch (error) {
      // A full disk ends the whole transaction by itself: then nobody's work has happened.
      if (!connection.isTransaction) throw error;
      connection.exec('ROLLBACK TO unit');
      connection.exec('RELEASE unit');
      return () => unit.fail(translate(error));
    }
  }

  function rollBack(): void {
    try {
      if (connection.isTransaction) connection.exec('ROLLBACK');
    } catch {
      // The connection is beyond help; the next BEGIN says so to whoever comes next.
    }
  }

  /**
   * Runs all units that wait to read, under one lock of the file: taking it costs as much as many a read. What they see is no
   * older than the youngest of their calls.
   */
  function flushReads(): void {
    const batch = reading;
    reading = [];
    if (batch.length === 0) return;
    meter?.shared(batch.length);
    try {
      if (batch.length > 1) connection.exec('BEGIN');
    } catch {
      // Whatever it is, each read meets it by itself and tells its caller.
    }
    for (const run of batch) run();
    try {
      if (connection.isTransaction) connection.exec('COMMIT');
    } catch {
      rollBack();
    }
  }

  return {
    read<T>(work: () => Work<T>) {
      return new Promise<T>((resolve, reject) => {
        if (closed) return reject(new StoreUnavailable('the database is closed'));
        if (reading.length === 0) setImmediate(flushReads);
        reading.push(() => {
          try {
            resolve(drive(work()));
          } catch (error) {
            reject(translate(error));
          }
        });
        if (reading.length === CROWD) flushReads();
      });
    },
    commit<T>(work: () => Work<T>) {
      return new Promise<T>((resolve, reject) => {
        if (closed) return reject(new StoreUnavailable('the database is closed'));
        let result: { value: T } | undefined;
        if (waiting.length === 0) setImmediate(() => flush());
        waiting.push({
          since: performance.now(),
          run: () => {
            result = { value: drive(work()) };
          },
          settle: () => result && resolve(result.value),
          fail: reject,
        });
      });
    },
    sharedTime: async () => null,
    load: () => ({ waiting: waiting.length }),
    async emptyJournal() {
      if (closed) return;
      // https://www.sqlite.org/pragma.html#pragma_wal_checkpoint: while another process reads or writes, this answers that it is
      // busy, and the next one empties the journal.
      try {
        connection.exec('PRAGMA wal_checkpoint(TRUNCATE)');
      } catch (error) {
        throw translate(error);
      }
    },
    async close() {
      if (closed) return;
      closed = true;
      flushReads();
      for (flush(); waiting.length > 0; flush()) await wait(RETRY);
      connection.close();
      await mark?.close();
    },
  };
}

/** Brings a SQLite database to the current schema, and lets go of it; answers the names of the steps that it ran. */
export async function migrateSqlite(path: string, options?: MigrationOptions): Promise<readonly string[]> {
  const connection = connect(path);
  try {
    return await migrate(migrationDialect(connection), sqliteColumnTypes, options);
  } finally {
    connection.close();
  }
}

function connect(path: string): DatabaseSync {
  // Made readable by its owner alone; SQLite gives its journal files the same mode.
  if (path !== ':memory:') closeSync(openSync(path, 'a', 0o600));
  const connection = new DatabaseSync(path, { timeout: 5000 });
  connection.exec('PRAGMA journal_mode = WAL');
  connection.exec('PRAGMA synchronous = FULL');
  connection.exec('PRAGMA foreign_keys = ON');
  // What is deleted or replaced is overwritten with zeros, also on pages that become free: FAST would leave those as they were,
  // and with them whatever was longer than a page, such as pictures.
  connection.exec('PRAGMA secure_delete = ON');
  // In KiB: the upper pages of the trees. Others are had from the system, which holds the file in memory anyway: a larger cache
  // of our own is slower where there are many people, for it is searched for each page and does not fit into the processor's.
  connection.exec('PRAGMA cache_size = -8192');
  return connection;
}

/**
 * Makes objects of rows that come as arrays. It is written out once for a statement, from the columns that the statement
 * names: so its objects share one shape, and making and reading them costs half of what it does with the driver's own.
 * @param ids the columns that hold ids; where there are any, all integers come as 64-bit ones
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

function translate(error: unknown): unknown {
  if (error instanceof Error && OUTAGES.has(resultCode(error))) {
    return new StoreUnavailable(error.message, { cause: error });
  }
  return error;
}
