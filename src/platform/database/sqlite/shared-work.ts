import type { StatementSync } from 'node:sqlite';
import type { DatabaseMeter, Work } from '../database.ts';
import { SEQUENCE } from './continuity.ts';
import { isLocked } from './dialect.ts';
import { type Executor, translate } from './executor.ts';
import type { openMark } from './mark.ts';

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

/** Reads of one turn of the event loop share a lock, at most {@link MAX_READS} of them. */
export class SharedReads {
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
          reject(translate(error));
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
export class SharedCommits {
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
      return () => unit.fail(translate(error));
    }
  }
}

function refuse(units: readonly PendingCommit[], error: unknown): void {
  for (const unit of units) unit.fail(translate(error));
}

function runUnit(unit: PendingCommit): () => void {
  unit.run();
  return unit.settle;
}
