// store: PostgreSQL
/** Commits that wait for a standby hold no read up, take no more connections, and are not acknowledged. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Client } from 'pg';
import { findAccount } from '../../src/accounts/store.ts';
import { toCurrentSchema } from '../../src/migrations/timeline.ts';
import { randomSecret } from '../../src/platform/crypto/secrets.ts';
import { type Database, StoreUnavailable } from '../../src/platform/database/database.ts';
import { openPostgres } from '../../src/platform/database/postgres/open.ts';
import { FULL, sizeOf } from '../../src/platform/database/postgres/rules/room.ts';
import { account } from '../store/rows.ts';
import { admin, newClient, newUser, tokensFor, userinfo } from '../support/flow.ts';
import { type PostgresServer, startPostgres, THROWN_AWAY } from '../support/postgres.ts';
import { startServer } from '../support/server.ts';

let postgres: PostgresServer;
let operator: Client;
before(async () => {
  postgres = await startPostgres({ settings: THROWN_AWAY });
  operator = new Client({ connectionString: postgres.url });
  await operator.connect();
});
after(async () => {
  await operator.end();
  await postgres.stop();
});

async function newDatabase(name: string): Promise<string> {
  await operator.query(`CREATE DATABASE ${name}`);
  const url = new URL(postgres.url);
  url.pathname = `/${name}`;
  return url.href;
}

async function nameStandby(name: string): Promise<void> {
  await operator.query(`ALTER SYSTEM SET synchronous_standby_names = '${name}'`);
  await operator.query('SELECT pg_reload_conf()');
}

/** The processes of the server for one database, and how many of them wait for a standby. */
async function backends(database: string): Promise<{ all: number; waiting: number }> {
  const { rows } = await operator.query(
    `SELECT count(*)::int AS all, (count(*) FILTER (WHERE wait_event = 'SyncRep'))::int AS waiting
     FROM pg_stat_activity WHERE application_name = 'tessera' AND datname = $1`,
    [database],
  );
  return rows[0];
}

/** A commit that waits for the standby: the server takes up its settings when it comes to it. */
async function hangingCommit(database: Database, name: string): Promise<{ readonly commit: Promise<unknown> }> {
  await nameStandby('nowhere');
  for (let n = 1; ; n++) {
    let settled = false;
    const commit = database
      .commit(() => account(String(n)))
      .finally(() => {
        settled = true;
      });
    commit.catch(() => {});
    while (!settled) if ((await backends(name)).waiting > 0) return { commit };
    await commit;
  }
}

test('while a standby hangs, reads are answered on connections of their own, and writes are refused and take no more', async (t) => {
  const url = await newDatabase('stalled');
  const server = await startServer({ TESSERA_DATABASE_URL: url, TESSERA_SECRET: randomSecret() });
  t.after(async () => {
    await nameStandby('');
    await server.close();
  });
  const [user, other, client] = [await newUser(server), await newUser(server), await newClient(server)];
  const [{ access_token: token }, { access_token: revoked }] = [
    await tokensFor(server, client, user),
    await tokensFor(server, client, other),
  ];
  const revoke = () => admin(server, 'DELETE', `/users/${other.id}/connections/${client.clientId}`);
  const add = (n: number) => admin(server, 'POST', '/organizations', { name: `o${n}`, domain: `o${n}.example` });
  // More than there are connections of all kinds.
  const writes = () => Promise.all([revoke(), ...Array.from({ length: sizeOf(FULL) + 4 }, (_, n) => add(n))]);
  await nameStandby('nowhere');
  let done = false;
  const writing = (async () => {
    // The server takes up its settings when it comes to it; from then on nothing is acknowledged.
    for (let refused = 0; refused < 2; ) {
      const statuses = (await writes()).map(({ status }) => status);
      if (statuses.every((status) => status === 503)) refused++;
      else assert.equal(refused, 0, String(statuses));
    }
  })().finally(() => {
    done = true;
  });
  let most = 0;
  while (!done) {
    most = Math.max(most, (await backends('stalled')).all);
    assert.equal((await userinfo(server, token)).status, 200);
  }
  await writing;
  assert.ok(most <= sizeOf(FULL), `${most} connections`);
  assert.equal((await backends('stalled')).waiting, FULL.writers);

  await nameStandby('');
  while ((await revoke()).status !== 204);
  assert.equal((await userinfo(server, revoked)).status, 403);
  for (const { status } of await Promise.all(Array.from({ length: sizeOf(FULL) }, (_, n) => add(100 + n)))) {
    assert.equal(status, 201);
  }
  assert.ok((await backends('stalled')).all <= sizeOf(FULL));
});

for (const told of ['notice', 'error']) {
  test(`a commit whose wait for the standby was ended on the server is not acknowledged, where the server tells ${told}`, async (t) => {
    const name = `cancelled_${told}`;
    const url = await newDatabase(name);
    await operator.query(`ALTER DATABASE ${name} SET client_min_messages = ${told}`);
    const database = await openPostgres(url, toCurrentSchema);
    t.after(async () => {
      await nameStandby('');
      await database.close();
    });
    const { commit } = await hangingCommit(database, name);
    await operator.query("SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'");
    await assert.rejects(commit, StoreUnavailable);
    await nameStandby('');
  });
}

test('close() waits for what is under way, and for no standby', async (t) => {
  const database = await openPostgres(await newDatabase('closing'), toCurrentSchema);
  t.after(() => nameStandby(''));
  const { commit } = await hangingCommit(database, 'closing');
  const read = database.read(() => findAccount({ id: '1' }));
  const closed = database.close();
  await read;
  await assert.rejects(commit, StoreUnavailable);
  await closed;
});
