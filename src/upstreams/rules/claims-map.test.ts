// store: none
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mapClaims, POINTER, valueAt } from './claims-map.ts';

const claims = {
  name: ' Ada Lovelace ',
  locale: 'en_GB',
  groups: ['staff', 'Staff', 'a', 5, 'staff', 'two words', 'ops.eu'],
  realm_access: { roles: ['admin'] },
  'a/b': { 'c~d': ['first', 'second'] },
};

test('a pointer leads through objects and lists, and escapes / and ~', () => {
  assert.equal(valueAt(claims, '/a~1b/c~0d/1'), 'second');
  assert.deepEqual(valueAt(claims, '/realm_access/roles'), ['admin']);
  for (const nowhere of [
    '/none',
    '/name/length',
    '/groups/9',
    '/constructor',
    '/__proto__',
    '/realm_access/roles/0/x',
  ]) {
    assert.equal(valueAt(claims, nowhere), undefined, nowhere);
  }
});

test('a pointer is a path, never code', () => {
  const pattern = new RegExp(POINTER, 'u');
  for (const right of ['/name', '/a~1b/c~0d', '/https:~1~1x.example~1groups']) assert.match(right, pattern);
  for (const wrong of ['', 'name', '/', '/a//b', '/a~2', '$.name', '/x'.repeat(9)]) assert.doesNotMatch(wrong, pattern);
});

test('what has the right form is read, and nothing else', () => {
  const map = { name: '/name', language: '/locale', groups: '/groups' };
  assert.deepEqual(mapClaims(claims, map), { name: 'Ada Lovelace', language: 'en-GB', groups: ['staff', 'ops.eu'] });
  const odd = { name: { first: 'Ada' }, locale: 'English', groups: 'staff' };
  assert.deepEqual(mapClaims(odd, map), {});
  assert.deepEqual(mapClaims({ name: 'a\u0007' }, map), {});
  assert.deepEqual(mapClaims(claims, {}), {});
  assert.deepEqual(mapClaims({ groups: [] }, map), { groups: [] }, 'an empty list takes all away');
});
