// store: SQLite, PostgreSQL with --all
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { ACR } from '../../src/authenticators/rules/authentication-context.ts';
import { dropSigningKey, listSigningKeys, rotateSigningKey } from '../../src/keys/signing-keys.ts';
import type { Agent } from '../support/agent.ts';
import { assertRefused, basic, call, FORM_TYPE, JSON_TYPE } from '../support/api-call.ts';
import {
  admin,
  claimsOf,
  codeFor,
  newClient,
  newUser,
  PASSWORD,
  redeem,
  refresh,
  revokeOnPage,
  signedIn,
  type TestUser,
  type Tokens,
  tokensFor,
  userinfo,
} from '../support/flow.ts';
import { withData } from '../support/forged-token.ts';
import { countRows, DAY, SECOND } from '../support/outcome.ts';
import { startServer } from '../support/server.ts';
import { asClient, INTROSPECT, introspect, revoke } from '../support/token-services.ts';

const server = await startServer({ TESSERA_LIMIT_CLIENT_AUTH: 'off' });
after(() => server.close());
const user = await newUser(server);
let browser = await signedIn(server, user);
const client = await newClient(server);
const other = await newClient(server);

const newTokens = (): Promise<Tokens> => tokensFor(server, client, user, { scope: 'openid email' }, { browser });

async function assertInactive(token: string, by = client): Promise<void> {
  const answer = await introspect(server, by, token);
  assert.equal(answer.status, 200, answer.text);
  // RFC 7662 §2.2: nothing else, not even why.
  assert.equal(answer.text, '{"active":false}');
}
async function assertActive(token: string): Promise<void> {
  const answer = await introspect(server, client, token);
  assert.equal(answer.body?.active, true, answer.text);
}

describe('RFC 7662 §2.2: what a live token is', () => {
  test('an access token', async () => {
    const { access_token, id_token } = await newTokens();
    const answer = await introspect(server, client, access_token);
    const { jti, iat, exp } = claimsOf(access_token);
    assert.deepEqual(answer.body, {
      active: true,
      scope: 'openid email',
      client_id: client.clientId,
      username: user.username,
      token_type: 'Bearer',
      exp,
      iat,
      sub: user.id,
      aud: `${server.baseUrl}/oidc/userinfo`,
      iss: server.baseUrl,
      jti,
      acr: ACR,
      amr: ['pwd'],
      auth_time: claimsOf(id_token).auth_time,
    });
    assert.equal(exp - iat, 1800);
    assert.match(answer.headers.get('content-type') ?? '', /^application\/json/);
    assert.equal(answer.headers.get('cache-control'), 'no-store');
  });

  test('a refresh token: no token_type, for it opens nothing', async () => {
    const { refresh_token } = await newTokens();
    const { jti, iat, exp } = claimsOf(refresh_token);
    assert.deepEqual((await introspect(server, client, refresh_token)).body, {
      active: true,
      scope: 'openid email',
      client_id: client.clientId,
      username: user.username,
      exp,
      iat,
      sub: user.id,
      aud: `${server.baseUrl}/api/v2/oauth/token`,
      iss: server.baseUrl,
      jti,
    });
  });

  test('the scope is the token’s own: less after a narrowed refresh', async () => {
    const { refresh_token } = await newTokens();
    const narrowed = await refresh(server, client, refresh_token, { scope: 'openid' });
    assert.equal((await introspect(server, client, narrowed.body.access_token)).body.scope, 'openid');
    assert.equal((await introspect(server, client, narrowed.body.refresh_token)).body.scope, 'openid email');
  });

  for (const hint of ['access_token', 'refresh_token', 'other', '']) {
    test(`the hint "${hint}" changes nothing (§2.1)`, async () => {
      const tokens = await newTokens();
      for (const token of [tokens.access_token, tokens.refresh_token]) {
        const hinted = await introspect(server, client, token, { token_type_hint: hint });
        assert.deepEqual(hinted.body, (await introspect(server, client, token)).body);
      }
    });
  }

  test('asking changes nothing: it neither rotates nor ends, and leaves no event', async () => {
    const first = await newTokens();
    const second = (await refresh(server, client, first.refresh_token)).body as Tokens;
    server.advance(31 * SECOND);
    const before = await countRows(server, 'audit_event');
    await assertInactive(first.refresh_token);
    await assertActive(second.refresh_token);
    assert.equal(await countRows(server, 'audit_event'), before);
    assert.equal((await refresh(server, client, second.refresh_token)).status, 200);
  });
});

