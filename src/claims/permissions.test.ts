// store: none
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ENDPOINT_RULES } from './endpoint-set.ts';
import {
  coveredClaims,
  effectiveClaims,
  formatScopes,
  OIDC_CLAIM_SCOPES,
  parseScope,
  remainingClaims,
  remainingNames,
  remainingScopes,
  scopesOfClaims,
  V2_CLAIM_SCOPES,
} from './permissions.ts';

const parsed: [string, readonly string[] | undefined][] = [
  ['openid', ['openid']],
  ['openid email openid', ['openid', 'email']],
  ['openid  email', undefined],
  [' openid', undefined],
  ['openid ', undefined],
  ['', undefined],
  ['open"id', undefined],
  ['open\\id', undefined],
  ['é', undefined],
];
for (const [text, scopes] of parsed) {
  test(`RFC 6749 §3.3: ${JSON.stringify(text)} is ${scopes === undefined ? 'malformed' : scopes.length}`, () =>
    assert.deepEqual(parseScope(text), scopes));
}

test('scopes are stored in one order, without unknown ones', () => {
  assert.equal(formatScopes(['phone', 'other', 'openid', 'email']), 'openid email phone');
  assert.equal(remainingScopes('openid email phone', new Set(['email'])), 'openid phone');
});

test('OpenID Connect Core 1.0 §5.5: of the requested claims those count that are allowed and change a response', () => {
  const { v2 } = ENDPOINT_RULES;
  const names = { userinfo: ['email', 'website', 'locale', 'other'], idToken: ['email', 'phone_number', 'locale'] };
  const all = { userinfo: ['email', 'website'], idToken: ['phone_number', 'locale'] };
  assert.deepEqual(effectiveClaims(names, v2, null), all);
  assert.deepEqual(effectiveClaims(names, v2, ['email']), { userinfo: ['email'], idToken: ['locale'] });
  assert.equal(effectiveClaims({ userinfo: ['locale'], idToken: ['email'] }, v2, null), null);
  assert.deepEqual(scopesOfClaims(all, V2_CLAIM_SCOPES), ['email', 'details', 'phone']);
});

test('at the OIDC endpoints every claim about the user needs a scope, and every requested one counts', () => {
  const names = { userinfo: ['name', 'locale', 'email'], idToken: ['name', 'email', 'acr'] };
  const { oidc } = ENDPOINT_RULES;
  assert.deepEqual(effectiveClaims(names, oidc, null), names);
  assert.deepEqual(effectiveClaims(names, oidc, ['email']), { userinfo: ['email'], idToken: ['email', 'acr'] });
  assert.deepEqual(new Set(scopesOfClaims(names, OIDC_CLAIM_SCOPES)), new Set(['profile', 'email']));
  const left = coveredClaims(names, OIDC_CLAIM_SCOPES, new Set(['email']));
  assert.deepEqual(left, { userinfo: ['email'], idToken: ['email', 'acr'] });
  assert.deepEqual(remainingNames(['name', 'email'], new Set(['profile'])), ['email']);
});

test('claims follow the scopes that cover them', () => {
  const claims = { userinfo: ['email', 'website'], idToken: ['acr'] };
  assert.deepEqual(coveredClaims(claims, V2_CLAIM_SCOPES, new Set(['details'])), {
    userinfo: ['website'],
    idToken: ['acr'],
  });
  assert.equal(coveredClaims({ userinfo: ['email'], idToken: [] }, V2_CLAIM_SCOPES, new Set()), null);
  assert.deepEqual(remainingClaims(claims, new Set(['email'])), { userinfo: ['website'], idToken: ['acr'] });
  assert.deepEqual(remainingNames(['email', 'website'], new Set(['details'])), ['email']);
});
