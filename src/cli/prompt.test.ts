// store: none
import assert from 'node:assert/strict';
import { PassThrough, Writable } from 'node:stream';
import { test } from 'node:test';
import { CommanderError } from 'commander';
import { confirm, DECLINED, promptLine, readSecret } from './prompt.ts';

/** A terminal on which somebody types, and what it shows. */
function typing(...keys: readonly (string | null)[]) {
  let shown = '';
  const write = (chunk: unknown, _encoding: string, done: () => void) => {
    shown += String(chunk);
    done();
  };
  const input = Object.assign(new PassThrough(), { isTTY: true });
  for (const key of keys) key === null ? input.end() : input.write(key);
  return { input, output: new Writable({ write }), shown: () => shown };
}

const isDeclined = (error: unknown): boolean => error instanceof CommanderError && error.code === DECLINED;

test('a line is asked for, and a secret one is not shown', async () => {
  const open = typing('yes\r');
  assert.equal(await promptLine('Sure? ', open), 'yes');
  assert.match(open.shown(), /Sure\? .*yes/s);
  const secret = typing('geheim\r');
  assert.equal(await promptLine('Password: ', secret, { hidden: true }), 'geheim');
  assert.equal(secret.shown(), 'Password: \n');
});

for (const [name, key] of Object.entries({ 'Ctrl+C': '\u0003', 'Ctrl+D': '\u0004', 'a closed terminal': null })) {
  for (const hidden of [false, true]) {
    test(`${name} in place of ${hidden ? 'a secret' : 'an answer'} changes nothing, and says so`, async () => {
      const at = typing(key);
      await assert.rejects(promptLine('Well? ', at, { hidden }), isDeclined);
      assert.match(at.shown(), /Well\? .*\nNothing was changed\.\n$/s);
    });
  }
}

test('at a terminal nothing but yes confirms', async () => {
  for (const key of [null, '\r', 'y\r', 'no\r', 'yes please\r', 'yess\r']) {
    const at = typing(key);
    await assert.rejects(confirm('This deletes all.', {}, at), isDeclined, JSON.stringify(key));
    assert.match(
      at.shown(),
      /This deletes all\. This cannot be undone\. Type "yes" to continue: .*Nothing was changed\.\n$/s,
    );
  }
  for (const key of ['yes\r', ' YES \r']) {
    const at = typing(key);
    await confirm('This deletes all.', {}, at);
    assert.match(at.shown(), /Type "yes" to continue: /);
  }
});

test('with --yes nobody is asked', async () => {
  for (const isTTY of [true, false]) {
    const at = typing(null);
    at.input.isTTY = isTTY;
    await confirm('This deletes all.', { yes: true }, at);
    assert.equal(at.shown(), '');
  }
});

test('without a terminal and --yes, nothing is done', async () => {
  const at = typing(null);
  at.input.isTTY = false;
  await assert.rejects(confirm('This deletes ada.', {}, at), /nothing was changed\. To go on, add --yes\./);
  assert.equal(at.shown(), '');
});

test('a secret on standard input is text in UTF-8, without mark and final line break; anything else is refused', async () => {
  const read = (bytes: Buffer) => {
    const input = new PassThrough();
    input.end(bytes);
    return readSecret('Password: ', input);
  };
  for (const text of ['señor 2031', 'señor 2031\n', '\ufeffseñor 2031\r\n'])
    assert.equal(await read(Buffer.from(text)), 'señor 2031');
  assert.equal(await read(Buffer.from('  spaces \n\n')), '  spaces \n');
  for (const bytes of [
    Buffer.from('señor 2031', 'latin1'),
    Buffer.from('\ufeffseñor 2031', 'utf16le'),
    Buffer.from('señor 2031\0'),
  ]) {
    await assert.rejects(read(bytes), /^Failure: The text on standard input (is|contains) .*Nothing was changed/);
  }
});
