// store: SQLite, PostgreSQL
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { migrateDatabase } from '../../src/core.ts';
import { timeline } from '../../src/migrations/timeline.ts';
import { isLater } from '../../src/platform/version.ts';
import { readConfig } from '../../src/settings/config.ts';
import { agent } from '../../test/support/agent.ts';
import { redeem, refresh, signedIn, userinfo } from '../../test/support/flow.ts';
import { contents, heldAt, RELEASES, released } from './fixture.ts';
import { serverOn } from './life.ts';
import { NEXT } from './next.ts';
import type { Place } from './places.ts';

const steps = { ...timeline, ...NEXT };

/** Whether a version runs on the schema of this one. */
const runsHere = (version: string): boolean =>
  Object.values(timeline).every((step) => step.kind !== 'contract' || !isLater(step.earliest, version));

const ON_POSTGRES = process.env['TESSERA_TEST_POSTGRES'] !== undefined;
const kinds: readonly ['sqlite' | 'postgres', boolean][] = [
  ['sqlite', ON_POSTGRES],
  ['postgres', !ON_POSTGRES],
];

for (const [kind, skip] of kinds) {
  for (const version of RELEASES) {
    describe(`from ${version} on ${kind}`, { skip }, () => {
      const places: Place[] = [];
      after(async () => {
        for (const { drop } of places) await drop();
      });
      const arrive = async (): Promise<Place> => {
        const place = await released(kind, version);
        places.push(place);
        return place;
      };
      const migrated = async (place: Place) =>
        migrateDatabase(readConfig({ ...place.environment, TESSERA_SECRET: heldAt(version).secret }), { steps });

      test('every row is kept', async () => {
        const place = await arrive();
        const tables = await place.columns();
        const before = await place.rows(tables);
        assert.ok(
          Object.values(before).every((rows) => rows.length > 0),
          'there is a row of every kind',
        );
        assert.ok((await migrated(place)).length > 0);
        assert.deepEqual(await place.rows(tables), before);
      });

      test('every statement of the release runs on the schema of this version', {
        skip: !runsHere(version),
      }, async () => {
        const place = await arrive();
        const [tables, uniques] = [await place.columns(), await place.uniqueIndexes()];
        await migrated(place);
        const statements = contents(version, `statements.${kind}.sql`).split(/;\n/).filter(Boolean);
        assert.ok(statements.length > 300);
        await place.prepare(statements);
        const now = await place.columns();
        for (const [table, columns] of Object.entries(tables)) {
          const later = now[table] ?? assert.fail(`the table ${table} is gone`);
          for (const [column, { required }] of Object.entries(later)) {
            const old = columns[column];
            assert.ok(
              !required || old?.required,
              `${version} does not write ${table}.${column}, and it must be written`,
            );
          }
        }
        const added = (await place.uniqueIndexes()).filter((index) => !uniques.includes(index));
        // One on a column that the release does not write holds none of its rows.
        const onOld = added.filter((index) => {
          const [table = '', columns = ''] = index.split(' ');
          return columns.split(',').every((column) => tables[table]?.[column] !== undefined);
        });
        assert.deepEqual(onOld, [], `${version} may write what these refuse`);
      });

      test('people and apps keep what they hold', async () => {
        const place = await arrive();
        const held = heldAt(version);
        const clock = { now: held.now + 1000 };
        const server = await serverOn({ ...place.environment, TESSERA_SECRET: held.secret }, clock);
        try {
          assert.equal((await userinfo(server, held.accessToken)).status, 200);
          assert.equal((await userinfo(server, held.revokedToken)).status, 403);
          assert.equal((await redeem(server, held, held.code)).status, 200);
          const renewed = await refresh(server, held, held.refreshToken);
          assert.equal(renewed.status, 200, JSON.stringify(renewed.body));
          assert.equal((await userinfo(server, renewed.body.access_token)).status, 200);
          const browser = agent(server.baseUrl, server.nodeInTurn);
          browser.setCookie('tessera_session', held.session);
          assert.equal((await browser.get('/account')).status, 200);
          await signedIn(server, { id: '', username: held.username });
        } finally {
          await server.close();
        }
      });
    });
  }
}

test('the release before this version is kept', () => {
  assert.ok(RELEASES.includes('0.2.0'));
});
