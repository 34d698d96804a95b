// store: none
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { initials } from './initials.ts';

const cases: [string, string][] = [
  ['Ada', 'A'],
  ['ada lovelace', 'AL'],
  ['Ada King Lovelace', 'AL'],
  ['  Ada  ', 'A'],
  ['', '?'],
  ['𝒜da', '𝒜'],
];
for (const [name, expected] of cases) {
  test(`the initials of ${JSON.stringify(name)} are ${expected}`, () => assert.equal(initials(name), expected));
}
