// store: SQLite, PostgreSQL with --all
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { ACR } from '../../src/authenticators/rules/authentication-context.ts';
import { type Agent, agent } from '../support/agent.ts';
import {
  assertInvalidToken,
  assertRefused,
  basic,
  codeBody,
  JSON_TYPE,
  refreshBody,
  STANDARD,
  TOKEN,
  tokenBytes,
  tokenForm,
} from '../support/api-call.ts';
import {
  admin,
  authorizeUrl,
  claimsOf,
  newClient,
  newUser,
  PASSWORD,
  type TestClient,
  type TestUser,
  type Tokens,
  tokensFor,
  userinfo,
  walk,
} from '../support/flow.ts';
import { assertErrorRedirect, query, settle } from '../support/outcome.ts';
import { startServer, type TestServer } from '../support/server.ts';
import { asClient, introspect, revoke } from '../support/token-services.ts';

const ORDERS = 'https://api.example.com/orders';
const BILLS = 'https://api.example.com/bills';

let server: TestServer;
let user: TestUser;
let browser: Agent;
let app: TestClient;
let orders: TestClient;
let bills: TestClient;
let machine: TestClient;
let own: string;
before(async () => {
  server = await startServer({ TESSERA_LIMIT_CLIENT_AUTH: 'off' });
  own = server.baseUrl + STANDARD;
  user = await newUser(server);
  app = await newClient(server);
  orders = await resourceServer(ORDERS);
  bills = await resourceServer(BILLS);
  machine = await newClient(server, { grantTypes: ['client_credentials'] });
  browser = agent(server.baseUrl);
  await browser.submit(await browser.get('/login'), { identifier: user.username, password: PASSWORD });
});
after(() => server.close());

/** A resource server needs no redirect URI: it only asks about tokens. */
const resourceServer = (resource: string) => newClient(server, { resource, grantTypes: ['client_credentials'] });

type Pairs = readonly (readonly [string, string])[];
const naming = (...resources: readonly string[]): Pairs => resources.map((resource) => ['resource', resource]);

const address = (client: TestClient, ...resources: readonly string[]): string =>
  `${authorizeUrl(client, { scope: 'openid email' })}&${new URLSearchParams([...naming(...resources)].map(([n, v]) => [n, v]))}`;

/** A code for these resources, through the pages. */
async function codeFor(resources: readonly string[], client = app): Promise<string> {
  const target = await walk(browser, address(client, ...resources));
  const code = target.searchParams.get('code');
  assert.ok(code, `${target}`);
  return code;
}

/** A token request as a form in which a name may stand more than once. */
const form = (fields: Readonly<Record<string, string>>, more: Pairs) =>
  tokenBytes(
    server,
    new URLSearchParams([...Object.entries(fields), ...more.map(([n, v]) => [n, v])]).toString(),
    'application/x-www-form-urlencoded',
  );

const redeem = async (code: string, ...resources: readonly string[]) => form(codeBody(app, code), naming(...resources));
const renew = (token: string, ...resources: readonly string[]) => form(refreshBody(app, token), naming(...resources));

async function tokensAt(...resources: readonly string[]): Promise<Tokens> {
  const answer = await redeem(await codeFor(resources));
  assert.equal(answer.status, 200, answer.text);
  return answer.body;
}
const audienceOf = (tokens: Pick<Tokens, 'access_token'>): unknown => claimsOf(tokens.access_token).aud;

