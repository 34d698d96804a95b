// store: none
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ENDPOINT_RULES } from '../../../claims/endpoint-set.ts';
import { ClockBehind } from '../../../platform/clock.ts';
import {
  accessClaims,
  audienceClaim,
  clientClaims,
  readAnyClaims,
  readClaims,
  readIdClaims,
  refreshExpiry,
} from './claims.ts';

const ISSUER = 'https://id.example';
const OWN = `${ISSUER}/oidc/userinfo`;
const NOW = 1_000_000_000;
const claims = {
  ...{ iss: ISSUER, aud: OWN, sub: '1', client_id: '2', family: '3', scope: 'openid', jti: 'j' },
  ...{ iat: NOW / 1000, exp: NOW / 1000 + 1800 },
};

const readable: [string, object, boolean][] = [
  ['as they are', {}, true],
  ['of another issuer', { iss: 'https://other.example' }, false],
  ['for another resource', { aud: 'https://api.example' }, false],
  ['for UserInfo among others', { aud: [OWN, 'https://api.example'] }, true],
  ['with a list of one audience', { aud: [OWN] }, false],
  ['in the last second', { exp: NOW / 1000 + 1 }, true],
  ['in the instant of exp', { exp: NOW / 1000 }, false],
  ['not valid yet', { nbf: NOW / 1000 + 3600 }, false],
  ['without a scope', { scope: '' }, false],
  ['without a family', { family: undefined }, false],
  ['with an account that is no id', { sub: '01' }, false],
  ['without jti', { jti: '' }, false],
  ['with a fraction of a second', { iat: 1.5 }, false],
  ['with claims that are no strings', { claims: [1] }, false],
];
for (const [name, change, isRead] of readable) {
  test(`access token claims ${name} are ${isRead ? 'read' : 'refused'}`, () =>
    assert.equal(readClaims({ ...claims, ...change }, 'access', ISSUER, NOW) !== undefined, isRead));
}

test('an access token from the future is not judged', () => {
  assert.throws(() => readClaims({ ...claims, iat: NOW / 1000 + 3600 }, 'access', ISSUER, NOW), ClockBehind);
});

test('RFC 9068 §2.2: the token of a client itself names the client as its subject', () => {
  const own = clientClaims(ISSUER, '2', { jti: 'j', resources: [] }, NOW);
  assert.deepEqual([own['aud'], own['sub']], [ISSUER, '2']);
  assert.equal(readClaims(own, 'access', ISSUER, NOW), undefined);
  assert.equal(readAnyClaims(own, 'access', ISSUER, NOW)?.accountId, null);
  assert.equal(readAnyClaims(own, 'refresh', ISSUER, NOW), undefined);
});

test('RFC 8707 §2: a token for other resources tells them no email', () => {
  const profile = { email: 'ada@example.com' };
  const subject = { issuer: ISSUER, accountId: '1', clientId: '2', familyId: '3', profile } as unknown;
  const access = { rules: ENDPOINT_RULES.v2, scope: 'openid', claims: null };
  const of = (resources: readonly string[] | null) =>
    accessClaims(subject as Parameters<typeof accessClaims>[0], { ...access, resources }, 'j', NOW);
  assert.deepEqual([of(null)['aud'], of(null)['email']], [OWN, 'ada@example.com']);
  assert.equal(of([OWN])['email'], 'ada@example.com');
  assert.equal(of([OWN, 'https://api.example'])['email'], undefined);
});

test('RFC 7519 §4.1.3: one audience is a string, several are an array', () => {
  assert.equal(audienceClaim([]), undefined);
  assert.equal(audienceClaim(['a']), 'a');
  assert.deepEqual(audienceClaim(['a', 'b']), ['a', 'b']);
});

test('an ID token hint is read without its time, and only from this issuer', () => {
  const { family, jti, ...rest } = { iss: ISSUER, aud: '2', sub: '1', family: '3', jti: '3.r', sid: 's', exp: 0 };
  const named = { accountId: '1', clientId: '2', familyId: '3', sid: 's' };
  for (const hint of [
    { ...rest, jti },
    { ...rest, family },
  ]) {
    assert.deepEqual(readIdClaims(hint, ISSUER), named);
    for (const change of [{ iss: 'x' }, { aud: ['2'] }, { sub: 'x' }, { sid: 1 }, { family: 3 }]) {
      assert.equal(readIdClaims({ ...hint, ...change }, ISSUER), undefined);
    }
  }
  for (const wrong of ['3', '.3', 'x.3', '03.r', '', 3, undefined]) {
    assert.equal(readIdClaims({ ...rest, jti: wrong }, ISSUER), undefined, String(wrong));
  }
});

test('a refresh token expires in a week, but not after its family', () => {
  const week = 7 * 24 * 60 * 60 * 1000;
  assert.equal(refreshExpiry(NOW, NOW + 2 * week), NOW + week);
  assert.equal(refreshExpiry(NOW, NOW + 1500), NOW + 1000);
});
