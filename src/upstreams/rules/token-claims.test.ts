// store: none
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { readIdToken } from './id-token.ts';
import { readLogoutToken } from './logout-token.ts';
import { LOGOUT_EVENT, type TokenClaims } from './token-claims.ts';

const NOW = Date.UTC(2026, 10, 27, 12);
const seconds = NOW / 1000;
const EXPECTED = { issuer: 'https://upstream.example', clientId: 'tessera' };

const LOGOUT: TokenClaims = {
  iss: EXPECTED.issuer,
  aud: EXPECTED.clientId,
  iat: seconds,
  exp: seconds + 120,
  jti: 'one',
  sid: 'session-1',
  sub: 'alice-1',
  events: { [LOGOUT_EVENT]: {} },
};

const readLogout = (changes: TokenClaims, type?: string) =>
  readLogoutToken({ ...LOGOUT, ...changes }, type, EXPECTED, NOW);

const issuer = 'https://upstream.example';

describe('a logout token', () => {
  test('names a session, a person, or both', () => {
    assert.deepEqual(readLogout({}), { issuer, jti: 'one', sid: 'session-1', subject: 'alice-1', issuedAt: NOW });
    assert.deepEqual(readLogout({ sub: undefined }, 'logout+jwt'), {
      issuer,
      jti: 'one',
      sid: 'session-1',
      subject: null,
      issuedAt: NOW,
    });
    assert.deepEqual(readLogout({ sid: undefined }, 'JWT'), {
      issuer,
      jti: 'one',
      sid: null,
      subject: 'alice-1',
      issuedAt: NOW,
    });
  });

  const refused: readonly (readonly [TokenClaims, RegExp, string?])[] = [
    [{ iss: 'https://other.example' }, /iss/],
    [{ aud: 'other' }, /aud/],
    [{ aud: ['tessera', 'other'] }, /azp/],
    [{ iat: seconds - 3600 }, /iat/],
    [{ iat: seconds + 3600 }, /iat/],
    [{ iat: undefined }, /iat/],
    [{ exp: seconds - 61 }, /exp/],
    [{ exp: 'soon' }, /exp/],
    [{ jti: undefined }, /jti/],
    [{ jti: 'x'.repeat(256) }, /jti/],
    [{ events: undefined }, /events/],
    [{ events: { 'https://other.example': {} } }, /events/],
    [{ events: { [LOGOUT_EVENT]: true } }, /events/],
    [{ events: [LOGOUT_EVENT] }, /events/],
    [{ nonce: 'one' }, /nonce/],
    [{ sid: undefined, sub: undefined }, /neither/],
    [{ sid: 7 }, /sid/],
    [{ sid: 'a\0b' }, /sid/],
    [{ jti: 'a\0b' }, /jti/],
    [{ sub: ['alice-1'] }, /sub/],
    [{}, /typ/, 'at+jwt'],
    [{}, /typ/, 'secevent+jwt'],
  ];
  for (const [changes, problem, type] of refused) {
    test(`is refused with ${JSON.stringify(changes)}${type === undefined ? '' : ` as ${type}`}`, () => {
      const read = readLogout(changes, type);
      assert.ok('problem' in read);
      assert.match(read.problem, problem);
    });
  }
});

describe('an ID token', () => {
  const expected = {
    ...EXPECTED,
    nonce: 'n',
    maxAge: null,
    notBefore: null,
    accessTokenHash: 'h',
    subjectClaim: 'sub',
  } as const;
  const claims: TokenClaims = { ...LOGOUT, events: undefined, nonce: 'n', at_hash: 'h' };

  test('proposes nothing that could not be shown', () => {
    const read = readIdToken(
      { ...claims, name: 'x'.repeat(10_000), email: 'a\u202eb@upstream.example' },
      expected,
      NOW,
    );
    assert.ok(!('problem' in read));
    assert.deepEqual([read.name, read.email], [undefined, undefined]);
  });

  test('names no session that could not be stored', () => {
    const read = readIdToken({ ...claims, sid: 'session\u00001' }, expected, NOW);
    assert.ok(!('problem' in read));
    assert.equal(read.sid, null);
  });

  test('keeps a bounded list of methods', () => {
    const amr = ['pwd', 7, 'a b', ...Array.from({ length: 1000 }, (_, index) => `m${index}`)];
    const read = readIdToken({ ...claims, amr }, expected, NOW);
    assert.ok(!('problem' in read));
    assert.equal(read.amr.length, 10);
    assert.deepEqual(read.amr.slice(0, 2), ['pwd', 'm0']);
  });

  test('of Microsoft Entra identifies a person by tid and oid', () => {
    const entra = { ...expected, subjectClaim: 'oid' } as const;
    const read = readIdToken({ ...claims, tid: 'tenant', oid: 'object' }, entra, NOW);
    assert.ok(!('problem' in read));
    assert.equal(read.subject, 'tenant/object');
    assert.ok('problem' in readIdToken({ ...claims, oid: 'object' }, entra, NOW));
    assert.ok('problem' in readIdToken({ ...claims, tid: 'x'.repeat(200), oid: 'y'.repeat(200) }, entra, NOW));
  });

  test('within the tolerance of the clocks is accepted, beyond it is not', () => {
    assert.ok(!('problem' in readIdToken({ ...claims, iat: seconds + 59, exp: seconds + 100 }, expected, NOW)));
    assert.ok('problem' in readIdToken({ ...claims, iat: seconds + 61 }, expected, NOW));
    assert.ok(!('problem' in readIdToken({ ...claims, exp: seconds - 59 }, expected, NOW)));
    assert.ok('problem' in readIdToken({ ...claims, exp: seconds - 60 }, expected, NOW));
  });
});
