// store: SQLite, PostgreSQL with --all
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { admin, newClient, newUser, refresh, signedIn, standard, type TestClient, tokensFor } from '../support/flow.ts';
import { startReceiver, tokenOf, verifyLogoutToken } from '../support/logout-receiver.ts';
import { startServer } from '../support/server.ts';

// Decisions §10, "Algorithms": the registration leaves idTokenSignedResponseAlg out.

const server = await startServer();
after(() => server.close());
const user = await newUser(server);
const browser = await signedIn(server, user);
const receiver = await startReceiver();
after(() => receiver.close());

const RETURN = 'https://app.example.com/bye';

const algOf = (token: string): string =>
  JSON.parse(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString('utf8')).alg;
const registered = async ({ clientId }: TestClient) => (await admin(server, 'GET', `/clients/${clientId}`)).body;
const change = async ({ clientId }: TestClient, fields: object) => {
  const { status, body } = await admin(server, 'PATCH', `/clients/${clientId}`, fields);
  assert.equal(status, 200, JSON.stringify(body));
};

test('the standard endpoints: RS256, or what is registered', async () => {
  for (const [fields, alg] of [
    [{}, 'RS256'],
    [{ idTokenSignedResponseAlg: 'HS256' }, 'HS256'],
    [{ idTokenSignedResponseAlg: 'EdDSA' }, 'EdDSA'],
  ] as const) {
    const client = standard(await newClient(server, fields));
    const tokens = await tokensFor(server, client, user, {}, { browser });
    const renewed = (await refresh(server, client, tokens.refresh_token)).body;
    assert.deepEqual([algOf(tokens.id_token), algOf(renewed.id_token)], [alg, alg]);
  }
});

test('a hint of a client that left it out is verified at the OIDC endpoints, and unproven on the contract’s', async () => {
  const app = await newClient(server, { postLogoutRedirectUris: [RETURN] });
  for (const [client, status] of [
    [app, 200],
    [standard(app), 302],
  ] as const) {
    const own = await signedIn(server, user);
    const { id_token } = await tokensFor(server, client, user, {}, { browser: own });
    const query = new URLSearchParams({ id_token_hint: id_token, post_logout_redirect_uri: RETURN });
    assert.equal((await own.get(`/oidc/logout?${query}`)).status, status);
  }
});

describe('the contract’s endpoints', () => {
  test('a client with a secret gets HS256', async () => {
    const client = await newClient(server);
    assert.equal((await registered(client)).idTokenSignedResponseAlg, null);
    const tokens = await tokensFor(server, client, user, {}, { browser });
    assert.equal(algOf(tokens.id_token), 'HS256');
    assert.equal(algOf((await refresh(server, client, tokens.refresh_token)).body.id_token), 'HS256');
  });

  test('with back-channel logout it is RS256, also for tokens from before', async () => {
    const client = await newClient(server);
    const tokens = await tokensFor(server, client, user, {}, { browser });
    await change(client, { backchannelLogoutUri: receiver.uri });
    const renewed = (await refresh(server, client, tokens.refresh_token)).body;
    assert.equal(algOf(renewed.id_token), 'RS256');
    await change(client, { backchannelLogoutUri: null });
    assert.equal(algOf((await refresh(server, client, renewed.refresh_token)).body.id_token), 'HS256');
  });

  test('a registered algorithm is used until it is taken out', async () => {
    const client = await newClient(server, { idTokenSignedResponseAlg: 'ES256' });
    const tokens = await tokensFor(server, client, user, {}, { browser });
    assert.equal(algOf(tokens.id_token), 'ES256');
    await change(client, { idTokenSignedResponseAlg: null });
    assert.equal(algOf((await refresh(server, client, tokens.refresh_token)).body.id_token), 'HS256');
  });
});

test('logout tokens have RS256, and verify by the key set', async () => {
  const client = await newClient(server, { backchannelLogoutUri: receiver.uri });
  const own = await signedIn(server, user);
  const tokens = await tokensFor(server, client, user, {}, { browser: own });
  await own.get(`/oidc/logout?${new URLSearchParams({ id_token_hint: tokens.id_token })}`);
  await server.deliverNotices();
  const [received] = receiver.received;
  await verifyLogoutToken(server, tokenOf(received), { clientId: client.clientId, alg: 'RS256' });
});

test('an HS256 hint from such a client is unproven, also after it got RS256', async () => {
  const client = await newClient(server, { postLogoutRedirectUris: [RETURN] });
  const own = await signedIn(server, user);
  const { id_token } = await tokensFor(server, client, user, {}, { browser: own });
  const leave = () =>
    own.get(`/oidc/logout?${new URLSearchParams({ id_token_hint: id_token, post_logout_redirect_uri: RETURN })}`);
  for (const fields of [{}, { backchannelLogoutUri: receiver.uri }]) {
    await change(client, fields);
    const page = await leave();
    assert.equal(page.status, 200);
    assert.match(page.text, new RegExp(`value="${RETURN}"`), 'the way back is offered after the question');
  }
  await change(client, { idTokenSignedResponseAlg: 'RS256' });
  const page = await leave();
  assert.equal(page.status, 200);
  assert.match(page.text, /id_token_hint is not an unmodified ID token/);
});
