// store: none
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ClaimsMap, type MappedClaims, mapClaims, POINTER, valueAt } from './claims-map.ts';
import type { TokenClaims } from './token-claims.ts';

const claims = {
  name: ' Ada Lovelace ',
  locale: 'en_GB',
  groups: ['staff', 'Staff', 'a', 5, 'staff', 'two words', 'ops.eu'],
  realm_access: { roles: ['admin'] },
  'a/b': { 'c~d': ['first', 'second'] },
};

function requireMapped(said: TokenClaims, map: ClaimsMap): MappedClaims {
  const mapped = mapClaims(said, map);
  assert.ok(!('problem' in mapped));
  return mapped;
}

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
  const map = { name: '/name', language: '/locale', picture: '/picture', groups: '/groups' };
  const { ignored, ...said } = requireMapped({ ...claims, picture: 'https://img.example/a b.png' }, map);
  assert.deepEqual(said, {
    ...{ name: 'Ada Lovelace', language: 'en-GB', picture: 'https://img.example/a%20b.png' },
    groups: ['staff', 'ops.eu'],
  });
  assert.deepEqual(ignored, []);
  assert.deepEqual(requireMapped(claims, {}), { ignored: [] });
  assert.deepEqual(requireMapped({ groups: [] }, { groups: '/groups' }).groups, [], 'an empty list takes all away');
});

test('what is absent or has another form is ignored, with a reason', () => {
  const map = { name: '/name', language: '/locale', picture: '/picture', groups: '/groups' };
  const odd = { name: { first: 'Ada' }, locale: 'English', picture: 'ada.png', groups: { staff: true } };
  const { ignored, ...said } = requireMapped(odd, map);
  assert.deepEqual(said, { groups: [] });
  assert.deepEqual(
    ignored.map(({ field, reason, isAbsent }) => [field, reason, isAbsent]),
    [
      ['name', '/name is not a text of at most 64 characters on one line.', false],
      ['language', '/locale is not a language tag such as en or de-AT.', false],
      ['picture', '/picture is not an https URL of at most 2000 characters.', false],
    ],
  );
  const absent = { field: 'name', reason: 'The token has no /name.', isAbsent: true };
  assert.deepEqual(requireMapped({}, { name: '/name' }).ignored, [absent]);
  for (const picture of [
    'javascript:alert(1)',
    'data:image/png,x',
    'https://a:b@img.example/',
    `https://x.example/${'a'.repeat(2000)}`,
  ]) {
    assert.equal(requireMapped({ picture }, map).picture, undefined, picture);
  }
});

test('groups are all that the claim names, up to a bound, and none where it is absent', () => {
  const map = { groups: '/groups' };
  const of = (count: number) => Array.from({ length: count }, (_, index) => `group-${index}`);
  assert.deepEqual(requireMapped({ groups: of(1000) }, map).groups, of(1000));
  assert.deepEqual(mapClaims({ groups: of(1001) }, map), { problem: 'the groups at /groups are more than 1000' });
  assert.deepEqual(requireMapped({ groups: 'staff' }, map).groups, ['staff'], 'a list of one');
  assert.deepEqual(requireMapped({}, map).groups, []);
  assert.deepEqual(requireMapped({}, { groups: '/realm_access/roles' }).groups, []);
});

test('groups that are elsewhere are unknown', () => {
  const overage = {
    _claim_names: { groups: 'src1' },
    _claim_sources: { src1: { endpoint: 'https://graph.example/' } },
  };
  const unknown = (claims: object, groups: string) => {
    const said = mapClaims({ ...claims }, { groups });
    return 'groupsUnknown' in said && !('groups' in said);
  };
  assert.ok(unknown(overage, '/groups'));
  assert.ok(unknown({ hasgroups: true }, '/groups'));
  assert.ok(unknown({ _claim_names: { 'a/b': 'src1' } }, '/a~1b'));
  assert.ok(!unknown(overage, '/roles'), 'another claim');
  assert.ok(!unknown({ hasgroups: true }, '/roles'));
  assert.ok(!unknown({ ...overage, groups: ['staff'] }, '/groups'), 'the token has them all the same');
  for (const none of [{ hasgroups: false }, { _claim_names: null }, { _claim_names: 'groups' }]) {
    assert.ok(!unknown(none, '/groups'), JSON.stringify(none));
  }
});
