// store: SQLite, PostgreSQL with --all
import assert from 'node:assert/strict';
import { createPublicKey } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { readAlgorithmsInUse } from '../../src/clients/store.ts';
import { listKeyPairs, rotateKeyPairs } from '../../src/keys/key-pairs.ts';
import { type Agent, type Answer, agent } from '../support/agent.ts';
import {
  admin,
  authorizeUrl,
  claimsOf,
  newClient,
  newUser,
  PASSWORD,
  redeem,
  signedIn,
  type TestClient,
  type TestUser,
  tokensFor,
} from '../support/flow.ts';
import { forge, parts, withData } from '../support/forged-token.ts';
import { assertErrorRedirect, codeOf, DAY, HOUR, settle } from '../support/outcome.ts';
import { startServer, type TestServer } from '../support/server.ts';

// OpenID Connect Core 1.0 §§3.1.2.1, 3.1.2.2, AZ-14: a hint limits for whom there is an answer, and proves nothing.

const ALGS = ['RS256', 'ES256', 'EdDSA'] as const;
let server: TestServer;
let user: TestUser;
let other: TestUser;
before(async () => {
  server = await startServer();
  [user, other] = [await newUser(server), await newUser(server)];
});
after(() => server.close());

interface Known {
  readonly client: TestClient;
  readonly browser: Agent;
  readonly idToken: string;
}

/** A client that knows the person, whose browser it is. */
async function known(who = user, alg = 'RS256', fields = {}): Promise<Known> {
  const client = await newClient(server, { idTokenSignedResponseAlg: alg, ...fields });
  const browser = await signedIn(server, who);
  const { id_token: idToken } = await tokensFor(server, client, who, {}, { browser });
  return { client, browser, idToken };
}

const silent = (client: TestClient, hint: string) => authorizeUrl(client, { prompt: 'none', id_token_hint: hint });
const isLoginRequired = (answer: Answer, client: TestClient) =>
  assertErrorRedirect(answer, { error: 'login_required', state: 'st4te', to: client.redirectUri }, server);
const fieldOf = (page: Answer): string | undefined => /id="identifier"[^>]* value="([^"]*)"/.exec(page.text)?.[1];

