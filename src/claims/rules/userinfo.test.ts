// store: none
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OIDC_CLAIM_SCOPES, V2_CLAIM_SCOPES } from '../permissions.ts';
import { pictureUrl, singleClaims, standardClaims, userInfo } from './userinfo.ts';

const ISSUER = 'https://id.example';
const profile = {
  ...{ username: 'ada', email: 'ada@example.com', emailVerified: true, displayName: 'Ada', about: '', language: 'en' },
  ...{ theme: null, website: null, location: null, birthDate: '1990-12-10', phone: null, socialLinks: [] },
  ...{ picture: null, avatarColor: '#5b2a86' },
};
const person = { id: '1', profile, organization: null, createdAt: 0, updatedAt: 1500 };

const fields: [string, readonly string[]][] = [
  ['email', ['email']],
  ['details', ['website', 'location', 'birthDate']],
  ['phone', ['phone']],
  ['social', ['socialLinks']],
  ['organization.read', ['organization']],
];
const base = Object.keys(userInfo(person, new Set(), ISSUER).user);
for (const [scope, names] of fields) {
  test(`contract §2.1: ${scope} adds ${names.join(', ')}, also without a value`, () => {
    const added = Object.keys(userInfo(person, new Set([scope]), ISSUER).user).filter((name) => !base.includes(name));
    assert.deepEqual(added, names);
  });
}

test('the contract’s language is that of the tag, in two letters; the claim locale is the tag', () => {
  const elsewhere = { ...person, profile: { ...profile, language: 'zh-Hant-TW' } };
  assert.equal(userInfo(elsewhere, new Set(), ISSUER).language, 'zh');
  const claims = standardClaims(elsewhere, new Set(['openid', 'profile']), OIDC_CLAIM_SCOPES, ISSUER);
  assert.equal(claims['locale'], 'zh-Hant-TW');
});

test('OpenID Connect Core 1.0 §5.3.2: a standard claim without a value is absent', () => {
  const claims = standardClaims(person, new Set(['details', 'phone']), V2_CLAIM_SCOPES, ISSUER);
  assert.equal(claims['birthdate'], '1990-12-10');
  assert.equal(claims['updated_at'], 1);
  for (const name of ['website', 'phone_number', 'phone_number_verified', 'email']) assert.ok(!(name in claims), name);
});

test('at the OIDC endpoints no claim but sub is given without a scope or a request', () => {
  assert.deepEqual(standardClaims(person, new Set(['openid']), OIDC_CLAIM_SCOPES, ISSUER), { sub: '1' });
  const named = standardClaims(person, new Set(['openid', 'profile']), OIDC_CLAIM_SCOPES, ISSUER);
  assert.deepEqual(Object.keys(named), ['sub', 'name', 'preferred_username', 'picture', 'locale', 'updated_at']);
});

test('OpenID Connect Core 1.0 §5.5: a single claim is given without its scope', () => {
  assert.equal(standardClaims(person, new Set(), V2_CLAIM_SCOPES, ISSUER, ['email'])['email'], 'ada@example.com');
  assert.deepEqual(singleClaims(person, ['birthdate', 'website', 'other', 'toString'], ISSUER), {
    birthdate: '1990-12-10',
  });
});

test('the URL of a picture is that of the upload, or of the initials', () => {
  assert.equal(pictureUrl(ISSUER, '1', null), 'https://id.example/avatars/1.svg');
  assert.equal(pictureUrl(ISSUER, '1', 'a.png'), 'https://id.example/avatars/1/a.png');
});
