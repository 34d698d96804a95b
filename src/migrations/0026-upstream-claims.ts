import type { ColumnTypes } from '../platform/database/migrations/kinds.ts';

/** Which claims of another provider are written into an account, by JSON pointers. */
export const upstreamClaims = (_types: ColumnTypes): readonly string[] => [
  "ALTER TABLE upstream ADD COLUMN claims_map TEXT NOT NULL DEFAULT '{}'",
  'CREATE INDEX user_group_by_source ON user_group (source, id)',
];
