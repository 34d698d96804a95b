import type { ColumnTypes } from './timeline.ts';

/**
 * The scopes of APIs, and which clients may request them. A registration has an id that is never used again: grants, codes and token
 * families name it, so that nothing of what it allowed is left once its row is deleted.
 */
export const apiScopes = (types: ColumnTypes): readonly string[] => [
  'ALTER TABLE client ADD COLUMN resource_scopes TEXT',
  `CREATE TABLE client_api_scope (
    id ${types.int} PRIMARY KEY,
    client_id ${types.int} NOT NULL REFERENCES client (id) ON DELETE CASCADE,
    api_id ${types.int} NOT NULL REFERENCES client (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    created_at ${types.int} NOT NULL,
    UNIQUE (client_id, api_id, name)
  ) ${types.options}`,
  'CREATE INDEX client_api_scope_by_api ON client_api_scope (api_id, client_id)',
  'ALTER TABLE client_token ADD COLUMN scopes TEXT',
];
