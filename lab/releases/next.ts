import type { Timeline } from '../../src/platform/database/migrations/kinds.ts';
import { addIndexes, changeRows, expand } from '../../src/platform/database/migrations/kinds.ts';

/** When the refresh tokens of families expire that can be used, whenever the tests run. */
export const FUTURE = 32503680000000;

/** What the rows of `NEXT` get. */
export const NEXT_AT = `CASE WHEN leaf_expires_at = ${FUTURE} THEN ${FUTURE + 300_000} ELSE 0 END`;

/** What a version after this one might do to tables that are large: a column, its rows in batches, and indexes. */
export const NEXT: Timeline = {
  '9001-column': expand(({ int }) => [`ALTER TABLE token_family ADD COLUMN next_at ${int} NOT NULL DEFAULT 0`]),
  '9002-rows': changeRows({
    table: 'token_family',
    set: 'next_at = leaf_expires_at + 300000',
    where: ({ now }) => `next_at = 0 AND leaf_expires_at > ${now}`,
  }),
  '9003-indexes': addIndexes(
    { name: 'token_family_by_next', table: 'token_family', columns: 'next_at' },
    { name: 'browser_session_by_next', table: 'browser_session', columns: 'last_seen_at' },
  ),
};
