CREATE TABLE kysely_migration (name VARCHAR(255) PRIMARY KEY, timestamp VARCHAR(255) NOT NULL);
CREATE TABLE account (
    id INTEGER PRIMARY KEY,
    username TEXT NOT NULL UNIQUE,
    email TEXT NOT NULL,
    email_key TEXT NOT NULL UNIQUE,
    email_verified INTEGER NOT NULL,
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
    banned_at INTEGER,
    banned_until INTEGER,
    ban_reason TEXT,
    suspended_at INTEGER,
    suspension_reason TEXT,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
  , picture TEXT, deletion_requested_at INTEGER, deletion_due_at INTEGER) STRICT;
CREATE TABLE organization (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    domain TEXT NOT NULL,
    created_at INTEGER NOT NULL
  , require_second_factor INTEGER NOT NULL DEFAULT 0) STRICT;
CREATE TABLE membership (
    account_id INTEGER PRIMARY KEY REFERENCES account (id) ON DELETE CASCADE,
    organization_id INTEGER NOT NULL REFERENCES organization (id) ON DELETE CASCADE,
    role TEXT
  ) STRICT;
CREATE TABLE client (
    id INTEGER PRIMARY KEY,
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
    require_pkce INTEGER NOT NULL,
    owner TEXT,
    status TEXT NOT NULL,
    generation TEXT NOT NULL,
    consent_epoch TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
  , token_endpoint_auth_method TEXT, jwks TEXT, jwks_uri TEXT, backchannel_logout_uri TEXT, backchannel_logout_session_required INTEGER, userinfo_signed_response_alg TEXT, grant_types TEXT, default_max_age INTEGER, resource TEXT, picture TEXT, contacts TEXT, faces TEXT, id_token_claims TEXT NOT NULL DEFAULT 'requested', id_token_signed_response_alg TEXT, require_second_factor INTEGER NOT NULL DEFAULT 0) STRICT;
CREATE TABLE client_secret (
    id INTEGER PRIMARY KEY,
    client_id INTEGER NOT NULL REFERENCES client (id) ON DELETE CASCADE,
    hash TEXT NOT NULL UNIQUE,
    created_at INTEGER NOT NULL,
    last_used_at INTEGER,
    expires_at INTEGER
  ) STRICT;
CREATE TABLE browser_session (
    hash TEXT PRIMARY KEY,
    sid TEXT NOT NULL UNIQUE,
    account_id INTEGER NOT NULL REFERENCES account (id) ON DELETE CASCADE,
    generation TEXT NOT NULL,
    auth_time INTEGER NOT NULL,
    last_seen_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
  , browser TEXT, system TEXT, network TEXT, amr TEXT NOT NULL DEFAULT '["pwd"]', acr TEXT DEFAULT 'urn:oasis:names:tc:SAML:2.0:ac:classes:PasswordProtectedTransport', proved_at INTEGER NOT NULL DEFAULT 0, proved_by TEXT NOT NULL DEFAULT 'password') STRICT;
CREATE TABLE known_browser (
    account_id INTEGER NOT NULL REFERENCES account (id) ON DELETE CASCADE,
    browser_hash TEXT NOT NULL,
    last_seen_at INTEGER NOT NULL,
    PRIMARY KEY (account_id, browser_hash)
  ) STRICT;
CREATE TABLE interaction (
    hash TEXT PRIMARY KEY,
    browser_hash TEXT NOT NULL,
    client_id INTEGER NOT NULL REFERENCES client (id) ON DELETE CASCADE,
    request TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    signed_in_session TEXT,
    outcome TEXT
  , chosen_session TEXT, state BLOB) STRICT;
CREATE TABLE consent_grant (
    id INTEGER PRIMARY KEY,
    account_id INTEGER NOT NULL REFERENCES account (id) ON DELETE CASCADE,
    client_id INTEGER NOT NULL REFERENCES client (id) ON DELETE CASCADE,
    scopes TEXT NOT NULL,
    declined_scopes TEXT NOT NULL,
    consent_epoch TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    revoked_at INTEGER
  , resources TEXT, face TEXT NOT NULL DEFAULT 'contract', ask_again INTEGER NOT NULL DEFAULT 0) STRICT;
CREATE TABLE signing_key (
    kid TEXT PRIMARY KEY,
    sealed TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    retired_at INTEGER
  ) STRICT;
CREATE TABLE key_set (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    version TEXT NOT NULL
  ) STRICT;
CREATE TABLE node_lease (
    node INTEGER PRIMARY KEY,
    holder TEXT NOT NULL,
    expires_at INTEGER NOT NULL
  ) STRICT;
CREATE TABLE rate_count (
    bucket TEXT PRIMARY KEY,
    count INTEGER NOT NULL,
    window_ends_at INTEGER NOT NULL
  ) STRICT;
CREATE TABLE admin_key (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    hash TEXT NOT NULL UNIQUE,
    created_at INTEGER NOT NULL,
    revoked_at INTEGER
  ) STRICT;
CREATE TABLE audit_event (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    at INTEGER NOT NULL,
    type TEXT NOT NULL,
    outcome TEXT NOT NULL,
    actor_type TEXT NOT NULL,
    actor_id INTEGER,
    account_id INTEGER,
    client_id INTEGER,
    address TEXT,
    request_id TEXT,
    details TEXT NOT NULL
  ) STRICT;
CREATE TABLE id_token_key (
    kid TEXT PRIMARY KEY,
    alg TEXT NOT NULL,
    sealed TEXT NOT NULL,
    public_jwk TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    signs_from INTEGER NOT NULL
  , given_up_at INTEGER) STRICT;
CREATE TABLE client_token (
    jti TEXT PRIMARY KEY,
    client_id INTEGER NOT NULL REFERENCES client (id) ON DELETE CASCADE,
    client_generation TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    ends_at INTEGER NOT NULL,
    dead_at INTEGER
  ) STRICT;
CREATE TABLE client_assertion (
    hash TEXT PRIMARY KEY,
    expires_at INTEGER NOT NULL
  ) STRICT;
CREATE TABLE logout_notice (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    client_id INTEGER NOT NULL REFERENCES client (id) ON DELETE CASCADE,
    account_id INTEGER NOT NULL,
    sid TEXT,
    created_at INTEGER NOT NULL,
    attempts INTEGER NOT NULL,
    due_at INTEGER NOT NULL
  ) STRICT;
CREATE TABLE client_origin (
    origin TEXT NOT NULL,
    client_id INTEGER NOT NULL REFERENCES client (id) ON DELETE CASCADE,
    PRIMARY KEY (origin, client_id)
  ) STRICT;
CREATE TABLE picture (
    name TEXT NOT NULL PRIMARY KEY,
    account_id INTEGER UNIQUE REFERENCES account (id) ON DELETE CASCADE,
    client_id INTEGER UNIQUE REFERENCES client (id) ON DELETE CASCADE,
    bytes BLOB NOT NULL
  ) STRICT;
CREATE TABLE playground_visit (
    browser_hash TEXT PRIMARY KEY,
    client_id INTEGER NOT NULL UNIQUE REFERENCES client (id) ON DELETE CASCADE,
    turn INTEGER NOT NULL,
    sealed TEXT NOT NULL,
    expires_at INTEGER NOT NULL
  ) STRICT;
CREATE TABLE "token_family" (
    id INTEGER PRIMARY KEY,
    grant_id INTEGER NOT NULL REFERENCES consent_grant (id) ON DELETE CASCADE,
    account_id INTEGER NOT NULL,
    client_id INTEGER NOT NULL,
    account_generation TEXT NOT NULL,
    client_generation TEXT NOT NULL,
    scopes TEXT NOT NULL,
    sid TEXT NOT NULL,
    auth_time INTEGER NOT NULL,
    sequence INTEGER NOT NULL,
    leaf_jti TEXT NOT NULL UNIQUE,
    leaf_kid TEXT NOT NULL,
    leaf_issued_at INTEGER NOT NULL,
    leaf_expires_at INTEGER NOT NULL,
    predecessor_jti TEXT,
    rotated_at INTEGER,
    created_at INTEGER NOT NULL,
    ends_at INTEGER NOT NULL,
    dead_at INTEGER,
    dead_reason TEXT,
    claims TEXT,
    resources TEXT
  , withdrawn_scopes TEXT NOT NULL DEFAULT '', amr TEXT NOT NULL DEFAULT '["pwd"]', acr TEXT DEFAULT 'urn:oasis:names:tc:SAML:2.0:ac:classes:PasswordProtectedTransport', face TEXT NOT NULL DEFAULT 'contract', ends_with_session INTEGER NOT NULL DEFAULT 0) STRICT;
CREATE TABLE "authorization_code" (
    hash TEXT PRIMARY KEY,
    grant_id INTEGER NOT NULL REFERENCES consent_grant (id) ON DELETE CASCADE,
    account_id INTEGER NOT NULL,
    client_id INTEGER NOT NULL,
    account_generation TEXT NOT NULL,
    client_generation TEXT NOT NULL,
    redirect_uri TEXT NOT NULL,
    scopes TEXT NOT NULL,
    narrowed INTEGER NOT NULL,
    nonce TEXT,
    code_challenge TEXT,
    sid TEXT NOT NULL,
    auth_time INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    redeemed_at INTEGER,
    family_id INTEGER REFERENCES "token_family" (id) ON DELETE CASCADE,
    claims TEXT,
    resources TEXT
  , withdrawn_scopes TEXT NOT NULL DEFAULT '', amr TEXT NOT NULL DEFAULT '["pwd"]', acr TEXT DEFAULT 'urn:oasis:names:tc:SAML:2.0:ac:classes:PasswordProtectedTransport', face TEXT NOT NULL DEFAULT 'contract', ends_with_session INTEGER NOT NULL DEFAULT 0) STRICT;
