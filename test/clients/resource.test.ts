// store: SQLite
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import * as oauth from 'oauth4webapi';
import * as oidc from 'openid-client';
import { withOauth4webapi, withOidcClientTs, withOpenidClient } from '../../examples/resource.js';
import { admin, claimsOf, newClient, newSignedInUser, redeem, standard, userinfo, walk } from '../support/flow.ts';
import { startServer } from '../support/server.ts';

// RFC 8707 with three libraries, by the code that docs/how-to/connect-an-app.md shows.

const API = 'https://api.example.com/notes';

const server = await startServer();
after(() => server.close());
const api = { name: 'Notes API', grantTypes: ['client_credentials'], resource: API };
assert.equal((await admin(server, 'POST', '/clients', api)).status, 201);
const client = standard(await newClient(server));
const { clientId, clientSecret, redirectUri } = client;
const request = { response_type: 'code', client_id: clientId, redirect_uri: redirectUri, scope: 'openid', state: 's' };

/** Asserts that the API may accept the token, and UserInfo does. */
async function assertForBoth(token: string): Promise<void> {
  assert.deepEqual(claimsOf(token).aud, [API, `${server.baseUrl}/oidc/userinfo`]);
  assert.equal((await userinfo(server, token, '/oidc/userinfo')).status, 200);
}

/** What the token endpoint gives for the code to which an address leads. */
async function exchange(address: URL): Promise<string> {
  const { browser } = await newSignedInUser(server);
  const answered = await walk(browser, address.pathname + address.search);
  const { status, body } = await redeem(server, client, answered.searchParams.get('code') ?? '');
  assert.equal(status, 200, JSON.stringify(body));
  return body.access_token;
}

test('openid-client', async () => {
  const options = { execute: [oidc.allowInsecureRequests] };
  const issuer = await oidc.discovery(new URL(server.baseUrl), clientId, clientSecret, undefined, options);
  await assertForBoth(await exchange(withOpenidClient(issuer, request)));
});

test('oauth4webapi', async () => {
  const url = new URL(server.baseUrl);
  const response = await oauth.discoveryRequest(url, { [oauth.allowInsecureRequests]: true });
  await assertForBoth(await exchange(withOauth4webapi(await oauth.processDiscoveryResponse(url, response), request)));
});

test('oidc-client-ts', async () => {
  const page = await newClient(server, { type: 'public' });
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
  const settings = { authority: server.baseUrl, client_id: page.clientId, redirect_uri: page.redirectUri };
  const manager = withOidcClientTs(settings, navigator);
  await manager.signinRedirect();
  const { browser } = await newSignedInUser(server);
  const { pathname, search } = new URL(sentTo);
  const user = await manager.signinRedirectCallback((await walk(browser, pathname + search)).href);
  await assertForBoth(user.access_token);
});
