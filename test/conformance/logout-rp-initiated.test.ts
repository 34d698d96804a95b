// store: SQLite, PostgreSQL with --all
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { SignJWT } from 'jose';
import * as openid from 'openid-client';
import { dropKeyPair, maintainKeyPairs, rotateKeyPairs } from '../../src/keys/key-pairs.ts';
import { openKeys } from '../../src/keys/keys.ts';
import { type Agent, type Answer, agent, formOf } from '../support/agent.ts';
import {
  admin,
  authorizeUrl,
  claimsOf,
  newClient,
  newUser,
  refresh,
  revokeOnPage,
  signedIn,
  standard,
  type TestClient,
  type Tokens,
  tokensFor,
  userinfo,
} from '../support/flow.ts';
import { withData } from '../support/forged-token.ts';
import { assertStaysHere, countRows, DAY, settle } from '../support/outcome.ts';
import { startServer } from '../support/server.ts';
import { revoke } from '../support/token-services.ts';

const RETURN = 'https://app.example.com/bye';
const WITH_QUERY = 'https://app.example.com/bye?foo=bar';
const STATE = `a-${'x'.repeat(120)} &=%é`;

const server = await startServer();
after(() => server.close());
const user = await newUser(server);
const fields = { postLogoutRedirectUris: [RETURN, WITH_QUERY] };
// Clients of the OIDC endpoints, the first with the defaults of a registration.
const client = standard(await newClient(server, fields));
const other = standard(
  await newClient(server, { idTokenSignedResponseAlg: 'ES256', postLogoutRedirectUris: ['https://b.example/'] }),
);
// Clients of the v2 endpoints: ID tokens of the first are signed with our key, of the second with its secret.
const asymmetric = await newClient(server, { ...fields, idTokenSignedResponseAlg: 'RS256' });
const symmetric = await newClient(server, fields);

/** A user who signed in to an app in a separate browser. */
async function session(
  app: TestClient = client,
  who = user,
  scope = 'openid',
): Promise<{ browser: Agent; tokens: Tokens }> {
  const browser = await signedIn(server, who);
  return { browser, tokens: await tokensFor(server, app, who, { scope }, { browser }) };
}

const logoutUrl = (parameters: Readonly<Record<string, string>>): string =>
  `/oidc/logout?${new URLSearchParams(parameters)}`;
const leave = (browser: Agent, parameters: Readonly<Record<string, string>>) => browser.get(logoutUrl(parameters));

/** Whether there is a session, as the app itself sees it: OpenID Connect Core 1.0 §3.1.2.1, `prompt=none`. */
async function isSignedIn(browser: Agent, app: TestClient = client): Promise<boolean> {
  const answer = await browser.get(authorizeUrl(app, { prompt: 'none' }));
  const error = answer.location?.searchParams.get('error');
  assert.ok(error === null || error === 'login_required', `${answer.location}`);
  return error === null;
}

/** Asserts the page that asks, and that nothing has ended. */
async function assertAsks(browser: Agent, answer: Answer, app: TestClient = client): Promise<void> {
  assertStaysHere(answer, 200);
  assert.match(answer.text, /Sign out of Tessera\?/);
  assert.match(answer.text, /action="\/oidc\/logout\/confirm"/);
  assert.equal(answer.headers.get('cache-control'), 'no-store');
  assert.equal(await isSignedIn(browser, app), true);
}

/** Presses “Sign out”, and follows to our own page or up to the app. */
const confirm = async (browser: Agent, page: Answer, fields = {}): Promise<Answer> =>
  settle(browser, server, await browser.submit(page, fields, '/oidc/logout/confirm'));

/** Asserts the page at the end, without a redirect. */
function assertSignedOutPage(answer: Answer): void {
  assertStaysHere(answer, 200);
  assert.match(answer.text, /You are signed out/);
}

