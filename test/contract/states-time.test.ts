// store: SQLite, PostgreSQL with --all
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import type { Agent } from '../support/agent.ts';
import {
  assertForbidden,
  assertInvalidGrant,
  assertInvalidToken,
  assertRefused,
  BANNED,
  SUSPENDED,
} from '../support/api-call.ts';
import {
  admin,
  authorizeUrl,
  claimsOf,
  codeFor,
  type JsonAnswer,
  newClient,
  newUser,
  PASSWORD,
  redeem,
  refresh,
  signedIn,
  type TestUser,
  type Tokens,
  tokensFor,
  userinfo,
} from '../support/flow.ts';
import { startServer } from '../support/server.ts';

const server = await startServer();
after(() => server.close());
const client = await newClient(server);

const iso = (instant: number) => new Date(instant).toISOString();
const ban = (user: TestUser, body: unknown): Promise<JsonAnswer> => admin(server, 'PUT', `/users/${user.id}/ban`, body);
async function banned(user: TestUser, body: object): Promise<void> {
  const answer = await ban(user, body);
  assert.equal(answer.status, 200, JSON.stringify(answer.body));
}
async function dead(tokens: Tokens): Promise<void> {
  assertInvalidToken(await userinfo(server, tokens.access_token));
  assertInvalidGrant(await refresh(server, client, tokens.refresh_token));
}
async function alive(tokens: Tokens): Promise<void> {
  assert.equal((await userinfo(server, tokens.access_token)).status, 200);
  assert.equal((await refresh(server, client, tokens.refresh_token)).status, 200);
}

describe('contract §3: a ban ends by itself (AC-04)', () => {
  test('one millisecond before its end it holds; the instant of its end is free, by the clock alone', async () => {
    const user = await newUser(server);
    const before_ = await tokensFor(server, client, user);
    const until = server.now() + 10_000;
    await banned(user, { until: iso(until) });
    server.advance(9_999);
    assertForbidden(await userinfo(server, before_.access_token), BANNED);
    assertForbidden(await refresh(server, client, before_.refresh_token), BANNED);
    await assert.rejects(signedIn(server, user));
    assert.equal((await admin(server, 'GET', `/users/${user.id}`)).body.status, 'banned');
    server.advance(1);
    assert.equal((await admin(server, 'GET', `/users/${user.id}`)).body.status, 'active');
    assert.equal((await admin(server, 'GET', `/users/${user.id}`)).body.ban, null);
    // Tokens issued before remain invalid; the user must authenticate again.
    await dead(before_);
    await alive(await tokensFor(server, client, user));
    await dead(before_);
  });

  test('AC-05: a ban that ran out revives no session, form, code or token; a new sign-in gets new ones', async () => {
    const user = await newUser(server);
    const browser = await signedIn(server, user);
    const tokens = await tokensFor(server, client, user, { scope: 'openid email' }, { browser });
    const [code, spare] = [
      await codeFor(server, client, user, {}, { browser }),
      await codeFor(server, client, user, {}, { browser }),
    ];
    const account = await browser.get('/account/security');
    const asked = await browser.get(authorizeUrl(client, { prompt: 'consent' }));
    const consent = await browser.get(asked.location?.href ?? '');
    const session = browser.cookie('tessera_session') ?? '';
    await banned(user, { until: iso(server.now() + 1000) });
    assertForbidden(await redeem(server, client, spare), BANNED);
    server.advance(1000);
    await dead(tokens);
    for (const each of [code, spare]) assertInvalidGrant(await redeem(server, client, each));
    // The forms first: an answer to a dead session takes its cookie away.
    for (const [page, action, fields] of [
      [consent, '/consent', { decision: 'allow' }],
      [account, '/account/password', { current: PASSWORD, password: 'a new passphrase' }],
    ] as const) {
      browser.setCookie('tessera_session', session);
      const answer = await browser.submit(page, fields, action);
      assert.deepEqual([answer.status, answer.location?.pathname], [303, '/login'], action);
    }
    browser.setCookie('tessera_session', session);
    assert.equal((await browser.get('/account/security')).location?.pathname, '/login');
    await alive(await tokensFor(server, client, user));
    await dead(tokens);
  });

  test('the end is an instant: offsets and fractions of a second count', async () => {
    const user = await newUser(server);
    const until = server.now() + 5_400;
    const local = `${iso(until + 5.5 * 3_600_000).slice(0, -1)}+05:30`;
    await banned(user, { until: local });
    assert.equal((await admin(server, 'GET', `/users/${user.id}`)).body.ban.until, iso(until));
    server.advance(5_399);
    await assert.rejects(signedIn(server, user));
    server.advance(1);
    await signedIn(server, user);
  });

  test('a ban without an end, or with null, holds for fifty years', async () => {
    const eternal = await startServer();
    try {
      const users = [];
      for (const body of [{}, { until: null }, { reason: 'spam' }]) {
        const user = await newUser(eternal);
        assert.equal((await admin(eternal, 'PUT', `/users/${user.id}/ban`, body)).status, 200);
        users.push(user);
      }
      eternal.advance(50 * 365 * 24 * 60 * 60 * 1000);
      for (const { id } of users) {
        assert.equal((await admin(eternal, 'GET', `/users/${id}`)).body.status, 'banned');
      }
    } finally {
      await eternal.close();
    }
  });

  test('a ban that ended does not cover up a suspension', async () => {
    const user = await newUser(server);
    const tokens = await tokensFor(server, client, user);
    await admin(server, 'PUT', `/users/${user.id}/suspension`, {});
    await banned(user, { until: iso(server.now() + 1000) });
    assertForbidden(await userinfo(server, tokens.access_token), BANNED);
    server.advance(1000);
    assertForbidden(await userinfo(server, tokens.access_token), SUSPENDED);
    assertForbidden(await refresh(server, client, tokens.refresh_token), SUSPENDED);
  });

  test('a ban holds over a restart, and ends in time after it', async () => {
    const user = await newUser(server);
    const tokens = await tokensFor(server, client, user);
    await banned(user, { until: iso(server.now() + 1000) });
    await server.restart();
    assertForbidden(await userinfo(server, tokens.access_token), BANNED);
    server.advance(1000);
    await server.restart();
    await dead(tokens);
    await signedIn(server, user);
  });
});

