import type { ColumnTypes } from './timeline.ts';

/** Which assertions clients have used to authenticate. */
export const clientAssertions = ({ int, options }: ColumnTypes): readonly string[] => [
  `CREATE TABLE client_assertion (
    hash TEXT PRIMARY KEY,
    expires_at ${int} NOT NULL
  ) ${options}`,
  'CREATE INDEX client_assertion_end ON client_assertion (expires_at)',
];
