import type { ColumnTypes } from '../platform/database/migrations/kinds.ts';

/** What operators did to apps that ends with them: registrations, secrets, redirect URIs and approvals. */
export const clientActs = ({ int, options, serial }: ColumnTypes): readonly string[] => [
  `CREATE TABLE client_act (
    id ${serial},
    client_id ${int} NOT NULL REFERENCES client (id) ON DELETE CASCADE,
    operator_id ${int} NOT NULL,
    kind TEXT NOT NULL,
    secret_id ${int} REFERENCES client_secret (id) ON DELETE CASCADE,
    acted_at ${int} NOT NULL
  ) ${options}`,
  'CREATE UNIQUE INDEX client_act_once ON client_act (operator_id, client_id, kind, COALESCE(secret_id, 0))',
  'CREATE INDEX client_act_by_client ON client_act (client_id)',
  'CREATE INDEX client_act_by_secret ON client_act (secret_id)',
];
