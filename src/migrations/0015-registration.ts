import type { ColumnTypes } from '../platform/database/migrations/kinds.ts';

/** Clients that registered themselves (RFC 7591), and the initial access tokens with which they may. */
export const registration = ({ int, options }: ColumnTypes): readonly string[] => [
  'ALTER TABLE client ADD COLUMN registration_hash TEXT',
  `ALTER TABLE client ADD COLUMN initial_token_id ${int}`,
  `ALTER TABLE client ADD COLUMN unused_until ${int}`,
  'CREATE INDEX client_unused ON client (unused_until) WHERE unused_until IS NOT NULL',
  "CREATE INDEX client_self_registered ON client (id) WHERE registered_by = 'open'",
  'CREATE INDEX client_by_initial_token ON client (initial_token_id) WHERE initial_token_id IS NOT NULL',
  `CREATE TABLE initial_access_token (
    id ${int} NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,
    hash TEXT NOT NULL,
    admin_key_id ${int},
    created_at ${int} NOT NULL,
    expires_at ${int} NOT NULL,
    uses ${int} NOT NULL,
    most_uses ${int} NOT NULL,
    last_used_at ${int},
    revoked_at ${int}
  ) ${options}`,
  'CREATE UNIQUE INDEX initial_access_token_hash ON initial_access_token (hash)',
  'CREATE INDEX initial_access_token_by_key ON initial_access_token (admin_key_id) WHERE admin_key_id IS NOT NULL',
];
