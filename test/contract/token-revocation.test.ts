// store: SQLite, PostgreSQL
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, describe, test } from 'node:test';
import {
  assertInvalidGrant,
  assertInvalidToken,
  assertRefused,
  basic,
  call,
  FORM_TYPE,
  JSON_TYPE,
  STANDARD,
} from '../support/api-call.ts';
import {
  admin,
  authorizeUrl,
  newClient,
  newUser,
  refresh,
  signedIn,
  type TestClient,
  type Tokens,
  tokenCall,
  tokensFor,
  userinfo,
  walk,
} from '../support/flow.ts';
import { DAY, HOUR, query, restart } from '../support/outcome.ts';
import { startServer } from '../support/server.ts';
import { asClient, introspect, REVOKE, revoke } from '../support/token-services.ts';

const server = await startServer({ TESSERA_LIMIT_CLIENT_AUTH: 'off' });
after(() => server.close());
const user = await newUser(server);
let browser = await signedIn(server, user);
const client = await newClient(server);
const other = await newClient(server);

const newTokens = (of = client): Promise<Tokens> => tokensFor(server, of, user, {}, { browser });

/** RFC 7009 §2: "the authorization server invalidates the token … immediately". */
async function assertDead(tokens: Tokens, of = client): Promise<void> {
  assertInvalidToken(await userinfo(server, tokens.access_token));
  assertInvalidToken(await userinfo(server, tokens.access_token, STANDARD));
  assertInvalidGrant(await refresh(server, of, tokens.refresh_token));
  for (const token of [tokens.access_token, tokens.refresh_token]) {
    assert.deepEqual((await introspect(server, of, token)).body, { active: false });
  }
}

async function assertAlive(tokens: Tokens, of = client): Promise<void> {
  assert.equal((await userinfo(server, tokens.access_token)).status, 200);
  assert.equal((await refresh(server, of, tokens.refresh_token)).status, 200);
}

function assertDone(answer: Awaited<ReturnType<typeof revoke>>): void {
  assert.deepEqual([answer.status, answer.body], [200, {}], answer.text);
  assert.equal(answer.headers.get('cache-control'), 'no-store');
}

const revocations = async (): Promise<number> =>
  Number((await query(server, "SELECT count(*) AS n FROM audit_event WHERE type = 'token.revoked'"))[0]?.['n']);

describe('RFC 7009 §2.1: a token of the client, and with it its whole family', () => {
  for (const kind of ['access_token', 'refresh_token'] as const) {
    for (const hint of [undefined, 'access_token', 'refresh_token', 'urn:example:other', '']) {
      test(`the ${kind}, with ${hint === undefined ? 'no hint' : `the hint "${hint}"`}`, async () => {
        const tokens = await newTokens();
        const bystander = await newTokens();
        assertDone(await revoke(server, client, tokens[kind], hint === undefined ? {} : { token_type_hint: hint }));
        await assertDead(tokens);
        await assertAlive(bystander);
      });
    }
  }

  test('an old access token and a retired refresh token end what came after them too', async () => {
    for (const kind of ['access_token', 'refresh_token'] as const) {
      const first = await newTokens();
      const second = (await refresh(server, client, first.refresh_token)).body as Tokens;
      const third = (await refresh(server, client, second.refresh_token)).body as Tokens;
      assertDone(await revoke(server, client, first[kind]));
      for (const tokens of [first, second, third]) await assertDead(tokens);
    }
  });

  test('the person’s consent stays: the next authorization needs no page, and its tokens live', async () => {
    const tokens = await newTokens();
    assertDone(await revoke(server, client, tokens.refresh_token));
    const target = await walk(browser, authorizeUrl(client, { prompt: 'none' }));
    assert.ok(target.searchParams.get('code'));
    await assertAlive(await newTokens());
  });

  test('it holds over a restart', async () => {
    const tokens = await newTokens();
    assertDone(await revoke(server, client, tokens.access_token));
    await restart(server);
    await assertDead(tokens);
  });

  test('twice is once: 200, and one event, which says who ended what', async () => {
    const tokens = await newTokens();
    const before = await revocations();
    assertDone(await revoke(server, client, tokens.refresh_token));
    assertDone(await revoke(server, client, tokens.refresh_token));
    assertDone(await revoke(server, client, tokens.access_token));
    assert.equal((await revocations()) - before, 1);
    const { body } = await admin(
      server,
      'GET',
      `/audit-events?type=token.revoked&clientId=${client.clientId}&limit=200`,
    );
    const event = body.items.at(-1);
    assert.deepEqual(
      [event.actor, event.userId, event.clientId, event.outcome],
      [{ type: 'client', id: client.clientId }, user.id, client.clientId, 'success'],
    );
  });

  test('of many revocations and refreshes at once no token is left over', async () => {
    const tokens = await newTokens();
    const renewals = Array.from({ length: 8 }, () => refresh(server, client, tokens.refresh_token));
    assertDone(await revoke(server, client, tokens.access_token));
    for (const { status, body } of await Promise.all(renewals)) {
      assert.ok(status === 200 || body.error === 'invalid_grant', JSON.stringify(body));
      if (status === 200) await assertDead(body);
    }
    await assertDead(tokens);
  });
});

