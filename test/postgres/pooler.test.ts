// store: PostgreSQL
/** A pooler in transaction mode: every transaction may run on another connection of the server. */
import assert from 'node:assert/strict';
import { appendFileSync, cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { sql } from 'kysely';
import { Client } from 'pg';
import { findAccount } from '../../src/accounts/store.ts';
import { toCurrentSchema } from '../../src/migrations/timeline.ts';
import { randomSecret } from '../../src/platform/crypto/secrets.ts';
import { type Database, StoreUnavailable } from '../../src/platform/database/database.ts';
import { openPostgres } from '../../src/platform/database/postgres/open.ts';
import { one } from '../../src/platform/database/statement.ts';
import { tessera } from '../operator/command.ts';
import { account } from '../store/rows.ts';
import { ask } from '../support/ask-postgres.ts';
import { admin, newClient, newUser, refresh, tokensFor, userinfo } from '../support/flow.ts';
import { type Bouncer, openBouncer, pgbouncer } from '../support/pgbouncer.ts';
import { type PostgresServer, startPostgres, THROWN_AWAY } from '../support/postgres.ts';
import { spread, startServer } from '../support/server.ts';

/** Far fewer than its clients have. */
const SIZE = 6;

let postgres: PostgresServer;
let replica: PostgresServer;
let bouncer: Bouncer;
let operator: Client;
const folder = mkdtempSync(join(tmpdir(), 'tessera-pooler-'));
const copy = join(folder, 'copy');

const urlOf = (server: { readonly url: string }, database: string): string => {
  const url = new URL(server.url);
  url.pathname = `/${database}`;
  return url.href;
};

async function newDatabase(name: string): Promise<string> {
  await operator.query(`CREATE DATABASE ${name}`);
  return bouncer.through(urlOf(postgres, name));
}

interface ServerProcess {
  readonly pid: number;
  readonly state: string;
  readonly waitsFor: 'lock' | 'standby' | null;
}

/** The connections of the pooler to one database. */
async function backends(database: string): Promise<readonly ServerProcess[]> {
  const { rows } = await operator.query<ServerProcess>(
    `SELECT pid, state, CASE WHEN wait_event = 'SyncRep' THEN 'standby' WHEN wait_event_type = 'Lock' THEN 'lock' END AS "waitsFor"
     FROM pg_stat_activity WHERE application_name = 'tessera' AND datname = $1`,
    [database],
  );
  return rows;
}

/** Whether a signal was sent to a process that is halted. */
function isPending(signal: 'SIGTERM', pid: number): boolean {
  const [, mask = ''] = /^ShdPnd:\s*(\w+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return (BigInt(`0x${mask}`) & (1n << BigInt(constants.signals[signal] - 1))) !== 0n;
}

const found = (database: Database) => database.read(() => findAccount({ id: '1' }));
const value = (name: string) =>
  one((db, _p: object) => db.selectNoFrom(sql<string>`current_setting(${sql.lit(name)})`.as('value')));

// A file without a test that begins is taken for one that ended early.
test('where PgBouncer is not installed, its tests are skipped', { skip: pgbouncer !== undefined }, () => {
  assert.equal(pgbouncer, undefined);
});

describe('through PgBouncer in transaction mode', {
  skip: pgbouncer === undefined && 'PgBouncer is not installed',
}, () => {
  before(async () => {
    postgres = await startPostgres({
      settings: THROWN_AWAY,
      prepare: (data) => cpSync(data, copy, { recursive: true }),
    });
    const host = new URL(postgres.url).searchParams.get('host');
    replica = await startPostgres({
      settings: THROWN_AWAY,
      from: copy,
      prepare(data) {
        appendFileSync(join(data, 'postgresql.conf'), `\nprimary_conninfo = 'host=${host} user=tessera'\n`);
        writeFileSync(join(data, 'standby.signal'), '');
      },
    });
    bouncer = await openBouncer(postgres, { mode: 'transaction', size: SIZE });
    operator = new Client({ connectionString: postgres.url });
    await operator.connect();
  });
  after(async () => {
    await operator.end();
    await bouncer.close();
    await replica.stop();
    await postgres.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  test('several nodes migrate, issue, refresh and revoke, and leave nothing behind on its connections', async (t) => {
    const url = await newDatabase('flow');
    const settings = { TESSERA_DATABASE_URL: url, TESSERA_SECRET: randomSecret() };
    // All at once, on an empty database.
    const opened = await Promise.all(Array.from({ length: 3 }, () => openPostgres(url, toCurrentSchema)));
    await Promise.all(opened.map((database) => database.close()));
    const server = spread(await startServer(settings, 3));
    t.after(() => server.close());
    const client = await newClient(server);
    const people = await Promise.all(Array.from({ length: 4 }, () => newUser(server)));
    const tokens = await Promise.all(people.map((person) => tokensFor(server, client, person)));
    const renewed = await Promise.all(tokens.map(({ refresh_token: token }) => refresh(server, client, token)));
    assert.deepEqual(new Set(renewed.map(({ status }) => status)), new Set([200]));
    // Many in one turn share a statement for many callers.
    const many = () => Promise.all(renewed.flatMap(({ body }) => Array(8).fill(userinfo(server, body.access_token))));
    for (const { status } of await many()) assert.equal(status, 200);
    const [first] = people;
    assert.equal((await admin(server, 'DELETE', `/users/${first?.id}/connections/${client.clientId}`)).status, 204);
    for (const { status } of [
      await userinfo(server, renewed[0]?.body.access_token),
      await refresh(server, client, renewed[0]?.body.refresh_token),
    ]) {
      assert.equal(status, 403);
    }
    const connections = await backends('flow');
    assert.ok(connections.length <= SIZE, `${connections.length} connections`);
    const left = await ask(url, 'SELECT (SELECT count(*)::int FROM pg_prepared_statements) AS prepared');
    assert.deepEqual(left, [{ prepared: 0 }]);
    assert.deepEqual(await ask(url, 'SHOW statement_timeout'), [{ statement_timeout: '0' }]);
  });

  test('each transaction has the time limits, and its commit is on disk', async (t) => {
    const url = await newDatabase('settings');
    await operator.query('ALTER DATABASE settings SET synchronous_commit = off');
    const database = await openPostgres(url, toCurrentSchema);
    t.after(() => database.close());
    for (const [name, expected] of [
      ['statement_timeout', '4500ms'],
      ['lock_timeout', '4s'],
      ['idle_in_transaction_session_timeout', '5s'],
      ['synchronous_commit', 'on'],
    ] as const) {
      const setting = value(name);
      assert.equal((await database.read(() => setting({})))?.value, expected);
      assert.equal((await database.commit(() => setting({})))?.value, expected);
    }
  });

  test('what waits for a lock in vain is refused, and its transaction is not left behind', async (t) => {
    const url = await newDatabase('locked');
    const database = await openPostgres(url, toCurrentSchema);
    t.after(() => database.close());
    await database.commit(() => account('1'));
    const holder = new Client({ connectionString: urlOf(postgres, 'locked') });
    await holder.connect();
    await holder.query('BEGIN; LOCK TABLE account IN ACCESS EXCLUSIVE MODE');
    const asked = [found(database), database.commit(() => account('2'))];
    for (const outcome of await Promise.allSettled(asked)) {
      assert.ok(outcome.status === 'rejected' && outcome.reason instanceof StoreUnavailable);
    }
    while ((await backends('locked')).some(({ state }) => state !== 'idle'));
    await holder.query('ROLLBACK');
    await holder.end();
    assert.ok(await found(database));
    await database.commit(() => account('2'));
  });

  test('a commit that waits for a standby is not acknowledged, and keeps its place until it has ended', async (t) => {
    const url = await newDatabase('stalled');
    const database = await openPostgres(url, toCurrentSchema);
    const nameStandby = async (name: string) => {
      await operator.query(`ALTER SYSTEM SET synchronous_standby_names = '${name}'`);
      await operator.query('SELECT pg_reload_conf()');
    };
    t.after(async () => {
      await nameStandby('');
      await database.close();
    });
    await database.commit(() => account('1'));
    await nameStandby('nowhere');
    for (let n = 2, refused = false; !refused; n++) {
      // The server takes up its settings when it comes to it.
      refused = await database
        .commit(() => account(String(n)))
        .then(
          () => false,
          (error) => error instanceof StoreUnavailable,
        );
    }
    assert.equal((await backends('stalled')).filter(({ waitsFor }) => waitsFor === 'standby').length, 1);
    assert.equal(database.load().connections?.write.unanswered, 1);
    assert.ok(await found(database));
    await nameStandby('');
    while (database.load().connections?.write.unanswered !== 0) await nextTurn();
    await database.commit(() => account('100000'));
  });

  const noProc = process.platform !== 'linux' && 'it looks for signals in /proc';
  test('a backend that answers nothing is ended on the server', { skip: noProc }, async (t) => {
    const url = await newDatabase('halted');
    const database = await openPostgres(url, toCurrentSchema);
    t.after(() => database.close());
    await database.commit(() => account('1'));
    const holder = new Client({ connectionString: urlOf(postgres, 'halted') });
    await holder.connect();
    // From then on one statement is all that a read sends.
    while ((await found(database)) !== undefined && (database.load().connections?.read.busy ?? 0) > 0);
    await holder.query('BEGIN; LOCK TABLE account IN ACCESS EXCLUSIVE MODE');
    let halted: number | undefined;
    // It may have been refused the lock just before it was halted.
    while (database.load().connections?.read.unanswered !== 1) {
      if (halted !== undefined) process.kill(halted, 'SIGCONT');
      halted = undefined;
      let refused = false;
      const reading = assert.rejects(found(database), StoreUnavailable).finally(() => {
        refused = true;
      });
      // Only a process that waits for the lock has said which one it is.
      while (halted === undefined && !refused) {
        halted = (await backends('halted')).find(({ waitsFor }) => waitsFor === 'lock')?.pid;
      }
      if (halted !== undefined) process.kill(halted, 'SIGSTOP');
      await reading;
    }
    assert.ok(halted !== undefined);
    await holder.query('ROLLBACK');
    await holder.end();
    assert.ok(await found(database));
    // It has been told to end, before it could go on.
    while (!isPending('SIGTERM', halted)) await nextTurn();
    process.kill(halted, 'SIGCONT');
    while ((await backends('halted')).some(({ pid }) => pid === halted));
    assert.ok(await found(database));
  });

  test('the server behind it is checked for each transaction: a standby is not believed', async (t) => {
    const url = await newDatabase('led');
    const server = await startServer({ TESSERA_DATABASE_URL: url, TESSERA_SECRET: randomSecret() });
    t.after(() => server.close());
    const [user, client] = [await newUser(server), await newClient(server)];
    const { access_token: token } = await tokensFor(server, client, user);
    // The standby has the grant, and will not learn of its end.
    const standby = urlOf(replica, 'led');
    while ((await ask(standby, 'SELECT id FROM token_family').catch(() => [])).length === 0);
    await ask(replica.url, 'SELECT pg_wal_replay_pause()');
    assert.equal((await admin(server, 'DELETE', `/users/${user.id}/connections/${client.clientId}`)).status, 204);
    assert.equal((await userinfo(server, token)).status, 403);

    bouncer.leadTo(replica, 'led');
    for (let refused = 0; refused < 5; ) {
      const { status } = await userinfo(server, token);
      // The pooler reads its configuration when it comes to it.
      assert.ok([403, 503].includes(status), String(status));
      if (status === 503) refused++;
    }
    bouncer.leadTo(postgres, 'led');
    let status = 503;
    while (status === 503) ({ status } = await userinfo(server, token));
    assert.equal(status, 403);
  });

  test('statement mode, which has no transactions, is refused at the start with the remedy', async (t) => {
    const other = await openBouncer(postgres, { mode: 'statement' });
    t.after(() => other.close());
    await assert.rejects(
      openPostgres(other.through(urlOf(postgres, 'postgres')), toCurrentSchema),
      /pool_mode to transaction/,
    );
  });

  test('tessera doctor says that it is there', async () => {
    const url = await newDatabase('doctored');
    const environment = { TESSERA_DATABASE_URL: url, TESSERA_SECRET: randomSecret() };
    assert.equal((await tessera(['migrate'], { env: environment })).code, 0);
    const { stdout } = await tessera(['doctor'], { env: environment });
    assert.match(stdout, /connections are not checked, because a pooler/);
  });
});
