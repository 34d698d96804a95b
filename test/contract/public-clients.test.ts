// store: SQLite, PostgreSQL with --all
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { createRemoteJWKSet, jwtVerify } from 'jose';
import { type Agent, agent } from '../support/agent.ts';
import { assertInvalidGrant, assertRefused } from '../support/api-call.ts';
import {
  admin,
  authorizeUrl,
  newUser,
  refresh,
  signedIn,
  type TestClient,
  type TestUser,
  tokenCall,
  userinfo,
  walk,
} from '../support/flow.ts';
import { assertErrorRedirect, assertStaysHere, MINUTE, query, settle } from '../support/outcome.ts';
import { startServer, type TestServer } from '../support/server.ts';

let server: TestServer;
let user: TestUser;
let browser: Agent;
let client: TestClient;
before(async () => {
  server = await startServer({ TESSERA_LIMIT_TOKEN: '20/m' });
  user = await newUser(server);
  browser = await signedIn(server, user);
  client = await publicClient();
  await walk(browser, authorizeUrl(client, pkce().challenge));
});
after(() => server.close());

const register = (fields: object) =>
  admin(server, 'POST', '/clients', { name: 'Phone app', redirectUris: ['com.example.app:/cb'], ...fields });

async function publicClient(fields: object = {}): Promise<TestClient> {
  const { status, body } = await register({ type: 'public', ...fields });
  assert.equal(status, 201, JSON.stringify(body));
  return { clientId: body.clientId, clientSecret: body.clientSecret, redirectUri: body.redirectUris[0] };
}

function pkce() {
  const verifier = randomBytes(32).toString('base64url');
  const code_challenge = createHash('sha256').update(verifier).digest('base64url');
  return { verifier, challenge: { code_challenge, code_challenge_method: 'S256' } };
}

/** A code with its verifier. */
async function newCode(of = client, parameters: Readonly<Record<string, string>> = {}) {
  const { verifier, challenge } = pkce();
  const target = await walk(browser, authorizeUrl(of, { ...challenge, ...parameters }));
  return { code: target.searchParams.get('code') ?? '', verifier };
}

/** A token request without any secret. */
const redeem = ({ code, verifier }: { code: string; verifier: string }, change: object = {}, of = client) =>
  tokenCall(server, {
    grant_type: 'authorization_code',
    code,
    client_id: of.clientId,
    redirect_uri: of.redirectUri,
    code_verifier: verifier,
    ...change,
  });

describe('registration', () => {
  test('decisions §6: no secret is made, and PKCE is a must', async () => {
    const { status, body } = await register({ type: 'public' });
    assert.equal(status, 201);
    assert.equal('clientSecret' in body, false);
    assert.deepEqual(
      [body.type, body.requirePkce, body.idTokenSignedResponseAlg, body.secrets],
      ['public', true, null, []],
    );
    const added = await admin(server, 'POST', `/clients/${body.clientId}/secrets`, {});
    assertRefused(
      added,
      409,
      'conflict',
      'A public client has no secret. It sends client_id alone, with PKCE. For an app with a secret, register another with type confidential.',
    );
  });

  for (const alg of ['RS256', 'ES256', 'EdDSA']) {
    test(`idTokenSignedResponseAlg may be ${alg}`, async () => {
      assert.equal(
        (await register({ type: 'public', idTokenSignedResponseAlg: alg })).body.idTokenSignedResponseAlg,
        alg,
      );
    });
  }

  const refused: [string, object, RegExp][] = [
    ['JW-08: HS256', { idTokenSignedResponseAlg: 'HS256' }, /^idTokenSignedResponseAlg must be RS256, ES256 or EdDSA/],
    ['AZ-08: no PKCE', { requirePkce: false }, /^requirePkce must be true/],
  ];
  for (const [name, fields, words] of refused) {
    test(`${name} is refused, at registration and by a change`, async () => {
      for (const answer of [
        await register({ type: 'public', ...fields }),
        await admin(server, 'PATCH', `/clients/${client.clientId}`, fields),
      ]) {
        assert.deepEqual([answer.status, answer.body.error], [400, 'invalid_request']);
        assert.match(answer.body.error_description, words);
      }
    });
  }

  test('a private-use scheme is for public clients only', async () => {
    assert.equal((await register({})).status, 400);
  });
});

