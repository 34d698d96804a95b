CREATE TABLE IF NOT EXISTS schema_migration (
    name TEXT PRIMARY KEY,
    earliest_version TEXT,
    applied_by TEXT NOT NULL,
    applied_at TEXT NOT NULL
  ) ;
CREATE TABLE IF NOT EXISTS migration_progress (
    name TEXT PRIMARY KEY,
    last_id BIGINT NOT NULL,
    rows_done BIGINT NOT NULL
  ) ;
CREATE TABLE account (
    id BIGINT PRIMARY KEY,
    username TEXT NOT NULL UNIQUE,
    email TEXT NOT NULL,
    email_key TEXT NOT NULL UNIQUE,
    email_verified BIGINT NOT NULL,
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
    banned_at BIGINT,
    banned_until BIGINT,
    ban_reason TEXT,
    suspended_at BIGINT,
    suspension_reason TEXT,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    picture TEXT,
    deletion_requested_at BIGINT,
    deletion_due_at BIGINT,
    password_set_at BIGINT
  ) ;
CREATE INDEX account_by_deletion ON account (deletion_due_at) WHERE deletion_due_at IS NOT NULL;
CREATE TABLE username_reservation (
    username TEXT PRIMARY KEY,
    account_id BIGINT REFERENCES account (id) ON DELETE SET NULL,
    held_until BIGINT NOT NULL
  ) ;
CREATE INDEX username_reservation_by_account ON username_reservation (account_id) WHERE account_id IS NOT NULL;
CREATE INDEX username_reservation_by_end ON username_reservation (held_until);
CREATE TABLE address_change (
    hash TEXT PRIMARY KEY,
    account_id BIGINT NOT NULL REFERENCES account (id) ON DELETE CASCADE,
    email TEXT NOT NULL,
    email_key TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    factors_since BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    by_operator BIGINT NOT NULL DEFAULT 0
  ) ;
CREATE INDEX address_change_by_account ON address_change (account_id);
CREATE INDEX address_change_by_address ON address_change (email_key);
CREATE INDEX address_change_by_end ON address_change (expires_at);
CREATE TABLE recovery_setting (
    account_id BIGINT PRIMARY KEY REFERENCES account (id) ON DELETE CASCADE,
    code_required_at BIGINT NOT NULL
  ) ;
CREATE TABLE data_export (
    account_id BIGINT PRIMARY KEY REFERENCES account (id) ON DELETE CASCADE,
    id TEXT NOT NULL,
    generation TEXT NOT NULL,
    state TEXT NOT NULL,
    pieces BIGINT NOT NULL,
    events BIGINT NOT NULL,
    last_event BIGINT,
    bytes BIGINT NOT NULL,
    attempts BIGINT NOT NULL,
    due_at BIGINT NOT NULL,
    created_at BIGINT NOT NULL
  ) ;
CREATE INDEX data_export_due ON data_export (due_at) WHERE state = 'waiting';
CREATE INDEX data_export_by_time ON data_export (created_at);
CREATE TABLE data_export_piece (
    account_id BIGINT NOT NULL REFERENCES data_export (account_id) ON DELETE CASCADE,
    number BIGINT NOT NULL,
    sealed TEXT NOT NULL,
    PRIMARY KEY (account_id, number)
  ) ;
CREATE TABLE client (
    id BIGINT PRIMARY KEY,
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
    require_pkce BIGINT NOT NULL,
    owner TEXT,
    status TEXT NOT NULL,
    generation TEXT NOT NULL,
    consent_epoch TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    token_endpoint_auth_method TEXT,
    jwks TEXT,
    jwks_uri TEXT,
    backchannel_logout_uri TEXT,
    backchannel_logout_session_required BIGINT,
    userinfo_signed_response_alg TEXT,
    grant_types TEXT,
    default_max_age BIGINT,
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
  ) ;
CREATE UNIQUE INDEX client_by_resource ON client (resource) WHERE resource IS NOT NULL;
CREATE INDEX client_by_id_token_alg ON client (id_token_signed_response_alg);
CREATE INDEX client_by_userinfo_alg ON client (userinfo_signed_response_alg);
CREATE TABLE client_secret (
    id BIGINT PRIMARY KEY,
    client_id BIGINT NOT NULL REFERENCES client (id) ON DELETE CASCADE,
    hash TEXT NOT NULL UNIQUE,
    created_at BIGINT NOT NULL,
    last_used_at BIGINT,
    expires_at BIGINT
  ) ;
CREATE INDEX client_secret_by_client ON client_secret (client_id);
CREATE TABLE client_origin (
    origin TEXT NOT NULL,
    client_id BIGINT NOT NULL REFERENCES client (id) ON DELETE CASCADE,
    PRIMARY KEY (origin, client_id)
  ) ;
