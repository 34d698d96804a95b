import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { setTimeout as wait } from 'node:timers/promises';
import { isIdColumn } from '../columns.ts';
import { type Database, type DatabaseMeter, type Row, type Step, StoreUnavailable, type Work } from '../database.ts';
import { type Compiled, compile, type Statement } from '../statement.ts';
import { realPath, SEQUENCE, sequenceIn } from './continuity.ts';
import { isLocked, resultCode, sqliteBuilder } from './dialect.ts';
import { openMark } from './mark.ts';

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
export const LOCK_TIMEOUT = 5000;
export const LOCK_RETRY = 5;

/** How many reads are batched at most: larger batches are hardly cheaper for each read. */
const MAX_READS = 32;

/** The database of an open connection, which is migrated. @param path its file, or `:memory:` */
export function databaseOn(path: string, connection: DatabaseSync, meter: DatabaseMeter | undefined): Database {
  const committed = path === ':memory:' ? undefined : sequenceIn(connection);
  const mark = committed === undefined ? undefined : openMark(realPath(path), committed);
  const executor = new Executor(connection);
  const reads = new SharedReads(executor, meter);
  const commits = new SharedCommits(executor, mark, meter);
  let closed = false;
  const isClosed = () => Promise.reject(new StoreUnavailable('the database is closed'));
  return {
    read: (work) => (closed ? isClosed() : reads.run(work)),
    commit: (work) => (closed ? isClosed() : commits.run(work)),
    sharedTime: async () => null,
    *recordServer() {},
    auditParts: undefined,
    load: () => ({ waiting: commits.waiting }),
    async emptyJournal() {
      if (closed) return;
      // https://www.sqlite.org/pragma.html#pragma_wal_checkpoint: while another process reads or writes, this reports that it
      // is busy, and a later call empties the journal.
      try {
        connection.exec('PRAGMA wal_checkpoint(TRUNCATE)');
      } catch (error) {
        throw translateError(error);
      }
    },
    async close() {
      if (closed) return;
      closed = true;
      reads.runAll();
      for (commits.flush(); commits.waiting > 0; commits.flush()) await wait(LOCK_RETRY);
      connection.close();
      await mark?.close();
    },
  };
}

/** Runs units of work on a connection, and knows each statement that it has prepared. */
class Executor {
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
      query = this.#statementFor(step.statement);
      this.#prepared.set(step.statement, query);
    }
    const rows = query.statement.all(...(query.bind(step.params) as [])) as unknown as unknown[][];
    return rows.map(query.toRow);
  }

  #statementFor(statement: Statement<never, unknown>): PreparedStatement {
    const { sql, bind } = compile(statement, sqliteBuilder);
    const native = this.connection.prepare(sql);
    const names = native.columns().map((column) => column.name);
    const ids = new Set(names.filter(isIdColumn));
    if (ids.size > 0) native.setReadBigInts(true);
    native.setReturnArrays(true);
    return { statement: native, bind, toRow: rowMaker(names, ids) };
  }
}

/** Reads of one turn of the event loop share a lock, at most {@link MAX_READS} of them. */
class SharedReads {
  readonly #executor: Executor;
  readonly #meter: DatabaseMeter | undefined;
  #waiting: (() => void)[] = [];

  constructor(executor: Executor, meter: DatabaseMeter | undefined) {
    this.#executor = executor;
    this.#meter = meter;
  }

  run<T>(work: () => Work<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      if (this.#waiting.length === 0) setImmediate(() => this.runAll());
      this.#waiting.push(() => {
        try {
          resolve(this.#executor.drive(work()));
        } catch (error) {
          reject(translateError(error));
        }
      });
      if (this.#waiting.length === MAX_READS) this.runAll();
    });
  }

  /**
   * Runs all pending reads under one lock of the file, which costs as much as a read. Their data is no older than the latest of their
   * calls.
   */
  runAll(): void {
    const { connection } = this.#executor;
    const batch = this.#waiting;
    this.#waiting = [];
    if (batch.length === 0) return;
    this.#meter?.shared(batch.length);
    try {
      if (batch.length > 1) connection.exec('BEGIN');
    } catch {
      // Each read meets the same error and reports it to its caller.
    }
    for (const run of batch) run();
    try {
      if (connection.isTransaction) connection.exec('COMMIT');
    } catch {
      this.#executor.rollBack();
    }
  }
}

