import type { ColumnTypes } from './timeline.ts';

/** Everything the contract needs: accounts, clients, consent, codes, token families, keys, limits and the audit trail. */
export const contract = ({ int, serial, options }: ColumnTypes): readonly string[] => [
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
    updated_at ${int} NOT NULL
  ) ${options}`,

  `CREATE TABLE organization (
    id ${int} PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    domain TEXT NOT NULL,
    created_at ${int} NOT NULL
  ) ${options}`,

  `CREATE TABLE membership (
    account_id ${int} PRIMARY KEY REFERENCES account (id) ON DELETE CASCADE,
    organization_id ${int} NOT NULL REFERENCES organization (id) ON DELETE CASCADE,
    role TEXT
  ) ${options}`,
  'CREATE INDEX membership_by_organization ON membership (organization_id)',

  `CREATE TABLE client (
    id ${int} PRIMARY KEY,
    name TEXT NOT NULL,
    description TEXT,
    logo_url TEXT,
    homepage_url TEXT,
    policy_url TEXT,
    terms_url TEXT,
    redirect_uris TEXT NOT NULL,
    post_logout_redirect_uris TEXT NOT NULL,
    scopes TEXT,
    type TEXT NOT NULL,
    require_pkce ${int} NOT NULL,
    id_token_signed_response_alg TEXT NOT NULL,
    owner TEXT,
    status TEXT NOT NULL,
    generation TEXT NOT NULL,
    consent_epoch TEXT NOT NULL,
    created_at ${int} NOT NULL,
    updated_at ${int} NOT NULL
  ) ${options}`,

  `CREATE TABLE client_secret (
    id ${int} PRIMARY KEY,
    client_id ${int} NOT NULL REFERENCES client (id) ON DELETE CASCADE,
    hash TEXT NOT NULL UNIQUE,
    created_at ${int} NOT NULL,
    last_used_at ${int},
    expires_at ${int}
  ) ${options}`,
  'CREATE INDEX client_secret_by_client ON client_secret (client_id)',

  `CREATE TABLE browser_session (
    hash TEXT PRIMARY KEY,
    sid TEXT NOT NULL UNIQUE,
    account_id ${int} NOT NULL REFERENCES account (id) ON DELETE CASCADE,
    generation TEXT NOT NULL,
    auth_time ${int} NOT NULL,
    last_seen_at ${int} NOT NULL,
    expires_at ${int} NOT NULL
  ) ${options}`,
  'CREATE INDEX browser_session_by_account ON browser_session (account_id)',
  'CREATE INDEX browser_session_by_end ON browser_session (expires_at)',

  `CREATE TABLE known_browser (
    account_id ${int} NOT NULL REFERENCES account (id) ON DELETE CASCADE,
    browser_hash TEXT NOT NULL,
    last_seen_at ${int} NOT NULL,
    PRIMARY KEY (account_id, browser_hash)
  ) ${options}`,
  'CREATE INDEX known_browser_by_last_seen ON known_browser (last_seen_at)',

  `CREATE TABLE interaction (
    hash TEXT PRIMARY KEY,
    browser_hash TEXT NOT NULL,
    client_id ${int} NOT NULL REFERENCES client (id) ON DELETE CASCADE,
    request TEXT NOT NULL,
    created_at ${int} NOT NULL,
    expires_at ${int} NOT NULL,
    signed_in_session TEXT,
    outcome TEXT
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
    revoked_at ${int}
  ) ${options}`,
  // A person has one live grant for an app at most; revoked ones stay on record as long as their tokens could live.
  'CREATE UNIQUE INDEX consent_grant_live ON consent_grant (account_id, client_id) WHERE revoked_at IS NULL',
  'CREATE INDEX consent_grant_by_account ON consent_grant (account_id)',
  'CREATE INDEX consent_grant_by_client ON consent_grant (client_id)',
  'CREATE INDEX consent_grant_by_revocation ON consent_grant (revoked_at) WHERE revoked_at IS NOT NULL',

  `CREATE TABLE token_family (
    id ${int} PRIMARY KEY,
    grant_id ${int} NOT NULL REFERENCES consent_grant (id) ON DELETE CASCADE,
    account_id ${int} NOT NULL REFERENCES account (id) ON DELETE CASCADE,
    client_id ${int} NOT NULL REFERENCES client (id) ON DELETE CASCADE,
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
    dead_reason TEXT
  ) ${options}`,
  'CREATE INDEX token_family_by_grant ON token_family (grant_id)',
  'CREATE INDEX token_family_by_account ON token_family (account_id)',
  'CREATE INDEX token_family_by_client ON token_family (client_id)',
  'CREATE INDEX token_family_by_end ON token_family (ends_at)',

  `CREATE TABLE authorization_code (
    hash TEXT PRIMARY KEY,
    grant_id ${int} NOT NULL REFERENCES consent_grant (id) ON DELETE CASCADE,
    account_id ${int} NOT NULL REFERENCES account (id) ON DELETE CASCADE,
    client_id ${int} NOT NULL REFERENCES client (id) ON DELETE CASCADE,
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
    family_id ${int} REFERENCES token_family (id) ON DELETE CASCADE
  ) ${options}`,
  'CREATE INDEX authorization_code_by_grant ON authorization_code (grant_id)',
  'CREATE INDEX authorization_code_by_account ON authorization_code (account_id)',
  'CREATE INDEX authorization_code_by_client ON authorization_code (client_id)',
  'CREATE INDEX authorization_code_by_family ON authorization_code (family_id)',
  'CREATE INDEX authorization_code_by_end ON authorization_code (expires_at) WHERE redeemed_at IS NULL',

  `CREATE TABLE signing_key (
    kid TEXT PRIMARY KEY,
    sealed TEXT NOT NULL,
    created_at ${int} NOT NULL,
    retired_at ${int}
  ) ${options}`,

  `CREATE TABLE key_set (
    id ${int} PRIMARY KEY CHECK (id = 1),
    version TEXT NOT NULL
  ) ${options}`,

  `CREATE TABLE node_lease (
    node ${int} PRIMARY KEY,
    holder TEXT NOT NULL,
    expires_at ${int} NOT NULL
  ) ${options}`,

  `CREATE TABLE rate_count (
    bucket TEXT PRIMARY KEY,
    count ${int} NOT NULL,
    window_ends_at ${int} NOT NULL
  ) ${options}`,
  'CREATE INDEX rate_count_by_end ON rate_count (window_ends_at)',

  `CREATE TABLE admin_key (
    id ${int} PRIMARY KEY,
    name TEXT NOT NULL,
    hash TEXT NOT NULL UNIQUE,
    created_at ${int} NOT NULL,
    revoked_at ${int}
  ) ${options}`,

  // No foreign keys: the record of what happened outlives whom it happened to.
  `CREATE TABLE audit_event (
    id ${serial},
    at ${int} NOT NULL,
    type TEXT NOT NULL,
    outcome TEXT NOT NULL,
    actor_type TEXT NOT NULL,
    actor_id ${int},
    account_id ${int},
    client_id ${int},
    address TEXT,
    request_id TEXT,
    details TEXT NOT NULL
  ) ${options}`,
  'CREATE INDEX audit_event_by_account ON audit_event (account_id, id)',
  'CREATE INDEX audit_event_by_client ON audit_event (client_id, id)',
];
