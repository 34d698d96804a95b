// store: SQLite, PostgreSQL with --all
/** What an operator sees: metrics, log lines, and a node that shuts down. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, test } from 'node:test';
import { Client } from 'pg';
import { start, type Tessera } from '../../src/app.ts';
import { ConfigError } from '../../src/platform/config/config-error.ts';
import { VERSION } from '../../src/platform/version.ts';
import { readConfig } from '../../src/settings/config.ts';
import {
  admin,
  authorizeUrl,
  codeFor,
  newClient,
  newUser,
  PASSWORD,
  redeem,
  refresh,
  signedIn,
  type TestClient,
  type Tokens,
  tokensFor,
  userinfo,
} from '../support/flow.ts';
import { startReceiver } from '../support/logout-receiver.ts';
import { ownDatabase } from '../support/postgres-database.ts';
import { ADMIN_KEY, type TestServer } from '../support/server.ts';
import { serve } from './command.ts';

const folder = mkdtempSync(join(tmpdir(), 'tessera-observing-'));
let settings: Record<string, string>;
let database: Awaited<ReturnType<typeof ownDatabase>>;
let tessera: Tessera;
let server: TestServer;
let client: TestClient;
before(async () => {
  database = await ownDatabase();
  settings = {
    TESSERA_DATA_DIR: folder,
    TESSERA_LOG_LEVEL: 'silent',
    TESSERA_ADMIN_KEY: ADMIN_KEY,
    TESSERA_PORT: '0',
    TESSERA_METRICS_ADDRESS: '127.0.0.1:0',
    ...database?.environment,
  };
  tessera = await start(readConfig(settings));
  server = { baseUrl: tessera.baseUrl } as TestServer;
  client = await newClient(server);
});
after(async () => {
  await tessera.close();
  await database?.drop();
  rmSync(folder, { recursive: true, force: true });
});

const scrape = async (): Promise<string> => {
  const answer = await fetch(`http://127.0.0.1:${tessera.metricsPort}/metrics`);
  assert.equal(answer.status, 200);
  assert.match(answer.headers.get('content-type') ?? '', /^text\/plain; version=0\.0\.4/);
  return answer.text();
};

/** The sum of all samples of a figure whose labels have these. */
async function figure(name: string, labels: Readonly<Record<string, string>> = {}): Promise<number> {
  let sum = 0;
  for (const line of (await scrape()).split('\n')) {
    const [, found, inside = '', value] = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
    const fits = Object.entries(labels).every(([label, text]) => inside.includes(`${label}="${text}"`));
    if (found === name && fits) sum += Number(value);
  }
  return sum;
}

const USERINFO = '/api/v2/oauth/userinfo';
const TOKEN = '/api/v2/oauth/token';

test('requests are counted by method, route and status; an address is never a label', async () => {
  const user = await newUser(server);
  const { access_token } = await tokensFor(server, client, user);
  const labels = { method: 'GET', route: USERINFO, status: '200' };
  const count = 'tessera_http_request_duration_seconds_count';
  const before = await figure(count, labels);
  for (let n = 0; n < 3; n++) await userinfo(server, access_token);
  assert.equal(await figure(count, labels), before + 3);
  await fetch(`${tessera.baseUrl}/nowhere/${user.id}?secret=1`);
  assert.ok((await figure(count, { route: 'none', status: '404' })) > 0);
  const text = await scrape();
  for (const secret of [user.id, client.clientId, client.clientSecret, access_token, 'nowhere', ADMIN_KEY]) {
    assert.ok(!text.includes(secret), secret);
  }
});

test('LG-01: no figure holds a secret, good or refused', async () => {
  const user = await newUser(server);
  const browser = await signedIn(server, user);
  const code = await codeFor(server, client, user, {}, { browser });
  const tokens = await tokensFor(server, client, user, {}, { browser });
  const wrong = 'canary of a wrong secret';
  await redeem(server, client, code, { code_verifier: wrong });
  await redeem(server, { ...client, clientSecret: wrong }, code);
  await refresh(server, client, wrong);
  await userinfo(server, wrong);
  await admin(server, 'GET', `/users?${wrong}=${wrong}`, undefined, wrong);
  await fetch(`${tessera.baseUrl}/login?${wrong}=${wrong}`, { method: 'POST', body: wrong });
  const secrets = [code, wrong, PASSWORD, client.clientSecret, ADMIN_KEY, ...Object.values(tokens).map(String)];
  secrets.push(browser.cookie('tessera_session') ?? '', browser.cookie('tessera_browser') ?? '');
  const text = await scrape();
  for (const secret of secrets.filter((one) => one.length > 12)) {
    for (const part of secret.split('.').slice(-2)) assert.ok(!text.includes(part), secret);
  }
});

