// store: SQLite
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { copyFileSync, cpSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { runCommand } from './in-process.ts';

// `kill -9` between any two changes to the names of files: see kill-at.js. Kills at random moments: `npm run rehearse-kills`.

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'tessera-backup-kill-')));
after(() => rmSync(folder, { recursive: true, force: true }));
// The commands read the settings of this process; the developer’s own must not reach them.
for (const name of Object.keys(process.env)) if (name.startsWith('TESSERA_')) delete process.env[name];

const COMMAND = fileURLToPath(new URL('../../bin/tessera.js', import.meta.url));
const KILLER = new URL('./kill-at.js', import.meta.url).href;

/** Runs a command that is killed before its nth change; with 0, it returns its changes. */
function killedAt(change: number, place: string, ...args: readonly string[]): string[] {
  const { signal, stderr, status } = spawnSync(process.execPath, ['--import', KILLER, COMMAND, ...args], {
    env: { PATH: process.env['PATH'], KILL_AT: String(change), KILL_IN: place },
    encoding: 'utf8',
  });
  if (change === 0) assert.equal(status, 0, stderr);
  else assert.equal(signal, 'SIGKILL', stderr);
  return [...stderr.matchAll(/^change (.*)$/gm)].map(([, what = '']) => what);
}

const on = (dataDir: string, ...args: readonly string[]) => runCommand(...args, '--data-dir', dataDir);
// biome-ignore lint/suspicious/noExplicitAny: tests read answers as they come
async function json(dataDir: string, ...args: readonly string[]): Promise<any> {
  const { out, error } = await on(dataDir, ...args, '--json');
  if (error !== undefined) throw error;
  return JSON.parse(out);
}
const create = (dataDir: string, name: string) =>
  json(dataDir, 'user', 'create', '--username', name, '--display-name', name, '--email', `${name}@example.com`);
const names = async (dataDir: string): Promise<string[]> =>
  (await json(dataDir, 'user', 'list')).map(({ username }: { username: string }) => username).sort();

/** What the backup has: ada. What the data has that it replaces: ada and grace. */
const original = join(folder, 'original');
const backup = join(folder, 'a.backup');
before(async () => {
  await create(original, 'ada');
  await json(original, 'keys', 'rotate');
  await json(original, 'backup', backup);
  await create(original, 'grace');
});
let counter = 0;
function target(): string {
  const dataDir = join(folder, `target${++counter}`);
  cpSync(original, dataDir, { recursive: true });
  return dataDir;
}
const restore = (dataDir: string) => ['restore', backup, '--replace', '--yes', '--data-dir', dataDir];

test('a restore that is killed at any of its steps leaves the data as it was, or what every command refuses until it is run again', async () => {
  const whole = target();
  const changes = killedAt(0, whole, ...restore(whole));
  assert.deepEqual(await names(whole), ['ada']);
  const begins = changes.findIndex((change) => change.startsWith('renameSync')) + 1;
  const last = changes.lastIndexOf(`rmSync ${whole}/tessera.db-restore`) + 1;
  // One while the database is prepared, and every one from the first file that is moved to the last.
  const steps = [begins - 1, ...Array.from({ length: last - begins + 1 }, (_, step) => begins + step)];
  assert.ok(steps.length >= 8, changes.join('\n'));
  const found = { before: 0, between: 0 };
  for (const step of steps) {
    const dataDir = target();
    killedAt(step, dataDir, ...restore(dataDir));
    const { error } = await on(dataDir, 'user', 'list');
    if (error === undefined) {
      found.before++;
      assert.deepEqual(await names(dataDir), ['ada', 'grace'], changes.at(step - 1) ?? '');
      await json(dataDir, ...restore(dataDir).slice(0, 4));
    } else {
      found.between++;
      for (const command of [
        ['user', 'list'],
        ['migrate'],
        ['recover', '--accept-loss', '--yes'],
        ['backup', `${dataDir}.backup`],
      ]) {
        const refused = await on(dataDir, ...command);
        assert.match(
          refused.error?.message ?? '',
          /has not finished.*run again: tessera restore/,
          changes.at(step - 1) ?? '',
        );
      }
      const { out } = await on(dataDir, 'restore');
      assert.match(out, /The restored database is in place/);
    }
    assert.deepEqual(await names(dataDir), ['ada'], changes.at(step - 1) ?? '');
    assert.equal((await json(dataDir, 'events', '--type', 'data.restored')).length, 1);
    const [aside = '', ...rest] = readdirSync(dataDir).filter(
      (name) => !['secret', 'tessera.db', 'tessera.db-mark'].includes(name),
    );
    assert.match(aside, /^replaced-/);
    assert.deepEqual(rest, []);
    copyFileSync(join(dataDir, 'secret'), join(dataDir, aside, 'secret'));
    assert.deepEqual(await names(join(dataDir, aside)), ['ada', 'grace']);
  }
  assert.ok(found.before >= 2 && found.between >= 4, JSON.stringify(found));
});

test('an interrupted restore is finished before another backup is restored', async () => {
  const dataDir = target();
  const changes = killedAt(0, dataDir, ...restore(dataDir));
  const other = join(folder, 'other.backup');
  await json(original, 'backup', other);
  const half = target();
  killedAt(changes.findLastIndex((change) => change.startsWith('renameSync')) + 1, half, ...restore(half));
  const { error } = await on(half, 'restore', other);
  assert.match(error?.message ?? '', /The interrupted restore of .*a\.backup is finished now.*--replace/);
  assert.deepEqual(await names(half), ['ada']);
  await json(half, 'restore', other, '--replace', '--yes');
  assert.deepEqual(await names(half), ['ada', 'grace']);
});

test('a backup that is killed before it has its name leaves none', async () => {
  const place = join(folder, 'backups');
  mkdirSync(place);
  const changes = killedAt(0, place, 'backup', place, '--data-dir', original);
  const [first] = readdirSync(place);
  killedAt(
    changes.findIndex((change) => change.startsWith('linkSync')) + 1,
    place,
    'backup',
    place,
    '--data-dir',
    original,
  );
  const [kept, partial = '', ...rest] = readdirSync(place).sort();
  assert.deepEqual([kept, rest], [first, []]);
  assert.match(partial, /\.partial-\d+$/);
  const { error } = await on(original, 'restore', join(place, partial), '--dry-run');
  assert.equal(error, undefined, 'it was whole already, and only its name was missing');
  await json(original, 'backup', place);
  assert.equal(readdirSync(place).filter((name) => name.includes('partial')).length, 0);
});
