import assert from 'node:assert/strict';
import { test } from 'node:test';
import { refreshedClaims, refreshedScope } from './refreshed-scope.ts';

const granted = 'openid email phone';
const cases: [string, readonly string[] | null, readonly string[] | undefined, object | undefined][] = [
  ['nothing asked: all that was granted', null, undefined, { scope: granted, differs: false }],
  ['less asked: less', null, ['openid', 'email'], { scope: 'openid email', differs: false }],
  ['openid is added, and told', null, ['email'], { scope: 'openid email', differs: true }],
  ['more asked: refused', null, ['openid', 'social'], undefined],
  [
    'a scope that the client lost is left out, and told',
    ['email'],
    undefined,
    { scope: 'openid email', differs: true },
  ],
  ['a scope that the client lost cannot be asked for', ['email'], ['openid', 'phone'], undefined],
];
for (const [name, registered, asked, expected] of cases) {
  const family = { scopes: granted, grantedScopes: granted };
  test(name, () => assert.deepEqual(refreshedScope(family, registered, asked), expected));
}

const narrowed = { scopes: 'openid email', grantedScopes: granted };
const withdrawn: [string, readonly string[] | null, readonly string[] | undefined, object | undefined][] = [
  ['nothing asked: what is left, and told', null, undefined, { scope: 'openid email', differs: true }],
  ['what is left is asked: not told', null, ['openid', 'email'], { scope: 'openid email', differs: false }],
  ['less asked: less', null, ['openid'], { scope: 'openid', differs: false }],
  ['what was withdrawn is asked: refused', null, ['openid', 'phone'], undefined],
  ['and the client lost another', ['phone'], undefined, { scope: 'openid', differs: true }],
];
for (const [name, registered, asked, expected] of withdrawn) {
  test(`after the person withdrew a scope: ${name}`, () =>
    assert.deepEqual(refreshedScope(narrowed, registered, asked), expected));
}

test('single claims are those that the client may ask for, and none for an access token with a scope of its own', () => {
  const claims = { userinfo: ['website', 'email'], idToken: ['locale', 'phone_number'] };
  assert.deepEqual(refreshedClaims(claims, null, undefined), claims);
  assert.deepEqual(refreshedClaims(claims, ['email'], undefined), { userinfo: ['email'], idToken: ['locale'] });
  assert.deepEqual(refreshedClaims(claims, null, ['openid']), { userinfo: [], idToken: claims.idToken });
  assert.equal(refreshedClaims(null, null, undefined), null);
});
