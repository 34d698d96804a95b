import type { ColumnTypes } from './timeline.ts';

/** Messages that wait until the SMTP server has accepted them. */
export const mail = ({ int, serial, options }: ColumnTypes): readonly string[] => [
  // No foreign keys: a message about the end of an account outlives it, and one whose challenge is gone is not sent.
  `CREATE TABLE mail (
    id ${serial},
    message_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    account_id ${int},
    recipient TEXT NOT NULL,
    challenge_hash TEXT,
    sealed TEXT,
    status TEXT NOT NULL,
    attempts ${int} NOT NULL,
    unconfirmed ${int} NOT NULL,
    due_at ${int} NOT NULL,
    created_at ${int} NOT NULL,
    expires_at ${int} NOT NULL,
    settled_at ${int},
    problem TEXT
  ) ${options}`,
  'CREATE INDEX mail_by_due ON mail (status, due_at)',
  'CREATE INDEX mail_by_status ON mail (status, id)',
];
