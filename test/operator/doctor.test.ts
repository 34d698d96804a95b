// store: SQLite, PostgreSQL with --all
import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, describe, test } from 'node:test';
import type { Check, Finding } from '../../src/operations/doctor/finding.ts';
import { randomSecret } from '../../src/platform/crypto/secrets.ts';
import { certificate, certificateKey } from '../support/certificate.ts';
import { startBehind } from '../support/listening.ts';
import { ownDatabase } from '../support/postgres-database.ts';
import type { TestServer } from '../support/server.ts';
import { tesseraHere as tessera } from './command-here.ts';

const folder = mkdtempSync(join(tmpdir(), 'tessera-doctor-'));
after(() => rmSync(folder, { recursive: true }));
let counter = 0;
const fresh = (): string => join(folder, `case${++counter}`);

type Settings = Readonly<Record<string, string>>;

/** What the real command finds, with its exit code. */
async function doctor(env: Settings): Promise<{ code: number | null; findings: readonly Finding[] }> {
  const { code, stdout, stderr } = await tessera(['doctor', '--json'], { env, cwd: folder });
  assert.equal(stderr, '');
  const { findings } = JSON.parse(stdout) as { findings: Finding[] };
  for (const { level, remedy, found } of findings) assert.equal(remedy === null, level === 'ok', found);
  assert.equal(code, findings.some(({ level }) => level === 'problem') ? 1 : 0, stdout);
  return { code, findings };
}

/** Asserts that one of the findings is this one. */
function has(
  findings: readonly Finding[],
  check: Check,
  level: Finding['level'],
  found: RegExp,
  remedy?: RegExp,
): void {
  const fits = findings.some(
    (finding) =>
      finding.check === check &&
      finding.level === level &&
      found.test(finding.found) &&
      (remedy === undefined || remedy.test(finding.remedy ?? '')),
  );
  assert.ok(fits, `${check} ${level} ${found} ${remedy ?? ''}: ${JSON.stringify(findings, null, 1)}`);
}

// How long the database takes to answer is a matter of what else the machine does, and a server for tests is thrown away.
const worse = (findings: readonly Finding[]): readonly Finding[] =>
  findings.filter(
    ({ level, found }) => level !== 'ok' && !/^(A round trip takes|fsync is|full_page_writes is)/.test(found),
  );

/** An address at which nothing listens, most probably. */
const NOBODY = { TESSERA_BASE_URL: 'http://127.0.0.1:9' };

