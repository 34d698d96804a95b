import assert from 'node:assert/strict';
import { test } from 'node:test';
import { randomIdentifier, randomName, randomSecret } from './secrets.ts';

test('a name that is given to commands has 22 characters of base64url and never looks like a flag', () => {
  const names = Array.from({ length: 2000 }, randomName);
  for (const name of names) assert.match(name, /^[A-Za-z0-9_][A-Za-z0-9_-]{21}$/);
  assert.equal(new Set(names).size, names.length);
});

test('of forty thousand random secrets and identifiers none comes twice, as with 24 bits one would', () => {
  for (const make of [randomSecret, randomIdentifier]) {
    const values = new Set(Array.from({ length: 40_000 }, make));
    assert.equal(values.size, 40_000, make.name);
  }
});
