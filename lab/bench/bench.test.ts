// store: SQLite
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { chart } from './chart.ts';
import { processors } from './processors.ts';
import { type CpuProfile, sharesOf } from './profile.ts';
import { type Recording, withReport } from './recording.ts';

const root = join(import.meta.dirname, '../..');

test('time belongs to the nearest function of ours, of the moments between two instants', () => {
  const node = (id: number, functionName: string, url: string, children: number[] = []) => ({
    id,
    callFrame: { functionName, url },
    children,
  });
  const nodes = [
    node(1, '(root)', '', [2, 3, 7]),
    node(2, '(idle)', ''),
    node(3, 'handle', 'file:///t/src/protocol/userinfo/routes.ts', [4, 6]),
    node(4, 'execute', 'file:///t/src/platform/database/sqlite/open.ts', [5]),
    node(5, 'all', 'node:sqlite'),
    node(6, 'writeUtf8String', ''),
    node(7, 'flush', 'file:///t/src/platform/database/sqlite/open.ts'),
  ];
  // What is first and what is last lies outside.
  const samples = [6, 5, 2, 3, 4, 7, 6, 6];
  const timeDeltas = [10, 30, 50, 10, 10, 20, 30, 10];
  const profile: CpuProfile = { nodes, samples, timeDeltas, startTime: 0, endTime: 170 };
  const { busy, shares } = sharesOf(profile, { from: 20, to: 160 });
  assert.equal(busy, 100);
  assert.deepEqual(Object.fromEntries(shares), {
    SQLite: 0.4,
    'Writing to sockets, by the kernel': 0.3,
    'Commit, with the wait for the disk': 0.2,
    'Tessera’s own rules: claims, verdict, answer': 0.1,
  });
});

test('the tables and the chart of the documentation are those of the recorded run', () => {
  const page = readFileSync(join(root, 'lab/bench/performance.md'), 'utf8');
  const json = join(root, 'lab/bench/performance.json');
  const recording = existsSync(json) ? (JSON.parse(readFileSync(json, 'utf8')) as Recording) : undefined;
  if (recording === undefined) return assert.doesNotMatch(page, /\| Tessera, SQLite \| [\d,]+/);
  assert.equal(page, withReport(page, recording));
  assert.equal(readFileSync(join(root, 'docs/images/performance.svg'), 'utf8'), chart(recording));
});

const two = processors();

test('a server has a processor for its other threads, and afterwards all of them again', {
  skip: two === undefined,
}, async () => {
  const server = spawn(process.execPath, ['--eval', 'setInterval(() => {}, 1000); console.log("ready")']);
  try {
    await once(server.stdout, 'data');
    const { pid = 0 } = server;
    const allowed = (id: number) => {
      const threads = readdirSync(`/proc/${id}/task`);
      const listOf = (thread: string) =>
        /^Cpus_allowed_list:\s+(\S+)/m.exec(readFileSync(`/proc/${id}/task/${thread}/status`, 'utf8'))?.[1];
      const others = new Set(threads.filter((thread) => thread !== String(id)).map(listOf));
      return { main: listOf(String(id)), others: [...others] };
    };
    const before = { server: allowed(pid), generator: allowed(process.pid) };
    const during = await two?.apart(server, async () => ({ server: allowed(pid), generator: allowed(process.pid) }));
    assert.ok(during !== undefined);
    assert.deepEqual(during.generator, { main: during.server.main, others: [during.server.main] });
    assert.equal(during.server.others.length, 1);
    assert.notEqual(during.server.others[0], during.server.main);
    assert.deepEqual({ server: allowed(pid), generator: allowed(process.pid) }, before);
  } finally {
    server.kill();
  }
});
