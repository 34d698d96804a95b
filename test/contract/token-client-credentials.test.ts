// store: SQLite, PostgreSQL with --all
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { dropSigningKey, listSigningKeys, rotateSigningKey } from '../../src/keys/signing-keys.ts';
import type { Agent } from '../support/agent.ts';
import {
  assertInvalidGrant,
  assertInvalidToken,
  assertRefused,
  basic,
  STANDARD,
  TOKEN,
  tokenForm,
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
  tokenCall,
  tokensFor,
  userinfo,
} from '../support/flow.ts';
import { parts, withData } from '../support/forged-token.ts';
import { assertErrorRedirect, countRows, query, restart, SECOND } from '../support/outcome.ts';
import { startServer, type TestServer } from '../support/server.ts';
import { asClient, introspect, revoke } from '../support/token-services.ts';

let server: TestServer;
let user: TestUser;
let browser: Agent;
let machine: TestClient;
let ordinary: TestClient;
before(async () => {
  server = await startServer({ TESSERA_LIMIT_CLIENT_AUTH: 'off' });
  user = await newUser(server);
  browser = await signedIn(server, user);
  machine = await newMachine();
  ordinary = await newClient(server);
});
after(() => server.close());

const register = (fields: object) => admin(server, 'POST', '/clients', { name: 'Nightly job', ...fields });

async function newMachine(): Promise<TestClient> {
  const { status, body } = await register({ grantTypes: ['client_credentials'] });
  assert.equal(status, 201, JSON.stringify(body));
  assert.deepEqual([body.grantTypes, body.redirectUris], [['client_credentials'], []]);
  return { clientId: body.clientId, clientSecret: body.clientSecret, redirectUri: '' };
}

const ask = (client: TestClient, more: Readonly<Record<string, string>> = {}) =>
  asClient(server, TOKEN, client, { grant_type: 'client_credentials', ...more });

async function newToken(client = machine): Promise<string> {
  const answer = await ask(client);
  assert.equal(answer.status, 200, answer.text);
  return answer.body.access_token;
}

async function isActive(token: string, client = machine): Promise<boolean> {
  const { status, text, body } = await introspect(server, client, token);
  assert.equal(status, 200, text);
  if (!body.active) assert.equal(text, '{"active":false}');
  return body.active;
}

describe('RFC 6749 §4.4: a token for the client itself', () => {
  test('§4.4.3: an access token alone, for 30 minutes; neither a refresh token nor an ID token', async () => {
    const answer = await ask(machine);
    assert.equal(answer.status, 200);
    assert.deepEqual(answer.body, {
      access_token: answer.body.access_token,
      token_type: 'Bearer',
      expires_in: 1800,
    });
    assert.equal(answer.headers.get('cache-control'), 'no-store');
    assert.equal(answer.headers.get('pragma'), 'no-cache');
    const { header, claims } = parts(answer.body.access_token);
    assert.deepEqual([header['alg'], header['typ']], ['HS256', 'at+jwt']);
    const { iat, exp, jti, ...rest } = claims;
    // RFC 9068 §2.2: the subject is the client, and no user is named.
    const own = { iss: server.baseUrl, aud: server.baseUrl, sub: machine.clientId, client_id: machine.clientId };
    assert.deepEqual(rest, own);
    assert.equal(Number(exp) - Number(iat), 1800);
    assert.match(String(jti), /^[A-Za-z0-9_-]{22}$/);
  });

  test('as JSON, as a form, and with Basic', async () => {
    const { clientId, clientSecret } = machine;
    const body = { grant_type: 'client_credentials' };
    assert.equal((await tokenCall(server, { ...body, client_id: clientId, client_secret: clientSecret })).status, 200);
    assert.equal((await tokenForm(server, body, basic(clientId, clientSecret))).status, 200);
  });

  test('introspection says what it is, to its own client alone', async () => {
    const token = await newToken();
    const { jti, iat, exp } = claimsOf(token);
    assert.deepEqual((await introspect(server, machine, token)).body, {
      active: true,
      client_id: machine.clientId,
      sub: machine.clientId,
      token_type: 'Bearer',
      exp,
      iat,
      aud: server.baseUrl,
      iss: server.baseUrl,
      jti,
    });
    assert.equal(await isActive(token, ordinary), false);
  });

  test('it stands for no person: UserInfo, refresh, the code exchange and the admin API refuse it', async () => {
    const token = await newToken();
    assertInvalidToken(await userinfo(server, token));
    assertInvalidToken(await userinfo(server, token, STANDARD));
    const both = await newClient(server, { grantTypes: ['authorization_code', 'refresh_token', 'client_credentials'] });
    const own = await newToken(both);
    assertInvalidGrant(await refresh(server, both, own));
    assertInvalidGrant(await redeem(server, both, own));
    assertInvalidToken(await admin(server, 'GET', '/users', undefined, own));
  });

  for (const scope of ['openid', 'email', 'openid email', 'profile', 'offline_access', 'api', 'a  b', '*']) {
    test(`the scope "${scope}" is invalid_scope: each is about a person`, async () => {
      assertRefused(await ask(machine, { scope }), 400, 'invalid_scope');
    });
  }
  test('an empty scope counts as left out (§3.1)', async () => {
    assert.equal((await ask(machine, { scope: '' })).status, 200);
  });

  test('LG-02: each is on record, by whom', async () => {
    const before = await countRows(server, 'audit_event');
    await newToken();
    assert.equal((await countRows(server, 'audit_event')) - before, 1);
    const { body } = await admin(server, 'GET', `/audit-events?type=token.client_issued&clientId=${machine.clientId}`);
    const { actor, userId, clientId } = body.items[0];
    assert.deepEqual([actor, userId, clientId], [{ type: 'client', id: machine.clientId }, null, machine.clientId]);
  });
});

