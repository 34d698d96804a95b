import type { ColumnTypes } from '../platform/database/migrations/kinds.ts';

/** Requests of the admin API that are answered once: what each created, sealed, for a day. */
export const idempotency = ({ int, options }: ColumnTypes): readonly string[] => [
  `CREATE TABLE idempotent_request (
    hash TEXT NOT NULL PRIMARY KEY,
    fingerprint TEXT NOT NULL,
    status ${int},
    answer TEXT,
    expires_at ${int} NOT NULL
  ) ${options}`,
  'CREATE INDEX idempotent_request_by_end ON idempotent_request (expires_at)',
];
