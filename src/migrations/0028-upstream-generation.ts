import type { ColumnTypes } from '../platform/database/migrations/kinds.ts';

/** Another one whenever a provider is disabled: a sign-in that was under way then is not completed when it is enabled again. */
export const upstreamGeneration = (_types: ColumnTypes): readonly string[] => [
  "ALTER TABLE upstream ADD COLUMN generation TEXT NOT NULL DEFAULT ''",
];
