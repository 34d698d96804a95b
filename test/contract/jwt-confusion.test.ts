// store: SQLite, PostgreSQL with --all
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Agent } from '../support/agent.ts';
import { cookieName } from '../support/agent.ts';
import {
  assertInvalidGrant,
  assertInvalidToken,
  assertRefused,
  call,
  FORM_TYPE,
  STANDARD,
  USERINFO,
  userinfoWith,
} from '../support/api-call.ts';
import {
  admin,
  authorizeUrl,
  claimsOf,
  codeFor,
  newClient,
  newUser,
  redeem,
  refresh,
  signedIn,
  type TestClient,
  type TestUser,
  type Tokens,
  tokensFor,
  userinfo,
  walk,
} from '../support/flow.ts';
import { forge, parts } from '../support/forged-token.ts';
import { ADMIN_KEY, startServer, type TestServer } from '../support/server.ts';

let server: TestServer;
let second: TestServer;
let client: TestClient;
let user: TestUser;
let victim: TestUser;
let browser: Agent;
let tokens: Tokens;
/** One of every kind of secret text that the service hands out, by name. */
let credentials: Readonly<Record<string, string>>;

before(async () => {
  server = await startServer({ TESSERA_LIMIT_ADMIN_KEY: 'off', TESSERA_LIMIT_CLIENT_AUTH: 'off' });
  second = await startServer();
  client = await newClient(server);
  user = await newUser(server);
  victim = await newUser(server);
  browser = await signedIn(server, user);
  tokens = await tokensFor(server, client, user, {}, { browser });
  const foreign = await tokensFor(second, await newClient(second), await newUser(second));
  const { header, claims } = parts(tokens.id_token);
  credentials = {
    'access token': tokens.access_token,
    'refresh token': tokens.refresh_token,
    'ID token': tokens.id_token,
    // JW-07: under HS256 a client can sign any claims as an ID token.
    'ID token that the client forged for another person': forge(
      header,
      { ...claims, sub: victim.id },
      client.clientSecret,
    ),
    'ID token that the client forged in the form of an access token': forge(
      { alg: 'HS256', typ: 'at+jwt' },
      { ...claims, sub: victim.id, aud: claimsOf(tokens.access_token).aud, scope: 'openid email', jti: 'x' },
      client.clientSecret,
    ),
    'authorization code': await codeFor(server, client, user, {}, { browser }),
    'client secret': client.clientSecret,
    'client id': client.clientId,
    'user id': user.id,
    'admin key': ADMIN_KEY,
    'session cookie': browser.cookie('tessera_session') ?? '',
    'access token of a second instance': foreign.access_token,
    'refresh token of a second instance': foreign.refresh_token,
    'ID token of a second instance': foreign.id_token,
  };
});
after(async () => {
  await server.close();
  await second.close();
});

test('the matrix below is whole: every credential is there', () => {
  for (const [name, value] of Object.entries(credentials)) assert.ok(value.length > 0, name);
});

const NAMES = [
  'access token',
  'refresh token',
  'ID token',
  'ID token that the client forged for another person',
  'ID token that the client forged in the form of an access token',
  'authorization code',
  'client secret',
  'client id',
  'user id',
  'admin key',
  'session cookie',
  'access token of a second instance',
  'refresh token of a second instance',
  'ID token of a second instance',
] as const;

/** Every place that takes a credential, which one is right there, and how a wrong one is refused. */
const PLACES: readonly {
  readonly place: string;
  readonly right: (typeof NAMES)[number];
  readonly refuses: (credential: string) => Promise<void>;
}[] = [
  {
    place: 'UserInfo',
    right: 'access token',
    refuses: async (credential) => assertInvalidToken(await userinfo(server, credential)),
  },
  {
    place: 'the standard UserInfo, header',
    right: 'access token',
    refuses: async (credential) => assertInvalidToken(await userinfo(server, credential, STANDARD)),
  },
  {
    place: 'the standard UserInfo, form',
    right: 'access token',
    refuses: async (credential) => {
      const form = new URLSearchParams({ access_token: credential }).toString();
      assertInvalidToken(await call(server, 'POST', STANDARD, { 'content-type': FORM_TYPE }, form));
    },
  },
  {
    place: 'refresh_token',
    right: 'refresh token',
    refuses: async (credential) => assertInvalidGrant(await refresh(server, client, credential)),
  },
  {
    place: 'code',
    right: 'authorization code',
    refuses: async (credential) => assertInvalidGrant(await redeem(server, client, credential)),
  },
  {
    place: 'client_secret',
    right: 'client secret',
    refuses: async (credential) =>
      assertRefused(
        await refresh(server, client, tokens.refresh_token, { client_secret: credential }),
        401,
        'invalid_client',
      ),
  },
  {
    place: 'the admin API',
    right: 'admin key',
    refuses: async (credential) => {
      for (const path of ['/users', '/clients', `/users/${user.id}`, '/audit-events']) {
        assertInvalidToken(await admin(server, 'GET', path, undefined, credential));
      }
      assertInvalidToken(await admin(server, 'PUT', `/users/${victim.id}/ban`, {}, credential));
    },
  },
  {
    place: 'the session cookie',
    right: 'session cookie',
    refuses: async (credential) => {
      const stranger = await fetch(`${server.baseUrl}/account/connections`, {
        headers: { cookie: `${cookieName(server.baseUrl, 'tessera_session')}=${credential}` },
        redirect: 'manual',
      });
      assert.equal(stranger.status, 302);
      assert.match(stranger.headers.get('location') ?? '', /\/login/);
    },
  },
];

for (const { place, right, refuses } of PLACES) {
  describe(`JW-10: what ${place} does not take`, () => {
    for (const name of NAMES.filter((candidate) => candidate !== right)) {
      test(name, () => refuses(credentials[name] ?? ''));
    }
  });
}

describe('JW-07: an ID token is never authority at the authorization endpoint', () => {
  for (const name of NAMES.filter((candidate) => /token/.test(candidate))) {
    test(`${name} as id_token_hint does not sign a user in`, async () => {
      const hint = credentials[name] ?? '';
      const address = authorizeUrl(client, { prompt: 'none', id_token_hint: hint });
      const answer = await fetch(server.baseUrl + address, { redirect: 'manual' });
      assert.equal(new URL(answer.headers.get('location') ?? '').searchParams.get('error'), 'login_required');
    });
  }
  test('a hint of another person does not make the signed-in one that person', async () => {
    const hint = credentials['ID token that the client forged for another person'] ?? '';
    const target = await walk(browser, authorizeUrl(client, { id_token_hint: hint }), { user });
    const code = target.searchParams.get('code');
    if (code === null) return assert.ok(target.searchParams.get('error'));
    assert.equal(claimsOf((await redeem(server, client, code)).body.access_token).sub, user.id);
  });
});

test('every right credential was good all the while', async () => {
  assert.equal((await userinfoWith(server, `Bearer ${tokens.access_token}`, USERINFO)).status, 200);
  assert.equal((await redeem(server, client, credentials['authorization code'] ?? '')).status, 200);
  assert.equal((await refresh(server, client, tokens.refresh_token)).status, 200);
  assert.equal((await admin(server, 'GET', `/users/${victim.id}`)).body.status, 'active');
  const cookie = `${cookieName(server.baseUrl, 'tessera_session')}=${credentials['session cookie']}`;
  const page = await fetch(`${server.baseUrl}/account/connections`, { headers: { cookie }, redirect: 'manual' });
  assert.equal(page.status, 200);
});
