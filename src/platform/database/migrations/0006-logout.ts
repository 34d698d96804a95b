import type { ColumnTypes } from './timeline.ts';

/** Notices of ended sessions that wait until the apps have answered. */
export const logout = ({ int, serial, options }: ColumnTypes): readonly string[] => [
  // No foreign key to the account: a notice of its deletion outlives it.
  `CREATE TABLE logout_notice (
    id ${serial},
    client_id ${int} NOT NULL REFERENCES client (id) ON DELETE CASCADE,
    account_id ${int} NOT NULL,
    sid TEXT,
    created_at ${int} NOT NULL,
    attempts ${int} NOT NULL,
    due_at ${int} NOT NULL
  ) ${options}`,
  'CREATE INDEX logout_notice_by_due ON logout_notice (due_at)',
  'CREATE INDEX logout_notice_by_client ON logout_notice (client_id, due_at)',
];
