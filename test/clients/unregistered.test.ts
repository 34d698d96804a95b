// store: SQLite
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { ErrorResponse, InMemoryWebStorage, UserManager, WebStorageStateStore } from 'oidc-client-ts';
import * as oidc from 'openid-client';
import { admin, newSignedInUser, revokeOnPage, walk } from '../support/flow.ts';
import { startPublisher } from '../support/metadata-publisher.ts';
import { newInitialToken } from '../support/registration.ts';
import { startServer } from '../support/server.ts';

// Libraries of others, unmodified, for apps that no operator registered: decisions §15.

const server = await startServer({ TESSERA_CLIENT_METADATA: 'open', TESSERA_REGISTRATION: 'token' });
after(() => server.close());
const publisher = await startPublisher();
after(() => publisher.close());

test('oidc-client-ts identifies itself by a metadata document, signs in, refreshes, and loses its access', async () => {
  const app = publisher.app('/single-page.json', { post_logout_redirect_uris: ['https://app.example.com/'] });
  let sentTo = '';
  const navigator = {
    prepare: async () => ({
      navigate: async ({ url }: { readonly url: string }) => {
        sentTo = url;
        return { url };
      },
      close() {},
    }),
    callback: async () => {},
  };
  const store = () => new WebStorageStateStore({ store: new InMemoryWebStorage() });
  const settings = {
    authority: server.baseUrl,
    client_id: app.clientId,
    redirect_uri: app.redirectUri,
    scope: 'openid profile',
    loadUserInfo: true,
    automaticSilentRenew: false,
    userStore: store(),
    stateStore: store(),
  };
  const manager = new UserManager(settings, navigator);
  const { user, browser } = await newSignedInUser(server);
  await manager.signinRedirect();
  const { pathname, search } = new URL(sentTo);
  const answered = await walk(browser, pathname + search, { user, allow: 'all' });
  const signedIn = await manager.signinRedirectCallback(answered.href);
  assert.equal(signedIn.profile.sub, user.id);
  assert.equal(signedIn.profile.aud, app.clientId);
  assert.equal(signedIn.profile.preferred_username, user.username);
  const refreshed = await manager.signinSilent();
  assert.notEqual(refreshed?.access_token, signedIn.access_token);
  const { body } = await admin(server, 'GET', '/unregistered-clients');
  const { clientId } = body.items.find(({ metadataUrl }: { metadataUrl: string }) => metadataUrl === app.clientId);
  await revokeOnPage(browser, { ...app, clientId });
  await assert.rejects(manager.signinSilent(), ErrorResponse);
  // Its timers would keep this process alive.
  await manager.removeUser();
});

test('openid-client registers itself with an initial access token, and signs in', async () => {
  const { initialAccessToken } = await newInitialToken(server);
  const redirectUri = 'https://app.example.com/callback';
  const metadata = { redirect_uris: [redirectUri], grant_types: ['authorization_code', 'refresh_token'] };
  const options = { initialAccessToken, execute: [oidc.allowInsecureRequests] };
  const issuer = await oidc.dynamicClientRegistration(new URL(server.baseUrl), metadata, undefined, options);
  assert.match(issuer.clientMetadata().client_id, /^\d+$/);
  const verifier = oidc.randomPKCECodeVerifier();
  const address = oidc.buildAuthorizationUrl(issuer, {
    redirect_uri: redirectUri,
    scope: 'openid profile',
    code_challenge: await oidc.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
  });
  // The library goes by the time of this machine.
  const behind = Date.now() - server.now();
  if (behind > 0) server.advance(behind);
  else server.setBack(-behind);
  const { user, browser } = await newSignedInUser(server);
  const answered = await walk(browser, address.pathname + address.search, { user });
  const tokens = await oidc.authorizationCodeGrant(issuer, answered, { pkceCodeVerifier: verifier });
  assert.equal(tokens.claims()?.sub, user.id);
  const refreshed = await oidc.refreshTokenGrant(issuer, tokens.refresh_token ?? '');
  assert.ok(refreshed.access_token);
  await revokeOnPage(browser, { clientId: issuer.clientMetadata().client_id, clientSecret: '', redirectUri });
  await assert.rejects(oidc.refreshTokenGrant(issuer, refreshed.refresh_token ?? ''), { error: 'invalid_grant' });
});