describe('without a server', () => {
  test('a fresh folder: nothing is wrong, and nothing is made', async () => {
    const dataDir = fresh();
    const { findings } = await doctor({ ...NOBODY, TESSERA_DATA_DIR: dataDir });
    assert.deepEqual(
      worse(findings).map(({ check, level }) => [check, level]),
      [['base-url', 'warning']],
    );
    has(findings, 'base-url', 'warning', /Nothing answers.*skipped/, /Start the server/);
    has(findings, 'version', 'ok', /^This is Tessera \d+\.\d+\.\d+\.$/);
    has(findings, 'database', 'ok', /none yet.*first start creates it/);
    assert.ok(!readdirSync(folder).includes(dataDir.split('/').at(-1) ?? ''), 'no folder came to be');
  });

  test('a provider is registered, whose id exceeds the whole numbers of JavaScript', async () => {
    const env = { ...NOBODY, TESSERA_DATA_DIR: fresh() };
    assert.equal((await tessera(['migrate'], { env })).code, 0);
    const create = ['upstream', 'create', '--name', 'acme', '--issuer', 'http://127.0.0.1:9', '--client-id', 'x'];
    const made = await tessera([...create, '--json'], { env });
    assert.ok(Number(JSON.parse(made.stdout).id) > Number.MAX_SAFE_INTEGER, made.stdout);
    const { findings } = await doctor(env);
    has(findings, 'upstreams', 'ok', /No client secret of a provider ends/);
    has(findings, 'upstreams', 'problem', /^Nobody can sign in through acme: .*nothing listens/, /upstream test acme/);
  });

  test('a check that ends in an error is a finding, and the others are made', async () => {
    const env = { ...NOBODY, TESSERA_DATA_DIR: fresh() };
    assert.equal((await tessera(['migrate'], { env })).code, 0);
    const database = new DatabaseSync(join(env.TESSERA_DATA_DIR, 'tessera.db'));
    database.exec('DROP TABLE upstream');
    database.close();
    const { findings } = await doctor(env);
    has(findings, 'upstreams', 'problem', /^This check ended in an error: no such table: upstream/, /report it/);
    has(findings, 'database', 'ok', /intact/);
  });

  test('for people: a line for each check, its remedy below it, and a count', async () => {
    const { code, stdout } = await tessera(['doctor'], { env: { ...NOBODY, TESSERA_DATA_DIR: fresh() }, cwd: folder });
    assert.equal(code, 0);
    assert.match(stdout, /^ok {7}database {7}There is none yet/m);
    assert.match(stdout, /^WARNING {2}base-url .*\n {24}→ Start the server/m);
    assert.match(stdout, /\nNo problems, 1 warning\.\n$/);
  });

  test('every wrong setting is told at once, in the words of a start', async () => {
    const { findings } = await doctor({ TESSERA_PORT: 'x', TESSERA_PROT: '1', TESSERA_BASE_URL: 'http://a.example' });
    has(findings, 'configuration', 'problem', /^TESSERA_PORT must be a whole number/);
    has(findings, 'configuration', 'problem', /^TESSERA_PROT is not a setting/, /Did you mean TESSERA_PORT/);
    has(findings, 'configuration', 'problem', /^TESSERA_BASE_URL is http:\/\/a\.example/, /^Use https/);
  });

  test('a migrated database without a start, then its files and its secret gone wrong', async () => {
    const dataDir = fresh();
    const env = { ...NOBODY, TESSERA_DATA_DIR: dataDir };
    assert.equal((await tessera(['org', 'create', '--name', 'a', '--domain', 'a.example'], { env })).code, 1);
    assert.equal((await tessera(['keys', 'list'], { env })).code, 3, 'no data yet');
    assert.equal((await tessera(['admin-key', 'create'], { env })).code, 0);
    const path = join(dataDir, 'tessera.db');
    const before = [readdirSync(dataDir).sort(), readFileSync(path), statSync(path).mtimeMs];
    const good = await doctor(env);
    has(good.findings, 'database', 'ok', /intact.*free, readable only by its owner/);
    has(good.findings, 'migrations', 'ok', /None are pending/);
    has(good.findings, 'secret', 'ok', /has no keys yet/);
    assert.deepEqual([readdirSync(dataDir).sort(), readFileSync(path), statSync(path).mtimeMs], before, 'untouched');

    for (const name of ['tessera.db', 'secret']) chmodSync(join(dataDir, name), 0o644);
    chmodSync(dataDir, 0o755);
    const database = new DatabaseSync(path);
    database.exec("DELETE FROM schema_migration WHERE name <> '0001-accounts'; PRAGMA journal_mode = DELETE");
    database.exec("INSERT INTO schema_migration VALUES ('9999-later', '999.0.0', '999.0.0', '2099-01-01')");
    database.close();
    const bad = await doctor(env);
    has(bad.findings, 'database', 'problem', /tessera\.db can be read by all users/, /^chmod 600/);
    has(bad.findings, 'secret', 'problem', /secret can be read by all users/, /^chmod 600/);
    has(bad.findings, 'database', 'warning', /no write-ahead log/);
    has(bad.findings, 'migrations', 'problem', /later version of Tessera \(9999-later\)/, /^Run that version/);

    writeFileSync(join(dataDir, 'secret'), 'short');
    writeFileSync(path, 'This is no database. '.repeat(500));
    const worst = await doctor(env);
    has(worst.findings, 'secret', 'problem', /at least 43 random characters/, /^Restore it from a backup/);
    has(worst.findings, 'database', 'problem', /cannot be opened/, /is a database of Tessera/);
    has(worst.findings, 'migrations', 'warning', /Not checked/);
  });

  test('an unknown host name, an https address without a trusted proxy, and an unknown port', async () => {
    const at = (settings: Settings) => doctor({ TESSERA_DATA_DIR: fresh(), ...settings });
    const [unknown, chosen] = await Promise.all([
      at({ TESSERA_BASE_URL: 'https://login.invalid' }),
      at({ TESSERA_PORT: '0' }),
    ]);
    has(unknown.findings, 'base-url', 'problem', /login\.invalid cannot be resolved/, /DNS/);
    has(unknown.findings, 'proxy-headers', 'problem', /TESSERA_TRUST_PROXY is off/, /number of proxies/);
    has(chosen.findings, 'base-url', 'warning', /TESSERA_PORT is 0/, /--base-url/);
  });
});

