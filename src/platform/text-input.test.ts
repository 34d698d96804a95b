// store: none
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeText } from './text-input.ts';

const TEXT = 'señor walks zebra 2031';

test('UTF-8 is read with and without a byte order mark', () => {
  for (const mark of ['', '\ufeff']) assert.deepEqual(decodeText(Buffer.from(mark + TEXT)), { text: TEXT });
});

test('other encodings are refused, with the reason', () => {
  const utf16 = Buffer.from(`\ufeff${TEXT}`, 'utf16le');
  for (const [bytes, problem] of [
    [utf16, /^is in UTF-16, and must be in UTF-8/],
    [Buffer.from(utf16).swap16(), /^is in UTF-16, and must be in UTF-8/],
    [utf16.subarray(2), /^is not in UTF-8|^contains a NUL/],
    [Buffer.from('plain', 'utf16le'), /^contains a NUL character/],
    [Buffer.from(TEXT, 'latin1'), /^is not in UTF-8, but perhaps in Latin-1/],
    [Buffer.from(`${TEXT}\0`), /^contains a NUL character/],
  ] as const) {
    const reading = decodeText(bytes);
    assert.match('problem' in reading ? reading.problem : '', problem);
  }
});
