import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { test } from 'node:test';
import { digestSet } from './digest-set.ts';

const digest = (text: string) => hash('sha256', text, 'latin1');

test('what was added is there, and nothing else; the youngest four of a line are kept', () => {
  const set = digestSet(1);
  for (let added = 1; added <= 100; added++) {
    assert.equal(set.has(digest(`${added}`)), false);
    set.add(digest(`${added}`));
    const kept = Array.from({ length: 101 }, (_, n) => n).filter((n) => set.has(digest(`${n}`)));
    assert.deepEqual(
      kept,
      [added - 3, added - 2, added - 1, added].filter((n) => n > 0),
    );
  }
});

test('it tells digests apart by each octet of the 128 bits that it keeps', () => {
  const set = digestSet(1);
  const known = digest('known');
  set.add(known);
  for (let at = 0; at < 16; at++) {
    const other = String.fromCharCode(known.charCodeAt(at) ^ 0x80);
    assert.equal(set.has(known.slice(0, at) + other + known.slice(at + 1)), false);
  }
  assert.equal(set.has(known), true);
});

test('as many digests as it has lines are nearly all kept', () => {
  const lines = 1024;
  const set = digestSet(lines);
  const texts = Array.from({ length: lines }, (_, n) => digest(`${n}`));
  for (const text of texts) set.add(text);
  const kept = texts.filter((text) => set.has(text)).length;
  assert.ok(kept > lines * 0.98, `${kept}`);
});
