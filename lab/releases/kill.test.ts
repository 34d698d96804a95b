// store: SQLite, PostgreSQL
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RELEASES, releasedLarge } from './fixture.ts';
import { killMigration } from './kill.ts';

// `npm run upgrade:kill` does the same at random moments.
const KIND = process.env['TESSERA_TEST_POSTGRES'] === undefined ? 'sqlite' : 'postgres';

for (const version of RELEASES) {
  // Tables, the first batch of rows, and indexes: on SQLite they are one more transaction.
  for (const printed of ['1 of ', '2 of ', 'rows: 500', '3 of ']) {
    test(`a migration from ${version} that is killed when it has printed “${printed}” is whole after the next run`, async () => {
      const place = await releasedLarge(KIND, version);
      try {
        assert.deepEqual((await killMigration(place, { printed })).problems, []);
      } finally {
        await place.drop();
      }
    });
  }
}