describe('RFC 7662 §2.2: a token that any other route would refuse is not active', () => {
  test('to the second of its end', async () => {
    const tokens = await newTokens();
    const left = (token: string) => claimsOf(token).exp * SECOND - server.now();
    server.advance(left(tokens.access_token) - 1);
    await assertActive(tokens.access_token);
    server.advance(1);
    await assertInactive(tokens.access_token);
    server.advance(left(tokens.refresh_token) - 1);
    await assertActive(tokens.refresh_token);
    server.advance(1);
    await assertInactive(tokens.refresh_token);
    browser = await signedIn(server, user);
  });

  test('a retired refresh token: active for as long as a retry would be answered', async () => {
    const first = await newTokens();
    const second = (await refresh(server, client, first.refresh_token)).body as Tokens;
    server.advance(30 * SECOND - 1);
    await assertActive(first.refresh_token);
    server.advance(1);
    await assertInactive(first.refresh_token);
    const third = (await refresh(server, client, second.refresh_token)).body as Tokens;
    await assertActive(second.refresh_token);
    await refresh(server, client, third.refresh_token);
    await assertInactive(second.refresh_token);
  });

  interface Event {
    readonly happen: (of: TestUser, at: Agent) => Promise<unknown>;
    readonly lift?: (of: TestUser) => Promise<unknown>;
  }
  const EVENTS: Readonly<Record<string, Event>> = {
    'a ban': {
      happen: ({ id }) => admin(server, 'PUT', `/users/${id}/ban`, {}),
      lift: ({ id }) => admin(server, 'DELETE', `/users/${id}/ban`),
    },
    'a suspension': {
      happen: ({ id }) => admin(server, 'PUT', `/users/${id}/suspension`, {}),
      lift: ({ id }) => admin(server, 'DELETE', `/users/${id}/suspension`),
    },
    'access taken away by the person': { happen: (_of, at) => revokeOnPage(at, client) },
    'access taken away by an operator': {
      happen: ({ id }) => admin(server, 'DELETE', `/users/${id}/connections/${client.clientId}`),
    },
    'a new password': { happen: ({ id }) => admin(server, 'PATCH', `/users/${id}`, { password: `${PASSWORD} 2` }) },
    'the account deleted': { happen: ({ id }) => admin(server, 'DELETE', `/users/${id}`) },
  };
  for (const [name, { happen, lift }] of Object.entries(EVENTS)) {
    test(name, async () => {
      const signedInUser = await newUser(server);
      const own = await signedIn(server, signedInUser);
      const tokens = await tokensFor(server, client, signedInUser, {}, { browser: own });
      await assertActive(tokens.access_token);
      await happen(signedInUser, own);
      for (const token of [tokens.access_token, tokens.refresh_token]) await assertInactive(token);
      await lift?.(signedInUser);
      // What was dead stays dead.
      for (const token of [tokens.access_token, tokens.refresh_token]) await assertInactive(token);
    });
  }

  test('the client disabled: it cannot ask; enabled again, its tokens are dead', async () => {
    const app = await newClient(server);
    const state = (status: string) => admin(server, 'PATCH', `/clients/${app.clientId}`, { status });
    const tokens = await tokensFor(server, app, user, {}, { browser });
    assert.equal((await introspect(server, app, tokens.access_token)).body.active, true);
    await state('disabled');
    assertRefused(await introspect(server, app, tokens.access_token), 401, 'invalid_client');
    await state('active');
    for (const token of [tokens.access_token, tokens.refresh_token]) await assertInactive(token, app);
  });

  test('the family ended: a code used twice, a refresh token reused, a token revoked', async () => {
    const code = await codeFor(server, client, user, {}, { browser });
    const replayed = (await redeem(server, client, code)).body as Tokens;
    await redeem(server, client, code);
    const reused = await newTokens();
    const renewed = (await refresh(server, client, reused.refresh_token)).body as Tokens;
    server.advance(31 * SECOND);
    await refresh(server, client, reused.refresh_token);
    const revoked = await newTokens();
    await revoke(server, client, revoked.access_token);
    for (const { access_token, refresh_token } of [replayed, reused, renewed, revoked]) {
      await assertInactive(access_token);
      await assertInactive(refresh_token);
    }
  });

  test('its key dropped, also where this node has not heard of it; a retired key still verifies', async () => {
    const origin = { actor: { type: 'cli', id: null }, address: null, requestId: null } as const;
    const tokens = await newTokens();
    await withData(server, async ({ database, secret }) => {
      const [old] = await listSigningKeys(database);
      await rotateSigningKey(database, secret, origin, server.now());
      await assertActive(tokens.access_token);
      await dropSigningKey(database, secret, old?.kid ?? '', origin, server.now());
    });
    await assertInactive(tokens.access_token);
    await assertInactive(tokens.refresh_token);
    await assertActive((await newTokens()).access_token);
  });

  test('what UserInfo and the token endpoint accept is active, and what they refuse is not', async () => {
    const tokens = await newTokens();
    for (const days of [0, 1, 7, 8]) {
      const accepted = (await userinfo(server, tokens.access_token)).status === 200;
      assert.equal((await introspect(server, client, tokens.access_token)).body.active, accepted, `${days} days`);
      server.advance(DAY);
    }
    browser = await signedIn(server, user);
  });
});

