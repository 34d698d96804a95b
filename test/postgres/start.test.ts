// store: PostgreSQL
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { appendFileSync, cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { randomSecret } from '../../src/platform/crypto/secrets.ts';
import { servicePool } from '../../src/platform/database/postgres/pools.ts';
import { openPrimary } from '../../src/platform/database/postgres/primary.ts';
import { serve, tessera } from '../operator/command.ts';
import { refusedStart } from '../operator/refused-start.ts';
import { ask } from '../support/ask-postgres.ts';
import { admin } from '../support/flow.ts';
import { type PostgresServer, startPostgres } from '../support/postgres.ts';
import { sampleOf } from '../support/whole.ts';

const folder = mkdtempSync(join(tmpdir(), 'tessera-start-pg-'));
const copy = join(folder, 'copy');
const secret = randomSecret();
let primary: PostgresServer;
let replica: PostgresServer;
/** An address where nothing listens any more, and one where no PostgreSQL does. */
let silent: string;
let other: string;
const web = createServer((_request, response) => response.end('hello'));

before(async () => {
  primary = await startPostgres({
    prepare(data) {
      // Both begin with the same data: the one follows the other.
      cpSync(data, copy, { recursive: true });
      const rules = join(data, 'pg_hba.conf');
      const first = 'local all guarded scram-sha-256\nlocal all barred reject\n';
      writeFileSync(rules, first + readFileSync(rules, 'utf8'));
    },
  });
  replica = await startPostgres({
    from: copy,
    prepare(data) {
      const host = new URL(primary.url).searchParams.get('host');
      appendFileSync(join(data, 'postgresql.conf'), `\nprimary_conninfo = 'host=${host} user=tessera'\n`);
      writeFileSync(join(data, 'standby.signal'), '');
    },
  });
  await execute(`CREATE ROLE guarded LOGIN PASSWORD 'the right one'`);
  await execute('CREATE ROLE barred LOGIN');
  await execute('CREATE ROLE lodger LOGIN');
  await execute('CREATE DATABASE foreign_ground');
  await execute('REVOKE CREATE ON SCHEMA public FROM PUBLIC', address('foreign_ground'));
  await execute('CREATE DATABASE closed_ground');
  await execute('REVOKE ALL ON SCHEMA public FROM PUBLIC', address('closed_ground'));
  await execute('CREATE DATABASE shared_ground');
  await execute('GRANT ALL ON SCHEMA public TO PUBLIC', address('shared_ground'));
  await execute('CREATE TABLE schema_migration (name text, earliest_version text)', address('shared_ground'));
  await execute("CREATE DATABASE western ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0");
  await execute('CREATE DATABASE pathless');
  await execute('ALTER DATABASE pathless SET search_path = nowhere');
  await execute('CREATE ROLE unconnected LOGIN CONNECTION LIMIT 0');
  await execute('CREATE DATABASE crowded CONNECTION LIMIT 0');
  await execute('CREATE DATABASE hardened');
  await execute('REVOKE EXECUTE ON FUNCTION pg_postmaster_start_time() FROM PUBLIC', address('hardened'));
  await execute('CREATE DATABASE frozen');
  await execute('ALTER DATABASE frozen SET default_transaction_read_only = on');
  const gone = createServer();
  silent = await listening(gone);
  await once(gone.close(), 'close');
  other = await listening(web);
});
after(async () => {
  web.close();
  await replica.stop();
  await primary.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function listening(server: Server): Promise<string> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const bound = server.address();
  assert.ok(bound !== null && typeof bound === 'object');
  return `127.0.0.1:${bound.port}`;
}

const run = (settings: Readonly<Record<string, string>>) => ({
  env: { TESSERA_DATA_DIR: join(folder, 'data'), TESSERA_PORT: '0', ...settings },
  cwd: folder,
});

/** The address of a database on the server, for another user or on another host where these are given. */
function address(
  name: string,
  { user = 'tessera', password = '', host }: Partial<Record<string, string>> = {},
): string {
  const url = new URL(primary.url);
  url.pathname = `/${name}`;
  url.username = user;
  url.password = password;
  if (host !== undefined) url.searchParams.set('host', host);
  return url.href;
}

const execute = (sql: string, url = primary.url) => ask(url, sql);

const refusals: [string, () => Readonly<Record<string, string>>, RegExp][] = [
  ['no secret', () => ({ TESSERA_SECRET: '' }), /TESSERA_SECRET is missing\..*openssl rand/],
  ['an address that is none', () => ({ TESSERA_DATABASE_URL: 'postgres://' }), /TESSERA_DATABASE_URL must be/],
  [
    'an address that names no database',
    () => ({ TESSERA_DATABASE_URL: 'postgres://tessera@localhost' }),
    /TESSERA_DATABASE_URL must be .*<host>\/<database>/,
  ],
  [
    'a port where nothing listens',
    () => ({ TESSERA_DATABASE_URL: `postgres://tessera@${silent}/tessera` }),
    /Nothing listens there\. Start the server, or correct host and port/,
  ],
  [
    'a socket where nothing listens',
    () => ({ TESSERA_DATABASE_URL: address('x', { host: folder }) }),
    /no socket there\. Start the server/,
  ],
  [
    'an unknown host',
    // RFC 2606 §2: a name below .invalid is in no name service.
    () => ({ TESSERA_DATABASE_URL: 'postgres://tessera@database.invalid/tessera' }),
    /The host name (is not known|cannot be looked up).*TESSERA_DATABASE_URL/,
  ],
  [
    'a wrong password',
    () => ({ TESSERA_DATABASE_URL: address('foreign_ground', { user: 'guarded', password: 'a wrong one' }) }),
    /The password is wrong\. Correct it in TESSERA_DATABASE_URL/,
  ],
  [
    'a password that is missing',
    () => ({ TESSERA_DATABASE_URL: address('foreign_ground', { user: 'guarded' }) }),
    /The server asks for a password\. Put it in TESSERA_DATABASE_URL/,
  ],
  [
    'an encrypted connection, where the server offers none',
    () => ({ TESSERA_DATABASE_URL: `${primary.url}&sslmode=verify-full` }),
    /offers no encrypted connection\. Turn it on there, or take sslmode out/,
  ],
  [
    'a file of the address that is not there',
    () => ({ TESSERA_DATABASE_URL: `${primary.url}&sslmode=verify-full&sslrootcert=${folder}/missing.pem` }),
    /names the file .*missing\.pem, which cannot be read \(ENOENT\)/,
  ],
  [
    'a port where something else listens',
    () => ({ TESSERA_DATABASE_URL: `postgres://tessera@${other}/tessera` }),
    /ends the connection\. Check that host and port .* are those of PostgreSQL/,
  ],
  [
    'a user whom the server does not let in',
    () => ({ TESSERA_DATABASE_URL: address('foreign_ground', { user: 'barred' }) }),
    /does not let this user in\. Check user, database and address.*pg_hba\.conf/,
  ],
  [
    'a user that is not there',
    () => ({ TESSERA_DATABASE_URL: address('foreign_ground', { user: 'nobody_of_that_name' }) }),
    /does not let this user in/,
  ],
  [
    'a user who may not create tables',
    () => ({ TESSERA_DATABASE_URL: address('foreign_ground', { user: 'lodger' }) }),
    /The user lodger may not create tables in the schema public\.\s.*GRANT CREATE ON SCHEMA public TO lodger;/,
  ],
  [
    'a user who may not use the schema',
    () => ({ TESSERA_DATABASE_URL: address('closed_ground', { user: 'lodger' }) }),
    /The user lodger has no schema for its tables: .*GRANT USAGE, CREATE ON SCHEMA public TO lodger;/,
  ],
  [
    'tables of another user',
    () => ({ TESSERA_DATABASE_URL: address('shared_ground', { user: 'lodger' }) }),
    /The user lodger lacks a right in the schema public \(permission denied for table schema_migration\).*OWNER TO lodger;/,
  ],
  [
    'a database that is not there',
    () => ({ TESSERA_DATABASE_URL: address('missing') }),
    /no such database\. Create it/,
  ],
  [
    'a database that takes no writes',
    () => ({ TESSERA_DATABASE_URL: address('frozen') }),
    /takes no writes: default_transaction_read_only.*Turn it off/,
  ],
  [
    'a database whose encoding lacks characters',
    () => ({ TESSERA_DATABASE_URL: address('western') }),
    /has the encoding LATIN1, .*ENCODING 'UTF8'/,
  ],
  [
    'a search path without a schema',
    () => ({ TESSERA_DATABASE_URL: address('pathless') }),
    /The user tessera has no schema for its tables: .*search_path \(nowhere\).*CREATE SCHEMA AUTHORIZATION tessera;/,
  ],
  [
    'a user who may have no connection',
    () => ({ TESSERA_DATABASE_URL: address('foreign_ground', { user: 'unconnected' }) }),
    /user has no connection left of those that its own limit allows\. Raise it \(ALTER ROLE/,
  ],
  [
    'a database that may have no connection',
    () => ({ TESSERA_DATABASE_URL: address('crowded', { user: 'lodger' }) }),
    /database has no connection left of those that its own limit allows\. Raise it \(ALTER DATABASE/,
  ],
  [
    'a replica',
    () => ({ TESSERA_DATABASE_URL: replica.url }),
    /is a replica, which takes no writes\. Name the primary/,
  ],
];
for (const [what, settings, message] of sampleOf(refusals, 3)) {
  test(`${what}: refused with the cause and the remedy, by doctor, too`, async () => {
    const { env, cwd } = run({ TESSERA_DATABASE_URL: primary.url, TESSERA_SECRET: secret, ...settings() });
    const said = await refusedStart(env, cwd);
    assert.match(said, message);
    assert.ok(!said.includes('a wrong one') && !said.includes(secret), 'nothing secret is repeated');
    const { code, stdout } = await tessera(['doctor', '--json'], { env, cwd });
    const { findings } = JSON.parse(stdout) as {
      findings: readonly { level: string; found: string; remedy: string }[];
    };
    const problems = findings.filter(({ level }) => level === 'problem');
    assert.match(problems.map(({ found, remedy }) => `${found} ${remedy}`).join('\n'), message);
    assert.equal(code, 1);
  });
}

test('a connection that cannot be opened tells what failed, and not what failed because of that', async () => {
  const found = openPrimary(address('hardened', { user: 'lodger' }));
  const pool = servicePool(found, 1);
  try {
    await assert.rejects(pool.connect(), /permission denied for function pg_postmaster_start_time/);
  } finally {
    await pool.end();
    await found.close();
  }
});

async function set(name: string, value: string): Promise<void> {
  await execute(`ALTER SYSTEM SET ${name} = ${value}`);
  await execute('SELECT pg_reload_conf()');
  // The server takes up its settings when it comes to it.
  const sql = `SELECT current_setting('${name}') AS now`;
  while ((await ask<{ now: string }>(primary.url, sql))[0]?.now !== value);
}

test('the missing password of a user ends the list of pending migrations, too', async () => {
  const settings = { TESSERA_DATABASE_URL: address('foreign_ground', { user: 'guarded' }), TESSERA_SECRET: secret };
  const { code, stderr } = await tessera(['migrate', '--dry-run'], run(settings));
  assert.equal(code, 3);
  assert.match(stderr, /asks for a password/);
});

test('a server that loses acknowledged changes with the power is refused, but on a developer’s machine', async (t) => {
  await execute('CREATE DATABASE risky');
  t.after(async () => {
    await set('fsync', 'on');
    await set('full_page_writes', 'on');
  });
  await set('fsync', 'off');
  await set('full_page_writes', 'off');
  const { env, cwd } = run({ TESSERA_DATABASE_URL: address('risky'), TESSERA_SECRET: secret });
  const abroad = { ...env, TESSERA_BASE_URL: 'https://login.example.com' };
  assert.match(
    await refusedStart(abroad, cwd),
    /fsync is off on the PostgreSQL server: .*revives what was revoked\. Turn it on: ALTER SYSTEM SET fsync = on/,
  );
  const at = (more: Readonly<Record<string, string>>) => ({ env: { ...env, ...more }, cwd });
  const findings = async (more: Readonly<Record<string, string>>): Promise<string[]> => {
    const told = await tessera(['doctor', '--json'], at(more));
    const all: { check: string; level: string; found: string }[] = JSON.parse(told.stdout).findings;
    return all.filter(({ check }) => check === 'database').map(({ level, found }) => `${level}: ${found}`);
  };
  const has = (all: readonly string[], pattern: RegExp) =>
    assert.ok(
      all.some((one) => pattern.test(one)),
      all.join('\n'),
    );
  has(await findings({ TESSERA_BASE_URL: 'https://login.example.com' }), /^problem: .*fsync is off/);

  const server = await serve(at({}));
  await server.stop();
  const said = await server.errors();
  assert.match(said, /^Warning: fsync is off .*Turn it on/m);
  assert.match(said, /^Warning: full_page_writes is off .*copies on write/m);
  await set('synchronous_commit', 'off');
  t.after(() => set('synchronous_commit', 'on'));
  const local = await findings({});
  has(local, /^warning: fsync is off/);
  has(local, /^warning: full_page_writes is off/);
  has(local, /^ok: synchronous_commit is off .*Tessera sets it to on/);

  await set('fsync', 'on');
  const careful = await serve(at({ TESSERA_BASE_URL: 'https://login.example.com' }));
  await careful.stop();
  const stderr = await careful.errors();
  assert.match(stderr, /^Warning: full_page_writes is off/m);
  assert.doesNotMatch(stderr, /fsync is off/);
});

test('a right password lets in; the greeting names the database without it, and no secret is written down', async () => {
  await execute('CREATE DATABASE good OWNER guarded');
  const url = address('good', { user: 'guarded', password: 'the right one' });
  const settings = { TESSERA_DATABASE_URL: url, TESSERA_ADMIN_KEY: secret };
  const server = await serve(run({ ...settings, TESSERA_SECRET: secret }));
  assert.equal((await admin(server, 'GET', '/users', undefined, secret)).status, 200);
  assert.match(server.greeting, /postgres:\/\/guarded@localhost\/good/);
  assert.doesNotMatch(server.greeting, /the(%20|\+| )right/);
  assert.equal((await server.stop()).code, 0);

  // Every node of a database has its secret.
  for (const args of [['serve'], ['keys', 'rotate']]) {
    const { code, stderr } = await tessera(args, run({ ...settings, TESSERA_SECRET: randomSecret() }));
    assert.equal(code, 3, stderr);
    assert.match(stderr, /secret does not fit this database.*TESSERA_SECRET_PREVIOUS/s);
  }
});

test('a role with three connections is enough for a small service; the start and doctor say what it has', async () => {
  await execute('CREATE ROLE few LOGIN CONNECTION LIMIT 3');
  await execute('CREATE DATABASE narrow OWNER few');
  const settings = { TESSERA_DATABASE_URL: address('narrow', { user: 'few' }), TESSERA_SECRET: secret };
  assert.equal((await tessera(['migrate'], run(settings))).code, 0);
  const findings = await tessera(['doctor'], run(settings));
  assert.equal(findings.code, 1);
  assert.match(
    findings.stdout,
    /PROBLEM +database +The server offers 3 connections .* limit of 3.*\n.*CONNECTION LIMIT 19/,
  );

  const server = await serve(run({ ...settings, TESSERA_ADMIN_KEY: secret }));
  const asked = Array.from({ length: 20 }, (_, n) =>
    admin(server, 'POST', '/users', { username: `ada${n}`, displayName: 'Ada', email: `ada${n}@example.com` }, secret),
  );
  for (const { status } of await Promise.all(asked)) assert.equal(status, 201);
  await server.stop();
  assert.match(await server.errors(), /^Warning: The server offers 3 connections .*each gets 3 instead of 16/m);
});

test('a server that hides its timeline is used alone, with a warning, and not among several', async () => {
  await execute('CREATE DATABASE secretive OWNER lodger');
  await execute('REVOKE EXECUTE ON FUNCTION pg_control_system() FROM PUBLIC', address('secretive'));
  const warned = /[Ww]arning: The PostgreSQL server does not tell its timeline: .*accept what was revoked/m;
  const alone = run({ TESSERA_DATABASE_URL: address('secretive', { user: 'lodger' }), TESSERA_SECRET: secret });
  const server = await serve(alone);
  await server.stop();
  assert.match(await server.errors(), warned);
  assert.match((await tessera(['doctor'], alone)).stdout, /does not tell its timeline/);

  const host = `${new URL(primary.url).searchParams.get('host')},${folder}`;
  const several = run({ TESSERA_DATABASE_URL: address('secretive', { user: 'lodger', host }), TESSERA_SECRET: secret });
  assert.match(
    await refusedStart(several.env, several.cwd),
    /No host in TESSERA_DATABASE_URL is the primary\. .*does not tell its timeline.*no socket there/s,
  );

  // What the user may call again says all.
  await execute('GRANT EXECUTE ON FUNCTION pg_control_system() TO lodger', address('secretive'));
  const told = await serve(several);
  await told.stop();
  assert.doesNotMatch(await told.errors(), warned);
});
