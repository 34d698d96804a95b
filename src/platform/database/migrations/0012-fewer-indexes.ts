import type { ColumnTypes } from './timeline.ts';

/**
 * The cost of writing a token is mostly that of the index pages that change.
 *
 * Families and codes belong to a grant, and are deleted with it when its account or client is; so they need no references to these two,
 * nor the indexes for them. The events of an account or a client are grouped in blocks of 1024 (see `audit/search-store.ts`), so
 * that new ones fall on a few pages. Whether a grant was revoked is looked up in an index of the revoked ones
 * (see `credentials/standing-store.ts`), so that requests need not read the grant.
 */
export const fewerIndexes = (types: ColumnTypes): readonly string[] => [
  ...(types.rebuilds ? rebuilt(types) : DROPPED),
  'CREATE INDEX authorization_code_by_family ON authorization_code (family_id) WHERE family_id IS NOT NULL',
  'DROP INDEX audit_event_by_account',
  'DROP INDEX audit_event_by_client',
  'CREATE INDEX audit_event_by_account ON audit_event ((id / 1024), account_id)',
  'CREATE INDEX audit_event_by_client ON audit_event ((id / 1024), client_id)',
  'CREATE INDEX consent_grant_revoked ON consent_grant ((-id), revoked_at) WHERE revoked_at IS NOT NULL',
];

const DROPPED = [
  ...['token_family', 'authorization_code'].flatMap((table) => [
    `ALTER TABLE ${table} DROP CONSTRAINT ${table}_account_id_fkey, DROP CONSTRAINT ${table}_client_id_fkey`,
    `DROP INDEX ${table}_by_account`,
    `DROP INDEX ${table}_by_client`,
  ]),
  'DROP INDEX authorization_code_by_family',
];

const FAMILY = `id, grant_id, account_id, client_id, account_generation, client_generation, scopes, sid, auth_time, sequence,
  leaf_jti, leaf_kid, leaf_issued_at, leaf_expires_at, predecessor_jti, rotated_at, created_at, ends_at, dead_at, dead_reason,
  claims, resources`;
const CODE = `hash, grant_id, account_id, client_id, account_generation, client_generation, redirect_uri, scopes, narrowed, nonce,
  code_challenge, sid, auth_time, expires_at, redeemed_at, family_id, claims, resources`;

/** Copies the tables before dropping them, codes before families, so that no reference cascades. */
const rebuilt = ({ int, options }: ColumnTypes): readonly string[] => [
  `CREATE TABLE token_family_anew (
    id ${int} PRIMARY KEY,
    grant_id ${int} NOT NULL REFERENCES consent_grant (id) ON DELETE CASCADE,
    account_id ${int} NOT NULL,
    client_id ${int} NOT NULL,
    account_generation TEXT NOT NULL,
    client_generation TEXT NOT NULL,
    scopes TEXT NOT NULL,
    sid TEXT NOT NULL,
    auth_time ${int} NOT NULL,
    sequence ${int} NOT NULL,
    leaf_jti TEXT NOT NULL UNIQUE,
    leaf_kid TEXT NOT NULL,
    leaf_issued_at ${int} NOT NULL,
    leaf_expires_at ${int} NOT NULL,
    predecessor_jti TEXT,
    rotated_at ${int},
    created_at ${int} NOT NULL,
    ends_at ${int} NOT NULL,
    dead_at ${int},
    dead_reason TEXT,
    claims TEXT,
    resources TEXT
  ) ${options}`,
  `CREATE TABLE authorization_code_anew (
    hash TEXT PRIMARY KEY,
    grant_id ${int} NOT NULL REFERENCES consent_grant (id) ON DELETE CASCADE,
    account_id ${int} NOT NULL,
    client_id ${int} NOT NULL,
    account_generation TEXT NOT NULL,
    client_generation TEXT NOT NULL,
    redirect_uri TEXT NOT NULL,
    scopes TEXT NOT NULL,
    narrowed ${int} NOT NULL,
    nonce TEXT,
    code_challenge TEXT,
    sid TEXT NOT NULL,
    auth_time ${int} NOT NULL,
    expires_at ${int} NOT NULL,
    redeemed_at ${int},
    family_id ${int} REFERENCES token_family_anew (id) ON DELETE CASCADE,
    claims TEXT,
    resources TEXT
  ) ${options}`,
  `INSERT INTO token_family_anew (${FAMILY}) SELECT ${FAMILY} FROM token_family ORDER BY id`,
  `INSERT INTO authorization_code_anew (${CODE}) SELECT ${CODE} FROM authorization_code ORDER BY rowid`,
  'DROP TABLE authorization_code',
  'DROP TABLE token_family',
  'ALTER TABLE token_family_anew RENAME TO token_family',
  'ALTER TABLE authorization_code_anew RENAME TO authorization_code',
  'CREATE INDEX token_family_by_grant ON token_family (grant_id)',
  'CREATE INDEX token_family_by_end ON token_family (ends_at)',
  'CREATE INDEX authorization_code_by_grant ON authorization_code (grant_id)',
  'CREATE INDEX authorization_code_by_end ON authorization_code (expires_at) WHERE redeemed_at IS NULL',
];
