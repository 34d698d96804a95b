// store: SQLite, PostgreSQL with --all
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import {
  admin,
  authorizeUrl,
  claimsOf,
  codeFor,
  newClient,
  newSignedInUser,
  newUser,
  redeem,
  refresh,
  revokeOnPage,
  signedIn,
  standard,
  tokensFor,
  userinfo,
  walk,
} from '../support/flow.ts';
import { startServer } from '../support/server.ts';

// Decisions §10: two sets of endpoints over one core.

const server = await startServer();
after(() => server.close());
const contract = await newClient(server, { idTokenSignedResponseAlg: 'RS256' });
const client = standard(contract);
const SCOPE = 'openid profile email';

const headerOf = (token: string) => JSON.parse(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString());

describe('the authorization endpoint of the OIDC endpoints', () => {
  const rejected: [string, Readonly<Record<string, string>>, string][] = [
    ['RFC 6749 §3.1.1: another response_type', { response_type: 'token' }, 'unsupported_response_type'],
    ['RFC 6749 §3.3: nothing known remains of the scopes', { scope: 'x y' }, 'invalid_scope'],
  ];
  for (const [name, parameters, error] of rejected) {
    test(name, async () => {
      const { browser } = await newSignedInUser(server);
      const answered = await walk(browser, authorizeUrl(client, parameters));
      assert.equal(answered.searchParams.get('error'), error);
    });
  }

  test('OpenID Connect Core 1.0 §3.1.2.1: an unknown scope is left out, and the response names the rest', async () => {
    const { user, browser } = await newSignedInUser(server);
    const tokens = await tokensFor(server, client, user, { scope: 'openid x profile' }, { browser });
    assert.equal(tokens.scope, 'openid profile');
  });

  test('a client that is registered for one set of endpoints is refused at the other, also at its token endpoint', async () => {
    const { browser } = await newSignedInUser(server);
    const limited = await newClient(server, { endpoints: ['v2'] });
    const answered = await walk(browser, authorizeUrl(standard(limited)));
    assert.equal(answered.searchParams.get('error'), 'unauthorized_client');
    const { status, body } = await redeem(server, standard(limited), 'x');
    assert.deepEqual([status, body.error], [400, 'unauthorized_client']);
  });
});

