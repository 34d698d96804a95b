// store: SQLite, PostgreSQL with --all
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { type Agent, type Answer, agent } from '../support/agent.ts';
import {
  assertForbidden,
  assertInvalidGrant,
  assertInvalidToken,
  assertRefused,
  BANNED,
  REVOKED,
  STANDARD,
  SUSPENDED,
} from '../support/api-call.ts';
import {
  admin,
  authorizeUrl,
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
import { startServer } from '../support/server.ts';

const server = await startServer({ TESSERA_LIMIT_CLIENT_AUTH: 'off' });
after(() => server.close());
const client = await newClient(server);
const other = await newClient(server);

/** A person with tokens, and with a code that waits to be redeemed. */
interface Party {
  readonly user: TestUser;
  readonly browser: Agent;
  readonly tokens: Tokens;
  readonly code: string;
}
async function party(): Promise<Party> {
  const user = await newUser(server);
  const browser = await signedIn(server, user);
  const tokens = await tokensFor(server, client, user, {}, { browser });
  return { user, browser, tokens, code: await codeFor(server, client, user, {}, { browser }) };
}

type Event = 'banned' | 'suspended' | 'revoked';
const EVENTS: readonly Event[] = ['banned', 'suspended', 'revoked'];
const MESSAGE = { banned: BANNED, suspended: SUSPENDED, revoked: REVOKED } as const;

async function happen(event: Event, { user }: Party): Promise<void> {
  const answer =
    event === 'revoked'
      ? await admin(server, 'DELETE', `/users/${user.id}/connections/${client.clientId}`)
      : await admin(server, 'PUT', `/users/${user.id}/${event === 'banned' ? 'ban' : 'suspension'}`, {});
  assert.equal(answer.status, event === 'revoked' ? 204 : 200);
}
async function lift(event: 'banned' | 'suspended', { user }: Party): Promise<void> {
  const answer = await admin(server, 'DELETE', `/users/${user.id}/${event === 'banned' ? 'ban' : 'suspension'}`);
  assert.equal(answer.status, 200);
}

/** Everything that a party holds is answered in the same way: 403 with a message, or as a dead credential. */
async function everywhere({ tokens, code }: Party, message: string | undefined): Promise<void> {
  const answer = await userinfo(server, tokens.access_token);
  if (message === undefined) assertInvalidToken(answer);
  else assertForbidden(answer, message);
  // Decisions §10: the form of an error goes by the route.
  const standard = await userinfo(server, tokens.access_token, STANDARD);
  assertRefused(standard, 401, 'invalid_token', message);
  for (const answer of [await refresh(server, client, tokens.refresh_token), await redeem(server, client, code)]) {
    if (message === undefined) assertInvalidGrant(answer);
    else assertForbidden(answer, message);
  }
}

const precedence = (events: ReadonlySet<Event>): string | undefined => {
  const first = EVENTS.find((event) => events.has(event));
  return first && MESSAGE[first];
};

function permutations<T>(items: readonly T[]): readonly (readonly T[])[] {
  if (items.length === 0) return [[]];
  return items.flatMap((item, i) => permutations(items.toSpliced(i, 1)).map((rest) => [item, ...rest]));
}
const ORDERS: readonly (readonly Event[])[] = [
  ...EVENTS.map((event) => [event]),
  ...EVENTS.flatMap((a) => EVENTS.filter((b) => b !== a).map((b) => [a, b])),
  ...permutations(EVENTS),
];

describe('decisions §5: banned before suspended before revoked, in any order of the events (AC-02)', () => {
  for (const order of ORDERS) {
    test(order.join(', then '), async () => {
      const one = await party();
      const now = new Set<Event>();
      for (const event of order) {
        await happen(event, one);
        now.add(event);
        await everywhere(one, precedence(now));
      }
      // Lifted one by one, the next in the order shows; in the end the old tokens are dead (AC-05).
      for (const event of ['banned', 'suspended'] as const) {
        if (!now.has(event)) continue;
        await lift(event, one);
        now.delete(event);
        await everywhere(one, precedence(now));
      }
    });
  }

  test('suspension lifted first, ban after it', async () => {
    const one = await party();
    await happen('suspended', one);
    await happen('banned', one);
    await lift('suspended', one);
    await everywhere(one, BANNED);
    await lift('banned', one);
    await everywhere(one, undefined);
  });

  test('repeating and lifting twice is harmless, and revives nothing (AC-07)', async () => {
    const one = await party();
    for (const event of ['banned', 'suspended'] as const) {
      await happen(event, one);
      await happen(event, one);
      await everywhere(one, MESSAGE[event]);
      await lift(event, one);
      await lift(event, one);
      await everywhere(one, undefined);
    }
    await happen('revoked', one);
    await happen('revoked', one);
    await everywhere(one, REVOKED);
  });
});

describe('the contract’s message outranks what is wrong with the chain, and nothing outranks a bad token', () => {
  test('a dead family is 403 while the account is banned, suspended or revoked', async () => {
    for (const event of EVENTS) {
      const one = await party();
      await redeem(server, client, one.code);
      assertInvalidGrant(await redeem(server, client, one.code));
      const [first, second] = [one.tokens, (await refresh(server, client, one.tokens.refresh_token)).body as Tokens];
      server.advance(30_000);
      assertInvalidGrant(await refresh(server, client, first.refresh_token));
      await happen(event, one);
      assertForbidden(await userinfo(server, second.access_token), MESSAGE[event]);
      assertForbidden(await refresh(server, client, first.refresh_token), MESSAGE[event]);
    }
  });

  test('an expired token or code is 401 or invalid_grant in every state of the account', async () => {
    for (const event of EVENTS) {
      const one = await party();
      await happen(event, one);
      server.advance(60_000);
      assertInvalidGrant(await redeem(server, client, one.code));
      server.advance(1_740_000);
      assertInvalidToken(await userinfo(server, one.tokens.access_token));
      assertForbidden(await refresh(server, client, one.tokens.refresh_token), MESSAGE[event]);
      server.advance(7 * 24 * 60 * 60 * 1000);
      assertInvalidGrant(await refresh(server, client, one.tokens.refresh_token));
    }
  });

  test('who cannot prove client and token learns nothing of the account (TK-10)', async () => {
    for (const event of EVENTS) {
      const one = await party();
      await happen(event, one);
      const { access_token, refresh_token } = one.tokens;
      const wrongSecret = { client_secret: 'A'.repeat(43) };
      assertRefused(await refresh(server, client, refresh_token, wrongSecret), 401, 'invalid_client');
      assertRefused(await redeem(server, client, one.code, wrongSecret), 401, 'invalid_client');
      assertInvalidGrant(await refresh(server, other, refresh_token));
      assertInvalidGrant(await redeem(server, other, one.code));
      assertInvalidGrant(await redeem(server, client, one.code, { redirect_uri: 'https://x.example.com/' }));
      assertInvalidGrant(await redeem(server, client, one.code, { code_verifier: 'v'.repeat(43) }));
      assertInvalidGrant(await refresh(server, client, refresh_token.slice(0, -4)));
      assertInvalidToken(await userinfo(server, access_token.slice(0, -4)));
      await everywhere(one, MESSAGE[event]);
    }
  });
});

describe('AC-08: nothing that was under way is completed', () => {
  for (const event of ['banned', 'suspended'] as const) {
    test(`a ${event} person gets no code, and cannot sign in`, async () => {
      const one = await party();
      await happen(event, one);
      await assert.rejects(codeFor(server, client, one.user, {}, { browser: one.browser }));
      await assert.rejects(signedIn(server, one.user));
    });
  }

  /** The way from a request to tokens; each step says whether it could be taken. */
  interface Way {
    readonly user: TestUser;
    readonly browser: Agent;
    answer: Answer | undefined;
    tokens: Tokens | undefined;
  }
  const open = async (way: Way): Promise<boolean> => {
    const { location } = way.answer ?? {};
    if (location?.origin !== server.baseUrl) return false;
    way.answer = await way.browser.get(location.href);
    return true;
  };
  const submit = async (way: Way, action: string, fields: Readonly<Record<string, string>>): Promise<boolean> => {
    if (!way.answer?.text.includes(`action="${action}"`)) return false;
    way.answer = await way.browser.submit(way.answer, fields, action);
    return true;
  };
  const steps: Readonly<Record<string, (way: Way) => Promise<boolean>>> = {
    async 'the request'(way) {
      way.answer = await way.browser.get(authorizeUrl(client, { scope: 'openid email' }));
      return true;
    },
    'the sign-in page': open,
    'the sign-in': (way) => submit(way, '/login', { identifier: way.user.username, password: PASSWORD }),
    'the consent page': open,
    'the consent': (way) => submit(way, '/consent', { decision: 'allow', 'allow email': 'on' }),
    async 'the redemption'(way) {
      const code = way.answer?.location?.searchParams.get('code');
      if (!code) return false;
      const { status, body } = await redeem(server, client, code);
      if (status === 200) way.tokens = body;
      return status === 200;
    },
    async 'the refresh'(way) {
      const { status, body } = await refresh(server, client, way.tokens?.refresh_token ?? '');
      if (status === 200) way.tokens = body;
      return status === 200;
    },
    UserInfo: async ({ tokens }) => (await userinfo(server, tokens?.access_token)).status === 200,
  };
  const begin = async (): Promise<Way> => ({
    user: await newUser(server),
    browser: agent(server.baseUrl),
    answer: undefined,
    tokens: undefined,
  });
  /** Takes steps until one cannot be taken; how many were. */
  async function walk(way: Way, from: number, to = Object.keys(steps).length): Promise<number> {
    for (const [n, step] of Object.values(steps).entries()) {
      if (n >= from && n < to && !(await step(way))) return n;
    }
    return to;
  }
  const names = Object.keys(steps);

  test('left alone, the way leads to UserInfo', async () => assert.equal(await walk(await begin(), 0), names.length));

  type Change = readonly [method: string, path: string, body?: object];
  const changes: Readonly<Record<string, readonly Change[]>> = {
    'a ban': [['PUT', '/ban', {}]],
    'a suspension': [['PUT', '/suspension', {}]],
    'a ban that is lifted at once': [
      ['PUT', '/ban', {}],
      ['DELETE', '/ban'],
    ],
    'a suspension that is lifted at once': [
      ['PUT', '/suspension', {}],
      ['DELETE', '/suspension'],
    ],
    'a password set by an operator': [['PATCH', '', { password: 'another passphrase' }]],
  };
  const signInAt = names.indexOf('the sign-in');
  for (const [change, calls] of Object.entries(changes)) {
    for (const [after_, name] of names.slice(0, -1).entries()) {
      const next = names[after_ + 1];
      // Before the sign-in nothing of the account is under way: after a lift it may begin.
      if (after_ < signInAt && change.endsWith('lifted at once')) continue;
      test(`${change} between ${name} and ${next}`, async () => {
        const way = await begin();
        assert.equal(await walk(way, 0, after_ + 1), after_ + 1);
        for (const [method, path, body] of calls) {
          assert.equal((await admin(server, method, `/users/${way.user.id}${path}`, body)).status, 200);
        }
        const { tokens, answer } = way;
        assert.ok((await walk(way, after_ + 1)) < names.length, 'it was completed');
        assert.equal(way.tokens, tokens, 'tokens were issued');
        if (way.answer !== answer) assert.ok(!way.answer?.location?.searchParams.has('code'), 'a code was issued');
        if (tokens !== undefined) assert.notEqual((await userinfo(server, tokens.access_token)).status, 200);
      });
    }
  }
});

describe('contract §3: revocation', () => {
  test('on the page: 403 everywhere, for ever, and other clients are untouched', async () => {
    const one = await party();
    const bystander = await party();
    const elsewhere = await tokensFor(server, other, one.user, {}, { browser: one.browser });
    assert.equal((await revokeOnPage(one.browser, client)).status, 200);
    await everywhere(one, REVOKED);
    await server.restart();
    await everywhere(one, REVOKED);
    assert.equal((await userinfo(server, elsewhere.access_token)).status, 200);
    assert.equal((await refresh(server, other, elsewhere.refresh_token)).status, 200);
    // CN-06: nor is what the same client holds for another person, tokens, code or consent.
    assert.equal((await userinfo(server, bystander.tokens.access_token)).status, 200);
    assert.equal((await refresh(server, client, bystander.tokens.refresh_token)).status, 200);
    assert.equal((await redeem(server, client, bystander.code)).status, 200);
    const again = await bystander.browser.get(authorizeUrl(client, { prompt: 'none' }));
    assert.ok(again.location?.searchParams.has('code'), `${again.location}`);
  });

  test('a new consent in the same millisecond: the old tokens stay 403, the new ones are good (CN-07)', async () => {
    const one = await party();
    await revokeOnPage(one.browser, client);
    const again = await tokensFor(server, client, one.user, {}, { browser: one.browser });
    await everywhere(one, REVOKED);
    assert.equal((await userinfo(server, again.access_token)).status, 200);
    assert.equal((await refresh(server, client, again.refresh_token)).status, 200);
    await revokeOnPage(one.browser, client);
    const third = await tokensFor(server, client, one.user, {}, { browser: one.browser });
    assertForbidden(await userinfo(server, again.access_token), REVOKED);
    assert.equal((await userinfo(server, third.access_token)).status, 200);
    await everywhere(one, REVOKED);
  });
});

describe('AD-08: disabling a client', () => {
  test('ends its codes and tokens for ever; enabling revives nothing, and new ones are good', async () => {
    const one = await party();
    const bystander = await party();
    const path = `/clients/${client.clientId}`;
    assert.equal((await admin(server, 'PATCH', path, { status: 'disabled' })).status, 200);
    assertInvalidToken(await userinfo(server, one.tokens.access_token));
    assertInvalidToken(await userinfo(server, one.tokens.access_token, STANDARD));
    assertRefused(await refresh(server, client, one.tokens.refresh_token), 401, 'invalid_client');
    assertRefused(await redeem(server, client, one.code), 401, 'invalid_client');
    // Decisions §5: a disabled client comes before the state of the account.
    await happen('banned', bystander);
    assertInvalidToken(await userinfo(server, bystander.tokens.access_token));
    assert.equal((await admin(server, 'PATCH', path, { status: 'active' })).status, 200);
    await everywhere(bystander, BANNED);
    await everywhere(one, undefined);
    const again = await tokensFor(server, client, one.user);
    assert.equal((await userinfo(server, again.access_token)).status, 200);
    assert.equal((await refresh(server, client, again.refresh_token)).status, 200);
  });
  test('enabling an active client ends nothing', async () => {
    const one = await party();
    await admin(server, 'PATCH', `/clients/${client.clientId}`, { status: 'active' });
    assert.equal((await userinfo(server, one.tokens.access_token)).status, 200);
    assert.equal((await redeem(server, client, one.code)).status, 200);
  });
});
