// store: SQLite, PostgreSQL
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, describe, test } from 'node:test';
import type { Agent } from '../support/agent.ts';
import {
  assertForbidden,
  assertInvalidGrant,
  assertInvalidToken,
  assertRefused,
  BANNED,
  REVOKED,
  SUSPENDED,
} from '../support/api-call.ts';
import {
  admin,
  claimsOf,
  codeFor,
  newClient,
  newUser,
  redeem,
  refresh,
  revokeOnPage,
  signedIn,
  type TestClient,
  type TestUser,
  type Tokens,
  tokensFor,
  userinfo,
} from '../support/flow.ts';
import { query } from '../support/outcome.ts';
import { startServer } from '../support/server.ts';
import { asClient, introspect, REVOKE } from '../support/token-services.ts';

const DAY = 24 * 60 * 60 * 1000;

const server = await startServer();
after(() => server.close());
const client = await newClient(server);
const other = await newClient(server);
const user = await newUser(server);
let browser = await signedIn(server, user);

const newTokens = (parameters: Record<string, string> = {}) => tokensFor(server, client, user, parameters, { browser });
async function next(token: string): Promise<Tokens> {
  const answer = await refresh(server, client, token);
  assert.equal(answer.status, 200, JSON.stringify(answer.body));
  return answer.body;
}
const alive = async (tokens: Tokens) => assert.equal((await userinfo(server, tokens.access_token)).status, 200);
async function dead(...sets: readonly Tokens[]): Promise<void> {
  for (const tokens of sets) {
    assertInvalidToken(await userinfo(server, tokens.access_token));
    assertInvalidGrant(await refresh(server, client, tokens.refresh_token));
  }
}

describe('RT-01: rotation', () => {
  test('each refresh gives three new tokens; the access token before lives on', async () => {
    const first = await newTokens();
    const second = await next(first.refresh_token);
    const third = await next(second.refresh_token);
    for (const kind of ['access_token', 'refresh_token', 'id_token'] as const) {
      assert.equal(new Set([first[kind], second[kind], third[kind]]).size, 3);
    }
    for (const tokens of [first, second, third]) await alive(tokens);
    assert.equal(third.expires_in, 1800);
  });
});

describe('decisions §4: the grace window', () => {
  test('the direct predecessor gets the same refresh token again, with fresh access and ID tokens', async () => {
    const first = await newTokens();
    const second = await next(first.refresh_token);
    server.advance(5_000);
    const again = await next(first.refresh_token);
    const andAgain = await next(first.refresh_token);
    assert.equal(again.refresh_token, second.refresh_token);
    assert.equal(andAgain.refresh_token, second.refresh_token);
    assert.equal(new Set([second.access_token, again.access_token, andAgain.access_token]).size, 3);
    assert.notEqual(again.id_token, second.id_token);
    assert.equal(claimsOf(again.access_token).exp, claimsOf(second.access_token).exp + 5);
    await alive(second);
    await alive(again);
    await next(again.refresh_token);
  });
  test('at 29.999 s it is open, also after a restart', async () => {
    const first = await newTokens();
    const second = await next(first.refresh_token);
    server.advance(29_999);
    await server.restart();
    assert.equal((await next(first.refresh_token)).refresh_token, second.refresh_token);
  });
  test('at 30 s it is closed: the family dies', async () => {
    const first = await newTokens();
    const second = await next(first.refresh_token);
    server.advance(30_000);
    assertInvalidGrant(await refresh(server, client, first.refresh_token));
    await dead(second, first);
  });
  test('a repetition does not extend it', async () => {
    const first = await newTokens();
    const second = await next(first.refresh_token);
    server.advance(20_000);
    await next(first.refresh_token);
    server.advance(10_000);
    assertInvalidGrant(await refresh(server, client, first.refresh_token));
    await dead(second);
  });
  test('it ends with the first use of the successor: the family dies', async () => {
    const first = await newTokens();
    const second = await next(first.refresh_token);
    const third = await next(second.refresh_token);
    assertInvalidGrant(await refresh(server, client, first.refresh_token));
    await dead(third, second, first);
  });
  test('a narrowed repetition carries the narrow scope in the access token only', async () => {
    const first = await newTokens({ scope: 'openid email phone' });
    const second = await next(first.refresh_token);
    const again = await refresh(server, client, first.refresh_token, { scope: 'openid' });
    assert.equal(claimsOf(again.body.access_token).scope, 'openid');
    assert.equal(again.body.refresh_token, second.refresh_token);
    assert.equal(claimsOf((await next(second.refresh_token)).access_token).scope, 'openid email phone');
  });
  test('another client inside the window gets nothing, and the owner goes on', async () => {
    const first = await newTokens();
    const second = await next(first.refresh_token);
    assertInvalidGrant(await refresh(server, other, first.refresh_token));
    assertInvalidGrant(await refresh(server, other, second.refresh_token));
    assert.equal((await next(first.refresh_token)).refresh_token, second.refresh_token);
    await next(second.refresh_token);
  });

  const ends: readonly [
    string,
    (who: TestUser, app: TestClient, tab: Agent) => Promise<unknown>,
    string | undefined,
  ][] = [
    ['revocation', (_who, app, tab) => revokeOnPage(tab, app), REVOKED],
    ['a ban', (who) => admin(server, 'PUT', `/users/${who.id}/ban`, {}), BANNED],
    ['suspension', (who) => admin(server, 'PUT', `/users/${who.id}/suspension`, {}), SUSPENDED],
    [
      'another password',
      (who) => admin(server, 'PATCH', `/users/${who.id}`, { password: 'another good password' }),
      undefined,
    ],
    [
      'disabling and enabling the client',
      async (_who, { clientId }) => {
        await admin(server, 'PATCH', `/clients/${clientId}`, { status: 'disabled' });
        await admin(server, 'PATCH', `/clients/${clientId}`, { status: 'active' });
      },
      undefined,
    ],
  ];
  for (const [name, act, message] of ends) {
    test(`it ends with ${name} (RT-04)`, async () => {
      const app = await newClient(server);
      const who = await newUser(server);
      const tab = await signedIn(server, who);
      const first = await tokensFor(server, app, who, {}, { browser: tab });
      const second: Tokens = (await refresh(server, app, first.refresh_token)).body;
      await act(who, app, tab);
      for (const token of [first.refresh_token, second.refresh_token]) {
        const answer = await refresh(server, app, token);
        if (message === undefined) assertInvalidGrant(answer);
        else assertForbidden(answer, message);
      }
    });
  }
});

