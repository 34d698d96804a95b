// store: SQLite
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs, {
  chownSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { type Node, openService, type Service, startNode } from '../../lab/faults/service.ts';
import { migrateDatabase } from '../../src/core.ts';
import { timeline } from '../../src/migrations/timeline.ts';
import { readConfig } from '../../src/settings/config.ts';
import { tessera } from '../operator/command.ts';
import { agent } from '../support/agent.ts';
import { authorizeUrl, newClient, newUser, redeem, refresh, signedIn, userinfo, walk } from '../support/flow.ts';
import type { TestServer } from '../support/server.ts';
import { revoke } from '../support/token-services.ts';
import { type CommandOutcome, runCommand } from './in-process.ts';

const folder = mkdtempSync(join(tmpdir(), 'tessera-backup-'));
after(() => rmSync(folder, { recursive: true, force: true }));
// The commands read the settings of this process; the developer’s own must not reach them.
for (const name of Object.keys(process.env)) if (name.startsWith('TESSERA_')) delete process.env[name];

let counter = 0;
const fresh = (): string => join(folder, `case${++counter}`);
const passphrase = join(folder, 'passphrase');
writeFileSync(passphrase, 'four words that nobody knows\n');

const on = (dataDir: string, ...args: readonly string[]): Promise<CommandOutcome> =>
  runCommand(...args, '--data-dir', dataDir);
// biome-ignore lint/suspicious/noExplicitAny: tests read answers as they come
async function json(dataDir: string, ...args: readonly string[]): Promise<any> {
  const { out, error } = await on(dataDir, ...args, '--json');
  if (error !== undefined) throw error;
  return JSON.parse(out);
}
async function fails(words: RegExp, dataDir: string, ...args: readonly string[]): Promise<void> {
  const { error, out } = await on(dataDir, ...args);
  assert.match(error?.message ?? `it succeeded: ${out}`, words);
}
const create = (dataDir: string, name: string) =>
  json(dataDir, 'user', 'create', '--username', name, '--display-name', name, '--email', `${name}@example.com`);
const names = async (dataDir: string): Promise<string[]> =>
  (await json(dataDir, 'user', 'list')).map(({ username }: { username: string }) => username).sort();
/** The files of a data folder and their contents. */
const files = (dataDir: string): ReadonlyMap<string, Buffer> =>
  new Map(
    readdirSync(dataDir)
      .filter((name) => statSync(join(dataDir, name)).isFile())
      .sort()
      .map((name) => [name, readFileSync(join(dataDir, name))]),
  );

/** An installation with one account, and backups of it: with the secret, and without. */
const original = fresh();
const [sealed, apart] = [join(folder, 'sealed.backup'), join(folder, 'apart.backup')];
before(async () => {
  await create(original, 'ada');
  await json(original, 'keys', 'rotate');
  await json(original, 'backup', sealed, '--passphrase-file', passphrase);
  await json(original, 'backup', apart);
});

/** A folder with the secret of the installation and no database. */
function withSecret(): string {
  const dataDir = fresh();
  mkdirSync(dataDir);
  copyFileSync(join(original, 'secret'), join(dataDir, 'secret'));
  return dataDir;
}

test('a backup that is made while the server works: what was issued before is dead after the restore, and consents remain', async () => {
  const dataDir = fresh();
  const service: Service = await openService({ TESSERA_DATA_DIR: dataDir });
  const server = { baseUrl: service.baseUrl } as TestServer;
  const nodeOn = async (place: string): Promise<Node> => {
    const node = await startNode({ settings: { ...service.settings, TESSERA_DATA_DIR: place } });
    service.front.targets = [node.port];
    return node;
  };
  let node = await nodeOn(dataDir);
  try {
    const client = await newClient(server);
    const user = await newUser(server);
    const browser = agent(service.baseUrl);
    const issue = async () => {
      const target = await walk(browser, authorizeUrl(client), { user });
      return (await redeem(server, client, target.searchParams.get('code') ?? '')).body;
    };
    const [live, dead] = [await issue(), await issue()];
    const before = await newUser(server);
    let working = true;
    const work = (async () => {
      while (working) await newClient(server);
    })();
    const backups = fresh();
    mkdirSync(backups);
    const made = await json(dataDir, 'backup', backups, '--passphrase-file', passphrase);
    working = false;
    await work;
    assert.deepEqual(readdirSync(backups), [made.file.slice(backups.length + 1)]);
    assert.match(made.file, /tessera-\d{8}T\d{9}Z\.backup$/);
    assert.equal(statSync(made.file).mode & 0o777, 0o600);
    const later = await newUser(server);
    assert.equal((await revoke(server, client, dead.refresh_token)).status, 200);
    await fails(/is in use.*Stop it/, dataDir, 'restore', made.file, '--replace', '--yes');
    assert.equal((await userinfo(server, live.access_token)).status, 200, 'the server goes on');
    await node.stop();

    const restored = fresh();
    const done = await on(restored, 'restore', made.file, '--passphrase-file', passphrase);
    assert.equal(done.error, undefined);
    assert.match(done.out, /People sign in again\. Consents that existed at that time remain\./);
    assert.equal(statSync(join(restored, 'tessera.db')).mode & 0o777, 0o600);
    assert.equal(statSync(join(restored, 'secret')).mode & 0o777, 0o600);
    const usernames = await names(restored);
    assert.ok(usernames.includes(before.username));
    assert.ok(!usernames.includes(later.username));
    assert.equal(usernames.length, made.accounts);
    const [event] = await json(restored, 'events', '--type', 'data.restored');
    assert.deepEqual([event.details.backupAt, event.details.ended], [made.createdAt, true]);
    node = await nodeOn(restored);
    for (const { access_token, refresh_token } of [live, dead]) {
      assert.equal((await userinfo(server, access_token)).status, 401);
      assert.equal((await refresh(server, client, refresh_token)).body.error, 'invalid_grant');
    }
    assert.equal((await browser.get('/account')).location?.pathname, '/login');
    const again = await signedIn(server, user);
    const answer = await again.get(authorizeUrl(client));
    assert.equal(answer.location?.origin, new URL(client.redirectUri).origin, 'no consent is asked for');
    await node.stop();

    const kept = fresh();
    const warned = await on(kept, 'restore', made.file, '--passphrase-file', passphrase, '--keep-sessions');
    assert.match(
      warned.out,
      /WARNING: what was issued before is still valid.*before the server is started: tessera restore --new-epoch/s,
    );
    node = await nodeOn(kept);
    assert.equal((await userinfo(server, live.access_token)).status, 200);
    assert.equal((await userinfo(server, dead.access_token)).status, 200, 'as the warning says');
    await fails(/Another process uses this database.*Stop every node/, kept, 'restore', '--new-epoch', '--yes');
    assert.equal((await userinfo(server, live.access_token)).status, 200);
    await node.stop();
    await json(kept, 'restore', '--new-epoch', '--yes');
    node = await nodeOn(kept);
    for (const { access_token } of [live, dead]) assert.equal((await userinfo(server, access_token)).status, 401);
  } finally {
    service.front.targets = [];
    await node.stop();
    await service.close();
  }
});

test('a restore over data moves that aside, and the numbers of lost events are not given again', async () => {
  const dataDir = withSecret();
  await json(dataDir, 'restore', apart);
  await create(dataDir, 'grace');
  const all = await json(dataDir, 'events');
  const found = files(dataDir);
  await fails(/has data already.*--replace/, dataDir, 'restore', apart);
  assert.deepEqual(files(dataDir), found);
  const done = await json(dataDir, 'restore', apart, '--replace', '--yes');
  assert.deepEqual(await names(dataDir), ['ada']);
  const [event] = await json(dataDir, 'events', '--type', 'data.restored');
  assert.ok(Number(event.id) > Math.max(...all.map(({ id }: { id: string }) => Number(id))));
  assert.equal(done.missing, event.details.missing);
  assert.ok(done.missing > 0);
  // What was moved aside is an installation of its own.
  copyFileSync(join(dataDir, 'secret'), join(done.replaced, 'secret'));
  assert.deepEqual(await names(done.replaced), ['ada', 'grace']);
});

test('what was used or revoked since the backup cannot be used again: open invitations and unfinished sign-ups end', async () => {
  const dataDir = fresh();
  await create(dataDir, 'ada');
  const { id } = await json(dataDir, 'invite', 'create');
  const open = (place: string) => new DatabaseSync(join(place, 'tessera.db'));
  const begun = open(dataDir);
  begun.exec(
    `INSERT INTO challenge (hash, purpose, address, browser_hash, created_at, expires_at)
     VALUES ('a', 'sign up', 'a@example.com', 'b', 1, 9e15)`,
  );
  begun.close();
  const { file } = await json(dataDir, 'backup', join(folder, 'invited'), '--passphrase-file', passphrase);
  await json(dataDir, 'invite', 'revoke', id);
  await json(dataDir, 'restore', file, '--replace', '--yes');
  assert.deepEqual(await json(dataDir, 'invite', 'list'), []);
  const restored = open(dataDir);
  assert.deepEqual(restored.prepare('SELECT hash FROM challenge').all(), []);
  restored.close();
});

test('a damaged database is replaced, and kept as it is', async () => {
  const dataDir = withSecret();
  writeFileSync(join(dataDir, 'tessera.db'), Buffer.alloc(8192, 'x'));
  const { replaced } = await json(dataDir, 'restore', apart, '--replace', '--yes');
  assert.deepEqual(await names(dataDir), ['ada']);
  assert.deepEqual(readFileSync(join(replaced, 'tessera.db')), Buffer.alloc(8192, 'x'));
});

/** A copy of a backup, changed. */
function changed(change: (path: string) => void): string {
  const path = join(folder, `changed${++counter}.backup`);
  copyFileSync(apart, path);
  change(path);
  return path;
}
function flip(path: string, at: number): void {
  const bytes = readFileSync(path);
  const offset = at < 0 ? bytes.length + at : at;
  bytes[offset] = (bytes[offset] ?? 0) ^ 1;
  writeFileSync(path, bytes);
}

const BAD: readonly (readonly [string, () => string, RegExp])[] = [
  ['a half-copied file', () => changed((path) => truncateSync(path, 100_000)), /is not a whole backup.*Copy it again/],
  [
    'a file without its last byte',
    () => changed((path) => truncateSync(path, statSync(path).size - 1)),
    /is not a whole/,
  ],
  ['an empty file', () => changed((path) => truncateSync(path)), /is not a whole backup/],
  ['a file that does not exist', () => join(folder, 'nothing'), /cannot be read/],
  ['changed data', () => changed((path) => flip(path, 50_000)), /its data was changed/],
  ['a changed manifest', () => changed((path) => flip(path, -300)), /its manifest was changed/],
  ['a changed footer', () => changed((path) => flip(path, -10)), /does not belong to the secret|is not a whole backup/],
  [
    'a hole in the middle',
    () => changed((path) => writeFileSync(path, Buffer.concat([readFileSync(path).subarray(4096)]))),
    /it should contain \d+ bytes of data/,
  ],
];
for (const [name, make, words] of BAD) {
  test(`a restore refuses ${name}, and changes nothing`, async () => {
    const dataDir = withSecret();
    const backup = make();
    await fails(words, dataDir, 'restore', backup);
    await fails(words, dataDir, 'restore', backup, '--dry-run');
    assert.deepEqual(readdirSync(dataDir), ['secret']);
  });
}

test('a backup of another secret is refused, and a sealed one opens with its passphrase only', async () => {
  const other = fresh();
  await create(other, 'eve');
  const found = files(other);
  await fails(
    /does not belong to the secret.*Put the secret of the installation/,
    other,
    'restore',
    apart,
    '--replace',
  );
  await fails(/or take it from the backup: --passphrase-file/, other, 'restore', sealed, '--replace');
  await fails(
    /does not belong to the secret.*add --replace/,
    other,
    'restore',
    sealed,
    '--passphrase-file',
    passphrase,
  );
  const wrong = join(folder, 'wrong');
  writeFileSync(wrong, 'another passphrase\n');
  await fails(/is not that of/, other, 'restore', sealed, '--replace', '--passphrase-file', wrong);
  writeFileSync(wrong, 'short\n');
  await fails(/needs at least 12/, other, 'restore', sealed, '--replace', '--passphrase-file', wrong);
  await fails(/cannot be read/, other, 'restore', sealed, '--passphrase-file', join(folder, 'nothing'));
  await fails(/does not contain a secret/, other, 'restore', apart, '--passphrase-file', passphrase);
  assert.deepEqual(files(other), found);
  await fails(/does not belong to the secret/, fresh(), 'restore', apart);

  await json(other, 'restore', sealed, '--replace', '--passphrase-file', passphrase, '--yes');
  assert.deepEqual(await names(other), ['ada']);
  assert.deepEqual(readFileSync(join(other, 'secret')), readFileSync(join(original, 'secret')));
  const [kept] = readdirSync(other).filter((name) => name.startsWith('secret-replaced-'));
  assert.deepEqual(readFileSync(join(other, kept ?? '')), found.get('secret'));
});

test('a backup of an older schema is migrated, and one of a newer schema is refused', async () => {
  const older = fresh();
  const first = Object.fromEntries(Object.entries(timeline).slice(0, -1));
  await migrateDatabase(readConfig({ TESSERA_DATA_DIR: older }), { steps: first });
  copyFileSync(join(original, 'secret'), join(older, 'secret'));
  const database = new DatabaseSync(join(older, 'tessera.db'));
  database.exec("INSERT INTO rate_count (bucket, count, window_ends_at) VALUES ('of before', 7, 8)");
  database.close();
  const backup = join(folder, 'older.backup');
  await json(older, 'backup', backup);
  const place = withSecret();
  await json(place, 'restore', backup);
  assert.deepEqual(await names(place), []);
  assert.deepEqual(await json(place, 'migrate', '--dry-run'), { pending: [] });
  const restored = new DatabaseSync(join(place, 'tessera.db'));
  assert.equal(restored.prepare("SELECT count FROM rate_count WHERE bucket = 'of before'").get()?.['count'], 7);
  restored.exec("INSERT INTO schema_migration VALUES ('9999-later', '999.0.0', '999.0.0', 'x')");
  restored.close();
  const newer = join(folder, 'newer.backup');
  await json(place, 'backup', newer);
  await fails(/changed by a later version of Tessera \(9999-later\)/, withSecret(), 'restore', newer);
});

test('a restore writes and moves nothing by a name that the server’s user put there', async () => {
  const dataDir = fresh();
  mkdirSync(dataDir);
  const victim = join(folder, 'victim');
  writeFileSync(victim, 'of another program', { mode: 0o644 });
  const { uid, gid, mode } = statSync(victim);
  for (const name of ['secret-restoring', 'tessera.db-restore-draft']) symlinkSync(victim, join(dataDir, name));
  await json(dataDir, 'restore', sealed, '--passphrase-file', passphrase);
  const found = statSync(victim);
  assert.deepEqual([found.uid, found.gid, found.mode], [uid, gid, mode]);
  assert.equal(readFileSync(victim, 'utf8'), 'of another program');
  assert.deepEqual(await names(dataDir), ['ada']);
});

test('a list of an unfinished restore that cannot be read says who can finish it', async () => {
  const dataDir = withSecret();
  await json(dataDir, 'restore', apart);
  mkdirSync(join(dataDir, 'tessera.db-restore'));
  await fails(/A restore has not finished.*run as the user who began it: tessera restore/s, dataDir, 'user', 'list');
});

test('root finishes no restore that another user began', {
  skip: process.geteuid?.() !== 0 && 'not root',
}, async () => {
  const dataDir = withSecret();
  const [victim, list] = [join(folder, 'of-root'), join(dataDir, 'tessera.db-restore')];
  writeFileSync(victim, 'x');
  const moves = { backup: apart, id: 'x', aside: [], install: [{ from: '../of-root', to: 'mine' }] };
  writeFileSync(list, JSON.stringify(moves));
  chownSync(list, 12345, 12345);
  await fails(/number 12345 began the restore.*run as that user/s, dataDir, 'restore', apart);
  assert.ok(existsSync(victim));
});

test('a backup never replaces a file, and needs data and a place', async () => {
  await fails(/exists already/, original, 'backup', apart);
  await fails(/There is no folder/, original, 'backup', join(folder, 'nowhere', 'a.backup'));
  await fails(/There is no Tessera database/, fresh(), 'backup', join(folder, 'a.backup'));
  const without = withSecret();
  copyFileSync(join(original, 'tessera.db'), join(without, 'tessera.db'));
  const other = fresh();
  await create(other, 'eve');
  copyFileSync(join(other, 'secret'), join(without, 'secret'));
  await fails(/secret/, without, 'backup', join(folder, 'a.backup'));
  const { error } = await runCommand('backup', join(folder, 'a'), '--database-url', 'postgres://u:p@localhost/t');
  assert.match(error?.message ?? '', /pg_basebackup/);
  assert.ok(!existsSync(join(folder, 'a.backup')));
  await fails(/No restore was interrupted/, original, 'restore');
  await fails(/restores nothing: leave out the backup/, original, 'restore', apart, '--new-epoch');
});

test('what a killed backup left is removed by the next one, and nothing else', async () => {
  const place = fresh();
  mkdirSync(place);
  const gone = spawnSync(process.execPath, ['--version']).pid;
  const others = [`tessera-20300101T000000000Z.backup.partial-${process.ppid}`, `mine.backup.partial-${gone}`];
  for (const name of [`tessera-20300101T000000000Z.backup.partial-${gone}`, ...others])
    writeFileSync(join(place, name), '');
  const { file } = await json(original, 'backup', place);
  assert.deepEqual(readdirSync(place).sort(), [...others, file.slice(place.length + 1)].sort());
});

test('a backup never replaces a file, also one that gets its name while it is made', async (t) => {
  const file = join(fresh(), 'mine.backup');
  mkdirSync(join(file, '..'));
  const link = fs.linkSync;
  t.mock.method(fs, 'linkSync', (from: string, to: string) => {
    writeFileSync(to, 'of somebody else');
    link(from, to);
  });
  syncBuiltinESMExports();
  await fails(/mine\.backup exists already, and a backup never replaces one/, original, 'backup', file);
  t.mock.restoreAll();
  syncBuiltinESMExports();
  assert.deepEqual([readFileSync(file, 'utf8'), readdirSync(join(file, '..'))], ['of somebody else', ['mine.backup']]);
});

const LIMIT = ['prlimit', '--fsize=65536'];
const limited = spawnSync(LIMIT[0] ?? '', [LIMIT[1] ?? '', process.execPath, '--version']).status === 0;

test('a full disk leaves nothing behind, and says what to do', { skip: !limited && 'no prlimit' }, () => {
  const command = fileURLToPath(new URL('../../bin/tessera.js', import.meta.url));
  const run = (dataDir: string, ...args: readonly string[]) =>
    spawnSync(LIMIT[0] ?? '', [LIMIT[1] ?? '', process.execPath, command, ...args, '--data-dir', dataDir], {
      env: { PATH: process.env['PATH'] },
      encoding: 'utf8',
    });
  const place = fresh();
  mkdirSync(place);
  const backup = run(original, 'backup', place);
  assert.deepEqual([backup.status, readdirSync(place)], [3, []], backup.stderr);
  assert.match(backup.stderr, /There is no room in .* this needs \d+ MiB.*Make room/);
  const dataDir = withSecret();
  const restore = run(dataDir, 'restore', apart);
  assert.deepEqual([restore.status, readdirSync(dataDir)], [3, ['secret']], restore.stderr);
  assert.match(restore.stderr, /There is no room in .* this needs \d+ MiB.*Make room/);
});

test('as programs: exit codes, JSON on one stream and errors on the other', async () => {
  const whole = await tessera(['restore', apart, '--dry-run', '--json', '--data-dir', original]);
  assert.deepEqual([whole.code, JSON.parse(whole.stdout)], [0, { restored: false, whole: true }], whole.stderr);
  const half = changed((path) => truncateSync(path, 1000));
  const refused = await tessera(['restore', half, '--json', '--data-dir', original]);
  assert.deepEqual([refused.code, refused.stdout], [3, '']);
  assert.match(JSON.parse(refused.stderr).error_description, /is not a whole backup/);
});