/**
 * Units of work that arrive in one turn share a commit, and their promises settle after it has reached the disk. If one of them fails, all
 * are run again, each under its own savepoint.
 */
class SharedCommits {
  readonly #executor: Executor;
  readonly #meter: DatabaseMeter | undefined;
  readonly #mark: ReturnType<typeof openMark> | undefined;
  /** Reads the number that the mark holds. */
  readonly #sequence: StatementSync | undefined;
  #waiting: PendingCommit[] = [];

  constructor(executor: Executor, mark: ReturnType<typeof openMark> | undefined, meter: DatabaseMeter | undefined) {
    this.#executor = executor;
    this.#meter = meter;
    this.#mark = mark;
    this.#sequence = mark && executor.connection.prepare(SEQUENCE);
    this.#sequence?.setReturnArrays(true);
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  run<T>(work: () => Work<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      let result: { value: T } | undefined;
      if (this.#waiting.length === 0) setImmediate(() => this.flush());
      this.#waiting.push({
        since: performance.now(),
        run: () => {
          result = { value: this.#executor.drive(work()) };
        },
        settle: () => result && resolve(result.value),
        fail: reject,
      });
    });
  }

  /**
   * Runs all pending units of work in one commit. While another process writes they keep waiting, and reads continue.
   * @param apart whether each can fail separately. That copies every page that it changes, and is rarely needed.
   */
  flush(apart = false): void {
    const { connection } = this.#executor;
    const batch = this.#waiting;
    this.#waiting = [];
    if (batch.length === 0) return;
    const began = performance.now();
    try {
      connection.exec('BEGIN IMMEDIATE');
    } catch (error) {
      this.#postpone(batch, error);
      return;
    }
    let settled: (() => void)[];
    let last: number;
    try {
      settled = batch.map((unit) => (apart ? this.#runApart(unit) : runUnit(unit)));
      last = Number(this.#sequence?.get()?.[0] ?? 0);
    } catch (error) {
      this.#executor.rollBack();
      if (apart || batch.length === 1) {
        refuse(batch, error);
      } else {
        this.#waiting = [...batch, ...this.#waiting];
        this.flush(true);
      }
      return;
    }
    try {
      connection.exec('COMMIT');
    } catch (error) {
      this.#executor.rollBack();
      refuse(batch, error);
      return;
    }
    this.#meter?.committed(batch.length, (performance.now() - began) / 1000);
    // Never before the commit: the mark would require a change that has not happened.
    this.#mark?.advance(last);
    // Errors are reported only now as well: they may depend on what another unit of this commit wrote.
    for (const settle of settled) settle();
  }

  /** Lets units of work wait until another process has written, and refuses those that have waited for too long. */
  #postpone(batch: readonly PendingCommit[], error: unknown): void {
    const isPatient = ({ since }: PendingCommit) => isLocked(error) && performance.now() - since < LOCK_TIMEOUT;
    const { patient = [], impatient = [] } = Object.groupBy(batch, (unit) =>
      isPatient(unit) ? 'patient' : 'impatient',
    );
    refuse(impatient, error);
    this.#waiting = [...patient, ...this.#waiting];
    if (this.#waiting.length > 0) setTimeout(() => this.flush(), LOCK_RETRY);
  }

  #runApart(unit: PendingCommit): () => void {
    const { connection } = this.#executor;
    connection.exec('SAVEPOINT unit');
    try {
      const settle = runUnit(unit);
      connection.exec('RELEASE unit');
      return settle;
    } catch (error) {
      // A full disk rolls back the whole transaction, and with it all units.
      if (!connection.isTransaction) throw error;
      connection.exec('ROLLBACK TO unit');
      connection.exec('RELEASE unit');
      return () => unit.fail(translateError(error));
    }
  }
}

function refuse(units: readonly PendingCommit[], error: unknown): void {
  for (const unit of units) unit.fail(translateError(error));
}

function runUnit(unit: PendingCommit): () => void {
  unit.run();
  return unit.settle;
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
function translateError(error: unknown): unknown {
  if (error instanceof Error && OUTAGES.has(resultCode(error))) {
    return new StoreUnavailable(error.message, { cause: error });
  }
  return error;
}
