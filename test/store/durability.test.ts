import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { listAccounts } from '../../src/accounts/store.ts';
import { openSqlite } from '../../src/database/sqlite/open.ts';

const folder = mkdtempSync(join(tmpdir(), 'tessera-durability-'));
after(() => rmSync(folder, { recursive: true, force: true }));

const CHILD = fileURLToPath(new URL('./committing.ts', import.meta.url));

/** Runs the committing process, and kills it without warning once it has acknowledged so many commits. */
async function acknowledged(command: readonly string[], killAfter: number): Promise<string[]> {
  const [file = '', ...args] = command;
  const child = spawn(file, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const lines: string[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    lines.push(line);
    if (lines.length === killAfter) child.kill('SIGKILL');
  }
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  return lines;
}

async function stored(path: string): Promise<Set<string>> {
  const database = await openSqlite(path);
  const rows = await database.read(() => listAccounts({ after: '0', limit: 1_000_000, text: undefined }));
  await database.close();
  return new Set(rows.map(({ id }) => id));
}

test('ST-05: every commit that was acknowledged survives kill -9, twenty times over', async () => {
  const path = join(folder, 'killed.db');
  const promised: string[] = [];
  for (let round = 0; round < 20; round++) {
    // The places of the kills differ from round to round, and are the same in every run.
    const command = [process.execPath, CHILD, path, String(round * 100_000 + 1)];
    const lines = await acknowledged(command, 1 + ((round * 7) % 23));
    assert.ok(lines.length > (round * 7) % 23, 'it was killed while it worked');
    promised.push(...lines);
    const found = await stored(path);
    assert.deepEqual(
      promised.filter((id) => !found.has(id)),
      [],
    );
  }
});

test('a file that cannot grow is an outage: nothing is acknowledged that is not there, and nothing acknowledged is lost', async () => {
  const path = join(folder, 'full.db');
  await (await openSqlite(path)).close();
  // A limit on the size of files binds root too; 600 units of 1 KiB leave room for some commits and not for all.
  const limited = ['/bin/sh', '-c', 'ulimit -f "$1"; shift; exec "$@"', 'sh', '1200', process.execPath, CHILD, path];
  const lines = await acknowledged(limited, Number.POSITIVE_INFINITY);
  assert.equal(lines.at(-1), 'unavailable');
  const promised = lines.slice(0, -1);
  assert.ok(promised.length > 0);
  const found = await stored(path);
  assert.deepEqual(promised, [...found], 'all of the acknowledged, and none of the refused');
});
