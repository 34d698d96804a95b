// store: none
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { forIdToken, groupClaim } from './member-claims.ts';

test('decisions §12: only the installation can make the name of a group without an organization', () => {
  assert.equal(groupClaim({ name: 'admins', organization: null }), 'admins');
  assert.equal(groupClaim({ name: 'admins', organization: 'acme' }), 'acme/admins');
});

test('a claim that is too long for an ID token is left out whole, and the other one stays', () => {
  const names = (count: number, length = 3) => Array.from({ length: count }, (_, n) => `${n}`.padStart(length, 'g'));
  const roles = ['viewer'];
  assert.deepEqual(forIdToken({ groups: names(200), roles }), { groups: names(200), roles });
  assert.deepEqual(forIdToken({ groups: names(201), roles }), { groups: undefined, roles });
  // As JSON, each takes three bytes more, and the list one.
  assert.equal(forIdToken({ groups: names(64, 60) }).groups?.length, 64);
  assert.equal(forIdToken({ groups: names(64, 61) }).groups, undefined);
  assert.deepEqual(forIdToken({ groups: [], roles: undefined }), { groups: [], roles: undefined });
});
