// store: SQLite, PostgreSQL with --all
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import * as oidc from 'openid-client';
import { formOf } from '../support/agent.ts';
import { answerDevice, newDeviceClient } from '../support/devices.ts';
import { admin, newUser, signedIn, walk } from '../support/flow.ts';
import { settle } from '../support/outcome.ts';
import { startServer } from '../support/server.ts';

const server = await startServer();
after(() => server.close());
const user = await newUser(server, { emailVerified: true });
const browser = await signedIn(server, user);

const REDIRECT = 'http://127.0.0.1/callback';
const ALGS = ['RS256', 'ES256', 'EdDSA', 'HS256'] as const;
const METHODS = {
  client_secret_basic: oidc.ClientSecretBasic,
  client_secret_post: oidc.ClientSecretPost,
  none: () => oidc.None(),
} as const;
type Method = keyof typeof METHODS;

/** A client that knows the issuer's address, its own registration, and nothing else. */
async function discover(method: Method, alg: string): Promise<oidc.Configuration> {
  const { status, body } = await admin(server, 'POST', '/clients', {
    name: `Stock ${method} ${alg}`,
    redirectUris: [REDIRECT],
    idTokenSignedResponseAlg: alg,
    ...(method === 'none' && { type: 'public' }),
  });
  assert.equal(status, 201, JSON.stringify(body));
  // The server's clock stands where the test put it.
  const clock = { [oidc.clockSkew]: Math.round((server.now() - Date.now()) / 1000), [oidc.clockTolerance]: 600 };
  const own = { ...clock, id_token_signed_response_alg: alg };
  return oidc.discovery(new URL(server.baseUrl), body.clientId, own, METHODS[method](body.clientSecret), {
    execute: [
      // This server has no certificate; and the signature of the ID token is looked at, although TLS would do.
      oidc.allowInsecureRequests,
      ...(alg === 'HS256' ? [] : [oidc.enableNonRepudiationChecks]),
    ],
  });
}

describe('openid-client discovers the service and signs in, unchanged', () => {
  for (const method of Object.keys(METHODS) as Method[]) {
    for (const alg of ALGS) {
      if (method === 'none' && alg === 'HS256') continue;
      test(`${method}, ${alg}`, async () => {
        const configuration = await discover(method, alg);
        const pkceCodeVerifier = oidc.randomPKCECodeVerifier();
        const [expectedState, expectedNonce] = [oidc.randomState(), oidc.randomNonce()];
        const address = oidc.buildAuthorizationUrl(configuration, {
          redirect_uri: method === 'none' ? 'http://127.0.0.1:49152/callback' : REDIRECT,
          scope: 'openid profile email',
          state: expectedState,
          nonce: expectedNonce,
          code_challenge: await oidc.calculatePKCECodeChallenge(pkceCodeVerifier),
          code_challenge_method: 'S256',
        });
        const arrived = await walk(browser, address.href, { user });
        const checks = { pkceCodeVerifier, expectedState, expectedNonce, idTokenExpected: true, maxAge: 86_400 };
        const tokens = await oidc.authorizationCodeGrant(configuration, arrived, checks);
        assert.equal(tokens.claims()?.sub, user.id);
        const claims = await oidc.fetchUserInfo(configuration, tokens.access_token, user.id);
        assert.deepEqual([claims.preferred_username, claims.email_verified], [user.username, true]);
        assert.ok(!Object.values(claims).includes(null), 'absent rather than null');
        const renewed = await oidc.refreshTokenGrant(configuration, tokens.refresh_token ?? '');
        assert.equal(renewed.claims()?.sub, user.id);
      });
    }
  }

  test('an answer by form_post, with max_age and claims', async () => {
    const configuration = await discover('client_secret_post', 'ES256');
    const [expectedState, expectedNonce] = [oidc.randomState(), oidc.randomNonce()];
    const address = oidc.buildAuthorizationUrl(configuration, {
      redirect_uri: REDIRECT,
      scope: 'openid',
      state: expectedState,
      nonce: expectedNonce,
      response_mode: 'form_post',
      max_age: '60',
      claims: JSON.stringify({ id_token: { locale: null }, userinfo: { email: { essential: true } } }),
    });
    const own = await signedIn(server, user);
    const consent = await settle(own, server, await own.get(address.href));
    const page = await own.submit(
      consent,
      { decision: 'allow', 'allow profile': 'on', 'allow email': 'on' },
      '/consent',
    );
    const body = new URLSearchParams(formOf(page.text, REDIRECT).hidden);
    const arrived = new Request(REDIRECT, { method: 'POST', body });
    const checks = { expectedState, expectedNonce, idTokenExpected: true, maxAge: 60 };
    const tokens = await oidc.authorizationCodeGrant(configuration, arrived, checks);
    assert.equal(tokens.claims()?.['locale'], 'en');
    const claims = await oidc.fetchUserInfo(configuration, tokens.access_token, user.id);
    assert.equal(claims.email, `${user.username}@example.com`);
  });

  test('RFC 8414: the same by the OAuth document', async () => {
    const found = await oidc.discovery(new URL(server.baseUrl), 'any', undefined, oidc.None(), {
      algorithm: 'oauth2',
      execute: [oidc.allowInsecureRequests],
    });
    assert.equal(found.serverMetadata().supportsPKCE(), true);
  });
});

test('openid-client signs in a device (RFC 8628), unchanged', async () => {
  const client = await newDeviceClient(server);
  const configuration = await oidc.discovery(
    new URL(server.baseUrl),
    client.clientId,
    { [oidc.clockSkew]: Math.round((server.now() - Date.now()) / 1000), [oidc.clockTolerance]: 600 },
    oidc.None(),
    { execute: [oidc.allowInsecureRequests, oidc.enableNonRepudiationChecks] },
  );
  const device = await oidc.initiateDeviceAuthorization(configuration, { scope: 'openid email' });
  assert.equal(device.verification_uri, `${server.baseUrl}/device`);
  await answerDevice(server, browser, device);
  // It waits for the interval by the real clock.
  const tokens = await oidc.pollDeviceAuthorizationGrant(configuration, { ...device, interval: 0 });
  assert.equal(tokens.claims()?.sub, user.id);
  assert.equal((await oidc.fetchUserInfo(configuration, tokens.access_token, user.id)).sub, user.id);
  const refreshed = await oidc.refreshTokenGrant(configuration, tokens.refresh_token ?? '');
  assert.equal(refreshed.claims()?.sub, user.id);
});
