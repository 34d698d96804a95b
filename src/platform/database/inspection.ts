import type { Kysely } from 'kysely';
import type { Row, Work } from './database.ts';
import type { AppliedMigration, UnfinishedMigration } from './migrations/position.ts';
import type { Tables } from './schema.ts';
import { compile } from './statement.ts';

/** A database that was opened for inspection: nothing is created, migrated or written. */
export interface Inspection {
  readonly facts: DatabaseFacts;
  /** The applied migrations. */
  readonly applied: readonly AppliedMigration[];
  /** The migration that was interrupted or is running, if it changes rows in batches. */
  readonly unfinished: UnfinishedMigration | undefined;
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
  /** The network file system that it is on, if any is known. */
  readonly network: string | undefined;
  /** Whether its journal is a write-ahead log. */
  readonly wal: boolean;
  /** The size of its write-ahead log in bytes; 0 after a clean shutdown. */
  readonly journal: number;
  /** The state of its mark. A mark that is `behind` the database cannot reveal the loss of the newest changes. */
  readonly mark: 'absent' | 'unreadable' | 'behind' | 'current';
  /** What a check of its structure found; empty if it is intact. */
  readonly damage: readonly string[];
}

export interface PostgresFacts {
  readonly kind: 'postgres';
  readonly release: string;
  /** The median of several round trips, in milliseconds. */
  readonly roundTrip: number;
  /** Whether a pooler stands between. Connections, encryption and place are then those of the pooler to the server. */
  readonly pooled: boolean;
  /** The connections that the server offers to users like this one. */
  readonly maxConnections: number;
  /** The connections in use, by all users. */
  readonly usedConnections: number;
  /** The connections that one node of Tessera uses at most, with all of its processes. */
  readonly poolSize: number;
  /** That it gets fewer, and what to change. */
  readonly tooFew: readonly { readonly found: string; readonly remedy: string }[];
  /** Warnings about its settings. */
  readonly cautions: readonly { readonly found: string; readonly remedy: string }[];
  /** `synchronous_commit`, as set for this user. */
  readonly synchronousCommit: string;
  readonly encrypted: boolean;
  /** Whether it is on this machine. */
  readonly local: boolean;
  /** `synchronous_standby_names`: empty where a commit waits for no standby. */
  readonly standbyNames: string;
  /** The standbys that are connected to it. */
  readonly standbys: readonly StandbyFacts[];
  /** The hosts of the address, if there are several. */
  readonly hosts: readonly HostFacts[];
  /** Whether a process is migrating the database now. */
  readonly migrating: boolean;
  /** How far its clock is ahead of this machine's, in milliseconds. */
  readonly clockAhead: number;
}

/** A standby as the primary sees it. Undefined is what it tells only to users with `pg_monitor`. */
export interface StandbyFacts {
  readonly name: string;
  readonly state: string | undefined;
  /** `sync`, `quorum`, `potential` or `async`. */
  readonly sync: string | undefined;
}

export interface HostFacts {
  readonly name: string;
  readonly role: 'primary' | 'standby' | 'other';
  readonly timeline: number | undefined;
  /** How many bytes of changes it has yet to replay. */
  readonly behind: number | undefined;
  /** Why it is not used; undefined for the primary. */
  readonly reason: string | undefined;
}

/** Runs a unit of work statement by statement, without shared reads and prepared statements. */
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
