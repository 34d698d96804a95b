import type { ColumnTypes } from '../platform/database/migrations/kinds.ts';

/** Scopes that developers ask operators for, and what operators answered. They go with the app. */
export const scopeRequests = ({ int, options }: ColumnTypes): readonly string[] => [
  `CREATE TABLE scope_request (
    id ${int} PRIMARY KEY,
    client_id ${int} NOT NULL REFERENCES client (id) ON DELETE CASCADE,
    scope TEXT NOT NULL,
    resource TEXT,
    reason TEXT NOT NULL,
    asker_id ${int},
    asked_at ${int} NOT NULL,
    outcome TEXT,
    decider_id ${int},
    decided_at ${int},
    answer TEXT
  ) ${options}`,
  'CREATE INDEX scope_request_by_client ON scope_request (client_id)',
  'CREATE INDEX scope_request_by_asker ON scope_request (asker_id) WHERE asker_id IS NOT NULL',
  'CREATE INDEX scope_request_waiting ON scope_request (id) WHERE outcome IS NULL',
];
