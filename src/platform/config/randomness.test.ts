// store: none
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { looksRandom } from './randomness.ts';

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const RANDOM = 'q3Vb0Xk2Yt7Lr9Wn5Zs1Cd8Fg4Hj6Pm0uRw7EiKxNo3T';

const predictable: Readonly<Record<string, readonly string[]>> = {
  'one character': ['0'.repeat(32), 'a'.repeat(64), 'x'.repeat(512), 'A'.repeat(43), `${'A'.repeat(43)}=`],
  'few characters': ['01'.repeat(32), '0110100110010110100101100110100110010110', 'aabbabbaabababbbaabbabaababbaabab'],
  'nearly one character': [`${'0'.repeat(40)}kR7x`, `kR7x${'z'.repeat(40)}`, `${'a'.repeat(20)}Xk2Yt${'a'.repeat(20)}`],
  'a pattern of any period': Array.from({ length: 24 }, (_, n) =>
    RANDOM.slice(0, n + 1)
      .repeat(48)
      .slice(0, 48),
  ),
  'a doubled half': [RANDOM.slice(0, 16), RANDOM.slice(0, 22), RANDOM].flatMap((half) => [
    half + half,
    `${half}-${half}`,
  ]),
  'a pattern in both cases of letters': [
    'AbCdXyZqabcdxyzqABCDXYZQabCDxyZQ',
    'abcdefgh'.repeat(8),
    'ABCDefgh'.repeat(6),
  ],
  'a sequence': [ALPHABET, [...ALPHABET].reverse().join(''), '0123456789'.repeat(5), '9876543210'.repeat(4)],
  'a sequence of pairs': ['00112233445566778899aabbccddeeff', 'aAbBcCdDeEfFgGhHiIjJkKlLmMnNoOpPqQrRsStT'],
  'a sequence with something between': [
    '000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f',
    'a1b2c3d4e5f6g7h8i9j0a1b2c3d4e5f6g7h8i9j0',
    '01020304050607080910111213141516171819202122',
  ],
  placeholders: [
    'changeme'.repeat(4),
    'changeme-changeme-changeme-changeme-changeme',
    'please-change-this-secret-before-production',
    'CHANGE_ME_TO_A_RANDOM_STRING_OF_32_CHARACTERS',
    'my-super-secret-admin-key-1234567890',
    'your-secret-here-at-least-43-characters-long',
    'this is a test secret for local development',
    'Sup3rS3cr3tP4ssw0rdSup3rS3cr3tP4ssw0rd',
    'qwertyuiopasdfghjklzxcvbnm1234567890qwertyui',
    'deadbeefcafebabedeadbeefcafebabe',
  ],
};

for (const [what, values] of Object.entries(predictable)) {
  test(`predictable: ${what}`, () => {
    for (const value of values) assert.equal(looksRandom(value), false, value);
  });
}

/** The same bytes at every run: a value that is refused can be looked at. */
const bytes = (n: number, length: number): Buffer =>
  createHash('shake256', { outputLength: length }).update(`seed 1 ${n}`).digest();

// As `openssl rand` and `randomSecret` write them.
const generators: Readonly<Record<string, (n: number) => string>> = {
  'openssl rand -base64 32 | tr -d =': (n) => bytes(n, 32).toString('base64').replaceAll('=', ''),
  'openssl rand -base64 32': (n) => bytes(n, 32).toString('base64'),
  'openssl rand -base64 24': (n) => bytes(n, 24).toString('base64'),
  'openssl rand -hex 32': (n) => bytes(n, 32).toString('hex'),
  'openssl rand -hex 16': (n) => bytes(n, 16).toString('hex'),
  'randomSecret()': (n) => bytes(n, 32).toString('base64url'),
  'tessera admin-key create': (n) => `tak_${bytes(n, 32).toString('base64url')}`,
};

for (const [command, generate] of Object.entries(generators)) {
  test(`random: ${command}`, () => {
    for (let n = 0; n < 4000; n++) assert.ok(looksRandom(generate(n)), generate(n));
  });
}

test('random, and long: what repeats by chance is no pattern', () => {
  for (let n = 0; n < 20; n++) assert.ok(looksRandom(bytes(n, 32 * 1024).toString('hex')));
});