describe('the flow', () => {
  test('authorize with PKCE, exchange and refresh without a secret, UserInfo', async () => {
    const answer = await redeem(await newCode(client, { scope: 'openid email', nonce: 'n' }));
    assert.equal(answer.status, 200, JSON.stringify(answer.body));
    const keys = createRemoteJWKSet(new URL(`${server.baseUrl}/.well-known/jwks.json`));
    const { payload } = await jwtVerify(answer.body.id_token, keys, {
      issuer: server.baseUrl,
      audience: client.clientId,
      algorithms: ['RS256'],
      currentDate: new Date(server.now()),
    });
    assert.deepEqual([payload.sub, payload['nonce']], [user.id, 'n']);
    assert.equal((await userinfo(server, answer.body.access_token, '/oidc/userinfo')).body.sub, user.id);
    const { clientSecret: _, ...bare } = client;
    const renewed = await refresh(server, bare as TestClient, answer.body.refresh_token);
    assert.equal(renewed.status, 200);
    assert.notEqual(renewed.body.refresh_token, answer.body.refresh_token);
    server.advance(MINUTE);
    assertInvalidGrant(await refresh(server, client, answer.body.refresh_token));
    assert.equal((await userinfo(server, renewed.body.access_token)).status, 401, 'RT-02: reuse kills the family');
  });

  test('RFC 8252 §7.1: the pages name the app by its scheme, and the form may end there', async () => {
    const of = await publicClient();
    const begun = await browser.get(authorizeUrl(of, pkce().challenge));
    const page = await browser.get(begun.location?.href ?? '');
    assert.match(page.text, /com\.example\.app/);
    const cold = agent(server.baseUrl);
    const signIn = await settle(cold, server, await cold.get(authorizeUrl(of, pkce().challenge)));
    assert.match(signIn.text, /You will return to <bdi>com\.example\.app<\/bdi>/);
    assert.match(
      page.headers.get('content-security-policy') ?? '',
      /form-action 'self' com\.example\.app: https:(;|$)/,
    );
    const target = await walk(browser, authorizeUrl(of, pkce().challenge));
    assert.equal(target.protocol, 'com.example.app:');
    assert.match((await browser.get('/account/connections')).text, /com\.example\.app/);
  });

  test('AZ-08: without a code_challenge, or with plain, the answer is invalid_request', async () => {
    for (const parameters of [
      {},
      { code_challenge: pkce().verifier },
      { code_challenge: pkce().verifier, code_challenge_method: 'plain' },
    ]) {
      const answer = await browser.get(authorizeUrl(client, parameters as Record<string, string>));
      assertErrorRedirect(answer, { error: 'invalid_request', state: 'st4te', to: client.redirectUri }, server);
    }
  });

  test('CD-07: a verifier that is missing, wrong or of another code redeems nothing and revokes nothing', async () => {
    const right = await newCode();
    for (const code_verifier of [undefined, '', pkce().verifier])
      assertInvalidGrant(await redeem(right, { code_verifier }));
    assert.equal((await redeem(right)).status, 200);
  });

  test('RFC 8252 §6: a code that lost its challenge is not redeemed without one', async () => {
    const right = await newCode();
    await query(server, 'UPDATE authorization_code SET code_challenge = NULL WHERE redeemed_at IS NULL');
    assertInvalidGrant(await redeem(right, { code_verifier: undefined }));
  });

  test('CD-05: a code is nothing to another client, public or confidential, with the same redirect URI', async () => {
    const redirectUris = ['https://app.example.com/cb'];
    const confidential = async (): Promise<TestClient> => {
      const { body } = await register({ redirectUris });
      return { clientId: body.clientId, clientSecret: body.clientSecret, redirectUri: redirectUris[0] ?? '' };
    };
    const clients = [
      await publicClient({ redirectUris }),
      await publicClient({ redirectUris }),
      await confidential(),
      await confidential(),
    ];
    const proofOf = ({ clientId, clientSecret }: TestClient) => ({
      client_id: clientId,
      ...(clientSecret && { client_secret: clientSecret }),
    });
    for (const owner of clients) {
      const right = await newCode(owner);
      for (const other of clients.filter((one) => one !== owner)) {
        assertInvalidGrant(await redeem(right, proofOf(other), owner));
      }
      assert.equal((await redeem(right, proofOf(owner), owner)).status, 200);
    }
  });
});

