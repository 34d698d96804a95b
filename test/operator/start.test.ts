// store: SQLite, PostgreSQL with --all
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { start } from '../../src/app.ts';
import { limitVariables } from '../../src/limits/settings.ts';
import { greetingOf } from '../../src/mail/message.ts';
import { unreadSettings } from '../../src/platform/config/variable.ts';
import { fileVariables } from '../../src/platform/config/variable-files.ts';
import { readConfig, variables } from '../../src/settings/config.ts';
import { findSecret } from '../../src/settings/secret-file.ts';
import { newClient, newUser, refresh, tokensFor, userinfo } from '../support/flow.ts';
import { query } from '../support/outcome.ts';
import { ownDatabase } from '../support/postgres-database.ts';
import { ADMIN_KEY, type TestServer } from '../support/server.ts';
import { serve, serveByScript, tessera } from './command.ts';
import { refusedStart } from './refused-start.ts';

const folder = mkdtempSync(join(tmpdir(), 'tessera-start-'));
after(async () => {
  for (const drop of dropped) await drop();
  rmSync(folder, { recursive: true, force: true });
});
const dropped: (() => Promise<void>)[] = [];
let counter = 0;

/** The settings of a server with data of its own, in a folder or in a database. */
async function fresh(): Promise<Record<string, string>> {
  const database = await ownDatabase();
  if (database !== undefined) dropped.push(database.drop);
  return { TESSERA_DATA_DIR: join(folder, `case${++counter}`), ...database?.environment };
}

/** Starts a server that must refuse to, and answers what it said. */
const refusal = async (env: Readonly<Record<string, string>>) => refusedStart({ ...(await fresh()), ...env }, folder);

test('compiled code is cached where no other user can write: not among the temporary files', async () => {
  const temporary = mkdtempSync(join(folder, 'tmp-'));
  const { code } = await tessera(['--version'], { env: { TMPDIR: temporary } });
  assert.equal(code, 0);
  assert.deepEqual(readdirSync(temporary), []);
});

