import type { ColumnTypes } from './timeline.ts';

/**
 * How people prove who they are beside their passwords: pending sign-ins, links and codes sent by mail, authenticator apps, recovery
 * codes, passkeys, and browsers that need no second factor. The proof of an existing session is the password of its sign-in.
 */
export const people = ({ int, bytes, options }: ColumnTypes): readonly string[] => [
  `ALTER TABLE browser_session ADD COLUMN proved_at ${int} NOT NULL DEFAULT 0`,
  "ALTER TABLE browser_session ADD COLUMN proved_by TEXT NOT NULL DEFAULT 'password'",
  `CREATE TABLE data_key (
    id ${int} PRIMARY KEY,
    sealed TEXT NOT NULL,
    created_at ${int} NOT NULL
  ) ${options}`,
  `CREATE TABLE pending_sign_in (
    hash TEXT PRIMARY KEY,
    account_id ${int} NOT NULL REFERENCES account (id) ON DELETE CASCADE,
    generation TEXT NOT NULL,
    browser_hash TEXT NOT NULL,
    methods TEXT NOT NULL,
    interaction_hash TEXT,
    created_at ${int} NOT NULL,
    expires_at ${int} NOT NULL
  ) ${options}`,
  'CREATE INDEX pending_sign_in_by_account ON pending_sign_in (account_id)',
  'CREATE INDEX pending_sign_in_by_end ON pending_sign_in (expires_at)',
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
    used_at ${int}
  ) ${options}`,
  'CREATE INDEX challenge_by_account ON challenge (account_id, purpose) WHERE account_id IS NOT NULL',
  'CREATE INDEX challenge_by_browser ON challenge (browser_hash, purpose) WHERE browser_hash IS NOT NULL',
  'CREATE INDEX challenge_by_address ON challenge (address)',
  'CREATE INDEX challenge_by_end ON challenge (expires_at)',
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
];
