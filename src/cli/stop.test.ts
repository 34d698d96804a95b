// store: SQLite
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { openLogOutput } from '../platform/log-output.ts';
import { end } from './stop.ts';

/** Ends nothing, and tells how it would have ended. */
function ending() {
  const facts = { status: undefined as number | undefined, said: '' };
  const put = (lines: string | Buffer) => {
    facts.said += lines.toString();
    return Buffer.byteLength(lines);
  };
  const exit = (status: number) => {
    facts.status = status;
  };
  return { facts, exit, logs: { out: openLogOutput({ put }), err: openLogOutput({ put }) } };
}

test('a stop ends with status 0 when the service has closed', async () => {
  const { facts, exit, logs } = ending();
  await end(async () => {}, logs, { exit });
  assert.deepEqual(facts, { status: 0, said: '' });
});

for (const [who, isSupervised, milliseconds] of [
  ['a process', false, 9000],
  ['one that its supervisor waits for', true, 8500],
] as const) {
  test(`${who} ends at its deadline with status 0, whatever does not answer, and says so`, async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const { facts, exit, logs } = ending();
    const ended = end(() => new Promise(() => {}), logs, { isSupervised, exit });
    t.mock.timers.tick(milliseconds - 1);
    await new Promise(setImmediate);
    assert.equal(facts.status, undefined);
    t.mock.timers.tick(1);
    await ended;
    assert.equal(facts.status, 0);
    assert.match(facts.said, /^Warning: The service ended without what did not answer in time/);
  });
}

test('a stop that fails says why, with status 1', async () => {
  const { facts, exit, logs } = ending();
  await end(() => Promise.reject(new Error('no farewell')), logs, { exit });
  assert.deepEqual(facts, { status: 1, said: 'Error: no farewell\n' });
});

test('a look-up of a name that gets no answer does not keep the process', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tessera-stop-'));
  try {
    // Opening it waits for a writer, in the threads in which names are looked up, too.
    const fifo = join(folder, 'fifo');
    execFileSync('mkfifo', [fifo]);
    const script = `
      import { readFile } from 'node:fs';
      import { end } from ${JSON.stringify(new URL('./stop.ts', import.meta.url).href)};
      import { openLogOutput } from ${JSON.stringify(new URL('../platform/log-output.ts', import.meta.url).href)};
      readFile(${JSON.stringify(fifo)}, () => {});
      process.getActiveResourcesInfo = () => ['GetAddrInfoReqWrap'];
      const log = openLogOutput({ put: () => 0 });
      await end(async () => {}, { out: log, err: log });`;
    const child = spawn(process.execPath, ['--input-type=module', '--eval', script], { stdio: 'inherit' });
    assert.deepEqual(await once(child, 'exit'), [0, null]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

const moments = {
  'once it is ready': "begin(); log.write('ready ');",
  // Who its parent is, it knows before the test ends that.
  'while it starts': "const { ppid } = process; log.write('ready '); while (process.ppid === ppid); begin();",
};
for (const [when, began] of Object.entries(moments)) {
  test(`a server in the shell of npx stops when that ends ${when}`, async () => {
    const script = `
      import { stopOnSignals } from ${JSON.stringify(new URL('./stop.ts', import.meta.url).href)};
      import { openLogOutput } from ${JSON.stringify(new URL('../platform/log-output.ts', import.meta.url).href)};
      import { writeSync } from 'node:fs';
      const log = openLogOutput({ put: (lines) => writeSync(1, lines) });
      const close = async () => log.write('closed');
      const begin = () => stopOnSignals({ drainSeconds: 0 }, { drain() {}, close }, { out: log, err: log });
      setInterval(() => {}, 1000);
      ${began}`;
    const command = [process.execPath, '--input-type=module', '--eval', script];
    const shell = spawn('sh', ['-c', '"$@" & wait', 'sh', ...command], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, npm_command: 'exec' },
    });
    let said = '';
    shell.stdout.setEncoding('utf8').on('data', (text) => {
      said += text;
      if (said === 'ready ') shell.kill('SIGKILL');
    });
    await once(shell.stdout, 'end');
    assert.equal(said, 'ready closed');
  });
}
