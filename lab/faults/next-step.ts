import type { Timeline } from '../../src/platform/database/migrations/kinds.ts';

const TABLES = ['account', 'client', 'consent_grant', 'token_family', 'authorization_code', 'browser_session'];

/** What a later version might do to the tables that every request reads. */
export const NEXT_STEP: Timeline = {
  '9999-next': {
    kind: 'expand',
    statements: () =>
      TABLES.map((table) => `ALTER TABLE ${table} ADD COLUMN of_the_next_version integer NOT NULL DEFAULT 0`),
  },
};
