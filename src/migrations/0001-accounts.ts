import type { ColumnTypes } from '../platform/database/migrations/kinds.ts';

/** People: their accounts, the names and addresses that are held for them, and the exports of their data. */
export const accountTables = ({ int, options }: ColumnTypes): readonly string[] => [
  `CREATE TABLE account (
    id ${int} PRIMARY KEY,
    username TEXT NOT NULL UNIQUE,
    email TEXT NOT NULL,
    email_key TEXT NOT NULL UNIQUE,
    email_verified ${int} NOT NULL,
    password_hash TEXT,
    generation TEXT NOT NULL,
    display_name TEXT NOT NULL,
    about TEXT NOT NULL,
    language TEXT NOT NULL,
    theme TEXT,
    website TEXT,
    location TEXT,
    birth_date TEXT,
    phone TEXT,
    social_links TEXT NOT NULL,
    avatar_color TEXT NOT NULL,
    banned_at ${int},
    banned_until ${int},
    ban_reason TEXT,
    suspended_at ${int},
    suspension_reason TEXT,
    created_at ${int} NOT NULL,
    updated_at ${int} NOT NULL,
    picture TEXT,
    deletion_requested_at ${int},
    deletion_due_at ${int},
    password_set_at ${int}
  ) ${options}`,
  'CREATE INDEX account_by_deletion ON account (deletion_due_at) WHERE deletion_due_at IS NOT NULL',

  // Usernames that nobody else can take for a while.
  `CREATE TABLE username_reservation (
    username TEXT PRIMARY KEY,
    account_id ${int} REFERENCES account (id) ON DELETE SET NULL,
    held_until ${int} NOT NULL
  ) ${options}`,
  'CREATE INDEX username_reservation_by_account ON username_reservation (account_id) WHERE account_id IS NOT NULL',
  'CREATE INDEX username_reservation_by_end ON username_reservation (held_until)',

  // The addresses that accounts had until they were changed: for seven days they are reserved, told, and can undo the change. Those that
  // an operator took away give no right and reserve nothing.
  `CREATE TABLE address_change (
    hash TEXT PRIMARY KEY,
    account_id ${int} NOT NULL REFERENCES account (id) ON DELETE CASCADE,
    email TEXT NOT NULL,
    email_key TEXT NOT NULL,
    created_at ${int} NOT NULL,
    factors_since ${int} NOT NULL,
    expires_at ${int} NOT NULL,
    by_operator ${int} NOT NULL DEFAULT 0
  ) ${options}`,
  'CREATE INDEX address_change_by_account ON address_change (account_id)',
  'CREATE INDEX address_change_by_address ON address_change (email_key)',
  'CREATE INDEX address_change_by_end ON address_change (expires_at)',

  // Accounts that mail alone does not recover.
  `CREATE TABLE recovery_setting (
    account_id ${int} PRIMARY KEY REFERENCES account (id) ON DELETE CASCADE,
    code_required_at ${int} NOT NULL
  ) ${options}`,

  `CREATE TABLE data_export (
    account_id ${int} PRIMARY KEY REFERENCES account (id) ON DELETE CASCADE,
    id TEXT NOT NULL,
    generation TEXT NOT NULL,
    state TEXT NOT NULL,
    pieces ${int} NOT NULL,
    events ${int} NOT NULL,
    last_event ${int},
    bytes ${int} NOT NULL,
    attempts ${int} NOT NULL,
    due_at ${int} NOT NULL,
    created_at ${int} NOT NULL
  ) ${options}`,
  "CREATE INDEX data_export_due ON data_export (due_at) WHERE state = 'waiting'",
  'CREATE INDEX data_export_by_time ON data_export (created_at)',

  `CREATE TABLE data_export_piece (
    account_id ${int} NOT NULL REFERENCES data_export (account_id) ON DELETE CASCADE,
    number ${int} NOT NULL,
    sealed TEXT NOT NULL,
    PRIMARY KEY (account_id, number)
  ) ${options}`,
];
