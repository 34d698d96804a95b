import type { ColumnTypes } from '../platform/database/migrations/kinds.ts';

/** The picture that another provider names: when it was last fetched from where, and which one was made of it. */
export const upstreamPictures = ({ int }: ColumnTypes): readonly string[] => [
  'ALTER TABLE upstream_identity ADD COLUMN picture_hash TEXT',
  `ALTER TABLE upstream_identity ADD COLUMN picture_at ${int}`,
  'ALTER TABLE upstream_identity ADD COLUMN picture_name TEXT',
];
