import type { ColumnTypes } from '../platform/database/migrations/kinds.ts';

/** Clients: their secrets, origins, pictures and own tokens, and which scopes of APIs they may request. */
export const clientTables = ({ int, bytes, options }: ColumnTypes): readonly string[] => [
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
    owner TEXT,
    status TEXT NOT NULL,
    generation TEXT NOT NULL,
    consent_epoch TEXT NOT NULL,
    created_at ${int} NOT NULL,
    updated_at ${int} NOT NULL,
    token_endpoint_auth_method TEXT,
    jwks TEXT,
    jwks_uri TEXT,
    backchannel_logout_uri TEXT,
    backchannel_logout_session_required ${int},
    userinfo_signed_response_alg TEXT,
    grant_types TEXT,
    default_max_age ${int},
    resource TEXT,
    picture TEXT,
    contacts TEXT,
    faces TEXT,
    id_token_claims TEXT NOT NULL DEFAULT 'requested',
    id_token_signed_response_alg TEXT,
    require_second_factor INTEGER NOT NULL DEFAULT 0,
    access TEXT NOT NULL DEFAULT 'everyone' CHECK (access = 'everyone' OR status <> 'active'),
    roles TEXT,
    groups_claim TEXT NOT NULL DEFAULT 'assigned',
    claim_names TEXT,
    left_out TEXT,
    resource_scopes TEXT,
    consent TEXT NOT NULL DEFAULT 'ask',
    consent_approval TEXT
  ) ${options}`,
  'CREATE UNIQUE INDEX client_by_resource ON client (resource) WHERE resource IS NOT NULL',
  'CREATE INDEX client_by_id_token_alg ON client (id_token_signed_response_alg)',
  'CREATE INDEX client_by_userinfo_alg ON client (userinfo_signed_response_alg)',

  `CREATE TABLE client_secret (
    id ${int} PRIMARY KEY,
    client_id ${int} NOT NULL REFERENCES client (id) ON DELETE CASCADE,
    hash TEXT NOT NULL UNIQUE,
    created_at ${int} NOT NULL,
    last_used_at ${int},
    expires_at ${int}
  ) ${options}`,
  'CREATE INDEX client_secret_by_client ON client_secret (client_id)',

  // Where public clients run in a browser.
  `CREATE TABLE client_origin (
    origin TEXT NOT NULL,
    client_id ${int} NOT NULL REFERENCES client (id) ON DELETE CASCADE,
    PRIMARY KEY (origin, client_id)
  ) ${options}`,
  'CREATE INDEX client_origin_by_client ON client_origin (client_id)',

  // An id is never used again: grants, codes and token families name it, so nothing of what it allowed is left once its row is deleted.
  `CREATE TABLE client_api_scope (
    id ${int} PRIMARY KEY,
    client_id ${int} NOT NULL REFERENCES client (id) ON DELETE CASCADE,
    api_id ${int} NOT NULL REFERENCES client (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    created_at ${int} NOT NULL,
    UNIQUE (client_id, api_id, name)
  ) ${options}`,
  'CREATE INDEX client_api_scope_by_api ON client_api_scope (api_id, client_id)',

  // Which assertions clients have used to authenticate.
  `CREATE TABLE client_assertion (
    hash TEXT PRIMARY KEY,
    expires_at ${int} NOT NULL
  ) ${options}`,
  'CREATE INDEX client_assertion_end ON client_assertion (expires_at)',

  // Access tokens that clients get for themselves (RFC 6749 §4.4): no person, no grant and no family stands behind them.
  `CREATE TABLE client_token (
    jti TEXT PRIMARY KEY,
    client_id ${int} NOT NULL REFERENCES client (id) ON DELETE CASCADE,
    client_generation TEXT NOT NULL,
    created_at ${int} NOT NULL,
    ends_at ${int} NOT NULL,
    dead_at ${int},
    scopes TEXT
  ) ${options}`,
  'CREATE INDEX client_token_by_client ON client_token (client_id)',
  'CREATE INDEX client_token_by_end ON client_token (ends_at)',

  // Visits to the playground, each with a client for it alone.
  `CREATE TABLE playground_visit (
    browser_hash TEXT PRIMARY KEY,
    client_id ${int} NOT NULL UNIQUE REFERENCES client (id) ON DELETE CASCADE,
    turn ${int} NOT NULL,
    sealed TEXT NOT NULL,
    expires_at ${int} NOT NULL
  ) ${options}`,
  'CREATE INDEX playground_visit_by_end ON playground_visit (expires_at)',

  // The name of a picture stands with its owner, so that nobody reads bytes to give its address.
  `CREATE TABLE picture (
    name TEXT NOT NULL PRIMARY KEY,
    account_id ${int} UNIQUE REFERENCES account (id) ON DELETE CASCADE,
    client_id ${int} UNIQUE REFERENCES client (id) ON DELETE CASCADE,
    bytes ${bytes} NOT NULL
  ) ${options}`,
];