describe('TK-08: a client uses the grants that it is registered for', () => {
  const app = (grantTypes: readonly string[]) => newClient(server, { grantTypes });

  test('client_credentials is for those who are registered for it: unauthorized_client', async () => {
    assertRefused(await ask(ordinary), 400, 'unauthorized_client');
    // The client is checked first, so that its grants are not disclosed.
    assertRefused(await ask({ ...ordinary, clientSecret: 'wrong' }), 401, 'invalid_client');
    assertRefused(await ask({ ...machine, clientSecret: '' }), 401, 'invalid_client');
    const { body } = await register({ type: 'public', redirectUris: ['https://spa.example/cb'] });
    assertRefused(await ask(body), 400, 'unauthorized_client');
    assertRefused(await asClient(server, TOKEN, ordinary, { grant_type: 'password' }), 400, 'unsupported_grant_type');
  });

  test('authorization_code: unauthorized_client at the authorization endpoint and at the token endpoint', async () => {
    assertRefused(
      await redeem(server, machine, 'x', { redirect_uri: 'https://a.example' }),
      400,
      'unauthorized_client',
    );
    assertRefused(await refresh(server, machine, 'x'), 400, 'unauthorized_client');
    const changed = await app(['authorization_code', 'client_credentials']);
    const code = await codeFor(server, changed, user, {}, { browser });
    await admin(server, 'PATCH', `/clients/${changed.clientId}`, { grantTypes: ['client_credentials'] });
    assertRefused(await redeem(server, changed, code), 400, 'unauthorized_client');
    const answer = await browser.get(authorizeUrl(changed));
    assertErrorRedirect(answer, { error: 'unauthorized_client', state: 'st4te', to: changed.redirectUri }, server);
  });

  test('refresh_token: without it none is given, and none from before is taken', async () => {
    const once = await app(['authorization_code']);
    const tokens = await tokensFor(server, once, user, {}, { browser });
    assert.deepEqual(Object.keys(tokens).sort(), ['access_token', 'expires_in', 'id_token', 'token_type']);
    assert.equal((await userinfo(server, tokens.access_token)).status, 200);
    const changed = await newClient(server);
    const before = await tokensFor(server, changed, user, {}, { browser });
    await admin(server, 'PATCH', `/clients/${changed.clientId}`, { grantTypes: ['authorization_code'] });
    assertRefused(await refresh(server, changed, before.refresh_token), 400, 'unauthorized_client');
    await admin(server, 'PATCH', `/clients/${changed.clientId}`, {
      grantTypes: ['authorization_code', 'refresh_token'],
    });
    assert.equal((await refresh(server, changed, before.refresh_token)).status, 200);
  });

  test('a client from before there were grants to register keeps the contract’s two', async () => {
    const old = await newClient(server);
    await query(server, 'UPDATE client SET grant_types = NULL WHERE id = ?', old.clientId);
    const { body } = await admin(server, 'GET', `/clients/${old.clientId}`);
    assert.deepEqual(body.grantTypes, ['authorization_code', 'refresh_token']);
    const tokens = await tokensFor(server, old, user, {}, { browser });
    assert.equal((await refresh(server, old, tokens.refresh_token)).status, 200);
    assertRefused(await ask(old), 400, 'unauthorized_client');
  });

  const redirectUris = ['https://app.example.com/cb'];
  const refused: readonly [string, object, RegExp][] = [
    ['none', { redirectUris, grantTypes: [] }, /^grantTypes must be a list of different grants/],
    ['one that does not exist', { redirectUris, grantTypes: ['password'] }, /^grantTypes\[0\] must be one of/],
    ['one twice', { redirectUris, grantTypes: ['authorization_code', 'authorization_code'] }, /^grantTypes must be/],
    ['null', { redirectUris, grantTypes: null }, /^grantTypes must be/],
    ['refreshing alone', { grantTypes: ['refresh_token'] }, /^grantTypes must hold authorization_code/],
    [
      'a public client for itself',
      { redirectUris, type: 'public', grantTypes: ['authorization_code', 'client_credentials'] },
      /^grantTypes must not hold client_credentials for a public client/,
    ],
    ['codes without a redirect URI', { grantTypes: ['authorization_code'] }, /^redirectUris is missing\.$/],
    ['nothing said and no redirect URI', {}, /^redirectUris is missing\.$/],
  ];
  for (const [name, fields, words] of refused) {
    test(`registration refuses ${name}`, async () => {
      const answer = await register(fields);
      assertRefused(answer, 400, 'invalid_request');
      assert.match(answer.body.error_description, words);
    });
  }

  test('a change is checked as a whole: codes need a redirect URI', async () => {
    const job = await newMachine();
    const change = (fields: object) => admin(server, 'PATCH', `/clients/${job.clientId}`, fields);
    assertRefused(await change({ grantTypes: ['authorization_code'] }), 400, 'invalid_request');
    const answer = await change({ grantTypes: ['authorization_code'], redirectUris });
    assert.deepEqual([answer.status, answer.body.grantTypes], [200, ['authorization_code']]);
  });
});

