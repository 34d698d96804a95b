import type { ColumnTypes } from '../platform/database/migrations/kinds.ts';
import { addIndexes } from '../platform/database/migrations/kinds.ts';

/** The secret of the last sign-in, without which a browser is not known; null where an earlier version stored the browser. */
export const knownBrowsers = (_types: ColumnTypes): readonly string[] => [
  'ALTER TABLE known_browser ADD COLUMN secret_hash TEXT',
];

/** For the accounts that know a browser: a sign-in to one of them gives it a new secret. */
export const knownBrowserIndexes = addIndexes({
  name: 'known_browser_by_browser',
  table: 'known_browser',
  columns: 'browser_hash',
});
