import type { ColumnTypes } from './timeline.ts';

/**
 * Which migrations ran since version 0.1.0, and which version each of them needs. Version 0.1.0 refuses a database with an unknown name
 * in `kysely_migration`, so a migration beside which it can run is recorded only here. One that changes rows in batches says in
 * `migration_progress` how far it is; its row goes when it is complete.
 */
export const schemaVersions = ({ int, options }: ColumnTypes): readonly string[] => [
  `CREATE TABLE schema_migration (
    name TEXT PRIMARY KEY,
    earliest_version TEXT,
    applied_by TEXT NOT NULL,
    applied_at TEXT NOT NULL
  ) ${options}`,
  `CREATE TABLE migration_progress (
    name TEXT PRIMARY KEY,
    last_id ${int} NOT NULL,
    rows_done ${int} NOT NULL
  ) ${options}`,
];
