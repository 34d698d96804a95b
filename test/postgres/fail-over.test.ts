// store: PostgreSQL
/** A node follows the primary among the hosts of its address, and never believes a server that was replaced. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { TLSSocket } from 'node:tls';
import { type Pair, startPair } from '../../lab/faults/pair.ts';
import { randomSecret } from '../../src/platform/crypto/secrets.ts';
import { openPrimary, type Primary } from '../../src/platform/database/postgres/primary.ts';
import { tessera } from '../operator/command.ts';
import { refusedStart } from '../operator/refused-start.ts';
import { ask } from '../support/ask-postgres.ts';
import { certificate, certificateKey } from '../support/certificate.ts';
import { admin, newClient, newUser, refresh, tokensFor, userinfo } from '../support/flow.ts';
import { type PostgresServer, THROWN_AWAY } from '../support/postgres.ts';
import { startServer } from '../support/server.ts';

let pair: Pair;
const folder = mkdtempSync(join(tmpdir(), 'tessera-fail-over-'));
const secret = randomSecret();
const folderOf = ({ url }: PostgresServer): string => new URL(url).searchParams.get('host') ?? '';

before(async () => {
  pair = await startPair(THROWN_AWAY);
  await ask(pair.primary.url, 'CREATE DATABASE tessera');
});
after(async () => {
  await pair.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** The address of the database on these servers, in this order. */
const address = (...hosts: readonly string[]): string =>
  `postgres://tessera@/tessera?host=${hosts.join(',')}&target_session_attrs=read-write`;

const on = ({ url }: PostgresServer): string => url.replace('/postgres?', '/tessera?');

const connectionsOf = async (server: PostgresServer): Promise<number> =>
  (
    await ask<{ count: number }>(
      server.url,
      "SELECT count(*)::int AS count FROM pg_stat_activity WHERE application_name = 'tessera'",
    )
  )[0]?.count ?? 0;

test('without a primary among the hosts, a start says of each why', async () => {
  const env = { TESSERA_SECRET: secret, TESSERA_DATABASE_URL: address(folder, folderOf(pair.standby)) };
  // The standby has the database once it has replayed that it was created.
  const ofStandby = "SELECT datname FROM pg_database WHERE datname = 'tessera'";
  while ((await ask(pair.standby.url, ofStandby)).length === 0);
  // A loaded machine may not answer in time.
  let said = 'does not answer';
  while (said.includes('does not answer')) said = await refusedStart(env, folder);
  assert.match(said, /No host in TESSERA_DATABASE_URL is the primary\./);
  assert.match(
    said,
    /tessera-fail-over-\w+:5432: There is no socket there.*:5432: is a standby, which takes no writes/,
  );
});

/** A server that speaks TLS before a server on a socket, as PostgreSQL does on a network. */
async function openTls(server: PostgresServer): Promise<Server> {
  const listener = createServer((plain) => {
    plain.on('error', () => {});
    // https://www.postgresql.org/docs/current/protocol-flow.html#PROTOCOL-FLOW-SSL
    plain.once('data', () => {
      plain.write('S');
      const safe = new TLSSocket(plain, { isServer: true, cert: certificate, key: certificateKey });
      const inner = connect(join(folderOf(server), '.s.PGSQL.5432'));
      safe.pipe(inner).pipe(safe);
      for (const socket of [safe, inner]) socket.on('error', () => plain.destroy());
      plain.on('close', () => inner.destroy());
    });
  });
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  return listener;
}