describe('RT-02: reuse kills the family', () => {
  test('an older token inside the window of a younger one, and after a restart (RT-14)', async () => {
    for (const restart of [false, true]) {
      const sets = [await newTokens()];
      for (let i = 0; i < 3; i++) sets.push(await next(sets.at(-1)?.refresh_token ?? ''));
      if (restart) await server.restart();
      assertInvalidGrant(await refresh(server, client, sets[1]?.refresh_token ?? ''));
      await dead(...sets.reverse());
    }
  });
  test('other families of the same person and client live on', async () => {
    const bystander = await newTokens();
    const first = await newTokens();
    const second = await next(first.refresh_token);
    server.advance(30_000);
    assertInvalidGrant(await refresh(server, client, first.refresh_token));
    await dead(second);
    await alive(bystander);
    await next(bystander.refresh_token);
  });
  test('a reuse that fails client authentication, or asks wrongly, kills nothing', async () => {
    const first = await newTokens();
    const second = await next(first.refresh_token);
    server.advance(30_000);
    const faults: readonly [object, number, string][] = [
      [{ client_secret: 'A'.repeat(43) }, 401, 'invalid_client'],
      [{ scope: 'a  b' }, 400, 'invalid_scope'],
      [{ grant_type: 'refresh' }, 400, 'unsupported_grant_type'],
    ];
    for (const [change, status, error] of faults) {
      assertRefused(
        await refresh(server, client, first.refresh_token, change as Record<string, string>),
        status,
        error,
      );
    }
    assertInvalidGrant(await refresh(server, other, first.refresh_token));
    await alive(second);
    await next(second.refresh_token);
  });
});

/** The events of a kind about a client. */
const eventsOf = async (type: string, of: TestClient) =>
  (await admin(server, 'GET', `/audit-events?type=${type}&clientId=${of.clientId}&limit=200`)).body.items;

test('RT-02: a reuse is an event of its own, which names person, client and family', async () => {
  const app = await newClient(server);
  const first = await tokensFor(server, app, user, {}, { browser });
  await refresh(server, app, first.refresh_token);
  assert.deepEqual(await eventsOf('token.refresh_reused', app), []);
  server.advance(30_000);
  assertInvalidGrant(await refresh(server, app, first.refresh_token));
  const [event, ...more] = await eventsOf('token.refresh_reused', app);
  const { family } = claimsOf(first.refresh_token);
  assert.deepEqual([event.userId, event.outcome, event.details.familyId], [user.id, 'failure', family]);
  assert.deepEqual(more, []);
});

