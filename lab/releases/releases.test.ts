// store: SQLite, PostgreSQL
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { migrateDatabase } from '../../src/core.ts';
import { readConfig } from '../../src/platform/config/config.ts';
import { timeline } from '../../src/platform/database/migrations/timeline.ts';
import { isLater } from '../../src/platform/version.ts';
import { agent } from '../../test/support/agent.ts';
import { admin, claimsOf, newClient, redeem, refresh, signedIn, tokensFor, userinfo } from '../../test/support/flow.ts';
import { contents, heldAt, RELEASES, released } from './fixture.ts';
import { serverOn } from './life.ts';
import type { Place } from './places.ts';

/** Whether a version runs on the schema of this one. */
const runsHere = (version: string): boolean =>
  Object.values(timeline).every((step) => step.kind !== 'contract' || !isLater(step.earliest, version));

const ON_POSTGRES = process.env['TESSERA_TEST_POSTGRES'] !== undefined;
const kinds: readonly ['sqlite' | 'postgres', boolean][] = [
  ['sqlite', ON_POSTGRES],
  ['postgres', !ON_POSTGRES],
];

/** Columns that must be written, and that every version writes: this was the primary key. */
const WRITTEN = ['membership.account_id'];
/** Unique indexes that refuse nothing: of generated numbers, and of a pair whose first part is unique already. */
const REFUSE_NOTHING = [
  ...['membership membership_by_both', 'membership membership_id_key'],
  ...['membership account_id,organization_id 0', 'membership account_id 0'],
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
        migrateDatabase(readConfig({ ...place.environment, TESSERA_SECRET: heldAt(version).secret }));

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

      test('decisions §10: apps keep the ID token that they were registered for, and new ones get the new default', async () => {
        const place = await arrive();
        await migrated(place);
        const columns = { client: { id_token_claims: { required: true } } };
        const { client: before = [] } = await place.rows(columns);
        assert.ok(before.length > 0 && before.every((row) => row === 'requested'), before.join());
        const { secret, now } = heldAt(version);
        const server = await serverOn({ ...place.environment, TESSERA_SECRET: secret }, { now: now + 1000 });
        try {
          await newClient(server);
        } finally {
          await server.close();
        }
        assert.deepEqual((await place.rows(columns))['client']?.toSorted(), ['granted', ...before].toSorted());
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
              !required || old?.required || WRITTEN.includes(`${table}.${column}`),
              `${version} does not write ${table}.${column}, and it must be written`,
            );
          }
        }
        const added = (await place.uniqueIndexes()).filter((index) => !uniques.includes(index));
        const onOld = added.filter((index) => Object.keys(tables).includes(index.split(' ')[0] ?? ''));
        assert.deepEqual(
          onOld.filter((index) => !REFUSE_NOTHING.includes(index)),
          [],
          `${version} may write what these refuse`,
        );
      });

      test('decisions §12: a node of the release accepts nothing of an app that is open to assigned people only', {
        skip: version !== '0.1.0',
      }, async () => {
        const place = await arrive();
        await migrated(place);
        const { secret, now, username } = heldAt(version);
        const server = await serverOn({ ...place.environment, TESSERA_SECRET: secret }, { now: now + 1000 });
        /** The status of a token's app, by the statement with which the release reads what its verdict goes by. */
        const seenByRelease = async (token: string): Promise<string> => {
          const { family, sub, client_id: client } = claimsOf(token);
          const statement = contents(version, `statements.${kind}.sql`)
            .split(/;\n/)
            .find((text) => /^select .*"c"\."status" as "client_status"(?!.*"f"\."scopes")/s.test(text));
          assert.ok(statement);
          const values = ['1', family, sub, client];
          let count = 0;
          const filled = statement.replaceAll(/\?|\$\d+/g, () => String(values[count++]));
          assert.equal(count, values.length, statement);
          return place.value(`SELECT client_status FROM (${filled}) AS seen`);
        };
        const call = async (method: string, path: string, body: object) => {
          const answer = await admin(server, method, path, body);
          assert.ok(answer.status < 300, `${method} ${path}: ${answer.status}`);
          return answer.body;
        };
        try {
          const [open, assigned] = [await newClient(server), await newClient(server, { access: 'assigned' })];
          const user = (await admin(server, 'GET', `/users?q=${username}`)).body.items[0];
          const browser = await signedIn(server, user);
          const assignment = await call('POST', `/clients/${assigned.clientId}/assignments`, { userId: user.id });
          const openTokens = await tokensFor(server, open, user, {}, { browser });
          const tokens = await tokensFor(server, assigned, user, {}, { browser });
          for (const { access_token } of [openTokens, tokens]) {
            assert.equal((await userinfo(server, access_token)).status, 200);
          }
          // Version 0.1 accepts the tokens of an app whose status is active, and of no other.
          assert.equal(await seenByRelease(openTokens.access_token), 'active');
          assert.equal(await seenByRelease(tokens.access_token), 'assigned');
          // Nor can it open the app: enabling one writes this.
          const enabling = `UPDATE client SET status = 'active' WHERE id = ${assigned.clientId}`;
          await assert.rejects(place.execute(enabling), /check/i);

          await call('DELETE', `/clients/${assigned.clientId}/assignments/${assignment.id}`, {});
          assert.equal((await userinfo(server, tokens.access_token)).status, 401);
          assert.equal(await seenByRelease(tokens.access_token), 'assigned');
        } finally {
          await server.close();
        }
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
  assert.ok(RELEASES.includes('0.1.0'));
});