test('oidcc-rp-initiated-logout: the session ends at once, and the browser returns with the state unchanged', async () => {
  const { browser, tokens } = await session();
  const sessions = await countRows(server, 'browser_session');
  const answer = await leave(browser, {
    id_token_hint: tokens.id_token,
    post_logout_redirect_uri: RETURN,
    state: STATE,
    ui_locales: 'en tr',
    logout_hint: 'ada',
    unknown: 'ignored',
  });
  assert.equal(answer.status, 302);
  assert.ok(answer.location?.href.startsWith(`${RETURN}?`), `${answer.location}`);
  assert.deepEqual([...(answer.location?.searchParams ?? [])], [['state', STATE]]);
  assert.match(answer.headers.get('clear-site-data') ?? '', /"cache"/);
  assert.equal(browser.cookie('tessera_session'), undefined);
  assert.equal(await isSignedIn(browser), false);
  assert.equal(await countRows(server, 'browser_session'), sessions - 1);
  const { items } = (await admin(server, 'GET', `/audit-events?type=sign_out&userId=${user.id}&limit=200`)).body;
  const { clientId, actor } = items.at(-1);
  assert.deepEqual([clientId, actor], [client.clientId, { type: 'user', id: user.id }]);
});

test('a stock client’s own address for it works as it stands', async () => {
  const { browser, tokens } = await session();
  const options = { execute: [openid.allowInsecureRequests] };
  const configuration = await openid.discovery(
    new URL(server.baseUrl),
    client.clientId,
    client.clientSecret,
    undefined,
    options,
  );
  const address = openid.buildEndSessionUrl(configuration, {
    id_token_hint: tokens.id_token,
    post_logout_redirect_uri: RETURN,
    state: 's',
  });
  assert.equal((await browser.get(address.href)).location?.href, `${RETURN}?state=s`);
  assert.equal(await isSignedIn(browser), false);
});

test('SE-03: the session is ended on the server, not only forgotten by the browser', async () => {
  const { browser, tokens } = await session();
  const kept = browser.cookie('tessera_session') ?? '';
  await leave(browser, { id_token_hint: tokens.id_token });
  browser.setCookie('tessera_session', kept);
  assert.equal(await isSignedIn(browser), false);
});

test('oidcc-rp-initiated-logout-no-state: none is added', async () => {
  const { browser, tokens } = await session();
  const answer = await leave(browser, { id_token_hint: tokens.id_token, post_logout_redirect_uri: RETURN });
  assert.equal(answer.location?.href, RETURN);
});

test('oidcc-rp-initiated-logout-query-added: the query of the registered address stays as it is', async () => {
  const { browser, tokens } = await session();
  const answer = await leave(browser, {
    id_token_hint: tokens.id_token,
    post_logout_redirect_uri: WITH_QUERY,
    state: 's',
  });
  assert.equal(answer.location?.href, `${WITH_QUERY}&state=s`);
});

test('§2: a hint whose time has passed is a hint all the same', async () => {
  const { browser, tokens } = await session();
  server.advance(DAY);
  const answer = await leave(browser, { id_token_hint: tokens.id_token, post_logout_redirect_uri: RETURN });
  assert.equal(answer.location?.href, RETURN);
  assert.equal(await isSignedIn(browser), false);
});

test('decisions §10: a hint that names its family as ID tokens did before still counts', async () => {
  const { browser, tokens } = await session();
  const { jti, ...claims } = claimsOf(tokens.id_token);
  const family = String(jti).split('.')[0];
  const earlier = await withData(server, async ({ database, secret, clock }) => {
    const keys = await openKeys(database, { current: secret, previous: undefined }, clock);
    return keys
      .keySet()
      .signer('RS256', clock())
      ?.sign({ ...claims, family }, 'JWT');
  });
  const answer = await leave(browser, { id_token_hint: earlier ?? '', post_logout_redirect_uri: RETURN });
  assert.deepEqual([answer.status, answer.location?.href], [302, RETURN]);
  assert.equal(await isSignedIn(browser), false);
});

test('a hint from before the keys were rotated, and from before its key was dropped', async () => {
  const { browser, tokens } = await session();
  const { kid } = JSON.parse(Buffer.from(tokens.id_token.split('.')[0] ?? '', 'base64url').toString());
  const origin = { actor: { type: 'cli', id: null }, address: null, requestId: null } as const;
  // As the command line does it: another process on the same data.
  await withData(server, ({ database, secret, clock }) =>
    rotateKeyPairs(database, secret, { algs: ['RS256'], origin, now: clock() }),
  );
  server.advance(10 * DAY);
  await withData(server, ({ database, secret, clock }) => maintainKeyPairs(database, secret, clock(), null));
  const parameters = { id_token_hint: tokens.id_token, post_logout_redirect_uri: RETURN };
  assert.equal((await leave(browser, parameters)).location?.href, RETURN);

  const again = await session();
  const { kid: next } = JSON.parse(Buffer.from(again.tokens.id_token.split('.')[0] ?? '', 'base64url').toString());
  assert.notEqual(next, kid);
  await withData(server, ({ database, secret, clock }) => dropKeyPair(database, secret, next, origin, clock()));
  await assertAsks(again.browser, await leave(again.browser, { ...parameters, id_token_hint: again.tokens.id_token }));
});

