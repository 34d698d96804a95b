// store: none
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { IDENTITY_SCOPES, SCOPES } from '../permissions.ts';
import { describeMalformedScope, describeUnknownScope, nearestScope, scopeAdviceLine } from './scope-advice.ts';

const nearest: readonly (readonly [sent: string, nearest: string | undefined])[] = [
  ['organization', 'organization.read'],
  ['organization:read', 'organization.read'],
  ['organisation.read', 'organization.read'],
  ['organization.write', 'organization.read'],
  ['offline', 'offline_access'],
  ['offline-access', 'offline_access'],
  ['Email', 'email'],
  ['emails', 'email'],
  ['mail', 'email'],
  ['open_id', 'openid'],
  ['profil', 'profile'],
  ['things', undefined],
  ['group', 'groups'],
  ['x'.repeat(5000), undefined],
];
for (const [sent, expected] of nearest) {
  test(`the nearest scope to ${sent.slice(0, 40)} is ${expected ?? 'none'}`, () => {
    assert.equal(nearestScope(sent, SCOPES), expected);
  });
}

const described = (scope: string): string => scopeAdviceLine(describeUnknownScope(scope, IDENTITY_SCOPES));

test('usual mistakes are named, and a long name is not repeated whole', () => {
  assert.match(described('openid,email'), /by spaces, not by commas/);
  assert.match(described('openid+email'), /encoded twice/);
  assert.match(described('openid%20email'), /encoded twice/);
  assert.match(
    described('things'),
    /leave it out; scopes of APIs are requested at \/oidc\/authorize\. Available scopes: openid /,
  );
  assert.match(described('groups'), /only the OIDC endpoints have it/);
  assert.ok(described('x'.repeat(3000)).length < 300);
  assert.match(describeMalformedScope('["openid"]').cause, /quotes or brackets/);
  assert.match(describeMalformedScope('openid  email').cause, /a space too many/);
  assert.match(describeMalformedScope('é').cause, /a character that no scope has/);
});
