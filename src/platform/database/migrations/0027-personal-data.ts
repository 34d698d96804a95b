import type { ColumnTypes } from './timeline.ts';

/** Accounts that wait for their deletion, and usernames that nobody else can take for a while. */
export const personalData = ({ int, options }: ColumnTypes): readonly string[] => [
  `ALTER TABLE account ADD COLUMN deletion_requested_at ${int}`,
  `ALTER TABLE account ADD COLUMN deletion_due_at ${int}`,
  'CREATE INDEX account_by_deletion ON account (deletion_due_at) WHERE deletion_due_at IS NOT NULL',
  `CREATE TABLE username_reservation (
    username TEXT PRIMARY KEY,
    account_id ${int} REFERENCES account (id) ON DELETE SET NULL,
    held_until ${int} NOT NULL
  ) ${options}`,
  'CREATE INDEX username_reservation_by_account ON username_reservation (account_id) WHERE account_id IS NOT NULL',
  'CREATE INDEX username_reservation_by_end ON username_reservation (held_until)',
];
