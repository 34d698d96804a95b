// store: none
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addLosses, openLogOutput } from './log-output.ts';

const LINE = `${'x'.repeat(1023)}\n`;
/** How many of these lines wait at most. */
const ROOM = 1024;

/** A disk with so much room, in bytes. */
function disk(room: number) {
  const state = { room, text: '', attempts: 0 };
  return {
    state,
    put(lines: string | Buffer) {
      state.attempts++;
      const bytes = Buffer.from(lines);
      if (state.room === 0 && bytes.length > 0) throw Object.assign(new Error('no space left'), { code: 'ENOSPC' });
      const written = bytes.subarray(0, state.room);
      state.room -= written.length;
      state.text += written.toString();
      return written.length;
    },
  };
}

test('lines wait while the disk is full, and are written whole and in order when there is room', (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const { state, put } = disk(4);
  const output = openLogOutput({ put, notice: () => assert.fail() });
  for (const line of ['first\n', 'second\n', 'third\n']) output.write(line);
  assert.equal(state.text, 'firs');
  state.room = 8;
  t.mock.timers.tick(50);
  assert.equal(state.text, 'first\nsecond');
  state.room = 100;
  t.mock.timers.tick(50);
  output.write('fourth\n');
  assert.equal(state.text, 'first\nsecond\nthird\nfourth\n');
  assert.deepEqual(output.loss(), { dropped: 0, lasts: false });
});

test('beyond what may wait, lines are dropped and counted; one line says how many when there is room again', (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const { state, put } = disk(0);
  const warnings: unknown[] = [];
  const output = openLogOutput({
    put,
    notice: (dropped) => `${dropped} were dropped\n`,
    warn: (...facts) => warnings.push(facts),
  });
  for (let line = 0; line < ROOM; line++) output.write(LINE);
  assert.deepEqual(output.loss(), { dropped: 0, lasts: false });
  output.write('one too many\n');
  output.write(Buffer.from('two lines\nof another process\n'));
  assert.deepEqual(output.loss(), { dropped: 3, lasts: true });
  // Once a minute.
  assert.deepEqual(warnings, [['ENOSPC', 1]]);
  assert.equal(state.attempts, 1, 'a full disk is not tried for each line');

  state.room = Number.MAX_SAFE_INTEGER;
  t.mock.timers.tick(50);
  output.write('next\n');
  assert.equal(state.text, `${LINE.repeat(ROOM)}3 were dropped\nnext\n`);
  assert.deepEqual(output.loss(), { dropped: 3, lasts: false });
});

test('a pipe that nobody reads is waited for at the end, but not for ever', async () => {
  const full = openLogOutput({
    put() {
      throw Object.assign(new Error('try again'), { code: 'EAGAIN' });
    },
  });
  full.write(LINE);
  await full.flush(0);
  const { state, put } = disk(0);
  const slow = openLogOutput({ put });
  slow.write('last words\n');
  state.room = 100;
  await slow.flush(1000);
  assert.equal(state.text, 'last words\n');
});

test('the losses of a process and of its supervisor add up', () => {
  assert.deepEqual(addLosses(undefined, { dropped: 2, lasts: false }, { dropped: 3, lasts: true }), {
    dropped: 5,
    lasts: true,
  });
  assert.deepEqual(addLosses(), { dropped: 0, lasts: false });
});