test('a refusal that is sent to the redirect URI is counted with its reason', async () => {
  const labels = { route: '/api/v2/oauth/authorize', error: 'invalid_request', reason: 'response_type must be code' };
  const before = await figure('tessera_refusals_total', labels);
  const address = authorizeUrl(client, { response_type: 'token' });
  assert.equal((await fetch(tessera.baseUrl + address, { redirect: 'manual' })).status, 302);
  assert.equal(await figure('tessera_refusals_total', labels), before + 1);
});

type Event = (user: { id: string }, tokens: Tokens) => Promise<unknown>;
const put = (what: string) => (user: { id: string }) => admin(server, 'PUT', `/users/${user.id}/${what}`, {});
const reasons: [reason: string, error: [string, string], Event][] = [
  ['banned', ['access_denied', 'access_denied'], put('ban')],
  ['suspended', ['access_denied', 'access_denied'], put('suspension')],
  [
    'revoked',
    ['access_denied', 'access_denied'],
    (user) => admin(server, 'DELETE', `/users/${user.id}/connections/${client.clientId}`),
  ],
  [
    'the account was secured after the sign-in',
    ['invalid_token', 'invalid_grant'],
    (user) => admin(server, 'PATCH', `/users/${user.id}`, { password: 'another good password' }),
  ],
];
for (const [reason, [atUserInfo, atToken], event] of reasons) {
  test(`verdicts are counted by reason: ${reason}`, async () => {
    const user = await newUser(server);
    const tokens = await tokensFor(server, client, user);
    await event(user, tokens);
    const name = 'tessera_refusals_total';
    const seen = { route: USERINFO, error: atUserInfo, reason };
    const refreshed = { route: TOKEN, error: atToken, reason };
    const before = [await figure(name, seen), await figure(name, refreshed)];
    await userinfo(server, tokens.access_token);
    await refresh(server, client, tokens.refresh_token);
    assert.deepEqual(
      [await figure(name, seen), await figure(name, refreshed)],
      [1 + (before[0] ?? 0), 1 + (before[1] ?? 0)],
    );
  });
}

test('a replayed code and a reused refresh token have reasons of their own, which the client does not learn', async () => {
  const user = await newUser(server);
  const code = await codeFor(server, client, user);
  await redeem(server, client, code);
  const replayed = await redeem(server, client, code);
  assert.doesNotMatch(replayed.body.error_description, /replay/);
  assert.equal(await figure('tessera_refusals_total', { route: TOKEN, reason: 'code replayed' }), 1);
});

test('notices of ended sessions are counted by how they went, and those that wait', async () => {
  const receiver = await startReceiver();
  try {
    const fields = { idTokenSignedResponseAlg: 'EdDSA', backchannelLogoutUri: receiver.uri };
    const app = await newClient(server, fields);
    receiver.answer(500);
    for (let people = 0; people < 2; people++) {
      const user = await newUser(server);
      await tokensFor(server, app, user);
      await put('ban')(user);
      await tessera.deliverNotices();
    }
    const count = 'tessera_logout_notices_total';
    assert.deepEqual(
      [await figure(count, { outcome: 'unanswered' }), await figure(count, { outcome: 'delivered' })],
      [1, 1],
    );
    assert.equal(await figure('tessera_logout_notices_waiting'), 1);
  } finally {
    await receiver.close();
  }
});

test('commits, passwords, connections and the event loop are measured', async () => {
  for (const name of [
    'tessera_database_commit_units_count',
    'tessera_database_commit_duration_seconds_count',
    'tessera_node_numbers_held',
    'tessera_store_up',
    'nodejs_eventloop_lag_p99_seconds',
    'process_resident_memory_bytes',
  ]) {
    assert.ok((await figure(name)) > 0, name);
  }
  const text = await scrape();
  for (const name of [
    'tessera_password_hashes{state="running"}',
    'tessera_password_hashes{state="waiting"}',
    'tessera_database_waiting',
    'tessera_database_conflicts_total',
    'tessera_store_unavailable_total',
  ]) {
    assert.ok(text.includes(`\n${name} `), name);
  }
  assert.equal(await figure('tessera_ready'), 1);
  assert.equal(await figure('tessera_build_info', { version: VERSION }), 1);
  assert.ok(Math.abs(await figure('tessera_clock_offset_seconds')) < 30);
  if (database !== undefined) assert.ok((await figure('tessera_database_connections', { state: 'idle' })) > 0);
});