describe('decisions §5: the verdict on a client’s own token', () => {
  test('to the second of its end', async () => {
    const token = await newToken();
    server.advance(claimsOf(token).exp * SECOND - server.now() - 1);
    assert.equal(await isActive(token), true);
    server.advance(1);
    assert.equal(await isActive(token), false);
  });

  test('the client disabled: dead at once and, enabled again, for ever; over a restart too', async () => {
    const job = await newMachine();
    const token = await newToken(job);
    const state = (status: string) => admin(server, 'PATCH', `/clients/${job.clientId}`, { status });
    await state('disabled');
    assertRefused(await ask(job), 401, 'invalid_client');
    await state('active');
    assert.equal(await isActive(token, job), false);
    const another = await newToken(job);
    await restart(server);
    assert.deepEqual([await isActive(token, job), await isActive(another, job)], [false, true]);
  });

  test('a new secret ends nothing; the client deleted takes its tokens with it', async () => {
    const job = await newMachine();
    const token = await newToken(job);
    const { body } = await admin(server, 'POST', `/clients/${job.clientId}/secrets`, { expirePreviousIn: 0 });
    assert.equal(await isActive(token, { ...job, clientSecret: body.clientSecret }), true);
    await admin(server, 'DELETE', `/clients/${job.clientId}`);
    const left = await query(server, 'SELECT count(*) AS n FROM client_token WHERE client_id = ?', job.clientId);
    assert.equal(Number(left[0]?.['n']), 0);
  });

  test('RFC 7009: it is revoked by itself; its sisters live; another client is refused', async () => {
    const [token, sister] = [await newToken(), await newToken()];
    assertRefused(await revoke(server, ordinary, token), 400, 'invalid_grant');
    assert.equal(await isActive(token), true);
    for (const _ of [1, 2]) assert.equal((await revoke(server, machine, token)).status, 200);
    assert.deepEqual([await isActive(token), await isActive(sister)], [false, true]);
    const { body } = await admin(server, 'GET', `/audit-events?type=token.revoked&clientId=${machine.clientId}`);
    assert.equal(body.items.length, 1);
  });

  test('its key dropped: dead at once, and the next is signed with the key that took its place', async () => {
    const origin = { actor: { type: 'cli', id: null }, address: null, requestId: null } as const;
    const token = await newToken();
    await withData(server, async ({ database, secret }) => {
      const [old] = await listSigningKeys(database);
      await rotateSigningKey(database, secret, origin, server.now());
      assert.equal(await isActive(token), true);
      await dropSigningKey(database, secret, old?.kid ?? '', origin, server.now());
    });
    const next = await newToken();
    assert.notEqual(parts(next).header['kid'], parts(token).header['kid']);
    assert.deepEqual([await isActive(token), await isActive(next)], [false, true]);
  });

  test('RT-06: a good signature without a record is nothing', async () => {
    const token = await newToken();
    await query(server, 'DELETE FROM client_token WHERE jti = ?', claimsOf(token).jti);
    assert.equal(await isActive(token), false);
  });

  test('decisions §9: it counts among the token requests of the client', async () => {
    const limited = await startServer({ TESSERA_LIMIT_TOKEN: '2/m' });
    try {
      const job = await newClient(limited, { grantTypes: ['client_credentials'] });
      const own = (more = {}) => asClient(limited, TOKEN, job, { grant_type: 'client_credentials', ...more });
      assert.equal((await own()).status, 200);
      assertRefused(await own({ scope: 'x' }), 400, 'invalid_scope');
      assertRefused(await own(), 429, 'rate_limit_exceeded');
    } finally {
      await limited.close();
    }
  });

  test('TK-11: without its record none is given', async () => {
    await query(server, 'ALTER TABLE audit_event RENAME TO elsewhere');
    const before = await countRows(server, 'client_token');
    try {
      assertRefused(await ask(machine), 500, 'server_error');
    } finally {
      await query(server, 'ALTER TABLE elsewhere RENAME TO audit_event');
    }
    assert.equal(await countRows(server, 'client_token'), before);
  });
});
