import type { ColumnTypes } from '../platform/database/migrations/kinds.ts';

/**
 * Clients that no operator registered (Client ID Metadata Documents): a row exists once a person has consented, so a pending request may
 * have none. Its column is made nullable by another table, because SQLite cannot change a column.
 */
export const unregisteredClients = ({ int, bytes, options }: ColumnTypes): readonly string[] => [
  'ALTER TABLE client ADD COLUMN registered_by TEXT',
  `ALTER TABLE client ADD COLUMN accepted_at ${int}`,
  'ALTER TABLE client ADD COLUMN metadata_url TEXT',
  'ALTER TABLE client ADD COLUMN metadata_host TEXT',
  `ALTER TABLE client ADD COLUMN metadata_expires_at ${int}`,
  'CREATE UNIQUE INDEX client_metadata_url ON client (metadata_url) WHERE metadata_url IS NOT NULL',
  'CREATE INDEX client_metadata_host ON client (metadata_host) WHERE metadata_host IS NOT NULL',
  `CREATE TABLE blocked_client_domain (
    domain TEXT PRIMARY KEY,
    created_at ${int} NOT NULL
  ) ${options}`,
  'ALTER TABLE interaction RENAME TO interaction_before',
  'DROP INDEX interaction_by_end',
  'DROP INDEX interaction_by_client',
  `CREATE TABLE interaction (
    hash TEXT PRIMARY KEY,
    browser_hash TEXT NOT NULL,
    client_id ${int} REFERENCES client (id) ON DELETE CASCADE,
    request TEXT NOT NULL,
    created_at ${int} NOT NULL,
    expires_at ${int} NOT NULL,
    signed_in_session TEXT,
    outcome TEXT,
    chosen_session TEXT,
    state ${bytes}
  ) ${options}`,
  `INSERT INTO interaction (hash, browser_hash, client_id, request, created_at, expires_at, signed_in_session, outcome, chosen_session, state)
    SELECT hash, browser_hash, client_id, request, created_at, expires_at, signed_in_session, outcome, chosen_session, state FROM interaction_before`,
  'DROP TABLE interaction_before',
  'CREATE INDEX interaction_by_end ON interaction (expires_at)',
  'CREATE INDEX interaction_by_client ON interaction (client_id) WHERE client_id IS NOT NULL',
];
