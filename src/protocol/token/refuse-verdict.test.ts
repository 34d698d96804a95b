// store: none
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ENDPOINT_RULES } from '../../claims/endpoint-set.ts';
import { refusalByVerdict } from './refusals/sign-ins.ts';
import { refusal } from './refuse.ts';
import { refuseToken } from './refuse-verdict.ts';

const { v2, oidc } = ENDPOINT_RULES;

test('contract, HTTP errors: a refusal has the code and message of its verdict', () => {
  const cases = [
    [{ kind: 'banned' }, 'access_denied', 'Account banned'],
    [{ kind: 'suspended' }, 'access_denied', 'Account is suspended'],
    [{ kind: 'revoked' }, 'access_denied', 'Access revoked by user'],
  ] as const;
  for (const [verdict, code, message] of cases) {
    const name = refusalByVerdict(verdict, 'sign-in of the code ended');
    for (const error of [refuseToken(verdict), refusal(name, { verdict, rules: v2 })]) {
      assert.deepEqual([error.status, error.code, error.message], [403, code, message]);
    }
    const standard = refusal(name, { verdict, rules: oidc });
    assert.deepEqual([standard.status, standard.code, standard.message], [400, 'invalid_grant', message]);
  }
  const invalid = { kind: 'invalid', reason: 'why' } as const;
  assert.deepEqual([refuseToken(invalid).status, refuseToken(invalid).code], [401, 'invalid_token']);
  for (const rules of [v2, oidc]) {
    const error = refusal(refusalByVerdict(invalid, 'sign-in of the code ended'), { verdict: invalid, rules });
    assert.deepEqual([error.status, error.code, error.reason], [400, 'invalid_grant', 'why']);
  }
});
