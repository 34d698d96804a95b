// store: SQLite, PostgreSQL with --all
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { errors, jwtVerify } from 'jose';
import * as oidc from 'openid-client';
import { claimsOf, newClient, newUser, signedIn, tokensFor, walk } from '../support/flow.ts';
import { startServer } from '../support/server.ts';

const server = await startServer();
after(() => server.close());
const client = await newClient(server);
const user = await newUser(server, { emailVerified: true });
const browser = await signedIn(server, user);

describe('JW-06: jose verifies the ID token under the client_secret and nothing else', () => {
  const key = (secret: string) => new TextEncoder().encode(secret);
  const checks = () => ({
    issuer: server.baseUrl,
    audience: client.clientId,
    subject: user.id,
    algorithms: ['HS256'],
    typ: 'JWT',
    requiredClaims: ['auth_time', 'at_hash', 'nonce', 'sid'],
    currentDate: new Date(server.now()),
  });

  test('with the secret', async () => {
    const { id_token } = await tokensFor(server, client, user, { nonce: 'n' }, { browser });
    const { payload } = await jwtVerify(id_token, key(client.clientSecret), checks());
    assert.equal(payload['nonce'], 'n');
  });

  test('with no other secret, nor another encoding of this one', async () => {
    const { id_token } = await tokensFor(server, client, user, { nonce: 'n' }, { browser });
    const other = await newClient(server);
    for (const wrong of [
      key(other.clientSecret),
      new Uint8Array(Buffer.from(client.clientSecret, 'base64url')),
      key(client.clientSecret.toLowerCase()),
      key(`${client.clientSecret}\n`),
    ]) {
      await assert.rejects(jwtVerify(id_token, wrong, checks()), errors.JWSSignatureVerificationFailed);
    }
  });

  test('access and refresh tokens do not verify under it (JW-04)', async () => {
    const tokens = await tokensFor(server, client, user, {}, { browser });
    for (const token of [tokens.access_token, tokens.refresh_token]) {
      await assert.rejects(
        jwtVerify(token, key(client.clientSecret), { currentDate: new Date(server.now()) }),
        errors.JWSSignatureVerificationFailed,
      );
    }
  });
});

describe('a stock OpenID Connect client, unmodified, walks the whole flow', () => {
  const methods = [
    ['client_secret_post', oidc.ClientSecretPost],
    ['client_secret_basic', oidc.ClientSecretBasic],
  ] as const;
  for (const [method, authentication] of methods) {
    for (const userinfoPath of ['/oidc/userinfo', '/api/v2/oauth/userinfo']) {
      test(`openid-client with ${method} and ${userinfoPath}`, async () => {
        const configuration = new oidc.Configuration(
          {
            issuer: server.baseUrl,
            authorization_endpoint: `${server.baseUrl}/api/v2/oauth/authorize`,
            token_endpoint: `${server.baseUrl}/api/v2/oauth/token`,
            userinfo_endpoint: server.baseUrl + userinfoPath,
            authorization_response_iss_parameter_supported: true,
            id_token_signing_alg_values_supported: ['HS256'],
          },
          client.clientId,
          {
            id_token_signed_response_alg: 'HS256',
            // The server's clock stands where the test put it.
            [oidc.clockSkew]: Math.round((server.now() - Date.now()) / 1000),
            [oidc.clockTolerance]: 600,
          },
          authentication(client.clientSecret),
        );
        oidc.allowInsecureRequests(configuration);
        const pkceCodeVerifier = oidc.randomPKCECodeVerifier();
        const expectedState = oidc.randomState();
        const expectedNonce = oidc.randomNonce();
        const address = oidc.buildAuthorizationUrl(configuration, {
          redirect_uri: client.redirectUri,
          scope: 'openid email',
          state: expectedState,
          nonce: expectedNonce,
          code_challenge: await oidc.calculatePKCECodeChallenge(pkceCodeVerifier),
          code_challenge_method: 'S256',
        });
        const arrived = await walk(browser, address.href, { user });
        const checks = { pkceCodeVerifier, expectedState, expectedNonce, idTokenExpected: true, maxAge: 86_400 };
        const tokens = await oidc.authorizationCodeGrant(configuration, arrived, checks);
        assert.equal(tokens.claims()?.sub, user.id);
        assert.equal(tokens.claims()?.nonce, expectedNonce);
        assert.equal(tokens.expires_in, 1800);

        const me = await oidc.fetchUserInfo(configuration, tokens.access_token, user.id);
        assert.equal(me.sub, user.id);
        if (userinfoPath === '/oidc/userinfo') assert.equal(me.email, `${user.username}@example.com`);

        const renewed = await oidc.refreshTokenGrant(configuration, tokens.refresh_token ?? '');
        assert.equal(renewed.claims()?.sub, user.id);
        assert.equal(renewed.claims()?.auth_time, claimsOf(tokens.id_token ?? '').auth_time);
        await oidc.fetchUserInfo(configuration, renewed.access_token, user.id);

        await assert.rejects(oidc.authorizationCodeGrant(configuration, arrived, checks), (error: unknown) => {
          assert.ok(error instanceof oidc.ResponseBodyError);
          assert.equal(error.error, 'invalid_grant');
          return true;
        });
        await assert.rejects(oidc.fetchUserInfo(configuration, renewed.access_token, user.id), (error: unknown) => {
          assert.ok(error instanceof oidc.WWWAuthenticateChallengeError);
          assert.equal(error.cause[0]?.scheme, 'bearer');
          assert.equal(error.cause[0]?.parameters.error, 'invalid_token');
          return true;
        });
      });
    }
  }

  test('openid-client understands the refusal of a denied request', async () => {
    const app = await newClient(server);
    const configuration = new oidc.Configuration(
      {
        issuer: server.baseUrl,
        authorization_endpoint: `${server.baseUrl}/api/v2/oauth/authorize`,
        token_endpoint: `${server.baseUrl}/api/v2/oauth/token`,
        authorization_response_iss_parameter_supported: true,
      },
      app.clientId,
      { id_token_signed_response_alg: 'HS256' },
      oidc.ClientSecretPost('wrong'),
    );
    oidc.allowInsecureRequests(configuration);
    const address = oidc.buildAuthorizationUrl(configuration, { redirect_uri: app.redirectUri, state: 's' });
    const denied = await walk(browser, address.href, { user, decision: 'deny' });
    await assert.rejects(
      oidc.authorizationCodeGrant(configuration, denied, { expectedState: 's' }),
      (error: unknown) => {
        assert.ok(error instanceof oidc.AuthorizationResponseError);
        assert.equal(error.error, 'access_denied');
        assert.equal(error.error_description, 'User denied the request');
        return true;
      },
    );
    const allowed = await walk(browser, address.href, { user });
    await assert.rejects(
      oidc.authorizationCodeGrant(configuration, allowed, { expectedState: 's' }),
      (error: unknown) => {
        assert.ok(error instanceof oidc.ResponseBodyError);
        assert.equal(error.error, 'invalid_client');
        return true;
      },
    );
  });
});