describe('the tokens of the OIDC endpoints', () => {
  const PROTOCOL = ['amr', 'at_hash', 'aud', 'auth_time', 'exp', 'iat', 'iss', 'jti', 'sid', 'sub'];
  const PROFILE = ['locale', 'name', 'picture', 'preferred_username', 'updated_at'];
  const EMAIL = ['email', 'email_verified'];
  const assertNames = (token: string, ...expected: readonly string[]) =>
    assert.deepEqual(Object.keys(claimsOf(token)).sort(), [...PROTOCOL, ...expected].sort());

  test('decisions §10: an ID token has the claims of the protocol and of the granted scopes, and no other', async () => {
    const { user, browser } = await newSignedInUser(server);
    const tokens = await tokensFor(server, client, user, { scope: SCOPE, nonce: 'n' }, { browser, allow: ['profile'] });
    assert.equal(tokens.scope, 'openid profile');
    assertNames(tokens.id_token, 'nonce', ...PROFILE);
    assert.equal(claimsOf(tokens.id_token).preferred_username, user.username);
    const renewed = await refresh(server, client, tokens.refresh_token);
    assertNames(renewed.body.id_token, ...PROFILE);
    const bare = await tokensFor(server, client, user, { scope: 'openid' }, { browser });
    assertNames(bare.id_token);
  });

  test('decisions §10: a refreshed ID token has the claims of the scopes that are still granted, with what holds now', async () => {
    const { user, browser } = await newSignedInUser(server);
    const first = await tokensFor(server, client, user, { scope: SCOPE }, { browser });
    assertNames(first.id_token, ...PROFILE, ...EMAIL);
    await admin(server, 'PATCH', `/users/${user.id}`, { displayName: 'Ada King' });
    const narrowed = await refresh(server, client, first.refresh_token, { scope: 'openid email' });
    assertNames(narrowed.body.id_token, ...EMAIL);
    const whole = await refresh(server, client, narrowed.body.refresh_token);
    assertNames(whole.body.id_token, ...PROFILE, ...EMAIL);
    assert.equal(claimsOf(whole.body.id_token).name, 'Ada King');
    // A later decision takes the email address from what was issued.
    await codeFor(server, client, user, { scope: SCOPE, prompt: 'consent' }, { browser, allow: ['profile'] });
    const withdrawn = await refresh(server, client, whole.body.refresh_token);
    assertNames(withdrawn.body.id_token, ...PROFILE);
  });

  test('with idTokenClaims=requested it has those of the protocol and those that the request names', async () => {
    const sparing = standard(await newClient(server, { idTokenClaims: 'requested' }));
    const { user, browser } = await newSignedInUser(server);
    const claims = JSON.stringify({ id_token: { email: null } });
    const plain = await tokensFor(server, sparing, user, { scope: SCOPE }, { browser });
    const asking = await tokensFor(server, sparing, user, { scope: SCOPE, claims }, { browser });
    for (const [tokens, expected] of [
      [plain, []],
      [asking, ['email']],
    ] as const) {
      assertNames(tokens.id_token, ...expected);
      assertNames((await refresh(server, sparing, tokens.refresh_token)).body.id_token, ...expected);
    }
  });

  test('decisions §10: the jti of an ID token is its family, a dot and a random part', async () => {
    const { user, browser } = await newSignedInUser(server);
    const first = await tokensFor(server, client, user, {}, { browser });
    const { family } = claimsOf(first.access_token);
    const { body: second } = await refresh(server, client, first.refresh_token);
    const [one, two] = [first, second].map(({ id_token: token }) => String(claimsOf(token).jti));
    for (const jti of [one, two]) assert.match(jti ?? '', new RegExp(`^${family}\\.[A-Za-z0-9_-]{22}$`));
    assert.notEqual(one, two);
  });

  test('the ID token of the v2 endpoints names its family as before, and only if a key pair signs it', async () => {
    const { user, browser } = await newSignedInUser(server);
    const tokens = await tokensFor(server, contract, user, {}, { browser });
    assert.equal(claimsOf(tokens.id_token).family, claimsOf(tokens.access_token).family);
    const symmetric = await tokensFor(server, await newClient(server), user, {}, { browser });
    for (const token of [tokens.id_token, symmetric.id_token]) assert.ok(!('jti' in claimsOf(token)));
    assert.ok(!('family' in claimsOf(symmetric.id_token)));
  });

  test('RFC 9068 §2: an access token has its header and claims, and no email address', async () => {
    const { user, browser } = await newSignedInUser(server);
    const { access_token: token } = await tokensFor(server, client, user, { scope: SCOPE }, { browser });
    assert.equal(headerOf(token).typ, 'at+jwt');
    const claims = claimsOf(token);
    for (const name of ['iss', 'exp', 'aud', 'sub', 'client_id', 'iat', 'jti', 'scope', 'auth_time', 'acr', 'amr']) {
      assert.ok(name in claims, name);
    }
    assert.ok(!('email' in claims));
  });

  test('RFC 6749: without openid there is no ID token, and UserInfo wants the scope (RFC 6750 §3.1)', async () => {
    const { user, browser } = await newSignedInUser(server);
    const tokens = await tokensFor(server, client, user, { scope: 'profile' }, { browser });
    assert.deepEqual([tokens.id_token, tokens.scope], [undefined, 'profile']);
    const answer = await userinfo(server, tokens.access_token, '/oidc/userinfo');
    assert.deepEqual([answer.status, answer.body.error], [403, 'insufficient_scope']);
    assert.match(answer.headers.get('www-authenticate') ?? '', /error="insufficient_scope".*scope="openid"/);
    const renewed = await refresh(server, client, tokens.refresh_token);
    assert.deepEqual([renewed.status, renewed.body.id_token, renewed.body.scope], [200, undefined, 'profile']);
  });

  test('UserInfo gives one claim for one scope: none is free', async () => {
    const { user, browser } = await newSignedInUser(server);
    const claimsWith = async (scope: string) => {
      const { access_token: token } = await tokensFor(server, client, user, { scope, prompt: 'consent' }, { browser });
      return Object.keys((await userinfo(server, token, '/oidc/userinfo')).body);
    };
    assert.deepEqual(await claimsWith('openid'), ['sub']);
    const profile = ['sub', 'name', 'preferred_username', 'picture', 'locale', 'updated_at'];
    assert.deepEqual(await claimsWith('openid profile'), profile);
    assert.deepEqual(await claimsWith('openid email'), ['sub', 'email', 'email_verified']);
  });

  test('a profile that was switched off on the page is not shared', async () => {
    const { user, browser } = await newSignedInUser(server);
    const tokens = await tokensFor(server, client, user, { scope: SCOPE }, { browser, allow: ['email'] });
    assert.equal(tokens.scope, 'openid email');
    const { body } = await userinfo(server, tokens.access_token, '/oidc/userinfo');
    assert.deepEqual(Object.keys(body), ['sub', 'email', 'email_verified']);
  });
});