/** What a proxy does to a request and its answer. */
interface Habits {
  /** Appends the caller's address to X-Forwarded-For; some proxies write its port too. */
  readonly append?: boolean | 'with port';
  readonly drop?: readonly string[];
  readonly cookies?: (header: string) => string | undefined;
  readonly path?: (path: string) => string;
  readonly host?: string;
  readonly away?: boolean;
}

/** A server with a proxy in front that has habits; its clock goes with the machine's. */
async function behindProxy(settings: Settings, prefix = '') {
  let habits: Habits = {};
  let port = 0;
  let skew = 0;
  const follow = (): void => server.advance(Math.max(0, Date.now() + skew - server.now()));
  const pass = (incoming: IncomingMessage, outgoing: ServerResponse): void => {
    follow();
    if (habits.away) return void outgoing.writeHead(502).end();
    const headers: Record<string, string | string[] | undefined> = { ...incoming.headers };
    for (const name of habits.drop ?? []) delete headers[name];
    if (habits.host !== undefined) headers['host'] = habits.host;
    if (habits.append) {
      const before = headers['x-forwarded-for'];
      const { remoteAddress, remotePort } = incoming.socket;
      const caller = habits.append === 'with port' ? `${remoteAddress}:${remotePort}` : remoteAddress;
      headers['x-forwarded-for'] = `${before === undefined ? '' : `${before}, `}${caller}`;
    }
    const path = (habits.path ?? ((text) => text))(incoming.url ?? '');
    const options = { host: '127.0.0.1', port, path, method: incoming.method, headers, agent: false } as const;
    const sent = request(options, (answer) => {
      const cookies = (answer.headers['set-cookie'] ?? []).map(habits.cookies ?? ((header) => header));
      const kept = cookies.filter((cookie) => cookie !== undefined);
      outgoing.writeHead(answer.statusCode ?? 0, { ...answer.headers, 'set-cookie': kept });
      answer.pipe(outgoing);
    });
    sent.on('error', () => outgoing.writeHead(502).end());
    incoming.pipe(sent);
  };
  const tls = settings['TLS'] !== undefined;
  const proxy = tls ? createTlsServer({ cert: certificate, key: certificateKey }, pass) : createServer(pass);
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  const { TLS: _tls, ...own } = settings;
  const baseUrl = `${tls ? 'https' : 'http'}://localhost:${(proxy.address() as AddressInfo).port}${prefix}`;
  const server = await startBehind(baseUrl, own);
  port = server.port;
  return {
    server,
    /** Lets the proxy do this from now on, and answers what the command finds then. */
    async with(next: Habits, more: Settings = {}) {
      habits = next;
      return doctor({ ...server.environment, TESSERA_LOG_LEVEL: 'error', ...more });
    },
    /** How far the clock of the service is ahead of the machine's, in milliseconds. */
    aheadBy(milliseconds: number) {
      skew = milliseconds;
    },
    async close() {
      await server.close();
      await new Promise((resolve) => proxy.close(resolve));
    },
  };
}