test('a hint from before the person signed in again in the same browser is about the same session', async () => {
  const { browser, tokens } = await session();
  const page = await settle(browser, server, await browser.get(authorizeUrl(client, { prompt: 'login' })));
  const again = await browser.submit(page, { identifier: user.username, password: 'correct horse battery' });
  assert.equal(again.status, 303, again.text);
  const answer = await leave(browser, { id_token_hint: tokens.id_token, post_logout_redirect_uri: RETURN });
  assert.equal(answer.location?.href, RETURN);
  assert.equal(await isSignedIn(browser), false);
});

test('oidcc-rp-initiated-logout-no-post-logout-redirect-uri: the session ends, and a page says so', async () => {
  const { browser, tokens } = await session();
  assertSignedOutPage(await leave(browser, { id_token_hint: tokens.id_token, state: 's' }));
  assert.equal(await isSignedIn(browser), false);
});

describe('§2: where the request proves nothing, the person decides', () => {
  /** Each names its parameters by what the session holds, and where the person is after confirming. */
  const cases: Record<
    string,
    { of: (hint: string, tokens: Tokens) => Promise<Record<string, string>>; back?: string }
  > = {
    'oidcc-rp-initiated-logout-no-params': { of: async () => ({}) },
    'oidcc-rp-initiated-logout-only-state': { of: async () => ({ state: 's' }) },
    'oidcc-rp-initiated-logout-no-id-token-hint': {
      of: async () => ({ post_logout_redirect_uri: RETURN, state: 's' }),
    },
    'client_id with a registered address': {
      of: async () => ({ client_id: client.clientId, post_logout_redirect_uri: RETURN, state: 's' }),
      back: `${RETURN}?state=s`,
    },
    'client_id with the address of another client': {
      of: async () => ({ client_id: other.clientId, post_logout_redirect_uri: RETURN }),
    },
    'an unknown client_id': { of: async () => ({ client_id: '1', post_logout_redirect_uri: RETURN }) },
    'client_id that is no id': { of: async () => ({ client_id: 'x', post_logout_redirect_uri: RETURN }) },
    'oidcc-rp-initiated-logout-bad-post-logout-redirect-uri': {
      of: async (hint) => ({ id_token_hint: hint, post_logout_redirect_uri: `${RETURN}/more`, state: 's' }),
    },
    'an address that differs in case': {
      of: async (hint) => ({ id_token_hint: hint, post_logout_redirect_uri: RETURN.replace('app', 'APP') }),
    },
    'an address with a query more': {
      of: async (hint) => ({ id_token_hint: hint, post_logout_redirect_uri: `${RETURN}?foo=baz` }),
    },
    'an address for sign-ins': {
      of: async (hint) => ({ id_token_hint: hint, post_logout_redirect_uri: client.redirectUri }),
    },
    'a script as an address': {
      of: async (hint) => ({ id_token_hint: hint, post_logout_redirect_uri: 'javascript:alert(1)' }),
    },
    'oidcc-rp-initiated-logout-modified-id-token-hint: the payload': {
      of: async (hint) => ({ id_token_hint: changed(hint, 1), post_logout_redirect_uri: RETURN }),
    },
    'oidcc-rp-initiated-logout-modified-id-token-hint: the signature': {
      of: async (hint) => ({ id_token_hint: changed(hint, 2), post_logout_redirect_uri: RETURN }),
    },
    'a hint whose last bits were changed': {
      of: async (hint) => ({ id_token_hint: overflowing(hint), post_logout_redirect_uri: RETURN }),
    },
    'oidcc-rp-initiated-logout-bad-id-token-hint': {
      of: async () => ({ id_token_hint: 'foo', post_logout_redirect_uri: RETURN, client_id: client.clientId }),
    },
    'trap: a hint under HS256 with the client’s own secret and another issuer': {
      of: async () => ({
        id_token_hint: await forged(symmetric, { iss: 'https://elsewhere.example' }),
        post_logout_redirect_uri: RETURN,
      }),
    },
    'trap: a hint under HS256 with the client’s own secret and another audience': {
      of: async () => ({
        id_token_hint: await forged(symmetric, { aud: 'another' }),
        post_logout_redirect_uri: RETURN,
      }),
    },
    'a hint under HS256 in the name of a client whose ID tokens we sign': {
      of: async () => ({ id_token_hint: await forged(asymmetric, {}), post_logout_redirect_uri: RETURN }),
    },
    'JW-10: an access token as a hint': {
      of: async (_hint, tokens) => ({ id_token_hint: tokens.access_token, post_logout_redirect_uri: RETURN }),
    },
    'JW-10: a refresh token as a hint': {
      of: async (_hint, tokens) => ({ id_token_hint: tokens.refresh_token, post_logout_redirect_uri: RETURN }),
    },
    'a hint of one client with the client_id of another': {
      of: async (hint) => ({ id_token_hint: hint, client_id: other.clientId, post_logout_redirect_uri: RETURN }),
    },
  };
  for (const [name, { of, back }] of Object.entries(cases)) {
    test(name, async () => {
      const { browser, tokens } = await session();
      const page = await leave(browser, await of(tokens.id_token, tokens));
      await assertAsks(browser, page);
      const answer = await confirm(browser, page);
      if (back === undefined) assertSignedOutPage(answer);
      else assert.deepEqual([answer.status, answer.location?.href], [303, back]);
      assert.equal(await isSignedIn(browser), false);
    });
  }

  test('SE-10: a hint under HS256 names its client and proves nothing, with any signature', async () => {
    const { browser, tokens } = await session(symmetric);
    const page = await leave(browser, { id_token_hint: tokens.id_token, post_logout_redirect_uri: RETURN, state: 's' });
    await assertAsks(browser, page, symmetric);
    assert.match(page.text, /App \d+<\/bdi><\/strong> wants to sign you out/);
    const answer = await confirm(browser, page);
    assert.deepEqual([answer.status, answer.location?.href], [303, `${RETURN}?state=s`]);
    assert.equal(await isSignedIn(browser, symmetric), false);
  });

  test('a hint about another person', async () => {
    const { tokens } = await session();
    const stranger = await newUser(server);
    const { browser } = await session(client, stranger);
    const page = await leave(browser, { id_token_hint: tokens.id_token, post_logout_redirect_uri: RETURN });
    await assertAsks(browser, page);
    assert.match(page.text, new RegExp(`Signed in as</span> ${stranger.username}<`));
    assert.equal((await confirm(browser, page)).location?.href, RETURN);
  });

  test('a hint about the same person in another browser', async () => {
    const { tokens } = await session();
    const { browser } = await session();
    await assertAsks(
      browser,
      await leave(browser, { id_token_hint: tokens.id_token, post_logout_redirect_uri: RETURN }),
    );
  });

  test('decisions §1: a hint from before access was taken away', async () => {
    const { browser, tokens } = await session(other);
    await revokeOnPage(browser, other);
    const page = await leave(browser, {
      id_token_hint: tokens.id_token,
      post_logout_redirect_uri: 'https://b.example/',
    });
    assertStaysHere(page, 200);
    assert.match(page.text, /Sign out of Tessera\?/);
  });

  describe('decisions §10: a hint whose tokens the app itself revoked', () => {
    const bye = (hint: string) => ({ id_token_hint: hint, post_logout_redirect_uri: RETURN });

    test('signs out this browser’s session without a question', async () => {
      const { browser, tokens } = await session();
      assert.equal((await revoke(server, client, tokens.refresh_token)).status, 200);
      const answer = await leave(browser, bye(tokens.id_token));
      assert.deepEqual([answer.status, answer.location?.href], [302, RETURN]);
      assert.equal(await isSignedIn(browser), false);
    });

    test('proves nothing about another session, or without one', async () => {
      const { tokens } = await session();
      await revoke(server, client, tokens.refresh_token);
      const { browser } = await session();
      await assertAsks(browser, await leave(browser, bye(tokens.id_token)));
      assertSignedOutPage(await leave(agent(server.baseUrl), bye(tokens.id_token)));
    });

    test('proves nothing elsewhere: the authorization endpoint ignores it', async () => {
      const { browser, tokens } = await session();
      await revoke(server, client, tokens.refresh_token);
      const stranger = await newUser(server);
      const { browser: theirs } = await session(client, stranger);
      for (const at of [browser, theirs]) {
        const answer = await at.get(authorizeUrl(client, { prompt: 'none', id_token_hint: tokens.id_token }));
        assert.ok(answer.location?.searchParams.get('code'));
      }
    });

    test('asks where something else ended the tokens first, or the access afterwards', async () => {
      const { browser, tokens } = await session();
      const next = (await refresh(server, client, tokens.refresh_token)).body;
      await refresh(server, client, next.refresh_token);
      assert.equal((await refresh(server, client, tokens.refresh_token)).body.error, 'invalid_grant', 'a reuse');
      await revoke(server, client, next.refresh_token);
      await assertAsks(browser, await leave(browser, bye(tokens.id_token)));

      const apart = await newClient(server, { ...fields, idTokenSignedResponseAlg: 'RS256' });
      const later = await session(apart);
      await revoke(server, apart, later.tokens.refresh_token);
      await revokeOnPage(later.browser, apart);
      const page = await leave(later.browser, bye(later.tokens.id_token));
      assertStaysHere(page, 200);
      assert.match(page.text, /Sign out of Tessera\?/);
    });
  });

  test('a disabled client is never returned to', async () => {
    const gone = await newClient(server, { idTokenSignedResponseAlg: 'RS256', postLogoutRedirectUris: [RETURN] });
    const { browser, tokens } = await session(gone);
    await admin(server, 'PATCH', `/clients/${gone.clientId}`, { status: 'disabled' });
    const page = await leave(browser, { id_token_hint: tokens.id_token, post_logout_redirect_uri: RETURN });
    await assertAsks(browser, page);
    assertSignedOutPage(await confirm(browser, page));
  });

  test('what is wrong is told to the developer, with the field and the remedy', async () => {
    const { browser, tokens } = await session();
    const pages: [Record<string, string>, RegExp][] = [
      [{ id_token_hint: 'foo' }, /id_token_hint is not a JWT/],
      [{ id_token_hint: tokens.id_token, post_logout_redirect_uri: 'https://x.example' }, /postLogoutRedirectUris/],
      [{ post_logout_redirect_uri: RETURN }, /Send id_token_hint or client_id/],
      [{ client_id: '1' }, /No active client/],
    ];
    for (const [parameters, text] of pages) {
      const page = await leave(browser, parameters);
      assert.match(page.text, text);
      assert.match(page.text, /<code>[0-9a-f-]{36}<\/code>/);
    }
    assert.doesNotMatch((await leave(browser, {})).text, /For the developer/);
  });

  test('“Stay signed in” ends nothing', async () => {
    const { browser } = await session();
    const page = await leave(browser, {});
    assert.match(page.text, /<a href="\/account">Stay signed in<\/a>/);
    assert.equal(await isSignedIn(browser), true);
  });
});

