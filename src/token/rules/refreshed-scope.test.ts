import assert from 'node:assert/strict';
import { test } from 'node:test';
import { refreshedScope } from './refreshed-scope.ts';

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
  test(name, () => assert.deepEqual(refreshedScope(granted, registered, asked), expected));
}
