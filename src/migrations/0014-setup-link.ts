import type { ColumnTypes } from '../platform/database/migrations/kinds.ts';

/** The one link with which the first owner of an installation makes their account. A newer one takes its place. */
export const setupLink = ({ int, options }: ColumnTypes): readonly string[] => [
  `CREATE TABLE setup_link (
    id ${int} NOT NULL PRIMARY KEY CHECK (id = 1),
    hash TEXT NOT NULL,
    expires_at ${int} NOT NULL
  ) ${options}`,
];
