import type { ColumnTypes } from './timeline.ts';

/** Access tokens that clients get for themselves (RFC 6749 §4.4): no person, no grant and no family stands behind them. */
export const clientTokens = ({ int, options }: ColumnTypes): readonly string[] => [
  `CREATE TABLE client_token (
    jti TEXT PRIMARY KEY,
    client_id ${int} NOT NULL REFERENCES client (id) ON DELETE CASCADE,
    client_generation TEXT NOT NULL,
    created_at ${int} NOT NULL,
    ends_at ${int} NOT NULL,
    dead_at ${int}
  ) ${options}`,
  'CREATE INDEX client_token_by_client ON client_token (client_id)',
  'CREATE INDEX client_token_by_end ON client_token (ends_at)',
];
