import { closeSync, openSync, statSync } from 'node:fs';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { setTimeout as wait } from 'node:timers/promises';
import {
  type Database,
  type DatabaseMeter,
  type Row,
  type Step,
  StoreUnavailable,
  UnusableDatabase,
  type Work,
} from '../database.ts';
import { type MigrationOptions, migrate } from '../migrations/timeline.ts';
import { type Compiled, compile, type Statement } from '../statement.ts';
import { realPath, SEQUENCE, sequenceIn } from './continuity.ts';
import { isLocked, migrationDialect, resultCode, sqliteBuilder, sqliteColumnTypes } from './dialect.ts';
import { openMark } from './mark.ts';
import { refuseUnfinished } from './replacement.ts';

interface PreparedStatement {
  readonly statement: StatementSync;
  readonly bind: Compiled['bind'];
  /** Rows with ids are read with 64-bit integers, which are slower, others without. */
  readonly toRow: (values: readonly unknown[]) => Row;
}

interface PendingCommit {
  /** When it was submitted, by `performance.now()`. */
  readonly since: number;
  readonly run: () => void;
  readonly settle: () => void;
  readonly fail: (error: unknown) => void;
}

/** How long a unit of work waits for another process that writes, and how often it tries, in milliseconds. */
const LOCK_TIMEOUT = 5000;
const LOCK_RETRY = 5;

/** How many reads are batched at most: larger batches are hardly cheaper for each read. */
const MAX_READS = 32;

/**
 * Opens a SQLite database, which is created and migrated if necessary.
 *
 * Reads of one turn of the event loop share a lock, at most {@link MAX_READS} of them. Units of work that arrive in one turn share a
 * commit, and their promises settle after it has reached the disk. If one of them fails, all are run again, each under its own
 * savepoint.
 * @param path a file, or `:memory:`
 */
