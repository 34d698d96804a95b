// store: SQLite
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, test } from 'node:test';
import { exportJWK, generateKeyPair } from 'jose';
import { Provider } from 'oidc-provider';
import { type Agent, agent } from '../support/agent.ts';
import { admin, newUser, signedIn } from '../support/flow.ts';
import { query } from '../support/outcome.ts';
import { startServer } from '../support/server.ts';

const here = await startServer({});
after(() => here.close());
// The other server has the time of the system.
here.advance(Date.now() - here.now());

const listener = createServer();
await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
const issuer = `http://127.0.0.1:${(listener.address() as AddressInfo).port}`;
after(() => {
  listener.closeAllConnections();
  listener.close();
});
const { privateKey } = await generateKeyPair('ES256', { extractable: true });
const provider = new Provider(issuer, {
  clients: [
    {
      client_id: 'tessera',
      client_secret: 'a secret with: odd % characters & more',
      redirect_uris: [`${here.baseUrl}/login/with/node/callback`],
      id_token_signed_response_alg: 'ES256',
    },
  ],
  jwks: { keys: [{ ...(await exportJWK(privateKey)), alg: 'ES256', kid: 'es', use: 'sig' }] },
  findAccount: (_context: unknown, id: string) => ({ accountId: id, claims: () => ({ sub: id }) }),
  claims: { openid: ['sub'] },
  cookies: { keys: ['a key of the cookies of this test'] },
});
listener.on('request', provider.callback());

/** Signs in at the provider, by its pages for development. @returns where it leads in the end */
async function signInThere(browser: Agent, address: string): Promise<string> {
  let answer = await browser.get(address);
  for (let hop = 0; hop < 10; hop++) {
    const next = answer.location;
    if (next?.href.startsWith(here.baseUrl)) return next.href;
    if (next !== undefined) {
      answer = await browser.get(next.href);
      continue;
    }
    const action = /<form[^>]* action="([^"]+)"/.exec(answer.text)?.[1] ?? '';
    const prompt = /name="prompt" value="(\w+)"/.exec(answer.text)?.[1] ?? '';
    assert.ok(action !== '', `${answer.status}: ${answer.text.slice(0, 1000)}`);
    answer = await browser.post(action, { prompt, login: 'bob', password: 'any' });
  }
  throw new Error('the sign-in did not end');
}

test('a person of node-oidc-provider connects it, and signs in', async () => {
  const { status, body } = await admin(here, 'POST', '/upstreams', {
    ...{ name: 'node', issuer, clientId: 'tessera', clientSecret: 'a secret with: odd % characters & more' },
    scopes: [],
  });
  assert.equal(status, 201, JSON.stringify(body));
  const user = await newUser(here, { emailVerified: true });
  const owner = await signedIn(here, user);
  const left = await owner.get('/account/security/connect/node');
  const back = await owner.get(await signInThere(agent(issuer), left.location?.href ?? ''));
  const refused = (await admin(here, 'GET', '/audit-events?type=upstream.refused')).body.items;
  assert.equal(back.location?.pathname, '/account/security/connect/node/confirm', JSON.stringify(refused));
  await owner.submit(await owner.get(back.location.href), {}, back.location.pathname);
  const rows = await query(here, `SELECT subject FROM upstream_identity WHERE account_id = ${user.id}`);
  assert.deepEqual(rows, [{ subject: 'bob' }]);

  const browser = agent(here.baseUrl);
  const gone = await browser.get('/login/with/node');
  const returned = await browser.get(await signInThere(agent(issuer), gone.location?.href ?? ''));
  assert.equal(returned.location?.pathname, '/account');
});
