import type { ColumnTypes } from '../platform/database/migrations/kinds.ts';

/** What accounts had until it was replaced or removed: usernames, authenticator apps and recovery codes, for the owner who takes one back. */
export const replacedValues = ({ int, options }: ColumnTypes): readonly string[] => [
  `CREATE TABLE replaced_value (
    hash TEXT PRIMARY KEY,
    account_id ${int} NOT NULL REFERENCES account (id) ON DELETE CASCADE,
    kind TEXT NOT NULL,
    value TEXT NOT NULL,
    set_up_at ${int} NOT NULL,
    replaced_at ${int} NOT NULL,
    expires_at ${int} NOT NULL
  ) ${options}`,
  'CREATE INDEX replaced_value_by_account ON replaced_value (account_id)',
  'CREATE INDEX replaced_value_by_end ON replaced_value (expires_at)',
];