export async function openSqlite(path: string, options?: MigrationOptions, meter?: DatabaseMeter): Promise<Database> {
  const connection = await connect(path);
  try {
    await migrate(migrationDialect(connection), sqliteColumnTypes, options);
  } catch (error) {
    connection.close();
    throw error;
  }
  // From now on no statement waits for a lock, because that blocks the whole process.
  connection.exec('PRAGMA busy_timeout = 10');
  // Otherwise undo data of statements and savepoints above 64 KiB would be written to a file. Set after the migrations, which sort whole
  // tables.
  connection.exec('PRAGMA temp_store = MEMORY');
  const prepared = new Map<Statement<never, unknown>, PreparedStatement>();
  const committed = path === ':memory:' ? undefined : sequenceIn(connection);
  const mark = committed === undefined ? undefined : openMark(realPath(path), committed);
  const sequence = mark && connection.prepare(SEQUENCE);
  sequence?.setReturnArrays(true);
  let waiting: PendingCommit[] = [];
  let reading: (() => void)[] = [];
  let closed = false;

  function prepare(statement: Statement<never, unknown>): PreparedStatement {
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
   * Runs all pending units of work in one commit. While another process writes they keep waiting, and reads continue.
   * @param apart whether each can fail separately. That copies every page that it changes, and is rarely needed.
   */
  function flush(apart = false): void {
    const batch = waiting;
    waiting = [];
    if (batch.length === 0) return;
    const began = performance.now();
    try {
      connection.exec('BEGIN IMMEDIATE');
    } catch (error) {
      const patient = isLocked(error) ? batch.filter((unit) => performance.now() - unit.since < LOCK_TIMEOUT) : [];
      refuse(
        batch.filter((unit) => !patient.includes(unit)),
        error,
      );
      waiting = [...patient, ...waiting];
      if (waiting.length > 0) setTimeout(() => flush(), LOCK_RETRY);
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
    // Never before the commit: the mark would require a change that has not happened.
    mark?.advance(last);
    // Errors are reported only now as well: they may depend on what another unit of this commit wrote.
    for (const settle of settled) settle();
  }

  function refuse(units: readonly PendingCommit[], error: unknown): void {
    for (const unit of units) unit.fail(translate(error));
  }

  function runUnit(unit: PendingCommit): () => void {
    unit.run();
    return unit.settle;
  }

  function runApart(unit: PendingCommit): () => void {
    connection.exec('SAVEPOINT unit');
    try {
      runUnit(unit);
      connection.exec('RELEASE unit');
      return unit.settle;
    } catch (error) {
      // A full disk rolls back the whole transaction, and with it all units.
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
      // The connection is broken, which the next BEGIN reports.
    }
  }

  /**
   * Runs all pending reads under one lock of the file, which costs as much as a read. Their data is no older than the latest of their
   * calls.
   */
  function flushReads(): void {
    const batch = reading;
    reading = [];
    if (batch.length === 0) return;
    meter?.shared(batch.length);
    try {
      if (batch.length > 1) connection.exec('BEGIN');
    } catch {
      // Each read meets the same error and reports it to its caller.
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
        if (reading.length === MAX_READS) flushReads();
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
    *recordServer() {},
    auditParts: undefined,
    load: () => ({ waiting: waiting.length }),
    async emptyJournal() {
      if (closed) return;
      // https://www.sqlite.org/pragma.html#pragma_wal_checkpoint: while another process reads or writes, this reports that it
      // is busy, and a later call empties the journal.
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
      for (flush(); waiting.length > 0; flush()) await wait(LOCK_RETRY);
      connection.close();
      await mark?.close();
    },
  };
}

/** Migrates a SQLite database to the current schema and closes it; returns the names of the migrations that it ran. */
export async function migrateSqlite(path: string, options?: MigrationOptions): Promise<readonly string[]> {
  const connection = await connect(path);
  try {
    return await migrate(migrationDialect(connection), sqliteColumnTypes, options);
  } finally {
    connection.close();
  }
}

/**
 * Opens a connection that may write, and creates the file if it does not exist. While `tessera restore` replaces the file, this waits:
 * with the file of before and the journal of the new one, SQLite would damage both.
 * @throws {UnusableDatabase} when the file is being replaced
 */
export async function connect(path: string): Promise<DatabaseSync> {
  const since = performance.now();
  for (;;) {
    const connection = connectOnce(path);
    if (connection !== undefined) return connection;
    if (performance.now() - since > LOCK_TIMEOUT) {
      throw new UnusableDatabase(
        `${path} is in the sole use of another process, such as tessera restore. Try again when that has finished.`,
      );
    }
    await wait(LOCK_RETRY);
  }
}

/** Undefined while another process has the file to itself, or replaced it in this moment. */
function connectOnce(path: string): DatabaseSync | undefined {
  if (path !== ':memory:') refuseUnfinished(realPath(path));
  // Created readable only by its owner; SQLite gives its journal files the same mode.
  if (path !== ':memory:') closeSync(openSync(path, 'a', 0o600));
  const isCurrent = watchReplacement(path);
  const connection = new DatabaseSync(path, { timeout: 0 });
  let usable = false;
  try {
    // Before the journal is opened, which has the same name for every file that had this one, and once the file is locked.
    usable = isCurrent();
    if (usable) connection.exec('PRAGMA journal_mode = WAL');
    usable &&= isCurrent();
  } catch (error) {
    usable = false;
    if (!isLocked(error)) throw error;
  } finally {
    if (!usable) connection.close();
  }
  if (!usable) return undefined;
  connection.exec(`PRAGMA busy_timeout = ${LOCK_TIMEOUT}`);
  connection.exec('PRAGMA synchronous = FULL');
  connection.exec('PRAGMA foreign_keys = ON');
  // Deleted and replaced data is overwritten with zeros, also on pages that become free. FAST would keep free pages, and with them values
  // longer than a page, such as pictures.
  connection.exec('PRAGMA secure_delete = ON');
  // In KiB, enough for the upper pages of the trees. Others come from the page cache of the system. A larger cache here is slower with many
  // accounts, because it is searched for each page and exceeds the cache of the processor.
  connection.exec('PRAGMA cache_size = -8192');
  return connection;
}

/** @returns whether the path still leads to the same file, and no replacement of it has begun */
function watchReplacement(path: string): () => boolean {
  if (path === ':memory:') return () => true;
  const { ino } = statSync(path);
  return () => {
    refuseUnfinished(realPath(path));
    return statSync(path, { throwIfNoEntry: false })?.ino === ino;
  };
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

function translate(error: unknown): unknown {
  if (error instanceof Error && OUTAGES.has(resultCode(error))) {
    return new StoreUnavailable(error.message, { cause: error });
  }
  return error;
}
