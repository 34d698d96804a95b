// store: none
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { claimText, decodeToken } from './decode-token.ts';

const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
const [header, claims] = [encode({ alg: 'HS256' }), encode({ sub: '1' })];

test('RFC 7519 §3.1: a JWT has three parts, of which two are JSON', () => {
  assert.deepEqual(decodeToken(`${header}.${claims}.c2ln`), {
    parts: [header, claims, 'c2ln'],
    header: { alg: 'HS256' },
    claims: { sub: '1' },
  });
  for (const other of [
    '',
    'opaque',
    `${header}.${claims}`,
    `${header}.${claims}.c2ln.more`,
    `${header}.no-json.c2ln`,
  ]) {
    assert.equal(decodeToken(other), undefined, other);
  }
});

test('a claim that is a time is written out', () => {
  for (const [name, value, expected] of [
    ['sub', '1', { json: '"1"' }],
    ['aud', ['a', 'b'], { json: '["a","b"]' }],
    ['exp', 0, { json: '0', time: '1970-01-01 00:00:00 UTC' }],
    ['exp', 'soon', { json: '"soon"' }],
  ] as const) {
    assert.deepEqual(claimText(name, value), expected);
  }
});
