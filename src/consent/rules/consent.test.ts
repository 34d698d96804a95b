// store: none
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ENDPOINT_RULES } from '../../claims/endpoint-set.ts';
import { decidedScopes, grantedScopes, type RememberedConsent, scopesNoLongerGranted, scopesToAsk } from './consent.ts';

const { v2, oidc } = ENDPOINT_RULES;

const remembered = (scopes: string[], declined: string[] = []): RememberedConsent => ({
  scopes: new Set(scopes),
  declined: new Set(declined),
});

const asks: [string, string[], RememberedConsent | null, boolean, string[] | undefined][] = [
  ['the first request asks, also for openid alone', ['openid'], null, false, []],
  ['the first request asks about each optional scope', ['openid', 'phone', 'email'], null, false, ['email', 'phone']],
  [
    'a request within what was granted asks nothing',
    ['openid', 'email'],
    remembered(['openid', 'email']),
    false,
    undefined,
  ],
  ['a request within what was declined asks nothing', ['email'], remembered(['openid'], ['email']), false, undefined],
  ['a new scope asks for the new one only', ['email', 'phone'], remembered(['openid'], ['email']), false, ['phone']],
  [
    'prompt=consent asks about everything',
    ['email', 'phone'],
    remembered(['openid', 'email'], ['phone']),
    true,
    ['email', 'phone'],
  ],
];
for (const [name, requested, before, always, expected] of asks) {
  test(name, () => assert.deepEqual(scopesToAsk(requested, before, always, v2), expected));
}

test('a decision adds to what was decided before', () => {
  const before = remembered(['openid', 'email'], ['phone']);
  assert.deepEqual(
    decidedScopes(['openid', 'details', 'social'], ['details', 'social'], new Set(['social']), before, v2),
    {
      scopes: 'openid email social',
      declined: 'details phone',
    },
  );
});

test('a decision replaces an earlier one about the same scope', () => {
  const before = remembered(['openid', 'email'], ['phone']);
  assert.deepEqual(decidedScopes(['email', 'phone'], ['email', 'phone'], new Set(['phone']), before, v2), {
    scopes: 'openid phone',
    declined: 'email',
  });
});

test('what a decision took away are the optional scopes that it no longer grants', () => {
  const before = new Set(['openid', 'profile', 'email', 'phone']);
  assert.deepEqual(scopesNoLongerGranted(before, new Set(['openid', 'phone', 'social']), v2), ['email']);
  assert.deepEqual(scopesNoLongerGranted(before, before, v2), []);
  assert.deepEqual(scopesNoLongerGranted(before, new Set(['openid']), v2), ['email', 'phone']);
});

test('a switch that the page did not show grants nothing', () => {
  assert.deepEqual(decidedScopes(['email'], [], new Set(['email', 'phone']), null, v2), {
    scopes: 'openid',
    declined: '',
  });
});

test('a request gets the granted part, and openid also when it left it out', () => {
  assert.equal(
    grantedScopes(['email', 'phone', 'profile'], new Set(['openid', 'email', 'social']), v2),
    'openid profile email',
  );
});

test('at the OIDC endpoints profile has a switch, and openid is granted only where it was requested', () => {
  assert.deepEqual(scopesToAsk(['openid', 'profile', 'email'], null, false, oidc), ['profile', 'email']);
  const decided = decidedScopes(['profile', 'offline_access'], ['profile'], new Set(), null, oidc);
  assert.deepEqual(decided, { scopes: 'offline_access', declined: 'profile' });
  assert.equal(grantedScopes(['profile', 'email'], new Set(['email']), oidc), 'email');
  assert.deepEqual(scopesNoLongerGranted(new Set(['profile']), new Set(), oidc), ['profile']);
});
