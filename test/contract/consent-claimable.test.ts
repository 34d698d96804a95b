// store: SQLite, PostgreSQL with --all
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, describe, test } from 'node:test';
import { type Agent, type Answer, agent } from '../support/agent.ts';
import {
  authorizeUrl,
  newClient,
  newUser,
  PASSWORD,
  redeem,
  signedIn,
  type TestClient,
  type TestUser,
  walk,
} from '../support/flow.ts';
import { assertErrorRedirect, codeOf, countRows, settle } from '../support/outcome.ts';
import { startServer } from '../support/server.ts';

// CN-04, RFC 8252 §8.6: any local program can send the request of such an app and receive the code, so the person is asked
// every time.

const server = await startServer();
after(() => server.close());

const VERIFIER = 'the-verifier-of-every-code-that-has-a-challenge';
const PKCE = {
  code_challenge: createHash('sha256').update(VERIFIER).digest('base64url'),
  code_challenge_method: 'S256',
};
const SCOPE = 'openid email phone';

interface Visit {
  readonly user: TestUser;
  readonly browser: Agent;
  readonly client: TestClient;
}

async function visit(redirectUri: string, fields: object = { type: 'public' }): Promise<Visit> {
  const user = await newUser(server);
  const client = await newClient(server, { redirectUris: [redirectUri], ...fields });
  return { user, client, browser: await signedIn(server, user) };
}

const address = ({ client }: Visit, more: Readonly<Record<string, string>> = {}) =>
  authorizeUrl(client, { scope: SCOPE, ...PKCE, ...more });
const ask = async (at: Visit, more: Readonly<Record<string, string>> = {}, browser = at.browser) =>
  settle(browser, server, await browser.get(address(at, more)));
const allow = ({ browser }: Visit, page: Answer, scopes: readonly string[]) =>
  browser.submit(
    page,
    { decision: 'allow', ...Object.fromEntries(scopes.map((name) => [`allow ${name}`, 'on'])) },
    '/consent',
  );

/** The switches of a consent page, and which of them are on. */
function switchesOf(page: Answer): Record<string, boolean> {
  assert.match(page.text, /action="\/consent"/, `${page.status} ${page.location}`);
  const found = page.text.matchAll(/name="allow ([a-z.]+)" value="on"( checked)?/g);
  return Object.fromEntries([...found].map(([, name, on]) => [name, on !== undefined]));
}

for (const redirectUri of [
  'com.example.app:/cb',
  'http://127.0.0.1:8080/cb',
  'http://[::1]/cb',
  'http://localhost:8080/cb',
]) {
  describe(`a public client at ${redirectUri}`, () => {
    test('is asked about every time, with the earlier choices', async () => {
      const at = await visit(redirectUri);
      codeOf(await allow(at, await ask(at), ['email']));
      const codes = await countRows(server, 'authorization_code');
      assert.deepEqual(switchesOf(await ask(at)), { email: true, phone: false });
      assert.deepEqual(switchesOf(await ask(at, { scope: `${SCOPE} details` })), {
        email: true,
        phone: false,
        details: true,
      });
      assert.deepEqual(switchesOf(await ask(at, { scope: 'openid' })), {});
      assert.equal(await countRows(server, 'authorization_code'), codes);
      // The new decision is the one that holds.
      const again = await allow(at, await ask(at), ['phone']);
      const answer = await redeem(server, at.client, codeOf(again), {
        client_secret: undefined,
        code_verifier: VERIFIER,
      });
      assert.equal(answer.body.scope, 'openid phone');
      assert.deepEqual(switchesOf(await ask(at)), { email: false, phone: true });
    });

    test('prompt=none is consent_required', async () => {
      const at = await visit(redirectUri);
      codeOf(await allow(at, await ask(at), ['email']));
      assertErrorRedirect(
        await at.browser.get(address(at, { prompt: 'none' })),
        {
          error: 'consent_required',
          description:
            'the user must consent each time, because any local program could claim this redirect_uri, or no operator registered the app: remove prompt=none to show the consent page',
          state: 'st4te',
          to: redirectUri,
        },
        server,
      );
    });

    test('a sign-in leads to the page, and so does what another tab allowed', async () => {
      const at = await visit(redirectUri);
      const [one, other] = [await ask(at), await ask(at)];
      codeOf(await allow(at, one, ['email']));
      const handle = /name="request" value="([^"]+)"/.exec(other.text)?.[1] ?? '';
      assert.deepEqual(switchesOf(await at.browser.get(`/consent?request=${handle}`)), { email: true, phone: false });
      const continued = await settle(at.browser, server, await at.browser.get(`/continue?request=${handle}`));
      assert.deepEqual(switchesOf(continued), { email: true, phone: false });
      // A form that was shown before is still answered, and again ends where it did.
      const end = codeOf(await allow(at, other, ['email', 'phone']));
      assert.equal(codeOf(await settle(at.browser, server, await allow(at, other, []))), end);

      const cold = agent(server.baseUrl);
      const login = await ask(at, {}, cold);
      const fields = { identifier: at.user.username, password: PASSWORD };
      const page = await settle(cold, server, await cold.submit(login, fields, '/login'));
      assert.deepEqual(switchesOf(page), { email: true, phone: true });
    });
  });
}

test('RFC 8252 §7.3: a loopback redirect on another port is asked about too', async () => {
  const at = await visit('http://127.0.0.1/cb');
  const on = (port: number): Visit => ({ ...at, client: { ...at.client, redirectUri: `http://127.0.0.1:${port}/cb` } });
  codeOf(await allow(at, await ask(on(4001)), ['email']));
  for (const port of [4001, 4002]) assert.deepEqual(switchesOf(await ask(on(port))), { email: true, phone: false });
});

test('the redirect URI of the request decides, where a client has several', async () => {
  const redirectUris = ['https://app.example.com/cb', 'com.example.app:/cb'];
  const at = await visit('', { type: 'public', redirectUris });
  codeOf(await allow(at, await ask(at), ['email']));
  assert.ok(codeOf(await ask(at)));
  const native = { ...at, client: { ...at.client, redirectUri: 'com.example.app:/cb' } };
  assert.deepEqual(switchesOf(await ask(native)), { email: true, phone: false });
});

for (const [name, redirectUri, fields] of [
  ['a public client at an https address', 'https://app.example.com/cb', { type: 'public' }],
  ['a confidential client at a loopback address', 'http://localhost:8080/cb', {}],
] as const) {
  test(`${name} is answered by what was decided before`, async () => {
    const at = await visit(redirectUri, fields);
    const first = await walk(at.browser, address(at), { allow: ['email'] });
    assert.ok(first.searchParams.get('code'));
    assert.ok(codeOf(await ask(at)));
    assert.ok(codeOf(await at.browser.get(address(at, { prompt: 'none' }))));
  });
}
