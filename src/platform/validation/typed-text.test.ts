// store: none
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compactCode, trimTyped } from './typed-text.ts';

const UNSEEN = [
  '\u00a0',
  '\u00ad',
  '\u061c',
  '\u200b',
  '\u200c',
  '\u200e',
  '\u200f',
  '\u202a',
  '\u202c',
  '\u2060',
  '\u2068',
  '\u2069',
  '\ufeff',
];

test('what nobody sees around a pasted name is no part of it; within it, it stays', () => {
  for (const unseen of UNSEEN) {
    assert.equal(trimTyped(`${unseen} ada@example.com\t${unseen}`), 'ada@example.com', JSON.stringify(unseen));
    assert.equal(trimTyped(`a${unseen}b`), `a${unseen}b`);
    assert.equal(trimTyped(unseen), '');
  }
  assert.equal(trimTyped(undefined), '');
  assert.equal(trimTyped(`${' '.repeat(60_000)}x${' '.repeat(60_000)}`), 'x');
});

test('a code is its letters and digits', () => {
  for (const unseen of UNSEEN) assert.equal(compactCode(`${unseen}123${unseen} 456${unseen}`), '123456');
  for (const typed of ['123-456', '123\u2013456', '１２３ ４５６', '12 34 56'])
    assert.equal(compactCode(typed), '123456');
  assert.equal(compactCode('abcd-ef12'), 'abcdef12');
});
