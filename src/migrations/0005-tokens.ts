import type { ColumnTypes } from '../platform/database/migrations/kinds.ts';

/**
 * Pending authorization requests, and what is issued for them: consent, codes, token families, and notices of ended sessions.
 *
 * The cost of writing a token is mostly that of the index pages that change. Families and codes belong to a grant, and are deleted with it
 * when its account or client is; so they need no references to these two, nor the indexes for them.
 */
export const tokenTables = ({ int, serial, bytes, options }: ColumnTypes): readonly string[] => [
  // `state` stands beside the request as octets: in its JSON, a character of it may take up to six.
  `CREATE TABLE interaction (
    hash TEXT PRIMARY KEY,
    browser_hash TEXT NOT NULL,
    client_id ${int} NOT NULL REFERENCES client (id) ON DELETE CASCADE,
    request TEXT NOT NULL,
    created_at ${int} NOT NULL,
    expires_at ${int} NOT NULL,
    signed_in_session TEXT,
    outcome TEXT,
    chosen_session TEXT,
    state ${bytes}
  ) ${options}`,
  'CREATE INDEX interaction_by_end ON interaction (expires_at)',
  'CREATE INDEX interaction_by_client ON interaction (client_id)',

  `CREATE TABLE consent_grant (
    id ${int} PRIMARY KEY,
    account_id ${int} NOT NULL REFERENCES account (id) ON DELETE CASCADE,
    client_id ${int} NOT NULL REFERENCES client (id) ON DELETE CASCADE,
    scopes TEXT NOT NULL,
    declined_scopes TEXT NOT NULL,
    consent_epoch TEXT NOT NULL,
    created_at ${int} NOT NULL,
    updated_at ${int} NOT NULL,
    revoked_at ${int},
    resources TEXT,
    face TEXT NOT NULL DEFAULT 'contract',
    ask_again INTEGER NOT NULL DEFAULT 0,
    last_used_at ${int},
    decided_by TEXT NOT NULL DEFAULT 'person'
  ) ${options}`,
  'CREATE INDEX consent_grant_by_account ON consent_grant (account_id)',
  'CREATE INDEX consent_grant_by_client ON consent_grant (client_id)',
  // Whether a grant was revoked is looked up here (see `credentials/standing-store.ts`), so that requests need not read the grant.
  'CREATE INDEX consent_grant_revoked ON consent_grant ((-id), revoked_at) WHERE revoked_at IS NOT NULL',
  // By this, old revoked grants are found to be removed. A verdict has no `> 0` in its condition, so PostgreSQL cannot take this index for it:
  // it would go through all grants that were revoked.
  'CREATE INDEX consent_grant_by_revocation ON consent_grant (revoked_at) WHERE revoked_at > 0',
  // A person has one live grant for an app and set of endpoints at most; revoked ones stay as long as their tokens could live.
  'CREATE UNIQUE INDEX consent_grant_live ON consent_grant (account_id, client_id, face) WHERE revoked_at IS NULL',

  // The last revocation of each app's access by each person, for the consent forms that were shown before it.
  `CREATE TABLE consent_revocation (
    account_id ${int} NOT NULL REFERENCES account (id) ON DELETE CASCADE,
    client_id ${int} NOT NULL REFERENCES client (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    revoked_at ${int} NOT NULL,
    PRIMARY KEY (account_id, client_id)
  ) ${options}`,
  'CREATE INDEX consent_revocation_by_client ON consent_revocation (client_id)',
  'CREATE INDEX consent_revocation_by_time ON consent_revocation (revoked_at)',

  `CREATE TABLE token_family (
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
    resources TEXT,
    withdrawn_scopes TEXT NOT NULL DEFAULT '',
    amr TEXT NOT NULL DEFAULT '["pwd"]',
    acr TEXT DEFAULT 'urn:oasis:names:tc:SAML:2.0:ac:classes:PasswordProtectedTransport',
    face TEXT NOT NULL DEFAULT 'contract',
    ends_with_session INTEGER NOT NULL DEFAULT 0,
    review_at ${int} NOT NULL DEFAULT 0,
    assignment_id ${int},
    member_id ${int}
  ) ${options}`,
  'CREATE INDEX token_family_by_grant ON token_family (grant_id)',
  'CREATE INDEX token_family_by_end ON token_family (ends_at)',
  'CREATE INDEX token_family_by_review ON token_family (review_at)',
  'CREATE INDEX token_family_by_assignment ON token_family (assignment_id, id) WHERE assignment_id IS NOT NULL',

  `CREATE TABLE authorization_code (
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
    family_id ${int} REFERENCES token_family (id) ON DELETE CASCADE,
    claims TEXT,
    resources TEXT,
    withdrawn_scopes TEXT NOT NULL DEFAULT '',
    amr TEXT NOT NULL DEFAULT '["pwd"]',
    acr TEXT DEFAULT 'urn:oasis:names:tc:SAML:2.0:ac:classes:PasswordProtectedTransport',
    face TEXT NOT NULL DEFAULT 'contract',
    ends_with_session INTEGER NOT NULL DEFAULT 0,
    assignment_id ${int},
    member_id ${int}
  ) ${options}`,
  'CREATE INDEX authorization_code_by_grant ON authorization_code (grant_id)',
  'CREATE INDEX authorization_code_by_end ON authorization_code (expires_at) WHERE redeemed_at IS NULL',
  'CREATE INDEX authorization_code_by_family ON authorization_code (family_id) WHERE family_id IS NOT NULL',

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
