// store: PostgreSQL
/** Broken installations: `tessera doctor` finds what is wrong with each, and says what to do. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import fs, {
  chmodSync,
  chownSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, test } from 'node:test';
import { start } from '../../src/app.ts';
import { timeline } from '../../src/migrations/timeline.ts';
import type { Check, Finding } from '../../src/operations/doctor/finding.ts';
import { randomSecret } from '../../src/platform/crypto/secrets.ts';
import { readConfig } from '../../src/settings/config.ts';
import { runCommand } from '../sqlite/in-process.ts';
import { ask } from '../support/ask-postgres.ts';
import { certificate, certificateKey } from '../support/certificate.ts';
import { type PostgresServer, startPostgres, THROWN_AWAY } from '../support/postgres.ts';

type Settings = Readonly<Record<string, string>>;

const folder = mkdtempSync(join(tmpdir(), 'tessera-situations-'));
const authority = join(folder, 'authority.pem');
const sound = join(folder, 'sound');
const secret = randomSecret();
const environment = { ...process.env };
let server: PostgresServer;
let port: number;
/** A port at which nothing listens any more. */
let silent: number;

before(async () => {
  silent = await freePort();
  server = await startServer();
  for (const sql of SETUP) await ask(onSocket('postgres'), sql);
  await ask(onSocket('closed_ground'), 'REVOKE CREATE ON SCHEMA public FROM PUBLIC');
  await ask(onSocket('shared_ground'), 'GRANT ALL ON SCHEMA public TO PUBLIC');
  await ask(onSocket('shared_ground'), 'CREATE TABLE schema_migration (name text, earliest_version text)');
  writeFileSync(authority, certificate);
  // A start makes the keys, too.
  await (await start(readConfig({ TESSERA_DATA_DIR: sound, TESSERA_PORT: '0', TESSERA_LOG_LEVEL: 'silent' }))).close();
});
after(async () => {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

const SETUP = [
  "CREATE ROLE guarded LOGIN PASSWORD 'the right one'",
  'CREATE ROLE walled LOGIN',
  'CREATE ROLE lodger LOGIN',
  'CREATE ROLE unconnected LOGIN CONNECTION LIMIT 0',
  'CREATE ROLE few LOGIN CONNECTION LIMIT 3',
  'CREATE DATABASE plain',
  'CREATE DATABASE narrow OWNER few',
  'CREATE DATABASE closed_ground',
  'CREATE DATABASE shared_ground',
  "CREATE DATABASE western ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0",
  "CREATE DATABASE eastern ENCODING 'EUC_JP' LOCALE 'C' TEMPLATE template0",
  'CREATE DATABASE pathless',
  'ALTER DATABASE pathless SET search_path = nowhere',
  'CREATE DATABASE frozen',
  'ALTER DATABASE frozen SET default_transaction_read_only = on',
];

/** Whom the server lets in how, before its own rules. */
const ACCESS = 'host all guarded all scram-sha-256\nhostssl all walled all trust\nhostnossl all walled all reject\n';

async function freePort(): Promise<number> {
  const listener = createServer().listen(0, 'localhost');
  await once(listener, 'listening');
  const { port } = listener.address() as AddressInfo;
  await once(listener.close(), 'close');
  return port;
}

/** A server with TLS, which is for connections over TCP alone. Another program may take the free port first. */
async function startServer(): Promise<PostgresServer> {
  for (;;) {
    port = await freePort();
    try {
      return await startPostgres({
        settings: [...THROWN_AWAY, 'listen_addresses=localhost', `port=${port}`, 'ssl=on', 'max_connections=40'],
        prepare(data) {
          for (const [name, text] of Object.entries({ 'server.crt': certificate, 'server.key': certificateKey })) {
            writeFileSync(join(data, name), text, { mode: 0o600 });
            const { uid, gid } = statSync(data);
            chownSync(join(data, name), uid, gid);
          }
          const rules = join(data, 'pg_hba.conf');
          writeFileSync(rules, ACCESS + readFileSync(rules, 'utf8'));
        },
      });
    } catch (error) {
      if (!/could not (bind|create any TCP)/.test(String(error))) throw error;
    }
  }
}

const onSocket = (database: string): string => `${server.url.replace('/postgres?', `/${database}?`)}&port=${port}`;

/** The settings of an installation on the server, reached over TCP. */
function at(database: string, { user = 'tessera', host = 'localhost', query = '' } = {}): Settings {
  return {
    TESSERA_DATABASE_URL: `postgres://${user}@${host}:${port}/${database}${query}`,
    TESSERA_SECRET: secret,
    TESSERA_DATA_DIR: join(folder, 'none'),
  };
}

let copies = 0;
/** An installation on the embedded database, of which something is changed. */
function embedded(change: (dataDir: string) => unknown): Settings {
  const dataDir = join(folder, `data-${++copies}`);
  mkdirSync(dataDir, { mode: 0o700 });
  cpSync(sound, dataDir, { recursive: true });
  change(dataDir);
  return { TESSERA_DATA_DIR: dataDir };
}

/** Runs a command in this process, which is much faster than a process of its own. */
async function run(settings: Settings, ...args: readonly string[]) {
  const { exitCode } = process;
  for (const name of Object.keys(process.env)) if (name.startsWith('TESSERA_')) delete process.env[name];
  Object.assign(process.env, { TESSERA_BASE_URL: `http://127.0.0.1:${silent}`, ...settings });
  try {
    const { out, error } = await runCommand(...args);
    assert.ifError(error);
    return { out, code: process.exitCode };
  } finally {
    process.exitCode = exitCode;
    for (const name of Object.keys(process.env)) if (name.startsWith('TESSERA_')) delete process.env[name];
    Object.assign(process.env, environment);
  }
}

/** Lets every file system have so many bytes left, until the test ends. */
function leaveFree(t: { after(end: () => void): void }, bytes: number): void {
  const { statfsSync } = fs;
  fs.statfsSync = ((path: string) => ({ ...statfsSync(path), bavail: bytes, bsize: 1 })) as typeof statfsSync;
  syncBuiltinESMExports();
  t.after(() => {
    fs.statfsSync = statfsSync;
    syncBuiltinESMExports();
  });
}

/** Runs a service whose log has lost lines, until the test ends. */
async function withLostLog(t: { after(end: () => Promise<void>): void }): Promise<Settings> {
  const settings = { ...embedded(() => {}), TESSERA_PORT: '0', TESSERA_LOG_LEVEL: 'info' };
  const log = { write: () => {}, loss: () => ({ dropped: 1200, lasts: true }) };
  const service = await start(readConfig(settings), Date.now, { log });
  t.after(() => service.close());
  return { ...settings, TESSERA_BASE_URL: service.baseUrl };
}

function onFile(dataDir: string, sql: string): void {
  const database = new DatabaseSync(join(dataDir, 'tessera.db'));
  database.exec(sql);
  database.close();
}

function damagePages(dataDir: string): void {
  const path = join(dataDir, 'tessera.db');
  writeFileSync(path, readFileSync(path).fill(0xff, 8192, 40_960));
}

/** A backup of the sound installation, of which something is changed. */
async function backedUp(change: (backup: string) => unknown): Promise<string> {
  const path = join(folder, `${++copies}.backup`);
  await run({ TESSERA_DATA_DIR: sound }, 'backup', path);
  change(path);
  return path;
}

interface Situation {
  readonly settings: (
    t: Parameters<typeof leaveFree>[0] & Parameters<typeof withLostLog>[0],
  ) => Settings | Promise<Settings>;
  /** Makes the backup that the command is to look at. */
  readonly backup?: () => Promise<string>;
  readonly check: Check;
  readonly level?: Finding['level'];
  readonly found: RegExp;
  readonly remedy: RegExp;
}

const database = (found: RegExp, remedy: RegExp, settings: Situation['settings'], more: Partial<Situation> = {}) =>
  ({
    ...{ check: 'database', found, remedy, settings },
    ...more,
  }) satisfies Situation;

const VERIFIED = '?sslmode=verify-full';
const SITUATIONS: Readonly<Record<string, Situation>> = {
  'nothing listens at the port of PostgreSQL': database(/Nothing listens there/, /Start the server/, () => ({
    ...at('plain'),
    TESSERA_DATABASE_URL: `postgres://tessera@localhost:${silent}/plain`,
  })),
  // RFC 2606 §2: a name below .invalid is in no name service.
  'the host of PostgreSQL is not known': database(
    /host name (is not known|cannot be looked up)/,
    /TESSERA_DATABASE_URL/,
    () => at('plain', { host: 'database.invalid' }),
  ),
  'the password is missing': database(/asks for a password/, /<user>:<password>@<host>/, () =>
    at('plain', { user: 'guarded' }),
  ),
  'the password is wrong': database(/The password is wrong/, /Correct it in TESSERA_DATABASE_URL/, () =>
    at('plain', { user: 'guarded:another' }),
  ),
  'the database is missing': database(/no such database/, /Create it/, () => at('missing')),
  'the server requires TLS': database(/not let this user in without encryption/, /sslmode=verify-full/, () =>
    at('plain', { user: 'walled' }),
  ),
  'the server offers no TLS': database(
    /offers no encrypted connection/,
    /Turn it on there, or take sslmode out/,
    () => ({
      ...at('plain'),
      TESSERA_DATABASE_URL: `${onSocket('plain')}&sslmode=verify-full`,
    }),
  ),
  'the certificate is that of another host': database(
    /certificate is that of another host \(.*127\.0\.0\.1.*\)\.$/,
    /^Name the host .* as the certificate does/,
    () => at('plain', { host: '127.0.0.1', query: `${VERIFIED}&sslrootcert=${authority}` }),
  ),
  'the certificate is not trusted': database(/certificate is not trusted/, /sslrootcert=<file>/, () =>
    at('plain', { query: VERIFIED }),
  ),
  'sslmode=require verifies no certificate': database(
    /sslmode=require encrypts .* does not verify the certificate/,
    /Use sslmode=verify-full/,
    () => at('plain', { query: '?sslmode=require' }),
    { level: 'warning' },
  ),
  'the role has no connection left': database(/no connection left of those that its own limit/, /ALTER ROLE/, () =>
    at('plain', { user: 'unconnected' }),
  ),
  'the limit of the role is below what a node uses': database(
    /offers 3 connections .*limit of 3/,
    /CONNECTION LIMIT 19/,
    () => at('narrow', { user: 'few' }),
  ),
  'the processes use more connections than the server has': database(
    /offers \d+ connections .*max_connections/,
    /max_connections/,
    () => ({ ...at('plain'), TESSERA_PROCESSES: '4' }),
  ),
  'the encoding is LATIN1': database(/has the encoding LATIN1/, /ENCODING 'UTF8'/, () => at('western')),
  'the encoding is EUC_JP': database(/has the encoding EUC_JP/, /ENCODING 'UTF8'/, () => at('eastern')),
  'the schema is missing': database(/has no schema for its tables: .*\(nowhere\)/, /CREATE SCHEMA/, () =>
    at('pathless'),
  ),
  'the user may not create tables': database(
    /lodger may not create tables in the schema public/,
    /GRANT CREATE ON SCHEMA public TO lodger;/,
    () => at('closed_ground', { user: 'lodger' }),
  ),
  'the tables belong to another user': database(/lodger lacks a right in the schema public/, /OWNER TO lodger;/, () =>
    at('shared_ground', { user: 'lodger' }),
  ),
  'the database takes no writes': database(/takes no writes/, /Turn it off/, () => at('frozen')),
  'PostgreSQL has no secret': {
    ...{ check: 'secret', found: /TESSERA_SECRET is missing/, remedy: /openssl rand/ },
    settings: () => ({ ...at('plain'), TESSERA_SECRET: '' }),
  },
  'the clock differs from that of the database': {
    ...{ check: 'clock', found: /database/, remedy: /NTP/ },
    settings(t) {
      const { now } = Date;
      Date.now = () => now() + 120_000;
      t.after(() => {
        Date.now = now;
      });
      return at('plain');
    },
  },
  'others can read the database': database(/tessera\.db can be read by all users/, /^chmod 600/, () =>
    embedded((dataDir) => {
      chmodSync(join(dataDir, 'tessera.db'), 0o644);
      chmodSync(dataDir, 0o755);
    }),
  ),
  'others can read the secret': {
    ...{ check: 'secret', found: /secret can be read by all users/, remedy: /^chmod 600/ },
    settings: () =>
      embedded((dataDir) => {
        chmodSync(join(dataDir, 'secret'), 0o644);
        chmodSync(dataDir, 0o755);
      }),
  },
  'the secret is gone': {
    ...{ check: 'secret', found: /The secret is gone/, remedy: /backup/ },
    settings: () => embedded((dataDir) => rmSync(join(dataDir, 'secret'))),
  },
  'the database is damaged': database(/damaged|malformed/, /backup/, () => embedded(damagePages)),
  'the disk of the database is full': database(/Only 1 MiB are free/, /Free up space/, (t) => {
    leaveFree(t, 1_000_000);
    return embedded(() => {});
  }),
  'the disk of the log is full': {
    ...{ check: 'log', found: /cannot write its log, and has dropped 1,200 lines/, remedy: /Make room on the disk/ },
    settings: withLostLog,
  },
  'a backup is damaged': {
    ...{
      check: 'backup',
      found: /is not a whole backup: its data was changed, or was damaged/,
      remedy: /Copy it again/,
    },
    settings: () => ({ TESSERA_DATA_DIR: sound }),
    backup: () => backedUp((path) => writeFileSync(path, readFileSync(path).fill(0xff, 8192, 8193))),
  },
  'a backup was cut off': {
    ...{ check: 'backup', found: /it does not end as a backup of Tessera does/, remedy: /Copy it again/ },
    settings: () => ({ TESSERA_DATA_DIR: sound }),
    backup: () => backedUp((path) => writeFileSync(path, readFileSync(path).subarray(0, -1))),
  },
  'a backup is not there': {
    ...{ check: 'backup', found: /cannot be read \(ENOENT/, remedy: /^Name a file/ },
    settings: () => ({ TESSERA_DATA_DIR: sound }),
    backup: async () => join(folder, 'no.backup'),
  },
  'a backup was made with another secret, and is whole': {
    ...{ check: 'backup', level: 'warning', found: /is whole.* made with another secret/, remedy: /Keep the secret/ },
    settings: () => ({ TESSERA_DATA_DIR: sound, TESSERA_SECRET: secret }),
    backup: () => backedUp(() => {}),
  },
  'a migration is pending': {
    ...{ check: 'migrations', level: 'warning', found: /^1 pending: /, remedy: /tessera migrate/ },
    settings: () =>
      embedded((dataDir) =>
        onFile(dataDir, `DELETE FROM schema_migration WHERE name = '${Object.keys(timeline).at(-1)}'`),
      ),
  },
  'a later version has changed the tables': {
    ...{ check: 'migrations', found: /later version of Tessera \(9999-later\)/, remedy: /^Run that version/ },
    settings: () =>
      embedded((dataDir) =>
        onFile(dataDir, "INSERT INTO schema_migration VALUES ('9999-later', '999.0.0', '999.0.0', '2099-01-01')"),
      ),
  },
};

for (const [name, { settings, backup, check, level = 'problem', found, remedy }] of Object.entries(SITUATIONS)) {
  test(`${name}: found and explained`, async (t) => {
    const named = backup === undefined ? [] : ['--backup', await backup()];
    const { out, code } = await run(await settings(t), 'doctor', '--json', ...named);
    const { findings } = JSON.parse(out) as { findings: readonly Finding[] };
    const fits = findings.filter((one) => one.check === check && one.level === level && found.test(one.found));
    assert.ok(
      fits.some((one) => remedy.test(one.remedy ?? '')),
      JSON.stringify(findings, null, 1),
    );
    assert.equal(code, findings.some((one) => one.level === 'problem') ? 1 : undefined);
    assert.ok(!out.includes(secret) && !out.includes('another@'), 'nothing secret is repeated');
  });
}
