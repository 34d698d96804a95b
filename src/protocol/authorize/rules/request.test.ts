// store: none
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type AuthorizationRequest,
  errorResponse,
  findExcess,
  locationOf,
  restoredRequest,
  storedRequest,
  successResponse,
  withQuery,
} from './request.ts';

const request = (state: string | null): AuthorizationRequest => ({
  endpointSet: 'v2',
  clientId: '1',
  clientGeneration: 'generation',
  redirectUri: 'https://app.example.com/cb',
  responseMode: 'query',
  state,
  scopes: ['openid'],
  nonce: 'a\0b',
  codeChallenge: null,
  prompt: { none: false, login: false, consent: false, select: false },
  maxAge: null,
  subjects: null,
  hinted: null,
  loginHint: null,
  claims: null,
});

for (const state of [null, 'st4te', '\0\x01"\\', '\ufeffé授😀', 'x'.repeat(5000)]) {
  test(`a stored request is restored unchanged: state ${JSON.stringify(state)?.slice(0, 20)}`, () => {
    const stored = storedRequest(request(state));
    assert.deepEqual(restoredRequest(stored.json, stored.state), request(state));
    assert.equal(stored.state?.length ?? null, state === null ? null : new TextEncoder().encode(state).length);
    assert.ok(!stored.json.includes('"state"'));
  });
}

for (const [name, change, largest] of [
  ['state', { state: 'x'.repeat(4096) }, 'state'],
  ['state in UTF-8', { state: 'é'.repeat(2000) }, 'state'],
  ['nonce', { nonce: '\0'.repeat(1000) }, 'nonce'],
  ['an ordinary request', {}, undefined],
] as const) {
  test(`the size of ${name}: ${largest === undefined ? 'accepted' : `too much for ${largest}`}`, () =>
    assert.equal(findExcess({ ...request('xyz'), ...change })?.name, largest));
}

const issuer = 'https://id.example.com';
const iss = 'iss=https%3A%2F%2Fid.example.com';
for (const [name, response, expected] of [
  ['RFC 6749 §4.1.2: a code', successResponse(request('a b'), 'c0de', issuer), `?code=c0de&state=a+b&${iss}`],
  ['a code without a state', successResponse(request(null), 'c0de', issuer), `?code=c0de&${iss}`],
  [
    'RFC 6749 §4.1.2.1: an error',
    errorResponse(request('xyz'), { error: 'access_denied', description: 'No' }, issuer),
    `?error=access_denied&error_description=No&state=xyz&${iss}`,
  ],
] as const) {
  test(`RFC 9207 §2: ${name}`, () => assert.equal(locationOf(response), `https://app.example.com/cb${expected}`));
}

for (const [uri, expected] of [
  ['https://a.example/cb', 'https://a.example/cb?code=1'],
  ['https://a.example/cb?x=1', 'https://a.example/cb?x=1&code=1'],
  ['https://a.example/cb?', 'https://a.example/cb?code=1'],
  ['https://a.example/cb?x=1&', 'https://a.example/cb?x=1&code=1'],
] as const) {
  test(`RFC 6749 §3.1.2: the query of ${uri} is retained`, () => assert.equal(withQuery(uri, { code: '1' }), expected));
}
