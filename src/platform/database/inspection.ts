import type { Kysely } from 'kysely';
import type { Row, Work } from './database.ts';
import type { Tables } from './schema.ts';
import { compile } from './statement.ts';

/** A database that was opened to be looked at: nothing is made, migrated or written. */
export interface Inspection {
  readonly facts: DatabaseFacts;
  /** The migrations that ran on it. */
  readonly applied: readonly string[];
  /** Runs a unit of work that reads. Its tables must be there: see `applied`. */
  read<T>(work: () => Work<T>): Promise<T>;
  close(): Promise<void>;
}

export type DatabaseFacts = SqliteFacts | PostgresFacts;

export interface SqliteFacts {
  readonly kind: 'sqlite';
  readonly path: string;
  /** The permission bits of the file and of its folder. */
  readonly mode: number;
  readonly folderMode: number;
  /** Whether this user may write to both. */
  readonly writable: boolean;
  readonly size: number;
  /** Bytes that are free for this user. */
  readonly free: number;
  /** The network filesystem that it lies on, where it is known to lie on one. */
  readonly network: string | undefined;
  /** Whether its journal is a write-ahead log. */
  readonly wal: boolean;
  /** What its write-ahead log holds, in bytes; none where the last process ended in order. */
  readonly journal: number;
  /** What the mark beside it says: `behind` the database, it would not tell that the newest changes were lost. */
  readonly mark: 'absent' | 'unreadable' | 'behind' | 'current';
  /** What a check of its structure found; nothing where it is whole. */
  readonly damage: readonly string[];
}

export interface PostgresFacts {
  readonly kind: 'postgres';
  readonly release: string;
  /** The median of several round trips, in milliseconds. */
  readonly roundTrip: number;
  /** Connections that the server gives to users like this one. */
  readonly maxConnections: number;
  /** How many are in use now, by all users. */
  readonly usedConnections: number;
  /** What one process of Tessera takes of them at most. */
  readonly poolSize: number;
  /** What its settings put at risk. */
  readonly cautions: readonly { readonly found: string; readonly remedy: string }[];
  /** `synchronous_commit`, as this user gets it. */
  readonly synchronousCommit: string;
  readonly mayCreateTables: boolean;
  readonly encrypted: boolean;
  /** Reached over a socket of this machine, or over its loopback. */
  readonly local: boolean;
  /** Its clock, less the one of this machine, in milliseconds. */
  readonly clockAhead: number;
}

/** Runs a unit of work statement by statement, for whoever has no shared reads and no prepared statements. */
export async function readSingly<T>(
  work: Work<T>,
  builder: Kysely<Tables>,
  ask: (text: string, values: readonly unknown[]) => Promise<readonly Row[]>,
): Promise<T> {
  let step = work.next();
  while (!step.done) {
    const { sql, bind } = compile(step.value.statement, builder);
    step = work.next(await ask(sql, bind(step.value.params)));
  }
  return step.value;
}
