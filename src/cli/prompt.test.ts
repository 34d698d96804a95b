import assert from 'node:assert/strict';
import { PassThrough, Writable } from 'node:stream';
import { test } from 'node:test';
import { CommanderError } from 'commander';
import { ask, DECLINED } from './prompt.ts';

/** A terminal on which somebody types, and what it shows. */
function typing(...keys: readonly (string | null)[]) {
  let shown = '';
  const write = (chunk: unknown, _encoding: string, done: () => void) => {
    shown += String(chunk);
    done();
  };
  const input = new PassThrough();
  for (const key of keys) key === null ? input.end() : input.write(key);
  return { input, output: new Writable({ write }), shown: () => shown };
}

test('a line is asked for, and a secret one is not shown', async () => {
  const open = typing('yes\r');
  assert.equal(await ask('Sure? ', open), 'yes');
  assert.match(open.shown(), /Sure\? .*yes/s);
  const secret = typing('geheim\r');
  assert.equal(await ask('Password: ', secret, { hidden: true }), 'geheim');
  assert.equal(secret.shown(), 'Password: \n');
});

for (const [name, key] of Object.entries({ 'Ctrl+C': '\u0003', 'Ctrl+D': '\u0004', 'a closed terminal': null })) {
  for (const hidden of [false, true]) {
    test(`${name} in place of ${hidden ? 'a secret' : 'an answer'} changes nothing, and says so`, async () => {
      const at = typing(key);
      const declined = (error: unknown) => error instanceof CommanderError && error.code === DECLINED;
      await assert.rejects(ask('Well? ', at, { hidden }), declined);
      assert.match(at.shown(), /Well\? .*\nNothing was changed\.\n$/s);
    });
  }
}
