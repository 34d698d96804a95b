import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AuthorizationRequest } from './request.ts';
import { restoredRequest, storedRequest } from './stored-request.ts';

const request = (state: string | null): AuthorizationRequest => ({
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
  test(`a stored request comes back as it was: state ${JSON.stringify(state)?.slice(0, 20)}`, () => {
    const stored = storedRequest(request(state));
    assert.deepEqual(restoredRequest(stored.json, stored.state), request(state));
    assert.equal(stored.state?.length ?? null, state === null ? null : new TextEncoder().encode(state).length);
    assert.ok(!stored.json.includes('"state"'));
  });
}

test('one that was kept before state was stored beside it comes back with its state', () => {
  const { state, clientId, scopes } = request('before');
  const restored = restoredRequest(JSON.stringify({ clientId, scopes, state }), null);
  assert.deepEqual([restored.state, restored.responseMode, restored.claims], ['before', 'query', null]);
});
