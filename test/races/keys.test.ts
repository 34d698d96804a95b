/** A key that one process drops, and what another node still believes of it in the next request. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { dropKeyPair } from '../../src/keys/key-pairs.ts';
import { type Agent, agent } from '../support/agent.ts';
import {
  authorizeUrl,
  newClient,
  newUser,
  signedIn,
  type TestClient,
  type TestUser,
  tokensFor,
} from '../support/flow.ts';
import { parts, withData } from '../support/forged-token.ts';
import { assertErrorRedirect, codeOf } from '../support/outcome.ts';
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