describe('decisions §5: PUT replaces the end of a ban (AC-07)', () => {
  for (const [name, first, second] of [
    ['by a later one', 1000, 5000],
    ['by an earlier one', 5000, 1000],
    ['none by one', undefined, 1000],
    ['one by none', 1000, undefined],
  ] as const) {
    test(name, async () => {
      const user = await newUser(server);
      const tokens = await tokensFor(server, client, user);
      const begin = server.now();
      const body = (after_: number | undefined) => (after_ === undefined ? {} : { until: iso(begin + after_) });
      await banned(user, body(first));
      await banned(user, body(second));
      server.advance((second ?? 100_000) - 1);
      assertForbidden(await userinfo(server, tokens.access_token), BANNED);
      server.advance(1);
      if (second === undefined) assertForbidden(await userinfo(server, tokens.access_token), BANNED);
      else await dead(tokens);
    });
  }
});

describe('AC-10: what is no end of a ban', () => {
  const wrong: readonly unknown[] = [
    ...['', 'tomorrow', '2030-01-01', '2030-01-01T00:00:00', '2030-01-01 00:00:00Z', '2030-01-01T00:00Z', '1893456000'],
    ...['2030-02-30T00:00:00Z', '2030-13-01T00:00:00Z', '2030-01-01T24:00:00Z', '2030-01-01T00:60:00Z'],
    ...['2030-06-30T23:59:60Z', '2030-01-01T00:00:00+24:00', '2030-01-01T00:00:00+0100', '+012030-01-01T00:00:00Z'],
    ...[
      '-000001-01-01T00:00:00Z',
      '99999-01-01T00:00:00Z',
      '2030-W01-1T00:00:00Z',
      '2030-01-01T00:00:00Z ',
      'Infinity',
    ],
    ...[
      'Tue, 01 Jan 2030 00:00:00 GMT',
      '2030-01-01T00:00:00Z\n',
      '٢٠٣٠-01-01T00:00:00Z',
      'NaN',
      '9999-12-31T23:59:59-01:00',
    ],
    ...[1_893_456_000_000, 0, -1, true, [], {}, ['2030-01-01T00:00:00Z']],
    ...['1970-01-01T00:00:00Z', '2026-02-28T00:00:00Z', '0000-01-01T00:00:00Z'],
  ];
  for (const until of wrong) {
    test(`until ${JSON.stringify(until)} is invalid_request and does not ban the user`, async () => {
      const user = await newUser(server);
      const answer = await ban(user, { until });
      assert.equal(answer.status, 400, JSON.stringify(answer.body));
      assert.equal(answer.body.error, 'invalid_request');
      assert.match(answer.body.error_description, /until/);
      assert.equal((await admin(server, 'GET', `/users/${user.id}`)).body.status, 'active');
    });
  }
  test('this very instant is not in the future; the next millisecond is', async () => {
    const user = await newUser(server);
    assertRefused(await ban(user, { until: iso(server.now()) }), 400, 'invalid_request');
    await banned(user, { until: iso(server.now() + 1) });
    server.advance(1);
    await signedIn(server, user);
  });
  test('the last second of 9999 is good', async () => {
    const user = await newUser(server);
    await banned(user, { until: '9999-12-31T23:59:59Z' });
    assert.equal((await admin(server, 'GET', `/users/${user.id}`)).body.ban.until, '9999-12-31T23:59:59.000Z');
  });
  test('the reason is for operators and never for clients', async () => {
    const user = await newUser(server);
    const tokens = await tokensFor(server, client, user);
    await banned(user, { reason: 'sold-the-crown-jewels' });
    for (const answer of [
      await userinfo(server, tokens.access_token),
      await refresh(server, client, tokens.refresh_token),
    ]) {
      assertForbidden(answer, BANNED);
    }
    assert.equal((await admin(server, 'GET', `/users/${user.id}`)).body.ban.reason, 'sold-the-crown-jewels');
  });
});

