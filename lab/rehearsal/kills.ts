/**
 * Kills `tessera backup` and `tessera restore` with SIGKILL at random moments, and counts what is lost and what is half.
 *
 *   npm run rehearse-kills -- [kills of each command, 50 by default]
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, watch } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as wait } from 'node:timers/promises';
import { openCore } from '../../src/core.ts';
import { readConfig } from '../../src/settings/config.ts';
import { runCommand } from '../../test/sqlite/in-process.ts';
import { account } from '../../test/store/rows.ts';
import { newClient } from '../../test/support/flow.ts';
import type { TestServer } from '../../test/support/server.ts';
import { openService, startNode, TESSERA } from '../faults/service.ts';

const KILLS = Number(process.argv[2] ?? 50);
const ACCOUNTS = 20_000;

for (const name of Object.keys(process.env)) if (name.startsWith('TESSERA_')) delete process.env[name];
const folder = mkdtempSync(join(tmpdir(), 'tessera-kills-'));
const print = (text: string): void => void process.stdout.write(`${text}\n`);

// biome-ignore lint/suspicious/noExplicitAny: answers are read as they come
async function json(dataDir: string, ...args: readonly string[]): Promise<any> {
  const { out, error } = await runCommand(...args, '--json', '--data-dir', dataDir);
  if (error !== undefined) throw error;
  return JSON.parse(out);
}

/** When to kill: after some milliseconds, or after some from when a file appears in a folder. */
interface Moment {
  readonly after: number;
  readonly file?: { readonly folder: string; readonly name: string };
}

/** Runs a command and kills it; returns whether it was killed, and how long it ran. */
async function killed({ after, file }: Moment, args: readonly string[]): Promise<{ killed: boolean; took: number }> {
  const began = performance.now();
  const child = spawn(process.execPath, [...TESSERA, ...args], { env: { PATH: process.env['PATH'] }, stdio: 'ignore' });
  const closed = once(child, 'close');
  let timer: NodeJS.Timeout | undefined;
  const begin = (): void => {
    timer ??= setTimeout(() => child.kill('SIGKILL'), after);
  };
  const watcher = file && watch(file.folder, (_event, name) => void (name === file.name && begin()));
  if (file === undefined) begin();
  const [, signal] = await closed;
  watcher?.close();
  clearTimeout(timer);
  return { killed: signal === 'SIGKILL', took: performance.now() - began };
}

const rows = (dataDir: string, table: string): number => {
  const database = new DatabaseSync(join(dataDir, 'tessera.db'));
  try {
    assert.equal(database.prepare('PRAGMA integrity_check').get()?.['integrity_check'], 'ok');
    return Number(database.prepare(`SELECT count(*) AS rows FROM ${table}`).get()?.['rows']);
  } finally {
    database.close();
  }
};

/** An installation with many accounts. */
async function makeInstallation(): Promise<string> {
  const dataDir = join(folder, 'data');
  const core = await openCore(readConfig({ TESSERA_DATA_DIR: dataDir }), Date.now);
  for (let first = 1; first <= ACCOUNTS; first += 1000) {
    await core.database.commit(function* batch() {
      for (let id = first; id < first + 1000; id++) yield* account(String(id));
    });
  }
  await core.close();
  await json(dataDir, 'keys', 'rotate');
  return dataDir;
}

async function killBackups(dataDir: string): Promise<string> {
  const service = await openService({ TESSERA_DATA_DIR: dataDir });
  const node = await startNode({ settings: service.settings });
  service.front.targets = [node.port];
  const server = { baseUrl: service.baseUrl } as TestServer;
  const acknowledged: string[] = [];
  let working = true;
  const work = (async () => {
    while (working) acknowledged.push((await newClient(server)).clientId);
  })();
  const place = join(folder, 'backups');
  mkdirSync(place);
  const { took } = await killed({ after: 600_000 }, ['backup', place, '--data-dir', dataDir]);
  const found = { killed: 0, finished: 0, named: 0, half: 0 };
  for (let turn = 0; turn < KILLS; ) {
    const run = await killed({ after: Math.random() * took }, ['backup', place, '--data-dir', dataDir]);
    found[run.killed ? 'killed' : 'finished']++;
    if (run.killed) turn++;
    for (const name of readdirSync(place).filter((name) => name.endsWith('.backup'))) {
      const { error } = await runCommand('restore', join(place, name), '--dry-run', '--data-dir', dataDir);
      found[error === undefined ? 'named' : 'half']++;
      rmSync(join(place, name));
    }
  }
  working = false;
  await work;
  await node.kill();
  const there = new Set((await json(dataDir, 'client', 'list')).map(({ clientId }: { clientId: string }) => clientId));
  const lost = acknowledged.filter((id) => !there.has(id)).length;
  await service.close();
  const size = Math.round(statSync(join(dataDir, 'tessera.db')).size / 2 ** 20);
  return (
    `backup   ${KILLS} kills within ${Math.round(took)} ms, of ${size} MiB, while a server took ${acknowledged.length} changes: ` +
    `${lost} lost, ${found.half} half backups with a name; ${found.named} backups with a name were whole`
  );
}

async function killRestores(dataDir: string): Promise<string> {
  const backup = join(folder, 'whole.backup');
  await json(dataDir, 'backup', backup);
  await json(dataDir, 'user', 'create', '--username', 'later', '--display-name', 'L', '--email', 'l@example.com');
  const target = join(folder, 'target');
  const again = () => {
    rmSync(target, { recursive: true, force: true });
    cpSync(dataDir, target, { recursive: true });
  };
  const order = ['restore', backup, '--replace', '--yes', '--data-dir', target];
  again();
  const { took } = await killed({ after: 600_000 }, order);
  const found = { before: 0, between: 0, after: 0, lost: 0, half: 0 };
  for (let turn = 0; turn < KILLS; ) {
    again();
    // Every other one from the moment at which the first file is about to be moved.
    const moment: Moment =
      turn % 2 === 0
        ? { after: Math.random() * took }
        : { after: Math.random() * 10, file: { folder: target, name: 'tessera.db-restore-draft' } };
    if (!(await killed(moment, order)).killed) continue;
    turn++;
    const { error } = await runCommand('keys', 'list', '--data-dir', target);
    if (error !== undefined && !/has not finished.*tessera restore/.test(error.message)) found.half++;
    const isBefore = error === undefined && rows(target, 'account') === ACCOUNTS + 1;
    if (error !== undefined) found.between++;
    else found[isBefore ? 'before' : 'after']++;
    if (isBefore) await json(target, ...order.slice(0, 4));
    else if (error !== undefined) await json(target, 'restore');
    const [aside = ''] = readdirSync(target).filter((name) => name.startsWith('replaced-'));
    const whole =
      rows(target, 'account') === ACCOUNTS && (await json(target, 'events', '--type', 'data.restored')).length === 1;
    if (!whole) found.half++;
    copyFileSync(join(target, 'secret'), join(target, aside, 'secret'));
    if (rows(join(target, aside), 'account') !== ACCOUNTS + 1) found.lost++;
    await wait(0);
  }
  return (
    `restore  ${KILLS} kills within ${Math.round(took)} ms: ${found.before} left the data as it was, ${found.between} were finished by ` +
    `running it again, ${found.after} came after the end; ${found.lost} lost, ${found.half} half`
  );
}

try {
  const dataDir = await makeInstallation();
  print(await killBackups(dataDir));
  print(await killRestores(dataDir));
} finally {
  rmSync(folder, { recursive: true, force: true });
}
