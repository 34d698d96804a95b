// store: none
import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { test } from 'node:test';
import { chooseKey, readRegisteredSet, usableKeys } from './jwks.ts';

const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const EC = ec.publicKey.export({ format: 'jwk' });
const ED = generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' });
const RSA = generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey.export({ format: 'jwk' });
const WEAK = generateKeyPairSync('rsa', { modulusLength: 1024 }).publicKey.export({ format: 'jwk' });

const rejected: [name: string, keys: unknown, problem: RegExp][] = [
  ['RFC 7517 §5: no list', {}, /jwks must be/],
  ['RFC 7517 §5: an empty list', [], /1 to 20/],
  ['more than 20 keys', Array.from({ length: 21 }, (_, n) => ({ ...EC, kid: `${n}` })), /1 to 20/],
  ['RFC 7517 §9.2: a private key', [ec.privateKey.export({ format: 'jwk' })], /keys\[0\] must be a public key/],
  ['a symmetric key', [{ kty: 'oct', k: 'AAAA' }], /be a public key/],
  ['RFC 7517 §4.2: a key for encryption', [{ ...EC, use: 'enc' }], /use must be sig/],
  ['RFC 7517 §4.3: key_ops without verify', [{ ...EC, key_ops: ['sign'] }], /key_ops must have verify/],
  ['RFC 7517 §4.4: the alg of another type of key', [{ ...EC, alg: 'RS256' }], /have the alg ES256, or none/],
  [
    'RFC 7517 §4.5: two keys with one kid',
    [
      { ...EC, kid: 'a' },
      { ...ED, kid: 'a' },
    ],
    /keys\[1\] must have a kid/,
  ],
  ['RFC 7518 §3.3: RSA of 1024 bits', [WEAK], /2048 bits at least/],
  ['RFC 7518 §6.2.1: a point that is not on the curve', [{ ...EC, y: EC.x }], /be a key that can be read/],
  ['another curve', [{ ...EC, crv: 'P-521' }], /be an RSA key, an EC key on P-256/],
];
for (const [name, keys, problem] of rejected) {
  test(`rejects ${name}`, () => {
    const reading = readRegisteredSet({ keys }, 'jwks');
    assert.match('problem' in reading ? reading.problem : '', problem);
  });
}

test('only the public parameters of a key are stored', () => {
  const reading = readRegisteredSet({ keys: [{ ...EC, alg: 'ES256', x5u: 'https://evil.example' }] }, 'jwks');
  assert.deepEqual(reading, { set: { keys: [{ alg: 'ES256', crv: 'P-256', kty: 'EC', x: EC.x, y: EC.y }] } });
});

test('of a fetched set the keys that cannot verify assertions are ignored', () => {
  assert.equal(usableKeys({ keys: [{ ...EC, use: 'enc' }, WEAK, ED] })?.length, 1);
  assert.equal(usableKeys({ keys: EC }), undefined);
});

const keys =
  usableKeys({
    keys: [
      { ...EC, kid: 'a' },
      { ...ED, kid: 'b' },
      { ...RSA, kid: 'c' },
      { ...RSA, kid: 'd' },
    ],
  }) ?? [];
const chosen = [
  ['the key with the kid', 'ES256', 'a', 'a'],
  ['RFC 8725 §3.1: a key for another algorithm', 'ES256', 'b', undefined],
  ['the only key that fits, without a kid', 'EdDSA', undefined, 'b'],
  ['one of two keys that fit, without a kid', 'PS256', undefined, undefined],
  ['an RSA key with either padding', 'PS256', 'd', 'd'],
] as const;
for (const [name, alg, kid, expected] of chosen) {
  test(`OpenID Connect Core 1.0 §10.1: ${name}`, () => assert.equal(chooseKey(keys, alg, kid)?.kid, expected));
}
