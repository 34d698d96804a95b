import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RELEASES, released } from './fixture.ts';
import { killMigration } from './kill.ts';

// `npm run upgrade:kill` does the same at random moments.
const KIND = process.env['TESSERA_TEST_POSTGRES'] === undefined ? 'sqlite' : 'postgres';

for (const version of RELEASES) {
  for (const printed of ['1 of ', '2 of ']) {
    test(`a migration from ${version} that is killed when it has printed “${printed}” is whole after the next run`, async () => {
      const place = await released(KIND, version);
      try {
        assert.deepEqual((await killMigration(place, { printed })).problems, []);
      } finally {
        await place.drop();
      }
    });
  }
}
