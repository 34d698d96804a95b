// store: SQLite, PostgreSQL with --all
import assert from 'node:assert/strict';
import { after, afterEach, beforeEach, describe, test } from 'node:test';
import type { Agent } from '../support/agent.ts';
import {
  admin,
  authorizeUrl,
  claimsOf,
  newClient,
  newUser,
  PASSWORD,
  revokeOnPage,
  signedIn,
  standard,
  type TestClient,
  type TestUser,
  type Tokens,
  tokensFor,
  userinfo,
} from '../support/flow.ts';
import { startBehind } from '../support/listening.ts';
import { type Receiver, startReceiver, tokenOf, verifyLogoutToken } from '../support/logout-receiver.ts';
import { countRows, DAY, MINUTE, query, restart, SECOND, settle } from '../support/outcome.ts';
import { startServer } from '../support/server.ts';

let receiver: Receiver;
const server = await startServer();
after(() => server.close());
beforeEach(async () => {
  receiver = await startReceiver();
});
afterEach(() => receiver.close());

/** A client of the OIDC endpoints, with the defaults of a registration. */
const listening = async (fields: Readonly<Record<string, unknown>> = {}): Promise<TestClient> =>
  standard(await newClient(server, { backchannelLogoutUri: receiver.uri, ...fields }));

interface Visit {
  readonly user: TestUser;
  readonly browser: Agent;
  readonly tokens: Tokens;
}

/** A person who signed in to an app. */
async function visit(client: TestClient, known?: Partial<Visit>): Promise<Visit> {
  const user = known?.user ?? (await newUser(server));
  const browser = known?.browser ?? (await signedIn(server, user));
  return { user, browser, tokens: await tokensFor(server, client, user, {}, { browser }) };
}

const sidOf = ({ tokens }: Visit): string => claimsOf(tokens.id_token).sid;
const signOut = async ({ browser }: Visit) => browser.submit(await browser.get('/account/security'), {}, '/logout');

/** A user signs in in a browser that has another user’s session. */
async function signInAgain(browser: Agent, client: TestClient, { username }: TestUser): Promise<void> {
  const page = await settle(browser, server, await browser.get(authorizeUrl(client, { prompt: 'login' })));
  const answer = await browser.submit(page, { identifier: username, password: PASSWORD });
  assert.equal(answer.status, 303, answer.text);
}

/** The claims of what the receiver got, once everything that is due was tried. */
async function told(): Promise<{ sub?: string; sid?: string; jti: string; aud: string }[]> {
  await server.deliverNotices();
  return receiver.received.map((received) => claimsOf(tokenOf(received)));
}

async function events(client: TestClient, type?: string) {
  const filter = type === undefined ? '' : `&type=${type}`;
  const { items } = (await admin(server, 'GET', `/audit-events?clientId=${client.clientId}${filter}&limit=200`)).body;
  return items.filter((item: { type: string }) => item.type.startsWith('logout.'));
}

for (const alg of ['RS256', 'ES256', 'EdDSA']) {
  test(`oidcc-backchannel-rp-initiated-logout: a logout token under ${alg} that verifies by the key set`, async () => {
    const client = await listening({ idTokenSignedResponseAlg: alg });
    const one = await visit(client);
    await one.browser.get(`/oidc/logout?id_token_hint=${one.tokens.id_token}`);
    await server.deliverNotices();
    assert.equal(receiver.received.length, 1);
    const [received] = receiver.received;
    assert.deepEqual(
      [received?.method, received?.url, received?.contentType],
      ['POST', '/backchannel?tenant=7', 'application/x-www-form-urlencoded'],
    );
    assert.deepEqual([...new URLSearchParams(received?.body).keys()], ['logout_token']);
    const verified = await verifyLogoutToken(server, tokenOf(received), { clientId: client.clientId, alg });
    const { jti, iat, exp, ...claims } = verified.payload;
    // §2.4: exactly one event with an empty object, no nonce; §4: at most two minutes.
    assert.deepEqual(claims, {
      iss: server.baseUrl,
      aud: client.clientId,
      sub: one.user.id,
      sid: sidOf(one),
      events: { 'http://schemas.openid.net/event/backchannel-logout': {} },
    });
    assert.ok(jti !== undefined && jti.length >= 16);
    assert.equal((exp ?? 0) - (iat ?? 0), 120);
    assert.equal(iat, Math.floor(server.now() / 1000));
  });
}

