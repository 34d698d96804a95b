// store: PostgreSQL with --all
/** Data that PostgreSQL restored would revive what was revoked since: no node uses it before an operator has said what to do about that. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { appendFileSync, cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { startPair } from '../../lab/faults/pair.ts';
import { randomSecret } from '../../src/platform/crypto/secrets.ts';
import { type RunningServer, serve } from '../operator/command.ts';
import { refusedStart } from '../operator/refused-start.ts';
import { runCommand } from '../sqlite/in-process.ts';
import { ask } from '../support/ask-postgres.ts';
import { admin } from '../support/flow.ts';
import { type PostgresServer, startPostgres } from '../support/postgres.ts';
import { ADMIN_KEY } from '../support/server.ts';

const folder = mkdtempSync(join(tmpdir(), 'tessera-earlier-'));
const environment = { ...process.env };
const secret = randomSecret();
let live: PostgresServer;

before(async () => {
  live = await startPostgres();
});
after(async () => {
  await live.stop();
  rmSync(folder, { recursive: true, force: true });
  // Other files of tests follow in this process.
  for (const name of Object.keys(SETTINGS)) delete process.env[name];
  Object.assign(process.env, environment);
});

const on = ({ url }: PostgresServer, database: string): string => url.replace('/postgres?', `/${database}?`);
const SETTINGS = { TESSERA_SECRET: secret, TESSERA_ADMIN_KEY: ADMIN_KEY, TESSERA_DATA_DIR: join(folder, 'data') };
const settings = (url: string) => ({ ...SETTINGS, TESSERA_DATABASE_URL: url });
const start = (url: string): Promise<RunningServer> => serve({ env: settings(url) });

// Commands run in this process, which is much faster.
for (const name of Object.keys(process.env)) if (name.startsWith('TESSERA_')) delete process.env[name];
Object.assign(process.env, SETTINGS);
async function run(url: string, ...args: readonly string[]) {
  const { exitCode } = process;
  const outcome = await runCommand(...args, '--database-url', url);
  // The doctor sets it where it finds a problem.
  process.exitCode = exitCode;
  return { ...outcome, said: outcome.error?.message ?? '' };
}

async function succeeds(url: string, ...args: readonly string[]): Promise<string> {
  const { out, error } = await run(url, ...args);
  assert.ifError(error);
  return out;
}

/** A node, a command and the doctor say the same. */
async function assertRefused(url: string, sign: RegExp): Promise<void> {
  const said = await refusedStart(settings(url), folder);
  assert.match(said, /The data was restored from a backup or copied: .*tessera restore --new-epoch.*--keep-sessions/s);
  assert.match(said, sign);
  assert.match((await run(url, 'user', 'list')).said, sign);
  assert.match(await succeeds(url, 'doctor'), /PROBLEM +database .*The data was restored from a backup/);
}

/** Whether the trail has the change that was made after the copy. */
const hasBan = async (url: string): Promise<boolean> =>
  (await succeeds(url, 'events', '--type', 'account.banned', '--json')).includes('account.banned');

/** Shuts a server down, and leaves its data. */
async function end({ process }: PostgresServer): Promise<void> {
  const exited = once(process, 'exit');
  process.kill('SIGINT');
  await exited;
}

/** Creates an account, takes a copy of the data, bans the account, and restores the copy up to the moment before the ban. */
async function recovered(t: { after(end: () => Promise<void>): void }, role?: string): Promise<PostgresServer> {
  const copy = mkdtempSync(join(folder, 'copy-'));
  let data = '';
  const original = await startPostgres({
    prepare(own) {
      data = own;
    },
  });
  await ask(original.url, 'CREATE DATABASE tessera');
  if (role !== undefined) {
    await ask(original.url, `CREATE ROLE ${role} LOGIN`);
    await ask(original.url, `ALTER DATABASE tessera OWNER TO ${role}`);
    await ask(on(original, 'tessera'), `ALTER SCHEMA public OWNER TO ${role}`);
  }
  const url = as(on(original, 'tessera'), role);
  await succeeds(url, 'user', 'create', '--username', 'ada', '--display-name', 'Ada', '--email', 'ada@example.com');
  // Without a server on it, so that the copy is whole; the write-ahead log leads from there to the moment before the ban.
  await end(original);
  cpSync(data, copy, { recursive: true });
  await original.restart();
  await ask(original.url, "SELECT pg_create_restore_point('before')");
  await succeeds(url, 'user', 'ban', 'ada');
  assert.equal(await hasBan(url), true);
  await end(original);
  rmSync(join(copy, 'pg_wal'), { recursive: true });
  cpSync(join(data, 'pg_wal'), join(copy, 'pg_wal'), { recursive: true });
  await original.stop();
  const restored = await startPostgres({
    from: copy,
    prepare(own) {
      appendFileSync(
        join(own, 'postgresql.auto.conf'),
        "\nrecovery_target_name = 'before'\nrecovery_target_action = 'promote'\nrestore_command = 'false'\n",
      );
      writeFileSync(join(own, 'recovery.signal'), '');
    },
  });
  t.after(() => restored.stop());
  while ((await ask<{ is: boolean }>(restored.url, 'SELECT pg_is_in_recovery() AS is'))[0]?.is);
  return restored;
}