describe('RFC 8707 §2: what can be named', () => {
  const malformed = [
    'orders',
    '/orders',
    'https://api.example.com/orders#part',
    'https://api example.com',
    ' ',
    `https://a.example/${'x'.repeat(600)}`,
  ];
  const unknown = [
    'https://api.example.com/other',
    `${ORDERS}/`,
    ORDERS.toUpperCase(),
    'urn:example:orders',
    'https://api.example.com',
  ];
  for (const resource of [...malformed, ...unknown]) {
    test(`"${resource.slice(0, 50)}" is invalid_target, everywhere`, async () => {
      const answer = await browser.get(address(app, resource));
      assertErrorRedirect(answer, { error: 'invalid_target', state: 'st4te', to: app.redirectUri }, server);
      assertRefused(await asMachine([resource]), 400, 'invalid_target');
      assertRefused(await asMachine([ORDERS, resource]), 400, 'invalid_target');
    });
  }

  test('six are too many; one twice is one; an empty one counts as left out', async () => {
    const six = Array.from({ length: 6 }, (_, n) => `${ORDERS}/${n}`);
    assertErrorRedirect(
      await browser.get(address(app, ...six)),
      { error: 'invalid_target', state: 'st4te', to: app.redirectUri },
      server,
    );
    assert.equal(audienceOf((await asMachine([ORDERS, ORDERS])).body), ORDERS);
    assert.equal(audienceOf((await asMachine([''])).body), server.baseUrl);
  });

  test('no address of the service can be had but UserInfo, and that not without a person', async () => {
    for (const resource of [
      server.baseUrl,
      `${server.baseUrl}/`,
      `${server.baseUrl}${TOKEN}`,
      `${own}/`,
      `${own}?x=1`,
    ]) {
      const answer = await browser.get(address(app, resource));
      assertErrorRedirect(answer, { error: 'invalid_target', state: 'st4te', to: app.redirectUri }, server);
    }
    assertRefused(await asMachine([own]), 400, 'invalid_target');
    // Not even by registering it, which is refused; an earlier version did not refuse it.
    const thief = await resourceServer('https://thief.example.com');
    assert.equal((await admin(server, 'PATCH', `/clients/${thief.clientId}`, { resource: own })).status, 400);
    await query(server, `UPDATE client SET resource = '${own}' WHERE id = '${thief.clientId}'`);
    const tokens = await tokensFor(server, app, user, {}, { browser });
    assert.equal((await introspect(server, thief, tokens.access_token)).text, '{"active":false}');
  });

  test('the resource of a client that is disabled is unknown', async () => {
    const there = await resourceServer('https://gone.example.com');
    assert.equal((await asMachine(['https://gone.example.com'])).status, 200);
    await admin(server, 'PATCH', `/clients/${there.clientId}`, { status: 'disabled' });
    assertRefused(await asMachine(['https://gone.example.com']), 400, 'invalid_target');
  });
});

const asMachine = (resources: readonly string[]) =>
  form(
    { grant_type: 'client_credentials', client_id: machine.clientId, client_secret: machine.clientSecret },
    naming(...resources),
  );

describe('RFC 8707 §2.1, CN-04: the person allows the places', () => {
  test('the page names them; once allowed it does not come again; another place asks again', async () => {
    const client = await newClient(server);
    const page = await settle(browser, server, await browser.get(address(client, ORDERS)));
    assert.match(page.text, /Can act for you at/);
    assert.ok(page.text.includes(ORDERS));
    await codeFor([ORDERS], client);
    const silent = async (...resources: string[]) =>
      (await browser.get(`${address(client, ...resources)}&prompt=none`)).location?.searchParams;
    assert.ok((await silent(ORDERS))?.get('code'));
    assert.ok((await silent())?.get('code'));
    assert.equal((await silent(BILLS))?.get('error'), 'consent_required');
    assert.equal((await silent(ORDERS, BILLS))?.get('error'), 'consent_required');
    await codeFor([BILLS], client);
    assert.ok((await silent(ORDERS, BILLS))?.get('code'), 'both were allowed');
  });

  test('a refusal leaves what was allowed as it was', async () => {
    const client = await newClient(server);
    await codeFor([ORDERS], client);
    const denied = await walk(browser, address(client, BILLS), { decision: 'deny' });
    assert.equal(denied.searchParams.get('error'), 'access_denied');
    const answer = await browser.get(`${address(client, BILLS)}&prompt=none`);
    assert.equal(answer.location?.searchParams.get('error'), 'consent_required');
  });

  test('a request that names none has no such section', async () => {
    const page = await settle(browser, server, await browser.get(authorizeUrl(await newClient(server))));
    assert.doesNotMatch(page.text, /Can act for you at/);
  });
});

