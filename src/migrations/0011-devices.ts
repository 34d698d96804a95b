import type { ColumnTypes } from '../platform/database/migrations/kinds.ts';

/** Devices that ask for access, and wait for a person to answer in a browser (RFC 8628). */
export const devices = ({ int, options }: ColumnTypes): readonly string[] => [
  `CREATE TABLE device_authorization (
    hash TEXT PRIMARY KEY,
    user_code TEXT NOT NULL UNIQUE,
    client_id ${int} NOT NULL REFERENCES client (id) ON DELETE CASCADE,
    client_generation TEXT NOT NULL,
    scopes TEXT NOT NULL,
    resources TEXT,
    network TEXT,
    created_at ${int} NOT NULL,
    expires_at ${int} NOT NULL,
    poll_interval ${int} NOT NULL,
    polled_at ${int},
    outcome TEXT,
    code_hash TEXT
  ) ${options}`,
  'CREATE INDEX device_authorization_by_end ON device_authorization (expires_at)',
  'CREATE INDEX device_authorization_by_client ON device_authorization (client_id)',
];
