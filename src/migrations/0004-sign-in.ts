import type { ColumnTypes } from '../platform/database/migrations/kinds.ts';

/** How people prove who they are: sessions, browsers, pending sign-ins, and their factors beside the password. */
export const signInTables = ({ int, bytes, options }: ColumnTypes): readonly string[] => [
  `CREATE TABLE browser_session (
    hash TEXT PRIMARY KEY,
    sid TEXT NOT NULL UNIQUE,
    account_id ${int} NOT NULL REFERENCES account (id) ON DELETE CASCADE,
    generation TEXT NOT NULL,
    auth_time ${int} NOT NULL,
    last_seen_at ${int} NOT NULL,
    expires_at ${int} NOT NULL,
    browser TEXT,
    system TEXT,
    network TEXT,
    amr TEXT NOT NULL DEFAULT '["pwd"]',
    acr TEXT DEFAULT 'urn:oasis:names:tc:SAML:2.0:ac:classes:PasswordProtectedTransport',
    proved_at ${int} NOT NULL DEFAULT 0,
    proved_by TEXT NOT NULL DEFAULT 'password',
    proved_factor_since ${int},
    proved_after ${int}
  ) ${options}`,
  'CREATE INDEX browser_session_by_account ON browser_session (account_id)',
  'CREATE INDEX browser_session_by_end ON browser_session (expires_at)',
  'CREATE INDEX browser_session_by_last_use ON browser_session (last_seen_at)',

  `CREATE TABLE known_browser (
    account_id ${int} NOT NULL REFERENCES account (id) ON DELETE CASCADE,
    browser_hash TEXT NOT NULL,
    last_seen_at ${int} NOT NULL,
    PRIMARY KEY (account_id, browser_hash)
  ) ${options}`,
  'CREATE INDEX known_browser_by_last_seen ON known_browser (last_seen_at)',

  `CREATE TABLE trusted_browser (
    hash TEXT PRIMARY KEY,
    account_id ${int} NOT NULL REFERENCES account (id) ON DELETE CASCADE,
    generation TEXT NOT NULL,
    browser TEXT,
    system TEXT,
    network TEXT,
    created_at ${int} NOT NULL,
    expires_at ${int} NOT NULL
  ) ${options}`,
  'CREATE INDEX trusted_browser_by_account ON trusted_browser (account_id)',
  'CREATE INDEX trusted_browser_by_end ON trusted_browser (expires_at)',

  // `factors_since`: when what it was proved with was set up, in the order of its methods.
  `CREATE TABLE pending_sign_in (
    hash TEXT PRIMARY KEY,
    account_id ${int} NOT NULL REFERENCES account (id) ON DELETE CASCADE,
    generation TEXT NOT NULL,
    browser_hash TEXT NOT NULL,
    methods TEXT NOT NULL,
    interaction_hash TEXT,
    created_at ${int} NOT NULL,
    expires_at ${int} NOT NULL,
    factors_since TEXT
  ) ${options}`,
  'CREATE INDEX pending_sign_in_by_account ON pending_sign_in (account_id)',
  'CREATE INDEX pending_sign_in_by_end ON pending_sign_in (expires_at)',

  `CREATE TABLE totp_secret (
    account_id ${int} PRIMARY KEY REFERENCES account (id) ON DELETE CASCADE,
    sealed TEXT NOT NULL,
    generation TEXT NOT NULL,
    created_at ${int} NOT NULL,
    confirmed_at ${int},
    last_step ${int} NOT NULL
  ) ${options}`,

  `CREATE TABLE recovery_code (
    account_id ${int} NOT NULL REFERENCES account (id) ON DELETE CASCADE,
    hash TEXT NOT NULL,
    created_at ${int} NOT NULL,
    used_at ${int},
    PRIMARY KEY (account_id, hash)
  ) ${options}`,

  `CREATE TABLE passkey (
    id TEXT PRIMARY KEY,
    account_id ${int} NOT NULL REFERENCES account (id) ON DELETE CASCADE,
    public_key ${bytes} NOT NULL,
    counter ${int} NOT NULL,
    transports TEXT NOT NULL,
    name TEXT NOT NULL,
    aaguid TEXT NOT NULL,
    backup_eligible INTEGER NOT NULL,
    backed_up INTEGER NOT NULL,
    created_at ${int} NOT NULL,
    last_used_at ${int}
  ) ${options}`,
  'CREATE INDEX passkey_by_account ON passkey (account_id)',
];