describe('client authentication', () => {
  const invalid = async (body: object, headers: Record<string, string> = {}) => {
    const answer = await fetch(`${server.baseUrl}/api/v2/oauth/token`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ grant_type: 'authorization_code', code: 'x', redirect_uri: client.redirectUri, ...body }),
    });
    assert.deepEqual([answer.status, ((await answer.json()) as { error: string }).error], [401, 'invalid_client']);
  };
  const basic = (id: string, secret: string) => ({
    authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`,
  });

  test('a secret presented by a public client is refused, in the body and as Basic', async () => {
    await invalid({ client_id: client.clientId, client_secret: 'anything' });
    await invalid({}, basic(client.clientId, 'anything'));
  });

  test('decisions §10: Basic with an empty secret is the client_id alone, for a public client', async () => {
    const { code, verifier } = await newCode();
    const send = (body: object) =>
      fetch(`${server.baseUrl}/api/v2/oauth/token`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...basic(client.clientId, '') },
        body: JSON.stringify(body),
      });
    const grant = { grant_type: 'authorization_code', code, redirect_uri: client.redirectUri };
    // PKCE binds the code to the client as before.
    assert.equal(((await (await send(grant)).json()) as { error: string }).error, 'invalid_grant');
    const answer = await send({ ...grant, code_verifier: verifier });
    assert.equal(answer.status, 200, await answer.text());
    const disabled = await publicClient();
    await admin(server, 'PATCH', `/clients/${disabled.clientId}`, { status: 'disabled' });
    await invalid({}, basic(disabled.clientId, ''));
  });

  test('TK-05: a confidential client that leaves its credentials out is never treated as a public one', async () => {
    const { body } = await register({
      redirectUris: ['https://app.example.com/cb'],
      idTokenSignedResponseAlg: 'RS256',
    });
    for (const client_secret of [undefined, '']) await invalid({ client_id: body.clientId, client_secret });
    await invalid({}, basic(body.clientId, ''));
    await invalid({}, basic('289236738748416000', ''));
  });

  test('a disabled public client is as unknown as any', async () => {
    const other = await publicClient();
    await admin(server, 'PATCH', `/clients/${other.clientId}`, { status: 'disabled' });
    await invalid({ client_id: other.clientId });
  });

  test('requests that need no secret are counted for each address', async () => {
    const other = await publicClient();
    const statuses = new Set<number>();
    for (let n = 0; n < 21; n++)
      statuses.add((await redeem({ code: 'x', verifier: pkce().verifier }, {}, other)).status);
    assert.deepEqual([...statuses], [400, 429]);
    const rows = await query(server, "SELECT bucket FROM rate_count WHERE bucket LIKE 'token %'");
    const own = rows.map(({ bucket }) => String(bucket)).filter((bucket) => bucket.includes(other.clientId));
    assert.equal(own.length, 1);
    assert.notEqual(own[0], `token ${other.clientId}`);
  });
});

describe('HB-04: an app in a browser reads its own responses, and no other page does', () => {
  const SPA = 'https://spa.example.com';
  const post = async (of: { clientId: string; clientSecret?: string }, origin: string) => {
    const answer = await fetch(`${server.baseUrl}/api/v2/oauth/token`, {
      method: 'POST',
      headers: { origin },
      body: new URLSearchParams({
        grant_type: 'authorization_code',
        code: 'x',
        client_id: of.clientId,
        redirect_uri: `${SPA}/cb`,
        ...(of.clientSecret !== undefined && { client_secret: of.clientSecret }),
      }),
    });
    assert.equal(answer.status, 400);
    assert.equal(answer.headers.get('access-control-allow-credentials'), null);
    return answer.headers.get('access-control-allow-origin');
  };

  test('the origin of a redirect URI of a public client is allowed, and told apart by caches', async () => {
    const of = await publicClient({ redirectUris: [`${SPA}/cb`, 'com.example.app:/cb', 'http://localhost:5173/cb'] });
    for (const origin of [SPA, 'http://localhost:5173']) assert.equal(await post(of, origin), origin);
    const others = [
      'null',
      'https://evil.example',
      `${SPA}:8443`,
      `${SPA}.evil.example`,
      'http://localhost:5174',
      `${SPA}/`,
    ];
    for (const origin of others) assert.equal(await post(of, origin), null, origin);
  });

  test('a client with a secret has no business in a browser', async () => {
    const { body } = await register({ redirectUris: [`${SPA}/cb`] });
    assert.equal(await post(body, SPA), null);
  });
});

describe('RFC 8252 §7.3: on a loopback IP literal the port may be any, for public clients alone', () => {
  const registered = 'http://127.0.0.1/cb?x=1';
  const cases: [string, string, string, boolean][] = [
    ['public', registered, 'http://127.0.0.1:51004/cb?x=1', true],
    ['public', registered, registered, true],
    ['public', 'http://127.0.0.1:8080/', 'http://127.0.0.1:51004/', true],
    ['public', 'http://[::1]:8080/cb', 'http://[::1]:51004/cb', true],
    ['public', 'http://[::1]/cb', 'http://127.0.0.1:51004/cb', false],
    ['public', registered, 'http://127.0.0.1:51004/cb', false],
    ['public', registered, 'http://127.0.0.1:51004/cb/?x=1', false],
    ['public', registered, 'http://127.0.0.1:0/cb?x=1', false],
    ['public', registered, 'http://127.0.0.1:99999/cb?x=1', false],
    ['public', registered, 'http://127.0.0.1.evil.test:80/cb?x=1', false],
    ['public', registered, 'http://127.0.0.1:80@evil.test/cb?x=1', false],
    ['public', registered, 'http://127.0.0.2:51004/cb?x=1', false],
    ['public', registered, 'https://127.0.0.1:51004/cb?x=1', false],
    ['public', registered, 'HTTP://127.0.0.1:51004/cb?x=1', false],
    ['public', 'http://localhost/cb', 'http://localhost:51004/cb', false],
    ['public', 'https://app.example.com/cb', 'https://app.example.com:8443/cb', false],
    ['confidential', registered, 'http://127.0.0.1:51004/cb?x=1', false],
  ];
  for (const [type, known, presented, fits] of cases) {
    test(`${type}: ${known} ${fits ? 'takes' : 'refuses'} ${presented}`, async () => {
      const { body } = await register({ type, redirectUris: [known] });
      const { verifier, challenge } = pkce();
      const address = authorizeUrl({ ...body, redirectUri: presented }, challenge);
      if (!fits) return assertStaysHere(await browser.get(address), 400);
      const target = await walk(browser, address);
      assert.equal(new URL(presented).host, target.host);
      const made = { code: target.searchParams.get('code') ?? '', verifier };
      const of = { clientId: body.clientId, clientSecret: '', redirectUri: presented };
      // RFC 6749 §4.1.3: the exchange repeats the one that was used, port and all.
      if (presented !== known) assertInvalidGrant(await redeem(made, { redirect_uri: known }, of));
      assert.equal((await redeem(made, {}, of)).status, 200);
    });
  }
});
