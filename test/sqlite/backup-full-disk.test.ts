// store: SQLite
/** `tessera backup` and `tessera restore` on a file system that really is full, at each of their steps. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { mounting } from '../../lab/faults/full-disk.ts';
import { randomSecret } from '../../src/platform/crypto/secrets.ts';
import { tessera } from '../operator/command.ts';

const COMMAND = fileURLToPath(new URL('../../bin/tessera.js', import.meta.url));
const PAGE = 4096;
const folder = mkdtempSync(join(tmpdir(), 'tessera-full-'));
after(() => rmSync(folder, { recursive: true, force: true }));
const [original, place, whole] = [join(folder, 'data'), join(folder, 'place'), join(folder, 'whole.backup')];
const env = { PATH: process.env['PATH'], TESSERA_SECRET: randomSecret() };
mkdirSync(place);
const skip = mounting(place, 'size=1m') === undefined && 'this system lets nobody mount a file system';

async function succeeds(...args: readonly string[]): Promise<void> {
  const { code, stderr } = await tessera([...args, '--data-dir', original], {
    env: { TESSERA_SECRET: env.TESSERA_SECRET },
  });
  assert.equal(code, 0, stderr);
}

before(async () => {
  if (skip) return;
  await succeeds('user', 'create', '--username', 'ada', '--display-name', 'Ada', '--email', 'ada@example.com');
  await succeeds('keys', 'rotate');
  await succeeds('backup', whole);
});

/** Runs a command with a file system of its own at the place; answers how it ended, what it said, and the files that are there then. */
function inside(limits: string, ...args: readonly string[]) {
  const mount = mounting(place, limits);
  assert.ok(mount !== undefined);
  const [program = '', ...rest] = mount;
  const script = '"$@" >&2; code=$?; ls -A "$0"; exit $code';
  const { status, stdout, stderr } = spawnSync(
    program,
    [...rest, 'sh', '-c', script, place, process.execPath, COMMAND, ...args],
    {
      env,
      encoding: 'utf8',
    },
  );
  return { status, stderr, files: stdout.split('\n').filter((name) => name !== '') };
}

test('a backup on a disk that becomes full leaves nothing', (t) => {
  if (skip) return t.skip(skip);
  // As a running server does, it has changes in the write-ahead log that the size of the file does not show.
  const connection = new DatabaseSync(join(original, 'tessera.db'));
  connection.exec('CREATE TABLE filler (content BLOB); INSERT INTO filler VALUES (randomblob(1000000))');
  const { size } = statSync(join(original, 'tessera.db'));
  const run = (pages: number, files = 1000) =>
    inside(`size=${size + pages * PAGE},nr_inodes=${files}`, 'backup', place, '--data-dir', original);
  // The room suffices when the command looks for it, and not for all that it writes. Then files cannot be created.
  const outcomes = [run(1), run(100), run(200), run(1000, 1), run(1000, 2), run(1000)];
  connection.close();
  assert.deepEqual(
    outcomes.map(({ status }) => status),
    [3, 3, 3, 3, 3, 0],
  );
  for (const { status, stderr, files } of outcomes) {
    if (status === 0) assert.match(files.join(), /^tessera-\d{8}T\d{9}Z\.backup$/);
    else {
      assert.deepEqual(files, [], stderr);
      assert.match(stderr, /There is no room in .* this needs \d+ MiB.*Make room.*Nothing was changed|has free space/);
    }
  }
});

test('a restore on a disk that becomes full leaves nothing', (t) => {
  if (skip) return t.skip(skip);
  // Without a free inode, no file can be created: each of these ends at another one.
  const outcomes = [2, 3, 4, 5, 6, 7, 8, 12].map((inodes) =>
    inside(`size=64m,nr_inodes=${inodes}`, 'restore', whole, '--data-dir', place),
  );
  for (const { status, stderr, files } of outcomes) {
    if (status === 0) assert.deepEqual(files, ['tessera.db', 'tessera.db-mark']);
    else {
      assert.deepEqual([status, files], [3, []], stderr);
      assert.match(stderr, /no room|free space/);
    }
  }
  assert.ok(outcomes.filter(({ status }) => status === 3).length >= 2, 'it was full at several steps');
  assert.equal(outcomes.at(-1)?.status, 0);
});
