// store: PostgreSQL
/** What was prepared on a connection stops fitting under a running node: a newer node migrates, or a pooler resets. */
import assert from 'node:assert/strict';
import { after, before, describe, mock, test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { sql } from 'kysely';
import { Client } from 'pg';
import { findAccount } from '../../src/accounts/store.ts';
import { timeline, toCurrentSchema } from '../../src/migrations/timeline.ts';
import { type Database, StoreUnavailable } from '../../src/platform/database/database.ts';
import { expand } from '../../src/platform/database/migrations/kinds.ts';
import { migratePostgres } from '../../src/platform/database/postgres/migrate.ts';
import { openPostgres } from '../../src/platform/database/postgres/open.ts';
import { one } from '../../src/platform/database/statement.ts';
import { account } from '../store/rows.ts';
import { ask, connected } from '../support/ask-postgres.ts';
import { admin, newClient, newUser, refresh, signedIn, tokensFor, userinfo } from '../support/flow.ts';
import { startPostgres } from '../support/postgres.ts';
import { ownDatabase } from '../support/postgres-database.ts';
import { startServer } from '../support/server.ts';

const started = process.env['TESSERA_TEST_POSTGRES'] === undefined ? await startPostgres() : undefined;
if (started !== undefined) process.env['TESSERA_TEST_POSTGRES'] = started.url;

test('a column that is added to every table under a running node disturbs nothing', async (t) => {
  const server = await startServer();
  t.after(() => server.close());
  const [user, client] = [await newUser(server), await newClient(server)];
  await admin(server, 'POST', '/organizations', { name: 'acme', domain: 'acme.example' });
  const statuses = async () => {
    const browser = await signedIn(server, user);
    const { access_token: token, refresh_token: next } = await tokensFor(server, client, user);
    const answers = await Promise.all([
      userinfo(server, token),
      refresh(server, client, next),
      ...['/users', '/clients', '/organizations', '/audit-events', `/users/${user.id}/sessions`].map((path) =>
        admin(server, 'GET', path),
      ),
      browser.get('/account/sessions'),
      browser.get('/playground'),
    ]);
    return answers.map(({ status }) => status);
  };
  const expected = await statuses();
  assert.ok(
    expected.every((status) => status < 400),
    String(expected),
  );
  await connected(server.environment['TESSERA_DATABASE_URL'] ?? '', async (connection) => {
    const { rows } = await connection.query('SELECT tablename FROM pg_tables WHERE schemaname = current_schema()');
    // One after the other: with all locks in one transaction, a deadlock with a unit of work of the node is due at some time.
    for (const { tablename } of rows) {
      await connection.query(`ALTER TABLE "${tablename}" ADD COLUMN of_a_newer_version TEXT`);
    }
  });
  assert.deepEqual(await statuses(), expected);
});

test('a migration that deadlocks with a unit of work of a running node is run again', async (t) => {
  const place = await ownDatabase();
  assert.ok(place !== undefined);
  t.after(() => place.drop());
  await migratePostgres(place.url, toCurrentSchema);
  const next = {
    '9000-session': expand(() => ['ALTER TABLE browser_session ADD COLUMN of_a_newer_version TEXT']),
    '9001-client': expand(() => ['ALTER TABLE client ADD COLUMN of_a_newer_version TEXT']),
  };
  const node = new Client({ connectionString: place.url });
  await node.connect();
  // The order of issuing a code: the client first, then the session. The migrations lock the session's table first.
  await node.query('BEGIN');
  await node.query('SELECT id FROM client');
  // However the deadlock is resolved: the node's statement is refused, or the migrations are, and run again.
  let begun = 0;
  const migrated = migratePostgres(place.url, {
    steps: { ...timeline, ...next },
    progress: { began: () => void begun++ },
  });
  while (begun < 2) await nextTurn();
  const session = await node.query('SELECT hash FROM browser_session FOR KEY SHARE').then(
    () => 'read',
    (error) => error.code,
  );
  await node.query(session === 'read' ? 'COMMIT' : 'ROLLBACK');
  await node.end();
  assert.deepEqual(await migrated, Object.keys(next));
});

const raw = (text: string) => one((db, _p: object) => ({ compile: () => sql.raw(text).compile(db) }));
const touch = one((db, _p: object) =>
  db.updateTable('account').set({ location: 'x' }).where('id', '=', '1').returning('about'),
);
const forget = raw('DEALLOCATE ALL');
const freeze = raw('SET default_transaction_read_only = on');

describe('a connection that was of use', () => {
  let place: NonNullable<Awaited<ReturnType<typeof ownDatabase>>>;
  let database: Database;
  before(async () => {
    // Time stands still: none is replaced for its age, or for being idle, before it has met the change.
    const now = performance.now();
    mock.method(performance, 'now', () => now);
    place = (await ownDatabase()) ?? assert.fail();
    database = await openPostgres(place.url, toCurrentSchema);
  });
  after(async () => {
    await database.close();
    await place.drop();
    mock.restoreAll();
  });

  const uses = {
    read: () => database.read(() => findAccount({ id: '1' })),
    commit: () => database.commit(() => touch({})),
  };
  let width = 1000;
  const retype = () => ask(place.url, `ALTER TABLE account ALTER about TYPE varchar(${++width})`);
  const changes: readonly [string, keyof typeof uses, () => Promise<unknown>][] = [
    ['a type was changed (0A000), and a unit reads', 'read', retype],
    ['a type was changed (0A000), and a unit writes', 'commit', retype],
    ['a pooler forgot what was prepared (26000)', 'commit', () => database.commit(() => forget({}))],
    ['the server takes no writes any more (25006)', 'commit', () => database.commit(() => freeze({}))],
  ];
  for (const [what, use, change] of changes) {
    test(`${what}: an outage of one moment, and the next has a new connection`, async () => {
      const attempt = uses[use];
      await database.commit(() => account('1')).catch(() => {});
      await attempt();
      // The first read finds out about its statement on another connection. From then on one of them serves all, in turn.
      while ((database.load().connections?.read.busy ?? 0) > 0) await nextTurn();
      await attempt();
      await change();
      await assert.rejects(attempt(), StoreUnavailable);
      assert.ok(await attempt());
    });
  }
});

after(() => started?.stop());