CREATE TABLE consent_revocation (
    account_id INTEGER NOT NULL REFERENCES account (id) ON DELETE CASCADE,
    client_id INTEGER NOT NULL REFERENCES client (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    revoked_at INTEGER NOT NULL,
    PRIMARY KEY (account_id, client_id)
  ) STRICT;
CREATE TABLE trace_step (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    at INTEGER NOT NULL,
    ring TEXT NOT NULL,
    request_id TEXT NOT NULL,
    client_id INTEGER REFERENCES client (id) ON DELETE CASCADE,
    account_id INTEGER REFERENCES account (id) ON DELETE CASCADE,
    step TEXT NOT NULL,
    outcome TEXT NOT NULL,
    flow TEXT,
    leads_to TEXT,
    facts TEXT NOT NULL
  ) STRICT;
CREATE TABLE data_key (
    id INTEGER PRIMARY KEY,
    sealed TEXT NOT NULL,
    created_at INTEGER NOT NULL
  ) STRICT;
CREATE TABLE pending_sign_in (
    hash TEXT PRIMARY KEY,
    account_id INTEGER NOT NULL REFERENCES account (id) ON DELETE CASCADE,
    generation TEXT NOT NULL,
    browser_hash TEXT NOT NULL,
    methods TEXT NOT NULL,
    interaction_hash TEXT,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
  ) STRICT;
CREATE TABLE challenge (
    hash TEXT PRIMARY KEY,
    purpose TEXT NOT NULL,
    account_id INTEGER REFERENCES account (id) ON DELETE CASCADE,
    generation TEXT,
    address TEXT NOT NULL,
    browser_hash TEXT,
    code_hash TEXT,
    sealed TEXT,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    used_at INTEGER
  ) STRICT;
CREATE TABLE totp_secret (
    account_id INTEGER PRIMARY KEY REFERENCES account (id) ON DELETE CASCADE,
    sealed TEXT NOT NULL,
    generation TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    confirmed_at INTEGER,
    last_step INTEGER NOT NULL
  ) STRICT;
CREATE TABLE recovery_code (
    account_id INTEGER NOT NULL REFERENCES account (id) ON DELETE CASCADE,
    hash TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    used_at INTEGER,
    PRIMARY KEY (account_id, hash)
  ) STRICT;
CREATE TABLE passkey (
    id TEXT PRIMARY KEY,
    account_id INTEGER NOT NULL REFERENCES account (id) ON DELETE CASCADE,
    public_key BLOB NOT NULL,
    counter INTEGER NOT NULL,
    transports TEXT NOT NULL,
    name TEXT NOT NULL,
    aaguid TEXT NOT NULL,
    backup_eligible INTEGER NOT NULL,
    backed_up INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    last_used_at INTEGER
  ) STRICT;
CREATE TABLE trusted_browser (
    hash TEXT PRIMARY KEY,
    account_id INTEGER NOT NULL REFERENCES account (id) ON DELETE CASCADE,
    generation TEXT NOT NULL,
    browser TEXT,
    system TEXT,
    network TEXT,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
  ) STRICT;
CREATE TABLE mail (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    message_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    account_id INTEGER,
    recipient TEXT NOT NULL,
    challenge_hash TEXT,
    sealed TEXT,
    status TEXT NOT NULL,
    attempts INTEGER NOT NULL,
    unconfirmed INTEGER NOT NULL,
    due_at INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    settled_at INTEGER,
    problem TEXT
  ) STRICT;
CREATE TABLE username_reservation (
    username TEXT PRIMARY KEY,
    account_id INTEGER REFERENCES account (id) ON DELETE SET NULL,
    held_until INTEGER NOT NULL
  ) STRICT;
CREATE TABLE invitation (
    id INTEGER PRIMARY KEY,
    hash TEXT NOT NULL UNIQUE,
    email TEXT,
    mailed INTEGER NOT NULL,
    organization_id INTEGER REFERENCES organization (id) ON DELETE CASCADE,
    role TEXT,
    inviter_id INTEGER REFERENCES account (id) ON DELETE CASCADE,
    admin_key_id INTEGER,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    used_at INTEGER,
    used_by INTEGER REFERENCES account (id) ON DELETE SET NULL
  ) STRICT;
CREATE TABLE address_change (
    hash TEXT PRIMARY KEY,
    account_id INTEGER NOT NULL REFERENCES account (id) ON DELETE CASCADE,
    email TEXT NOT NULL,
    email_key TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    factors_since INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
  ) STRICT;
CREATE TABLE mail_request (
    id TEXT PRIMARY KEY,
    purpose TEXT NOT NULL,
    sealed TEXT NOT NULL,
    created_at INTEGER NOT NULL
  , attempts INTEGER NOT NULL DEFAULT 0, due_at INTEGER NOT NULL DEFAULT 0) STRICT;
CREATE TABLE recovery_setting (
    account_id INTEGER PRIMARY KEY REFERENCES account (id) ON DELETE CASCADE,
    code_required_at INTEGER NOT NULL
  ) STRICT;
CREATE TABLE data_export (
    account_id INTEGER PRIMARY KEY REFERENCES account (id) ON DELETE CASCADE,
    id TEXT NOT NULL,
    generation TEXT NOT NULL,
    state TEXT NOT NULL,
    pieces INTEGER NOT NULL,
    events INTEGER NOT NULL,
    last_event INTEGER,
    bytes INTEGER NOT NULL,
    attempts INTEGER NOT NULL,
    due_at INTEGER NOT NULL,
    created_at INTEGER NOT NULL
  ) STRICT;
CREATE TABLE data_export_piece (
    account_id INTEGER NOT NULL REFERENCES data_export (account_id) ON DELETE CASCADE,
    number INTEGER NOT NULL,
    sealed TEXT NOT NULL,
    PRIMARY KEY (account_id, number)
  ) STRICT;
CREATE INDEX membership_by_organization ON membership (organization_id);
CREATE INDEX client_secret_by_client ON client_secret (client_id);
CREATE INDEX browser_session_by_account ON browser_session (account_id);
CREATE INDEX browser_session_by_end ON browser_session (expires_at);
CREATE INDEX known_browser_by_last_seen ON known_browser (last_seen_at);
CREATE INDEX interaction_by_end ON interaction (expires_at);
CREATE INDEX interaction_by_client ON interaction (client_id);
CREATE INDEX consent_grant_by_account ON consent_grant (account_id);
CREATE INDEX consent_grant_by_client ON consent_grant (client_id);
CREATE INDEX rate_count_by_end ON rate_count (window_ends_at);
CREATE INDEX client_token_by_client ON client_token (client_id);
CREATE INDEX client_token_by_end ON client_token (ends_at);
CREATE INDEX client_assertion_end ON client_assertion (expires_at);
CREATE INDEX logout_notice_by_due ON logout_notice (due_at);
CREATE INDEX logout_notice_by_client ON logout_notice (client_id, due_at);
CREATE INDEX client_origin_by_client ON client_origin (client_id);
CREATE UNIQUE INDEX client_by_resource ON client (resource) WHERE resource IS NOT NULL;
CREATE INDEX playground_visit_by_end ON playground_visit (expires_at);
CREATE INDEX token_family_by_grant ON token_family (grant_id);
CREATE INDEX token_family_by_end ON token_family (ends_at);
CREATE INDEX authorization_code_by_grant ON authorization_code (grant_id);
CREATE INDEX authorization_code_by_end ON authorization_code (expires_at) WHERE redeemed_at IS NULL;
CREATE INDEX authorization_code_by_family ON authorization_code (family_id) WHERE family_id IS NOT NULL;
CREATE INDEX audit_event_by_account ON audit_event ((id / 1024), account_id);
CREATE INDEX audit_event_by_client ON audit_event ((id / 1024), client_id);
CREATE INDEX consent_grant_revoked ON consent_grant ((-id), revoked_at) WHERE revoked_at IS NOT NULL;
CREATE INDEX consent_grant_by_revocation ON consent_grant (revoked_at) WHERE revoked_at > 0;
CREATE INDEX audit_event_with_reason ON audit_event (account_id) WHERE type IN ('account.banned', 'account.suspended');
CREATE INDEX consent_revocation_by_client ON consent_revocation (client_id);
CREATE INDEX consent_revocation_by_time ON consent_revocation (revoked_at);
CREATE UNIQUE INDEX consent_grant_live ON consent_grant (account_id, client_id, face) WHERE revoked_at IS NULL;
CREATE INDEX trace_step_by_request ON trace_step (request_id);
CREATE INDEX trace_step_by_ring ON trace_step (ring, id);
CREATE INDEX trace_step_by_flow ON trace_step (flow) WHERE flow IS NOT NULL;
CREATE INDEX trace_step_by_next_flow ON trace_step (leads_to) WHERE leads_to IS NOT NULL;
CREATE INDEX trace_step_by_client ON trace_step (client_id) WHERE client_id IS NOT NULL;
CREATE INDEX trace_step_by_account ON trace_step (account_id) WHERE account_id IS NOT NULL;
CREATE INDEX client_by_id_token_alg ON client (id_token_signed_response_alg);
CREATE INDEX client_by_userinfo_alg ON client (userinfo_signed_response_alg);
CREATE INDEX pending_sign_in_by_account ON pending_sign_in (account_id);
CREATE INDEX pending_sign_in_by_end ON pending_sign_in (expires_at);
CREATE INDEX challenge_by_account ON challenge (account_id, purpose) WHERE account_id IS NOT NULL;
CREATE INDEX challenge_by_browser ON challenge (browser_hash, purpose) WHERE browser_hash IS NOT NULL;
CREATE INDEX challenge_by_address ON challenge (address);
CREATE INDEX challenge_by_end ON challenge (expires_at);
CREATE INDEX passkey_by_account ON passkey (account_id);
CREATE INDEX trusted_browser_by_account ON trusted_browser (account_id);
CREATE INDEX trusted_browser_by_end ON trusted_browser (expires_at);
CREATE INDEX mail_by_due ON mail (status, due_at);
CREATE INDEX mail_by_status ON mail (status, id);
CREATE INDEX account_by_deletion ON account (deletion_due_at) WHERE deletion_due_at IS NOT NULL;
CREATE INDEX username_reservation_by_account ON username_reservation (account_id) WHERE account_id IS NOT NULL;
CREATE INDEX username_reservation_by_end ON username_reservation (held_until);
CREATE INDEX invitation_by_organization ON invitation (organization_id);
CREATE INDEX invitation_by_inviter ON invitation (inviter_id);
CREATE INDEX invitation_by_user ON invitation (used_by);
CREATE INDEX invitation_by_end ON invitation (expires_at);
CREATE INDEX address_change_by_account ON address_change (account_id);
CREATE INDEX address_change_by_address ON address_change (email_key);
CREATE INDEX address_change_by_end ON address_change (expires_at);
CREATE INDEX mail_request_by_time ON mail_request (created_at);
CREATE INDEX audit_event_of_account ON audit_event (account_id, (-id))
   WHERE account_id IS NOT NULL
   AND type NOT IN ('authorization.issued', 'token.issued', 'token.refreshed', 'token.repeated', 'token.refused', 'token.revoked');
CREATE INDEX data_export_due ON data_export (due_at) WHERE state = 'waiting';
CREATE INDEX data_export_by_time ON data_export (created_at);
CREATE INDEX mail_request_by_turn ON mail_request (due_at);
INSERT INTO kysely_migration (name, timestamp) VALUES ('0001-contract', '2026-11-23 09:08:02');
INSERT INTO kysely_migration (name, timestamp) VALUES ('0002-standard-clients', '2026-11-23 09:08:02');
INSERT INTO kysely_migration (name, timestamp) VALUES ('0003-client-tokens', '2026-11-23 09:08:02');
INSERT INTO kysely_migration (name, timestamp) VALUES ('0004-client-assertions', '2026-11-23 09:08:02');
INSERT INTO kysely_migration (name, timestamp) VALUES ('0005-requested-claims', '2026-11-23 09:08:02');
INSERT INTO kysely_migration (name, timestamp) VALUES ('0006-logout', '2026-11-23 09:08:02');
INSERT INTO kysely_migration (name, timestamp) VALUES ('0007-client-origins', '2026-11-23 09:08:02');
INSERT INTO kysely_migration (name, timestamp) VALUES ('0008-resources', '2026-11-23 09:08:02');
INSERT INTO kysely_migration (name, timestamp) VALUES ('0009-pictures', '2026-11-23 09:08:02');
INSERT INTO kysely_migration (name, timestamp) VALUES ('0010-session-devices', '2026-11-23 09:08:02');
INSERT INTO kysely_migration (name, timestamp) VALUES ('0011-playground', '2026-11-23 09:08:02');
INSERT INTO kysely_migration (name, timestamp) VALUES ('0012-fewer-indexes', '2026-11-23 09:08:02');
INSERT INTO kysely_migration (name, timestamp) VALUES ('0013-revoked-by-grant', '2026-11-23 09:08:02');
INSERT INTO kysely_migration (name, timestamp) VALUES ('0014-pending-state', '2026-11-23 09:08:02');
INSERT INTO kysely_migration (name, timestamp) VALUES ('0015-withdrawn-scopes', '2026-11-23 09:08:02');
INSERT INTO kysely_migration (name, timestamp) VALUES ('0016-personal-details', '2026-11-23 09:08:02');
INSERT INTO kysely_migration (name, timestamp) VALUES ('0017-consent-revocations', '2026-11-23 09:08:02');
INSERT INTO kysely_migration (name, timestamp) VALUES ('0018-session-authenticat' || 'ion', '2026-11-23 09:08:02');
INSERT INTO kysely_migration (name, timestamp) VALUES ('0019-client-contacts', '2026-11-23 09:08:02');
INSERT INTO kysely_migration (name, timestamp) VALUES ('0020-faces', '2026-11-23 09:08:02');
INSERT INTO kysely_migration (name, timestamp) VALUES ('0021-traces', '2026-11-23 09:08:02');
INSERT INTO kysely_migration (name, timestamp) VALUES ('0022-default-algorithm', '2026-11-23 09:08:02');
INSERT INTO kysely_migration (name, timestamp) VALUES ('0023-used-algorithms', '2026-11-23 09:08:02');
INSERT INTO kysely_migration (name, timestamp) VALUES ('0024-codes-of-sessions', '2026-11-23 09:08:02');
INSERT INTO kysely_migration (name, timestamp) VALUES ('0025-people', '2026-11-23 09:08:02');
INSERT INTO kysely_migration (name, timestamp) VALUES ('0026-mail', '2026-11-23 09:08:02');
INSERT INTO kysely_migration (name, timestamp) VALUES ('0027-personal-data', '2026-11-23 09:08:02');
INSERT INTO kysely_migration (name, timestamp) VALUES ('0028-invitations', '2026-11-23 09:08:02');
INSERT INTO kysely_migration (name, timestamp) VALUES ('0031-policies', '2026-11-23 09:08:02');
INSERT INTO kysely_migration (name, timestamp) VALUES ('0032-previous-addresses', '2026-11-23 09:08:02');
INSERT INTO kysely_migration (name, timestamp) VALUES ('0033-recovery', '2026-11-23 09:08:02');
INSERT INTO kysely_migration (name, timestamp) VALUES ('0034-own-data', '2026-11-23 09:08:02');
INSERT INTO kysely_migration (name, timestamp) VALUES ('0035-organization-polici' || 'es', '2026-11-23 09:08:02');
INSERT INTO kysely_migration (name, timestamp) VALUES ('0037-request-retries', '2026-11-23 09:08:02');
INSERT INTO account (id, username, email, email_key, email_verified, password_hash, generation, display_name, about, language, theme, website, location, birth_date, phone, social_links, avatar_color, banned_at, banned_until, ban_reason, suspended_at, suspension_reason, created_at, updated_at, picture, deletion_requested_at, deletion_due_at) VALUES (286467608805376001, 'user1', 'user1@example.com', 'user1@example.com', 0, '$argon2id$v=19$m=64,t=1,' || 'p=1$VTH0JPHR1BfL0n4XYm3i' || 'xg$V5zcqeGIwGO+NITNwWokv' || 'MkIcUThV9b5JsJARWvz/Bc', 'd2srhHVZ7XzVvXB__2lruA', 'User 1', '', 'en', NULL, NULL, NULL, NULL, NULL, '[]', '#7a1f5c', NULL, NULL, NULL, NULL, NULL, 1772366400250, 1772366400250, '5Fp36v62LQXzxWtk_YZ9Bw.j' || 'pg', NULL, NULL);
INSERT INTO account (id, username, email, email_key, email_verified, password_hash, generation, display_name, about, language, theme, website, location, birth_date, phone, social_links, avatar_color, banned_at, banned_until, ban_reason, suspended_at, suspension_reason, created_at, updated_at, picture, deletion_requested_at, deletion_due_at) VALUES (286467608805376002, 'user2', 'user2@example.com', 'user2@example.com', 0, '$argon2id$v=19$m=64,t=1,' || 'p=1$64FTIIG0ms76mp8o7m71' || 'cw$nYg3CIO+mWUzzms3myMKn' || '03kGhD791WWRjtpoWUKEaw', 'cIuiHR2FLoHaKKtK1tRFgQ', 'User 2', '', 'en', NULL, NULL, NULL, NULL, NULL, '[]', '#8a2f2f', NULL, NULL, NULL, NULL, NULL, 1772366400250, 1772366400250, NULL, NULL, NULL);
INSERT INTO account (id, username, email, email_key, email_verified, password_hash, generation, display_name, about, language, theme, website, location, birth_date, phone, social_links, avatar_color, banned_at, banned_until, ban_reason, suspended_at, suspension_reason, created_at, updated_at, picture, deletion_requested_at, deletion_due_at) VALUES (286467608805376003, 'user3', 'user3@example.com', 'user3@example.com', 0, '$argon2id$v=19$m=64,t=1,' || 'p=1$1DCY3FP9k1m/rN2Ozqo4' || 'CQ$oZQUZ/8A1uVj1QjJ2t+qH' || '4OXhbJbQrY7z2THTbt39uE', 'EN5P47RDc9qqUGpumxM4AA', 'User 3', '', 'en', NULL, NULL, NULL, NULL, NULL, '[]', '#6b4a12', NULL, NULL, NULL, NULL, NULL, 1772366400250, 1772366400250, NULL, NULL, NULL);
INSERT INTO account (id, username, email, email_key, email_verified, password_hash, generation, display_name, about, language, theme, website, location, birth_date, phone, social_links, avatar_color, banned_at, banned_until, ban_reason, suspended_at, suspension_reason, created_at, updated_at, picture, deletion_requested_at, deletion_due_at) VALUES (286467608805376004, 'user4', 'user4@example.com', 'user4@example.com', 0, '$argon2id$v=19$m=64,t=1,' || 'p=1$qMd7XNSKCn0oAH3l9hYz' || 'Og$fOzgUUfXnzQZ3ltk+q7tQ' || 'urdwJETIo7qM/hlQe8mMOk', 'yfJxM-B3kUCNqhL-YlWueQ', 'User 4', '', 'en', NULL, NULL, NULL, NULL, NULL, '[]', '#2f5d34', 1772366400250, NULL, 'spam', NULL, NULL, 1772366400250, 1772366400250, NULL, NULL, NULL);
INSERT INTO organization (id, name, domain, created_at, require_second_factor) VALUES (286467608805376000, 'acme', 'acme.example', 1772366400250, 0);
INSERT INTO membership (account_id, organization_id, role) VALUES (286467608805376001, 286467608805376000, 'OWNER');
INSERT INTO client (id, name, description, logo_url, homepage_url, policy_url, terms_url, redirect_uris, post_logout_redirect_uris, scopes, type, require_pkce, owner, status, generation, consent_epoch, created_at, updated_at, token_endpoint_auth_method, jwks, jwks_uri, backchannel_logout_uri, backchannel_logout_session_required, userinfo_signed_response_alg, grant_types, default_max_age, resource, picture, contacts, faces, id_token_claims, id_token_signed_response_alg, require_second_factor) VALUES (286467608805376005, 'App 5', NULL, NULL, NULL, NULL, NULL, '["https://app.example.co' || 'm/callback"]', '[]', '["openid","profile","ema' || 'il","offline_access"]', 'confidential', 0, NULL, 'active', 'yFJbWnweUCf2YSzipj0HEA', '_7gh-pNqOAMa6aGNENMcbQ', 1772366400250, 1772366400250, NULL, NULL, NULL, NULL, 1, NULL, '["authorization_code","r' || 'efresh_token"]', NULL, NULL, NULL, '[]', '["contract","standard"]', 'requested', NULL, 0);
INSERT INTO client (id, name, description, logo_url, homepage_url, policy_url, terms_url, redirect_uris, post_logout_redirect_uris, scopes, type, require_pkce, owner, status, generation, consent_epoch, created_at, updated_at, token_endpoint_auth_method, jwks, jwks_uri, backchannel_logout_uri, backchannel_logout_session_required, userinfo_signed_response_alg, grant_types, default_max_age, resource, picture, contacts, faces, id_token_claims, id_token_signed_response_alg, require_second_factor) VALUES (286467608805376007, 'App 6', NULL, NULL, NULL, NULL, NULL, '["https://app.example.co' || 'm/callback"]', '[]', NULL, 'confidential', 0, NULL, 'active', '2qsQdSIKBx_VCNqRJWbjrw', 'xXAwh5iwM0JjXuQzXxcEnQ', 1772366400250, 1772366400250, NULL, NULL, NULL, NULL, 1, NULL, '["authorization_code","r' || 'efresh_token"]', NULL, NULL, NULL, '[]', '["contract","standard"]', 'requested', NULL, 0);
INSERT INTO client (id, name, description, logo_url, homepage_url, policy_url, terms_url, redirect_uris, post_logout_redirect_uris, scopes, type, require_pkce, owner, status, generation, consent_epoch, created_at, updated_at, token_endpoint_auth_method, jwks, jwks_uri, backchannel_logout_uri, backchannel_logout_session_required, userinfo_signed_response_alg, grant_types, default_max_age, resource, picture, contacts, faces, id_token_claims, id_token_signed_response_alg, require_second_factor) VALUES (286467608805376009, 'App 7', NULL, NULL, NULL, NULL, NULL, '["https://app.example.co' || 'm/callback"]', '[]', NULL, 'confidential', 0, NULL, 'active', 'jlbZQS9FsAQTDX3LI5nHUg', 'miba__GnbZUiadJxqH2D8A', 1772366400250, 1772366400250, NULL, NULL, NULL, NULL, 1, NULL, '["authorization_code","r' || 'efresh_token"]', NULL, 'https://api.example.com', NULL, '[]', '["contract","standard"]', 'requested', NULL, 0);
INSERT INTO client (id, name, description, logo_url, homepage_url, policy_url, terms_url, redirect_uris, post_logout_redirect_uris, scopes, type, require_pkce, owner, status, generation, consent_epoch, created_at, updated_at, token_endpoint_auth_method, jwks, jwks_uri, backchannel_logout_uri, backchannel_logout_session_required, userinfo_signed_response_alg, grant_types, default_max_age, resource, picture, contacts, faces, id_token_claims, id_token_signed_response_alg, require_second_factor) VALUES (286467608805376011, 'App 8', NULL, NULL, NULL, NULL, NULL, '["https://app.example.co' || 'm/callback"]', '[]', NULL, 'confidential', 0, NULL, 'active', 'rW9DiaT4uIYUM50dEsvnWQ', 'gg5SI3TN_y1wZu4R0DYZTQ', 1772366400250, 1772366400250, NULL, NULL, NULL, NULL, 1, NULL, '["client_credentials"]', NULL, NULL, NULL, '[]', '["contract","standard"]', 'requested', NULL, 0);
INSERT INTO client (id, name, description, logo_url, homepage_url, policy_url, terms_url, redirect_uris, post_logout_redirect_uris, scopes, type, require_pkce, owner, status, generation, consent_epoch, created_at, updated_at, token_endpoint_auth_method, jwks, jwks_uri, backchannel_logout_uri, backchannel_logout_session_required, userinfo_signed_response_alg, grant_types, default_max_age, resource, picture, contacts, faces, id_token_claims, id_token_signed_response_alg, require_second_factor) VALUES (286467608805376020, 'Playground app', NULL, NULL, NULL, NULL, NULL, '["http://localhost:4000/' || 'playground/callback"]', '[]', NULL, 'confidential', 0, 'your own playground', 'active', 'OVBl0Fa4iVB0ojSgpHV3OQ', 'QgP8ElcHncnk2flRSW6zeQ', 1772366400250, 1772366400250, NULL, NULL, NULL, NULL, 1, NULL, '["authorization_code","r' || 'efresh_token"]', NULL, NULL, NULL, '[]', '["contract","standard"]', 'requested', NULL, 0);
INSERT INTO client_secret (id, client_id, hash, created_at, last_used_at, expires_at) VALUES (286467608805376006, 286467608805376005, 'dO5K1efM39oTL5OKxlJ4_dM7' || 'mg_6FRLHhgKJUP5MjS8', 1772366400250, 1772366400250, NULL);
INSERT INTO client_secret (id, client_id, hash, created_at, last_used_at, expires_at) VALUES (286467608805376008, 286467608805376007, 'KPd5w54lubjcg-w31J5fnfaK' || 'd60PT4usBMMQaznyJfE', 1772366400250, 1772366400250, NULL);
INSERT INTO client_secret (id, client_id, hash, created_at, last_used_at, expires_at) VALUES (286467608805376010, 286467608805376009, 'rOr-1c2VraLyr_Jf3RQRaBng' || '_ff4vRew5QN9grM9q_8', 1772366400250, NULL, NULL);
INSERT INTO client_secret (id, client_id, hash, created_at, last_used_at, expires_at) VALUES (286467608805376012, 286467608805376011, '7HpSKG8nEkEYOjwMpUQsXWEH' || '3J3p-wbjn53oN0ao5vM', 1772366400250, 1772366400250, NULL);
INSERT INTO client_secret (id, client_id, hash, created_at, last_used_at, expires_at) VALUES (286467608805376021, 286467608805376020, 'zUx6wqNxQQpGyg-sqUzPtXnX' || 'lWIgGeR62XzaKcUIyks', 1772366400250, NULL, NULL);
INSERT INTO browser_session (hash, sid, account_id, generation, auth_time, last_seen_at, expires_at, browser, system, network, amr, acr, proved_at, proved_by) VALUES ('n8qM2ObMrc4FFH0ViXszOTVu' || '0xvc2sbNK3S5ih119ng', 'FtUN7SMEDvPqD9IDJXQMcw', 286467608805376001, 'd2srhHVZ7XzVvXB__2lruA', 1772366400250, 1772366400250, 1774958400250, NULL, NULL, '127.0.0.x', '["pwd"]', 'urn:oasis:names:tc:SAML:' || '2.0:ac:classes:PasswordP' || 'rotectedTransport', 1772366400250, 'password');
INSERT INTO known_browser (account_id, browser_hash, last_seen_at) VALUES (286467608805376001, 'LFSgQlUQtS8Wuv1KhuFXQpm6' || 'I8Cb5Oh9aKSP4ntCFRw', 1772366400250);
INSERT INTO interaction (hash, browser_hash, client_id, request, created_at, expires_at, signed_in_session, outcome, chosen_session, state) VALUES ('yDcGqnTV6LdqMuqPFVoGOXq1' || 'M8xjdUEwyvgKAvxRm7s', 'LFSgQlUQtS8Wuv1KhuFXQpm6' || 'I8Cb5Oh9aKSP4ntCFRw', 286467608805376005, '{"face":"contract","clie' || 'ntId":"28646760880537600' || '5","clientGeneration":"y' || 'FJbWnweUCf2YSzipj0HEA","' || 'redirectUri":"https://ap' || 'p.example.com/callback",' || '"responseMode":"query","' || 'scopes":["openid"],"nonc' || 'e":null,"codeChallenge":' || 'null,"prompt":{"none":fa' || 'lse,"login":false,"conse' || 'nt":false,"select":false' || '},"maxAge":null,"subject' || 's":null,"loginHint":null' || ',"claims":null,"hinted":' || 'null}', 1772366400250, 1772370000250, NULL, 'code', NULL, X'7374347465');
INSERT INTO interaction (hash, browser_hash, client_id, request, created_at, expires_at, signed_in_session, outcome, chosen_session, state) VALUES ('34pLZk-kTmcY5_n_AUj2AO_h' || 'EjkBgjl-p1gm4i4vMbU', 'LFSgQlUQtS8Wuv1KhuFXQpm6' || 'I8Cb5Oh9aKSP4ntCFRw', 286467608805376007, '{"face":"contract","clie' || 'ntId":"28646760880537600' || '7","clientGeneration":"2' || 'qsQdSIKBx_VCNqRJWbjrw","' || 'redirectUri":"https://ap' || 'p.example.com/callback",' || '"responseMode":"query","' || 'scopes":["openid"],"nonc' || 'e":null,"codeChallenge":' || 'null,"prompt":{"none":fa' || 'lse,"login":false,"conse' || 'nt":false,"select":false' || '},"maxAge":null,"subject' || 's":null,"loginHint":null' || ',"claims":null,"hinted":' || 'null}', 1772366400250, 1772370000250, NULL, 'code', NULL, X'7374347465');
INSERT INTO interaction (hash, browser_hash, client_id, request, created_at, expires_at, signed_in_session, outcome, chosen_session, state) VALUES ('eVPauiSxb6ashJewtqL3pgBJ' || 'LhqkZ_LjR3I_c255WsM', 'LFSgQlUQtS8Wuv1KhuFXQpm6' || 'I8Cb5Oh9aKSP4ntCFRw', 286467608805376005, '{"face":"standard","clie' || 'ntId":"28646760880537600' || '5","clientGeneration":"y' || 'FJbWnweUCf2YSzipj0HEA","' || 'redirectUri":"https://ap' || 'p.example.com/callback",' || '"responseMode":"query","' || 'scopes":["openid","profi' || 'le","offline_access"],"n' || 'once":"n","codeChallenge' || '":null,"prompt":{"none":' || 'false,"login":false,"con' || 'sent":false,"select":fal' || 'se},"maxAge":null,"subje' || 'cts":null,"loginHint":nu' || 'll,"claims":null,"hinted' || '":null}', 1772366400250, 1772370000250, NULL, 'code', NULL, X'7374347465');
INSERT INTO interaction (hash, browser_hash, client_id, request, created_at, expires_at, signed_in_session, outcome, chosen_session, state) VALUES ('K8qXngrABaLxr_eZY9VlRuKZ' || 'PAoGPtgV1WoGKmKRakg', 'LFSgQlUQtS8Wuv1KhuFXQpm6' || 'I8Cb5Oh9aKSP4ntCFRw', 286467608805376007, '{"face":"contract","clie' || 'ntId":"28646760880537600' || '7","clientGeneration":"2' || 'qsQdSIKBx_VCNqRJWbjrw","' || 'redirectUri":"https://ap' || 'p.example.com/callback",' || '"responseMode":"query","' || 'scopes":["openid"],"nonc' || 'e":null,"codeChallenge":' || 'null,"prompt":{"none":fa' || 'lse,"login":false,"conse' || 'nt":false,"select":false' || '},"maxAge":null,"subject' || 's":null,"loginHint":null' || ',"claims":null,"hinted":' || 'null}', 1772366400250, 1772370000250, NULL, NULL, NULL, NULL);
INSERT INTO consent_grant (id, account_id, client_id, scopes, declined_scopes, consent_epoch, created_at, updated_at, revoked_at, resources, face, ask_again) VALUES (286467608805376013, 286467608805376001, 286467608805376005, 'openid', '', '_7gh-pNqOAMa6aGNENMcbQ', 1772366400250, 1772366400250, NULL, NULL, 'contract', 0);
INSERT INTO consent_grant (id, account_id, client_id, scopes, declined_scopes, consent_epoch, created_at, updated_at, revoked_at, resources, face, ask_again) VALUES (286467608805376015, 286467608805376001, 286467608805376007, 'openid', '', 'xXAwh5iwM0JjXuQzXxcEnQ', 1772366400250, 1772366400250, 1772366400250, NULL, 'contract', 0);
INSERT INTO consent_grant (id, account_id, client_id, scopes, declined_scopes, consent_epoch, created_at, updated_at, revoked_at, resources, face, ask_again) VALUES (286467608805376017, 286467608805376001, 286467608805376005, 'openid profile offline_a' || 'ccess', '', '_7gh-pNqOAMa6aGNENMcbQ', 1772366400250, 1772366400250, NULL, NULL, 'standard', 0);
INSERT INTO signing_key (kid, sealed, created_at, retired_at) VALUES ('550guHRXqbkIDSlCPncPxg', 'HYOxOkn2n-pfawjcovLAerPl' || '51jJSJZWc--JyfUvLldnaBDW' || 'WD9ufogyAc7uOERl_7ELsLoq' || 'kyZjAODP', 1772366400250, NULL);
INSERT INTO key_set (id, version) VALUES (1, 'HnA94O45qdpteUFiYjt4zQ');
INSERT INTO node_lease (node, holder, expires_at) VALUES (0, 'none', 1772366400251);
INSERT INTO rate_count (bucket, count, window_ends_at) VALUES ('sign-in from 127.0.0.1', 0, 1772366460250);
INSERT INTO rate_count (bucket, count, window_ends_at) VALUES ('sign-in 2864676088053760' || '01', 0, 1772366460250);
INSERT INTO rate_count (bucket, count, window_ends_at) VALUES ('pending 127.0.0.1', 4, 1772366460250);
INSERT INTO rate_count (bucket, count, window_ends_at) VALUES ('pending-bytes 127.0.0.1 ' || '1969296', 2525, 1772370900000);
INSERT INTO rate_count (bucket, count, window_ends_at) VALUES ('authorization 2864676088' || '05376001 286467608805376' || '005', 3, 1772366460250);
INSERT INTO rate_count (bucket, count, window_ends_at) VALUES ('token 286467608805376005', 3, 1772366460250);
INSERT INTO rate_count (bucket, count, window_ends_at) VALUES ('authorization 2864676088' || '05376001 286467608805376' || '007', 1, 1772366460250);
INSERT INTO rate_count (bucket, count, window_ends_at) VALUES ('token 286467608805376007', 1, 1772366460250);
INSERT INTO rate_count (bucket, count, window_ends_at) VALUES ('forms 286467608805376001', 1, 1772366460250);
INSERT INTO rate_count (bucket, count, window_ends_at) VALUES ('token 286467608805376011', 1, 1772366460250);
INSERT INTO rate_count (bucket, count, window_ends_at) VALUES ('picture 2864676088053760' || '01', 1, 1772370000250);
INSERT INTO rate_count (bucket, count, window_ends_at) VALUES ('playground 127.0.0.1', 1, 1772370000250);
INSERT INTO rate_count (bucket, count, window_ends_at) VALUES ('mail from 127.0.0.1', 3, 1772370000250);
INSERT INTO rate_count (bucket, count, window_ends_at) VALUES ('mail to YCXRj-SKvUUWhSjx' || 'ioLiZd2Y1CGnCEqgn2GzQXA5' || 'AaM', 1, 1772370000250);
INSERT INTO rate_count (bucket, count, window_ends_at) VALUES ('mail to KzsrnOhCq4tqbGFM' || 'sflgS7ig1QLRr0nFJrcrEIlO' || 'lbU', 1, 1772370000250);
INSERT INTO rate_count (bucket, count, window_ends_at) VALUES ('mail to WGD68CtrxiIrpayl' || 'I1YPDjZMzYtnvuSG_ov3wB1J' || 'LMs', 1, 1772370000250);
INSERT INTO rate_count (bucket, count, window_ends_at) VALUES ('sign-in 2864676088053760' || '03', 0, 1772366460250);
INSERT INTO admin_key (id, name, hash, created_at, revoked_at) VALUES (1, 'admin_key name', 'admin_key hash', 1, 1);
INSERT INTO audit_event (id, at, type, outcome, actor_type, actor_id, account_id, client_id, address, request_id, details) VALUES (1, 1772366400250, 'keys.created', 'success', 'system', NULL, NULL, NULL, NULL, NULL, '{"kid":"550guHRXqbkIDSlC' || 'PncPxg"}');
INSERT INTO audit_event (id, at, type, outcome, actor_type, actor_id, account_id, client_id, address, request_id, details) VALUES (2, 1772366400250, 'organization.created', 'success', 'admin', NULL, NULL, NULL, '127.0.0.1', '3744058c-4ac2-4eb8-bb65-' || '2df1a977b2ac', '{"organizationId":"28646' || '7608805376000"}');
INSERT INTO audit_event (id, at, type, outcome, actor_type, actor_id, account_id, client_id, address, request_id, details) VALUES (3, 1772366400250, 'account.created', 'success', 'admin', NULL, 286467608805376001, NULL, '127.0.0.1', '2dcb4b26-138d-458f-ba26-' || '24db0d13ee28', '{}');
INSERT INTO audit_event (id, at, type, outcome, actor_type, actor_id, account_id, client_id, address, request_id, details) VALUES (4, 1772366400250, 'organization.member_set', 'success', 'admin', NULL, 286467608805376001, NULL, '127.0.0.1', 'ed34c593-a04d-4e7a-8d30-' || '917811ebf825', '{"organizationId":"28646' || '7608805376000","role":"O' || 'WNER"}');
INSERT INTO audit_event (id, at, type, outcome, actor_type, actor_id, account_id, client_id, address, request_id, details) VALUES (5, 1772366400250, 'account.created', 'success', 'admin', NULL, 286467608805376002, NULL, '127.0.0.1', 'bb41751d-2ab9-43a0-ac40-' || 'ed68c64b67bc', '{}');
INSERT INTO audit_event (id, at, type, outcome, actor_type, actor_id, account_id, client_id, address, request_id, details) VALUES (6, 1772366400250, 'account.created', 'success', 'admin', NULL, 286467608805376003, NULL, '127.0.0.1', 'c95030a6-4a6d-442c-a81e-' || '2513f588edbc', '{}');
INSERT INTO audit_event (id, at, type, outcome, actor_type, actor_id, account_id, client_id, address, request_id, details) VALUES (7, 1772366400250, 'account.created', 'success', 'admin', NULL, 286467608805376004, NULL, '127.0.0.1', '2dc4ce3b-9e91-4187-b9b3-' || '1d3de29bf932', '{}');
INSERT INTO audit_event (id, at, type, outcome, actor_type, actor_id, account_id, client_id, address, request_id, details) VALUES (8, 1772366400250, 'client.created', 'success', 'admin', NULL, NULL, 286467608805376005, '127.0.0.1', '3a5d6b88-f2a0-43f3-bef0-' || '440a5309bc47', '{}');
INSERT INTO audit_event (id, at, type, outcome, actor_type, actor_id, account_id, client_id, address, request_id, details) VALUES (9, 1772366400250, 'client.created', 'success', 'admin', NULL, NULL, 286467608805376007, '127.0.0.1', 'dac01519-1334-400f-a6e4-' || 'ae17519a4cda', '{}');
INSERT INTO audit_event (id, at, type, outcome, actor_type, actor_id, account_id, client_id, address, request_id, details) VALUES (10, 1772366400250, 'client.created', 'success', 'admin', NULL, NULL, 286467608805376009, '127.0.0.1', '83556f16-88d4-4edc-aad8-' || '2106724246fd', '{}');
INSERT INTO audit_event (id, at, type, outcome, actor_type, actor_id, account_id, client_id, address, request_id, details) VALUES (11, 1772366400250, 'client.created', 'success', 'admin', NULL, NULL, 286467608805376011, '127.0.0.1', '66fc18a3-5a8e-408d-a606-' || '3bb9917edbb5', '{}');
INSERT INTO audit_event (id, at, type, outcome, actor_type, actor_id, account_id, client_id, address, request_id, details) VALUES (12, 1772366400250, 'sign_in.succeeded', 'success', 'user', 286467608805376001, 286467608805376001, NULL, '127.0.0.1', '30aee835-b535-46bd-bf24-' || 'e61c44ab6d32', '{"sid":"FtUN7SMEDvPqD9ID' || 'JXQMcw"}');
INSERT INTO audit_event (id, at, type, outcome, actor_type, actor_id, account_id, client_id, address, request_id, details) VALUES (13, 1772366400250, 'consent.granted', 'success', 'user', 286467608805376001, 286467608805376001, 286467608805376005, '127.0.0.1', 'e4826269-8bf5-46f3-80be-' || 'a0db1aba798a', '{"scopes":["openid"],"de' || 'clined":[]}');
INSERT INTO audit_event (id, at, type, outcome, actor_type, actor_id, account_id, client_id, address, request_id, details) VALUES (14, 1772366400250, 'authorization.issued', 'success', 'user', 286467608805376001, 286467608805376001, 286467608805376005, '127.0.0.1', 'e4826269-8bf5-46f3-80be-' || 'a0db1aba798a', '{"scopes":"openid","gran' || 'tId":"286467608805376013' || '"}');
INSERT INTO audit_event (id, at, type, outcome, actor_type, actor_id, account_id, client_id, address, request_id, details) VALUES (15, 1772366400250, 'token.issued', 'success', 'client', 286467608805376005, 286467608805376001, 286467608805376005, '127.0.0.1', 'fb8a30f1-576b-45a1-8172-' || 'dce4438530ca', '{"familyId":"28646760880' || '5376014","scope":"openid' || '"}');
INSERT INTO audit_event (id, at, type, outcome, actor_type, actor_id, account_id, client_id, address, request_id, details) VALUES (16, 1772366400250, 'token.refreshed', 'success', 'client', 286467608805376005, 286467608805376001, 286467608805376005, '127.0.0.1', '6605bbb3-9e65-4512-a103-' || '4be0699348af', '{"familyId":"28646760880' || '5376014"}');
INSERT INTO audit_event (id, at, type, outcome, actor_type, actor_id, account_id, client_id, address, request_id, details) VALUES (17, 1772366400250, 'consent.granted', 'success', 'user', 286467608805376001, 286467608805376001, 286467608805376007, '127.0.0.1', '9a4d97d2-07a7-4abf-a659-' || '56096ffe2b5c', '{"scopes":["openid"],"de' || 'clined":[]}');
INSERT INTO audit_event (id, at, type, outcome, actor_type, actor_id, account_id, client_id, address, request_id, details) VALUES (18, 1772366400250, 'authorization.issued', 'success', 'user', 286467608805376001, 286467608805376001, 286467608805376007, '127.0.0.1', '9a4d97d2-07a7-4abf-a659-' || '56096ffe2b5c', '{"scopes":"openid","gran' || 'tId":"286467608805376015' || '"}');
INSERT INTO audit_event (id, at, type, outcome, actor_type, actor_id, account_id, client_id, address, request_id, details) VALUES (19, 1772366400250, 'token.issued', 'success', 'client', 286467608805376007, 286467608805376001, 286467608805376007, '127.0.0.1', '8e4a6835-eaba-4423-b8f4-' || '0bbee60d6c7d', '{"familyId":"28646760880' || '5376016","scope":"openid' || '"}');
INSERT INTO audit_event (id, at, type, outcome, actor_type, actor_id, account_id, client_id, address, request_id, details) VALUES (20, 1772366400250, 'consent.revoked', 'success', 'user', 286467608805376001, 286467608805376001, 286467608805376007, '127.0.0.1', 'e31f37c6-8793-4c72-8221-' || '34b86d4685d2', '{"grantId":"286467608805' || '376015"}');
INSERT INTO audit_event (id, at, type, outcome, actor_type, actor_id, account_id, client_id, address, request_id, details) VALUES (21, 1772366400250, 'consent.granted', 'success', 'user', 286467608805376001, 286467608805376001, 286467608805376005, '127.0.0.1', 'd4ccd83a-682c-460a-b177-' || '7da1a94b364d', '{"scopes":["openid","pro' || 'file","offline_access"],' || '"declined":[]}');
INSERT INTO audit_event (id, at, type, outcome, actor_type, actor_id, account_id, client_id, address, request_id, details) VALUES (22, 1772366400250, 'authorization.issued', 'success', 'user', 286467608805376001, 286467608805376001, 286467608805376005, '127.0.0.1', 'd4ccd83a-682c-460a-b177-' || '7da1a94b364d', '{"scopes":"openid profil' || 'e offline_access","grant' || 'Id":"286467608805376017"' || '}');
INSERT INTO audit_event (id, at, type, outcome, actor_type, actor_id, account_id, client_id, address, request_id, details) VALUES (23, 1772366400250, 'keys.rotated', 'success', 'system', NULL, NULL, NULL, NULL, NULL, '{"kid":"5MMIcG_N4kwtkJ88' || 'vPMIEw","alg":"RS256","s' || 'ignsFrom":"2026-03-01T12' || ':00:00.250Z"}');
INSERT INTO audit_event (id, at, type, outcome, actor_type, actor_id, account_id, client_id, address, request_id, details) VALUES (24, 1772366400250, 'token.issued', 'success', 'client', 286467608805376005, 286467608805376001, 286467608805376005, '127.0.0.1', '2a219a30-ceb5-4432-a722-' || 'dd8eedd55566', '{"familyId":"28646760880' || '5376018","scope":"openid' || ' profile offline_access"' || '}');
INSERT INTO audit_event (id, at, type, outcome, actor_type, actor_id, account_id, client_id, address, request_id, details) VALUES (25, 1772366400250, 'token.client_issued', 'success', 'client', 286467608805376011, NULL, 286467608805376011, '127.0.0.1', '11fcbac8-5d96-4d8d-bce3-' || 'e46bca364e0a', '{}');
INSERT INTO audit_event (id, at, type, outcome, actor_type, actor_id, account_id, client_id, address, request_id, details) VALUES (26, 1772366400250, 'invitation.created', 'success', 'admin', NULL, NULL, NULL, '127.0.0.1', '7d8c373f-2b2f-4540-98e1-' || 'b010fd297a0d', '{"invitationId":"2864676' || '08805376019","organizati' || 'onId":"28646760880537600' || '0","role":null}');
INSERT INTO audit_event (id, at, type, outcome, actor_type, actor_id, account_id, client_id, address, request_id, details) VALUES (27, 1772366400250, 'account.banned', 'success', 'admin', NULL, 286467608805376004, NULL, '127.0.0.1', 'c21586e3-e17b-47af-926d-' || '27f36ab4ba2c', '{"until":null,"reason":"' || 'spam"}');
INSERT INTO audit_event (id, at, type, outcome, actor_type, actor_id, account_id, client_id, address, request_id, details) VALUES (28, 1772366400250, 'account.updated', 'success', 'user', 286467608805376001, 286467608805376001, NULL, '127.0.0.1', 'e7bc032f-8ffd-4365-a49b-' || 'a4fc70d78a5a', '{"fields":["picture"]}');
INSERT INTO audit_event (id, at, type, outcome, actor_type, actor_id, account_id, client_id, address, request_id, details) VALUES (29, 1772366400250, 'client.created', 'success', 'anonymous', NULL, NULL, 286467608805376020, '127.0.0.1', '36ac1c0a-16f6-4dc6-85f4-' || '20d4f8f64eff', '{}');
INSERT INTO audit_event (id, at, type, outcome, actor_type, actor_id, account_id, client_id, address, request_id, details) VALUES (30, 1772366400250, 'recovery.requested', 'success', 'anonymous', NULL, 286467608805376002, NULL, '127.0.0.1', 'da876c1e-45e6-4b4c-bc05-' || 'f374292664b8', '{}');
INSERT INTO audit_event (id, at, type, outcome, actor_type, actor_id, account_id, client_id, address, request_id, details) VALUES (31, 1772366400250, 'authorization.issued', 'success', 'user', 286467608805376001, 286467608805376001, 286467608805376005, '127.0.0.1', '7388dbc2-bb55-477a-81cd-' || '28a0bbaedb51', '{"scopes":"openid","gran' || 'tId":"286467608805376013' || '"}');
INSERT INTO id_token_key (kid, alg, sealed, public_jwk, created_at, signs_from, given_up_at) VALUES ('5MMIcG_N4kwtkJ88vPMIEw', 'RS256', 'gdB8QnGm_njg4po3xkom4o_N' || 'J6nsIy3yvt6V4U_up2bYI020' || 'kivFKkO9VBAXZ-edxGrZ_fe9' || '8As2FLF_vAv6JcZJM-daPj2g' || 'GXPWlJ-VBS58RxdiPw_DCM2o' || '3AS9SBY9DX4MGL5f4qh2qmEW' || 'TEISx7dLWOhn8tRsZXnlR3dW' || '5AstKg-k1wLg8VRjp280hZNP' || 'bzZuZQbJShwnp_agnJEqXfo-' || 'SuSKdgCEa6P-tuhFjreXy_Pq' || 'O7yhHFbqQW-zjMoupG4oxYEK' || 'ulPc2MLwU73soeGMTft_yisK' || 'GQu4l0lBjI0Nmg1-Zw7UHVd3' || 'TDe37LDA17cV7ULVGl_rJtXB' || 'vcgw4h8MqHxxqBJQVRDG_ALe' || 'niMPmA-YG8oPj1dIpccYA3JQ' || '4wAtlbNCoEj3mjr6niCo5hiZ' || 'aDmIHoOBllXOH15dtklnebYW' || 'SE4H_jyqfcxC5x7ndH0p1Di6' || 'bfLXqOY0nAnociwa4UdX4w-q' || 'U-q21QG5u7LvbF4sDS9RqdbY' || 'WcbRZNuDXKapOKNUZpJ9_lHO' || 'z_UytlZ1GFAyoSao-hc3YoyQ' || 'C2CdgXa9cTWTN6_y2ncQ7hQQ' || 'HDT1DDImpWb5qAkS5I_gUbs5' || 'P3fDhvheDKVkFIP6NVAyLboz' || 'IQEs99Lie1DDzYHD62sfpewN' || 'kA2UZCWdZ_DE0P1DWUgeLl1e' || '-7QqxOzN5JNZnKkQekXbmPIo' || 'e25hxW8K5iWtFHiZ025wM-Tn' || 'bQRopUuKbg6mkrinSRzYuPSx' || 'bniN0vG3Gtjs7HUOIe7LD28b' || '2Iv_N2FOqWWelGtHTPs_TEiD' || 'A1_ucXBKN1WWqpCnsxSksOai' || 'dap35DZacXdRSeSQzVmWrWn0' || '_4DVnehPqGUhGb8RL3AIhoNO' || 'SJSIzAJrgZYyPCIrAyDkl5wL' || 'ogSGVcgpGnuoO43Mld3DQMyX' || 't1LGsXtPBT0z2XqNwfs5aAqD' || 'xpkZn9Kssv8S0Ng1Fqi0b4Z_' || 'WAJnl2szbchLvbXuwdmuioP1' || 'm9bAS4W1F6AxykDrdp4E_uU0' || 'I3rZw-XidT1pjmCsIYWxekwd' || 'dMFQ6JQi0xumwjj2aFaqhEAa' || 'vofNvjYxc-I8bX6brsm2Qi2o' || 'VZMYuCI8clOUjcWojHCPIKbG' || '3wKTz_o_Y7ZWwczNC_Igb02R' || 'JsEeW2AJPcPSxGT09tsPU6py' || 'uTA0bUDoi5xc0uxjvWHbIM5f' || 'CBjKHSNiYg0Z9Zwc-yzYlM3T' || 'ILd9l4KBxDs23nZhf8cVClUP' || '0bg9xNX7TfRFEptoCbH86eb2' || 'YqhAJzitjXnOENZDhPV-FR63' || 'KXBOj5BKRZnh9dIeBddjRxcT' || 'yK7FQ-YOE95EBbPzvrSMbKlj' || 'I9bLkKfn0SuZski2kppYYzSL' || 'cbblQkuBIxHeut6wIsi7Z6Kk' || '6RA2PDYxCZ8ucz1QSYbZhKao' || 'bh_v6OvJ_tTSvQxNEf_uDXbY' || 'ANzDDx2qvtWct-Lr2DR8jFBS' || 'SO5-q-bbBoECls2CQ2f2G6ue' || '7LtIQMuOZQjybB52qsN9tcTE' || '9hd5F7kqwg8sW4U_pikAjrx1' || 'mFQF1Jo9iErfE61iWG_WaDM8' || 'r7geam-NqvDutbghu4JvA_FG' || 'EqQxRCMkjAPJKHpYzzBMGMr3' || '1swE6ES_QrCtCEQdTrAXsfww' || 'eEcjKn65fh-TZq9YwdDEMT1w' || 'KlXZc5BllJ22oeR1u3-da4kq' || 'LHR_tUMnvjUqfHtqZoGpm5jm' || 'WsUq2AhwFeAAVBq2A40FNFLi' || 'RbJVD6a69IKD-9aX6G3add9Y' || '6txz2c5maqszxFD1n79dLn8O' || 'd7ZHBLVFTygbmI09KdYK87PM' || 'O9xnTz8Dy2vk8NOHBLnTVG0R' || 'BZkd4DNID-70bmPCuCkx1OlG' || 'VOMF_U0mSU6K5R1mKK9Uagk4' || 'ofXvOamb1zCQvflx_oa5OkAN' || '9Mm3U_pqqGN2trU-AW-rRrUb' || '-sAVa334_fllqFyClO0OPdHM' || 'rx8GXWu_wVCWTDS_rMWaWnWV' || 'waBFcGKO2BLOg89vzWzlCwk2' || '_TR7O5NDUwV8d1uH5lC5g-FJ' || 'ytAZhaq4khjDXSFtT0C5HXfd' || 'EKgS18hVbCxehXg0Wn6eep2B' || 'YK9iy97LfpIi4mPohHtCAINX' || '6s8mGyyFWUVi7GxtVr_8gqh2' || 'Mll1mZCbCEmaDQ7ZgdgZAl-N' || 'Oox6tmWCjDWcVJQlE0um7xeh' || '75k5WdkBjfHEzqufvJe8Czzq' || 'HjZ8vZdhMArnkrCT6ITB48nz' || '5EtcThpwHj8mqYhmhPB7Qtyw' || 'oKgljCUM1Qh7QWbm6oacbiZX' || 'LVDUZcKdMthv8nYMcwTlzVks' || 'zznMIKBlaZAgykgIqZ2wVy4j' || 'fVlozUgv2NLlgMHSo-qc19Ek' || 'XFzm_w', '{"kty":"RSA","kid":"5MMI' || 'cG_N4kwtkJ88vPMIEw","use' || '":"sig","alg":"RS256","n' || '":"2DnWyM129pDhPAdua5q7b' || 'zRH6_y6RALVRGT6X-wJ1cX0Z' || 'LoB6lFUHjqTJhLxfaAl7R2v9' || '9s22Aqwv4n4oi_Q-3d4fVxyK' || '1TFj_OFIClSYaO1w87u93iPy' || 'lbAV6ZG-h5fvhZTtr9-6iXRW' || 'leeMZFaEM-HWESr3tyQ1fZ2V' || 'bBjJc1tqbk1S-swLO73hO28k' || 'zNxM3qjF5Jf-sM9osq0w3Jsg' || 'Xtbr4klMxmm58qJeaHQKev3o' || 'w9URQGvyjGJUf6JX_ccbMSdG' || '5Kermcu8LMSt3r7px13_9sH3' || 'svyaHf-7ZBfaCTHdYFgaB1my' || 'Da8w_K5rMCcI8eyxeQrN6QHJ' || 'ssWtbIYKQ","e":"AQAB"}', 1772366400250, 1772366400250, NULL);
INSERT INTO client_token (jti, client_id, client_generation, created_at, ends_at, dead_at) VALUES ('UTUAFy1BtDreJ1JstjS1Eg', 286467608805376011, 'rW9DiaT4uIYUM50dEsvnWQ', 1772366400250, 1772368200250, NULL);
INSERT INTO client_assertion (hash, expires_at) VALUES ('client_assertion hash', 1);
INSERT INTO logout_notice (id, client_id, account_id, sid, created_at, attempts, due_at) VALUES (1, 286467608805376005, 1, 'logout_notice sid', 1, 1, 1);
INSERT INTO client_origin (origin, client_id) VALUES ('client_origin origin', 286467608805376005);
INSERT INTO picture (name, account_id, client_id, bytes) VALUES ('5Fp36v62LQXzxWtk_YZ9Bw.j' || 'pg', 286467608805376001, NULL, X'ffd8ffe000104a46494600010200000100010000ffc00011080064006403011100021101031101ffdb0043000503040404030504040405050506070c08070707070f0b0b090c110f1212110f111113161c1713141a1511111821181a1d1d1f1f1f13172224221e241c1e1f1effdb0043010505050706070e08080e1e1411141e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1effc4001f0000010501010101010100000000000000000102030405060708090a0bffc400b5100002010303020403050504040000017d01020300041105122131410613516107227114328191a1082342b1c11552d1f02433627282090a161718191a25262728292a3435363738393a434445464748494a535455565758595a636465666768696a737475767778797a838485868788898a92939495969798999aa2a3a4a5a6a7a8a9aab2b3b4b5b6b7b8b9bac2c3c4c5c6c7c8c9cad2d3d4d5d6d7d8d9dae1e2e3e4e5e6e7e8e9eaf1f2f3f4f5f6f7f8f9faffc4001f0100030101010101010101010000000000000102030405060708090a0bffc400b51100020102040403040705040400010277000102031104052131061241510761711322328108144291a1b1c109233352f0156272d10a162434e125f11718191a262728292a35363738393a434445464748494a535455565758595a636465666768696a737475767778797a82838485868788898a92939495969798999aa2a3a4a5a6a7a8a9aab2b3b4b5b6b7b8b9bac2c3c4c5c6c7c8c9cad2d3d4d5d6d7d8d9dae2e3e4e5e6e7e8e9eaf2f3f4f5f6f7f8f9faffda000c03010002110311003f00e8ebf9e4fe540a002800a002800a00f9bbe33ffc94ad5bfed8ff00e894afefdf04ff00e487c0ff00dc4ffd3b50fd9f84ff00e45147fedeff00d299c7d7ea87d10500140050014005007d835fe571fcec140050014005001401f377c67ff9295ab7fdb1ff00d1295fdfbe09ff00c90f81ff00b89ffa76a1fb3f09ff00c8a28ffdbdff00a5338fafd50fa20a002800a002800a00fb06bfcae3f9d82800a002800a002803e6ef8cff00f252b56ffb63ff00a252bfbf7c13ff00921f03ff00713ff4ed43f67e13ff0091451ffb7bff004a671f5faa1f44140050014005001401f60d7f95c7f3b0500140050014005007cddf19ff00e4a56adff6c7ff0044a57f7ef827ff00243e07fee27fe9da87ecfc27ff00228a3ff6f7fe94ce3ebf543e882800a002800a002803ec1aff002b8fe760a002800a002800a00f9bbe33ff00c94ad5bfed8ffe894afefdf04ffe487c0ffdc4ff00d3b50fd9f84ffe45147fedeffd299c7d7ea87d10500140050014005007d835fe571fcec140050014005001401f377c67ff009295ab7fdb1ffd1295fdfbe09ffc90f81ffb89ff00a76a1fb3f09ffc8a28ff00dbdffa5338fafd50fa20a002800a002800a00f68ff0084bfc45ff411ff00c831ff00f135fe6fff0065613f93f17fe67f487fc407e01ffa00ff00cab5bff9607fc25fe22ffa08ff00e418ff00f89a3fb2b09fc9f8bff30ff880fc03ff00401ff956b7ff002c0ff84bfc45ff00411ffc831fff001347f65613f93f17fe61ff00101f807fe803ff002ad6ff00e581ff00097f88bfe823ff009063ff00e268fecac27f27e2ff00cc3fe203f00ffd007fe55adffcb03fe12ff117fd047ff20c7ffc4d1fd9584fe4fc5ff987fc407e01ff00a00ffcab5bff009607fc25fe22ff00a08ffe418fff0089a3fb2b09fc9f8bff0030ff00880fc03ff401ff00956b7ff2c3cc7c7179737fe28bcbbbb93cc9a4d9b9b6819c2281c0e3a0afed8f08e9428f0860e10564bda7fe9d99f89f1764380e1fce2b65d9753e4a30e5e58ddcadcd18c9eb26dbbb6deaff000316bf483e6c2800a002800a002803d2ebfcef3fbb42800a002800a00280386f147fc876e3fe03ff00a08afeccf0a3fe492c27fdbfff00a7267f277899ff00253e2bfedcff00d370336bf443e0c2800a002800a002803d2ebfcef3fbb42800a002800a00280386f147fc876e3fe03ffa08afeccf0a3fe492c27fdbff00fa7267f277899ff253e2bfedcffd370336bf443e0c2800a002800a002803d2ebfcef3fbb42800a002800a00280386f147fc876e3fe03ff00a08afeccf0a3fe492c27fdbfff00a7267f277899ff00253e2bfedcff00d370336bf443e0c2800a002800a002803d2ebfcef3fbb42800a002800a00280386f147fc876e3fe03ffa08afeccf0a3fe492c27fdbff00fa7267f277899ff253e2bfedcffd370336bf443e0c2800a002800a002803d2ebfcef3fbb42800a002800a00280386f147fc876e3fe03ff00a08afeccf0a3fe492c27fdbfff00a7267f277899ff00253e2bfedcff00d370336bf443e0c2800a002800a002803d2ebfcef3fbb42800a002800a00280386f147fc876e3fe03ffa08afeccf0a3fe492c27fdbff00fa7267f277899ff253e2bfedcffd370336bf443e0c2800a002800a002803ffd9');
INSERT INTO playground_visit (browser_hash, client_id, turn, sealed, expires_at) VALUES ('8DwQLMpjtlSeTjWSvxVLI52m' || '7NMlcZKTv7uDcHAcWdU', 286467608805376020, 1, 'KfJNwzFzqku-MAFcKpWEGD2v' || 'MVA_n8PLiGQp-w6LcxnQTs61' || 'sQmZfE4jsm4iJM3auX7rXygW' || 'GsNODNig6BJGpi9E6hWhHYEZ' || 'o5HXFmOsZkBy36Bvoh1Tjxeu' || 'Hkda9bkb5_sS8__9BXpl63wb' || 'lQuqac0hUzrrldhqDyqbjATr' || 'LlrfV2ifRXfo8c9-_qFH0zv_' || '1okwDZyTcAR2EkWBEb66p3pE' || 'QYLHixPJAC1jziDbEnyd1aTi' || 'EvqTbUQCIoXKd0sx_l9XpBIu' || '5C2ojFjgEYfKzq3oYFx4iAje' || '0gX8MmiWWV4VYFGU2w1UvCpH' || 'A24CA-89FyOuXgf4yPlFU4LK' || 'GJ-fcQyo6NyMy8SkFe7qgpMd' || 'nRvPnx4uUzDdrw1h2OLXEXNB' || 'AwUac5K2N2xe-EiWhuT_iQnq' || 'ynOVZrSMZmCD4j_FkA2NcF0P' || '4So0UlF7EaP5N_aQh2vt8KMj' || '28-wdjpckQ2mTjOUuugfGkIJ' || 'zk0KRz8Px9GqDkZXFtriOlKM' || '5Jy5_igzurzj_vDg6ifC5UTP' || 'S_p0jqXLucSQQnS4kTWaz2fg' || 'c3IiRR25ig', 1772370000250);
INSERT INTO token_family (id, grant_id, account_id, client_id, account_generation, client_generation, scopes, sid, auth_time, sequence, leaf_jti, leaf_kid, leaf_issued_at, leaf_expires_at, predecessor_jti, rotated_at, created_at, ends_at, dead_at, dead_reason, claims, resources, withdrawn_scopes, amr, acr, face, ends_with_session) VALUES (286467608805376014, 286467608805376013, 286467608805376001, 286467608805376005, 'd2srhHVZ7XzVvXB__2lruA', 'yFJbWnweUCf2YSzipj0HEA', 'openid', 'FtUN7SMEDvPqD9IDJXQMcw', 1772366400250, 2, '019ca9450afayRjoSnQvNNCH' || 'RfWKrnG-4w', '550guHRXqbkIDSlCPncPxg', 1772366400000, 1772971200000, '019ca9450afavbjoTrlTa1If' || 's51NqUS-Tw', 1772366400250, 1772366400250, 1780142400250, NULL, NULL, NULL, NULL, '', '["pwd"]', 'urn:oasis:names:tc:SAML:' || '2.0:ac:classes:PasswordP' || 'rotectedTransport', 'contract', 0);
INSERT INTO token_family (id, grant_id, account_id, client_id, account_generation, client_generation, scopes, sid, auth_time, sequence, leaf_jti, leaf_kid, leaf_issued_at, leaf_expires_at, predecessor_jti, rotated_at, created_at, ends_at, dead_at, dead_reason, claims, resources, withdrawn_scopes, amr, acr, face, ends_with_session) VALUES (286467608805376016, 286467608805376015, 286467608805376001, 286467608805376007, 'd2srhHVZ7XzVvXB__2lruA', '2qsQdSIKBx_VCNqRJWbjrw', 'openid', 'FtUN7SMEDvPqD9IDJXQMcw', 1772366400250, 1, '019ca9450afa0MRTc65u0p-u' || 'f69dEMZR1A', '550guHRXqbkIDSlCPncPxg', 1772366400000, 1772971200000, NULL, NULL, 1772366400250, 1780142400250, NULL, NULL, NULL, NULL, '', '["pwd"]', 'urn:oasis:names:tc:SAML:' || '2.0:ac:classes:PasswordP' || 'rotectedTransport', 'contract', 0);
INSERT INTO token_family (id, grant_id, account_id, client_id, account_generation, client_generation, scopes, sid, auth_time, sequence, leaf_jti, leaf_kid, leaf_issued_at, leaf_expires_at, predecessor_jti, rotated_at, created_at, ends_at, dead_at, dead_reason, claims, resources, withdrawn_scopes, amr, acr, face, ends_with_session) VALUES (286467608805376018, 286467608805376017, 286467608805376001, 286467608805376005, 'd2srhHVZ7XzVvXB__2lruA', 'yFJbWnweUCf2YSzipj0HEA', 'openid profile offline_a' || 'ccess', 'FtUN7SMEDvPqD9IDJXQMcw', 1772366400250, 1, '019ca9450afazrEmyp9R2njU' || 'Em4Ggz9S5w', '550guHRXqbkIDSlCPncPxg', 1772366400000, 1772971200000, NULL, NULL, 1772366400250, 1780142400250, NULL, NULL, NULL, NULL, '', '["pwd"]', 'urn:oasis:names:tc:SAML:' || '2.0:ac:classes:PasswordP' || 'rotectedTransport', 'standard', 0);
INSERT INTO authorization_code (hash, grant_id, account_id, client_id, account_generation, client_generation, redirect_uri, scopes, narrowed, nonce, code_challenge, sid, auth_time, expires_at, redeemed_at, family_id, claims, resources, withdrawn_scopes, amr, acr, face, ends_with_session) VALUES ('3sDdA7-lpd9G5ixmoI63p12a' || 'CMbWhxaf7aP-b_MbpwQ', 286467608805376013, 286467608805376001, 286467608805376005, 'd2srhHVZ7XzVvXB__2lruA', 'yFJbWnweUCf2YSzipj0HEA', 'https://app.example.com/' || 'callback', 'openid', 0, NULL, NULL, 'FtUN7SMEDvPqD9IDJXQMcw', 1772366400250, 1772366460250, 1772366400250, 286467608805376014, NULL, NULL, '', '["pwd"]', 'urn:oasis:names:tc:SAML:' || '2.0:ac:classes:PasswordP' || 'rotectedTransport', 'contract', 0);
INSERT INTO authorization_code (hash, grant_id, account_id, client_id, account_generation, client_generation, redirect_uri, scopes, narrowed, nonce, code_challenge, sid, auth_time, expires_at, redeemed_at, family_id, claims, resources, withdrawn_scopes, amr, acr, face, ends_with_session) VALUES ('9AkVxJ9VZsY0rY6U5Bhf99jr' || 't45IgAvnYEFenmFXGig', 286467608805376015, 286467608805376001, 286467608805376007, 'd2srhHVZ7XzVvXB__2lruA', '2qsQdSIKBx_VCNqRJWbjrw', 'https://app.example.com/' || 'callback', 'openid', 0, NULL, NULL, 'FtUN7SMEDvPqD9IDJXQMcw', 1772366400250, 1772366460250, 1772366400250, 286467608805376016, NULL, NULL, '', '["pwd"]', 'urn:oasis:names:tc:SAML:' || '2.0:ac:classes:PasswordP' || 'rotectedTransport', 'contract', 0);
INSERT INTO authorization_code (hash, grant_id, account_id, client_id, account_generation, client_generation, redirect_uri, scopes, narrowed, nonce, code_challenge, sid, auth_time, expires_at, redeemed_at, family_id, claims, resources, withdrawn_scopes, amr, acr, face, ends_with_session) VALUES ('h8gxHsyFzxzWlJkqgdv9rKL1' || 'NPwkFt_o-AKY3tO3ukM', 286467608805376017, 286467608805376001, 286467608805376005, 'd2srhHVZ7XzVvXB__2lruA', 'yFJbWnweUCf2YSzipj0HEA', 'https://app.example.com/' || 'callback', 'openid profile offline_a' || 'ccess', 0, '"n"', NULL, 'FtUN7SMEDvPqD9IDJXQMcw', 1772366400250, 1772366460250, 1772366400250, 286467608805376018, NULL, NULL, '', '["pwd"]', 'urn:oasis:names:tc:SAML:' || '2.0:ac:classes:PasswordP' || 'rotectedTransport', 'standard', 0);
INSERT INTO authorization_code (hash, grant_id, account_id, client_id, account_generation, client_generation, redirect_uri, scopes, narrowed, nonce, code_challenge, sid, auth_time, expires_at, redeemed_at, family_id, claims, resources, withdrawn_scopes, amr, acr, face, ends_with_session) VALUES ('DUEQNXHx_4-lIFCNKjgpretb' || 'IMTv6hpaCJP4BDZnd2Q', 286467608805376013, 286467608805376001, 286467608805376005, 'd2srhHVZ7XzVvXB__2lruA', 'yFJbWnweUCf2YSzipj0HEA', 'https://app.example.com/' || 'callback', 'openid', 0, NULL, NULL, 'FtUN7SMEDvPqD9IDJXQMcw', 1772366400250, 1772366460250, NULL, NULL, NULL, NULL, '', '["pwd"]', 'urn:oasis:names:tc:SAML:' || '2.0:ac:classes:PasswordP' || 'rotectedTransport', 'contract', 0);
INSERT INTO consent_revocation (account_id, client_id, name, revoked_at) VALUES (286467608805376001, 286467608805376007, 'UZfTRAvedzJWtptLS6ioAg', 1772366400250);
INSERT INTO trace_step (id, at, ring, request_id, client_id, account_id, step, outcome, flow, leads_to, facts) VALUES (1, 1772366400250, '- progress', '30aee835-b535-46bd-bf24-' || 'e61c44ab6d32', NULL, 286467608805376001, 'sign-in', 'success', NULL, NULL, '{"method":"POST","path":' || '"/login","description":"' || 'The user signed in."}');
INSERT INTO trace_step (id, at, ring, request_id, client_id, account_id, step, outcome, flow, leads_to, facts) VALUES (2, 1772366400250, '286467608805376005 progr' || 'ess', 'b15db59c-5a6f-4a58-9741-' || '8a75b06d51d5', 286467608805376005, NULL, 'authorize', 'success', 'yDcGqnTV6LdqMuqPFVoGOX', NULL, '{"method":"GET","path":"' || '/api/v2/oauth/authorize"' || ',"description":"The requ' || 'est is valid, and contin' || 'ues at /consent.","sent"' || ':"scope=\"openid\" redir' || 'ect_uri=https://app.exam' || 'ple.com/callback"}');
INSERT INTO trace_step (id, at, ring, request_id, client_id, account_id, step, outcome, flow, leads_to, facts) VALUES (3, 1772366400250, '286467608805376005 progr' || 'ess', 'e4826269-8bf5-46f3-80be-' || 'a0db1aba798a', 286467608805376005, 286467608805376001, 'consent', 'success', 'yDcGqnTV6LdqMuqPFVoGOX', NULL, '{"description":"The user' || ' was asked for nothing o' || 'ptional, and allowed not' || 'hing optional."}');
INSERT INTO trace_step (id, at, ring, request_id, client_id, account_id, step, outcome, flow, leads_to, facts) VALUES (4, 1772366400250, '286467608805376005 progr' || 'ess', 'e4826269-8bf5-46f3-80be-' || 'a0db1aba798a', 286467608805376005, 286467608805376001, 'code', 'success', 'yDcGqnTV6LdqMuqPFVoGOX', '3sDdA7-lpd9G5ixmoI63p1', '{"description":"A code w' || 'as issued for https://ap' || 'p.example.com/callback."' || '}');
INSERT INTO trace_step (id, at, ring, request_id, client_id, account_id, step, outcome, flow, leads_to, facts) VALUES (5, 1772366400250, '286467608805376005 progr' || 'ess', 'fb8a30f1-576b-45a1-8172-' || 'dce4438530ca', 286467608805376005, 286467608805376001, 'token', 'success', '3sDdA7-lpd9G5ixmoI63p1', '286467608805376014', '{"description":"Tokens w' || 'ere issued for the scope' || 's openid."}');
INSERT INTO trace_step (id, at, ring, request_id, client_id, account_id, step, outcome, flow, leads_to, facts) VALUES (6, 1772366400250, '286467608805376007 progr' || 'ess', 'ba496381-59b3-4166-9dff-' || 'cf24548bcbb4', 286467608805376007, NULL, 'authorize', 'success', '34pLZk-kTmcY5_n_AUj2AO', NULL, '{"method":"GET","path":"' || '/api/v2/oauth/authorize"' || ',"description":"The requ' || 'est is valid, and contin' || 'ues at /consent.","sent"' || ':"scope=\"openid\" redir' || 'ect_uri=https://app.exam' || 'ple.com/callback"}');
INSERT INTO trace_step (id, at, ring, request_id, client_id, account_id, step, outcome, flow, leads_to, facts) VALUES (7, 1772366400250, '286467608805376007 progr' || 'ess', '9a4d97d2-07a7-4abf-a659-' || '56096ffe2b5c', 286467608805376007, 286467608805376001, 'consent', 'success', '34pLZk-kTmcY5_n_AUj2AO', NULL, '{"description":"The user' || ' was asked for nothing o' || 'ptional, and allowed not' || 'hing optional."}');
INSERT INTO trace_step (id, at, ring, request_id, client_id, account_id, step, outcome, flow, leads_to, facts) VALUES (8, 1772366400250, '286467608805376007 progr' || 'ess', '9a4d97d2-07a7-4abf-a659-' || '56096ffe2b5c', 286467608805376007, 286467608805376001, 'code', 'success', '34pLZk-kTmcY5_n_AUj2AO', '9AkVxJ9VZsY0rY6U5Bhf99', '{"description":"A code w' || 'as issued for https://ap' || 'p.example.com/callback."' || '}');
INSERT INTO trace_step (id, at, ring, request_id, client_id, account_id, step, outcome, flow, leads_to, facts) VALUES (9, 1772366400250, '286467608805376007 progr' || 'ess', '8e4a6835-eaba-4423-b8f4-' || '0bbee60d6c7d', 286467608805376007, 286467608805376001, 'token', 'success', '9AkVxJ9VZsY0rY6U5Bhf99', '286467608805376016', '{"description":"Tokens w' || 'ere issued for the scope' || 's openid."}');
INSERT INTO trace_step (id, at, ring, request_id, client_id, account_id, step, outcome, flow, leads_to, facts) VALUES (10, 1772366400250, '286467608805376005 progr' || 'ess', '3f7d5a04-adc7-4b83-a1d6-' || '0c772721c192', 286467608805376005, NULL, 'authorize', 'success', 'eVPauiSxb6ashJewtqL3pg', NULL, '{"method":"GET","path":"' || '/oidc/authorize","descri' || 'ption":"The request is v' || 'alid, and continues at /' || 'consent.","sent":"scope=' || '\"openid profile offline' || '_access\" redirect_uri=h' || 'ttps://app.example.com/c' || 'allback"}');
INSERT INTO trace_step (id, at, ring, request_id, client_id, account_id, step, outcome, flow, leads_to, facts) VALUES (11, 1772366400250, '286467608805376005 progr' || 'ess', 'd4ccd83a-682c-460a-b177-' || '7da1a94b364d', 286467608805376005, 286467608805376001, 'consent', 'success', 'eVPauiSxb6ashJewtqL3pg', NULL, '{"description":"The user' || ' was asked for profile, ' || 'and allowed profile."}');
INSERT INTO trace_step (id, at, ring, request_id, client_id, account_id, step, outcome, flow, leads_to, facts) VALUES (12, 1772366400250, '286467608805376005 progr' || 'ess', 'd4ccd83a-682c-460a-b177-' || '7da1a94b364d', 286467608805376005, 286467608805376001, 'code', 'success', 'eVPauiSxb6ashJewtqL3pg', 'h8gxHsyFzxzWlJkqgdv9rK', '{"description":"A code w' || 'as issued for https://ap' || 'p.example.com/callback."' || '}');
INSERT INTO trace_step (id, at, ring, request_id, client_id, account_id, step, outcome, flow, leads_to, facts) VALUES (13, 1772366400250, '286467608805376005 progr' || 'ess', '2a219a30-ceb5-4432-a722-' || 'dd8eedd55566', 286467608805376005, 286467608805376001, 'token', 'success', 'h8gxHsyFzxzWlJkqgdv9rK', '286467608805376018', '{"description":"Tokens w' || 'ere issued for the scope' || 's openid profile offline' || '_access."}');
INSERT INTO trace_step (id, at, ring, request_id, client_id, account_id, step, outcome, flow, leads_to, facts) VALUES (14, 1772366400250, '286467608805376007 progr' || 'ess', '62105d4c-5c29-44ab-97db-' || 'cf48693c09e8', 286467608805376007, NULL, 'authorize', 'success', 'K8qXngrABaLxr_eZY9VlRu', NULL, '{"method":"GET","path":"' || '/api/v2/oauth/authorize"' || ',"description":"The requ' || 'est is valid, and contin' || 'ues at /consent.","sent"' || ':"scope=\"openid\" redir' || 'ect_uri=https://app.exam' || 'ple.com/callback"}');
INSERT INTO trace_step (id, at, ring, request_id, client_id, account_id, step, outcome, flow, leads_to, facts) VALUES (15, 1772366400250, '286467608805376005 progr' || 'ess', '7388dbc2-bb55-477a-81cd-' || '28a0bbaedb51', 286467608805376005, 286467608805376001, 'authorize', 'success', NULL, 'DUEQNXHx_4-lIFCNKjgpre', '{"description":"The requ' || 'est is valid, and needs ' || 'no page. A code was issu' || 'ed for https://app.examp' || 'le.com/callback.","sent"' || ':"scope=\"openid\" redir' || 'ect_uri=https://app.exam' || 'ple.com/callback"}');
INSERT INTO data_key (id, sealed, created_at) VALUES (1, 'x2lEoVIeLSKt3uPgdpJoujyh' || 'gXYzBTbwYhn7cwmOxWkgd0FZ' || '1bQALDDNpkrqFvkZAgTvwFWC' || 'ySfcA3zO', 1772366400250);
INSERT INTO pending_sign_in (hash, account_id, generation, browser_hash, methods, interaction_hash, created_at, expires_at) VALUES ('hmqqu9F4kKX3QesrE8m0wwgo' || 'BID5RsqNYXGyY28ggDs', 286467608805376003, 'EN5P47RDc9qqUGpumxM4AA', 'ZV14VaW3PtRSNUSpeopgu-Qy' || '03_F39rYr1o0dbD_Wwk', '["password"]', NULL, 1772366400250, 1772367000250);
INSERT INTO challenge (hash, purpose, account_id, generation, address, browser_hash, code_hash, sealed, created_at, expires_at, used_at) VALUES ('jK4gAavS5icGjin1OQDmUQaB' || 'w3kcFUl-ewRLK8x2D_w', 'recover', 286467608805376002, 'cIuiHR2FLoHaKKtK1tRFgQ', 'user2@example.com', 'ZrQv7F3iVS-EAOakMsTwgXEY' || 'vQ6E3c9mIDJIGpj0z54', 'Acv3QkJK0HY7v-mzR0qPsdkt' || 'mpBkdlQZ3EwnQHZArbE', 'yMx05lmXaWlvQOMqF9HaLAyN' || 'wETJT-2JcReJ2u2H', 1772366400250, 1772368200250, NULL);
INSERT INTO totp_secret (account_id, sealed, generation, created_at, confirmed_at, last_step) VALUES (286467608805376003, 'PvVnHmYUuBYdG8HvsCZEcg30' || 'dVkvLFODnn0skfKBaR4mElV3' || 'G7rtNuPliql8iTF9Lz4t-G9m' || 'TkE9mNXI', 'any', 1772362800250, 1772362800250, 59078760);
INSERT INTO recovery_code (account_id, hash, created_at, used_at) VALUES (286467608805376003, 'UUHa5I7LboWE8Zl8CaQTd1YX' || 'EM0-IXB4J_3D5z6S930', 1772362800250, NULL);
INSERT INTO recovery_code (account_id, hash, created_at, used_at) VALUES (286467608805376003, 'Woujtgie9zu07oCGu-QmTwJv' || 'd2xN0kh1a7KKFi9q_Vk', 1772362800250, NULL);
INSERT INTO recovery_code (account_id, hash, created_at, used_at) VALUES (286467608805376003, 'rjkuHQG3Czl0XhyVKYwG0sx4' || 'ZouIFD4rjS8xVk9Xn88', 1772362800250, NULL);
INSERT INTO recovery_code (account_id, hash, created_at, used_at) VALUES (286467608805376003, '3fe-18SD9KKQcBd0FbKp-GxM' || 'BKopYGYvmvVBfXpfpmA', 1772362800250, NULL);
INSERT INTO recovery_code (account_id, hash, created_at, used_at) VALUES (286467608805376003, '4y8xVEsx64PQ6phbHGJC9fbF' || 'XL80AbLgMsjNytYvSro', 1772362800250, NULL);
INSERT INTO recovery_code (account_id, hash, created_at, used_at) VALUES (286467608805376003, 'Rl7dhut4fLmK-pVAxzPYpjz8' || '1Nx4tL5O_HRtp8qGF_U', 1772362800250, NULL);
INSERT INTO recovery_code (account_id, hash, created_at, used_at) VALUES (286467608805376003, 'MDzZqYEvxKFnQRs9LWxiSbKl' || 'yPu2vfx_qRNfy8JFS3E', 1772362800250, NULL);
INSERT INTO recovery_code (account_id, hash, created_at, used_at) VALUES (286467608805376003, 'U1czFNtq2jDwlpRh2ooJLudq' || '3f2LqUWdZOF29pXBHeI', 1772362800250, NULL);
INSERT INTO recovery_code (account_id, hash, created_at, used_at) VALUES (286467608805376003, 'KLdiG4Id3A69abCqSsEOiWvo' || 'zbtscWITKmBbKQUWhaE', 1772362800250, NULL);
INSERT INTO recovery_code (account_id, hash, created_at, used_at) VALUES (286467608805376003, '-B--7veKbx2gf09irujz_bzL' || '6MB1WT2_-ySfYHp6mKA', 1772362800250, NULL);
INSERT INTO passkey (id, account_id, public_key, counter, transports, name, aaguid, backup_eligible, backed_up, created_at, last_used_at) VALUES ('x3CZbI_UMqc1eRGtyn94QEeL' || 'XIftAKj5ECnz5qkjrjg', 286467608805376002, X'a50102032620012158204a3fef48db5d9186ab3026a5b50514829215d4994d16ab0ce5690d33b4876069225820cfda078e41ceee395156b71daa4e2b7795b696e399ebb36fc032809e9255ae3e', 0, '["internal"]', 'Test passkey', '00000000-0000-0000-0000-' || '000000000000', 0, 0, 1772362800250, NULL);
INSERT INTO trusted_browser (hash, account_id, generation, browser, system, network, created_at, expires_at) VALUES ('trusted_browser hash', 286467608805376001, 'trusted_browser generati' || 'on', 'trusted_browser browser', 'trusted_browser system', 'trusted_browser network', 1, 1);
INSERT INTO mail (id, message_id, kind, account_id, recipient, challenge_hash, sealed, status, attempts, unconfirmed, due_at, created_at, expires_at, settled_at, problem) VALUES (1, '5CuqpX_5OpkrDdlAUJRsag', 'invitation', NULL, 'guest@example.com', NULL, 'lD67Rj0AyMeHwr7bkhG-YwF7' || 'odG92QClLJntnENgnlalJZMv' || 'fgMH_eRm_-0gufCeGnGypFL5' || 'VsgC-rN6a5TQgdWS_PeaYUj5' || 'zoyr6vs_AW-HT704Bs0WwLrI' || '3c7YqIotqNhVTNtvtPP5VAyr' || '0AXDKodJUZu9uF07oIncpLVu' || 'XIUUe2-CSUpqbKnwwLgroLcC' || 'j9MIaGo90-4pRV0SQ506A0pw' || '7cJdYul2GIX-HMy4vDcP5aeM' || 'DuzipG-aWIsTfX3MQi_6AyXy' || 'EipXUpDdHhJ2SvpQv64fqnUb' || 'YQq4W_BF9MMWF96q3Halke_Y' || 'VJAcr_OKtaa82P7lwGTcZ9Tf' || 'jLrWECoGdkV9gzy5zYpqTXrP' || 'avykVz0RcZFhPj-WU45xTZm_' || 'T6V21SwTLXQnP8x08qRzBwUf' || 'yrAwoJBZO5FahNS2sQ7_j8zG' || 'jzpceq9kLxiZSCmJUuaW2zvU' || 'iNo3Izeqfqm8ZRcmQj32ebvW' || 'awfzSHXk-5CyDWTceaTjYRc0' || 'tg', 'kept', 0, 0, 1772366400250, 1772366400250, 1772971200250, NULL, NULL);
INSERT INTO mail (id, message_id, kind, account_id, recipient, challenge_hash, sealed, status, attempts, unconfirmed, due_at, created_at, expires_at, settled_at, problem) VALUES (2, '445KmUJVCjxOl-dBkbnZLg', 'recovery', 286467608805376002, 'user2@example.com', 'jK4gAavS5icGjin1OQDmUQaB' || 'w3kcFUl-ewRLK8x2D_w', 'NCxeFp-_oE7ltDXbZuZS-Su_' || 'Vl7x2KjwuActpo5_J86cdSHs' || '9mj49RUxe4s9Ub8E5pvsQvtw' || 'VD_so5liZJEBXz-iAYXMSUjP' || '7u-iFctXCdd2AZycBklKOa76' || '964mgmxsiC86tEGaww-TixBe' || 'rz5yWt57i8fNVnoTZxgbYY1G' || 'wUWUVgZ3DuwdJr72U8RQdtl6' || 'RQ2hxNhJLxVbbX6mkGmZoSWH' || 'LfOpJN6dyakrSArW2zItV2cs' || 'DqdhAe2YIK2cbKRj-MZDCWjH' || 'W8Q9ml5jNuEjGHauuvC7PTxe' || 'PeFs4nYaREAq4xSDHjL0flex' || 'b6FvRO34w4QALlMe9zVYtR4A' || 'OyAJ734CTId_hAOaZ1PRcyn3' || 'feCpLCQ2ZrU_S3fVjLsQL_2d' || 'ZFNOq-A-oTxyDC1iOPYIFliA' || 'cQIqKYNzrG9T71RYFTPdofvg' || 'aHKh1aHtCLJkaooSS__h0yur' || 'XFcBkNjC2VvqdM5QNWs9tpT2' || 'E0I1t02GCHGYExODmwJHeOrJ' || 'EBdF8SECDq7CmsGZWBEW067f' || 'b3N8NZDDA5vwS9SsxbDyeCIj' || 'euPNYPbRbAf2SCdTHZYD9sPd' || 'YFRpO4udILsrQy5RZaVuZH6V' || 'WkrgygTiYTMm7X4YmMUjH7wQ' || 'XLTAtAhTswbhZmQd4P49YQAo' || 'viH7bYUjPooMuZzSzyv0v-XY' || 'VHMMBmeUiZFdFTf2uL9-gUiv' || 'NA', 'kept', 0, 0, 1772366400250, 1772366400250, 1772368200250, NULL, NULL);
INSERT INTO username_reservation (username, account_id, held_until) VALUES ('username_reservation use' || 'rname', 286467608805376001, 1);
INSERT INTO invitation (id, hash, email, mailed, organization_id, role, inviter_id, admin_key_id, created_at, expires_at, used_at, used_by) VALUES (286467608805376019, 'vIPhw2bfmMhDwyotoguVg5aQ' || 'VP5PXQzMIcDB3dEclU8', 'guest@example.com', 1, 286467608805376000, NULL, NULL, NULL, 1772366400250, 1772971200250, NULL, NULL);
INSERT INTO address_change (hash, account_id, email, email_key, created_at, factors_since, expires_at) VALUES ('address_change hash', 286467608805376001, 'address_change email', 'address_change email_key', 1, 1, 1);
INSERT INTO mail_request (id, purpose, sealed, created_at, attempts, due_at) VALUES ('TxkuiOAM1Iadp0XY-5HvdQ', 'recover', 'p04zLkpUY32JhEhj-f_5Fi7E' || 'uGiQWURGMKQBEOc_uuSIO_dX' || 'ZKXyDXpejomyWhwZz-NSwP9I' || 'nDRQLLbeUz8ahE86FA1vpDs_' || 'Gxh9nya6D3wfjMaH1ThqI-bu' || 'l5UikXcc8vSBEvy2RAFQ_A8m' || 'XPZt14cxWCZ6y0YmnGpuVRp5' || 'SmZthHWST-C7o_nqb6--jPn-' || 'XtgeYnLeRTHYlwFGlK2Uissp' || '7cmEAa8WjE3IzS6HZAT5OxF_' || '95n1HeyLF3jfwTEYMMbnDK3p' || 'NgOOp2PNI-pO7Nsu07oLDquT' || 'b0wtx1DeISxj8w_k5zSHcEMm' || '5d2rwebvZjzIYeys1YmEKRve' || 'BrAVgMtCkuH6P4ZBKZWUltJL' || '_Io', 1772366400250, 0, 1772366400250);
INSERT INTO recovery_setting (account_id, code_required_at) VALUES (286467608805376001, 1);
INSERT INTO data_export (account_id, id, generation, state, pieces, events, last_event, bytes, attempts, due_at, created_at) VALUES (286467608805376001, 'data_export id', 'data_export generation', 'data_export state', 1, 1, 1, 1, 1, 1, 1);
INSERT INTO data_export_piece (account_id, number, sealed) VALUES (286467608805376001, 1, 'data_export_piece sealed');