test('RT-14: what was rotated, reused or revoked stays so over restarts on later days', async () => {
  const app = await newClient(server);
  const hold = () => tokensFor(server, app, user, {}, { browser });
  const [rotated, reused, revoked] = [await hold(), await hold(), await hold()];
  const successor: Tokens = (await refresh(server, app, rotated.refresh_token)).body;
  const stolen: Tokens = (await refresh(server, app, reused.refresh_token)).body;
  server.advance(30_000);
  assertInvalidGrant(await refresh(server, app, reused.refresh_token));
  await asClient(server, REVOKE, app, { token: revoked.refresh_token });
  for (let day = 0; day < 6; day++) {
    server.advance(DAY);
    await server.restart();
    for (const token of [reused, stolen, revoked]) assertInvalidGrant(await refresh(server, app, token.refresh_token));
  }
  // On the last day of its life the retired one is known for what it is, and takes the live one with it.
  assert.equal((await introspect(server, app, successor.refresh_token)).body.active, true);
  assertInvalidGrant(await refresh(server, app, rotated.refresh_token));
  assertInvalidGrant(await refresh(server, app, successor.refresh_token));
  browser = await signedIn(server, user);
});

describe('RT-05: a refresh token works for its own client alone', () => {
  test('a foreign presentation is refused, however often, is an event, and the owner continues', async () => {
    const [owner, thief] = [await newClient(server), await newClient(server)];
    const first = await tokensFor(server, owner, user, {}, { browser });
    for (let i = 0; i < 3; i++) assertInvalidGrant(await refresh(server, thief, first.refresh_token));
    const events = await eventsOf('token.foreign_client', thief);
    assert.deepEqual(
      events.map(({ userId, outcome }: { userId: string; outcome: string }) => [userId, outcome]),
      Array(3).fill([user.id, 'failure']),
    );
    assert.equal((await refresh(server, owner, first.refresh_token)).status, 200);
  });

  test('every pair of confidential and public clients', async () => {
    const [one, two] = [await newClient(server), await newClient(server)];
    const asPublic = { type: 'public', redirectUris: ['https://spa.example/cb'] };
    const apps = [one, two, await newClient(server, asPublic), await newClient(server, asPublic)];
    const verifier = 'v'.repeat(43);
    const code_challenge = createHash('sha256').update(verifier).digest('base64url');
    for (const owner of apps) {
      const pkce = { code_challenge, code_challenge_method: 'S256' };
      const code = await codeFor(server, owner, user, pkce, { browser });
      const { body } = await redeem(server, owner, code, { code_verifier: verifier });
      for (const app of apps.filter((app) => app !== owner)) {
        assertInvalidGrant(await refresh(server, app, body.refresh_token));
      }
      assert.equal((await refresh(server, owner, body.refresh_token)).status, 200);
    }
  });
});

test('RT-06: a good signature is nothing where the family is not on record', async () => {
  const tokens = await newTokens();
  const [gone] = await query(
    server,
    'DELETE FROM token_family WHERE id = ? RETURNING id',
    BigInt(claimsOf(tokens.refresh_token).family),
  );
  assert.ok(gone !== undefined);
  await dead(tokens);
});

describe('RT-07: each refresh judges anew', () => {
  test('the scopes of the registration: taken away they are left out, given again they are there', async () => {
    const app = await newClient(server);
    const register = (scopes: readonly string[] | null) =>
      admin(server, 'PATCH', `/clients/${app.clientId}`, { scopes });
    let { refresh_token: token } = await tokensFor(server, app, user, { scope: 'openid email phone' }, { browser });
    for (const [scopes, expected] of [
      [['openid', 'email'], 'openid email'],
      [['openid'], 'openid'],
      [null, 'openid email phone'],
    ] as const) {
      assert.equal((await register(scopes)).status, 200);
      const { body } = await refresh(server, app, token);
      assert.equal(claimsOf(body.access_token).scope, expected);
      token = body.refresh_token;
    }
  });

  test('the grants of the registration, and the account itself', async () => {
    const [app, person] = [await newClient(server), await newUser(server)];
    const { refresh_token: token } = await tokensFor(server, app, person);
    const path = `/clients/${app.clientId}`;
    await admin(server, 'PATCH', path, { grantTypes: ['authorization_code'] });
    assertRefused(await refresh(server, app, token), 400, 'unauthorized_client');
    await admin(server, 'PATCH', path, { grantTypes: ['authorization_code', 'refresh_token'] });
    const { body } = await refresh(server, app, token);
    assert.equal((await admin(server, 'DELETE', `/users/${person.id}`)).status, 204);
    assertInvalidGrant(await refresh(server, app, body.refresh_token));
  });
});

