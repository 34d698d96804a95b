// store: none
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { refuseGrant, refuseToken } from './refuse-verdict.ts';

test('contract, HTTP errors: a refusal has the code and message of its verdict', () => {
  const cases = [
    [{ kind: 'banned' }, 'access_denied', 'Account banned'],
    [{ kind: 'suspended' }, 'access_denied', 'Account is suspended'],
    [{ kind: 'revoked' }, 'access_denied', 'Access revoked by user'],
  ] as const;
  for (const [verdict, code, message] of cases) {
    for (const error of [refuseToken(verdict), refuseGrant(verdict, 'other', false)]) {
      assert.deepEqual([error.status, error.code, error.message], [403, code, message]);
    }
    const standard = refuseGrant(verdict, 'other', true);
    assert.deepEqual([standard.status, standard.code, standard.message], [400, 'invalid_grant', message]);
  }
  const invalid = { kind: 'invalid', reason: 'why' } as const;
  assert.deepEqual([refuseToken(invalid).status, refuseToken(invalid).code], [401, 'invalid_token']);
  assert.deepEqual(
    [refuseGrant(invalid, 'x', false).status, refuseGrant(invalid, 'x', true).code],
    [400, 'invalid_grant'],
  );
});
