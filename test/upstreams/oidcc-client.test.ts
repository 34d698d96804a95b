// store: none
import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { exportJWK, generateKeyPair } from 'jose';
import { outgoing } from '../../src/platform/http/outgoing.ts';
import { newAttempt, type ProviderClient } from '../../src/upstreams/kind.ts';
import { oidc } from '../../src/upstreams/kinds/oidc.ts';
import { createProviderDocuments } from '../../src/upstreams/provider-documents.ts';
import { UpstreamRefusal } from '../../src/upstreams/refusal.ts';
import { type Members, type Tricks, UpstreamProvider } from '../support/upstream-provider.ts';

/*
 * The modules of the official suite for relying parties, by their names: those of the plans for the code flow with discovery. More than
 * they ask is in hostile-provider.test.ts.
 */

const REDIRECT = 'http://localhost:3000/login/with/example/callback';
const send = outgoing({ local: true, networks: [] });
const newServices = () => ({
  documents: createProviderDocuments(send, Date.now, true),
  outgoing: send,
  clock: Date.now,
  local: true,
});

let provider: UpstreamProvider;
beforeEach(async () => {
  provider = await UpstreamProvider.start();
});
afterEach(() => provider[Symbol.asyncDispose]());

async function signIn(tricks: Tricks = {}, services = newServices()) {
  provider.tricks = tricks;
  const client: ProviderClient = {
    ...{ issuer: provider.issuer, clientId: provider.clientId, clientSecret: provider.clientSecret },
    ...{ scopes: ['openid', 'profile', 'email'], subjectClaim: 'sub', signer: null, claimsMap: {} },
  };
  const attempt = newAttempt(null, null);
  const question = { redirectUri: REDIRECT, state: 'st4te', prompt: null, loginHint: null, acrs: [] };
  const url = await oidc.begin(services, client, attempt, question);
  const callback = provider.authorize(url).searchParams;
  return oidc.finish(services, client, attempt, { callback, redirectUri: REDIRECT, state: 'st4te' });
}

async function accepted(tricks: Tricks = {}, services = newServices()): Promise<void> {
  assert.equal((await signIn(tricks, services)).subject, 'alice-1');
}

const claim = (name: string, value: unknown): Tricks => ({
  claims: ({ [name]: _, ...claims }) => (value === undefined ? claims : { ...claims, [name]: value }),
});
const otherKey = async (alg: string, kid?: string) => {
  const { publicKey } = await generateKeyPair(alg, { extractable: true });
  return { ...(await exportJWK(publicKey)), alg, use: 'sig', ...(kid !== undefined && { kid }) };
};
/** Changes the signature of a token. */
const spoiled: Tricks = {
  async idToken(claims, from) {
    const [header, payload, signature = ''] = (await from.sign(claims)).split('.');
    return `${header}.${payload}.${signature.startsWith('A') ? 'B' : 'A'}${signature.slice(1)}`;
  },
};
const unsigned: Tricks = {
  idToken: (claims) =>
    `${[{ alg: 'none' }, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.')}.`,
};
const withoutKid: Tricks = { header: () => ({ kid: undefined }) };
const userinfo = { metadata: (known: Members) => ({ ...known, userinfo_endpoint: `${known['issuer']}/userinfo` }) };

describe('a sign-in is accepted', () => {
  test('oidcc-client-test', () => accepted());
  test('oidcc-client-test-client-secret-basic', () => accepted());
  test('oidcc-client-test-client-secret-post', async () => {
    provider.authenticates = async (form) => form.get('client_secret') === provider.clientSecret;
    const metadata = (known: Members) => ({ ...known, token_endpoint_auth_methods_supported: ['client_secret_post'] });
    await accepted({ metadata });
  });
  test('oidcc-client-test-idtoken-sig-rs256', async () => {
    await provider.rotate('key-1', 'RS256');
    await accepted();
  });
  test('oidcc-client-test-idtoken-sig-es256', () => accepted());
  test('oidcc-client-test-kid-absent-single-jwks', () => accepted(withoutKid));
  test('oidcc-client-test-discovery-openid-config', () => accepted());
  test('oidcc-client-test-discovery-jwks-uri-keys', async () => {
    await accepted();
    assert.ok(provider.asked.includes('/jwks'));
  });
  test('oidcc-client-test-signing-key-rotation', async () => {
    const services = newServices();
    await accepted({}, services);
    await provider.rotate('key-2');
    await accepted({}, services);
  });
  test('oidcc-client-test-signing-key-rotation-just-before-signing', async () => {
    const services = newServices();
    await accepted({}, services);
    const idToken: Tricks['idToken'] = async (claims, from) => {
      await from.rotate('key-3');
      return from.sign(claims);
    };
    await accepted({ idToken }, services);
  });
});

const REFUSED: Readonly<Record<string, Tricks>> = {
  'oidcc-client-test-nonce-invalid': claim('nonce', 'another'),
  'oidcc-client-test-invalid-iss': claim('iss', 'https://other.example'),
  'oidcc-client-test-missing-sub': claim('sub', undefined),
  'oidcc-client-test-invalid-aud': claim('aud', 'another'),
  'oidcc-client-test-missing-aud': claim('aud', undefined),
  'oidcc-client-test-missing-iat': claim('iat', undefined),
  'oidcc-client-test-invalid-athash': claim('at_hash', 'AAAAAAAAAAAAAAAAAAAAAA'),
  'oidcc-client-test-idtoken-sig-none': unsigned,
  'oidcc-client-test-invalid-sig-es256': spoiled,
  'oidcc-client-test-kid-absent-multiple-jwks': {
    ...withoutKid,
    keys: async ([key]) => ({ keys: [key, await otherKey('ES256', 'key-2')] }),
  },
  'oidcc-client-test-discovery-issuer-mismatch': {
    metadata: (known) => ({ ...known, issuer: 'https://other.example' }),
  },
};

describe('a sign-in is refused', () => {
  for (const [name, tricks] of Object.entries(REFUSED)) {
    test(name, async () => {
      await assert.rejects(signIn(tricks), UpstreamRefusal);
      await accepted();
    });
  }
  test('oidcc-client-test-invalid-sig-rs256', async () => {
    await provider.rotate('key-1', 'RS256');
    await assert.rejects(signIn(spoiled), /signature/);
    await accepted();
  });
});

// OpenID Connect Core 1.0 §3.1.3.6: at_hash is optional in the code flow.
test('oidcc-client-test-missing-athash', () => accepted(claim('at_hash', undefined)));

// Nothing is asked there: what the ID token says is enough, so that no answer of the endpoint can say otherwise.
for (const name of ['userinfo-invalid-sub', 'userinfo-bearer-header', 'scope-userinfo-claims']) {
  test(`oidcc-client-test-${name}: the UserInfo endpoint is not asked`, async () => {
    await accepted(userinfo);
    assert.deepEqual(new Set(provider.asked), new Set(['/.well-known/openid-configuration', '/jwks', '/token']));
  });
}
