// store: none
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ENDPOINT_RULES } from '../../claims/endpoint-set.ts';
import { buildKeySet } from '../../keys/keys.ts';
import { idTokenAlg, mint, newRefreshToken } from './grant.ts';

const NOW = Date.parse('2026-03-01T12:00:00.250Z');
const profile = {
  ...{ username: 'ada', email: 'ada@example.com', emailVerified: true, displayName: 'Ada', about: '', language: 'en' },
  ...{ theme: null, website: null, location: null, birthDate: null, phone: null, socialLinks: [], picture: null },
  avatarColor: '#5b2a86',
};
const subject = {
  ...{ issuer: 'https://id.example', accountId: '1', clientId: '2', metadataUrl: null, familyId: '3', sid: 's' },
  ...{ profile, updatedAt: NOW, authTime: NOW, amr: ['pwd'], acr: null, member: {}, claimNames: null },
};

test('JW-17: 100,000 tokens of one moment, person and client, half of each kind, have 100,000 jtis', async () => {
  const keySet = buildKeySet('1', [{ kid: 'k', material: Buffer.alloc(32, 1), retiredAt: null }]);
  const order = {
    ...{ subject, scope: 'openid', nonce: null, narrowed: false, claims: null },
    rules: ENDPOINT_RULES.v2,
    withGrantedClaims: false,
    alg: 'HS256',
    proof: { kind: 'secret', secret: 'x' },
  } as const;
  const jtis = new Set<unknown>();
  for (let n = 0; n < 50_000; n++) {
    const refreshToken = newRefreshToken(keySet, NOW, NOW + 90 * 86_400_000);
    const tokens = await mint(keySet, { ...order, refreshToken }, NOW);
    for (const token of [tokens?.access_token, tokens?.refresh_token]) {
      jtis.add(JSON.parse(Buffer.from(token?.split('.')[1] ?? '', 'base64url').toString()).jti);
    }
  }
  assert.equal(jtis.size, 100_000);
});

const LEFT_OUT = { idTokenSignedResponseAlg: null, backchannelLogoutUri: null };
type AlgCase = [name: string, client: object, proof: 'secret' | 'public' | 'assertion', expected: readonly string[]];
const algs: AlgCase[] = [
  ['a client that presents a secret', {}, 'secret', ['HS256', 'RS256']],
  ['one with back-channel logout', { backchannelLogoutUri: 'https://app.example/out' }, 'secret', ['RS256', 'RS256']],
  ['one that presents an assertion', {}, 'assertion', ['RS256', 'RS256']],
  ['a public client', {}, 'public', ['RS256', 'RS256']],
  ['HS256 registered', { idTokenSignedResponseAlg: 'HS256' }, 'secret', ['HS256', 'HS256']],
  ['ES256 registered', { idTokenSignedResponseAlg: 'ES256' }, 'secret', ['ES256', 'ES256']],
];
for (const [name, change, kind, expected] of algs) {
  test(`decisions §10: the algorithm of ID tokens of ${name}`, () => {
    const authenticated = { client: { ...LEFT_OUT, ...change }, proof: { kind } };
    assert.deepEqual(
      (['HS256', 'RS256'] as const).map((withSecret) => idTokenAlg(authenticated, withSecret)),
      expected,
    );
  });
}