describe('RT-09, RT-10: seven days, ninety for the family', () => {
  test('good at exp − 1 s, refused at exp', async () => {
    const early = await newTokens();
    const late = await newTokens();
    const { exp, iat } = claimsOf(early.refresh_token);
    assert.equal(exp - iat, 7 * 24 * 60 * 60);
    server.advance(exp * 1000 - 1 - server.now());
    const renewed = await next(early.refresh_token);
    server.advance(1);
    assertInvalidGrant(await refresh(server, client, late.refresh_token));
    // Nothing had to remove it: it is on record, and refused.
    const families = 'SELECT dead_reason FROM token_family WHERE id = ?';
    const [row] = await query(server, families, BigInt(claimsOf(late.refresh_token).family));
    assert.ok(row !== undefined);
    await alive(renewed);
    browser = await signedIn(server, user);
  });
  test('no chain outlives 90 days, and no successor promises more', async () => {
    let tokens = await newTokens();
    const begin = server.now();
    const end = begin + 90 * DAY;
    for (let day = 6; day <= 84; day += 6) {
      server.advance(6 * DAY);
      tokens = await next(tokens.refresh_token);
      const { exp, iat } = claimsOf(tokens.refresh_token);
      assert.ok(exp * 1000 <= end);
      assert.equal(exp, Math.min(iat + 7 * 24 * 60 * 60, Math.floor(end / 1000)));
    }
    server.advance(Math.floor(end / 1000) * 1000 - 1 - server.now());
    tokens = await next(tokens.refresh_token);
    assert.equal(claimsOf(tokens.refresh_token).exp, Math.floor(end / 1000));
    await alive(tokens);
    server.advance(1);
    assertInvalidGrant(await refresh(server, client, tokens.refresh_token));
    server.advance(end - server.now());
    assertInvalidToken(await userinfo(server, tokens.access_token));
    browser = await signedIn(server, user);
  });
});

describe('RT-11: scope on refresh', () => {
  test('fewer scopes are granted for once; the successor keeps them all', async () => {
    const first = await newTokens({ scope: 'openid email phone' });
    const narrow = await refresh(server, client, first.refresh_token, { scope: 'email' });
    assert.equal(narrow.status, 200);
    // Decisions §2: openid is always part of what is granted.
    assert.equal(claimsOf(narrow.body.access_token).scope, 'openid email');
    const me = await userinfo(server, narrow.body.access_token);
    assert.ok('email' in me.body.user && !('phone' in me.body.user));
    assert.equal(claimsOf((await next(narrow.body.refresh_token)).access_token).scope, 'openid email phone');
  });
  for (const scope of ['openid email', 'email', 'openid organization.read', 'admin', 'openid phone phone email', '*']) {
    test(`"${scope}" beyond the grant is invalid_scope and consumes nothing`, async () => {
      const first = await newTokens({ scope: 'openid phone' });
      assertRefused(await refresh(server, client, first.refresh_token, { scope }), 400, 'invalid_scope');
      assert.equal(claimsOf((await next(first.refresh_token)).access_token).scope, 'openid phone');
    });
  }
  test('a scope that the person declined stays out', async () => {
    const app = await newClient(server);
    const first = await tokensFor(server, app, user, { scope: 'openid email phone' }, { browser, allow: ['phone'] });
    assert.equal(claimsOf(first.access_token).scope, 'openid phone');
    assertRefused(await refresh(server, app, first.refresh_token, { scope: 'email' }), 400, 'invalid_scope');
  });
  test('an empty scope counts as left out (RFC 6749 §3.1)', async () => {
    const first = await newTokens({ scope: 'openid phone' });
    const answer = await refresh(server, client, first.refresh_token, { scope: '' });
    assert.equal(claimsOf(answer.body.access_token).scope, 'openid phone');
  });
});

test('RT-08: a revocation reaches every family of this person and client, on all devices, and no other', async () => {
  const [app, elsewhere] = [await newClient(server), await newClient(server)];
  const stranger = await newUser(server);
  const devices = [];
  for (let i = 0; i < 3; i++) {
    const device = await signedIn(server, user);
    const hold = (of: TestClient) => tokensFor(server, of, user, {}, { browser: device });
    devices.push({ revoked: await hold(app), untouched: await hold(elsewhere) });
  }
  const theirs = await tokensFor(server, app, stranger);
  await revokeOnPage(browser, app);
  for (const { revoked, untouched } of devices) {
    assertForbidden(await refresh(server, app, revoked.refresh_token), REVOKED);
    assertForbidden(await userinfo(server, revoked.access_token), REVOKED);
    await alive(untouched);
    assert.equal((await refresh(server, elsewhere, untouched.refresh_token)).status, 200);
  }
  await alive(theirs);
  assert.equal((await refresh(server, app, theirs.refresh_token)).status, 200);
});
