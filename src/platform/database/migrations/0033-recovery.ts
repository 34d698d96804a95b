import type { ColumnTypes } from './timeline.ts';

/** Links and codes that were asked for and are not made yet, and accounts that mail alone does not recover. */
export const addRecovery = ({ int, options }: ColumnTypes): readonly string[] => [
  // No foreign key: whether there is such an account is looked up later.
  `CREATE TABLE mail_request (
    id TEXT PRIMARY KEY,
    purpose TEXT NOT NULL,
    sealed TEXT NOT NULL,
    created_at ${int} NOT NULL
  ) ${options}`,
  'CREATE INDEX mail_request_by_time ON mail_request (created_at)',
  `CREATE TABLE recovery_setting (
    account_id ${int} PRIMARY KEY REFERENCES account (id) ON DELETE CASCADE,
    code_required_at ${int} NOT NULL
  ) ${options}`,
];