describe('AC-05, AC-06: within one millisecond, what was minted before is dead, what was minted after is alive', () => {
  const events: readonly [string, (user: TestUser, browser: Agent) => Promise<unknown>][] = [
    [
      'ban and lift',
      async (user) => {
        await banned(user, {});
        await admin(server, 'DELETE', `/users/${user.id}/ban`);
      },
    ],
    [
      'suspend and reinstate',
      async (user) => {
        await admin(server, 'PUT', `/users/${user.id}/suspension`, {});
        await admin(server, 'DELETE', `/users/${user.id}/suspension`);
      },
    ],
    ['set a password', (user) => admin(server, 'PATCH', `/users/${user.id}`, { password: PASSWORD })],
    [
      'change the password on the page',
      async (_user, browser) => {
        const fields = { current: PASSWORD, password: PASSWORD };
        const answer = await browser.submit(await browser.get('/account/security'), fields, '/account/password');
        assert.equal(answer.status, 200);
      },
    ],
    [
      'sign out everywhere',
      async (_user, browser) => {
        const answer = await browser.submit(await browser.get('/account/security'), {}, '/account/sign-out-everywhere');
        assert.equal(answer.status, 200);
      },
    ],
  ];
  for (const [name, act] of events) {
    test(`mint, ${name}, mint, ${name}, mint`, async () => {
      const user = await newUser(server);
      const sets: Tokens[] = [];
      const codes: string[] = [];
      for (let round = 0; round < 3; round++) {
        const browser = await signedIn(server, user);
        sets.push(await tokensFor(server, client, user, {}, { browser }));
        codes.push(await codeFor(server, client, user, {}, { browser }));
        if (round === 2) break;
        await act(user, browser);
        for (const tokens of sets) await dead(tokens);
        for (const code of codes) assertInvalidGrant(await redeem(server, client, code));
      }
      const last = sets[2];
      assert.ok(last);
      assert.equal(claimsOf(sets[0]?.access_token ?? '').iat, claimsOf(last.access_token).iat);
      await alive(last);
      assert.equal((await redeem(server, client, codes[2] ?? '')).status, 200);
      for (const tokens of sets.slice(0, 2)) await dead(tokens);
    });
  }
  test('consent outlives a ban: afterwards a sign-in is enough', async () => {
    const user = await newUser(server);
    await tokensFor(server, client, user, { scope: 'email' });
    await banned(user, {});
    await admin(server, 'DELETE', `/users/${user.id}/ban`);
    const connections = await admin(server, 'GET', `/users/${user.id}/connections`);
    assert.deepEqual(
      connections.body.items.map((item: { clientId: string }) => item.clientId),
      [client.clientId],
    );
  });
});