describe('RFC 7009 §2.2: what cannot be revoked needs no revoking', () => {
  test('garbage, ID tokens, secrets and codes: 200, and nothing is revoked', async () => {
    const tokens = await newTokens();
    const code = (await walk(browser, authorizeUrl(client))).searchParams.get('code') ?? '';
    const cut = tokens.refresh_token.slice(0, -4);
    for (const token of ['x', 'a.b.c', '.'.repeat(9000), '\u0000', cut, tokens.id_token, client.clientSecret, code]) {
      assertDone(await revoke(server, client, token));
    }
    await assertAlive(tokens);
    const form = { grant_type: 'authorization_code', code, redirect_uri: client.redirectUri };
    const exchanged = await asClient(server, '/api/v2/oauth/token', client, form);
    assert.equal(exchanged.status, 200, exchanged.text);
  });

  test('an expired token is nothing any more, and ends nothing', async () => {
    const tokens = await newTokens();
    server.advance(HOUR);
    assertDone(await revoke(server, client, tokens.access_token));
    const renewed = (await refresh(server, client, tokens.refresh_token)).body as Tokens;
    await assertAlive(renewed);
    server.advance(8 * DAY);
    assertDone(await revoke(server, client, renewed.refresh_token));
    browser = await signedIn(server, user);
  });

  test('a token of a banned person is ended as any other', async () => {
    const signedInUser = await newUser(server);
    const tokens = await tokensFor(server, client, signedInUser);
    await admin(server, 'PUT', `/users/${signedInUser.id}/ban`, {});
    assertDone(await revoke(server, client, tokens.refresh_token));
    await admin(server, 'DELETE', `/users/${signedInUser.id}/ban`);
    await assertDead(tokens);
  });
});

