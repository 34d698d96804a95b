import type { ColumnTypes } from './timeline.ts';

/** Visits to the playground, each with a client of its own. */
export const addPlayground = ({ int, options }: ColumnTypes): readonly string[] => [
  `CREATE TABLE playground_visit (
    browser_hash TEXT PRIMARY KEY,
    client_id ${int} NOT NULL UNIQUE REFERENCES client (id) ON DELETE CASCADE,
    turn ${int} NOT NULL,
    sealed TEXT NOT NULL,
    expires_at ${int} NOT NULL
  ) ${options}`,
  'CREATE INDEX playground_visit_by_end ON playground_visit (expires_at)',
];
