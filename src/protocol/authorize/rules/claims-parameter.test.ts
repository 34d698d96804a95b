// store: none
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseClaims } from './claims-parameter.ts';

const empty = { userinfo: [], idToken: [], subjects: null, acr: { essential: false, values: null } };
const cases: [string, unknown, unknown][] = [
  ['nothing', {}, empty],
  ['voluntary claims', { userinfo: { email: null, website: {} } }, { ...empty, userinfo: ['email', 'website'] }],
  [
    'a value of sub limits the accounts',
    { id_token: { sub: { value: '7' } } },
    { ...empty, idToken: ['sub'], subjects: ['7'] },
  ],
  [
    'sub in both members: the accounts that are in both',
    { userinfo: { sub: { values: ['7', '8'] } }, id_token: { sub: { values: ['8', '9', 'x'] } } },
    { ...empty, userinfo: ['sub'], idToken: ['sub'], subjects: ['8'] },
  ],
  [
    'an essential acr',
    { id_token: { acr: { essential: true, value: 'a' } } },
    { ...empty, idToken: ['acr'], acr: { essential: true, values: ['a'] } },
  ],
  ['unknown members are ignored', { other: 1, userinfo: { email: { other: 1 } } }, { ...empty, userinfo: ['email'] }],
  ['an array', [], { problem: 'must be a JSON object' }],
  ['a member that is no object', { userinfo: 1 }, { problem: 'must have an object as userinfo' }],
  [
    'a claim that is no object',
    { id_token: { email: true } },
    { problem: 'must have null, or an object with essential, value or values, for each claim of id_token' },
  ],
];
for (const [name, value, expected] of cases) {
  test(`OpenID Connect Core 1.0 §5.5: ${name}`, () => assert.deepEqual(parseClaims(JSON.stringify(value)), expected));
}
test('OpenID Connect Core 1.0 §5.5: a text that is no JSON', () =>
  assert.deepEqual(parseClaims('{'), { problem: 'must be JSON' }));