describe('a running service', () => {
  const servers: { close(): Promise<void> }[] = [];
  const behind = async (settings: Settings, prefix?: string) => {
    const made = await behindProxy(settings, prefix);
    servers.push(made);
    return made;
  };
  after(async () => {
    for (const { close } of servers) await close();
  });

  test('that is well, without a proxy that shows: nothing is wrong', async () => {
    const at = await behind({});
    const { findings } = await at.with({});
    assert.deepEqual(worse(findings), []);
    has(findings, 'base-url', 'ok', /Tessera answers/);
    has(findings, 'version', 'ok', /^This and the running service are Tessera \d+\.\d+\.\d+\.$/);
    has(findings, 'proxy-headers', 'ok', /There is no proxy in front/);
    has(findings, 'cookies', 'ok', /tessera_browser_\S{8} is passed in both directions unchanged/);
    has(findings, 'clock', 'ok', /agrees with that of the running service/);
    has(findings, 'secret', 'ok', /decrypts the keys/);
  });

  test('a proxy that is not trusted, cookies that are dropped, a clock that differs, another secret', async () => {
    const at = await behind({});
    const untrusted = await at.with({ append: true });
    has(
      untrusted.findings,
      'proxy-headers',
      'problem',
      /There is one proxy in front.*is off: all callers share/,
      /TESSERA_TRUST_PROXY=1/,
    );
    const stripped = await at.with({ cookies: () => undefined });
    has(stripped.findings, 'cookies', 'problem', /it set none/, /forward Set-Cookie/);
    const [scoped, sent] = [
      await at.with({ cookies: (header) => `${header.replace('HttpOnly; ', '')}; Domain=example.com` }),
      await at.with({ drop: ['cookie'] }),
    ];
    has(scoped.findings, 'cookies', 'problem', /without HttpOnly, with Domain=example\.com/);
    has(sent.findings, 'cookies', 'problem', /does not reach the service again/);
    at.aheadBy(12_000);
    has((await at.with({})).findings, 'clock', 'warning', /running service is 1[12] s ahead/, /NTP/);
    at.aheadBy(60_000);
    has((await at.with({})).findings, 'clock', 'problem', /running service is (59|60) s ahead/);
    const stranger = await at.with({}, { TESSERA_SECRET: randomSecret() });
    has(
      stranger.findings,
      'proxy-headers',
      'warning',
      /does not accept the probe of this command: it has another secret/,
    );
    has(stranger.findings, 'secret', 'problem', /does not fit this database/, /^(Give|Set) the secret/);
  });

  test('TESSERA_TRUST_PROXY: what a caller writes itself is believed, or the wrong one of the proxies', async () => {
    const one = await behind({ TESSERA_TRUST_PROXY: '1' });
    has((await one.with({ append: true })).findings, 'proxy-headers', 'ok', /There is one proxy in front/);
    has(
      (await one.with({})).findings,
      'proxy-headers',
      'problem',
      /Callers can forge their address/,
      /proxy_set_header/,
    );
    const ports = await one.with({ append: 'with port' });
    has(ports.findings, 'proxy-headers', 'warning', /a port after the address.*"127\.0\.0\.1:\d+"/, /only the address/);
    has(ports.findings, 'proxy-headers', 'ok', /sees this caller as 127\.0\.0\.1/);
    const renamed = await one.with({ append: true, host: 'upstream' });
    has(renamed.findings, 'proxy-headers', 'ok', /sends Host: upstream instead of localhost/);
    const bare = await one.with({ drop: ['x-forwarded-for'] });
    has(bare.findings, 'proxy-headers', 'problem', /removes X-Forwarded-For/);
    const two = await behind({ TESSERA_TRUST_PROXY: '2' });
    has((await two.with({ append: true })).findings, 'proxy-headers', 'problem', /Callers can forge/, /PROXY=1/);
  });

  test('a path that the proxy cuts off, a service that is away, something else at the address', async () => {
    const at = await behind({}, '/login-service');
    assert.deepEqual(worse((await at.with({})).findings), []);
    const cut = await at.with({ path: (path) => path.replace('/login-service', '') });
    has(cut.findings, 'base-url', 'problem', /A Tessera answers .* not at the path \/login-service/, /paths unchanged/);
    const away = await at.with({ away: true });
    has(away.findings, 'base-url', 'problem', /answers 502: it does not reach the service/, /Start the server/);
    const other = await at.with({ path: () => '/login-service/login' });
    has(other.findings, 'base-url', 'problem', /Another service answers/);
  });

  test('https: a certificate that is not trusted here ends it; one that is, and __Host- cookies', async () => {
    const at = await behind({ TLS: '1', TESSERA_TRUST_PROXY: '1' });
    const authority = join(folder, 'authority.pem');
    writeFileSync(authority, certificate);
    const distrusted = await at.with({ append: true });
    has(distrusted.findings, 'base-url', 'problem', /not trusted here: .*self.signed/i, /NODE_EXTRA_CA_CERTS/);
    assert.ok(!distrusted.findings.some(({ check }) => check === 'cookies'), 'nothing more is asked there');
    const trusted = await at.with({ append: true }, { NODE_EXTRA_CA_CERTS: authority });
    assert.deepEqual(worse(trusted.findings), []);
    has(trusted.findings, 'base-url', 'ok', /certificate of localhost is valid for \d{4,} more days/);
    has(
      trusted.findings,
      'cookies',
      'ok',
      /__Host-tessera_browser_\S{8} is passed in both directions unchanged: Secure/,
    );
    const downgraded = await at.with(
      { append: true, cookies: (header) => header.replace('; Secure', '').replace('SameSite=Lax', 'SameSite=None') },
      { NODE_EXTRA_CA_CERTS: authority },
    );
    has(downgraded.findings, 'cookies', 'problem', /without Secure, with SameSite=None/);
  });

  test('without a proof of the secret, the probe route answers 404', async () => {
    const at = await behind({});
    const seen = `http://127.0.0.1:${at.server.port}/health/seen`;
    const nothing = await (await fetch(`${seen}-or-not`)).text();
    for (const headers of [{}, { 'tessera-probe': '' }, { 'tessera-probe': `${Date.now()}.${randomSecret()}` }]) {
      const answer = await fetch(seen, { headers });
      assert.equal(answer.status, 404);
      assert.equal(await answer.text(), nothing);
    }
  });
});