describe('TK-13, RFC 7662 §4: who may ask about what', () => {
  test('a token of another client, and anything that is no token, answer alike', async () => {
    const tokens = await newTokens();
    const code = await codeFor(server, client, user, {}, { browser });
    await assertInactive(tokens.access_token, other);
    await assertInactive(tokens.refresh_token, other);
    for (const text of [tokens.id_token, code, client.clientSecret, client.clientId, user.id, 'x', 'a.b.c', '\u0000']) {
      await assertInactive(text);
    }
    await assertInactive('.'.repeat(9000));
    await assertInactive(`${tokens.access_token.slice(0, -8)}AAAAAAA0`);
  });

  test('§2.1: only a client that proves who it is; a public one cannot', async () => {
    const { access_token: token } = await newTokens();
    const wrong = { ...client, clientSecret: 'A'.repeat(43) };
    assertRefused(await introspect(server, wrong, token), 401, 'invalid_client');
    assertRefused(await introspect(server, { ...client, clientSecret: '' }, token), 401, 'invalid_client');
    assertRefused(await asClient(server, INTROSPECT, wrong, {}), 401, 'invalid_client');
    const form = new URLSearchParams({ token }).toString();
    const send = (headers: Record<string, string>) =>
      call(server, 'POST', INTROSPECT, { 'content-type': FORM_TYPE, ...headers }, form);
    assertRefused(await send({}), 401, 'invalid_client');
    // The token that is asked about opens nothing here.
    assertRefused(await send({ authorization: `Bearer ${token}` }), 401, 'invalid_client');
    assert.equal((await send(basic(client.clientId, client.clientSecret))).body.active, true);
    const app = await admin(server, 'POST', '/clients', {
      name: 'Phone',
      type: 'public',
      redirectUris: ['https://spa.example/cb'],
    });
    assertRefused(await introspect(server, app.body, token), 401, 'invalid_client');
    assertRefused(await introspect(server, app.body, 'x'), 401, 'invalid_client');
  });

  test('token missing, empty, repeated or in the address: invalid_request; JSON is read too', async () => {
    const { access_token: token } = await newTokens();
    const send = (body: string, type = FORM_TYPE, path = INTROSPECT) =>
      call(server, 'POST', path, { 'content-type': type }, body);
    const own = `client_id=${client.clientId}&client_secret=${client.clientSecret}`;
    assertRefused(await send(own), 400, 'invalid_request');
    assertRefused(await send(`${own}&token=`), 400, 'invalid_request');
    assertRefused(await send(`${own}&token=x&token=${token}`), 400, 'invalid_request');
    assertRefused(await send(own, FORM_TYPE, `${INTROSPECT}?token=${token}`), 400, 'invalid_request');
    assertRefused(await call(server, 'GET', `${INTROSPECT}?token=${token}`), 405, 'invalid_request');
    const json = { client_id: client.clientId, client_secret: client.clientSecret, token };
    assert.equal((await send(JSON.stringify(json), JSON_TYPE)).body.active, true);
  });
});