describe('what ends sessions', () => {
  /** Each ends something of a person; `sid`: whether one session is meant. */
  const ends: Record<string, { end: (of: Visit, client: TestClient) => Promise<unknown>; sid: boolean }> = {
    'sign-out on our pages': { end: signOut, sid: true },
    'RP-initiated logout, confirmed': {
      async end({ browser }) {
        await browser.submit(await browser.get('/oidc/logout'), {}, '/oidc/logout/confirm');
      },
      sid: true,
    },
    'another person signs in in the same browser': {
      end: async ({ browser }, client) => signInAgain(browser, client, await newUser(server)),
      sid: true,
    },
    'sign out everywhere': {
      end: async ({ browser }) =>
        browser.submit(await browser.get('/account/security'), {}, '/account/sign-out-everywhere'),
      sid: false,
    },
    'a ban': { end: ({ user }) => admin(server, 'PUT', `/users/${user.id}/ban`, {}), sid: false },
    'a suspension': { end: ({ user }) => admin(server, 'PUT', `/users/${user.id}/suspension`, {}), sid: false },
    'a new password': {
      end: async ({ browser }) =>
        browser.submit(
          await browser.get('/account/security'),
          { current: PASSWORD, password: 'another horse' },
          '/account/password',
        ),
      sid: false,
    },
    'a password that an operator sets': {
      end: ({ user }) => admin(server, 'PATCH', `/users/${user.id}`, { password: 'another horse' }),
      sid: false,
    },
    'the deletion of the account': { end: ({ user }) => admin(server, 'DELETE', `/users/${user.id}`), sid: false },
    'access taken away by the person': { end: ({ browser }, client) => revokeOnPage(browser, client), sid: false },
    'access taken away by an operator': {
      end: ({ user }, { clientId }) => admin(server, 'DELETE', `/users/${user.id}/connections/${clientId}`),
      sid: false,
    },
  };
  for (const [name, { end, sid }] of Object.entries(ends)) {
    test(`${name}: an app that needs no sid is told ${sid ? 'of the session' : 'of the person'}`, async () => {
      const client = await listening({ backchannelLogoutSessionRequired: false });
      const one = await visit(client);
      const elsewhere = await visit(client, { user: one.user });
      assert.deepEqual(await told(), []);
      await end(one, client);
      const [notice, ...more] = await told();
      assert.equal(notice?.sub, one.user.id);
      assert.equal(notice.sid, sid ? sidOf(one) : undefined);
      assert.deepEqual(more, []);
      assert.notEqual(sidOf(one), sidOf(elsewhere));
    });

    test(`decisions §10: ${name}: by default the app is told of each session`, async () => {
      const client = await listening();
      const one = await visit(client);
      const elsewhere = await visit(client, { user: one.user });
      await end(one, client);
      const sids = (await told()).map((notice) => notice.sid);
      assert.deepEqual(sids.sort(), (sid ? [sidOf(one)] : [sidOf(one), sidOf(elsewhere)]).sort());
    });
  }

  test('an act that ends no session notifies no client', async () => {
    const client = await listening();
    const one = await visit(client);
    await admin(server, 'PATCH', `/users/${one.user.id}`, { displayName: 'Other' });
    await admin(server, 'PATCH', `/clients/${client.clientId}`, { name: 'Other' });
    await visit(client, one);
    // A person who signs in again goes on with the same session: the apps stay signed in.
    await signInAgain(one.browser, client, one.user);
    assert.deepEqual(await told(), []);
    await signOut(one);
    assert.deepEqual(
      (await told()).map(({ sid }) => sid),
      [sidOf(one)],
    );
  });

  test('every app of the session is told, and none that the person was not signed in to', async () => {
    const first = await listening();
    const second = await listening({ idTokenSignedResponseAlg: 'EdDSA' });
    const silent = await newClient(server);
    await listening();
    const one = await visit(first);
    await visit(second, one);
    await visit(silent, one);
    await signOut(one);
    const audiences = (await told()).map(({ aud }) => aud);
    assert.deepEqual(audiences.sort(), [first.clientId, second.clientId].sort());
  });

  test('what was ended before is not told a second time', async () => {
    const client = await listening();
    const one = await visit(client);
    await revokeOnPage(one.browser, client);
    assert.equal((await told()).length, 1);
    await signOut(one);
    await admin(server, 'PUT', `/users/${one.user.id}/ban`, {});
    await admin(server, 'PUT', `/users/${one.user.id}/ban`, { reason: 'again' });
    assert.equal((await told()).length, 1);
  });

  test('decisions §10: an app with tokens of both sets of endpoints is told once of each session', async () => {
    for (const fields of [{}, { backchannelLogoutSessionRequired: false }]) {
      const client = await listening(fields);
      const one = await visit(client);
      await visit(standard(client), one);
      const before = (await told()).length;
      await revokeOnPage(one.browser, client);
      const notices = (await told()).slice(before);
      assert.deepEqual(
        notices.map(({ aud, sid }) => [aud, sid]),
        [[client.clientId, 'backchannelLogoutSessionRequired' in fields ? undefined : sidOf(one)]],
      );
    }
  });

  test('a session that was ended from elsewhere is not named again', async () => {
    const client = await listening();
    const one = await visit(client);
    const elsewhere = await visit(client, { user: one.user });
    const sessions = `/users/${one.user.id}/sessions`;
    await admin(server, 'DELETE', `${sessions}/${sidOf(one)}`);
    await admin(server, 'DELETE', sessions);
    assert.deepEqual((await told()).map(({ sid }) => sid).sort(), [sidOf(one), sidOf(elsewhere)].sort());
  });

  test('a disabled app is not told', async () => {
    const client = await listening();
    const one = await visit(client);
    await admin(server, 'PATCH', `/clients/${client.clientId}`, { status: 'disabled' });
    await signOut(one);
    assert.deepEqual(await told(), []);
    assert.equal(await countRows(server, 'logout_notice'), 0);
  });
});

