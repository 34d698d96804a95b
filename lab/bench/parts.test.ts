// store: none
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { type Options, readOptions } from './options.ts';
import { openParts } from './parts.ts';

test('a run that was interrupted goes on with what it has measured', async (t) => {
  const results = mkdtempSync(join(tmpdir(), 'tessera-bench-parts-'));
  t.after(() => rmSync(results, { recursive: true }));
  const open = (...args: string[]) => {
    const options = readOptions(['--quick', '--results', results, '--only', 'refresh,code', ...args]);
    return openParts(options as Options);
  };
  let ran = 0;
  const run = async () => [++ran];

  const first = open();
  assert.deepEqual(await first.measure('refresh', run), [1]);
  assert.deepEqual(await first.measure('userinfo', run), [], 'a work that was not chosen does not run');
  const resumed = open('--resume');
  assert.deepEqual([resumed.isDue('refresh'), resumed.isDue('code'), resumed.isDue('userinfo')], [false, true, false]);
  assert.deepEqual(await resumed.measure('refresh', run), [1]);
  assert.ok(resumed.minutes() >= first.minutes());
  assert.deepEqual(await open('--resume', '--rounds', '2').measure('refresh', run), [2], 'other options');
  assert.deepEqual(await open().measure('refresh', run), [3], 'without --resume');
  open().complete();
  assert.deepEqual(await open('--resume').measure('refresh', run), [4], 'after a run that is complete');
  writeFileSync(join(results, 'unfinished.json'), '{');
  assert.deepEqual(await open('--resume').measure('refresh', run), [5], 'not written whole');
});