function as(url: string, role: string | undefined): string {
  return role === undefined ? url : url.replace('postgres://tessera@', `postgres://${role}@`);
}

for (const role of [undefined, 'plain']) {
  test(`data that was recovered to an earlier time is refused, for ${role ?? 'a superuser'}`, async (t) => {
    const restored = await recovered(t, role);
    const url = as(on(restored, 'tessera'), role);
    await assertRefused(url, /was on timeline 1, and is on 2, with recovery_target_name = before/);
    if (role === undefined) {
      // The history of the timelines tells as well.
      await ask(restored.url, 'ALTER SYSTEM RESET recovery_target_name');
      await restored.kill();
      await restored.restart();
      await assertRefused(url, /is on 2, which began at restore point "before"/);
    }

    await succeeds(url, 'restore', '--new-epoch', '--yes');
    assert.equal(await hasBan(url), false);
    const node = await start(url);
    await node.stop();
    assert.doesNotMatch(await succeeds(url, 'doctor'), /another timeline/);
  });
}

test('a copy of the database is refused until an operator says that it lacks nothing, or ends what was issued', async () => {
  for (const words of [['--keep-sessions'], ['--new-epoch']]) {
    const [original, copy] = [`original_${words[0]?.length}`, `copy_${words[0]?.length}`];
    await ask(live.url, `CREATE DATABASE ${original}`);
    await succeeds(on(live, original), 'admin-key', 'create');
    await ask(live.url, `CREATE DATABASE ${copy} TEMPLATE ${original}`);
    await assertRefused(on(live, copy), /its tables are not those/);
    await succeeds(on(live, copy), 'restore', ...words, '--yes');
    const node = await start(on(live, copy));
    await node.stop();
    const events = JSON.parse(await succeeds(on(live, copy), 'events', '--type', 'data.restored', '--json'));
    assert.deepEqual(
      events.map(({ details }: { details: { ended: boolean } }) => details.ended),
      [words[0] === '--new-epoch'],
    );
    await succeeds(on(live, original), 'user', 'list');
  }
});

test('a standby that takes over is not taken for a restore, also after it was restarted', async (t) => {
  const pair = await startPair();
  t.after(() => pair.stop());
  await ask(pair.primary.url, 'CREATE DATABASE tessera');
  await succeeds(on(pair.primary, 'tessera'), 'admin-key', 'create');
  const url = on(pair.standby, 'tessera');
  const isThere = "SELECT 1 FROM audit_event WHERE type = 'admin_key.created'";
  while ((await ask(url, isThere).catch(() => [])).length === 0);
  await ask(pair.standby.url, 'SELECT pg_promote()');
  await succeeds(url, 'admin-key', 'create');
  const [known] = await ask<{ timeline: string }>(url, 'SELECT timeline FROM known_server');
  assert.equal(known?.timeline, '2', 'it followed until it was promoted');

  // As if nothing had been recorded at the time.
  await ask(url, 'UPDATE known_server SET timeline = 1');
  await pair.standby.kill();
  await pair.standby.restart();
  const node = await start(url);
  await node.stop();
  assert.match(await node.errors(), /Warning: The PostgreSQL server began another timeline/);
  assert.match(await succeeds(url, 'doctor'), /WARNING +database .*another timeline/);
  await succeeds(url, 'restore', '--keep-sessions', '--yes');
  assert.doesNotMatch(await succeeds(url, 'doctor'), /another timeline/);
});

test('a running node uses no data that was put in the place of its own until an epoch has begun', async () => {
  const url = on(live, 'running');
  await ask(live.url, 'CREATE DATABASE running');
  await succeeds(url, 'admin-key', 'create');
  await ask(live.url, 'CREATE DATABASE copy TEMPLATE running');
  const node = await start(url);
  const users = async () => (await admin(node, 'GET', '/users')).status;
  assert.equal(await users(), 200);
  await ask(live.url, 'ALTER DATABASE running ALLOW_CONNECTIONS false');
  await ask(live.url, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'running'");
  const others = "SELECT 1 FROM pg_stat_activity WHERE datname = 'running'";
  while ((await ask(live.url, others)).length > 0);
  await ask(live.url, 'ALTER DATABASE running RENAME TO gone');
  await ask(live.url, 'ALTER DATABASE copy RENAME TO running');
  for (let time = 0; time < 10; time++) assert.equal(await users(), 503);
  await succeeds(url, 'restore', '--new-epoch', '--yes');
  while ((await users()) !== 200);
  await node.stop();
});
