import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mayHaveAddress } from './joining.ts';

const DOMAINS = ['example.com', 'example.org'];

for (const [email, allowed] of [
  ['ada@example.com', true],
  ['ADA@EXAMPLE.ORG', true],
  ['ada@mail.example.com', false],
  ['ada@example.com.evil.example', false],
  ['ada@notexample.com', false],
  ['example.com@elsewhere.example', false],
  ['"ada@example.com"@elsewhere.example', false],
  ['ada@example.com.', false],
  ['ada@xn--exmple-cua.com', false],
] as const) {
  test(`with domains, ${email} is ${allowed ? 'allowed' : 'not allowed'}`, () => {
    assert.equal(mayHaveAddress({ mode: 'domains', domains: DOMAINS }, email), allowed);
    assert.equal(mayHaveAddress({ mode: 'open', domains: [] }, email), true);
  });
}