describe('delivery', () => {
  test('an answer of 500 is tried again, later and later, until it is 200; each try has a token of its own', async () => {
    const client = await listening();
    receiver.answer(500, 503);
    const one = await visit(client);
    await signOut(one);
    assert.equal((await told()).length, 1);
    assert.equal((await told()).length, 1, 'not before the pause is over');
    server.advance(15 * SECOND);
    assert.equal((await told()).length, 2);
    server.advance(47 * SECOND);
    assert.equal((await told()).length, 2, 'the second pause is longer');
    server.advance(13 * SECOND);
    const notices = await told();
    assert.equal(notices.length, 3);
    assert.equal(new Set(notices.map(({ jti }) => jti)).size, 3);
    // Minted now: one from the first try would have expired.
    await verifyLogoutToken(server, tokenOf(receiver.received.at(-1)), { clientId: client.clientId, alg: 'RS256' });
    server.advance(DAY);
    assert.equal((await told()).length, 3);

    const [unanswered, delivered, ...more] = await events(client);
    assert.deepEqual(more, []);
    assert.deepEqual(
      [unanswered.type, unanswered.outcome, unanswered.userId, unanswered.details.problem, unanswered.details.attempts],
      ['logout.unanswered', 'failure', one.user.id, 'the answer was 500', 1],
    );
    assert.deepEqual(
      [delivered.type, delivered.outcome, delivered.details.attempts],
      ['logout.delivered', 'success', 3],
    );
    assert.equal(delivered.details.sid, sidOf(one));
  });

  const failures: Record<string, number | 'cut'> = {
    'the answer was 400': 400,
    'the answer was 302': 302,
    'the connection was closed without an answer': 'cut',
  };
  for (const [problem, answer] of Object.entries(failures)) {
    test(`an app that never takes it is on record: ${problem}`, async () => {
      const client = await listening();
      receiver.answer(...Array<typeof answer>(20).fill(answer));
      const one = await visit(client);
      await signOut(one);
      await server.deliverNotices();
      let tries = receiver.received.length;
      for (let passed = 0; passed < DAY; passed += 10 * MINUTE) {
        server.advance(10 * MINUTE);
        await server.deliverNotices();
        assert.ok(receiver.received.length - tries <= 1);
        tries = receiver.received.length;
      }
      assert.equal(tries, 8);
      const failed = await events(client, 'logout.delivery_failed');
      assert.equal(failed.length, 1);
      assert.deepEqual(
        [failed[0].outcome, failed[0].userId, failed[0].details.problem, failed[0].details.attempts],
        ['failure', one.user.id, problem, 8],
      );
      assert.equal(await countRows(server, 'logout_notice'), 0);
    });
  }

  test('an address that was put right is used by the next try; none at all ends it', async () => {
    const client = await listening({ backchannelLogoutUri: 'http://127.0.0.1:9/' });
    const one = await visit(client);
    await signOut(one);
    assert.deepEqual(await told(), []);
    await admin(server, 'PATCH', `/clients/${client.clientId}`, { backchannelLogoutUri: receiver.uri });
    server.advance(15 * SECOND);
    assert.equal((await told()).length, 1);

    const gone = await listening({ backchannelLogoutUri: 'http://127.0.0.1:9/' });
    const two = await visit(gone);
    await signOut(two);
    await server.deliverNotices();
    await admin(server, 'PATCH', `/clients/${gone.clientId}`, { backchannelLogoutUri: null });
    server.advance(15 * SECOND);
    await server.deliverNotices();
    assert.equal(await countRows(server, 'logout_notice'), 0);
  });

  test('one that never answers holds up neither the person nor the other apps', async () => {
    const silent = await startReceiver();
    silent.answer(...Array<'hang'>(10).fill('hang'));
    try {
      const dead = await listening({ backchannelLogoutUri: silent.uri });
      const alive = await listening();
      const people = [];
      for (let count = 0; count < 6; count++) {
        const one = await visit(dead);
        await visit(alive, one);
        people.push(one);
      }
      // The background loop delivers: this test does not wait for the unresponsive app.
      for (const one of people) assert.equal((await signOut(one)).status, 303);
      while (receiver.received.length < people.length) await receiver.next();
      const { tokens } = await visit(alive);
      assert.equal((await userinfo(server, tokens.access_token, '/oidc/userinfo')).status, 200);
      assert.ok(silent.received.length <= 4, 'a few at a time');
    } finally {
      await silent.close();
    }
  });

  test('nothing is lost where the server stops between the commit and the delivery', async () => {
    const client = await listening();
    receiver.answer('hang');
    const one = await visit(client);
    await signOut(one);
    // Taken on by a process that ends while it waits for the answer.
    const delivery = server.deliverNotices();
    while (receiver.received.length === 0) await receiver.next();
    await restart(server);
    await delivery;
    server.advance(30 * SECOND);
    const notices = await told();
    assert.deepEqual(
      notices.map(({ sid }) => sid),
      [sidOf(one), sidOf(one)],
    );
    const [delivered, ...more] = await events(client);
    assert.deepEqual([delivered.type, delivered.details.attempts, more], ['logout.delivered', 2, []]);
  });

  test('a command’s ban is told by the server that runs', async () => {
    const client = await listening();
    const one = await visit(client);
    await admin(server, 'PUT', `/users/${one.user.id}/ban`, {});
    // No call of ours delivers it.
    while (receiver.received.length === 0) await receiver.next();
    assert.equal(claimsOf(tokenOf(receiver.received[0])).sub, one.user.id);
  });
});

