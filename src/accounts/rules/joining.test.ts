// store: none
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mayHaveAddress, mayJoin } from './joining.ts';

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

for (const [mode, anyone, invited] of [
  ['open', true, true],
  ['domains', true, true],
  ['invitation', false, true],
  ['closed', false, false],
] as const) {
  test(`${mode}: who may create an account`, () => {
    const settings = { mode, domains: DOMAINS };
    assert.equal(mayJoin(settings, 'ada@example.com', false), anyone);
    assert.equal(mayJoin(settings, 'ada@example.com', true), invited);
    assert.equal(mayJoin(settings, 'ada@elsewhere.example', true), invited && mode !== 'domains');
  });
}