test('the metrics are not served at the public address, and nothing else is served at theirs', async () => {
  assert.equal((await fetch(`${tessera.baseUrl}/metrics`)).status, 404);
  const answer = await fetch(`http://127.0.0.1:${tessera.metricsPort}${USERINFO}`);
  assert.equal(answer.status, 404);
  assert.match(await answer.text(), /GET \/metrics/);
});

test('a metrics address that cannot be had is refused at the start, with the remedy', async () => {
  const other = createServer();
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
  try {
    const { port } = other.address() as { port: number };
    const taken = readConfig({ ...settings, TESSERA_METRICS_ADDRESS: `127.0.0.1:${port}` });
    await assert.rejects(start(taken), (error: unknown) => {
      assert.ok(error instanceof ConfigError);
      assert.match(error.message, /TESSERA_METRICS_ADDRESS.*off/s);
      return true;
    });
  } finally {
    other.close();
  }
});

test('every error names its request, and the log tells why under the same id', async () => {
  const env = { ...settings, TESSERA_LOG_LEVEL: 'info', TESSERA_METRICS_ADDRESS: 'off', TESSERA_DRAIN_SECONDS: '0' };
  const running = await serve({ env });
  let output = '';
  running.process.stdout?.on('data', (chunk) => {
    output += String(chunk);
  });
  const ended = once(running.process, 'close');
  const expected = new Map<string | null, object>();
  const about = new Map<string | null, object>();
  try {
    const target = { baseUrl: running.baseUrl } as TestServer;
    const there = await newClient(target);
    const user = await newUser(target);
    const { access_token } = await tokensFor(target, there, user);
    await admin(target, 'PUT', `/users/${user.id}/ban`, {});
    const refused = await userinfo(target, access_token);
    const authorize = '/api/v2/oauth/authorize';
    const page = await fetch(`${running.baseUrl}${authorize}?client_id=1`, { headers: { accept: 'text/html' } });
    const nothing = await fetch(`${running.baseUrl}/none?code=geheim`);
    const id = ({ headers }: { headers: Headers }) => headers.get('x-request-id');
    about.set(id(refused), { client: there.clientId, path: undefined, description: undefined });
    about.set(id(page), { client: '1', path: undefined, description: undefined });
    about.set(id(nothing), { client: undefined, path: '/none', description: undefined });
    expected.set(id(refused), { route: USERINFO, status: 403, error: 'access_denied', reason: 'banned' });
    expected.set(id(page), { route: authorize, status: 400, error: 'invalid_request', reason: 'client_id unknown' });
    expected.set(id(nothing), { route: 'none', status: 404, error: 'invalid_request', reason: undefined });
  } finally {
    await running.stop();
    await ended;
  }
  assert.ok(expected.size === 3 && !expected.has(null));
  const lines = output.split('\n').filter((line) => line.startsWith('{'));
  const entries = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  for (const [id, wanted] of expected) {
    const own = entries.filter(({ reqId }) => reqId === id);
    assert.equal(own.length, 1, `${id} in ${output}`);
    const { route, status, error, reason, ms } = own[0] ?? {};
    assert.deepEqual({ route, status, error, reason }, { reason: undefined, ...wanted });
    assert.equal(typeof ms, 'number');
    const { client: app, address, path, description } = own[0] ?? {};
    assert.deepEqual({ client: app, path, description }, about.get(id));
    assert.equal(address, '127.0.0.1');
  }
  // Successful requests are only counted, and logged at `debug`.
  assert.ok(entries.every(({ msg, error }) => msg !== 'answered' || error !== undefined));
  assert.doesNotMatch(output, /geheim/);
});

