// store: PostgreSQL
/** A connection that lands on a lagging replica would accept what was revoked: none is used that has not proved otherwise. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { appendFileSync, chmodSync, cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { randomSecret } from '../../src/platform/crypto/secrets.ts';
import { servicePool } from '../../src/platform/database/postgres/pools.ts';
import { openPrimary } from '../../src/platform/database/postgres/primary.ts';
import { ask } from '../support/ask-postgres.ts';
import { admin, newClient, newUser, tokensFor, userinfo } from '../support/flow.ts';
import { type PostgresServer, startPostgres, THROWN_AWAY } from '../support/postgres.ts';
import { startServer } from '../support/server.ts';

const folder = mkdtempSync(join(tmpdir(), 'tessera-replica-'));
const copy = join(folder, 'copy');
const SOCKET = '.s.PGSQL.5432';
let primary: PostgresServer;
let replica: PostgresServer;
const folderOf = ({ url }: PostgresServer): string => new URL(url).searchParams.get('host') ?? '';

before(async () => {
  primary = await startPostgres({ settings: THROWN_AWAY, prepare: (data) => cpSync(data, copy, { recursive: true }) });
  replica = await startPostgres({
    settings: THROWN_AWAY,
    from: copy,
    prepare(data) {
      appendFileSync(join(data, 'postgresql.conf'), `\nprimary_conninfo = 'host=${folderOf(primary)} user=tessera'\n`);
      writeFileSync(join(data, 'standby.signal'), '');
    },
  });
});
after(async () => {
  await replica.stop();
  await primary.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** An address that leads to one server or the other, as a proxy or a name may. */
async function openRelay() {
  const relay = { to: folderOf(primary), cut: () => {}, close: () => {} };
  const open = new Set<Socket>();
  const server = createServer((socket) => {
    const other = connect(join(relay.to, SOCKET));
    for (const [from, into] of [
      [socket, other],
      [other, socket],
    ] as const) {
      open.add(from);
      from.pipe(into);
      from.on('error', () => {});
      from.on('close', () => {
        open.delete(from);
        into.destroy();
      });
    }
  });
  server.listen(join(folder, SOCKET));
  await once(server, 'listening');
  chmodSync(folder, 0o755);
  relay.cut = () => {
    for (const socket of open) socket.destroy();
  };
  relay.close = () => {
    relay.cut();
    server.close();
  };
  return relay;
}

test('a connection that is led to a replica is refused: 503, not ready, and nothing revoked is accepted', async (t) => {
  await ask(primary.url, 'CREATE DATABASE tessera');
  const relay = await openRelay();
  const url = new URL(primary.url);
  url.pathname = '/tessera';
  url.searchParams.set('host', folder);
  const server = await startServer({ TESSERA_DATABASE_URL: url.href, TESSERA_SECRET: randomSecret() });
  const ready = async () => (await fetch(`${server.baseUrl}/health/ready`)).status;
  t.after(async () => {
    relay.to = folderOf(primary);
    await server.close();
    relay.close();
  });
  const [user, client] = [await newUser(server), await newClient(server)];
  const { access_token: token } = await tokensFor(server, client, user);
  const standby = new URL(replica.url);
  standby.pathname = '/tessera';
  // The replica has the grant, and will not learn of its end.
  while ((await ask(standby.href, 'SELECT id FROM token_family').catch(() => [])).length === 0);
  await ask(replica.url, 'SELECT pg_wal_replay_pause()');
  assert.equal((await admin(server, 'DELETE', `/users/${user.id}/connections/${client.clientId}`)).status, 204);
  assert.equal((await userinfo(server, token)).status, 403);

  relay.to = folderOf(replica);
  relay.cut();
  for (let round = 0; round < 3; round++) {
    const { status, body } = await userinfo(server, token);
    assert.deepEqual([status, body.error], [503, 'temporarily_unavailable']);
    assert.equal(await ready(), 503);
  }

  relay.to = folderOf(primary);
  while ((await ready()) !== 200);
  assert.equal((await userinfo(server, token)).status, 403);
});

test('a commit is on disk when it is acknowledged, whatever the server’s synchronous_commit', async () => {
  for (const [theirs, ours] of [
    ['off', 'on'],
    ['local', 'on'],
    ['remote_write', 'on'],
    ['on', 'on'],
    ['remote_apply', 'remote_apply'],
  ] as const) {
    await ask(primary.url, `ALTER ROLE tessera SET synchronous_commit = ${theirs}`);
    const pool = servicePool(openPrimary(primary.url), 1);
    try {
      assert.equal((await pool.query('SHOW synchronous_commit')).rows[0].synchronous_commit, ours, theirs);
    } finally {
      await pool.end();
    }
  }
});
