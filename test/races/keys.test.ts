// store: PostgreSQL, SQLite with --all
/** Keys that one process drops or makes necessary, and what another node believes of them in the next request. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { dropKeyPair } from '../../src/keys/key-pairs.ts';
import { type Agent, agent } from '../support/agent.ts';
import {
  admin,
  authorizeUrl,
  newClient,
  newUser,
  signedIn,
  type TestClient,
  type TestUser,
  tokensFor,
} from '../support/flow.ts';
import { parts, withData } from '../support/forged-token.ts';
import { assertErrorRedirect, codeOf, HOUR } from '../support/outcome.ts';
import { startServer } from '../support/server.ts';

/** On PostgreSQL there are two nodes, and the one that is asked has learned of the drop by nothing else. */
const nodes = process.env['TESSERA_TEST_POSTGRES'] === undefined ? 1 : 2;
const server = await startServer({}, nodes);
after(() => server.close());
const RETURN = 'https://app.example.com/bye';
const ALGS = ['RS256', 'ES256', 'EdDSA'] as const;

/** As `tessera keys drop` does it: a process of its own on the same data. */
async function drop(idToken: string): Promise<void> {
  const origin = { actor: { type: 'cli', id: null }, address: null, requestId: null } as const;
  const kid = String(parts(idToken).header['kid']);
  const dropped = await withData(server, ({ database, secret, clock }) =>
    dropKeyPair(database, secret, kid, origin, clock()),
  );
  assert.equal(dropped, true);
}

/** The same browser, served by the last node. */
function elsewhere(browser: Agent): Agent {
  const other = agent(server.baseUrl, () => server.nodes.at(-1) ?? server.baseUrl);
  for (const name of ['tessera_session', 'tessera_browser']) other.setCookie(name, browser.cookie(name) ?? '');
  return other;
}

/** A person who has allowed a client, their browser at the last node, and their ID token. */
async function granted(client: TestClient, user: TestUser) {
  const browser = await signedIn(server, user);
  const { id_token: idToken } = await tokensFor(server, client, user, {}, { browser });
  return { browser: elsewhere(browser), idToken };
}

for (const alg of ALGS) {
  test(`${alg}: an ID token of a dropped key is no hint at the authorization endpoint, from the next request on`, async () => {
    const client = await newClient(server, { idTokenSignedResponseAlg: alg });
    const [named, present] = [await newUser(server), await newUser(server)];
    const { idToken } = await granted(client, named);
    const { browser } = await granted(client, present);
    const ask = () => browser.get(authorizeUrl(client, { prompt: 'none', id_token_hint: idToken }));
    assertErrorRedirect(await ask(), { error: 'login_required', state: 'st4te', to: client.redirectUri }, server);
    await drop(idToken);
    codeOf(await ask());
  });

  test(`${alg}: nor at the end session endpoint, where the person is asked instead`, async () => {
    const client = await newClient(server, { idTokenSignedResponseAlg: alg, postLogoutRedirectUris: [RETURN] });
    const user = await newUser(server);
    const leave = ({ browser, idToken }: Awaited<ReturnType<typeof granted>>) =>
      browser.get(`/oidc/logout?${new URLSearchParams({ id_token_hint: idToken, post_logout_redirect_uri: RETURN })}`);
    assert.equal((await leave(await granted(client, user))).location?.href, RETURN);
    const kept = await granted(client, user);
    await drop(kept.idToken);
    assert.equal((await leave(kept)).status, 200);
    assert.equal((await kept.browser.get('/account')).status, 200, 'the session goes on');
  });
}

test('decisions §10: registered at one node, the key is in the key set of the other before a token of it is issued', async () => {
  const last = () => server.nodes.at(-1) ?? server.baseUrl;
  const shown = async (): Promise<string[]> => {
    const { keys } = (await (await fetch(`${last()}/.well-known/jwks.json`)).json()) as { keys: { kid: string }[] };
    return keys.map(({ kid }) => kid);
  };
  const client = await newClient(server, { idTokenSignedResponseAlg: 'RS256' });
  const user = await newUser(server);
  for (const alg of ['EdDSA', 'RS256', 'ES256', 'RS256', 'EdDSA']) {
    const changed = admin(server, 'PATCH', `/clients/${client.clientId}`, { idTokenSignedResponseAlg: alg });
    const meanwhile = await Promise.all([changed, shown(), shown(), shown()]);
    assert.equal(meanwhile[0].status, 200);
    const before = await shown();
    const { idToken } = await granted(client, user);
    assert.equal(parts(idToken).header['alg'], alg);
    assert.ok(before.includes(String(parts(idToken).header['kid'])), alg);
    // Longer than a given up algorithm is published.
    server.advance(HOUR);
  }
});