CREATE INDEX client_origin_by_client ON client_origin (client_id);
CREATE TABLE client_api_scope (
    id BIGINT PRIMARY KEY,
    client_id BIGINT NOT NULL REFERENCES client (id) ON DELETE CASCADE,
    api_id BIGINT NOT NULL REFERENCES client (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    UNIQUE (client_id, api_id, name)
  ) ;
CREATE INDEX client_api_scope_by_api ON client_api_scope (api_id, client_id);
CREATE TABLE client_assertion (
    hash TEXT PRIMARY KEY,
    expires_at BIGINT NOT NULL
  ) ;
CREATE INDEX client_assertion_end ON client_assertion (expires_at);
CREATE TABLE client_token (
    jti TEXT PRIMARY KEY,
    client_id BIGINT NOT NULL REFERENCES client (id) ON DELETE CASCADE,
    client_generation TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    ends_at BIGINT NOT NULL,
    dead_at BIGINT,
    scopes TEXT
  ) ;
CREATE INDEX client_token_by_client ON client_token (client_id);
CREATE INDEX client_token_by_end ON client_token (ends_at);
CREATE TABLE playground_visit (
    browser_hash TEXT PRIMARY KEY,
    client_id BIGINT NOT NULL UNIQUE REFERENCES client (id) ON DELETE CASCADE,
    turn BIGINT NOT NULL,
    sealed TEXT NOT NULL,
    expires_at BIGINT NOT NULL
  ) ;
CREATE INDEX playground_visit_by_end ON playground_visit (expires_at);
CREATE TABLE picture (
    name TEXT NOT NULL PRIMARY KEY,
    account_id BIGINT UNIQUE REFERENCES account (id) ON DELETE CASCADE,
    client_id BIGINT UNIQUE REFERENCES client (id) ON DELETE CASCADE,
    bytes BYTEA NOT NULL
  ) ;
CREATE TABLE organization (
    id BIGINT PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    domain TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    require_second_factor INTEGER NOT NULL DEFAULT 0
  ) ;
CREATE TABLE membership (
    id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    account_id BIGINT NOT NULL UNIQUE REFERENCES account (id) ON DELETE CASCADE,
    organization_id BIGINT NOT NULL REFERENCES organization (id) ON DELETE CASCADE,
    role TEXT
  ) ;
CREATE INDEX membership_by_organization ON membership (organization_id);
CREATE UNIQUE INDEX membership_by_both ON membership (account_id, organization_id);
CREATE TABLE invitation (
    id BIGINT PRIMARY KEY,
    hash TEXT NOT NULL UNIQUE,
    email TEXT,
    mailed INTEGER NOT NULL,
    organization_id BIGINT REFERENCES organization (id) ON DELETE CASCADE,
    role TEXT,
    inviter_id BIGINT REFERENCES account (id) ON DELETE CASCADE,
    admin_key_id BIGINT,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    used_at BIGINT,
    used_by BIGINT REFERENCES account (id) ON DELETE SET NULL
  ) ;
CREATE INDEX invitation_by_organization ON invitation (organization_id);
CREATE INDEX invitation_by_inviter ON invitation (inviter_id);
CREATE INDEX invitation_by_user ON invitation (used_by);
CREATE INDEX invitation_by_end ON invitation (expires_at);
CREATE INDEX invitation_by_admin_key ON invitation (admin_key_id);
CREATE TABLE user_group (
    id BIGINT PRIMARY KEY,
    organization_id BIGINT REFERENCES organization (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    display_name TEXT NOT NULL,
    description TEXT,
    source TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    deleted_at BIGINT
  ) ;
CREATE UNIQUE INDEX user_group_name ON user_group (name) WHERE organization_id IS NULL AND deleted_at IS NULL;
CREATE UNIQUE INDEX user_group_by_organization ON user_group (organization_id, name) WHERE organization_id IS NOT NULL AND deleted_at IS NULL;
CREATE INDEX user_group_of_organization ON user_group (organization_id) WHERE organization_id IS NOT NULL;
CREATE INDEX user_group_deleted ON user_group (deleted_at) WHERE deleted_at IS NOT NULL;
CREATE TABLE group_member (
    id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    group_id BIGINT NOT NULL REFERENCES user_group (id) ON DELETE CASCADE,
    account_id BIGINT NOT NULL REFERENCES account (id) ON DELETE CASCADE,
    organization_id BIGINT,
    added_at BIGINT NOT NULL,
    UNIQUE (group_id, account_id),
    FOREIGN KEY (account_id, organization_id) REFERENCES membership (account_id, organization_id) ON DELETE CASCADE
  ) ;
CREATE INDEX group_member_by_account ON group_member (account_id);
CREATE TABLE app_assignment (
    id BIGINT PRIMARY KEY,
    client_id BIGINT NOT NULL REFERENCES client (id) ON DELETE CASCADE,
    account_id BIGINT REFERENCES account (id) ON DELETE CASCADE,
    group_id BIGINT REFERENCES user_group (id) ON DELETE CASCADE,
    organization_id BIGINT REFERENCES organization (id) ON DELETE CASCADE,
    role TEXT NOT NULL DEFAULT '',
    created_at BIGINT NOT NULL,
    ended_at BIGINT
  ) ;
CREATE UNIQUE INDEX app_assignment_person ON app_assignment (client_id, account_id, role) WHERE account_id IS NOT NULL AND ended_at IS NULL;
CREATE UNIQUE INDEX app_assignment_group ON app_assignment (client_id, group_id, role) WHERE group_id IS NOT NULL AND ended_at IS NULL;
CREATE UNIQUE INDEX app_assignment_organization ON app_assignment (client_id, organization_id, role) WHERE organization_id IS NOT NULL AND ended_at IS NULL;
CREATE INDEX app_assignment_by_client ON app_assignment (client_id, id);
CREATE INDEX app_assignment_ended ON app_assignment (ended_at) WHERE ended_at IS NOT NULL;
CREATE INDEX app_assignment_by_account ON app_assignment (account_id) WHERE account_id IS NOT NULL;
CREATE INDEX app_assignment_by_group ON app_assignment (group_id) WHERE group_id IS NOT NULL;
CREATE INDEX app_assignment_by_organization ON app_assignment (organization_id) WHERE organization_id IS NOT NULL;
CREATE TABLE browser_session (
    hash TEXT PRIMARY KEY,
    sid TEXT NOT NULL UNIQUE,
    account_id BIGINT NOT NULL REFERENCES account (id) ON DELETE CASCADE,
    generation TEXT NOT NULL,
    auth_time BIGINT NOT NULL,
    last_seen_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    browser TEXT,
    system TEXT,
    network TEXT,
    amr TEXT NOT NULL DEFAULT '["pwd"]',
    acr TEXT DEFAULT 'urn:oasis:names:tc:SAML:2.0:ac:classes:PasswordProtectedTransport',
    proved_at BIGINT NOT NULL DEFAULT 0,
    proved_by TEXT NOT NULL DEFAULT 'password',
    proved_factor_since BIGINT,
    proved_after BIGINT
  ) ;
CREATE INDEX browser_session_by_account ON browser_session (account_id);
CREATE INDEX browser_session_by_end ON browser_session (expires_at);
CREATE INDEX browser_session_by_last_use ON browser_session (last_seen_at);
CREATE TABLE known_browser (
    account_id BIGINT NOT NULL REFERENCES account (id) ON DELETE CASCADE,
    browser_hash TEXT NOT NULL,
    last_seen_at BIGINT NOT NULL,
    PRIMARY KEY (account_id, browser_hash)
  ) ;
CREATE INDEX known_browser_by_last_seen ON known_browser (last_seen_at);
CREATE TABLE trusted_browser (
    hash TEXT PRIMARY KEY,
    account_id BIGINT NOT NULL REFERENCES account (id) ON DELETE CASCADE,
    generation TEXT NOT NULL,
    browser TEXT,
    system TEXT,
    network TEXT,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL
  ) ;
CREATE INDEX trusted_browser_by_account ON trusted_browser (account_id);
CREATE INDEX trusted_browser_by_end ON trusted_browser (expires_at);
CREATE TABLE pending_sign_in (
    hash TEXT PRIMARY KEY,
    account_id BIGINT NOT NULL REFERENCES account (id) ON DELETE CASCADE,
    generation TEXT NOT NULL,
    browser_hash TEXT NOT NULL,
    methods TEXT NOT NULL,
    interaction_hash TEXT,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    factors_since TEXT
  ) ;
CREATE INDEX pending_sign_in_by_account ON pending_sign_in (account_id);
CREATE INDEX pending_sign_in_by_end ON pending_sign_in (expires_at);
CREATE TABLE totp_secret (
    account_id BIGINT PRIMARY KEY REFERENCES account (id) ON DELETE CASCADE,
    sealed TEXT NOT NULL,
    generation TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    confirmed_at BIGINT,
    last_step BIGINT NOT NULL
  ) ;
CREATE TABLE recovery_code (
    account_id BIGINT NOT NULL REFERENCES account (id) ON DELETE CASCADE,
    hash TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    used_at BIGINT,
    PRIMARY KEY (account_id, hash)
  ) ;
CREATE TABLE passkey (
    id TEXT PRIMARY KEY,
    account_id BIGINT NOT NULL REFERENCES account (id) ON DELETE CASCADE,
    public_key BYTEA NOT NULL,
    counter BIGINT NOT NULL,
    transports TEXT NOT NULL,
    name TEXT NOT NULL,
    aaguid TEXT NOT NULL,
    backup_eligible INTEGER NOT NULL,
    backed_up INTEGER NOT NULL,
    created_at BIGINT NOT NULL,
    last_used_at BIGINT
  ) ;
CREATE INDEX passkey_by_account ON passkey (account_id);
CREATE TABLE interaction (
    hash TEXT PRIMARY KEY,
    browser_hash TEXT NOT NULL,
    client_id BIGINT NOT NULL REFERENCES client (id) ON DELETE CASCADE,
    request TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    signed_in_session TEXT,
    outcome TEXT,
    chosen_session TEXT,
    state BYTEA
  ) ;
CREATE INDEX interaction_by_end ON interaction (expires_at);
CREATE INDEX interaction_by_client ON interaction (client_id);
CREATE TABLE consent_grant (
    id BIGINT PRIMARY KEY,
    account_id BIGINT NOT NULL REFERENCES account (id) ON DELETE CASCADE,
    client_id BIGINT NOT NULL REFERENCES client (id) ON DELETE CASCADE,
    scopes TEXT NOT NULL,
    declined_scopes TEXT NOT NULL,
    consent_epoch TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    revoked_at BIGINT,
    resources TEXT,
    face TEXT NOT NULL DEFAULT 'contract',
    ask_again INTEGER NOT NULL DEFAULT 0,
    last_used_at BIGINT,
    decided_by TEXT NOT NULL DEFAULT 'person'
  ) ;
CREATE INDEX consent_grant_by_account ON consent_grant (account_id);
CREATE INDEX consent_grant_by_client ON consent_grant (client_id);
CREATE INDEX consent_grant_revoked ON consent_grant ((-id), revoked_at) WHERE revoked_at IS NOT NULL;
CREATE INDEX consent_grant_by_revocation ON consent_grant (revoked_at) WHERE revoked_at > 0;
CREATE UNIQUE INDEX consent_grant_live ON consent_grant (account_id, client_id, face) WHERE revoked_at IS NULL;
CREATE TABLE consent_revocation (
    account_id BIGINT NOT NULL REFERENCES account (id) ON DELETE CASCADE,
    client_id BIGINT NOT NULL REFERENCES client (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    revoked_at BIGINT NOT NULL,
    PRIMARY KEY (account_id, client_id)
  ) ;
CREATE INDEX consent_revocation_by_client ON consent_revocation (client_id);
CREATE INDEX consent_revocation_by_time ON consent_revocation (revoked_at);
CREATE TABLE token_family (
    id BIGINT PRIMARY KEY,
    grant_id BIGINT NOT NULL REFERENCES consent_grant (id) ON DELETE CASCADE,
    account_id BIGINT NOT NULL,
    client_id BIGINT NOT NULL,
    account_generation TEXT NOT NULL,
    client_generation TEXT NOT NULL,
    scopes TEXT NOT NULL,
    sid TEXT NOT NULL,
    auth_time BIGINT NOT NULL,
    sequence BIGINT NOT NULL,
    leaf_jti TEXT NOT NULL UNIQUE,
    leaf_kid TEXT NOT NULL,
    leaf_issued_at BIGINT NOT NULL,
    leaf_expires_at BIGINT NOT NULL,
    predecessor_jti TEXT,
    rotated_at BIGINT,
    created_at BIGINT NOT NULL,
    ends_at BIGINT NOT NULL,
    dead_at BIGINT,
    dead_reason TEXT,
    claims TEXT,
    resources TEXT,
    withdrawn_scopes TEXT NOT NULL DEFAULT '',
    amr TEXT NOT NULL DEFAULT '["pwd"]',
    acr TEXT DEFAULT 'urn:oasis:names:tc:SAML:2.0:ac:classes:PasswordProtectedTransport',
    face TEXT NOT NULL DEFAULT 'contract',
    ends_with_session INTEGER NOT NULL DEFAULT 0,
    review_at BIGINT NOT NULL DEFAULT 0,
    assignment_id BIGINT,
    member_id BIGINT
  ) ;
CREATE INDEX token_family_by_grant ON token_family (grant_id);
CREATE INDEX token_family_by_end ON token_family (ends_at);
CREATE INDEX token_family_by_review ON token_family (review_at);
CREATE INDEX token_family_by_assignment ON token_family (assignment_id, id) WHERE assignment_id IS NOT NULL;
CREATE TABLE authorization_code (
    hash TEXT PRIMARY KEY,
    grant_id BIGINT NOT NULL REFERENCES consent_grant (id) ON DELETE CASCADE,
    account_id BIGINT NOT NULL,
    client_id BIGINT NOT NULL,
    account_generation TEXT NOT NULL,
    client_generation TEXT NOT NULL,
    redirect_uri TEXT NOT NULL,
    scopes TEXT NOT NULL,
    narrowed BIGINT NOT NULL,
    nonce TEXT,
    code_challenge TEXT,
    sid TEXT NOT NULL,
    auth_time BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    redeemed_at BIGINT,
    family_id BIGINT REFERENCES token_family (id) ON DELETE CASCADE,
    claims TEXT,
    resources TEXT,
    withdrawn_scopes TEXT NOT NULL DEFAULT '',
    amr TEXT NOT NULL DEFAULT '["pwd"]',
    acr TEXT DEFAULT 'urn:oasis:names:tc:SAML:2.0:ac:classes:PasswordProtectedTransport',
    face TEXT NOT NULL DEFAULT 'contract',
    ends_with_session INTEGER NOT NULL DEFAULT 0,
    assignment_id BIGINT,
    member_id BIGINT
  ) ;
CREATE INDEX authorization_code_by_grant ON authorization_code (grant_id);
CREATE INDEX authorization_code_by_end ON authorization_code (expires_at) WHERE redeemed_at IS NULL;
CREATE INDEX authorization_code_by_family ON authorization_code (family_id) WHERE family_id IS NOT NULL;
CREATE TABLE logout_notice (
    id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    client_id BIGINT NOT NULL REFERENCES client (id) ON DELETE CASCADE,
    account_id BIGINT NOT NULL,
    sid TEXT,
    created_at BIGINT NOT NULL,
    attempts BIGINT NOT NULL,
    due_at BIGINT NOT NULL
  ) ;
CREATE INDEX logout_notice_by_due ON logout_notice (due_at);
CREATE INDEX logout_notice_by_client ON logout_notice (client_id, due_at);
CREATE TABLE signing_key (
    kid TEXT PRIMARY KEY,
    sealed TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    retired_at BIGINT
  ) ;
CREATE TABLE id_token_key (
    kid TEXT PRIMARY KEY,
    alg TEXT NOT NULL,
    sealed TEXT NOT NULL,
    public_jwk TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    signs_from BIGINT NOT NULL,
    given_up_at BIGINT
  ) ;
CREATE TABLE key_set (
    id BIGINT PRIMARY KEY CHECK (id = 1),
    version TEXT NOT NULL
  ) ;
CREATE TABLE data_key (
    id BIGINT PRIMARY KEY,
    sealed TEXT NOT NULL,
    created_at BIGINT NOT NULL
  ) ;
CREATE TABLE admin_key (
    id BIGINT PRIMARY KEY,
    name TEXT NOT NULL,
    hash TEXT NOT NULL UNIQUE,
    created_at BIGINT NOT NULL,
    revoked_at BIGINT
  ) ;
CREATE TABLE configured_admin_key (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    key_id BIGINT,
    hash TEXT
  ) ;
CREATE TABLE node_lease (
    node BIGINT PRIMARY KEY,
    holder TEXT NOT NULL,
    expires_at BIGINT NOT NULL
  ) ;
CREATE TABLE known_server (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    cluster TEXT NOT NULL,
    timeline BIGINT NOT NULL,
    database TEXT NOT NULL,
    relation TEXT NOT NULL,
    release INTEGER NOT NULL
  ) ;
CREATE TABLE rate_count (
    bucket TEXT PRIMARY KEY,
    count BIGINT NOT NULL,
    window_ends_at BIGINT NOT NULL
  ) ;
CREATE INDEX rate_count_by_end ON rate_count (window_ends_at);
CREATE TABLE audit_event (
    id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at BIGINT NOT NULL,
    type TEXT NOT NULL,
    outcome TEXT NOT NULL,
    actor_type TEXT NOT NULL,
    actor_id BIGINT,
    account_id BIGINT,
    client_id BIGINT,
    address TEXT,
    request_id TEXT,
    details TEXT NOT NULL
  ) ;
CREATE INDEX audit_event_by_account ON audit_event ((id / 1024), account_id);
CREATE INDEX audit_event_by_client ON audit_event ((id / 1024), client_id);
CREATE INDEX audit_event_with_reason ON audit_event (account_id) WHERE type IN ('account.banned', 'account.suspended');
CREATE INDEX audit_event_of_account ON audit_event (account_id, (-id))
   WHERE account_id IS NOT NULL
   AND type NOT IN ('authorization.issued', 'token.issued', 'token.refreshed', 'token.repeated', 'token.refused', 'token.revoked');
CREATE TABLE trace_step (
    id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at BIGINT NOT NULL,
    ring TEXT NOT NULL,
    request_id TEXT NOT NULL,
    client_id BIGINT REFERENCES client (id) ON DELETE CASCADE,
    account_id BIGINT REFERENCES account (id) ON DELETE CASCADE,
    step TEXT NOT NULL,
    outcome TEXT NOT NULL,
    flow TEXT,
    leads_to TEXT,
    facts TEXT NOT NULL
  ) ;
CREATE INDEX trace_step_by_request ON trace_step (request_id);
CREATE INDEX trace_step_by_ring ON trace_step (ring, id);
CREATE INDEX trace_step_by_flow ON trace_step (flow) WHERE flow IS NOT NULL;
CREATE INDEX trace_step_by_next_flow ON trace_step (leads_to) WHERE leads_to IS NOT NULL;
CREATE INDEX trace_step_by_client ON trace_step (client_id) WHERE client_id IS NOT NULL;
CREATE INDEX trace_step_by_account ON trace_step (account_id) WHERE account_id IS NOT NULL;
CREATE TABLE challenge (
    hash TEXT PRIMARY KEY,
    purpose TEXT NOT NULL,
    account_id BIGINT REFERENCES account (id) ON DELETE CASCADE,
    generation TEXT,
    address TEXT NOT NULL,
    browser_hash TEXT,
    code_hash TEXT,
    sealed TEXT,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    used_at BIGINT,
    admin_key_id BIGINT
  ) ;
CREATE INDEX challenge_by_account ON challenge (account_id, purpose) WHERE account_id IS NOT NULL;
CREATE INDEX challenge_by_browser ON challenge (browser_hash, purpose) WHERE browser_hash IS NOT NULL;
CREATE INDEX challenge_by_address ON challenge (address);
CREATE INDEX challenge_by_end ON challenge (expires_at);
CREATE INDEX challenge_by_admin_key ON challenge (admin_key_id);
CREATE TABLE mail_request (
    id TEXT PRIMARY KEY,
    purpose TEXT NOT NULL,
    sealed TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0,
    due_at BIGINT NOT NULL DEFAULT 0
  ) ;
CREATE INDEX mail_request_by_time ON mail_request (created_at);
CREATE INDEX mail_request_by_turn ON mail_request (due_at);
CREATE TABLE mail (
    id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    message_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    account_id BIGINT,
    recipient TEXT NOT NULL,
    challenge_hash TEXT,
    sealed TEXT,
    status TEXT NOT NULL,
    attempts BIGINT NOT NULL,
    unconfirmed BIGINT NOT NULL,
    due_at BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    settled_at BIGINT,
    problem TEXT,
    priority INTEGER NOT NULL DEFAULT 0,
    recipient_domain TEXT NOT NULL DEFAULT '-'
  ) ;
CREATE INDEX mail_by_due ON mail (status, due_at);
CREATE INDEX mail_by_status ON mail (status, id);
CREATE INDEX mail_by_priority ON mail (status, priority, (due_at + 0));
CREATE INDEX mail_by_lane ON mail (status, priority, recipient_domain, (due_at - 0));
CREATE INDEX mail_by_account ON mail (account_id, status);
INSERT INTO schema_migration (name, earliest_version, applied_by, applied_at) OVERRIDING SYSTEM VALUE VALUES ('0001-accounts', NULL, '0.2.0', '2026-11-26 17:34:48');
INSERT INTO schema_migration (name, earliest_version, applied_by, applied_at) OVERRIDING SYSTEM VALUE VALUES ('0002-clients', NULL, '0.2.0', '2026-11-26 17:34:48');
INSERT INTO schema_migration (name, earliest_version, applied_by, applied_at) OVERRIDING SYSTEM VALUE VALUES ('0003-organizations', NULL, '0.2.0', '2026-11-26 17:34:48');
INSERT INTO schema_migration (name, earliest_version, applied_by, applied_at) OVERRIDING SYSTEM VALUE VALUES ('0004-sign-in', NULL, '0.2.0', '2026-11-26 17:34:48');
INSERT INTO schema_migration (name, earliest_version, applied_by, applied_at) OVERRIDING SYSTEM VALUE VALUES ('0005-tokens', NULL, '0.2.0', '2026-11-26 17:34:48');
INSERT INTO schema_migration (name, earliest_version, applied_by, applied_at) OVERRIDING SYSTEM VALUE VALUES ('0006-service', NULL, '0.2.0', '2026-11-26 17:34:48');
INSERT INTO schema_migration (name, earliest_version, applied_by, applied_at) OVERRIDING SYSTEM VALUE VALUES ('0007-mail', NULL, '0.2.0', '2026-11-26 17:34:48');
INSERT INTO account (id, username, email, email_key, email_verified, password_hash, generation, display_name, about, language, theme, website, location, birth_date, phone, social_links, avatar_color, banned_at, banned_until, ban_reason, suspended_at, suspension_reason, created_at, updated_at, picture, deletion_requested_at, deletion_due_at, password_set_at) OVERRIDING SYSTEM VALUE VALUES (286467608805376002, 'user1', 'user1@example.com', 'user1@example.com', 0, '$argon2id$v=19$m=64,t=1,' || 'p=1$oxw0q2SGgxQbm/OSv63k' || 'Fw$qeIgBxSMw6v31iNZA3nH3' || 'hjixNLiAei07xIbMaIc0lo', 'IBU8qv-TcNltjYxtbZx00g', 'User 1', '', 'en', NULL, NULL, NULL, NULL, NULL, '[]', '#8a2f2f', NULL, NULL, NULL, NULL, NULL, 1772366400250, 1772366400250, 'tDgkMGVKf3xdmaTelX5rEg.j' || 'pg', NULL, NULL, NULL);
INSERT INTO account (id, username, email, email_key, email_verified, password_hash, generation, display_name, about, language, theme, website, location, birth_date, phone, social_links, avatar_color, banned_at, banned_until, ban_reason, suspended_at, suspension_reason, created_at, updated_at, picture, deletion_requested_at, deletion_due_at, password_set_at) OVERRIDING SYSTEM VALUE VALUES (286467608805376003, 'user2', 'user2@example.com', 'user2@example.com', 0, '$argon2id$v=19$m=64,t=1,' || 'p=1$62EB6itv2qth/85xe9X9' || 'cg$378Pk/P5n5T1isqllJ10n' || 'mV4tFl3byN5v0TGWSsJ4Ac', 'c_4IrRIQULyvxtWwKV4k_Q', 'User 2', '', 'en', NULL, NULL, NULL, NULL, NULL, '[]', '#6b4a12', NULL, NULL, NULL, NULL, NULL, 1772366400250, 1772366400250, NULL, NULL, NULL, NULL);
INSERT INTO account (id, username, email, email_key, email_verified, password_hash, generation, display_name, about, language, theme, website, location, birth_date, phone, social_links, avatar_color, banned_at, banned_until, ban_reason, suspended_at, suspension_reason, created_at, updated_at, picture, deletion_requested_at, deletion_due_at, password_set_at) OVERRIDING SYSTEM VALUE VALUES (286467608805376004, 'user3', 'user3@example.com', 'user3@example.com', 0, '$argon2id$v=19$m=64,t=1,' || 'p=1$wQiXBWvaZOlj1w072lXU' || '4w$uyCt4np+eJEsGN/VPjhvB' || 'QQQIQtIjt4o3wwptKgo9Fs', 'ZrmpgSrkGX-kxGzLSwQMEg', 'User 3', '', 'en', NULL, NULL, NULL, NULL, NULL, '[]', '#2f5d34', NULL, NULL, NULL, NULL, NULL, 1772366400250, 1772366400250, NULL, NULL, NULL, NULL);
INSERT INTO account (id, username, email, email_key, email_verified, password_hash, generation, display_name, about, language, theme, website, location, birth_date, phone, social_links, avatar_color, banned_at, banned_until, ban_reason, suspended_at, suspension_reason, created_at, updated_at, picture, deletion_requested_at, deletion_due_at, password_set_at) OVERRIDING SYSTEM VALUE VALUES (286467608805376005, 'user4', 'user4@example.com', 'user4@example.com', 0, '$argon2id$v=19$m=64,t=1,' || 'p=1$sHZIb+k2iglqaZMEErv2' || 'Mg$3eqN2JvQYhMTNKq6U+okK' || 'DOEVbN3wN05LpJAn3so5aQ', 'LiW9CF0e6W2YqRbzHLbfng', 'User 4', '', 'en', NULL, NULL, NULL, NULL, NULL, '[]', '#0f5e63', 1772366400250, NULL, 'spam', NULL, NULL, 1772366400250, 1772366400251, NULL, NULL, NULL, NULL);
INSERT INTO username_reservation (username, account_id, held_until) OVERRIDING SYSTEM VALUE VALUES ('username_reservation use' || 'rname', 286467608805376002, 1);
INSERT INTO address_change (hash, account_id, email, email_key, created_at, factors_since, expires_at, by_operator) OVERRIDING SYSTEM VALUE VALUES ('address_change hash', 286467608805376002, 'address_change email', 'address_change email_key', 1, 1, 1, 1);
INSERT INTO recovery_setting (account_id, code_required_at) OVERRIDING SYSTEM VALUE VALUES (286467608805376002, 1);
INSERT INTO data_export (account_id, id, generation, state, pieces, events, last_event, bytes, attempts, due_at, created_at) OVERRIDING SYSTEM VALUE VALUES (286467608805376002, 'data_export id', 'data_export generation', 'data_export state', 1, 1, 1, 1, 1, 1, 1);
INSERT INTO data_export_piece (account_id, number, sealed) OVERRIDING SYSTEM VALUE VALUES (286467608805376002, 1, 'data_export_piece sealed');
INSERT INTO client (id, name, description, logo_url, homepage_url, policy_url, terms_url, redirect_uris, post_logout_redirect_uris, scopes, type, require_pkce, owner, status, generation, consent_epoch, created_at, updated_at, token_endpoint_auth_method, jwks, jwks_uri, backchannel_logout_uri, backchannel_logout_session_required, userinfo_signed_response_alg, grant_types, default_max_age, resource, picture, contacts, faces, id_token_claims, id_token_signed_response_alg, require_second_factor, access, roles, groups_claim, claim_names, left_out, resource_scopes, consent, consent_approval) OVERRIDING SYSTEM VALUE VALUES (286467608805376006, 'App 5', NULL, NULL, NULL, NULL, NULL, '["https://app.example.co' || 'm/callback"]', '[]', '["openid","profile","ema' || 'il","offline_access"]', 'confidential', 0, NULL, 'active', 'QSkyx2Lp8hTCG2tHlyQ1kQ', 'EoyZraIga0qvidIiiAVenA', 1772366400250, 1772366400250, NULL, NULL, NULL, NULL, 1, NULL, '["authorization_code","r' || 'efresh_token"]', NULL, NULL, NULL, '[]', '["contract","standard"]', 'granted', NULL, 0, 'everyone', '[]', 'assigned', NULL, NULL, NULL, 'ask', NULL);
INSERT INTO client (id, name, description, logo_url, homepage_url, policy_url, terms_url, redirect_uris, post_logout_redirect_uris, scopes, type, require_pkce, owner, status, generation, consent_epoch, created_at, updated_at, token_endpoint_auth_method, jwks, jwks_uri, backchannel_logout_uri, backchannel_logout_session_required, userinfo_signed_response_alg, grant_types, default_max_age, resource, picture, contacts, faces, id_token_claims, id_token_signed_response_alg, require_second_factor, access, roles, groups_claim, claim_names, left_out, resource_scopes, consent, consent_approval) OVERRIDING SYSTEM VALUE VALUES (286467608805376008, 'App 6', NULL, NULL, NULL, NULL, NULL, '["https://app.example.co' || 'm/callback"]', '[]', NULL, 'confidential', 0, NULL, 'active', 'pdWCEreCKWED_UNvj1SaOQ', '6y4USOrK7oMyuySIOhPMOQ', 1772366400250, 1772366400250, NULL, NULL, NULL, NULL, 1, NULL, '["authorization_code","r' || 'efresh_token"]', NULL, NULL, NULL, '[]', '["contract","standard"]', 'granted', NULL, 0, 'everyone', '[]', 'assigned', NULL, NULL, NULL, 'ask', NULL);
INSERT INTO client (id, name, description, logo_url, homepage_url, policy_url, terms_url, redirect_uris, post_logout_redirect_uris, scopes, type, require_pkce, owner, status, generation, consent_epoch, created_at, updated_at, token_endpoint_auth_method, jwks, jwks_uri, backchannel_logout_uri, backchannel_logout_session_required, userinfo_signed_response_alg, grant_types, default_max_age, resource, picture, contacts, faces, id_token_claims, id_token_signed_response_alg, require_second_factor, access, roles, groups_claim, claim_names, left_out, resource_scopes, consent, consent_approval) OVERRIDING SYSTEM VALUE VALUES (286467608805376010, 'App 7', NULL, NULL, NULL, NULL, NULL, '["https://app.example.co' || 'm/callback"]', '[]', NULL, 'confidential', 0, NULL, 'active', '9jhF57didZGmufwtQf9uIQ', '2oYqvfzy8M1a0pZbcrbk4w', 1772366400250, 1772366400250, NULL, NULL, NULL, NULL, 1, NULL, '["authorization_code","r' || 'efresh_token"]', NULL, 'https://api.example.com', NULL, '[]', '["contract","standard"]', 'granted', NULL, 0, 'everyone', '[]', 'assigned', NULL, NULL, NULL, 'ask', NULL);
INSERT INTO client (id, name, description, logo_url, homepage_url, policy_url, terms_url, redirect_uris, post_logout_redirect_uris, scopes, type, require_pkce, owner, status, generation, consent_epoch, created_at, updated_at, token_endpoint_auth_method, jwks, jwks_uri, backchannel_logout_uri, backchannel_logout_session_required, userinfo_signed_response_alg, grant_types, default_max_age, resource, picture, contacts, faces, id_token_claims, id_token_signed_response_alg, require_second_factor, access, roles, groups_claim, claim_names, left_out, resource_scopes, consent, consent_approval) OVERRIDING SYSTEM VALUE VALUES (286467608805376012, 'App 8', NULL, NULL, NULL, NULL, NULL, '["https://app.example.co' || 'm/callback"]', '[]', NULL, 'confidential', 0, NULL, 'active', 'bo_WvhtWlAy8bFT4_86zsg', 'ATvKKLO5zyoJ1L1eKQje8g', 1772366400250, 1772366400250, NULL, NULL, NULL, NULL, 1, NULL, '["client_credentials"]', NULL, NULL, NULL, '[]', '["contract","standard"]', 'granted', NULL, 0, 'everyone', '[]', 'assigned', NULL, NULL, NULL, 'ask', NULL);
INSERT INTO client (id, name, description, logo_url, homepage_url, policy_url, terms_url, redirect_uris, post_logout_redirect_uris, scopes, type, require_pkce, owner, status, generation, consent_epoch, created_at, updated_at, token_endpoint_auth_method, jwks, jwks_uri, backchannel_logout_uri, backchannel_logout_session_required, userinfo_signed_response_alg, grant_types, default_max_age, resource, picture, contacts, faces, id_token_claims, id_token_signed_response_alg, require_second_factor, access, roles, groups_claim, claim_names, left_out, resource_scopes, consent, consent_approval) OVERRIDING SYSTEM VALUE VALUES (286467608805376021, 'Playground app', NULL, NULL, NULL, NULL, NULL, '["http://localhost:4000/' || 'playground/callback"]', '[]', NULL, 'confidential', 0, 'your own playground', 'active', 'P7G0AMhL7SJqr5WCZ18S6A', 'MChBcuP9OIH9-qchcG5UUA', 1772366400250, 1772366400250, NULL, NULL, NULL, NULL, 1, NULL, '["authorization_code","r' || 'efresh_token"]', NULL, NULL, NULL, '[]', '["contract","standard"]', 'granted', NULL, 0, 'everyone', '[]', 'assigned', NULL, NULL, NULL, 'ask', NULL);
INSERT INTO client_secret (id, client_id, hash, created_at, last_used_at, expires_at) OVERRIDING SYSTEM VALUE VALUES (286467608805376007, 286467608805376006, 'QcGG87IFPJGUuxqeeUyZMmUl' || '87CxHlKgsV86u4rh0OE', 1772366400250, 1772366400250, NULL);
INSERT INTO client_secret (id, client_id, hash, created_at, last_used_at, expires_at) OVERRIDING SYSTEM VALUE VALUES (286467608805376009, 286467608805376008, 'ol1D6baK5WSJ7tzASERw9Y1P' || 'hzA2YaHD6Bw7HoexUr8', 1772366400250, 1772366400250, NULL);
INSERT INTO client_secret (id, client_id, hash, created_at, last_used_at, expires_at) OVERRIDING SYSTEM VALUE VALUES (286467608805376011, 286467608805376010, 'Hh36ljG5JN48trAynMGYOSFV' || 'WI2yxoJjKE9s6oBUwOg', 1772366400250, NULL, NULL);
INSERT INTO client_secret (id, client_id, hash, created_at, last_used_at, expires_at) OVERRIDING SYSTEM VALUE VALUES (286467608805376013, 286467608805376012, 'qT9oKk91-P1YFgfH_N-A56lI' || 'aDRku5kJmSa9Aa8FoLI', 1772366400250, 1772366400250, NULL);
INSERT INTO client_secret (id, client_id, hash, created_at, last_used_at, expires_at) OVERRIDING SYSTEM VALUE VALUES (286467608805376022, 286467608805376021, 'IBFlVgem__PJ-kJlX4XNkRzq' || 'duBxA6QmK3XYVb889Xk', 1772366400250, NULL, NULL);
INSERT INTO client_origin (origin, client_id) OVERRIDING SYSTEM VALUE VALUES ('client_origin origin', 286467608805376006);
INSERT INTO client_api_scope (id, client_id, api_id, name, created_at) OVERRIDING SYSTEM VALUE VALUES (1, 286467608805376006, 286467608805376006, 'client_api_scope name', 1);
INSERT INTO client_assertion (hash, expires_at) OVERRIDING SYSTEM VALUE VALUES ('client_assertion hash', 1);
INSERT INTO client_token (jti, client_id, client_generation, created_at, ends_at, dead_at, scopes) OVERRIDING SYSTEM VALUE VALUES ('g6lVUdwxJTibiW5u_Xnotg', 286467608805376012, 'bo_WvhtWlAy8bFT4_86zsg', 1772366400250, 1772368200250, NULL, NULL);
INSERT INTO playground_visit (browser_hash, client_id, turn, sealed, expires_at) OVERRIDING SYSTEM VALUE VALUES ('V6t0Vy61wIgNfkfmXuaJXy86' || 'jSx_OfK13g7gTaUNnHg', 286467608805376021, 1, 'bZK_9uNTgdWVogYIIPi6zARA' || '-XDPn31yVGrWjJmtvfko187n' || 'heODatQs0yk338UWnJsjHFQu' || 'IyDnbKa9dkmVFJ1d5SIwBYYH' || 'CWgcRE6mRe9n6o6Gwp0aQzYT' || 'KkNcKu90ECBIAe87kiB8LE6y' || '0wkJio0nhg-J0YEqsHFZiUQM' || 'k8YSf42yMn9UpRz5yMcrQxt5' || 'ydSQqvGnyu4ghLPZimwg8ecr' || 'RcsFXdngVa51Rk-Ia1gQLsGj' || 'adMoOfjz-DxyZENWiPCTWDYX' || '55jKrw8J1G32ju7PFCaqkSm8' || 'B6sJh_RXCZfZwW1lcraL_sEH' || 'vv-dJiGI0Fn5z9j__iHFTY4q' || '7_ce8W1q94ZP_Y2z0MPU6p1P' || 'IHNikf3-fl8I7Uogh94VXbhs' || '3k9CHCHjZIoTyIQxnslp47e4' || 'CW4wHZNCrTrEd-_5afXHY_y8' || 'WHG-o1N6hF3sYK3ggVO85V7b' || '1CS2XFvZvPWh7XCYfbnEkRbK' || 'V8wba7Z_jz6LBqhYbDnZID8a' || 'LM4SYbeQ01u6qS0XPOXtHIMe' || 'Qwfn-lS-WKLWzwZqYTkF-rXJ' || 'E3vTOzHbqw', 1772370000250);
INSERT INTO picture (name, account_id, client_id, bytes) OVERRIDING SYSTEM VALUE VALUES ('tDgkMGVKf3xdmaTelX5rEg.j' || 'pg', 286467608805376002, NULL, decode('ffd8ffe000104a46494600010200000100010000ffc00011080064006403011100021101031101ffdb0043000503040404030504040405050506070c08070707070f0b0b090c110f1212110f111113161c1713141a1511111821181a1d1d1f1f1f13172224221e241c1e1f1effdb0043010505050706070e08080e1e1411141e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1effc4001f0000010501010101010100000000000000000102030405060708090a0bffc400b5100002010303020403050504040000017d01020300041105122131410613516107227114328191a1082342b1c11552d1f02433627282090a161718191a25262728292a3435363738393a434445464748494a535455565758595a636465666768696a737475767778797a838485868788898a92939495969798999aa2a3a4a5a6a7a8a9aab2b3b4b5b6b7b8b9bac2c3c4c5c6c7c8c9cad2d3d4d5d6d7d8d9dae1e2e3e4e5e6e7e8e9eaf1f2f3f4f5f6f7f8f9faffc4001f0100030101010101010101010000000000000102030405060708090a0bffc400b51100020102040403040705040400010277000102031104052131061241510761711322328108144291a1b1c109233352f0156272d10a162434e125f11718191a262728292a35363738393a434445464748494a535455565758595a636465666768696a737475767778797a82838485868788898a92939495969798999aa2a3a4a5a6a7a8a9aab2b3b4b5b6b7b8b9bac2c3c4c5c6c7c8c9cad2d3d4d5d6d7d8d9dae2e3e4e5e6e7e8e9eaf2f3f4f5f6f7f8f9faffda000c03010002110311003f00e8ebf9e4fe540a002800a002800a00f9bbe33ffc94ad5bfed8ff00e894afefdf04ff00e487c0ff00dc4ffd3b50fd9f84ff00e45147fedeff00d299c7d7ea87d10500140050014005007d835fe571fcec140050014005001401f377c67ff9295ab7fdb1ff00d1295fdfbe09ff00c90f81ff00b89ffa76a1fb3f09ff00c8a28ffdbdff00a5338fafd50fa20a002800a002800a00fb06bfcae3f9d82800a002800a002803e6ef8cff00f252b56ffb63ff00a252bfbf7c13ff00921f03ff00713ff4ed43f67e13ff0091451ffb7bff004a671f5faa1f44140050014005001401f60d7f95c7f3b0500140050014005007cddf19ff00e4a56adff6c7ff0044a57f7ef827ff00243e07fee27fe9da87ecfc27ff00228a3ff6f7fe94ce3ebf543e882800a002800a002803ec1aff002b8fe760a002800a002800a00f9bbe33ff00c94ad5bfed8ffe894afefdf04ffe487c0ffdc4ff00d3b50fd9f84ffe45147fedeffd299c7d7ea87d10500140050014005007d835fe571fcec140050014005001401f377c67ff009295ab7fdb1ffd1295fdfbe09ffc90f81ffb89ff00a76a1fb3f09ffc8a28ff00dbdffa5338fafd50fa20a002800a002800a00f68ff0084bfc45ff411ff00c831ff00f135fe6fff0065613f93f17fe67f487fc407e01ffa00ff00cab5bff9607fc25fe22ffa08ff00e418ff00f89a3fb2b09fc9f8bff30ff880fc03ff00401ff956b7ff002c0ff84bfc45ff00411ffc831fff001347f65613f93f17fe61ff00101f807fe803ff002ad6ff00e581ff00097f88bfe823ff009063ff00e268fecac27f27e2ff00cc3fe203f00ffd007fe55adffcb03fe12ff117fd047ff20c7ffc4d1fd9584fe4fc5ff987fc407e01ff00a00ffcab5bff009607fc25fe22ff00a08ffe418fff0089a3fb2b09fc9f8bff0030ff00880fc03ff401ff00956b7ff2c3cc7c7179737fe28bcbbbb93cc9a4d9b9b6819c2281c0e3a0afed8f08e9428f0860e10564bda7fe9d99f89f1764380e1fce2b65d9753e4a30e5e58ddcadcd18c9eb26dbbb6deaff000316bf483e6c2800a002800a002803d2ebfcef3fbb42800a002800a00280386f147fc876e3fe03ff00a08afeccf0a3fe492c27fdbfff00a7267f277899ff00253e2bfedcff00d370336bf443e0c2800a002800a002803d2ebfcef3fbb42800a002800a00280386f147fc876e3fe03ffa08afeccf0a3fe492c27fdbff00fa7267f277899ff253e2bfedcffd370336bf443e0c2800a002800a002803d2ebfcef3fbb42800a002800a00280386f147fc876e3fe03ff00a08afeccf0a3fe492c27fdbfff00a7267f277899ff00253e2bfedcff00d370336bf443e0c2800a002800a002803d2ebfcef3fbb42800a002800a00280386f147fc876e3fe03ffa08afeccf0a3fe492c27fdbff00fa7267f277899ff253e2bfedcffd370336bf443e0c2800a002800a002803d2ebfcef3fbb42800a002800a00280386f147fc876e3fe03ff00a08afeccf0a3fe492c27fdbfff00a7267f277899ff00253e2bfedcff00d370336bf443e0c2800a002800a002803d2ebfcef3fbb42800a002800a00280386f147fc876e3fe03ffa08afeccf0a3fe492c27fdbff00fa7267f277899ff253e2bfedcffd370336bf443e0c2800a002800a002803ffd9', 'hex'));
INSERT INTO organization (id, name, domain, created_at, require_second_factor) OVERRIDING SYSTEM VALUE VALUES (286467608805376001, 'acme', 'acme.example', 1772366400250, 0);
INSERT INTO membership (id, account_id, organization_id, role) OVERRIDING SYSTEM VALUE VALUES (1, 286467608805376002, 286467608805376001, 'OWNER');
INSERT INTO invitation (id, hash, email, mailed, organization_id, role, inviter_id, admin_key_id, created_at, expires_at, used_at, used_by) OVERRIDING SYSTEM VALUE VALUES (286467608805376020, 'lR5lZBUFTTc2pLoqHYRqmZl8' || '6RkLn4Gz-YynFUVzm6w', 'guest@example.com', 1, 286467608805376001, NULL, NULL, 286467608805376000, 1772366400250, 1772971200250, NULL, NULL);
INSERT INTO user_group (id, organization_id, name, display_name, description, source, created_at, updated_at, deleted_at) OVERRIDING SYSTEM VALUE VALUES (1, 286467608805376001, 'user_group name', 'user_group display_name', 'user_group description', 'user_group source', 1, 1, 1);
INSERT INTO group_member (id, group_id, account_id, organization_id, added_at) OVERRIDING SYSTEM VALUE VALUES (1, 1, 286467608805376002, 286467608805376001, 1);
INSERT INTO app_assignment (id, client_id, account_id, group_id, organization_id, role, created_at, ended_at) OVERRIDING SYSTEM VALUE VALUES (1, 286467608805376006, 286467608805376002, 1, 286467608805376001, 'app_assignment role', 1, 1);
INSERT INTO browser_session (hash, sid, account_id, generation, auth_time, last_seen_at, expires_at, browser, system, network, amr, acr, proved_at, proved_by, proved_factor_since, proved_after) OVERRIDING SYSTEM VALUE VALUES ('sw6Gc-yJ8UGI8Rxcskc1-cxI' || 'tg1UPOiZj4-AR9wDZcA', 'x6fhzRuMjWzG6jX5m3_ufw', 286467608805376002, 'IBU8qv-TcNltjYxtbZx00g', 1772366400250, 1772366400250, 1774958400250, NULL, NULL, '127.0.0.x', '["pwd"]', 'urn:oasis:names:tc:SAML:' || '2.0:ac:classes:PasswordP' || 'rotectedTransport', 1772366400250, 'password', 0, 1772366400250);
INSERT INTO known_browser (account_id, browser_hash, last_seen_at) OVERRIDING SYSTEM VALUE VALUES (286467608805376002, 'BEzTZ3XZgHY6LX4u8l8_c11U' || '5yCiEPzQDMCWGxo02yQ', 1772366400250);
INSERT INTO trusted_browser (hash, account_id, generation, browser, system, network, created_at, expires_at) OVERRIDING SYSTEM VALUE VALUES ('trusted_browser hash', 286467608805376002, 'trusted_browser generati' || 'on', 'trusted_browser browser', 'trusted_browser system', 'trusted_browser network', 1, 1);
INSERT INTO pending_sign_in (hash, account_id, generation, browser_hash, methods, interaction_hash, created_at, expires_at, factors_since) OVERRIDING SYSTEM VALUE VALUES ('g1PxxZNlFyt_1RQRL1WvHC1V' || 'zWQv3HeJZpNk9-bOa2A', 286467608805376004, 'ZrmpgSrkGX-kxGzLSwQMEg', 'IEIqcqEvHMyOY4Jx9AhneBu8' || 'h9ok4AAgXXks1oEqjlg', '["password"]', NULL, 1772366400250, 1772367000250, '[0]');
INSERT INTO totp_secret (account_id, sealed, generation, created_at, confirmed_at, last_step) OVERRIDING SYSTEM VALUE VALUES (286467608805376004, 'Q6nvOjWXELt0rZrNwzt1kx_z' || 'JpUAQU1CJlP-FaZG9r-JIoHh' || 'XjZ4775Ij1VataEWDYuyDbBQ' || 'AAkueMGp', 'any', 1772362800250, 1772362800250, 59078760);
INSERT INTO recovery_code (account_id, hash, created_at, used_at) OVERRIDING SYSTEM VALUE VALUES (286467608805376004, 'P9B6JUf6DZubiNOGhXHKbUbh' || '9vCW23iHT0xwYNF5CPQ', 1772362800250, NULL);
INSERT INTO recovery_code (account_id, hash, created_at, used_at) OVERRIDING SYSTEM VALUE VALUES (286467608805376004, 'DYVMTIwmuJq8GaScpXRBG9_P' || 'BnzXa6Nt6XtvJOvXyrQ', 1772362800250, NULL);
INSERT INTO recovery_code (account_id, hash, created_at, used_at) OVERRIDING SYSTEM VALUE VALUES (286467608805376004, 'o0sdC5M-DgKxDiD59kY6SWfH' || '5reNLoxoGkG066az-68', 1772362800250, NULL);
INSERT INTO recovery_code (account_id, hash, created_at, used_at) OVERRIDING SYSTEM VALUE VALUES (286467608805376004, 'QdOxxdOzezHbinbxKNwkTVXF' || '6Z8w_2zfJcQsFu5sNAs', 1772362800250, NULL);
INSERT INTO recovery_code (account_id, hash, created_at, used_at) OVERRIDING SYSTEM VALUE VALUES (286467608805376004, 'pNoyLJ7p1ZnrevMlqhr9uFQj' || 'WYkeu2e_Sc8jc7vW5vw', 1772362800250, NULL);
INSERT INTO recovery_code (account_id, hash, created_at, used_at) OVERRIDING SYSTEM VALUE VALUES (286467608805376004, 'dSrLjoSqlfl25G3jV31RlI1h' || 'HOylM-dmQu-tQHad-IQ', 1772362800250, NULL);
INSERT INTO recovery_code (account_id, hash, created_at, used_at) OVERRIDING SYSTEM VALUE VALUES (286467608805376004, 'ZcgTaxwCnIz69CYhtICkLq3p' || 'eYEwkYcxycVW_nyvas0', 1772362800250, NULL);
INSERT INTO recovery_code (account_id, hash, created_at, used_at) OVERRIDING SYSTEM VALUE VALUES (286467608805376004, 'HDcw9PDP5T6o2xiWMrmpmkBQ' || '6p9W8RMq4crmD7xzbMo', 1772362800250, NULL);
INSERT INTO recovery_code (account_id, hash, created_at, used_at) OVERRIDING SYSTEM VALUE VALUES (286467608805376004, 'hqUH91D7EnCG5kY9rtUi-H8A' || 'PsUH9fihnfW5001luOw', 1772362800250, NULL);
INSERT INTO recovery_code (account_id, hash, created_at, used_at) OVERRIDING SYSTEM VALUE VALUES (286467608805376004, 'TjXq5vkT5zsDpHn1C4zy755t' || 'gDS6XFJfx8JyKj4v_Fk', 1772362800250, NULL);
INSERT INTO passkey (id, account_id, public_key, counter, transports, name, aaguid, backup_eligible, backed_up, created_at, last_used_at) OVERRIDING SYSTEM VALUE VALUES ('iq6fxoDnORx8hb-7JHGKZP8b' || 'rtx9npRJMr3i_3MzXwI', 286467608805376003, decode('a5010203262001215820d5f9444396ea1abb91d48e9e7fae87d6b10b8c6ac5e3acf1c06928e80b6fbefc22582085adace6b642eb28ceb828537fd207148616269096240685096f845415306415', 'hex'), 0, '["internal"]', 'Test passkey', '00000000-0000-0000-0000-' || '000000000000', 0, 0, 1772362800250, NULL);
INSERT INTO interaction (hash, browser_hash, client_id, request, created_at, expires_at, signed_in_session, outcome, chosen_session, state) OVERRIDING SYSTEM VALUE VALUES ('YGiB-6ZTbGomwKWKmYkz7ibl' || '3-IjGSjg8_6SkKBkQ2o', 'BEzTZ3XZgHY6LX4u8l8_c11U' || '5yCiEPzQDMCWGxo02yQ', 286467608805376006, '{"face":"contract","clie' || 'ntId":"28646760880537600' || '6","clientGeneration":"Q' || 'Skyx2Lp8hTCG2tHlyQ1kQ","' || 'redirectUri":"https://ap' || 'p.example.com/callback",' || '"responseMode":"query","' || 'scopes":["openid"],"nonc' || 'e":null,"codeChallenge":' || 'null,"prompt":{"none":fa' || 'lse,"login":false,"conse' || 'nt":false,"select":false' || '},"maxAge":null,"subject' || 's":null,"loginHint":null' || ',"claims":null,"hinted":' || 'null}', 1772366400250, 1772370000250, NULL, 'code', NULL, decode('7374347465', 'hex'));
INSERT INTO interaction (hash, browser_hash, client_id, request, created_at, expires_at, signed_in_session, outcome, chosen_session, state) OVERRIDING SYSTEM VALUE VALUES ('--nfNcvDhoyKcQQ1V0wBduzJ' || 'VshXFX7qxzoJc48g95g', 'BEzTZ3XZgHY6LX4u8l8_c11U' || '5yCiEPzQDMCWGxo02yQ', 286467608805376008, '{"face":"contract","clie' || 'ntId":"28646760880537600' || '8","clientGeneration":"p' || 'dWCEreCKWED_UNvj1SaOQ","' || 'redirectUri":"https://ap' || 'p.example.com/callback",' || '"responseMode":"query","' || 'scopes":["openid"],"nonc' || 'e":null,"codeChallenge":' || 'null,"prompt":{"none":fa' || 'lse,"login":false,"conse' || 'nt":false,"select":false' || '},"maxAge":null,"subject' || 's":null,"loginHint":null' || ',"claims":null,"hinted":' || 'null}', 1772366400250, 1772370000250, NULL, 'code', NULL, decode('7374347465', 'hex'));
INSERT INTO interaction (hash, browser_hash, client_id, request, created_at, expires_at, signed_in_session, outcome, chosen_session, state) OVERRIDING SYSTEM VALUE VALUES ('Gkl6dygZuTfImiies97YWUTo' || 'PAz1YTmpbMpM4GlJtJE', 'BEzTZ3XZgHY6LX4u8l8_c11U' || '5yCiEPzQDMCWGxo02yQ', 286467608805376006, '{"face":"standard","clie' || 'ntId":"28646760880537600' || '6","clientGeneration":"Q' || 'Skyx2Lp8hTCG2tHlyQ1kQ","' || 'redirectUri":"https://ap' || 'p.example.com/callback",' || '"responseMode":"query","' || 'scopes":["openid","profi' || 'le","offline_access"],"n' || 'once":"n","codeChallenge' || '":null,"prompt":{"none":' || 'false,"login":false,"con' || 'sent":false,"select":fal' || 'se},"maxAge":null,"subje' || 'cts":null,"loginHint":nu' || 'll,"claims":null,"hinted' || '":null}', 1772366400250, 1772370000250, NULL, 'code', NULL, decode('7374347465', 'hex'));
INSERT INTO interaction (hash, browser_hash, client_id, request, created_at, expires_at, signed_in_session, outcome, chosen_session, state) OVERRIDING SYSTEM VALUE VALUES ('s9xwhipWPuUdkDoVijE1gxd_' || 'd2aCjxiTeyJ7bB0lVg0', 'BEzTZ3XZgHY6LX4u8l8_c11U' || '5yCiEPzQDMCWGxo02yQ', 286467608805376008, '{"face":"contract","clie' || 'ntId":"28646760880537600' || '8","clientGeneration":"p' || 'dWCEreCKWED_UNvj1SaOQ","' || 'redirectUri":"https://ap' || 'p.example.com/callback",' || '"responseMode":"query","' || 'scopes":["openid"],"nonc' || 'e":null,"codeChallenge":' || 'null,"prompt":{"none":fa' || 'lse,"login":false,"conse' || 'nt":false,"select":false' || '},"maxAge":null,"subject' || 's":null,"loginHint":null' || ',"claims":null,"hinted":' || 'null}', 1772366400250, 1772370000250, NULL, NULL, NULL, NULL);
INSERT INTO consent_grant (id, account_id, client_id, scopes, declined_scopes, consent_epoch, created_at, updated_at, revoked_at, resources, face, ask_again, last_used_at, decided_by) OVERRIDING SYSTEM VALUE VALUES (286467608805376014, 286467608805376002, 286467608805376006, 'openid', '', 'EoyZraIga0qvidIiiAVenA', 1772366400250, 1772366400250, NULL, NULL, 'contract', 0, NULL, 'person');
INSERT INTO consent_grant (id, account_id, client_id, scopes, declined_scopes, consent_epoch, created_at, updated_at, revoked_at, resources, face, ask_again, last_used_at, decided_by) OVERRIDING SYSTEM VALUE VALUES (286467608805376016, 286467608805376002, 286467608805376008, 'openid', '', '6y4USOrK7oMyuySIOhPMOQ', 1772366400250, 1772366400250, 1772366400250, NULL, 'contract', 0, NULL, 'person');
INSERT INTO consent_grant (id, account_id, client_id, scopes, declined_scopes, consent_epoch, created_at, updated_at, revoked_at, resources, face, ask_again, last_used_at, decided_by) OVERRIDING SYSTEM VALUE VALUES (286467608805376018, 286467608805376002, 286467608805376006, 'openid profile offline_a' || 'ccess', '', 'EoyZraIga0qvidIiiAVenA', 1772366400250, 1772366400250, NULL, NULL, 'standard', 0, NULL, 'person');
INSERT INTO consent_revocation (account_id, client_id, name, revoked_at) OVERRIDING SYSTEM VALUE VALUES (286467608805376002, 286467608805376008, 'e12uLUTzacryf3xBXqN0jA', 1772366400250);
INSERT INTO token_family (id, grant_id, account_id, client_id, account_generation, client_generation, scopes, sid, auth_time, sequence, leaf_jti, leaf_kid, leaf_issued_at, leaf_expires_at, predecessor_jti, rotated_at, created_at, ends_at, dead_at, dead_reason, claims, resources, withdrawn_scopes, amr, acr, face, ends_with_session, review_at, assignment_id, member_id) OVERRIDING SYSTEM VALUE VALUES (286467608805376015, 286467608805376014, 286467608805376002, 286467608805376006, 'IBU8qv-TcNltjYxtbZx00g', 'QSkyx2Lp8hTCG2tHlyQ1kQ', 'openid', 'x6fhzRuMjWzG6jX5m3_ufw', 1772366400250, 2, '019ca9450afajlks8oIhM3tq' || 'fKMwGxGYMQ', 'q8oS_sX_3HzuxjalJ6fiBw', 1772366400000, 1772971200000, '019ca9450afaBonKV-21E4cA' || 'vWfwA-tb4A', 1772366400250, 1772366400250, 1780142400250, NULL, NULL, NULL, NULL, '', '["pwd"]', 'urn:oasis:names:tc:SAML:' || '2.0:ac:classes:PasswordP' || 'rotectedTransport', 'contract', 0, 1772971500000, NULL, NULL);
INSERT INTO token_family (id, grant_id, account_id, client_id, account_generation, client_generation, scopes, sid, auth_time, sequence, leaf_jti, leaf_kid, leaf_issued_at, leaf_expires_at, predecessor_jti, rotated_at, created_at, ends_at, dead_at, dead_reason, claims, resources, withdrawn_scopes, amr, acr, face, ends_with_session, review_at, assignment_id, member_id) OVERRIDING SYSTEM VALUE VALUES (286467608805376017, 286467608805376016, 286467608805376002, 286467608805376008, 'IBU8qv-TcNltjYxtbZx00g', 'pdWCEreCKWED_UNvj1SaOQ', 'openid', 'x6fhzRuMjWzG6jX5m3_ufw', 1772366400250, 1, '019ca9450afanwMawiattreo' || 'sV3xiZJ_aw', 'q8oS_sX_3HzuxjalJ6fiBw', 1772366400000, 1772971200000, NULL, NULL, 1772366400250, 1780142400250, NULL, NULL, NULL, NULL, '', '["pwd"]', 'urn:oasis:names:tc:SAML:' || '2.0:ac:classes:PasswordP' || 'rotectedTransport', 'contract', 0, 1772971500000, NULL, NULL);
INSERT INTO token_family (id, grant_id, account_id, client_id, account_generation, client_generation, scopes, sid, auth_time, sequence, leaf_jti, leaf_kid, leaf_issued_at, leaf_expires_at, predecessor_jti, rotated_at, created_at, ends_at, dead_at, dead_reason, claims, resources, withdrawn_scopes, amr, acr, face, ends_with_session, review_at, assignment_id, member_id) OVERRIDING SYSTEM VALUE VALUES (286467608805376019, 286467608805376018, 286467608805376002, 286467608805376006, 'IBU8qv-TcNltjYxtbZx00g', 'QSkyx2Lp8hTCG2tHlyQ1kQ', 'openid profile offline_a' || 'ccess', 'x6fhzRuMjWzG6jX5m3_ufw', 1772366400250, 1, '019ca9450afagEE9DvlohtEP' || 'VvwEFOuZeQ', 'q8oS_sX_3HzuxjalJ6fiBw', 1772366400000, 1772971200000, NULL, NULL, 1772366400250, 1780142400250, NULL, NULL, NULL, NULL, '', '["pwd"]', 'urn:oasis:names:tc:SAML:' || '2.0:ac:classes:PasswordP' || 'rotectedTransport', 'standard', 0, 1772971500000, NULL, NULL);
INSERT INTO authorization_code (hash, grant_id, account_id, client_id, account_generation, client_generation, redirect_uri, scopes, narrowed, nonce, code_challenge, sid, auth_time, expires_at, redeemed_at, family_id, claims, resources, withdrawn_scopes, amr, acr, face, ends_with_session, assignment_id, member_id) OVERRIDING SYSTEM VALUE VALUES ('fUgRNBMN-Gd0PFa1iYXpR4Ux' || 'y5i1sKNwX-KMJrNvmAE', 286467608805376014, 286467608805376002, 286467608805376006, 'IBU8qv-TcNltjYxtbZx00g', 'QSkyx2Lp8hTCG2tHlyQ1kQ', 'https://app.example.com/' || 'callback', 'openid', 0, NULL, NULL, 'x6fhzRuMjWzG6jX5m3_ufw', 1772366400250, 1772366460250, 1772366400250, 286467608805376015, NULL, NULL, '', '["pwd"]', 'urn:oasis:names:tc:SAML:' || '2.0:ac:classes:PasswordP' || 'rotectedTransport', 'contract', 0, NULL, NULL);
INSERT INTO authorization_code (hash, grant_id, account_id, client_id, account_generation, client_generation, redirect_uri, scopes, narrowed, nonce, code_challenge, sid, auth_time, expires_at, redeemed_at, family_id, claims, resources, withdrawn_scopes, amr, acr, face, ends_with_session, assignment_id, member_id) OVERRIDING SYSTEM VALUE VALUES ('QuZMjiZAa1qw0cF-CwWf1git' || 'DDTOqjxixuNrPn5VRf4', 286467608805376016, 286467608805376002, 286467608805376008, 'IBU8qv-TcNltjYxtbZx00g', 'pdWCEreCKWED_UNvj1SaOQ', 'https://app.example.com/' || 'callback', 'openid', 0, NULL, NULL, 'x6fhzRuMjWzG6jX5m3_ufw', 1772366400250, 1772366460250, 1772366400250, 286467608805376017, NULL, NULL, '', '["pwd"]', 'urn:oasis:names:tc:SAML:' || '2.0:ac:classes:PasswordP' || 'rotectedTransport', 'contract', 0, NULL, NULL);
INSERT INTO authorization_code (hash, grant_id, account_id, client_id, account_generation, client_generation, redirect_uri, scopes, narrowed, nonce, code_challenge, sid, auth_time, expires_at, redeemed_at, family_id, claims, resources, withdrawn_scopes, amr, acr, face, ends_with_session, assignment_id, member_id) OVERRIDING SYSTEM VALUE VALUES ('DPXuULEyuDh56JTcKJHKn8dm' || '0soV61YUYcHVS1-fznE', 286467608805376018, 286467608805376002, 286467608805376006, 'IBU8qv-TcNltjYxtbZx00g', 'QSkyx2Lp8hTCG2tHlyQ1kQ', 'https://app.example.com/' || 'callback', 'openid profile offline_a' || 'ccess', 0, '"n"', NULL, 'x6fhzRuMjWzG6jX5m3_ufw', 1772366400250, 1772366460250, 1772366400250, 286467608805376019, NULL, NULL, '', '["pwd"]', 'urn:oasis:names:tc:SAML:' || '2.0:ac:classes:PasswordP' || 'rotectedTransport', 'standard', 0, NULL, NULL);
INSERT INTO authorization_code (hash, grant_id, account_id, client_id, account_generation, client_generation, redirect_uri, scopes, narrowed, nonce, code_challenge, sid, auth_time, expires_at, redeemed_at, family_id, claims, resources, withdrawn_scopes, amr, acr, face, ends_with_session, assignment_id, member_id) OVERRIDING SYSTEM VALUE VALUES ('ICXvDJm1g22Fm-tbOdxrJRhM' || 'm2ntU9ye7rTpLDilYGY', 286467608805376014, 286467608805376002, 286467608805376006, 'IBU8qv-TcNltjYxtbZx00g', 'QSkyx2Lp8hTCG2tHlyQ1kQ', 'https://app.example.com/' || 'callback', 'openid', 0, NULL, NULL, 'x6fhzRuMjWzG6jX5m3_ufw', 1772366400250, 1772366460250, NULL, NULL, NULL, NULL, '', '["pwd"]', 'urn:oasis:names:tc:SAML:' || '2.0:ac:classes:PasswordP' || 'rotectedTransport', 'contract', 0, NULL, NULL);
INSERT INTO logout_notice (id, client_id, account_id, sid, created_at, attempts, due_at) OVERRIDING SYSTEM VALUE VALUES (1, 286467608805376006, 1, 'logout_notice sid', 1, 1, 1);
INSERT INTO signing_key (kid, sealed, created_at, retired_at) OVERRIDING SYSTEM VALUE VALUES ('q8oS_sX_3HzuxjalJ6fiBw', '1V9c1tuauOw4o-mGW3nw7gL9' || 'uLy0GiWfMkxbVaowKUODHZbn' || 'StroX7frWMojPCo7CeGbsrbr' || 'No3PErQR', 1772366400250, NULL);
INSERT INTO id_token_key (kid, alg, sealed, public_jwk, created_at, signs_from, given_up_at) OVERRIDING SYSTEM VALUE VALUES ('2snnTf6yEr2LCOYug43VRA', 'RS256', 'I3_u3hLl4MO0w5HFmVpBOG9i' || 'bZCT_QZKiJiSFrzkE80AntXr' || 'xkz6iXfQKlRQpxlvE7mLI1Qm' || 'kYrOF5ryhAIkpQcH4t8apOC8' || '3vVojIyLFo1yBYWS9bH7NhMZ' || 'fPPv0Rh-3K9WzWWZRiYA7E8m' || '0BQAPC2KUmQCp01RMoYzXq_t' || '1l4x3EH3zO8ESSv0YqaY_XBY' || 'vY8UTwpdIiAkaX2n4Z8Qzdoy' || 'fJhnP67OrpFOBHl6SNkNSPl_' || 'tgkW9LNGNUPNqqYl41uDScZC' || 'nX5wRaFOq_gA7dk2AGOdXX64' || 'nH6psr_tB-xA8RXo9PKcmNPI' || '4sRN6O3LBfpKdhWTtvKKP79a' || '0nvQjid16fu_DF_CxZM3qKAZ' || 'ASD4Ri2uxndwrF2tZtxaI42B' || '3aOaJeLBtyXmnc7DAGvHaXIe' || 'TIOzFlrxFjCmtn2IMEQCIafv' || 'yD8Ql7EvTq4uAI0gT-y6i-Aw' || 'lazF2DJOJFgv9xEmQc5onKP3' || 'SuAdqFJgM3gWa6G08fhZ3HuW' || 'qIyeleyShn6_BLy_dd9glt4j' || 'Gh1ysxl9OyUIc9kP6pqVsu8R' || 'MpR4xQDvPOtlcNfTV6luyfRt' || '9dZw_H3-r9QLtox5tWXMIAnw' || '_lSoyAvJGCn9iLpS3UH1emPb' || 'ZGgBZFZ1qGxWmzEYeqoK57hr' || 'Ah9DOwR-IXbcBAp6B7Xg4w5G' || 'g-JsrfHMtMhtQnIzERFiD0aC' || 'yC-Kz-2cyDr21zUqlUCMlBWB' || 'NfPkLkyoKc3Oa-KtmCBtxLCf' || 'Y3HYBk59oIAEEE2qOTpaZXPG' || 'P8UiEdw7nbOeiWkIe0Ueu93V' || '3LcUVi59E--W9ZVWIHUwhtTB' || 'gP6tUyjchiRPrkSSeJh2aIZG' || 'WrJiQMlYJ1-fWhb0YYxclZEj' || 'aCjn81tMewIJlEGUlKXgG5oM' || 'CqBCnj8SnUJhtblgiiq9NbER' || 'WSe27wLzJUFGHBQHgBC54p0j' || 'Ff-a0ig-NjECDvGX9Sl7xN6S' || 'jH0obKkZINAYhKjBj6hSnkwI' || 'Cbd4vK0Xp2N5Mqq_ldQruOLI' || 'leUh2dQn6303vBsEKf85C4QL' || 'GCdXJsK25fLoYNk8qVe0Cd_-' || 'j_0LSf-xoMtpVuinnQh61-aX' || '5F1x3yLto38DnscC86qWPuG-' || 'lX-hdJsb4aY4cxar1ZrYnTYo' || 'In05Dh-UN6oVEwCZYyGoQBoy' || 'KnI3EmTej_oZtVZa3tJIzsZw' || 'LThnPYjn4cBfvVp21CiMwIsa' || 'E_ax6rbTaNnW62gzEq5JLWTM' || 'mx0RHi9gSGYYoPDdvIKJpcc1' || 'YFeoJezCgPukMpPU4BwfwUJ4' || 'Qqf9wYKVLI4jrEi9yWKZPbz6' || 'A595-jkPcxDgoJvfD7_PB5Gh' || 'uqXsTpFGqertR8sQzE0CEnQh' || 'LI2uuju3bYoPRgg4nRAiTEp_' || 'n-6yqp7Z8Ypf4yprcEoIm0u6' || 'o_O3IrokyIINis6MW9j0e7n8' || 'b7Mg6jhNvhNdvQSAOaU-qPkX' || 'HcOftqCPe8GZHc27qGS9RsKR' || '1sedmkY9HlF01XF-x-tGvHCl' || 'PlQurrm-B55FcsWC9BGjyxjh' || 'qgLd8768ahXPdTH0uAYOpnNv' || 'MBrKGujGvyyebNkVfaRHOJAg' || 'ZpXZf_01O3EvGbGGO7ikj8v8' || 'McXK9QHNSvOsjBekD28BfHwn' || 'KkIsH2QCdmO3EgSpvsPam8qe' || 'Caq3PiPJjckLq0oquC6PC45i' || 'JN1Z-OwYvap3mjedFFDQOe-8' || 'FvkRCFZ4zkPDz-Gi2TOZy54q' || '38XLG0zsnD7Xvt061DhaECpC' || '_x1MTw7RtPr-JVRe0kawx6VS' || 'UWiPyCbGeQcdtUdWuDUf1wVS' || 'H6HghYSPqdRHsmSgEmpwsC9I' || 'rGhcdhTJbIQ_FMCZRABt9756' || 'I_KyzurSYdSIggrlCmrbgv33' || 'F0DRo8nrXNn5EkfQHBGwmwBV' || 'SdFjr1pyyS7XYiRJFKfg7Nvd' || 'dFXaJs8Sg9NeJtmaTjVKqOUi' || '8nhkkPCD1jvtNn7x3vUj8xK4' || 'R1RAw2VTdTNXBpJPs8MqcATW' || 'xl5HrXb7u1jfEOBV1drrV9-c' || '3HvfCWk3rSyczWBy4EUF9VAX' || 'LjiTbEesmNS8SVebkeY9wRzs' || 'gHnC3z2XKv2Cvvv1kDo9xdOB' || 'Z-fZ4vSKg7AXh1HeEZu_7de7' || 'Dg5YRZB-ZB1aI_r12kMzSj2W' || 'y1WhUArCle5i4rV7hTROrhLR' || 'Yd8sRZ6b-ZTf5G6_b7J43975' || 'tg004pmdlpaCyUT0-OnGmodh' || 'jaN_p8m3FrmQaOKob8pSETha' || 'vU2G_W2-wmnOtpvJjgTuEk9P' || '_pSrjdZgk51WcXdlqSi4abq5' || '4ykgeQU1qhoI6xiId7xE_YcP' || 'yZQEwbLzYfhKBvRSfD4xut0d' || 'af0xcA', '{"kty":"RSA","kid":"2snn' || 'Tf6yEr2LCOYug43VRA","use' || '":"sig","alg":"RS256","n' || '":"np9oEycsX7qv5gGhNlh-u' || 'GQdD6l6fbftxrgOh3UzqLrGj' || 'nKEn_tyCt9hRjGJH86Tr5D4K' || 'IZiY4LZtRFlrdT1lqP2AoCBo' || 'z3XFC2IgnOCvZ8mBXjtoBPPo' || 'EYXrAQborBt7xqGEOeWK9U8R' || '_p6YC1RjYW65RnMgYn2ALJ4q' || 'ZC8YGQkgnEjhNZ6vPvx0hdNy' || 'iclHHjXeM4ODMAvJCANSSWmK' || '2n7r-OfmxBv8AWe6JGx7c3rR' || 'c-BmegkcaR2-RM2NI-LvmsJf' || 'LmmfDzDJzIQDAJhyyDWSIR41' || 'QwGrmXQFaRPxoG-2AbfndVew' || 'upbQfXXwdBi3ScJxmznDnHDn' || '4nZ8AcpuQ","e":"AQAB"}', 1772366400250, 1772366400250, NULL);
INSERT INTO key_set (id, version) OVERRIDING SYSTEM VALUE VALUES (1, 'FBVP_dV0P7vfljXen53eAQ');
INSERT INTO data_key (id, sealed, created_at) OVERRIDING SYSTEM VALUE VALUES (1, 'bVScH4iPBUpbOJHl-YA8-FSv' || 'oFyt5BmaI_4p-yWh4xXZkuzc' || 'nc4QWGFva7sdxl24LoiRn4jT' || 'DKU-sWM9', 1772366400250);
INSERT INTO admin_key (id, name, hash, created_at, revoked_at) OVERRIDING SYSTEM VALUE VALUES (1, 'admin_key name', 'admin_key hash', 1, 1);
INSERT INTO configured_admin_key (id, key_id, hash) OVERRIDING SYSTEM VALUE VALUES (1, 286467608805376000, 'drNfEXI7o6BGwT2MDtjmxB4-' || 'GkAJ8LQtQZdUQCq5msI');
INSERT INTO node_lease (node, holder, expires_at) OVERRIDING SYSTEM VALUE VALUES (0, 'none', 1772366400251);
INSERT INTO rate_count (bucket, count, window_ends_at) OVERRIDING SYSTEM VALUE VALUES ('sign-in from 127.0.0.1', 0, 1772366460250);
INSERT INTO rate_count (bucket, count, window_ends_at) OVERRIDING SYSTEM VALUE VALUES ('sign-in as CgQblGLKpKMbr' || 'DVn4Lbm_ZEAeH2yq0M9lvbRe' || 'Mq_zpA', 0, 1772366460250);
INSERT INTO rate_count (bucket, count, window_ends_at) OVERRIDING SYSTEM VALUE VALUES ('sign-in 2864676088053760' || '02', 0, 1772366460250);
INSERT INTO rate_count (bucket, count, window_ends_at) OVERRIDING SYSTEM VALUE VALUES ('session of 2864676088053' || '76002', 1, 1772366460250);
INSERT INTO rate_count (bucket, count, window_ends_at) OVERRIDING SYSTEM VALUE VALUES ('pending 127.0.0.1', 4, 1772366460250);
INSERT INTO rate_count (bucket, count, window_ends_at) OVERRIDING SYSTEM VALUE VALUES ('pending-bytes 127.0.0.1 ' || '1969296', 2525, 1772370900000);
INSERT INTO rate_count (bucket, count, window_ends_at) OVERRIDING SYSTEM VALUE VALUES ('authorization 2864676088' || '05376002 286467608805376' || '006', 3, 1772366460250);
INSERT INTO rate_count (bucket, count, window_ends_at) OVERRIDING SYSTEM VALUE VALUES ('token 286467608805376006', 3, 1772366460250);
INSERT INTO rate_count (bucket, count, window_ends_at) OVERRIDING SYSTEM VALUE VALUES ('authorization 2864676088' || '05376002 286467608805376' || '008', 1, 1772366460250);
INSERT INTO rate_count (bucket, count, window_ends_at) OVERRIDING SYSTEM VALUE VALUES ('token 286467608805376008', 1, 1772366460250);
INSERT INTO rate_count (bucket, count, window_ends_at) OVERRIDING SYSTEM VALUE VALUES ('forms 286467608805376002', 1, 1772366460250);
INSERT INTO rate_count (bucket, count, window_ends_at) OVERRIDING SYSTEM VALUE VALUES ('token 286467608805376012', 1, 1772366460250);
INSERT INTO rate_count (bucket, count, window_ends_at) OVERRIDING SYSTEM VALUE VALUES ('picture 2864676088053760' || '02', 1, 1772370000250);
INSERT INTO rate_count (bucket, count, window_ends_at) OVERRIDING SYSTEM VALUE VALUES ('playground 127.0.0.1', 1, 1772370000250);
INSERT INTO rate_count (bucket, count, window_ends_at) OVERRIDING SYSTEM VALUE VALUES ('mail from 127.0.0.1', 2, 1772370000250);
INSERT INTO rate_count (bucket, count, window_ends_at) OVERRIDING SYSTEM VALUE VALUES ('mail to KzsrnOhCq4tqbGFM' || 'sflgS7ig1QLRr0nFJrcrEIlO' || 'lbU recover', 1, 1772370000250);
INSERT INTO rate_count (bucket, count, window_ends_at) OVERRIDING SYSTEM VALUE VALUES ('sign-in as WGD68CtrxiIrp' || 'aylI1YPDjZMzYtnvuSG_ov3w' || 'B1JLMs', 0, 1772366460250);
INSERT INTO rate_count (bucket, count, window_ends_at) OVERRIDING SYSTEM VALUE VALUES ('sign-in 2864676088053760' || '04', 0, 1772366460250);
INSERT INTO rate_count (bucket, count, window_ends_at) OVERRIDING SYSTEM VALUE VALUES ('session of 2864676088053' || '76004', 1, 1772366460250);
INSERT INTO audit_event (id, at, type, outcome, actor_type, actor_id, account_id, client_id, address, request_id, details) OVERRIDING SYSTEM VALUE VALUES (1, 1772366400250, 'keys.created', 'success', 'system', NULL, NULL, NULL, NULL, NULL, '{"kid":"q8oS_sX_3Hzuxjal' || 'J6fiBw"}');
INSERT INTO audit_event (id, at, type, outcome, actor_type, actor_id, account_id, client_id, address, request_id, details) OVERRIDING SYSTEM VALUE VALUES (2, 1772366400250, 'organization.created', 'success', 'admin', NULL, NULL, NULL, '127.0.0.1', 'b06bc2ba-5597-4d15-9fab-' || '8f533af9d3b5', '{"organizationId":"28646' || '7608805376001"}');
INSERT INTO audit_event (id, at, type, outcome, actor_type, actor_id, account_id, client_id, address, request_id, details) OVERRIDING SYSTEM VALUE VALUES (3, 1772366400250, 'account.created', 'success', 'admin', NULL, 286467608805376002, NULL, '127.0.0.1', 'a9fc405a-d15b-436e-a3c9-' || 'a46b74fe48bc', '{}');
INSERT INTO audit_event (id, at, type, outcome, actor_type, actor_id, account_id, client_id, address, request_id, details) OVERRIDING SYSTEM VALUE VALUES (4, 1772366400250, 'organization.member_set', 'success', 'admin', NULL, 286467608805376002, NULL, '127.0.0.1', '9756bebc-98c1-42d8-8e21-' || '90ef75043fc7', '{"organizationId":"28646' || '7608805376001","role":"O' || 'WNER"}');
INSERT INTO audit_event (id, at, type, outcome, actor_type, actor_id, account_id, client_id, address, request_id, details) OVERRIDING SYSTEM VALUE VALUES (5, 1772366400250, 'account.created', 'success', 'admin', NULL, 286467608805376003, NULL, '127.0.0.1', 'a9e128b9-6c41-4658-9689-' || 'afaa11fdd916', '{}');
INSERT INTO audit_event (id, at, type, outcome, actor_type, actor_id, account_id, client_id, address, request_id, details) OVERRIDING SYSTEM VALUE VALUES (6, 1772366400250, 'account.created', 'success', 'admin', NULL, 286467608805376004, NULL, '127.0.0.1', '031704f5-d955-4c7a-a702-' || 'cdd3b886ba1d', '{}');
INSERT INTO audit_event (id, at, type, outcome, actor_type, actor_id, account_id, client_id, address, request_id, details) OVERRIDING SYSTEM VALUE VALUES (7, 1772366400250, 'account.created', 'success', 'admin', NULL, 286467608805376005, NULL, '127.0.0.1', '361ed9d4-a963-4cfc-8561-' || '818ac68b0f25', '{}');
INSERT INTO audit_event (id, at, type, outcome, actor_type, actor_id, account_id, client_id, address, request_id, details) OVERRIDING SYSTEM VALUE VALUES (8, 1772366400250, 'client.created', 'success', 'admin', NULL, NULL, 286467608805376006, '127.0.0.1', '43ccbda9-597d-419b-8026-' || 'fb491b4c23c9', '{}');
INSERT INTO audit_event (id, at, type, outcome, actor_type, actor_id, account_id, client_id, address, request_id, details) OVERRIDING SYSTEM VALUE VALUES (9, 1772366400250, 'client.created', 'success', 'admin', NULL, NULL, 286467608805376008, '127.0.0.1', 'daa047ca-b79c-461f-8ff8-' || '5bbf7033fa78', '{}');
INSERT INTO audit_event (id, at, type, outcome, actor_type, actor_id, account_id, client_id, address, request_id, details) OVERRIDING SYSTEM VALUE VALUES (10, 1772366400250, 'client.created', 'success', 'admin', NULL, NULL, 286467608805376010, '127.0.0.1', '17d2c588-4f1a-4b7d-a0aa-' || 'd92a53fcf24b', '{}');
INSERT INTO audit_event (id, at, type, outcome, actor_type, actor_id, account_id, client_id, address, request_id, details) OVERRIDING SYSTEM VALUE VALUES (11, 1772366400250, 'client.created', 'success', 'admin', NULL, NULL, 286467608805376012, '127.0.0.1', '6e9b6fc8-90ef-4239-8533-' || 'c84a26b5f384', '{}');
INSERT INTO audit_event (id, at, type, outcome, actor_type, actor_id, account_id, client_id, address, request_id, details) OVERRIDING SYSTEM VALUE VALUES (12, 1772366400250, 'sign_in.succeeded', 'success', 'user', 286467608805376002, 286467608805376002, NULL, '127.0.0.1', '54881d86-8ab1-4c8d-b2b3-' || 'bcdb8efb57bb', '{"sid":"x6fhzRuMjWzG6jX5' || 'm3_ufw"}');
INSERT INTO audit_event (id, at, type, outcome, actor_type, actor_id, account_id, client_id, address, request_id, details) OVERRIDING SYSTEM VALUE VALUES (13, 1772366400250, 'consent.granted', 'success', 'user', 286467608805376002, 286467608805376002, 286467608805376006, '127.0.0.1', '60d226e3-a320-465d-83a9-' || 'c77ae921c6b6', '{"scopes":["openid"],"de' || 'clined":[]}');
INSERT INTO audit_event (id, at, type, outcome, actor_type, actor_id, account_id, client_id, address, request_id, details) OVERRIDING SYSTEM VALUE VALUES (14, 1772366400250, 'authorization.issued', 'success', 'user', 286467608805376002, 286467608805376002, 286467608805376006, '127.0.0.1', '60d226e3-a320-465d-83a9-' || 'c77ae921c6b6', '{"scopes":"openid","gran' || 'tId":"286467608805376014' || '"}');
INSERT INTO audit_event (id, at, type, outcome, actor_type, actor_id, account_id, client_id, address, request_id, details) OVERRIDING SYSTEM VALUE VALUES (15, 1772366400250, 'token.issued', 'success', 'client', 286467608805376006, 286467608805376002, 286467608805376006, '127.0.0.1', 'c30cb2cf-ca45-42ba-93bb-' || '40780c6efd1c', '{"familyId":"28646760880' || '5376015","scope":"openid' || '"}');
INSERT INTO audit_event (id, at, type, outcome, actor_type, actor_id, account_id, client_id, address, request_id, details) OVERRIDING SYSTEM VALUE VALUES (16, 1772366400250, 'token.refreshed', 'success', 'client', 286467608805376006, 286467608805376002, 286467608805376006, '127.0.0.1', '301d0f9a-c87f-49e5-8f86-' || '80d7337c218e', '{"familyId":"28646760880' || '5376015"}');
INSERT INTO audit_event (id, at, type, outcome, actor_type, actor_id, account_id, client_id, address, request_id, details) OVERRIDING SYSTEM VALUE VALUES (17, 1772366400250, 'consent.granted', 'success', 'user', 286467608805376002, 286467608805376002, 286467608805376008, '127.0.0.1', '0b301407-d65d-4ff6-8463-' || '7d961ed1b7a4', '{"scopes":["openid"],"de' || 'clined":[]}');
INSERT INTO audit_event (id, at, type, outcome, actor_type, actor_id, account_id, client_id, address, request_id, details) OVERRIDING SYSTEM VALUE VALUES (18, 1772366400250, 'authorization.issued', 'success', 'user', 286467608805376002, 286467608805376002, 286467608805376008, '127.0.0.1', '0b301407-d65d-4ff6-8463-' || '7d961ed1b7a4', '{"scopes":"openid","gran' || 'tId":"286467608805376016' || '"}');
INSERT INTO audit_event (id, at, type, outcome, actor_type, actor_id, account_id, client_id, address, request_id, details) OVERRIDING SYSTEM VALUE VALUES (19, 1772366400250, 'token.issued', 'success', 'client', 286467608805376008, 286467608805376002, 286467608805376008, '127.0.0.1', 'eb510fb6-eea9-4cae-8e97-' || '5810e314588d', '{"familyId":"28646760880' || '5376017","scope":"openid' || '"}');
INSERT INTO audit_event (id, at, type, outcome, actor_type, actor_id, account_id, client_id, address, request_id, details) OVERRIDING SYSTEM VALUE VALUES (20, 1772366400250, 'consent.revoked', 'success', 'user', 286467608805376002, 286467608805376002, 286467608805376008, '127.0.0.1', '63a365f3-8e61-4cbc-9466-' || '9a0a4acd2bc5', '{"grantId":"286467608805' || '376016"}');
INSERT INTO audit_event (id, at, type, outcome, actor_type, actor_id, account_id, client_id, address, request_id, details) OVERRIDING SYSTEM VALUE VALUES (21, 1772366400250, 'consent.granted', 'success', 'user', 286467608805376002, 286467608805376002, 286467608805376006, '127.0.0.1', '8b9b74e7-8f62-413f-bbba-' || 'eec132e85689', '{"scopes":["openid","pro' || 'file","offline_access"],' || '"declined":[]}');
INSERT INTO audit_event (id, at, type, outcome, actor_type, actor_id, account_id, client_id, address, request_id, details) OVERRIDING SYSTEM VALUE VALUES (22, 1772366400250, 'authorization.issued', 'success', 'user', 286467608805376002, 286467608805376002, 286467608805376006, '127.0.0.1', '8b9b74e7-8f62-413f-bbba-' || 'eec132e85689', '{"scopes":"openid profil' || 'e offline_access","grant' || 'Id":"286467608805376018"' || '}');
INSERT INTO audit_event (id, at, type, outcome, actor_type, actor_id, account_id, client_id, address, request_id, details) OVERRIDING SYSTEM VALUE VALUES (23, 1772366400250, 'keys.rotated', 'success', 'system', NULL, NULL, NULL, NULL, NULL, '{"kid":"2snnTf6yEr2LCOYu' || 'g43VRA","alg":"RS256","s' || 'ignsFrom":"2026-03-01T12' || ':00:00.250Z"}');
INSERT INTO audit_event (id, at, type, outcome, actor_type, actor_id, account_id, client_id, address, request_id, details) OVERRIDING SYSTEM VALUE VALUES (24, 1772366400250, 'token.issued', 'success', 'client', 286467608805376006, 286467608805376002, 286467608805376006, '127.0.0.1', 'eb2f322a-d56e-482b-8ae7-' || '0e277bd1c25f', '{"familyId":"28646760880' || '5376019","scope":"openid' || ' profile offline_access"' || '}');
INSERT INTO audit_event (id, at, type, outcome, actor_type, actor_id, account_id, client_id, address, request_id, details) OVERRIDING SYSTEM VALUE VALUES (25, 1772366400250, 'token.client_issued', 'success', 'client', 286467608805376012, NULL, 286467608805376012, '127.0.0.1', 'a5f3955b-2ccc-4a48-831a-' || '77697dab721f', '{}');
INSERT INTO audit_event (id, at, type, outcome, actor_type, actor_id, account_id, client_id, address, request_id, details) OVERRIDING SYSTEM VALUE VALUES (26, 1772366400250, 'invitation.created', 'success', 'admin', NULL, NULL, NULL, '127.0.0.1', 'be10710b-6b3d-4545-a995-' || '1cddffe1d8f4', '{"invitationId":"2864676' || '08805376020","organizati' || 'onId":"28646760880537600' || '1","role":null}');
INSERT INTO audit_event (id, at, type, outcome, actor_type, actor_id, account_id, client_id, address, request_id, details) OVERRIDING SYSTEM VALUE VALUES (27, 1772366400250, 'account.banned', 'success', 'admin', NULL, 286467608805376005, NULL, '127.0.0.1', '0e67a866-69d8-4a67-9753-' || '7c5996363ec0', '{"until":null,"reason":"' || 'spam"}');
INSERT INTO audit_event (id, at, type, outcome, actor_type, actor_id, account_id, client_id, address, request_id, details) OVERRIDING SYSTEM VALUE VALUES (28, 1772366400250, 'account.updated', 'success', 'user', 286467608805376002, 286467608805376002, NULL, '127.0.0.1', 'c68c4a75-a073-4f6f-bce2-' || 'ab4c1fadf11e', '{"fields":["picture"]}');
INSERT INTO audit_event (id, at, type, outcome, actor_type, actor_id, account_id, client_id, address, request_id, details) OVERRIDING SYSTEM VALUE VALUES (29, 1772366400250, 'client.created', 'success', 'anonymous', NULL, NULL, 286467608805376021, '127.0.0.1', 'c7c9daf9-36a2-495d-a9b7-' || 'f78955aa576c', '{}');
INSERT INTO audit_event (id, at, type, outcome, actor_type, actor_id, account_id, client_id, address, request_id, details) OVERRIDING SYSTEM VALUE VALUES (30, 1772366400250, 'recovery.requested', 'success', 'anonymous', NULL, 286467608805376003, NULL, '127.0.0.1', 'e325d0f0-c1df-4e1a-9b86-' || 'c73f767d8f6e', '{}');
INSERT INTO audit_event (id, at, type, outcome, actor_type, actor_id, account_id, client_id, address, request_id, details) OVERRIDING SYSTEM VALUE VALUES (31, 1772366400250, 'authorization.issued', 'success', 'user', 286467608805376002, 286467608805376002, 286467608805376006, '127.0.0.1', '21cd6050-1080-4187-9514-' || '1fc2e3d367c8', '{"scopes":"openid","gran' || 'tId":"286467608805376014' || '"}');
INSERT INTO trace_step (id, at, ring, request_id, client_id, account_id, step, outcome, flow, leads_to, facts) OVERRIDING SYSTEM VALUE VALUES (1, 1772366400250, '- progress', '54881d86-8ab1-4c8d-b2b3-' || 'bcdb8efb57bb', NULL, 286467608805376002, 'sign-in', 'success', NULL, NULL, '{"method":"POST","path":' || '"/login","description":"' || 'The user signed in."}');
INSERT INTO trace_step (id, at, ring, request_id, client_id, account_id, step, outcome, flow, leads_to, facts) OVERRIDING SYSTEM VALUE VALUES (2, 1772366400250, '286467608805376006 progr' || 'ess', '666792e7-ba0d-4d05-b985-' || 'b7336909fbd1', 286467608805376006, NULL, 'authorize', 'success', 'YGiB-6ZTbGomwKWKmYkz7i', NULL, '{"method":"GET","path":"' || '/api/v2/oauth/authorize"' || ',"description":"The requ' || 'est is valid, and contin' || 'ues at /consent.","sent"' || ':"scope=\"openid\" redir' || 'ect_uri=https://app.exam' || 'ple.com/callback"}');
INSERT INTO trace_step (id, at, ring, request_id, client_id, account_id, step, outcome, flow, leads_to, facts) OVERRIDING SYSTEM VALUE VALUES (3, 1772366400250, '286467608805376006 progr' || 'ess', '60d226e3-a320-465d-83a9-' || 'c77ae921c6b6', 286467608805376006, 286467608805376002, 'consent', 'success', 'YGiB-6ZTbGomwKWKmYkz7i', NULL, '{"description":"The user' || ' was asked for nothing o' || 'ptional, and allowed not' || 'hing optional."}');
INSERT INTO trace_step (id, at, ring, request_id, client_id, account_id, step, outcome, flow, leads_to, facts) OVERRIDING SYSTEM VALUE VALUES (4, 1772366400250, '286467608805376006 progr' || 'ess', '60d226e3-a320-465d-83a9-' || 'c77ae921c6b6', 286467608805376006, 286467608805376002, 'code', 'success', 'YGiB-6ZTbGomwKWKmYkz7i', 'fUgRNBMN-Gd0PFa1iYXpR4', '{"description":"A code w' || 'as issued for https://ap' || 'p.example.com/callback."' || '}');
INSERT INTO trace_step (id, at, ring, request_id, client_id, account_id, step, outcome, flow, leads_to, facts) OVERRIDING SYSTEM VALUE VALUES (5, 1772366400250, '286467608805376006 progr' || 'ess', 'c30cb2cf-ca45-42ba-93bb-' || '40780c6efd1c', 286467608805376006, 286467608805376002, 'token', 'success', 'fUgRNBMN-Gd0PFa1iYXpR4', '286467608805376015', '{"description":"Tokens w' || 'ere issued for the scope' || 's openid."}');
INSERT INTO trace_step (id, at, ring, request_id, client_id, account_id, step, outcome, flow, leads_to, facts) OVERRIDING SYSTEM VALUE VALUES (6, 1772366400250, '286467608805376008 progr' || 'ess', '7f99a187-19c6-4106-8228-' || 'ff1d5258b2b9', 286467608805376008, NULL, 'authorize', 'success', '--nfNcvDhoyKcQQ1V0wBdu', NULL, '{"method":"GET","path":"' || '/api/v2/oauth/authorize"' || ',"description":"The requ' || 'est is valid, and contin' || 'ues at /consent.","sent"' || ':"scope=\"openid\" redir' || 'ect_uri=https://app.exam' || 'ple.com/callback"}');
INSERT INTO trace_step (id, at, ring, request_id, client_id, account_id, step, outcome, flow, leads_to, facts) OVERRIDING SYSTEM VALUE VALUES (7, 1772366400250, '286467608805376008 progr' || 'ess', '0b301407-d65d-4ff6-8463-' || '7d961ed1b7a4', 286467608805376008, 286467608805376002, 'consent', 'success', '--nfNcvDhoyKcQQ1V0wBdu', NULL, '{"description":"The user' || ' was asked for nothing o' || 'ptional, and allowed not' || 'hing optional."}');
INSERT INTO trace_step (id, at, ring, request_id, client_id, account_id, step, outcome, flow, leads_to, facts) OVERRIDING SYSTEM VALUE VALUES (8, 1772366400250, '286467608805376008 progr' || 'ess', '0b301407-d65d-4ff6-8463-' || '7d961ed1b7a4', 286467608805376008, 286467608805376002, 'code', 'success', '--nfNcvDhoyKcQQ1V0wBdu', 'QuZMjiZAa1qw0cF-CwWf1g', '{"description":"A code w' || 'as issued for https://ap' || 'p.example.com/callback."' || '}');
INSERT INTO trace_step (id, at, ring, request_id, client_id, account_id, step, outcome, flow, leads_to, facts) OVERRIDING SYSTEM VALUE VALUES (9, 1772366400250, '286467608805376008 progr' || 'ess', 'eb510fb6-eea9-4cae-8e97-' || '5810e314588d', 286467608805376008, 286467608805376002, 'token', 'success', 'QuZMjiZAa1qw0cF-CwWf1g', '286467608805376017', '{"description":"Tokens w' || 'ere issued for the scope' || 's openid."}');
INSERT INTO trace_step (id, at, ring, request_id, client_id, account_id, step, outcome, flow, leads_to, facts) OVERRIDING SYSTEM VALUE VALUES (10, 1772366400250, '286467608805376006 progr' || 'ess', '0a98f9c3-d2c3-45b8-bfe2-' || '181dbf228d3d', 286467608805376006, NULL, 'authorize', 'success', 'Gkl6dygZuTfImiies97YWU', NULL, '{"method":"GET","path":"' || '/oidc/authorize","descri' || 'ption":"The request is v' || 'alid, and continues at /' || 'consent.","sent":"scope=' || '\"openid profile offline' || '_access\" redirect_uri=h' || 'ttps://app.example.com/c' || 'allback"}');
INSERT INTO trace_step (id, at, ring, request_id, client_id, account_id, step, outcome, flow, leads_to, facts) OVERRIDING SYSTEM VALUE VALUES (11, 1772366400250, '286467608805376006 progr' || 'ess', '8b9b74e7-8f62-413f-bbba-' || 'eec132e85689', 286467608805376006, 286467608805376002, 'consent', 'success', 'Gkl6dygZuTfImiies97YWU', NULL, '{"description":"The user' || ' was asked for profile, ' || 'and allowed profile."}');
INSERT INTO trace_step (id, at, ring, request_id, client_id, account_id, step, outcome, flow, leads_to, facts) OVERRIDING SYSTEM VALUE VALUES (12, 1772366400250, '286467608805376006 progr' || 'ess', '8b9b74e7-8f62-413f-bbba-' || 'eec132e85689', 286467608805376006, 286467608805376002, 'code', 'success', 'Gkl6dygZuTfImiies97YWU', 'DPXuULEyuDh56JTcKJHKn8', '{"description":"A code w' || 'as issued for https://ap' || 'p.example.com/callback."' || '}');
INSERT INTO trace_step (id, at, ring, request_id, client_id, account_id, step, outcome, flow, leads_to, facts) OVERRIDING SYSTEM VALUE VALUES (13, 1772366400250, '286467608805376006 progr' || 'ess', 'eb2f322a-d56e-482b-8ae7-' || '0e277bd1c25f', 286467608805376006, 286467608805376002, 'token', 'success', 'DPXuULEyuDh56JTcKJHKn8', '286467608805376019', '{"description":"Tokens w' || 'ere issued for the scope' || 's openid profile offline' || '_access."}');
INSERT INTO trace_step (id, at, ring, request_id, client_id, account_id, step, outcome, flow, leads_to, facts) OVERRIDING SYSTEM VALUE VALUES (14, 1772366400250, '286467608805376008 progr' || 'ess', '1b20e605-a1a4-4664-bc2c-' || '0ae342e0185e', 286467608805376008, NULL, 'authorize', 'success', 's9xwhipWPuUdkDoVijE1gx', NULL, '{"method":"GET","path":"' || '/api/v2/oauth/authorize"' || ',"description":"The requ' || 'est is valid, and contin' || 'ues at /consent.","sent"' || ':"scope=\"openid\" redir' || 'ect_uri=https://app.exam' || 'ple.com/callback"}');
INSERT INTO trace_step (id, at, ring, request_id, client_id, account_id, step, outcome, flow, leads_to, facts) OVERRIDING SYSTEM VALUE VALUES (15, 1772366400250, '286467608805376006 progr' || 'ess', '21cd6050-1080-4187-9514-' || '1fc2e3d367c8', 286467608805376006, 286467608805376002, 'authorize', 'success', NULL, 'ICXvDJm1g22Fm-tbOdxrJR', '{"description":"The requ' || 'est is valid, and needs ' || 'no page. A code was issu' || 'ed for https://app.examp' || 'le.com/callback.","sent"' || ':"scope=\"openid\" redir' || 'ect_uri=https://app.exam' || 'ple.com/callback"}');
INSERT INTO challenge (hash, purpose, account_id, generation, address, browser_hash, code_hash, sealed, created_at, expires_at, used_at, admin_key_id) OVERRIDING SYSTEM VALUE VALUES ('qRruloRxVN1FpMPolEBGRO4x' || 'CYptNqVQN5eKu0Mcq9E', 'recover', 286467608805376003, 'c_4IrRIQULyvxtWwKV4k_Q', 'user2@example.com', '3YizNu0F3mkSYjpLtWRedUKL' || 'B6HxSA-Fr0HdQ4L8KKA', 'PkT4Jh30I76WGzoBnetaGo_u' || '8gPsduauzeEEy0rnmdY', 'wxSF562-IO2BeLGtFbsrVAkE' || '_RLDHI6uKPWeDqCl', 1772366400250, 1772368200250, NULL, NULL);
INSERT INTO mail_request (id, purpose, sealed, created_at, attempts, due_at) OVERRIDING SYSTEM VALUE VALUES ('m2govNPvA8twagCOweeYtg', 'recover', 'WGQBVG2BSqQiTTW0b8RlQMic' || '6PkHjhoPY_URRlzom6YPxI9U' || '0ZvwZlLmtI3L8oJD6YX60gHH' || 'wFLWKvoEWlQbXJ6FtJXrCkxL' || 'cKBZIZPffQWZGtWARA-2Usmg' || 'DRkQ9ico_T75qQQ6oz4FsB3c' || 'Tuy9s-2KbXsT7u2ZHUk2apDy' || 'ttbBaf3WhDDdGULITLNpiAH5' || 'xwEufEuMhnO8Pimjnx71jobz' || 'PjzMq6HkC1Oh_lmT4rZo16AQ' || 'CLO5OmJCwB-qNWiErg93l0Nz' || 'cA6jvpJMfIM6GIOx33iWXRCd' || 'FVTebCK8YTFhSPYSybv_vH3U' || 'VjezbbUh4Vqdn0JorRn5dTP3' || '7ufVznJP0NUALj3SId_Dmd0J' || 'OQs', 1772366400250, 0, 1772366400250);
INSERT INTO mail (id, message_id, kind, account_id, recipient, challenge_hash, sealed, status, attempts, unconfirmed, due_at, created_at, expires_at, settled_at, problem, priority, recipient_domain) OVERRIDING SYSTEM VALUE VALUES (1, 'Jxx5GEvyqicCTd2cDiIMbw', 'invitation', NULL, 'guest@example.com', NULL, 'CpJOCBpUwyYh-4rt772hqH3h' || 'LCewzb2s614jp5PBob-ZDc8P' || 'vbZ51X4ZMTlqwerwLTxd5JyO' || 'OujcplxPwvr0j9qJG-lJYSHC' || 'Egb1reSi33p4eBi0jf4ELKQ1' || '2UsTNyprfjdXIVNvfUzw-cMS' || 'uIjAGbfFYu_yM8GEhuk6Ma-_' || 'eKQn0MMRJkp8Ou-ki8Tw9L8l' || 'LPSPB2HkoxnPr9eG8RUzZ49W' || '1TT5XNP1YqAsqjapxvh6mglU' || 'Q6FLoqgyNdc2TC06FELwdFGC' || 'w5K4CdKjhIclPJcUyYW0XbvM' || 'jdoyNCDbH5itYIoFFJwt1nUW' || 'hr8qKgWyxfWXV5_wg5eZw9zv' || 'areZzWwpLiVVurr-nFKtO-Xh' || 'kq9B5OyYm3Na4qpLUByPMwc1' || 'PxyBjmG7_I1ownDDIUTGmgLA' || 'jekVetLt2_kEGxG-ODE6sXgQ' || 'T59QSIDj86skqBHqESIRYAhQ' || 'bCyl1ngXslXAxUta3g7vTXJH' || 'OK4ZNJ5f7699b6yTWuRk_iMb' || 'f72_3OnsGldczipfArSOw1cL' || '4UHFIt-RmHtNjBrcNcc0tc30' || 'Grb2EeW_AATSArxqt8AfBitg' || 'RO2S', 'kept', 0, 0, 1772366400250, 1772366400250, 1772971200250, NULL, NULL, 0, 'example.com');
INSERT INTO mail (id, message_id, kind, account_id, recipient, challenge_hash, sealed, status, attempts, unconfirmed, due_at, created_at, expires_at, settled_at, problem, priority, recipient_domain) OVERRIDING SYSTEM VALUE VALUES (2, 'JocOHRdpQEWv6Vasrl2tbw', 'recovery', 286467608805376003, 'user2@example.com', 'qRruloRxVN1FpMPolEBGRO4x' || 'CYptNqVQN5eKu0Mcq9E', 'wLjiJYCU9sL_4iQ5yzOzLGew' || 'f0rrCGcm7v2umtMbFZU-0ZCZ' || '4iMeNkNTcSLB-oqh1nkSLBaP' || 'VixcJSYakw1FExeDdYUJgpOe' || 'BbhPRv4T8ICuqWKRsSVtXb7x' || 'LIvOy-nOy_TE9FPl9-HBObo6' || 'fF1dfoXsfeFWxAuJtdTPP9gY' || 'k0NpSItyNinDkTB2rWSHJ0Vq' || 'j7NLK9qtl3HfFJvhmDiED9qb' || 'yC08en9bIMbG3kO9qGO9P110' || 'RehnnwNuKnaXCEE8xuUpT5Dv' || 'xWABomgHxmPPisZ-hHXUdYZB' || 'aeu0Vj6SL8_RqZWhV1YuoSRF' || 'AVrzGE54IS2Htd9B3f4V5vl2' || '9cogX3uRJWs5gH48bZhrPWWh' || 'xS9BFV528M5rdxueerrif-c-' || '-oJ5QLgD5nrkegav7oD6N0qR' || 'noNx4Vdo5hkCKNj-heMFnJt_' || '7O8TwX_qWSj8yZd2hkaXzELE' || 'XHwBcawymH-tIpI3E-EweBU_' || '4VSkiqoJNrakH4iDfRr90wMU' || 'mseh0WW1DfVkwjdYVyEH0aQS' || 'SSyqV85dbWD6jhUCrQSDjd8f' || '5JJiWJdCltz0a4CK-wL5WcE7' || 'sLSTcQLDjHqhsU1Vphmy_7DW' || 'SyS-3Wb5WmhiitXmb9lclD_h' || 'p_Y1roRI-J7PR9TLTPIgTNqi' || 'I7FT3daFH_JInEMyrY_j-skD' || '7r0Q0QzHmZkO0JvWgqRATSnk' || 'pQ', 'kept', 0, 0, 1772366400250, 1772366400250, 1772368200250, NULL, NULL, 0, 'example.com');
SELECT setval(pg_get_serial_sequence('membership', 'id'), (SELECT max(id) FROM membership));
SELECT setval(pg_get_serial_sequence('group_member', 'id'), (SELECT max(id) FROM group_member));
SELECT setval(pg_get_serial_sequence('logout_notice', 'id'), (SELECT max(id) FROM logout_notice));
SELECT setval(pg_get_serial_sequence('audit_event', 'id'), (SELECT max(id) FROM audit_event));
SELECT setval(pg_get_serial_sequence('trace_step', 'id'), (SELECT max(id) FROM trace_step));
SELECT setval(pg_get_serial_sequence('mail', 'id'), (SELECT max(id) FROM mail));