describe('SSRF: beyond a developer’s machine', () => {
  const inside: Record<string, [string, string, RegExp]> = {
    'a loopback address': ['https://127.0.0.1/logout', '', /not on the public internet/],
    'a private address': ['https://10.0.0.1/logout', '', /not on the public internet/],
    'an address without TLS': ['http://localhost/logout', '', /https/],
    'a network that the operator opened': ['https://127.0.0.1:9/logout', '127.0.0.0/8', /nothing listens there/],
    'that network for an app that registered itself': [
      'https://127.0.0.1:9/logout',
      '127.0.0.0/8',
      /that no operator chose/,
    ],
  };
  for (const [name, [backchannelLogoutUri, opened, problem]] of Object.entries(inside)) {
    test(name, async () => {
      const settings = opened === '' ? {} : { TESSERA_OUTGOING_ALLOW: opened };
      const outside = await startBehind('https://id.example.com', settings);
      try {
        const at = { baseUrl: `http://127.0.0.1:${outside.port}` };
        const registration = { backchannelLogoutUri, idTokenSignedResponseAlg: 'ES256' };
        const { clientId } = await newClient({ ...outside, ...at }, registration);
        if (name.includes('registered itself'))
          await query(outside, "UPDATE client SET registered_by = 'open' WHERE id = ?", clientId);
        const now = outside.now();
        const columns = 'client_id, account_id, sid, created_at, attempts, due_at';
        await query(
          outside,
          `INSERT INTO logout_notice (${columns}) VALUES (${clientId}, 1, 'sid', ?, 0, ?)`,
          now,
          now,
        );
        await outside.deliverNotices();
        const { items } = (await admin(at, 'GET', '/audit-events?type=logout.unanswered')).body;
        assert.equal(items.length, 1);
        assert.match(items[0].details.problem, problem);
      } finally {
        await outside.close();
      }
    });
  }
});

test('a logout token is no credential: neither at UserInfo nor as a hint', async () => {
  const client = await listening();
  const one = await visit(client);
  await signOut(one);
  await server.deliverNotices();
  const token = tokenOf(receiver.received[0]);
  assert.equal((await userinfo(server, token)).status, 401);
  const browser = await signedIn(server, one.user);
  const page = await browser.get(`/oidc/logout?id_token_hint=${token}`);
  assert.match(page.text, /id_token_hint is not an unmodified ID token/);
});

test('the discovery document says so', async () => {
  const document = await (await fetch(`${server.baseUrl}/.well-known/openid-configuration`)).json();
  const { backchannel_logout_supported: supported, backchannel_logout_session_supported: named } = document as never;
  assert.deepEqual([supported, named], [true, true]);
});
