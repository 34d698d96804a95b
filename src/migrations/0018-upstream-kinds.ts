import type { ColumnTypes } from '../platform/database/migrations/kinds.ts';

/** Kinds of other providers, and what Apple's needs. */
export const upstreamKinds = ({ int }: ColumnTypes): readonly string[] => [
  "ALTER TABLE upstream ADD COLUMN kind TEXT NOT NULL DEFAULT 'oidc'",
  `ALTER TABLE upstream ADD COLUMN secret_expires_at ${int}`,
  'ALTER TABLE upstream ADD COLUMN team_name TEXT',
  'ALTER TABLE upstream ADD COLUMN key_name TEXT',
];
