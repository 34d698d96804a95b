// store: SQLite
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
import { toCurrentSchema } from '../../src/migrations/timeline.ts';
import { openSqlite } from '../../src/platform/database/sqlite/open.ts';

const folder = mkdtempSync(join(tmpdir(), 'tessera-durability-'));
after(() => rmSync(folder, { recursive: true, force: true }));

const CHILD = fileURLToPath(new URL('./committing.ts', import.meta.url));

/** Runs the committing process to its end: what it acknowledged, and how it ended. */
async function acknowledged(command: readonly string[]): Promise<string[]> {
  const [file = '', ...args] = command;
  const child = spawn(file, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const lines: string[] = [];
  for await (const line of createInterface({ input: child.stdout })) lines.push(line);
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  return lines;
}

async function stored(path: string): Promise<Set<string>> {
  const database = await openSqlite(path, toCurrentSchema);
  const rows = await database.read(() => listAccounts({ after: '0', limit: 1_000_000 }));
  await database.close();
  return new Set(rows.map(({ id }) => id));
}

test('a file that cannot grow is an outage: nothing is acknowledged that is not there, and nothing acknowledged is lost', async () => {
  const path = join(folder, 'full.db');
  await (await openSqlite(path, toCurrentSchema)).close();
  // A limit on the size of files binds root too; 600 units of 1 KiB leave room for some commits and not for all.
  const limited = ['/bin/sh', '-c', 'ulimit -f "$1"; shift; exec "$@"', 'sh', '1200', process.execPath, CHILD, path];
  const lines = await acknowledged(limited);
  assert.equal(lines.at(-1), 'unavailable');
  const promised = lines.slice(0, -1);
  assert.ok(promised.length > 0);
  const found = await stored(path);
  assert.deepEqual(promised, [...found], 'all of the acknowledged, and none of the refused');
});
