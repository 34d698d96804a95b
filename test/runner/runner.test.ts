// store: SQLite
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Counts } from './counts.ts';
import { startGuard } from './guard.ts';
import { runFiles, summary } from './run-files.ts';

const fixture = (name: string): string => fileURLToPath(new URL(`fixtures/${name}.ts`, import.meta.url));

/** Every process of a fixture keeps a connection: the system closes it when the process is gone, and not before. */
const events = new EventEmitter();
let open = 0;
const server = createServer((socket) => {
  open++;
  events.emit('change');
  socket.on('error', () => {});
  socket.resume().on('close', () => {
    open--;
    events.emit('change');
  });
}).listen(0, '127.0.0.1');
await once(server, 'listening');
after(() => server.close());
const { port } = server.address() as AddressInfo;
const env = { ...process.env, TEST_PORT: String(port) };

async function connected(count: number): Promise<void> {
  while (open !== count) await once(events, 'change');
}

const guard = startGuard();

async function run(
  names: readonly string[],
  hardEnd = new AbortController().signal,
): Promise<{ counts: Counts; output: string }> {
  let output = '';
  const files = names.map((name) => ({ path: fixture(name), label: name }));
  const counts = await runFiles([{ files, env }], {
    ...{ guard, concurrency: 1, testTimeout: 900_000 },
    hardEnd: () => hardEnd,
    print: (text) => {
      output += text;
    },
  });
  return { counts, output };
}

const outcome = ({ tests, passed, failed, cancelled }: Counts) => ({ tests, passed, failed, cancelled });
const FAILED = { tests: 1, passed: 0, failed: 1, cancelled: 0 };

test('a file that never returns to its event loop ends with the child that ignores SIGTERM, and fails', async () => {
  const controller = new AbortController();
  const running = run(['spins'], controller.signal);
  await connected(2);
  controller.abort();
  const { counts, output } = await running;
  await connected(0);
  assert.deepEqual(outcome(counts), FAILED);
  assert.match(output, /✖ spins .*killed with everything that it had started/);
});

test('a run that is killed takes with it the files that it was running', async () => {
  const child = spawn(process.execPath, [fixture('run'), fixture('spins')], { env, stdio: 'ignore' });
  await connected(2);
  child.kill('SIGKILL');
  await connected(0);
});

test('a failing assertion leaves neither a server nor a process behind', async () => {
  const { counts, output } = await run(['fails']);
  await connected(0);
  assert.deepEqual(outcome(counts), FAILED);
  assert.match(output, /as expected/);
});

test('an error at the top level of a file fails it, and ends what it started', async () => {
  const { counts, output } = await run(['throws']);
  await connected(0);
  assert.deepEqual(outcome(counts), { tests: 2, passed: 0, failed: 1, cancelled: 1 });
  assert.match(output, /below a test[\s\S]*✖ throws /);
});

test('an error that nothing catches fails the test that it came out of, and tests belong to those that they begin in', async () => {
  const { counts, output } = await run(['uncaught', 'passes']);
  await connected(0);
  assert.deepEqual(outcome(counts), { tests: 7, passed: 5, failed: 2, cancelled: 0 });
  for (const text of ['out of a timer', 'out of a promise'])
    assert.match(output, new RegExp(`waits[\\s\\S]*Error: ${text}`));
  // Two steps further in than the file.
  assert.match(output, /^ {6}✔ passes below one that waited/m);
  assert.match(output, /✖ uncaught \(5 tests[\s\S]*✔ passes \(2 tests/);
});

test('a file that leaves something open ends by itself, with every test that it has', async () => {
  const { counts } = await run(['passes']);
  await connected(0);
  assert.deepEqual(outcome(counts), { tests: 2, passed: 2, failed: 0, cancelled: 0 });
});

test('a file without a test fails', async () => {
  const { counts, output } = await run(['empty']);
  assert.deepEqual(outcome(counts), FAILED);
  assert.match(output, /ended before its first test/);
});

test('a file fails alone: those before it and after it have their own results', async () => {
  const { counts, output } = await run(['passes', 'throws', 'empty', 'fails', 'passes']);
  await connected(0);
  assert.deepEqual(outcome(counts), { tests: 8, passed: 4, failed: 3, cancelled: 1 });
  for (const line of ['✔ passes (2 tests', '✖ empty (1 tests', '✖ fails (1 tests'])
    assert.ok(output.includes(line), line);
});

test('a process that is killed fails each of its files that had not ended', async () => {
  const controller = new AbortController();
  const running = run(['passes', 'spins', 'empty'], controller.signal);
  await connected(3);
  controller.abort();
  const { counts, output } = await running;
  await connected(0);
  assert.deepEqual(outcome(counts), { tests: 4, passed: 2, failed: 2, cancelled: 0 });
  assert.match(output, /✔ passes [\s\S]*✖ spins .*killed[\s\S]*✖ empty .*killed/);
});

test('the summary reads as that of Node', () => {
  const counts = { tests: 9, suites: 1, passed: 4, failed: 3, cancelled: 1, skipped: 1, todo: 0 };
  const lines = ['tests 9', 'suites 1', 'pass 4', 'fail 3', 'cancelled 1', 'skipped 1', 'todo 0', 'duration_ms 12.5'];
  assert.equal(summary(counts, 12.5), lines.map((line) => `ℹ ${line}\n`).join(''));
});
