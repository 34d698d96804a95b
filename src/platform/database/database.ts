import type { Statement } from './statement.ts';

/** One row as a driver gives it: ids are decimal strings, every other integer is a number. */
export type Row = Readonly<Record<string, unknown>>;

/** One statement with its parameters, yielded by a unit of work to whichever database runs it. */
export interface Step {
  readonly statement: Statement<never, unknown>;
  readonly params: Readonly<Record<string, unknown>>;
  /** Nobody looks at its rows: the unit may go on before they have come. */
  readonly effect?: true;
}

/**
 * A unit of work: a generator that yields statements and receives their rows.
 *
 * Written once, it runs in one turn of the event loop on SQLite and as one transaction on a database server.
 * It must not await, and must not have effects of its own: a database may run it again after a conflict.
 *
 * What most requests run is a generator function of its module, which is given what it needs. One that stands inside another
 * function is made anew by each call of that, with a hidden class of its own: ten times what the call costs otherwise.
 */
export type Work<T> = Generator<Step, T, readonly Row[]>;

/** What a domain needs to know of a database. */
export interface Database {
  /** Runs a unit of work that only reads, on data no older than the moment of this call. */
  read<T>(work: () => Work<T>): Promise<T>;
  /**
   * Runs a unit of work that writes. All of it commits or none of it does; the promise settles after the commit is
   * durable. A work that throws changes nothing.
   * @throws {StoreUnavailable} when the database cannot be reached or cannot write.
   */
  commit<T>(work: () => Work<T>): Promise<T>;
  /**
   * Lets go of what a journal of the database still holds of rows that were deleted or replaced, where this process can. May be
   * left undone while another process uses the database.
   */
  emptyJournal(): Promise<void>;
  /**
   * The time, in milliseconds since the Unix epoch, by a clock that all processes on this database share; null where there is
   * none but this machine's.
   */
  sharedTime(): Promise<number | null>;
  /** What waits and what is in use right now. */
  load(): DatabaseLoad;
  /** Finishes what was handed over, then lets go of the database. */
  close(): Promise<void>;
}

export interface DatabaseLoad {
  /** Units of work that wait for a commit or for a connection. */
  readonly waiting: number;
  /** The connections, where there are several: what only reads has its own, which no commit holds up. */
  readonly connections?: { readonly read: ConnectionLoad; readonly write: ConnectionLoad };
}

export interface ConnectionLoad {
  /** Units of work that wait for one. */
  readonly waiting: number;
  readonly busy: number;
  readonly idle: number;
  /** Those that are to be closed, and that the server has not ended yet. */
  readonly unanswered: number;
}

/** What a database tells of its work, for whoever counts it. */
export interface DatabaseMeter {
  committed(units: number, seconds: number): void;
  /** A unit of work is run again after a conflict. */
  retried(): void;
  shared(callers: number): void;
}

/** The database cannot be used as it is. The message says what is wrong with it and what to do. */
export class UnusableDatabase extends Error {
  override readonly name = 'DatabaseUnusable';
}

/**
 * The database cannot answer now; trying again later may succeed. Nothing changed, unless the very answer to a commit was
 * lost on its way.
 */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable';
}