describe('RFC 7009 §2.1, TK-13: who may revoke', () => {
  for (const kind of ['access_token', 'refresh_token'] as const) {
    test(`the ${kind} of another client is refused, alive or dead in the same words, and lives on`, async () => {
      const tokens = await newTokens();
      const alive = await revoke(server, other, tokens[kind]);
      assertRefused(
        alive,
        400,
        'invalid_grant',
        'The token was issued to another client. Only that one can revoke it.',
      );
      await assertAlive(tokens);
      assertDone(await revoke(server, client, tokens[kind]));
      const dead = await revoke(server, other, tokens[kind]);
      assert.deepEqual([dead.status, dead.text], [alive.status, alive.text]);
    });
  }

  test('the client authenticates as at the token endpoint, before its token is looked at', async () => {
    const tokens = await newTokens();
    const fields = { token: tokens.refresh_token };
    const wrong = { ...client, clientSecret: 'A'.repeat(43) };
    const withBasic = async (headers: Record<string, string>, form: Record<string, string>) =>
      call(server, 'POST', REVOKE, { 'content-type': FORM_TYPE, ...headers }, new URLSearchParams(form).toString());
    assertRefused(await asClient(server, REVOKE, wrong, fields), 401, 'invalid_client');
    assertRefused(await asClient(server, REVOKE, { ...client, clientSecret: '' }, fields), 401, 'invalid_client');
    assertRefused(await withBasic({}, fields), 401, 'invalid_client');
    assertRefused(await asClient(server, REVOKE, wrong, {}), 401, 'invalid_client');
    const refused = await withBasic(basic(client.clientId, 'wrong'), fields);
    assertRefused(refused, 401, 'invalid_client');
    assert.match(refused.headers.get('www-authenticate') ?? '', /^Basic /);
    // A bearer of the token is not the client.
    assertRefused(await withBasic({ authorization: `Bearer ${tokens.access_token}` }, fields), 401, 'invalid_client');
    const both = { ...fields, client_secret: client.clientSecret };
    assertRefused(await withBasic(basic(client.clientId, client.clientSecret), both), 400, 'invalid_request');
    await assertAlive(tokens);
    const again = await newTokens();
    assertDone(await withBasic(basic(client.clientId, client.clientSecret), { token: again.refresh_token }));
    await assertDead(again);
  });

  test('a public client names itself by its id alone', async () => {
    const registered = await admin(server, 'POST', '/clients', {
      name: 'Phone',
      type: 'public',
      redirectUris: ['https://spa.example/cb'],
    });
    const app: TestClient = { ...registered.body, redirectUri: 'https://spa.example/cb' };
    const verifier = 'v'.repeat(43);
    const code_challenge = createHash('sha256').update(verifier).digest('base64url');
    const challenge = { code_challenge, code_challenge_method: 'S256' };
    const code = (await walk(browser, authorizeUrl(app, challenge))).searchParams.get('code');
    const { body } = await tokenCall(server, {
      ...{ grant_type: 'authorization_code', code, client_id: app.clientId },
      ...{ redirect_uri: app.redirectUri, code_verifier: verifier },
    });
    assertRefused(await revoke(server, app, body.refresh_token, { client_secret: 'x' }), 401, 'invalid_client');
    const own = { origin: 'https://spa.example' };
    const answer = await asClient(server, REVOKE, app, { token: body.refresh_token }, own);
    assertDone(answer);
    // HB-04: its own page may read the answer.
    assert.equal(answer.headers.get('access-control-allow-origin'), 'https://spa.example');
    assertInvalidToken(await userinfo(server, body.access_token));
    const renewed = { grant_type: 'refresh_token', refresh_token: body.refresh_token, client_id: app.clientId };
    assertInvalidGrant(await tokenCall(server, renewed));
  });
});

describe('the request', () => {
  const send = (body: string, type = FORM_TYPE) => call(server, 'POST', REVOKE, { 'content-type': type }, body);
  const own = () => `client_id=${client.clientId}&client_secret=${client.clientSecret}`;

  test('JSON is read too', async () => {
    const tokens = await newTokens();
    const credentials = { client_id: client.clientId, client_secret: client.clientSecret };
    assertDone(await send(JSON.stringify({ ...credentials, token: tokens.access_token }), JSON_TYPE));
    await assertDead(tokens);
  });

  test('token missing, empty, repeated or in the address: invalid_request', async () => {
    const { refresh_token } = await newTokens();
    assertRefused(await send(own()), 400, 'invalid_request');
    assertRefused(await send(`${own()}&token=`), 400, 'invalid_request');
    assertRefused(await send(`${own()}&token=${refresh_token}&token=x`), 400, 'invalid_request');
    const address = `${REVOKE}?token=${refresh_token}`;
    assertRefused(await call(server, 'POST', address, { 'content-type': FORM_TYPE }, own()), 400, 'invalid_request');
    assertRefused(await call(server, 'GET', address), 405, 'invalid_request');
    assert.equal((await refresh(server, client, refresh_token)).status, 200);
  });

  test('decisions §9: it counts among the token requests of the client', async () => {
    const limited = await startServer({ TESSERA_LIMIT_TOKEN: '2/m' });
    try {
      const app = await newClient(limited);
      for (let n = 0; n < 2; n++) assert.equal((await revoke(limited, app, 'x')).status, 200);
      assertRefused(await revoke(limited, app, 'x'), 429, 'rate_limit_exceeded');
    } finally {
      await limited.close();
    }
  });

  test('TK-13: a fault is never told as a success, and nothing is ended without its record', async () => {
    const tokens = await newTokens();
    await query(server, 'ALTER TABLE audit_event RENAME TO elsewhere');
    try {
      assertRefused(await revoke(server, client, tokens.refresh_token), 500, 'server_error');
    } finally {
      await query(server, 'ALTER TABLE elsewhere RENAME TO audit_event');
    }
    await assertAlive(tokens);
  });
});
