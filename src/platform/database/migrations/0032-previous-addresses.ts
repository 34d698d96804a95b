import type { ColumnTypes } from './timeline.ts';

/** The addresses that accounts had until they were changed: for seven days they are reserved, told, and can undo the change. */
export const previousAddresses = ({ int, options }: ColumnTypes): readonly string[] => [
  `CREATE TABLE address_change (
    hash TEXT PRIMARY KEY,
    account_id ${int} NOT NULL REFERENCES account (id) ON DELETE CASCADE,
    email TEXT NOT NULL,
    email_key TEXT NOT NULL,
    created_at ${int} NOT NULL,
    factors_since ${int} NOT NULL,
    expires_at ${int} NOT NULL
  ) ${options}`,
  'CREATE INDEX address_change_by_account ON address_change (account_id)',
  'CREATE INDEX address_change_by_address ON address_change (email_key)',
  'CREATE INDEX address_change_by_end ON address_change (expires_at)',
];