test('a node that is told to stop says so first, and answers on while load balancers notice', async () => {
  const node = await start(readConfig({ ...settings, TESSERA_METRICS_ADDRESS: 'off' }));
  try {
    const ready = () => fetch(`${node.baseUrl}/health/ready`);
    assert.equal((await ready()).status, 200);
    node.drain();
    const leaving = await ready();
    assert.equal(leaving.status, 503);
    assert.ok(leaving.headers.has('retry-after'));
    const alive = await fetch(`${node.baseUrl}/health/live`);
    assert.equal(alive.status, 200);
    // RFC 9112 §9.6: a client that keeps the connection has to open another one.
    assert.equal(alive.headers.get('connection'), 'close');
    const asked = await fetch(`${node.baseUrl}${USERINFO}`);
    assert.equal(asked.status, 401, 'the routes answer as before');
  } finally {
    await node.close();
  }
});

test('SIGTERM: readiness goes at once, the rest when the time is over; a second signal does not wait', async () => {
  const node = await serve({ env: { ...settings, TESSERA_METRICS_ADDRESS: 'off', TESSERA_DRAIN_SECONDS: '300' } });
  const ended = once(node.process, 'exit');
  try {
    // The second is right behind the first: the same signal, which npm passes on.
    for (let signals = 0; signals < 2; signals++) node.process.kill('SIGTERM');
    for (;;) {
      const ready = await fetch(`${node.baseUrl}/health/ready`);
      if (ready.status === 503) break;
    }
    assert.equal((await fetch(`${node.baseUrl}/health/live`)).status, 200);
  } finally {
    while (node.process.exitCode === null && node.process.signalCode === null) {
      node.process.kill('SIGTERM');
      await Promise.race([ended, fetch(`${node.baseUrl}/health/live`).catch(() => ended)]);
    }
  }
  assert.deepEqual(await ended, [1, null]);
});

test('SIGTERM while the database takes no writes: the node gives back what it can and ends with status 0', async () => {
  const own = { ...settings, TESSERA_METRICS_ADDRESS: 'off' };
  const node = await serve({ env: own });
  const there = { baseUrl: node.baseUrl } as TestServer;
  // It holds a node number, which it would give back.
  await newUser(there);
  const writer = await blockWrites();
  try {
    assert.deepEqual(await node.stop(), { code: 0, signal: null });
  } finally {
    await writer.end();
  }
});

/** Keeps everybody else from writing: to a table on PostgreSQL, to all of them on SQLite. */
async function blockWrites(table = 'node_lease'): Promise<{ end(): Promise<unknown> }> {
  if (database === undefined) {
    const connection = new DatabaseSync(join(folder, 'tessera.db'));
    connection.exec('BEGIN IMMEDIATE');
    return { end: async () => connection.close() };
  }
  const connection = new Client({ connectionString: database.url });
  await connection.connect();
  await connection.query(`BEGIN; LOCK TABLE ${table} IN ACCESS EXCLUSIVE MODE`);
  return connection;
}

test('an outage of the store has one line of error, however many requests it refuses', async () => {
  const env = { ...settings, TESSERA_LOG_LEVEL: 'info', TESSERA_METRICS_ADDRESS: '127.0.0.1:0' };
  const node = await serve({ env });
  let output = '';
  node.process.stdout?.on('data', (chunk) => {
    output += String(chunk);
  });
  const closed = once(node.process, 'close');
  const there = { baseUrl: node.baseUrl } as TestServer;
  try {
    // From now on it makes ids without the database.
    await newUser(there);
    const writer = await blockWrites('organization');
    const answers = await Promise.all(
      Array.from({ length: 60 }, (_, n) =>
        admin(there, 'POST', '/organizations', { name: `name-${n}`, domain: `n${n}.example` }),
      ),
    ).finally(() => writer.end());
    assert.deepEqual([...new Set(answers.map(({ status }) => status))], [503]);
    assert.equal((await admin(there, 'POST', '/organizations', { name: 'name', domain: 'n.example' })).status, 201);
  } finally {
    await node.stop();
    await closed;
  }
  const lines = output.split('\n').filter((line) => line.startsWith('{'));
  const entries = lines.map((line) => JSON.parse(line) as { level: number; msg: string; causes?: readonly string[] });
  const told = entries.filter(({ level, msg }) => level >= 40 || msg === 'answered');
  assert.deepEqual(
    told.map(({ msg }) => msg),
    ['the store is unavailable: requests that need it are refused'],
    output,
  );
  assert.match(told[0]?.causes?.[0] ?? '', /locked|did not answer|lock/);
});
