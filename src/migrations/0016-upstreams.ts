import type { ColumnTypes } from '../platform/database/migrations/kinds.ts';

/** Other providers through which people sign in, who is known there as whom, and which sessions began there. */
export const upstreams = ({ int, options }: ColumnTypes): readonly string[] => [
  `CREATE TABLE upstream (
    id ${int} NOT NULL PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    display_name TEXT NOT NULL,
    issuer TEXT NOT NULL,
    client_id TEXT NOT NULL,
    sealed_secret TEXT,
    scopes TEXT NOT NULL,
    sign_up TEXT NOT NULL,
    sign_up_domains TEXT NOT NULL,
    position INTEGER NOT NULL,
    status TEXT NOT NULL,
    created_at ${int} NOT NULL,
    updated_at ${int} NOT NULL
  ) ${options}`,
  'CREATE INDEX upstream_by_position ON upstream (status, position, id)',
  `CREATE TABLE upstream_identity (
    id TEXT NOT NULL PRIMARY KEY,
    upstream_id ${int} NOT NULL REFERENCES upstream (id) ON DELETE CASCADE,
    issuer TEXT NOT NULL,
    subject TEXT NOT NULL,
    account_id ${int} NOT NULL REFERENCES account (id) ON DELETE CASCADE,
    label TEXT,
    created_at ${int} NOT NULL,
    last_used_at ${int},
    ended_at ${int},
    UNIQUE (upstream_id, issuer, subject)
  ) ${options}`,
  'CREATE INDEX upstream_identity_by_account ON upstream_identity (account_id)',
  `CREATE TABLE upstream_session (
    hash TEXT NOT NULL PRIMARY KEY,
    account_id ${int} NOT NULL REFERENCES account (id) ON DELETE CASCADE,
    sid TEXT NOT NULL,
    upstream_id ${int} NOT NULL REFERENCES upstream (id) ON DELETE CASCADE,
    identity_id TEXT NOT NULL,
    upstream_sid TEXT,
    expires_at ${int} NOT NULL
  ) ${options}`,
  'CREATE INDEX upstream_session_by_end ON upstream_session (expires_at)',
  'CREATE INDEX upstream_session_by_account ON upstream_session (account_id)',
  'CREATE INDEX upstream_session_by_identity ON upstream_session (upstream_id, identity_id)',
  'CREATE INDEX upstream_session_by_sid ON upstream_session (upstream_id, upstream_sid)',
  'ALTER TABLE pending_sign_in ADD COLUMN upstream TEXT',
];
