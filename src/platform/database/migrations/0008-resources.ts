import type { ColumnTypes } from './timeline.ts';

/** Resource servers, and which of them tokens are for (RFC 8707). */
export const resources = (_types: ColumnTypes): readonly string[] => [
  'ALTER TABLE client ADD COLUMN resource TEXT',
  'CREATE UNIQUE INDEX client_by_resource ON client (resource) WHERE resource IS NOT NULL',
  // Lists of them; null is the service's own UserInfo, as for everybody who names none.
  'ALTER TABLE consent_grant ADD COLUMN resources TEXT',
  'ALTER TABLE authorization_code ADD COLUMN resources TEXT',
  'ALTER TABLE token_family ADD COLUMN resources TEXT',
];
