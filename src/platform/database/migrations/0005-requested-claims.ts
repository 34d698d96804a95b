import type { ColumnTypes } from './timeline.ts';

/** What authorization requests ask for beside their scopes: single claims, and a choice of the account. */
export const requestedClaims = (_types: ColumnTypes): readonly string[] => [
  'ALTER TABLE interaction ADD COLUMN chosen_session TEXT',
  'ALTER TABLE authorization_code ADD COLUMN claims TEXT',
  'ALTER TABLE token_family ADD COLUMN claims TEXT',
];
