/** Snowflake id as a decimal string. */
export type StoredId = string;
/** Milliseconds since the Unix epoch. */
export type StoredInstant = number;
/** 0 or 1. */
export type StoredFlag = number;
/** A JSON document. */
export type StoredJson = string;

/** The PostgreSQL server on which the data is known to be complete: see postgres/known-server.ts. */
interface KnownServerTable {
  id: number;
  cluster: string;
  timeline: number;
  database: string;
  relation: string;
  release: number;
}

/** The migrations that ran: see `migrations/migrate.ts`. */
interface MigrationTable {
  name: string;
  earliest_version: string | null;
}

/** How far the migrations are that change rows in batches, and are not complete. */
interface MigrationProgressTable {
  name: string;
  last_id: StoredId;
  rows_done: number;
}

/**
 * The tables, as the query builder knows them. The migrations create them. Here are those of the database itself; each domain adds
 * its own in its `tables.ts`, and no other folder writes them.
 */
export interface Tables {
  known_server: KnownServerTable;
  schema_migration: MigrationTable;
  migration_progress: MigrationProgressTable;
}