describe('id_token_hint', () => {
  for (const alg of ALGS) {
    test(`${alg}: the person whom it names gets an answer without a page, also with an expired one`, async () => {
      const { client, browser, idToken } = await known(user, alg);
      codeOf(await browser.get(silent(client, idToken)));
      server.advance(5 * DAY);
      codeOf(await browser.get(silent(client, idToken)));
      isLoginRequired(await agent(server.baseUrl).get(silent(client, idToken)), client);
    });

    test(`${alg}: another person gets none`, async () => {
      const { client, idToken } = await known(user, alg);
      const theirs = await signedIn(server, other);
      await tokensFor(server, client, other, {}, { browser: theirs });
      isLoginRequired(await theirs.get(silent(client, idToken)), client);
      codeOf(await theirs.get(authorizeUrl(client, { prompt: 'none' })));
    });
  }

  test('the sign-in page has the name, and only a sign-in of that person gives an answer', async () => {
    const { client, idToken } = await known();
    const theirs = await signedIn(server, other);
    const begun = authorizeUrl(client, { id_token_hint: idToken });
    const page = await settle(theirs, server, await theirs.get(begun));
    assert.equal(fieldOf(page), user.username);
    const wrong = await theirs.submit(page, { identifier: other.username, password: PASSWORD });
    assertErrorRedirect(
      wrong,
      { error: 'login_required', status: 303, state: 'st4te', to: client.redirectUri },
      server,
    );
    const again = await settle(theirs, server, await theirs.get(begun));
    const right = await theirs.submit(again, { identifier: user.username, password: PASSWORD });
    assert.equal(claimsOf((await redeem(server, client, codeOf(right))).body.id_token).sub, user.id);
  });

  test('signed by a key that is retired and still published', async () => {
    const { client, browser, idToken } = await known();
    const origin = { actor: { type: 'cli', id: null }, address: null, requestId: null } as const;
    await withData(server, ({ database, secret, clock }) =>
      rotateKeyPairs(database, secret, { algs: ['RS256'], origin, now: clock() }),
    );
    server.advance(HOUR);
    const kid = JSON.parse(Buffer.from(idToken.split('.')[0] ?? '', 'base64url').toString()).kid;
    const pairs = await withData(server, ({ database, clock }) => listKeyPairs(database, readAlgorithmsInUse, clock()));
    assert.equal(pairs.find((pair) => pair.kid === kid)?.status, 'verifies');
    const theirs = await signedIn(server, other);
    await tokensFor(server, client, other, {}, { browser: theirs });
    isLoginRequired(await theirs.get(silent(client, idToken)), client);
    codeOf(await browser.get(silent(client, idToken)));
  });

  const change = (token: string, part: number, claims: object): string => {
    const parts = token.split('.');
    const old = JSON.parse(Buffer.from(parts[part] ?? '', 'base64url').toString());
    parts[part] = Buffer.from(JSON.stringify({ ...old, ...claims })).toString('base64url');
    return parts.join('.');
  };

  /** Hints without meaning: the response is the one without them. */
  const ignored: [name: string, of: (mine: Known) => Promise<string> | string][] = [
    ['with another sub under the old signature', ({ idToken }) => change(idToken, 1, { sub: user.id })],
    ['with an algorithm that is not the key’s', ({ idToken }) => change(idToken, 0, { alg: 'HS256' })],
    ['with alg none', ({ idToken }) => `${change(idToken, 0, { alg: 'none' }).split('.').slice(0, 2).join('.')}.`],
    ['with an unknown kid', ({ idToken }) => change(idToken, 0, { kid: 'other' })],
    ['with a header of more', ({ idToken }) => change(idToken, 0, { jku: 'https://evil.example' })],
    ['of another client', async () => (await known()).idToken],
    ['under HS256, by the secret of the client', async () => (await known(user, 'HS256')).idToken],
    ['that is an access token', async ({ client }) => (await tokensFor(server, client, user)).access_token],
    ['that is no token', () => 'a.b.c'],
  ];
  for (const [name, of] of ignored) {
    test(`one ${name} is ignored`, async () => {
      const mine = await known(other);
      codeOf(await mine.browser.get(silent(mine.client, await of(mine))));
    });
  }

  const ALGORITHMS: readonly unknown[] = [
    ...['none', 'nOnE', '', 'HS256', 'HS384', 'HS512', 'hs256', 'HS256 ', 'RS384', 'PS256', 'ES384', 'rs256'],
    ...[null, undefined, 0, ['RS256'], { name: 'RS256' }],
  ];
  for (const alg of ALGS) {
    test(`JW-01: of ${alg}, one whose header names another algorithm is ignored, with any signature`, async () => {
      const mine = await known(other, alg);
      const { header, claims } = parts(mine.idToken);
      const { keys } = (await (await fetch(`${server.baseUrl}/.well-known/jwks.json`)).json()) as {
        keys: readonly Record<string, string>[];
      };
      const shown = keys.find(({ kid }) => kid === header['kid']);
      assert.ok(shown !== undefined);
      // RFC 8725 §3.1: what everybody knows must never be taken for the secret of an HMAC.
      const pem = createPublicKey({ key: shown, format: 'jwk' }).export({ type: 'spki', format: 'pem' }).toString();
      const keysOfHmac = ['', mine.client.clientSecret, pem, JSON.stringify(shown), shown['n'] ?? shown['x'] ?? ''];
      for (const named of [...ALGORITHMS, ...ALGS.filter((one) => one !== alg)]) {
        // A hint that were believed would name another person, and end in login_required.
        const [changed, forged] = [
          { ...header, alg: named },
          { ...claims, sub: user.id },
        ];
        const hash = named === 'HS384' ? 'sha384' : named === 'HS512' ? 'sha512' : 'sha256';
        const hints = keysOfHmac.map((key) => forge(changed, forged, key, hash));
        for (const hint of [...hints, `${hints[0]?.split('.').slice(0, 2).join('.')}.`]) {
          codeOf(await mine.browser.get(silent(mine.client, hint)));
        }
      }
    });
  }

  test('decisions §1: one from a revoked grant, or of a family that a replay ended, is ignored', async () => {
    for (const end of [
      ({ client }: Known) => admin(server, 'DELETE', `/users/${user.id}/connections/${client.clientId}`),
      async ({ client, browser }: Known) => {
        const code = codeOf(await browser.get(authorizeUrl(client)));
        const { body } = await redeem(server, client, code);
        await redeem(server, client, code);
        return body.id_token as string;
      },
    ]) {
      const mine = await known();
      const ended = await end(mine);
      const hint = typeof ended === 'string' ? ended : mine.idToken;
      const theirs = await signedIn(server, other);
      await tokensFor(server, mine.client, other, {}, { browser: theirs });
      codeOf(await theirs.get(silent(mine.client, hint)));
    }
  });

  test('a deleted person’s is ignored', async () => {
    const gone = await newUser(server);
    const { client, idToken } = await known(gone);
    await admin(server, 'DELETE', `/users/${gone.id}`);
    const browser = agent(server.baseUrl);
    const page = await settle(browser, server, await browser.get(authorizeUrl(client, { id_token_hint: idToken })));
    assert.equal(fieldOf(page), '');
  });
});

describe('login_hint', () => {
  const shown = async (login_hint: string, browser = agent(server.baseUrl)) =>
    settle(browser, server, await browser.get(authorizeUrl(await newClient(server), { login_hint, prompt: 'login' })));

  test('is written into the field, escaped, whether or not there is such an account', async () => {
    for (const hint of [user.username, 'nobody@example.com', '"><script>x</script>', 'ü 𝒳']) {
      const page = await shown(hint);
      const escaped = hint.replaceAll('"', '&quot;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
      assert.equal(fieldOf(page), escaped);
      assert.match(page.text, /id="password"[^>]* autofocus/);
    }
  });

  test('one that could not be typed there is ignored', async () => {
    for (const hint of ['x'.repeat(321), 'a\nb', 'a\0']) assert.equal(fieldOf(await shown(hint)), '');
    assert.equal(fieldOf(await shown('x'.repeat(320))), 'x'.repeat(320));
  });

  test('the hint comes before the name of the signed-in user', async () => {
    const browser = await signedIn(server, user);
    assert.equal(fieldOf(await shown('somebody', browser)), 'somebody');
    assert.equal(fieldOf(await shown('', browser)), user.username);
    assert.equal(fieldOf(await shown('')), '');
  });
});
