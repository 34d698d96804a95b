/**
 * Rehearses the restore of PostgreSQL as docs/how-to/back-up-and-restore.md says, with the programs of PostgreSQL: a base backup under
 * load, revocations and a ban, a restore to the moment before them, the new epoch. Then the same with a dump.
 *
 *   npm run rehearse-restore          the programs are in PG_BIN, or where Debian puts those of version 15
 */
import { execFileSync, spawnSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { Client } from 'pg';
import { randomSecret } from '../../src/platform/crypto/secrets.ts';
import { type Agent, agent } from '../../test/support/agent.ts';
import {
  admin,
  authorizeUrl,
  newClient,
  newUser,
  redeem,
  refresh,
  signedIn,
  type TestUser,
  type Tokens,
  userinfo,
  walk,
} from '../../test/support/flow.ts';
import type { TestServer } from '../../test/support/server.ts';
import { revoke } from '../../test/support/token-services.ts';
import { freePort, type Node, openService, startNode, TESSERA } from '../faults/service.ts';

const BIN = process.env['PG_BIN'] ?? '/usr/lib/postgresql/15/bin';
const SECRET = randomSecret();
const PATIENCE = 120_000;

for (const name of Object.keys(process.env)) if (name.startsWith('TESSERA_')) delete process.env[name];
const folder = mkdtempSync(join(tmpdir(), 'tessera-rehearsal-'));
chmodSync(folder, 0o755);
const data = join(folder, 'data');
const archive = join(folder, 'archive');
const base = join(folder, 'base');
const print = (text: string): void => void process.stdout.write(`${text}\n`);

// The server refuses to run as root.
const user = process.getuid?.() === 0 ? { uid: id('-u'), gid: id('-g') } : {};
function id(flag: string): number {
  return Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }));
}
const port = String(await freePort());
const environment = { PATH: process.env['PATH'] ?? '', PGHOST: '127.0.0.1', PGPORT: port, PGUSER: 'postgres' };
const program = (name: string, ...args: readonly string[]): string =>
  execFileSync(join(BIN, name), args, {
    ...user,
    cwd: folder,
    env: environment,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
const start = () => program('pg_ctl', '--pgdata', data, '--wait', '--silent', '--log', join(folder, 'log'), 'start');
const stop = () => program('pg_ctl', '--pgdata', data, '--wait', '--silent', '--mode', 'fast', 'stop');

async function ask(sql: string, database = 'postgres'): Promise<Record<string, unknown>> {
  const client = new Client({ host: '127.0.0.1', port: Number(port), user: 'postgres', database });
  await client.connect();
  try {
    return (await client.query(sql)).rows[0] ?? {};
  } finally {
    await client.end();
  }
}

async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  for (const began = performance.now(); !(await holds()); await wait(200)) {
    if (performance.now() - began > PATIENCE) throw new Error(`${what}: not within ${PATIENCE / 1000} s`);
  }
}

let failed = false;
function check(what: string, found: unknown, expected: unknown): void {
  const isRight = found === expected;
  failed ||= !isRight;
  print(`  ${isRight ? 'ok' : 'NOT OK'}  ${what}: ${String(found)}${isRight ? '' : `, expected ${String(expected)}`}`);
}

interface Person {
  readonly user: TestUser;
  readonly browser: Agent;
  readonly tokens: Tokens;
}

mkdirSync(archive);
if (user.uid !== undefined) for (const place of [folder, archive]) chownSync(place, user.uid, user.gid);
program('initdb', '--pgdata', data, '--auth', 'trust', '--username', 'postgres');
appendFileSync(
  join(data, 'postgresql.conf'),
  `port = ${port}\nlisten_addresses = '127.0.0.1'\nunix_socket_directories = ''\nwal_level = replica\narchive_mode = on\n` +
    `archive_command = 'test ! -f ${archive}/%f && cp %p ${archive}/%f'\n`,
);
start();
print(program('postgres', '--version').trim());
program('createdb', 'tessera');

const at = (database: string) => ({
  TESSERA_DATABASE_URL: `postgres://postgres@127.0.0.1:${port}/${database}`,
  TESSERA_SECRET: SECRET,
});
const service = await openService(at('tessera'));
const server = { baseUrl: service.baseUrl } as TestServer;
let node: Node | undefined;
async function serve(database: string): Promise<void> {
  node = await startNode({ settings: { ...service.settings, ...at(database) } });
  service.front.targets = [node.port];
}
async function end(): Promise<void> {
  service.front.targets = [];
  await node?.stop();
  node = undefined;
}
const tessera = (database: string, ...args: readonly string[]): string =>
  execFileSync(process.execPath, [...TESSERA, ...args], {
    env: { PATH: environment.PATH, ...at(database) },
    encoding: 'utf8',
  });

try {
  await serve('tessera');
  const client = await newClient(server);
  const arrive = async (): Promise<Person> => {
    const browser = agent(service.baseUrl);
    const user = await newUser(server);
    const target = await walk(browser, authorizeUrl(client), { user });
    return { user, browser, tokens: (await redeem(server, client, target.searchParams.get('code') ?? '')).body };
  };
  const people: Person[] = [];
  let working = true;
  const work = (async () => {
    while (working) people.push(await arrive());
  })();
  print('\nA base backup while people sign in');
  program('pg_basebackup', '--pgdata', base, '--checkpoint', 'fast', '--wal-method', 'none');
  await until('people after the base backup', async () => people.length >= 5);
  working = false;
  await work;
  const [revoked, banned, live] = [await arrive(), await arrive(), await arrive()];
  const moment = String((await ask('SELECT clock_timestamp()::text AS now'))['now']);
  program('pg_dump', '--format', 'custom', '--file', `${folder}/dump`, 'tessera');
  await wait(1000);

  print(`\nAfter ${moment}: one token is revoked, one person is banned`);
  check('revocation', (await revoke(server, client, revoked.tokens.refresh_token)).status, 200);
  check('ban', (await admin(server, 'PUT', `/users/${banned.user.id}/ban`, {})).status, 200);
  for (const { tokens } of [revoked, banned]) {
    check('UserInfo with its token', (await userinfo(server, tokens.access_token)).status !== 200, true);
  }
  const later = await newUser(server);
  const { file } = await ask('SELECT pg_walfile_name(pg_switch_wal()) AS file');
  await until('the archive', async () => {
    const { last } = await ask('SELECT last_archived_wal AS last FROM pg_stat_archiver');
    return String(last) >= String(file);
  });
  await end();
  stop();
  renameSync(data, `${data}-lost`);

  print('\nA restore to that moment');
  execFileSync('cp', ['-a', base, data]);
  appendFileSync(
    `${data}/postgresql.auto.conf`,
    `restore_command = 'cp ${archive}/%f %p'\nrecovery_target_time = '${moment}'\nrecovery_target_action = 'promote'\n`,
  );
  writeFileSync(`${data}/recovery.signal`, '');
  start();
  await until('the end of the recovery', async () => (await ask('SELECT pg_is_in_recovery() AS is'))['is'] === false);
  const { timeline } = await ask('SELECT substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) AS timeline');
  print(`  timeline ${String(timeline)}`);

  for (const database of ['tessera', 'dumped']) {
    if (database === 'dumped') {
      print('\nA restore of the dump into an empty database');
      program('createdb', database);
      program('pg_restore', '--exit-on-error', '--no-owner', '--dbname', database, `${folder}/dump`);
    }
    print('\nA node without a new epoch');
    const { status, stderr } = spawnSync(process.execPath, [...TESSERA, 'serve'], {
      env: { PATH: environment.PATH, TESSERA_PORT: '0', ...at(database) },
      encoding: 'utf8',
    });
    check('exit status', status, 3);
    print(`  ${/The data was restored.*?(?= What was)/.exec(stderr)?.[0] ?? stderr}`);
    print('\ntessera restore --new-epoch --yes');
    const done = JSON.parse(tessera(database, 'restore', '--new-epoch', '--yes', '--json')) as { ended: boolean };
    check('ended', done.ended, true);
    await serve(database);
    const all = [...people, revoked, banned, live];
    const accepted = await Promise.all(
      all.map(async ({ tokens }) => (await userinfo(server, tokens.access_token)).status),
    );
    check(`of ${all.length} access tokens of before, accepted`, accepted.filter((status) => status !== 401).length, 0);
    let refreshed = 0;
    for (const { tokens } of all) if ((await refresh(server, client, tokens.refresh_token)).status === 200) refreshed++;
    check(`of ${all.length} refresh tokens of before, accepted`, refreshed, 0);
    let signed = 0;
    for (const { browser } of all) if ((await browser.get('/account')).status === 200) signed++;
    check(`of ${all.length} sessions of before, accepted`, signed, 0);
    const again = await signedIn(server, live.user);
    const answer = await again.get(authorizeUrl(client));
    check('a person who signs in again is asked for consent', answer.location?.pathname === '/consent', false);
    check('and gets a code at once', answer.location?.searchParams.has('code'), true);
    check('the account that was created later', (await admin(server, 'GET', `/users/${later.id}`)).status, 404);
    const { body } = await admin(server, 'GET', '/audit-events?type=data.restored');
    check('events data.restored', body.items.length, 1);
    await end();
  }
} finally {
  await end();
  await service.close();
  try {
    stop();
  } catch {
    // Not running.
  }
  rmSync(folder, { recursive: true, force: true });
}
print(failed ? '\nNOT everything is as expected.' : '\nEverything is as expected.');
process.exitCode = failed ? 1 : 0;