test('TLS checks the certificate of each host against the name of that host', async (t) => {
  const [primary, standby] = [await openTls(pair.primary), await openTls(pair.standby)];
  const authority = join(folder, 'authority.pem');
  writeFileSync(authority, certificate);
  t.after(() => [primary, standby].map((server) => server.close()));
  const port = (server: Server) => (server.address() as AddressInfo).port;
  const open = async (use: (primary: Primary) => Promise<void>, ...hosts: readonly string[]) => {
    const tls = `sslmode=verify-full&sslrootcert=${authority}`;
    const opened = openPrimary(`postgres://tessera@${hosts.join(',')}/tessera?${tls}`);
    await use(opened).finally(() => opened.close());
  };
  /** Asks again where a loaded machine did not answer in time. */
  const find = async (opened: Primary): Promise<string> => {
    for (;;) {
      const found = await opened.find().then(
        ({ name }) => name,
        (error: Error) => error.message,
      );
      if (!found.includes('does not answer')) return found;
    }
  };
  // The certificate is for this name alone.
  const named = (server: Server) => `localhost:${port(server)}`;
  const wrong = (server: Server) => `127.0.0.1:${port(server)}`;
  await open(async (opened) => assert.equal(await find(opened), named(primary)), named(standby), named(primary));
  await open(async (opened) => assert.equal(await find(opened), named(primary)), wrong(standby), named(primary));
  await open(
    async (opened) =>
      assert.match(
        await find(opened),
        /127\.0\.0\.1:\d+: The server's certificate is that of another host \(.*localhost:\d+: is a standby/,
      ),
    wrong(primary),
    named(standby),
  );
});

test('a promotion is followed without a restart, and the former primary, which lives on, is not believed', async (t) => {
  const { primary: former, standby: successor } = pair;
  // The standby is first in the address, and not used.
  const url = address(folderOf(successor), folderOf(former));
  const server = await startServer({ TESSERA_DATABASE_URL: url, TESSERA_SECRET: secret });
  t.after(() => server.close());
  const ready = async () => (await fetch(`${server.baseUrl}/health/ready`)).status;
  const doctor = async () => {
    const env = { TESSERA_DATABASE_URL: url, TESSERA_SECRET: secret, TESSERA_BASE_URL: server.baseUrl };
    const { findings } = JSON.parse((await tessera(['doctor', '--json'], { env, cwd: folder })).stdout);
    return (findings as { level: string; found: string }[]).map(({ level, found }) => `${level}: ${found}`).join('\n');
  };
  const [user, client] = [await newUser(server), await newClient(server)];
  const { access_token: token } = await tokensFor(server, client, user);
  assert.equal((await userinfo(server, token)).status, 200);
  // A sign-in whose refresh token was exchanged twice.
  const { refresh_token: used } = await tokensFor(server, client, await newUser(server));
  let latest = used;
  for (let times = 0; times < 2; times++) latest = (await refresh(server, client, latest)).body.refresh_token;
  const before = await doctor();
  assert.match(before, /^ok: .* is a standby on timeline 1, \d+ bytes behind: not used/m);
  assert.match(before, /^ok: .* is the primary on timeline 1\.$/m);
  assert.match(before, /^warning: Commits wait for no standby .* \(async, streaming\)\.$/m);

  // The standby has all of it, and takes over while the primary lives on.
  const known = 'SELECT 1 FROM token_family WHERE sequence = 3';
  while ((await ask(on(successor), known).catch(() => [])).length === 0);
  await ask(successor.url, 'SELECT pg_promote()');
  while ((await connectionsOf(former)) > 0);
  while ((await ready()) !== 200);
  const revoke = () => admin(server, 'DELETE', `/users/${user.id}/connections/${client.clientId}`);
  while ((await revoke()).status !== 204);
  assert.equal((await userinfo(server, token)).status, 403);
  // The successor knows that the token was used, and ends the sign-in.
  for (const token of [used, latest]) assert.equal((await refresh(server, client, token)).status, 400);
  assert.equal((await ask(on(former), 'SELECT 1 FROM consent_grant WHERE revoked_at IS NULL')).length, 2);
  const after = await doctor();
  assert.match(after, /^ok: .* is the primary on timeline 2\.$/m);
  assert.match(after, /^warning: .* is not used: it was replaced: it takes writes on timeline 1, .* timeline 2\./m);

  // The successor is gone for a while: the former primary would still accept the token.
  await successor.kill();
  for (let round = 0; round < 3; round++) {
    const { status, body } = await userinfo(server, token);
    assert.deepEqual([status, body.error], [503, 'temporarily_unavailable']);
    assert.equal(await ready(), 503);
  }
  assert.equal(await connectionsOf(former), 0);
  await successor.restart();
  while ((await ready()) !== 200);
  assert.equal((await userinfo(server, token)).status, 403);
});