test('hashing has threads beside those of everything else', { skip: process.platform !== 'linux' }, async () => {
  const env = { ...(await fresh()), TESSERA_ADMIN_KEY: ADMIN_KEY, TESSERA_HASHING_CONCURRENCY: '3' };
  const server = await serve({ env });
  const response = await fetch(`${server.baseUrl}/api/v2/admin/users`, {
    method: 'POST',
    headers: { authorization: `Bearer ${ADMIN_KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      username: 'ada',
      displayName: 'Ada',
      email: 'ada@example.com',
      password: 'a long password',
    }),
  });
  assert.equal(response.status, 201);
  const threads = readdirSync(`/proc/${server.process.pid}/task`).map((thread) =>
    readFileSync(`/proc/${server.process.pid}/task/${thread}/comm`, 'utf8').trim(),
  );
  assert.equal(threads.filter((name) => name === 'libuv-worker').length, 7);
  await server.stop();
});

test('SIGTERM: a request in flight is answered, then the process ends with 0', async () => {
  const server = await serve({ env: await fresh() });
  const port = Number(new URL(server.baseUrl).port);
  const idle = connect(port, '127.0.0.1');
  await once(idle, 'connect');
  const socket = connect(port, '127.0.0.1');
  let answer = '';
  socket.on('data', (chunk) => {
    answer += String(chunk);
  });
  const body = '{"grant_type":"authorization_code"}';
  socket.write(`POST /api/v2/oauth/token HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n`);
  socket.write(`Content-Length: ${body.length}\r\nExpect: 100-continue\r\n\r\n`);
  await once(socket, 'data');
  assert.match(answer, /^HTTP\/1\.1 100 Continue/, 'the server has the request and waits for its body');
  const ended = server.stop();
  // Once it takes no more connections it has begun to end.
  for (let open = true; open; ) {
    const probe = connect(port, '127.0.0.1');
    open = await once(probe, 'connect').then(
      () => true,
      () => false,
    );
    probe.destroy();
  }
  assert.equal(server.process.exitCode, null, 'it waits for the request');
  socket.write(body);
  await once(socket, 'close');
  assert.match(answer, /HTTP\/1\.1 401 /);
  assert.match(answer, /"error":"invalid_client"/);
  assert.deepEqual(await ended, { code: 0, signal: null });
  idle.destroy();
});

test('`npm start` and `npx tessera` are this command', () => {
  const { scripts, bin } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
  assert.equal(scripts.start, 'exec node --max-semi-space-size=16 --v8-pool-size=2 bin/tessera.js serve');
  assert.deepEqual(bin, { tessera: 'bin/tessera.js' });
  const command = new URL('../../bin/tessera.js', import.meta.url);
  assert.match(readFileSync(command, 'utf8'), /^#!\/usr\/bin\/env node\n/);
  assert.equal(statSync(command).mode & 0o111, 0o111, 'it may be executed');
});

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  test(`${signal} to the shell of \`npm start\` ends the server itself, with 0`, async () => {
    const server = await serveByScript({ env: await fresh() });
    assert.deepEqual(await server.stop(signal), { code: 0, signal: null });
    await assert.rejects(fetch(server.baseUrl), 'nothing is left behind');
  });
}

test('SIGINT ends it cleanly too', async () => {
  const server = await serve({ env: await fresh() });
  assert.deepEqual(await server.stop('SIGINT'), { code: 0, signal: null });
});

const STRONG = 'q3Vb0Xk2Yt7Lr9Wn5Zs1Cd8Fg4Hj6Pm0Aa2Bb4Cc6Dd8E';
const wrong: Readonly<Record<string, readonly string[]>> = {
  TESSERA_BASE_URL: [
    'login.example.com',
    '/login',
    'ftp://a.example',
    'https://a.example/?x=1',
    'https://a.example/#x',
    'https://u:p@a.example',
    'http://a.example',
    'http://10.0.0.1:3000',
  ],
  TESSERA_ALLOW_HTTP: ['yes', '2', 'TRUE'],
  TESSERA_PORT: ['-1', '65536', '3000a', '3.5', ' 3000', 'http'],
  TESSERA_PROCESSES: ['0', '65', '-1', '1.5', '02', ' 2', 'all', 'AUTO'],
  TESSERA_DATABASE_URL: [
    'tessera.db',
    'sqlite:',
    'mysql://localhost/x',
    'postgres://a:5432,/x',
    'postgres://a,b/x?target_session_attrs=any',
  ],
  TESSERA_SECRET: ['short', 'a'.repeat(64), 'abcdefgh'.repeat(8), STRONG.slice(0, 42), 'abcdefghijk'.repeat(4)],
  TESSERA_SECRET_PREVIOUS: ['short', STRONG.slice(0, 42)],
  TESSERA_ADMIN_KEY: ['short', STRONG.slice(0, 31), `${STRONG} y`, `${STRONG}é`, '0'.repeat(32), 'changeme'.repeat(4)],
  TESSERA_TRUST_PROXY: ['yes', 'true', 'dead beef', '10.0.0.0/33', '10.0.0.256', '::1/129', 'proxy.example', '100'],
  TESSERA_OUTGOING_ALLOW: ['all', 'internal.example', '10.0.0.0/33', '10.0.0.0/8,', '::1/129'],
  ...Object.fromEntries(Object.values(fileVariables).map(({ name }) => [name, ['/', '/no/such/file']])),
  TESSERA_LOG_LEVEL: ['loud', 'INFO', '3'],
  TESSERA_HASHING_CONCURRENCY: ['0', '65', 'all'],
  TESSERA_METRICS_ADDRESS: ['9464', 'localhost', '127.0.0.1:99999', ':9464', 'a b:1'],
  TESSERA_DRAIN_SECONDS: ['-1', '301', '1.5', 'x'],
  TESSERA_AUDIT_RETENTION: ['0d', '90', '1h', 'forever'],
  TESSERA_CONTACT: [
    'help',
    'help@example',
    'a b@example.com',
    'mailto:help@example.com',
    'http://example.com/help',
    'https://a:b@example.com',
    'javascript:alert(1)',
  ],
  TESSERA_TRACE_RETENTION: ['0d', '1', '1h', 'on'],
  TESSERA_PLAYGROUND: ['yes', '1', 'ON', 'true'],
  TESSERA_DEVELOPMENT: ['yes', '1', 'ON', 'true'],
  TESSERA_SMTP_URL: [
    'mail.example.com',
    'http://mail.example.com',
    'smtp://',
    'smtp://mail.example.com/inbox',
    'smtp://mail.example.com?tls=maybe',
    'smtps://mail.example.com?tls=off',
    'smtp://mail.example.com?pool=true',
    'smtp://user@mail.example.com',
    'smtp://user:p%ZZ@mail.example.com',
    'smtp://user:p%0D@mail.example.com',
    'smtp://user:password@mail.example.com?tls=off',
  ],
  TESSERA_MAIL_FROM: [
    'example.com',
    'a@b@c',
    'no-reply@example',
    'Example <no-reply@example.com',
    'a@example.com, b@example.com',
    'Example\r\nBcc: eve@example.com <no-reply@example.com>',
    'no-reply@exa\nmple.com',
    'grüße@example.com',
    'no-reply@xn--a.example',
  ],
  TESSERA_SMTP_NAME: [
    'mail',
    '192.0.2.1',
    '[2001:db8::1]',
    '[IPv6:192.0.2.1]',
    'a_b.example.com',
    'x.example.com\r\nRSET',
  ],
  OTEL_EXPORTER_OTLP_ENDPOINT: [
    'localhost:4318',
    'grpc://localhost:4317',
    'http://a:b@localhost',
    'http://:b@localhost',
    'http://localhost?x=1',
  ],
  OTEL_EXPORTER_OTLP_HEADERS: ['authorization', '=x', 'a b=c', 'a=%zz', 'a=%0d%0ab', 'a=b,,c=d', 'a=é'],
  OTEL_EXPORTER_OTLP_PROTOCOL: ['grpc', 'http', 'HTTP/JSON'],
  OTEL_EXPORTER_OTLP_TIMEOUT: ['0', '10s', '-1', '600001'],
  OTEL_SERVICE_NAME: ['a b', 'x'.repeat(101)],
  OTEL_RESOURCE_ATTRIBUTES: ['staging', 'a b=c', '=x'],
  OTEL_TRACES_EXPORTER: ['console', 'otlp,console'],
  OTEL_METRICS_EXPORTER: ['prometheus', 'NONE'],
  OTEL_METRIC_EXPORT_INTERVAL: ['0', '1m', '99'],
  OTEL_BSP_SCHEDULE_DELAY: ['0', '5s', '60001'],
  OTEL_TRACES_SAMPLER: ['on', 'parentbased', 'jaeger_remote'],
  OTEL_TRACES_SAMPLER_ARG: ['2', '1%', '-0.1', '1.5', '.'],
  TESSERA_TRUST_TRACEPARENT: ['1', 'yes', 'ON'],
  TESSERA_MAILBOX: ['yes', '1', 'ON'],
  TESSERA_MAILBOX_KEY: ['Open', 'short', 'with spaces and more', 'with=signs&of?urls'],
  TESSERA_TRUSTED_BROWSERS: ['0d', '30', '1h', 'never', '10000d'],
  TESSERA_SECOND_FACTOR: ['yes', 'OFF', 'Required'],
  TESSERA_COMMAND_LINE_SIGN_IN: ['yes', 'Off', '0'],
  TESSERA_CONSOLE_SECOND_FACTOR: ['required', 'Off', '0'],
  TESSERA_DEVELOPERS: ['on', 'Members', 'everyone'],
  TESSERA_DEVELOPER_APPS: ['0', '1001', '-1', 'many'],
  TESSERA_SERVER: ['id.example.com', 'ftp://id.example.com', 'https://a@id.example.com', 'https://id.example.com/?x=1'],
  TESSERA_SIGN_IN_CODE: ['yes', 'On', '1'],
  TESSERA_SIGN_UP: ['yes', 'Open', 'invited'],
  TESSERA_DISCOVERY_SCOPES: ['Notes Read', '1notes', 'notes.read,,notes.write'],
  TESSERA_CLIENT_METADATA: ['on', 'OPEN', 'listed'],
  TESSERA_REGISTRATION: ['on', 'OPEN', 'listed'],
  TESSERA_CLIENT_METADATA_DOMAINS: ['https://app.example', 'app.example,', '*.app.example', 'app.example'],
  TESSERA_SIGN_UP_DOMAINS: ['example', 'example.com,', '@example.com', 'https://example.com'],
  TESSERA_PASSWORD_BREACHES: ['on', 'HIBP', 'http://breaches.example', 'https://breaches.example/?x=1'],
  TESSERA_KEY_ROTATION: ['0d', '90', '1h', 'never', '10000d'],
  ...Object.fromEntries(
    Object.values(limitVariables).map(({ name }) => [
      name,
      ['0/m', '10', '10/d', 'ten/m', '-1/m', '1.5/s', 'none', '10/m '],
    ]),
  ),
};

test('decisions §7: every wrong value is refused, naming its variable and the remedy', () => {
  for (const [name, values] of Object.entries(wrong)) {
    for (const value of values) {
      assert.throws(
        () => readConfig({ [name]: value }),
        { name: 'ConfigError', message: new RegExp(`^${name} (must|is) .{6}`) },
        `${name}=${value}`,
      );
      if (/SECRET|ADMIN_KEY/.test(name) && value.length > 30) {
        const repeatsNot = (error: Error) => !error.message.includes(value);
        assert.throws(() => readConfig({ [name]: value }), repeatsNot, 'what may be a secret is not repeated');
      }
    }
  }
  const untested = [...Object.values(variables), ...Object.values(limitVariables)]
    .map(({ name }) => name)
    .filter((name) => !Object.hasOwn(wrong, name));
  // Any text may name these; what they name is looked at when it is used.
  const free = ['TESSERA_HOST', 'TESSERA_DATA_DIR', 'TESSERA_KEY_FILE', 'TESSERA_SECRET_FILE'];
  assert.deepEqual(untested.filter((name) => name !== 'TESSERA_PLAYGROUND').sort(), free.sort());
});

test('mail: how a server is reached, who the sender is, and where the mailbox is served', () => {
  const read = (environment: Record<string, string>) => readConfig(environment).mail;
  const smtp = (url: string) => read({ TESSERA_SMTP_URL: url }).smtp;
  const credentials = { user: 'ada@example.com', password: 'p:' };
  assert.deepEqual(smtp('smtps://ada%40example.com:p%3A@Mail.Example.com'), {
    ...{ host: 'mail.example.com', port: 465, tls: 'implicit', credentials },
  });
  const bare = { credentials: undefined };
  assert.deepEqual(smtp('smtp://mail.example.com'), {
    ...{ host: 'mail.example.com', port: 587, tls: 'required', ...bare },
  });
  assert.deepEqual(smtp('smtp://10.0.0.9:25/?tls=off'), { host: '10.0.0.9', port: 25, tls: 'off', ...bare });
  assert.deepEqual(smtp('smtp://[::1]:1025'), { host: '::1', port: 1025, tls: 'optional', ...bare });
  assert.equal(smtp('smtp://localhost?tls=required')?.tls, 'required');

  const from = (text: string) => read({ TESSERA_MAIL_FROM: text }).from;
  assert.deepEqual(from('no-reply@example.com'), { name: undefined, address: 'no-reply@example.com' });
  for (const text of ['Çınar ✓ <a@example.com>', '"Çınar ✓" <a@example.com>'])
    assert.deepEqual(from(text), { name: 'Çınar ✓', address: 'a@example.com' });

  assert.equal(from('Bücher <no-reply@Bücher.example>')?.address, 'no-reply@xn--bcher-kva.example');
  assert.equal(from('no-reply@localhost')?.address, 'no-reply@localhost');
  assert.equal(smtp('smtps://mail.bücher.example')?.host, 'mail.xn--bcher-kva.example');
  const { contact } = readConfig({ TESSERA_CONTACT: 'help@bücher.example' });
  assert.equal(contact, 'help@xn--bcher-kva.example');

  const greeting = (environment: Record<string, string>, baseUrl = 'http://localhost:3000') =>
    greetingOf(readConfig(environment), baseUrl);
  assert.equal(greeting({}, 'https://id.example.com/sso'), 'id.example.com');
  assert.equal(greeting({}, 'https://192.0.2.1'), '[192.0.2.1]');
  assert.equal(greeting({}, 'https://[2001:db8::1]:8443'), '[IPv6:2001:db8::1]');
  assert.equal(greeting({}), undefined);
  assert.equal(greeting({ TESSERA_MAIL_FROM: 'no-reply@localhost' }), undefined);
  assert.equal(greeting({ TESSERA_MAIL_FROM: 'Example <no-reply@example.com>' }), 'example.com');
  assert.equal(greeting({ TESSERA_SMTP_NAME: 'mx.bücher.example' }), 'mx.xn--bcher-kva.example');
  for (const name of ['mx.example.com', '[192.0.2.1]', '[IPv6:2001:db8::1]'])
    assert.equal(greeting({ TESSERA_SMTP_NAME: name }, 'https://id.example.com'), name);

  const smtpUrl = { TESSERA_SMTP_URL: 'smtp://mail.example.com' };
  const elsewhere = { TESSERA_BASE_URL: 'https://id.example.com' };
  assert.equal(read({}).mailbox, true);
  for (const settings of [smtpUrl, elsewhere, { TESSERA_TRUST_PROXY: '1' }, { TESSERA_MAILBOX: 'off' }] as const) {
    assert.equal(read({ ...settings }).mailbox, false);
    if ('TESSERA_MAILBOX' in settings) continue;
    const problem = /^TESSERA_MAILBOX is on, and .+[.:] (Remove one|set TESSERA_SMTP_URL)/i;
    assert.throws(() => read({ ...settings, TESSERA_MAILBOX: 'on' }), { message: problem });
  }
});

test('telemetry: off without an endpoint or anything to send; headers are confidential', () => {
  const read = (environment: Record<string, string>) => readConfig(environment).telemetry;
  const to = { OTEL_EXPORTER_OTLP_ENDPOINT: 'https://collector.example.com/otlp/' };
  const headers = { OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20a%3Db%2Cc, x-tenant=7' };
  assert.equal(read({}), undefined);
  assert.equal(read({ OTEL_SERVICE_NAME: 'x', ...headers }), undefined);
  assert.equal(read({ ...to, OTEL_TRACES_EXPORTER: 'none', OTEL_METRICS_EXPORTER: 'none' }), undefined);
  const settings = read({ ...to, ...headers });
  assert.equal(settings?.endpoint, 'https://collector.example.com/otlp');
  assert.deepEqual(settings.headers, { authorization: 'Bearer a=b,c', 'x-tenant': '7' });
  assert.deepEqual(settings.traces, { sampler: 'parentbased_always_on', ratio: 1, delayMs: 5000, trustParent: false });
  assert.deepEqual(settings.metrics, { intervalMs: 60_000 });
  assert.equal(read({ ...to, OTEL_TRACES_EXPORTER: 'none' })?.traces, undefined);
  assert.equal(read({ ...to, OTEL_METRICS_EXPORTER: 'none' })?.metrics, undefined);

  assert.ok(read({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector.internal:4318' }));
  assert.ok(read({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://localhost:4318', ...headers }));
  assert.throws(() => read({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector.internal:4318', ...headers }), {
    message: /^OTEL_EXPORTER_OTLP_HEADERS must not be sent without encryption: use https/,
  });
});

test('a setting without its prefix is told, unless Tessera has it from elsewhere', () => {
  const told = (environment: Readonly<Record<string, string>>) =>
    unreadSettings(environment).map((text) => /call it (\w+)\.$/.exec(text)?.[1]);
  assert.deepEqual(told({ DATABASE_URL: 'postgres://x', PORT: '8080', HOST: 'x' }), [
    'TESSERA_DATABASE_URL',
    'TESSERA_PORT',
  ]);
  assert.deepEqual(told({ DATABASE_URL: 'x', TESSERA_DATABASE_URL_FILE: '/x', PORT: '', TESSERA_PORT: '1' }), []);
});

test('all problems are told at once; an empty value counts as not set', () => {
  const environment = { TESSERA_PORT: 'x', TESSERA_LOG_LEVEL: 'x', TESSERA_PROT: '1', PATH: 'x', tessera_port: 'x' };
  assert.throws(
    () => readConfig(environment),
    (error: Error & { problems?: readonly string[] }) => {
      assert.deepEqual(
        error.problems?.map((problem) => problem.split(' ')[0]),
        ['TESSERA_PORT', 'TESSERA_LOG_LEVEL', 'TESSERA_PROT'],
      );
      assert.match(error.problems?.[2] ?? '', /TESSERA_PROT is not a setting of Tessera\. Did you mean TESSERA_PORT/);
      return true;
    },
  );
  assert.equal(readConfig({ TESSERA_PORT: '' }).port, 3000);
  assert.equal(readConfig({}).host, '127.0.0.1');
  const both = { TESSERA_SECRET: STRONG, TESSERA_SECRET_FILE: 'x' };
  assert.throws(() => readConfig(both), /TESSERA_SECRET and TESSERA_SECRET_FILE are both set/);
  const repeated = { TESSERA_SECRET: STRONG, TESSERA_SECRET_PREVIOUS: STRONG };
  assert.throws(() => readConfig(repeated), /TESSERA_SECRET_PREVIOUS equals TESSERA_SECRET\. Remove it/);
});

test('a wrong setting ends the process with 3, a list of problems and no stack trace', async () => {
  const said = await refusal({ TESSERA_SECRET: 'a'.repeat(64), TESSERA_LIMIT_TOKEN: 'lots', TESSERA_TYPO: '1' });
  assert.match(said, /^Tessera cannot start:\n {2}- /);
  assert.match(said, /\n {2}- TESSERA_SECRET must .*openssl rand/);
  assert.match(said, /\n {2}- TESSERA_LIMIT_TOKEN must be <count>\/<s\|m\|h>/);
  assert.match(said, /\n {2}- TESSERA_TYPO is not a setting/);
  assert.ok(!said.includes('a'.repeat(64)), 'a secret is not repeated');
});

test('a port in use, a host that is not here', async () => {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const { port } = other.address() as AddressInfo;
  const [busy, nowhere, unknown] = await Promise.all([
    refusal({ TESSERA_PORT: String(port) }),
    refusal({ TESSERA_HOST: '192.0.2.1' }),
    refusal({ TESSERA_HOST: 'not a host' }),
  ]);
  other.close();
  assert.match(busy, new RegExp(`127\\.0\\.0\\.1:${port}.*TESSERA_PORT`));
  assert.match(nowhere, /192\.0\.2\.1.*TESSERA_HOST/);
  assert.match(unknown, /not a host.*TESSERA_HOST/);
});

test('a database that a later version changed is left alone', async () => {
  const environment = await fresh();
  const made = await tessera(['org', 'create', '--name', 'acme', '--domain', 'acme.example'], { env: environment });
  assert.equal(made.code, 0, made.stderr);
  await query(
    { environment },
    "INSERT INTO schema_migration VALUES ('9999-later', '999.0.0', '999.0.0', '2099-01-01')",
  );
  const said = await refusal(environment);
  assert.match(said, /changed by a later version of Tessera \(9999-later\)\. Run that version/);
});

test('a secret that is not the database’s, and a change of it that keeps tokens alive', async () => {
  const data = await fresh();
  const [old, next] = [STRONG, [...STRONG].reverse().join('')];
  const port = { value: '0' };
  const settings = { ...data, TESSERA_LOG_LEVEL: 'silent', TESSERA_ADMIN_KEY: ADMIN_KEY };
  const open = async (secrets: Readonly<Record<string, string>>) => {
    const running = await start(readConfig({ ...settings, TESSERA_PORT: port.value, ...secrets }));
    port.value = new URL(running.baseUrl).port;
    return running;
  };
  const first = await open({ TESSERA_SECRET: old });
  const server = { baseUrl: first.baseUrl } as TestServer;
  const [client, user] = [await newClient(server), await newUser(server)];
  const tokens = await tokensFor(server, client, user);
  await first.close();
  assert.ok(!existsSync(join(data['TESSERA_DATA_DIR'] ?? '', 'secret')), 'a secret that is given is not written down');

  const said = await refusal({ ...settings, TESSERA_SECRET: next });
  assert.match(said, /secret does not fit this database.*TESSERA_SECRET_PREVIOUS/);

  const changing = await open({ TESSERA_SECRET: next, TESSERA_SECRET_PREVIOUS: old });
  assert.equal((await userinfo(server, tokens.access_token)).status, 200);
  await changing.close();
  const changed = await open({ TESSERA_SECRET: next });
  assert.equal((await userinfo(server, tokens.access_token)).status, 200, 'the old secret is needed no more');
  assert.equal((await refresh(server, client, tokens.refresh_token)).status, 200);
  await changed.close();
  assert.match(await refusal({ ...settings, TESSERA_SECRET: old }), /secret does not fit/);
});

test('white space around a secret is no part of it, in a variable and in a file', async () => {
  const { TESSERA_SECRET: _, ...data } = await fresh();
  const settings = { ...data, TESSERA_LOG_LEVEL: 'silent', TESSERA_PORT: '0' };
  const TESSERA_SECRET = `${STRONG}\n`;
  const TESSERA_SECRET_FILE = join(folder, 'secret-with-line-end');
  writeFileSync(TESSERA_SECRET_FILE, TESSERA_SECRET);
  for (const secret of [{ TESSERA_SECRET }, { TESSERA_SECRET_FILE }, { TESSERA_SECRET: STRONG }])
    await (await start(readConfig({ ...settings, ...secret }))).close();

  const next = `${STRONG.toUpperCase()}\r\n`;
  await (
    await start(readConfig({ ...settings, TESSERA_SECRET: next, TESSERA_SECRET_PREVIOUS: TESSERA_SECRET }))
  ).close();
  await (await start(readConfig({ ...settings, TESSERA_SECRET: next.trim() }))).close();
});

/** Eleven different characters over and over: earlier versions took it. */
const WEAK = 'abcdefghijk'.repeat(4);

test('a predictable secret is refused, in a variable and in a file, and can be replaced as the previous one', async () => {
  const { TESSERA_SECRET: _, ...data } = await fresh();
  const settings = { ...data, TESSERA_LOG_LEVEL: 'silent', TESSERA_ADMIN_KEY: ADMIN_KEY };
  const made = await start({ ...readConfig({ ...settings, TESSERA_PORT: '0' }), secret: WEAK });
  const TESSERA_PORT = new URL(made.baseUrl).port;
  const server = { baseUrl: made.baseUrl } as TestServer;
  const [client, user] = [await newClient(server), await newUser(server)];
  const tokens = await tokensFor(server, client, user);
  await made.close();

  const file = join(folder, 'weak-secret');
  writeFileSync(file, `${WEAK}\n`);
  const refused: readonly (readonly [Record<string, string>, string])[] = [
    [{ TESSERA_SECRET: WEAK }, 'TESSERA_SECRET must be random'],
    [{ TESSERA_SECRET_FILE: file }, `The secret in ${file} is not usable: it must be random`],
  ];
  for (const [where, what] of refused) {
    assert.throws(
      () => findSecret(readConfig({ ...settings, ...where })),
      ({ name, message }: Error) => {
        assert.equal(name, 'ConfigError');
        assert.ok(message.startsWith(what), message);
        assert.match(message, /openssl rand -base64 32.*TESSERA_SECRET_PREVIOUS.*rotate-secrets-and-keys\.md/);
        return !message.includes(WEAK);
      },
    );
  }

  writeFileSync(file, `${STRONG}\n`);
  const open = (secrets: Readonly<Record<string, string>>) =>
    start(readConfig({ ...settings, TESSERA_PORT, TESSERA_SECRET_FILE: file, ...secrets }));
  const changing = await open({ TESSERA_SECRET_PREVIOUS: WEAK });
  assert.equal((await userinfo(server, tokens.access_token)).status, 200);
  await changing.close();
  const changed = await open({});
  assert.equal((await refresh(server, client, tokens.refresh_token)).status, 200, 'the weak one is needed no more');
  await changed.close();
});
