// store: none
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stepNames } from '../step.ts';
import { explainRefusal } from './explain-refusal.ts';
import { sentParameters } from './sent-parameters.ts';

test('each step has a rule, and nothing is added by error code', () => {
  for (const step of stepNames) {
    const { rule, expected, received, remedy } = explainRefusal(step, { status: 400, error: 'invalid_grant' });
    assert.ok(rule, step);
    assert.deepEqual([expected, received, remedy], [undefined, undefined, undefined], step);
  }
});

test('the facts of the refusal itself take precedence', () => {
  const facts = { rule: 'a', expected: 'b', received: 'c', remedy: 'd' };
  assert.deepEqual(explainRefusal('token', { ...facts, error: 'invalid_grant' }), { ...facts, error: 'invalid_grant' });
});

test('for a description that begins with a parameter, its value is what came', () => {
  const description = 'prompt=none goes with no other value';
  const sent = 'client_id=1 prompt="none login" redirect_uri=https://app.example.com/cb';
  const facts = explainRefusal('authorize', { error: 'invalid_request', status: 302, description, sent });
  assert.deepEqual([facts.rule, facts.received], ['OpenID Connect Core 1.0 §3.1.2.1', 'prompt="none login"']);
});

test('parameters are told by an allow-list, confidential ones by name, others not at all', () => {
  const form = new Map([
    ['grant_type', 'authorization_code'],
    ['scope', 'openid email'],
    ['code', 'a code'],
    ['client_secret', 'a secret'],
    ['password', 'a password'],
    ['a password', 'by mistake'],
  ]);
  assert.equal(
    sentParameters({ get: (name: string) => form.get(name), has: (name: string) => form.has(name) }, undefined, 'text'),
    'grant_type=authorization_code scope="openid email"; client_secret (value hidden), code (value hidden)',
  );
  assert.equal(sentParameters(undefined, null, {}), undefined);
});