describe('the secret, on a database with keys', () => {
  let server: TestServer;
  const [old, next] = [randomSecret(), randomSecret()];
  before(async () => {
    server = await startBehind(NOBODY.TESSERA_BASE_URL, { TESSERA_SECRET: old });
  });
  after(() => server.close());

  const cases: [string, Settings, Finding['level'], RegExp][] = [
    ['the database’s', { TESSERA_SECRET: old }, 'ok', /set in TESSERA_SECRET, and decrypts the keys/],
    ['another', { TESSERA_SECRET: next }, 'problem', /does not fit this database/],
    [
      'a new one with the old one beside it',
      { TESSERA_SECRET: next, TESSERA_SECRET_PREVIOUS: old },
      'ok',
      /TESSERA_SECRET_PREVIOUS decrypts keys.*next start encrypts/,
    ],
    [
      'an old one that is not needed',
      { TESSERA_SECRET: old, TESSERA_SECRET_PREVIOUS: next },
      'warning',
      /PREVIOUS is set but not needed/,
    ],
  ];
  for (const [what, settings, level, found] of cases) {
    test(what, async () => {
      const { findings } = await doctor({ ...server.environment, ...settings });
      has(findings, 'secret', level, found);
    });
  }

  test('predictable, in a variable or in a file: refused as a start refuses it', async () => {
    const weak = 'abcdefghijk'.repeat(4);
    const file = join(server.dataDir, 'weak-secret');
    writeFileSync(file, weak, { mode: 0o600 });
    const { TESSERA_SECRET: _strong, ...environment } = server.environment;
    const remedy = /^Make another with: openssl rand.*TESSERA_SECRET_PREVIOUS/;
    const given = await doctor({ ...environment, TESSERA_SECRET: weak });
    has(given.findings, 'configuration', 'problem', /^TESSERA_SECRET must be random/, remedy);
    const kept = await doctor({ ...environment, TESSERA_SECRET_FILE: file });
    has(kept.findings, 'secret', 'problem', /weak-secret is not usable: it must be random/, remedy);
    const key = await doctor({ ...server.environment, TESSERA_ADMIN_KEY: '0'.repeat(32) });
    has(key.findings, 'configuration', 'problem', /^TESSERA_ADMIN_KEY must be random/, /^Make another with: openssl/);
  });

  test('gone, where a start would make one that opens nothing', async () => {
    const { TESSERA_SECRET: _gone, ...environment } = server.environment;
    const { findings } = await doctor(environment);
    const postgres = environment['TESSERA_DATABASE_URL'] !== undefined;
    has(findings, 'secret', 'problem', postgres ? /TESSERA_SECRET is missing/ : /The secret is gone/);
    assert.ok(!readdirSync(server.dataDir).includes('secret'), 'none was made');
  });
});

describe('PostgreSQL', { skip: process.env['TESSERA_TEST_POSTGRES'] === undefined }, () => {
  let database: NonNullable<Awaited<ReturnType<typeof ownDatabase>>>;
  before(async () => {
    const own = await ownDatabase();
    assert.ok(own !== undefined);
    database = own;
  });
  after(() => database.drop());

  test('the server, its clock and its connections; what is pending; what keeps a start from it', async () => {
    const env = { ...NOBODY, TESSERA_DATA_DIR: fresh(), ...database.environment };
    const empty = await doctor(env);
    has(
      empty.findings,
      'database',
      'ok',
      /^PostgreSQL \d\d.* accepts writes; a round trip takes [\d.]+ ms; .* \d+ nodes/,
    );
    has(empty.findings, 'migrations', 'warning', /pending: 0001-accounts/, /tessera migrate/);
    has(empty.findings, 'clock', 'ok', /agrees with that of the database/);
    assert.equal(
      (await tessera(['migrate', '--dry-run'], { env })).stdout.startsWith('1 of '),
      true,
      'nothing was made',
    );
    const missing = new URL(database.url);
    missing.pathname = '/missing';
    const nowhere = await doctor({ ...env, TESSERA_DATABASE_URL: missing.href });
    has(nowhere.findings, 'database', 'problem', /There is no such database/, /Create it/);
    const { TESSERA_SECRET: _none, ...without } = env;
    has((await doctor(without)).findings, 'secret', 'problem', /TESSERA_SECRET is missing/, /openssl rand/);
  });
});
