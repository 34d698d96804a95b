// store: none
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ENDPOINT_RULES } from '../../../claims/endpoint-set.ts';
import { ClockBehind } from '../../../platform/clock.ts';
import { type RefreshTokenChain, refreshedClaims, refreshedScope, rotation } from './refresh.ts';

const { v2, oidc } = ENDPOINT_RULES;

const fresh: RefreshTokenChain = { currentJti: 'a', predecessorJti: null, rotatedAt: null };
const rotated: RefreshTokenChain = { currentJti: 'c', predecessorJti: 'b', rotatedAt: 1_000_000 };

const cases: [string, RefreshTokenChain, string, number, string][] = [
  ['the first token rotates', fresh, 'a', 1_000_000, 'rotate'],
  ['the current token rotates', rotated, 'c', 1_000_000, 'rotate'],
  ['the current token rotates long after', rotated, 'c', 9_000_000, 'rotate'],
  ['the predecessor repeats at once', rotated, 'b', 1_000_000, 'repeat'],
  ['the predecessor repeats in the last millisecond of grace', rotated, 'b', 1_029_999, 'repeat'],
  ['the predecessor is reuse when grace has ended', rotated, 'b', 1_030_000, 'reuse'],
  ['an older token is reuse also inside grace', rotated, 'a', 1_000_001, 'reuse'],
  ['a token that the family never had is reuse', fresh, 'x', 1_000_000, 'reuse'],
];
for (const [name, chain, jti, now, expected] of cases) {
  test(name, () => assert.equal(rotation(chain, jti, now), expected));
}

test('where the rotation lies in the future beyond a minute, no token of the family is judged', () => {
  for (const jti of ['a', 'b', 'x']) {
    assert.throws(() => rotation(rotated, jti, 939_999), ClockBehind);
    assert.ok(rotation(rotated, jti, 940_000));
  }
  assert.equal(rotation(rotated, 'c', 940_000), 'rotate');
});

const registeredFor = (scopes: readonly string[] | null) => ({ scopes, ofApis: [] });

const granted = 'openid email phone';
const scopes: [string, readonly string[] | null, readonly string[] | undefined, object | undefined][] = [
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
for (const [name, registered, asked, expected] of scopes) {
  const family = { scopes: granted, grantedScopes: granted };
  test(name, () => assert.deepEqual(refreshedScope(family, registeredFor(registered), asked, null, v2), expected));
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
    assert.deepEqual(refreshedScope(narrowed, registeredFor(registered), asked, null, v2), expected));
}

test('single claims are those that the client may ask for, and none for an access token with a scope of its own', () => {
  const claims = { userinfo: ['website', 'email'], idToken: ['locale', 'phone_number'] };
  assert.deepEqual(refreshedClaims(claims, null, undefined, v2), claims);
  assert.deepEqual(refreshedClaims(claims, ['email'], undefined, v2), {
    userinfo: ['email'],
    idToken: ['locale'],
  });
  assert.deepEqual(refreshedClaims(claims, null, ['openid'], v2), { userinfo: [], idToken: claims.idToken });
  assert.equal(refreshedClaims(null, null, undefined, v2), null);
});

test('at the OIDC endpoints a refresh grants openid only where the authorization did', () => {
  const family = { scopes: 'profile email', grantedScopes: 'profile email' };
  const registered = registeredFor(null);
  assert.deepEqual(refreshedScope(family, registered, ['email'], null, oidc), { scope: 'email', differs: false });
  assert.equal(refreshedScope(family, registered, ['openid', 'email'], null, oidc), undefined);
});

const [notes, bills] = ['https://notes.example', 'https://bills.example'];
const ofApis = [
  { id: '7', name: 'read', apiId: '1', resource: notes },
  { id: '8', name: 'write', apiId: '1', resource: notes },
  { id: '9', name: 'read', apiId: '2', resource: bills },
];
const atApis: [string, readonly string[] | undefined, readonly string[], string | undefined][] = [
  ['nothing asked: those of the resources', undefined, [notes], 'openid read write'],
  ['of two APIs with one name, each resource has its own', undefined, [bills], 'openid'],
  ['less asked: less', ['write'], [notes], 'write'],
  ['one of another resource asked: refused', ['write'], [bills], undefined],
  ['the id of one asked: refused', ['7'], [notes], undefined],
];
for (const [name, asked, resources, scope] of atApis) {
  const family = { scopes: 'openid 7 8', grantedScopes: 'openid 7 8' };
  test(`scopes of APIs, ${name}`, () =>
    assert.equal(refreshedScope(family, { scopes: null, ofApis }, asked, resources, oidc)?.scope, scope));
}

test('a scope that the API takes away from the client is left out, also when it is given back under another id', () => {
  const family = { scopes: 'openid 7 8', grantedScopes: 'openid 7 8' };
  const givenBack = [{ ...(ofApis[0] ?? assert.fail()), id: '10' }, ...ofApis.slice(1)];
  const refreshed = refreshedScope(family, { scopes: null, ofApis: givenBack }, undefined, [notes], oidc);
  assert.equal(refreshed?.scope, 'openid write');
});
