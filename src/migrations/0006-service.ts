import type { ColumnTypes } from '../platform/database/migrations/kinds.ts';

/** What the service itself needs: keys, leases, limits, the audit trail and the traces. */
export const serviceTables = ({ int, serial, options }: ColumnTypes): readonly string[] => [
  `CREATE TABLE signing_key (
    kid TEXT PRIMARY KEY,
    sealed TEXT NOT NULL,
    created_at ${int} NOT NULL,
    retired_at ${int}
  ) ${options}`,

  `CREATE TABLE id_token_key (
    kid TEXT PRIMARY KEY,
    alg TEXT NOT NULL,
    sealed TEXT NOT NULL,
    public_jwk TEXT NOT NULL,
    created_at ${int} NOT NULL,
    signs_from ${int} NOT NULL,
    given_up_at ${int}
  ) ${options}`,

  `CREATE TABLE key_set (
    id ${int} PRIMARY KEY CHECK (id = 1),
    version TEXT NOT NULL
  ) ${options}`,

  `CREATE TABLE data_key (
    id ${int} PRIMARY KEY,
    sealed TEXT NOT NULL,
    created_at ${int} NOT NULL
  ) ${options}`,

  `CREATE TABLE admin_key (
    id ${int} PRIMARY KEY,
    name TEXT NOT NULL,
    hash TEXT NOT NULL UNIQUE,
    created_at ${int} NOT NULL,
    revoked_at ${int}
  ) ${options}`,

  // The key of the configuration has an id, too: one row, that of the newest start.
  `CREATE TABLE configured_admin_key (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    key_id ${int},
    hash TEXT
  ) ${options}`,
  'INSERT INTO configured_admin_key (id, key_id, hash) VALUES (1, NULL, NULL)',

  `CREATE TABLE node_lease (
    node ${int} PRIMARY KEY,
    holder TEXT NOT NULL,
    expires_at ${int} NOT NULL
  ) ${options}`,

  // The PostgreSQL server on which the data is known to be complete: one row at most, and none in an embedded database.
  `CREATE TABLE known_server (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    cluster TEXT NOT NULL,
    timeline ${int} NOT NULL,
    database TEXT NOT NULL,
    relation TEXT NOT NULL,
    release INTEGER NOT NULL
  ) ${options}`,

  `CREATE TABLE rate_count (
    bucket TEXT PRIMARY KEY,
    count ${int} NOT NULL,
    window_ends_at ${int} NOT NULL
  ) ${options}`,
  'CREATE INDEX rate_count_by_end ON rate_count (window_ends_at)',

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
  // Grouped in blocks of 1,024 events (see `audit/search-store.ts`), so that new ones fall on a few pages.
  'CREATE INDEX audit_event_by_account ON audit_event ((id / 1024), account_id)',
  'CREATE INDEX audit_event_by_client ON audit_event ((id / 1024), client_id)',
  // The events that may contain text that an operator wrote about an account: `audit/erase-store.ts` removes it with the account.
  "CREATE INDEX audit_event_with_reason ON audit_event (account_id) WHERE type IN ('account.banned', 'account.suspended')",
  // Without the types that every use of an app records, so that tokens cost no more to write. A statement uses it only with the same
  // condition: see `audit/activity-store.ts`.
  `CREATE INDEX audit_event_of_account ON audit_event (account_id, (-id))
   WHERE account_id IS NOT NULL
   AND type NOT IN ('authorization.issued', 'token.issued', 'token.refreshed', 'token.repeated', 'token.refused', 'token.revoked')`,

  `CREATE TABLE trace_step (
    id ${serial},
    at ${int} NOT NULL,
    ring TEXT NOT NULL,
    request_id TEXT NOT NULL,
    client_id ${int} REFERENCES client (id) ON DELETE CASCADE,
    account_id ${int} REFERENCES account (id) ON DELETE CASCADE,
    step TEXT NOT NULL,
    outcome TEXT NOT NULL,
    flow TEXT,
    leads_to TEXT,
    facts TEXT NOT NULL
  ) ${options}`,
  'CREATE INDEX trace_step_by_request ON trace_step (request_id)',
  'CREATE INDEX trace_step_by_ring ON trace_step (ring, id)',
  'CREATE INDEX trace_step_by_flow ON trace_step (flow) WHERE flow IS NOT NULL',
  'CREATE INDEX trace_step_by_next_flow ON trace_step (leads_to) WHERE leads_to IS NOT NULL',
  'CREATE INDEX trace_step_by_client ON trace_step (client_id) WHERE client_id IS NOT NULL',
  'CREATE INDEX trace_step_by_account ON trace_step (account_id) WHERE account_id IS NOT NULL',
];
