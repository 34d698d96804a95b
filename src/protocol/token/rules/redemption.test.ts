// store: none
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ClockBehind } from '../../../platform/clock.ts';
import { type CodePresentation, type IssuedCode, redemption } from './redemption.ts';

// The example of RFC 7636 appendix B.
const verifier = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk';
const challenge = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM';

const code: IssuedCode = {
  endpointSet: 'v2',
  clientId: '1',
  redirectUri: 'https://a/cb',
  codeChallenge: null,
  issuedAt: 0,
  expiresAt: 60_000,
  redeemed: false,
};
const bound: IssuedCode = { ...code, codeChallenge: challenge };
const right: CodePresentation = {
  endpointSet: 'v2',
  clientId: '1',
  redirectUri: 'https://a/cb',
  codeVerifier: undefined,
};

const cases: [string, IssuedCode, CodePresentation, number, string][] = [
  ['a right use redeems', code, right, 0, 'redeem'],
  ['the other endpoints’ token endpoint refuses it', code, { ...right, endpointSet: 'oidc' }, 0, 'refuse'],
  [
    'and takes no second use there for a replay',
    { ...code, redeemed: true },
    { ...right, endpointSet: 'oidc' },
    0,
    'refuse',
  ],
  ['a public client must have used PKCE', code, { ...right, pkceRequired: true }, 0, 'refuse'],
  [
    'a public client redeems with its verifier',
    bound,
    { ...right, codeVerifier: verifier, pkceRequired: true },
    0,
    'redeem',
  ],
  ['a right use redeems in the last millisecond', code, right, 59_999, 'redeem'],
  ['a code is dead after 60 seconds', code, right, 60_000, 'refuse'],
  ['another client is refused', code, { ...right, clientId: '2' }, 0, 'refuse'],
  ['another redirect_uri is refused', code, { ...right, redirectUri: 'https://a/CB' }, 0, 'refuse'],
  ['an unexpected verifier is refused', code, { ...right, codeVerifier: verifier }, 0, 'refuse'],
  ['the right verifier redeems', bound, { ...right, codeVerifier: verifier }, 0, 'redeem'],
  ['a missing verifier is refused', bound, right, 0, 'refuse'],
  ['a wrong verifier is refused', bound, { ...right, codeVerifier: 'x'.repeat(43) }, 0, 'refuse'],
  ['a short verifier is refused', bound, { ...right, codeVerifier: verifier.slice(1) }, 0, 'refuse'],
  ['a long verifier is refused', bound, { ...right, codeVerifier: 'x'.repeat(129) }, 0, 'refuse'],
  ['an ill-formed verifier is refused', bound, { ...right, codeVerifier: `${verifier.slice(1)}=` }, 0, 'refuse'],
  ['a second right use is a replay', { ...code, redeemed: true }, right, 0, 'replay'],
  ['a second right use is a replay however late', { ...code, redeemed: true }, right, 9e12, 'replay'],
  [
    'a second use by another client changes nothing',
    { ...code, redeemed: true },
    { ...right, clientId: '2' },
    0,
    'refuse',
  ],
  [
    'a second use with a wrong redirect_uri changes nothing',
    { ...code, redeemed: true },
    { ...right, redirectUri: 'x' },
    0,
    'refuse',
  ],
  [
    'a second use with a wrong verifier changes nothing',
    { ...bound, redeemed: true },
    { ...right, codeVerifier: 'x'.repeat(43) },
    0,
    'refuse',
  ],
];
for (const [name, issued, presented, now, kind] of cases) {
  test(name, () => assert.equal(redemption(issued, presented, now).kind, kind));
}

test('a code that was issued in the future, beyond a minute, is not judged', () => {
  assert.throws(() => redemption({ ...code, issuedAt: 60_001, expiresAt: 120_001 }, right, 0), ClockBehind);
  assert.equal(redemption({ ...code, issuedAt: 60_000, expiresAt: 120_000 }, right, 0).kind, 'redeem');
});
