// store: none
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { IDENTITY_SCOPES, SCOPES } from '../permissions.ts';
import { describeMalformedScope, describeUnknownScope, nearestScope } from './scope-advice.ts';

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

test('usual mistakes are named, and a long name is not repeated whole', () => {
  assert.match(describeUnknownScope('openid,email', IDENTITY_SCOPES), /by spaces, not by commas/);
  assert.match(describeUnknownScope('openid+email', IDENTITY_SCOPES), /encoded twice/);
  assert.match(describeUnknownScope('openid%20email', IDENTITY_SCOPES), /encoded twice/);
  assert.match(describeUnknownScope('things', IDENTITY_SCOPES), /leave it out; the scopes are openid /);
  assert.match(describeUnknownScope('groups', IDENTITY_SCOPES), /only the OIDC endpoints have it/);
  assert.ok(describeUnknownScope('x'.repeat(3000), IDENTITY_SCOPES).length < 200);
  assert.match(describeMalformedScope('["openid"]'), /quotes or brackets/);
  assert.match(describeMalformedScope('openid  email'), /a space too many/);
  assert.match(describeMalformedScope('é'), /a character that no scope has/);
});
