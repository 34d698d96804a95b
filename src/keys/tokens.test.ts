// store: none
import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { test } from 'node:test';
import { digestSet, TOKEN_KINDS, tokenKey } from './tokens.ts';

for (const kind of TOKEN_KINDS) {
  test(`${kind}: that a token was verified does not make a changed one valid`, () => {
    const key = tokenKey(Buffer.alloc(32, 1), 'k', kind);
    const other = tokenKey(Buffer.alloc(32, 2), 'k', kind);
    const token = key.sign({ sub: '1' });
    assert.equal(key.verify(token)?.['sub'], '1');
    assert.equal(key.verify(token)?.['sub'], '1', 'the same a second time');
    for (let at = 0; at < token.length; at++) {
      for (const letter of ['A', 'B', '.', '=', ' ', 'ł']) {
        const changed = token.slice(0, at) + letter + token.slice(at + 1);
        if (changed !== token) assert.equal(key.verify(changed), undefined, changed);
      }
    }
    for (const changed of [`${token}A`, `A${token}`, `${token}=`, `${token}\n`, ` ${token}`, `${token}.`]) {
      assert.equal(key.verify(changed), undefined, changed);
    }
    assert.equal(other.verify(token), undefined, 'another key has not verified it');
    assert.equal(other.verify(token), undefined, 'nor has it the second time');
  });
}

for (const kind of TOKEN_KINDS) {
  test(`JW-02: ${kind}: a token with a changed bit, truncated or without a signature is invalid`, () => {
    const key = tokenKey(Buffer.alloc(32, 1), 'k', kind);
    const token = key.sign({ sub: '1', jti: 'x', family: '2' });
    const octets = Buffer.from(token, 'latin1');
    for (let at = 0; at < octets.length; at++) {
      for (let bit = 0; bit < 8; bit++) {
        const changed = Buffer.from(octets);
        changed.writeUInt8((changed[at] ?? 0) ^ (1 << bit), at);
        assert.equal(key.verify(changed.toString('latin1')), undefined, `bit ${bit} of character ${at}`);
      }
      assert.equal(key.verify(token.slice(0, at)), undefined, `the first ${at} characters`);
      assert.equal(key.verify(token.slice(at + 1)), undefined, `without the first ${at + 1} characters`);
    }
    assert.equal(key.verify(token)?.['sub'], '1');
  });
}

const digest = (text: string) => hash('sha256', text, 'latin1');

test('a digest set has what was added, and keeps the newest four of a line', () => {
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

test('a digest set compares each of the first 16 bytes', () => {
  const set = digestSet(1);
  const known = digest('known');
  set.add(known);
  for (let at = 0; at < 16; at++) {
    const other = String.fromCharCode(known.charCodeAt(at) ^ 0x80);
    assert.equal(set.has(known.slice(0, at) + other + known.slice(at + 1)), false);
  }
  assert.equal(set.has(known), true);
});

test('a digest set keeps nearly all of as many digests as it has lines', () => {
  const lines = 1024;
  const set = digestSet(lines);
  const texts = Array.from({ length: lines }, (_, n) => digest(`${n}`));
  for (const text of texts) set.add(text);
  const kept = texts.filter((text) => set.has(text)).length;
  assert.ok(kept > lines * 0.98, `${kept}`);
});