describe('nothing crosses', () => {
  test('the other endpoints’ token endpoint refuses a code, and does not spend it', async () => {
    const { user, browser } = await newSignedInUser(server);
    for (const [own, other] of [
      [client, contract],
      [contract, client],
    ] as const) {
      const code = await codeFor(server, own, user, {}, { browser });
      for (let n = 0; n < 2; n++) {
        const crossed = await redeem(server, other, code);
        assert.deepEqual([crossed.status, crossed.body.error], [400, 'invalid_grant']);
      }
      const { status, body } = await redeem(server, own, code);
      assert.equal(status, 200);
      // A second use at the other endpoints is no replay.
      assert.equal((await redeem(server, other, code)).status, 400);
      assert.equal((await userinfo(server, body.access_token, '/oidc/userinfo')).status, 200);
    }
  });

  test('it refuses a refresh token, which is no reuse', async () => {
    const { user, browser } = await newSignedInUser(server);
    for (const [own, other] of [
      [client, contract],
      [contract, client],
    ] as const) {
      const first = await tokensFor(server, own, user, {}, { browser });
      const second = await refresh(server, own, first.refresh_token);
      const third = await refresh(server, own, second.body.refresh_token);
      // Outside of the grace period on its own endpoint, this token would end the family.
      for (const token of [first.refresh_token, third.body.refresh_token]) {
        const crossed = await refresh(server, other, token);
        assert.deepEqual([crossed.status, crossed.body.error], [400, 'invalid_grant']);
      }
      assert.equal((await refresh(server, own, third.body.refresh_token)).status, 200);
    }
  });

  test('a standard token is refused at the contract’s UserInfo, which names the right address', async () => {
    const { user, browser } = await newSignedInUser(server);
    const { access_token: token } = await tokensFor(server, client, user, {}, { browser });
    const { status, body } = await userinfo(server, token);
    assert.deepEqual([status, body.error], [401, 'invalid_token']);
    assert.match(body.error_description, /\/oidc\/userinfo/);
  });

  test('a contract token gives at /oidc/userinfo what it always gave', async () => {
    const { user, browser } = await newSignedInUser(server);
    const { access_token: token } = await tokensFor(server, contract, user, {}, { browser });
    const { status, body } = await userinfo(server, token, '/oidc/userinfo');
    assert.equal(status, 200);
    assert.deepEqual(Object.keys(body), ['sub', 'name', 'preferred_username', 'picture', 'locale', 'updated_at']);
  });
});

describe('RFC 6749 §5.2, RFC 6750 §3.1: standard clients recover on one code', () => {
  const operate = async (path: string, userId: string) =>
    assert.equal((await admin(server, 'PUT', `/users/${userId}/${path}`, {})).status, 200);
  const ends: Record<string, (userId: string, user: { id: string; username: string }) => Promise<void>> = {
    'Account banned': (userId) => operate('ban', userId),
    'Account is suspended': (userId) => operate('suspension', userId),
    'Access revoked by user': async (_, user) => void (await revokeOnPage(await signedIn(server, user), contract)),
  };
  for (const [message, end] of Object.entries(ends)) {
    test(message, async () => {
      const user = await newUser(server);
      const tokens = await tokensFor(server, client, user, { scope: SCOPE });
      const code = await codeFor(server, client, user, { scope: SCOPE });
      await end(user.id, user);
      const refused = [await refresh(server, client, tokens.refresh_token), await redeem(server, client, code)];
      for (const { status, body } of refused) {
        assert.deepEqual([status, body], [400, { error: 'invalid_grant', error_description: message }]);
      }
      const answer = await userinfo(server, tokens.access_token, '/oidc/userinfo');
      assert.deepEqual([answer.status, answer.body], [401, { error: 'invalid_token', error_description: message }]);
      assert.match(answer.headers.get('www-authenticate') ?? '', new RegExp(`error_description="${message}"`));
    });
  }
});

test('taking access away on the page ends the tokens and codes of both sets of endpoints', async () => {
  const { user, browser } = await newSignedInUser(server);
  const ofStandard = await tokensFor(server, client, user, {}, { browser });
  const ofContract = await tokensFor(server, contract, user, {}, { browser });
  const code = await codeFor(server, client, user, {}, { browser });
  await revokeOnPage(browser, contract);
  for (const { access_token: token } of [ofStandard, ofContract]) {
    assert.equal((await userinfo(server, token, '/oidc/userinfo')).status, 401);
  }
  assert.equal((await refresh(server, client, ofStandard.refresh_token)).status, 400);
  assert.equal((await refresh(server, contract, ofContract.refresh_token)).status, 403);
  assert.equal((await redeem(server, client, code)).status, 400);
});
