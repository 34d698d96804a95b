import type { Statement } from './statement.ts';

/** A row of a result: ids are decimal strings, all other integers are numbers. */
export type Row = Readonly<Record<string, unknown>>;

/** A statement with its parameters, yielded by a unit of work to the database that runs it. */
export interface Step {
  readonly statement: Statement<never, unknown>;
  readonly params: Readonly<Record<string, unknown>>;
  /** The unit of work does not read its rows, so it may continue before they arrive. */
  readonly effect?: true;
}

/**
 * A unit of work: a generator that yields statements and receives their rows.
 *
 * The same code runs in one turn of the event loop on SQLite and as one transaction on a database server.
 * It must not await and must not have side effects: a database may run it again after a conflict.
 *
 * On hot paths, it is a generator function of a module that gets what it needs as parameters. A generator function inside another
 * function is created by each call of that, with its own hidden class, which makes it ten times as expensive.
 */
export type Work<T> = Generator<Step, T, readonly Row[]>;

/** A database, as the domains use it. */
export interface Database {
  /** Runs a unit of work that only reads, on data no older than the moment of this call. */
  read<T>(work: () => Work<T>): Promise<T>;
  /**
   * Runs a unit of work that writes. All of it commits or none of it does; the promise settles after the commit is
   * durable. A unit of work that throws changes nothing.
   * @throws {StoreUnavailable} when the database cannot be reached or cannot write.
   */
  commit<T>(work: () => Work<T>): Promise<T>;
  /**
   * Removes deleted and replaced rows from the journal of the database, if this process can. Does nothing while another process uses
   * the database.
   */
  emptyJournal(): Promise<void>;
  /**
   * The time of a clock that all processes on this database share, in milliseconds since the Unix epoch; null if there is none but
   * this machine's.
   */
  sharedTime(): Promise<number | null>;
  /** Records, as part of a unit of work, that the data is complete on the present server. Does nothing in an embedded database. */
  recordServer(): Work<void>;
  /** How the audit trail is kept in parts; undefined in an embedded database. */
  readonly auditParts: TableParts | undefined;
  /** The current load. */
  load(): DatabaseLoad;
  /** Finishes the units of work that were accepted, then closes the database. */
  close(): Promise<void>;
}

/**
 * A table to which rows are only added, kept in parts: the oldest rows are then dropped at once, and not deleted one by one. Statements on
 * the table see the rows of all parts. Each of these is for a unit of work of its own.
 */
export interface TableParts {
  /** What was put aside, the oldest first. */
  list(): Work<readonly TablePart[]>;
  /** Whether this user may divide the table. */
  mayDivide(): Work<boolean>;
  /**
   * Puts all present rows aside as the newest part.
   * @throws {StoreUnavailable} when others hold the table for longer than an instant
   */
  divide(): Work<void>;
  /** Notes at a part since when it has been due; null takes the note away. */
  noteDue(part: TablePart, since: number | null): Work<void>;
  /**
   * Removes a part with its rows.
   * @throws {StoreUnavailable} when others read it for longer than an instant
   */
  drop(part: TablePart): Work<void>;
  /**
   * Builds the index of a part by account and id, unless it is there. That is no unit of work: it takes long, and others read and write the
   * part meanwhile.
   * @throws {StoreUnavailable} when another process builds it, or the database does not answer
   */
  index(part: TablePart): Promise<void>;
}

export interface TablePart {
  readonly name: string;
  /** The last id that it can have. */
  readonly through: string;
  /** Since when it has been due, as noted. */
  readonly dueSince: number | null;
  /** Whether its index by account and id is complete. */
  readonly isIndexed: boolean;
}

export interface DatabaseLoad {
  /** Units of work that wait for a commit or for a connection. */
  readonly waiting: number;
  /** The connections, if there are several. Reads have their own, so that commits do not delay them. */
  readonly connections?: { readonly read: ConnectionLoad; readonly write: ConnectionLoad };
}

export interface ConnectionLoad {
  /** Units of work that wait for a connection. */
  readonly waiting: number;
  readonly busy: number;
  readonly idle: number;
  /** Connections that were given up, but that the server has not closed yet. */
  readonly unanswered: number;
}

/** Receives measurements of a database. */
export interface DatabaseMeter {
  committed(units: number, seconds: number): void;
  /** A unit of work is run again after a conflict. */
  retried(): void;
  shared(callers: number): void;
}

/** The database cannot be used in its present state. The message says what is wrong and what to do. */
export class UnusableDatabase extends Error {
  override readonly name = 'UnusableDatabase';
}

/**
 * The database does not answer now; a later attempt may succeed. Nothing changed, unless only the confirmation of a commit was
 * lost.
 */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable';
}