describe('RFC 8707 §2.2, TK-14: for whom a token is', () => {
  test('what was granted, with and without the parameter', async () => {
    for (const named of [[], [ORDERS]]) {
      const answer = await redeem(await codeFor([ORDERS]), ...named);
      assert.equal(audienceOf(answer.body), ORDERS);
    }
    assert.deepEqual(audienceOf(await tokensAt(ORDERS, BILLS)), [ORDERS, BILLS]);
  });

  test('less than what was granted, at the exchange and at each refresh; the family keeps all', async () => {
    const first = await redeem(await codeFor([ORDERS, BILLS]), BILLS);
    assert.equal(audienceOf(first.body), BILLS);
    const second = await renew(first.body.refresh_token, ORDERS);
    assert.equal(audienceOf(second.body), ORDERS);
    const third = await renew(second.body.refresh_token);
    assert.deepEqual(audienceOf(third.body), [ORDERS, BILLS]);
  });

  test('never more: invalid_target, and nothing is used up', async () => {
    const code = await codeFor([ORDERS]);
    for (const named of [[BILLS], [ORDERS, BILLS], [own]]) {
      assertRefused(await redeem(code, ...named), 400, 'invalid_target');
    }
    const { body } = await redeem(code);
    assertRefused(await renew(body.refresh_token, BILLS), 400, 'invalid_target');
    assert.equal(audienceOf((await renew(body.refresh_token)).body), ORDERS);
  });

  test('an authorization that named none gives tokens for UserInfo, and for nothing else', async () => {
    const code = await codeFor([]);
    assertRefused(await redeem(code, ORDERS), 400, 'invalid_target');
    const { body } = await redeem(code);
    assert.equal(audienceOf(body), own);
    assertRefused(await renew(body.refresh_token, ORDERS), 400, 'invalid_target');
    assertRefused(await renew(body.refresh_token, own), 400, 'invalid_target');
  });

  test('as JSON: a text, or a list of them', async () => {
    const json = async (resource: unknown) => {
      const code = await codeFor([ORDERS, BILLS]);
      return tokenBytes(server, JSON.stringify({ ...codeBody(app, code), resource }), JSON_TYPE);
    };
    assert.equal(audienceOf((await json(ORDERS)).body), ORDERS);
    assert.deepEqual(audienceOf((await json([BILLS, ORDERS])).body), [BILLS, ORDERS]);
    for (const wrong of [1, [1], {}, null, [[ORDERS]]]) assertRefused(await json(wrong), 400, 'invalid_request');
  });

  test('decisions §3: every other parameter stands once', async () => {
    const answer = await browser.get(`${address(app, ORDERS)}&scope=openid`);
    assertErrorRedirect(answer, { error: 'invalid_request', state: 'st4te', to: app.redirectUri }, server);
    const code = await codeFor([ORDERS]);
    assertRefused(await form(codeBody(app, code), [['code', code]]), 400, 'invalid_request');
  });

  test('a resource that is gone gives no more tokens', async () => {
    const name = 'https://short.example.com';
    const there = await resourceServer(name);
    const tokens = await tokensAt(name);
    await admin(server, 'PATCH', `/clients/${there.clientId}`, { resource: null });
    assertRefused(await renew(tokens.refresh_token), 400, 'invalid_target');
    await admin(server, 'PATCH', `/clients/${there.clientId}`, { resource: name });
    assert.equal((await renew(tokens.refresh_token)).status, 200);
  });

  test('a resource is taken in every spelling, and this service’s own addresses are nobody’s', async () => {
    const place = 'https://spelled.example.com/a~b';
    await resourceServer(place);
    await resourceServer('https://root.example.com');
    const register = (resource: string) =>
      admin(server, 'POST', '/clients', { name: 'Other', redirectUris: [app.redirectUri], resource });
    for (const taken of [
      'https://SPELLED.example.com/a~b',
      'HTTPS://spelled.example.com/a~b',
      'https://spelled.example.com:443/a~b',
      'https://spelled.example.com./a~b',
      'https://spelled.example.com/x/../a~b',
      'https://spelled.example.com/%2e/a%7Eb',
      'https://root.example.com/',
    ]) {
      const { status, body } = await register(taken);
      assert.deepEqual([status, body.error], [409, 'conflict'], taken);
    }
    assert.equal((await register('https://spelled.example.com/A~b')).status, 201);
    const other = (await register('https://spelled.example.com/other')).body.clientId;
    const changed = await admin(server, 'PATCH', `/clients/${other}`, { resource: 'https://SPELLED.example.com/a~b' });
    assert.equal(changed.status, 409);
    // The API itself may change how it spells its own.
    assert.equal(
      (await admin(server, 'PATCH', `/clients/${other}`, { resource: 'https://spelled.example.com:443/other' })).status,
      200,
    );
    for (const mine of [own, own.replace('http:', 'HTTP:'), server.baseUrl, `${server.baseUrl}/x/../oidc/userinfo`]) {
      const { status, body } = await register(mine);
      assert.deepEqual([status, /own address/.test(body.error_description)], [400, true], mine);
    }
  });

  test('a client’s own token is for what it names', async () => {
    const { body } = await asMachine([ORDERS]);
    assert.equal(audienceOf(body), ORDERS);
    const one = await introspect(server, orders, body.access_token);
    assert.deepEqual([one.body.active, one.body.sub, one.body.aud], [true, machine.clientId, ORDERS]);
    assert.equal((await introspect(server, bills, body.access_token)).body.active, false);
  });
});