describe('without a session', () => {
  test('oidcc-rp-initiated-logout-no-params: a page says so', async () => {
    assertSignedOutPage(await leave(agent(server.baseUrl), {}));
  });

  test('a session that ended before: the app that shows its own ID token gets its person back', async () => {
    const { browser, tokens } = await session(client, user, 'openid offline_access');
    const parameters = { id_token_hint: tokens.id_token, post_logout_redirect_uri: RETURN, state: 's' };
    assert.equal((await leave(browser, parameters)).location?.href, `${RETURN}?state=s`);
    assert.equal((await leave(browser, parameters)).location?.href, `${RETURN}?state=s`);
  });

  test('tokens that ended with the session prove nothing any more: the way back is offered, and not sent', async () => {
    const { browser, tokens } = await session();
    const parameters = { id_token_hint: tokens.id_token, post_logout_redirect_uri: RETURN, state: 's' };
    assert.equal((await leave(browser, parameters)).location?.href, `${RETURN}?state=s`);
    const answer = await leave(browser, parameters);
    assertSignedOutPage(answer);
    assert.match(answer.text, new RegExp(`<a href="${RETURN}\\?state=s">Back to <bdi>App`));
  });

  test('a session whose time has passed', async () => {
    const { browser, tokens } = await session();
    server.advance(15 * DAY);
    const parameters = { id_token_hint: tokens.id_token, post_logout_redirect_uri: RETURN };
    assert.equal((await leave(browser, parameters)).location?.href, RETURN);
  });

  test('who only says a client_id is offered the way back, and not sent it', async () => {
    const answer = await leave(agent(server.baseUrl), {
      client_id: client.clientId,
      post_logout_redirect_uri: RETURN,
      state: 's',
    });
    assertSignedOutPage(answer);
    assert.match(answer.text, new RegExp(`<a href="${RETURN}\\?state=s">Back to <bdi>App`));
  });

  const nowhere: Record<string, Record<string, string>> = {
    'a bad hint': { id_token_hint: 'foo', client_id: '2', post_logout_redirect_uri: RETURN },
    'an address that is not registered': { client_id: '1', post_logout_redirect_uri: 'https://evil.example' },
    'no client': { post_logout_redirect_uri: RETURN },
  };
  for (const [name, parameters] of Object.entries(nowhere)) {
    test(`${name}: neither a redirect nor a link`, async () => {
      const answer = await leave(agent(server.baseUrl), parameters);
      assertSignedOutPage(answer);
      assert.doesNotMatch(answer.text, /href="https?:/);
    });
  }

  test('a banned person has no session to end', async () => {
    const banned = await newUser(server);
    const { browser, tokens } = await session(client, banned);
    await admin(server, 'PUT', `/users/${banned.id}/ban`, {});
    const answer = await leave(browser, { id_token_hint: tokens.id_token, post_logout_redirect_uri: RETURN });
    assert.equal(answer.location?.href, RETURN);
  });
});

describe('§2: POST', () => {
  const sent = (hint: string) => ({ id_token_hint: hint, post_logout_redirect_uri: RETURN, state: STATE });

  test('from a page of ours or with the cookie: as GET, with 303', async () => {
    const { browser, tokens } = await session();
    const answer = await browser.post('/oidc/logout', sent(tokens.id_token));
    assert.equal(answer.status, 303);
    assert.deepEqual([...(answer.location?.searchParams ?? [])], [['state', STATE]]);
    assert.equal(await isSignedIn(browser), false);
  });

  test('from another site, without cookies of SameSite=Lax: one redirect to ourselves, which brings them', async () => {
    const { browser, tokens } = await session();
    const stranger = agent(server.baseUrl);
    const headers = { origin: 'https://app.example.com', 'sec-fetch-site': 'cross-site' };
    const hop = await stranger.post('/oidc/logout', { ...sent(tokens.id_token), unknown: 'x' }, headers);
    assert.equal(hop.status, 303);
    assert.equal(hop.location?.pathname, '/oidc/logout');
    assert.equal(hop.location.searchParams.has('unknown'), false);
    // No identity is given to a browser that has one which it could not send.
    assert.deepEqual(hop.headers.getSetCookie(), []);
    const answer = await browser.get(hop.location.href);
    assert.ok(answer.location?.href.startsWith(`${RETURN}?`));
    assert.equal(await isSignedIn(browser), false);
  });
});

describe('the form', () => {
  test('SE-10: from another site it ends nothing', async () => {
    const { browser } = await session();
    const page = await leave(browser, {});
    const { action, hidden } = formOf(page.text, '/oidc/logout/confirm');
    const answer = await browser.post(action, hidden, {
      origin: 'https://evil.example',
      'sec-fetch-site': 'cross-site',
    });
    assert.equal(answer.status, 403);
    assert.equal(await isSignedIn(browser), true);
  });

  const tampered: Record<string, Record<string, string>> = {
    'without its token': { form_token: '' },
    'with another address': { post_logout_redirect_uri: WITH_QUERY },
    'with another state': { state: 'other' },
    'for another person': { account: '1' },
  };
  for (const [name, fields] of Object.entries(tampered)) {
    test(`${name}: the question is asked again`, async () => {
      const { browser } = await session();
      const page = await leave(browser, { client_id: client.clientId, post_logout_redirect_uri: RETURN, state: 's' });
      await assertAsks(browser, await confirm(browser, page, fields));
    });
  }

  test('SE-11: one that the person before left open does not sign out the next', async () => {
    const { browser } = await session();
    const page = await leave(browser, {});
    await confirm(browser, page);
    const next = await newUser(server);
    await browser.submit(await browser.get('/login'), { identifier: next.username, password: 'correct horse battery' });
    const refused = await confirm(browser, page);
    assertStaysHere(refused, 400);
    assert.match(refused.text, /This page was opened for another account, so nothing was changed/);
    assert.match((await browser.get('/account')).text, new RegExp(next.username));
  });

  test('pressed twice it ends where the first press did', async () => {
    const { browser } = await session();
    const page = await leave(browser, { client_id: client.clientId, post_logout_redirect_uri: RETURN });
    assert.equal((await confirm(browser, page)).location?.href, RETURN);
    assert.equal((await confirm(browser, page)).location?.href, RETURN);
  });

  test('an address that was taken off meanwhile is not returned to', async () => {
    const app = await newClient(server, { postLogoutRedirectUris: [RETURN] });
    const { browser } = await session(app);
    const page = await leave(browser, { client_id: app.clientId, post_logout_redirect_uri: RETURN });
    await admin(server, 'PATCH', `/clients/${app.clientId}`, { postLogoutRedirectUris: [] });
    assertSignedOutPage(await confirm(browser, page));
    assert.equal(await isSignedIn(browser), false);
  });

  test('HB: its page may lead to the app and is otherwise as closed as every other', async () => {
    const { browser } = await session();
    const page = await leave(browser, { client_id: client.clientId, post_logout_redirect_uri: RETURN });
    const policy = page.headers.get('content-security-policy') ?? '';
    assert.match(policy, /form-action 'self' https:/);
    assert.match(policy, /frame-ancestors 'none'/);
    assert.match((await leave(browser, {})).headers.get('content-security-policy') ?? '', /form-action 'self'$/);
  });
});

for (const name of ['id_token_hint', 'client_id', 'post_logout_redirect_uri', 'state']) {
  test(`a repeated ${name} is refused on a page, by GET and by POST`, async () => {
    const { browser } = await session();
    const text = `${name}=a&${name}=b`;
    assertStaysHere(await browser.get(`/oidc/logout?${text}`), 400);
    const answer = await fetch(`${server.baseUrl}/oidc/logout`, {
      method: 'POST',
      body: text,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      redirect: 'manual',
    });
    assert.equal(answer.status, 400);
    assert.equal(await isSignedIn(browser), true);
  });
}

describe('decisions §5, §10: signing out ends the session; the tokens of the apps live on', () => {
  const lasting: [name: string, app: TestClient, parameters: Record<string, string>][] = [
    ['at the v2 endpoints', asymmetric, {}],
    ['at the OIDC endpoints with offline_access', client, { scope: 'openid offline_access' }],
  ];
  for (const [name, app, parameters] of lasting) {
    test(name, async () => {
      const browser = await signedIn(server, user);
      const tokens = await tokensFor(server, app, user, parameters, { browser });
      await leave(browser, { id_token_hint: tokens.id_token });
      assert.equal(await isSignedIn(browser, app), false);
      assert.equal((await userinfo(server, tokens.access_token, '/oidc/userinfo')).status, 200);
      assert.equal((await refresh(server, app, tokens.refresh_token)).status, 200);
    });
  }
});

test('the discovery document names the endpoint, and offers no other kind of logout', async () => {
  const document = await (await fetch(`${server.baseUrl}/.well-known/openid-configuration`)).json();
  const { end_session_endpoint, check_session_iframe, frontchannel_logout_supported } = document as Record<
    string,
    unknown
  >;
  assert.equal(end_session_endpoint, `${server.baseUrl}/oidc/logout`);
  assert.deepEqual([check_session_iframe, frontchannel_logout_supported], [undefined, undefined]);
});

/** A token of which one part was changed. */
function changed(token: string, part: 1 | 2): string {
  const parts = token.split('.');
  const text = parts[part] ?? '';
  const at = Math.floor(text.length / 2);
  parts[part] = text.slice(0, at) + (text[at] === 'A' ? 'B' : 'A') + text.slice(at + 1);
  return parts.join('.');
}

/** The same bytes, spelled with bits in the last character that belong to none of them. */
function overflowing(token: string): string {
  const last = token.at(-1) ?? '';
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  const other = token.slice(0, -1) + alphabet[alphabet.indexOf(last) + 1];
  const bytes = (text: string) => Buffer.from(text.split('.')[2] ?? '', 'base64url');
  assert.deepEqual(bytes(other), bytes(token));
  return other;
}

/** An ID token that a client wrote itself, with its secret. */
function forged(app: TestClient, claims: Record<string, unknown>): Promise<string> {
  return new SignJWT({ iss: server.baseUrl, aud: app.clientId, sub: user.id, sid: 'x', ...claims })
    .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
    .setIssuedAt()
    .sign(Buffer.from(app.clientSecret));
}
