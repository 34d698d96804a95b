import type { ColumnTypes } from '../platform/database/migrations/kinds.ts';

/** Links and codes sent by mail, and messages that wait until the SMTP server has accepted them. */
export const mailTables = ({ int, serial, options }: ColumnTypes): readonly string[] => [
  `CREATE TABLE challenge (
    hash TEXT PRIMARY KEY,
    purpose TEXT NOT NULL,
    account_id ${int} REFERENCES account (id) ON DELETE CASCADE,
    generation TEXT,
    address TEXT NOT NULL,
    browser_hash TEXT,
    code_hash TEXT,
    sealed TEXT,
    created_at ${int} NOT NULL,
    expires_at ${int} NOT NULL,
    used_at ${int},
    admin_key_id ${int}
  ) ${options}`,
  'CREATE INDEX challenge_by_account ON challenge (account_id, purpose) WHERE account_id IS NOT NULL',
  'CREATE INDEX challenge_by_browser ON challenge (browser_hash, purpose) WHERE browser_hash IS NOT NULL',
  'CREATE INDEX challenge_by_address ON challenge (address)',
  'CREATE INDEX challenge_by_end ON challenge (expires_at)',
  'CREATE INDEX challenge_by_admin_key ON challenge (admin_key_id)',

  // Links and codes that were asked for and are not made yet. No foreign key: whether there is such an account is looked up later.
  `CREATE TABLE mail_request (
    id TEXT PRIMARY KEY,
    purpose TEXT NOT NULL,
    sealed TEXT NOT NULL,
    created_at ${int} NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0,
    due_at ${int} NOT NULL DEFAULT 0
  ) ${options}`,
  'CREATE INDEX mail_request_by_time ON mail_request (created_at)',
  'CREATE INDEX mail_request_by_turn ON mail_request (due_at)',

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
    problem TEXT,
    priority INTEGER NOT NULL DEFAULT 0,
    recipient_domain TEXT NOT NULL DEFAULT '-'
  ) ${options}`,
  'CREATE INDEX mail_by_due ON mail (status, due_at)',
  'CREATE INDEX mail_by_status ON mail (status, id)',
  // By these, dispatchers find the next message, also behind many to one domain.
  'CREATE INDEX mail_by_priority ON mail (status, priority, (due_at + 0))',
  'CREATE INDEX mail_by_lane ON mail (status, priority, recipient_domain, (due_at - 0))',
  'CREATE INDEX mail_by_account ON mail (account_id, status)',
];
