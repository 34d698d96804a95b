// store: none
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deriveKey, keyedDigest, randomIdentifier, randomName, randomSecret } from './secrets.ts';

test('a name that is given to commands has 22 characters of base64url and never looks like a flag', () => {
  const names = Array.from({ length: 2000 }, randomName);
  for (const name of names) assert.match(name, /^[A-Za-z0-9_][A-Za-z0-9_-]{21}$/);
  assert.equal(new Set(names).size, names.length);
});

const MANY = 100_000;

/**
 * Asserts that no text came twice and that at each position every character came as often as any other, by Pearson's
 * chi-squared. A fair generator is beyond ten standard deviations less than once in a billion runs.
 */
function assertUniform(texts: readonly string[]): void {
  assert.equal(texts.length, MANY);
  assert.equal(new Set(texts).size, MANY, 'a text came twice');
  const length = texts[0]?.length ?? 0;
  for (let position = 0; position < length; position++) {
    const counts = new Uint32Array(128);
    for (const text of texts) counts[text.charCodeAt(position)] = (counts[text.charCodeAt(position)] ?? 0) + 1;
    // The last of 43 characters carries four of the 256 bits, that of 22 two of the 128.
    const bits = position < length - 1 ? 6 : length === 43 ? 4 : 2;
    const characters = 2 ** bits;
    const seen = [...counts].filter((count) => count > 0);
    assert.equal(seen.length, characters, `characters at position ${position}`);
    const expected = MANY / characters;
    const chiSquared = seen.reduce((sum, count) => sum + (count - expected) ** 2 / expected, 0);
    const degrees = characters - 1;
    assert.ok(chiSquared < degrees + 10 * Math.sqrt(2 * degrees), `position ${position}: ${chiSquared}`);
  }
}

const key = deriveKey(Buffer.alloc(32, 1), 'test');

// A code is the first of these where no page was shown, and the second, over a random handle, where one was.
for (const [name, make] of Object.entries({
  'a random secret': () => randomSecret(),
  'the keyed digest of a handle': () => keyedDigest(key, randomSecret()),
  'a random identifier': () => randomIdentifier(),
})) {
  test(`CD-01, JW-17: of 100,000 times ${name} none comes twice, and each position is uniform`, () => {
    assertUniform(Array.from({ length: MANY }, make));
  });
}