describe('RFC 8707 §3: a token is good where it is meant for', () => {
  test('UserInfo refuses a token for others, and takes one that is for it too', async () => {
    const elsewhere = await tokensAt(ORDERS);
    for (const path of [STANDARD, '/api/v2/oauth/userinfo']) {
      assertInvalidToken(await userinfo(server, elsewhere.access_token, path));
      assert.equal((await userinfo(server, (await tokensAt(own, ORDERS)).access_token, path)).status, 200);
      assert.equal((await userinfo(server, (await tokensAt(own)).access_token, path)).status, 200);
    }
  });

  test('JW-19: what others can read says nothing about the person but the id', async () => {
    assert.equal('email' in claimsOf((await tokensAt(ORDERS)).access_token), false);
    assert.equal('email' in claimsOf((await tokensAt(own, ORDERS)).access_token), false);
    // The contract's token says the address.
    assert.equal(claimsOf((await tokensAt()).access_token).email, `${user.username}@example.com`);
    assert.equal(claimsOf((await tokensAt(own)).access_token).email, `${user.username}@example.com`);
  });

  test('RFC 7662: its resource server is told about it, without the username; no other one is', async () => {
    const tokens = await tokensAt(ORDERS);
    const { iat, exp, jti } = claimsOf(tokens.access_token);
    const { auth_time } = claimsOf(tokens.id_token);
    const said = {
      active: true,
      scope: 'openid email',
      client_id: app.clientId,
      token_type: 'Bearer',
      exp,
      iat,
      sub: user.id,
      aud: ORDERS,
      iss: server.baseUrl,
      jti,
      acr: ACR,
      amr: ['pwd'],
      auth_time,
    };
    assert.deepEqual((await introspect(server, orders, tokens.access_token)).body, said);
    assert.deepEqual((await introspect(server, app, tokens.access_token)).body, { ...said, username: user.username });
    assert.equal((await introspect(server, bills, tokens.access_token)).text, '{"active":false}');
    // A refresh token is for the token endpoint alone.
    assert.equal((await introspect(server, orders, tokens.refresh_token)).text, '{"active":false}');
    const both = await tokensAt(ORDERS, BILLS);
    for (const by of [orders, bills]) {
      assert.deepEqual((await introspect(server, by, both.access_token)).body.aud, [ORDERS, BILLS]);
    }
  });

  test('decisions §5: the verdict holds at a resource server too, from its next question on', async () => {
    const signedInUser = await newUser(server);
    const there = agent(server.baseUrl);
    await there.submit(await there.get('/login'), { identifier: signedInUser.username, password: PASSWORD });
    const target = await walk(there, address(app, ORDERS));
    const { body } = await redeem(target.searchParams.get('code') ?? '');
    const active = async () => (await introspect(server, orders, body.access_token)).body.active;
    assert.equal(await active(), true);
    await admin(server, 'PUT', `/users/${signedInUser.id}/ban`, {});
    assert.equal(await active(), false);
    const revoked = await tokensAt(ORDERS);
    // It is the app that got the token who may end it.
    assertRefused(await revoke(server, orders, revoked.access_token), 400, 'invalid_grant');
    assert.equal((await revoke(server, app, revoked.access_token)).status, 200);
    assert.equal((await introspect(server, orders, revoked.access_token)).body.active, false);
  });
});

describe('registration', () => {
  const register = (fields: object) => admin(server, 'POST', '/clients', { name: 'API', ...fields });
  const grantTypes = ['client_credentials'];

  test('resource: null without a word, and no two clients have the same', async () => {
    assert.equal((await register({ grantTypes })).body.resource, null);
    assertRefused(await register({ grantTypes, resource: ORDERS }), 409, 'conflict');
    assertRefused(await admin(server, 'PATCH', `/clients/${bills.clientId}`, { resource: ORDERS }), 409, 'conflict');
    assert.equal((await admin(server, 'PATCH', `/clients/${bills.clientId}`, { resource: BILLS })).status, 200);
    const rows = await query(server, 'SELECT resource FROM client WHERE resource = ?', ORDERS);
    assert.equal(rows.length, 1);
  });

  for (const resource of ['orders', 'http://api.example.com', 'https://a.example/#x', 'https://u:p@a.example', '', 7]) {
    test(`${JSON.stringify(resource)} is refused`, async () => {
      assertRefused(await register({ grantTypes, resource }), 400, 'invalid_request');
    });
  }

  test('a public client can be none: it could not ask', async () => {
    const fields = { type: 'public', redirectUris: ['https://spa.example/cb'], resource: 'https://spa.example/api' };
    assertRefused(await register(fields), 400, 'invalid_request');
  });

  test('Basic, as most resource servers do', async () => {
    const { body } = await asMachine([ORDERS]);
    const headers = basic(orders.clientId, orders.clientSecret);
    const asked = await fetch(`${server.baseUrl}/oidc/introspect`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({ token: body.access_token }),
    });
    assert.match(await asked.text(), /^\{"active":true,/);
    assert.equal((await tokenForm(server, { grant_type: 'client_credentials' }, headers)).status, 200);
    assert.equal((await asClient(server, TOKEN, orders, { grant_type: 'client_credentials' })).status, 200);
  });
});
