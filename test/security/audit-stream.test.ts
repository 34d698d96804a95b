import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { rotateKeys } from '../../src/keys/keys.ts';
import { type Agent, agent } from '../support/agent.ts';
import {
  admin,
  authorizeUrl,
  codeFor,
  type JsonAnswer,
  newClient,
  newUser,
  PASSWORD,
  redeem,
  refresh,
  revokeOnPage,
  type TestClient,
  type TestUser,
  type Tokens,
  userinfo,
  walk,
} from '../support/flow.ts';
import { withData } from '../support/forged-token.ts';
import { startServer, type TestServer } from '../support/server.ts';
import { introspect, revoke } from '../support/token-services.ts';

interface Event {
  readonly id: string;
  readonly at: string;
  readonly type: string;
  readonly outcome: string;
  readonly actor: { readonly type: string; readonly id: string | null };
  readonly userId: string | null;
  readonly clientId: string | null;
  readonly address: string | null;
  readonly requestId: string | null;
  readonly details: Readonly<Record<string, unknown>>;
}

type Actor = 'admin' | 'user' | 'client' | 'anonymous' | 'cli';
/** What is expected of an event: its type, who acted, whether it succeeded, and whom it is about. */
type Expected = readonly [type: string, actor: Actor, outcome: '+' | '-', about: 'user' | 'client' | 'both' | 'none'];

let server: TestServer;
let client: TestClient;
let foreign: TestClient;
let user: TestUser;
let browser: Agent;
let code = '';
let kept = '';
let tokens: Tokens;
before(async () => {
  server = await startServer({ TESSERA_LIMIT_SIGN_IN_ACCOUNT: '2/m', TESSERA_LIMIT_CLIENT_AUTH: '1/m' });
  foreign = await newClient(server);
});
after(() => server.close());

async function allEvents(): Promise<Event[]> {
  const events: Event[] = [];
  for (let cursor = ''; ; ) {
    const { items, nextCursor } = (await admin(server, 'GET', `/audit-events?limit=200${cursor}`)).body;
    events.push(...items);
    if (nextCursor === null) return events;
    cursor = `&cursor=${nextCursor}`;
  }
}

const status = (expected: number, answer: { status: number; body?: unknown }) =>
  assert.equal(answer.status, expected, JSON.stringify(answer.body));

const signInForm = async (who: Agent, identifier: string, password: string): Promise<number> =>
  (await who.submit(await who.get('/login'), { identifier, password })).status;

const wrongSecret = () => redeem(server, { ...client, clientSecret: 'wrong' }, code);
const take = (answer: JsonAnswer): void => {
  status(200, answer);
  tokens = answer.body;
};

/** One run, in order: what is done, and every event that it must leave. No step may leave another one, or none. */
const run: readonly (readonly [string, () => Promise<unknown>, ...Expected[]])[] = [
  [
    'an operator registers a client',
    async () => (client = await newClient(server)),
    ['client.created', 'admin', '+', 'client'],
  ],
  ['an operator makes a user', async () => (user = await newUser(server)), ['account.created', 'admin', '+', 'user']],
  [
    'a wrong password',
    async () => assert.equal(await signInForm(agent(server.baseUrl), user.username, 'wrong password'), 401),
    ['sign_in.failed', 'anonymous', '-', 'user'],
  ],
  [
    'an unknown name',
    async () => assert.equal(await signInForm(agent(server.baseUrl), 'nobody-at-all', 'wrong password'), 401),
    ['sign_in.failed', 'anonymous', '-', 'none'],
  ],
  [
    'too many sign-ins',
    async () => {
      assert.equal(await signInForm(agent(server.baseUrl), user.username, 'wrong password'), 401);
      assert.equal(await signInForm(agent(server.baseUrl), user.username, PASSWORD), 429);
    },
    ['sign_in.failed', 'anonymous', '-', 'user'],
    ['limit.exceeded', 'anonymous', '-', 'user'],
  ],
  [
    'a sign-in, a minute later',
    async () => {
      server.advance(60_000);
      browser = agent(server.baseUrl);
      assert.equal(await signInForm(browser, user.username, PASSWORD), 303);
    },
    ['sign_in.succeeded', 'user', '+', 'user'],
  ],
  [
    'a refusal on the consent page',
    () => walk(browser, authorizeUrl(client), { decision: 'deny' }),
    ['consent.denied', 'user', '+', 'both'],
  ],
  [
    'consent',
    async () => (code = await codeFor(server, client, user, {}, { browser })),
    ['consent.granted', 'user', '+', 'both'],
    ['authorization.issued', 'user', '+', 'both'],
  ],
  [
    'a wrong redirect URI',
    async () => status(400, await redeem(server, client, code, { redirect_uri: 'https://app.example.com/other' })),
    ['token.refused', 'client', '-', 'both'],
  ],
  [
    'a wrong client secret',
    async () => status(401, await wrongSecret()),
    ['client.auth_failed', 'anonymous', '-', 'client'],
  ],
  [
    'too many wrong client secrets',
    async () => status(429, await wrongSecret()),
    ['limit.exceeded', 'anonymous', '-', 'client'],
  ],
  [
    'a code of another client',
    async () => status(400, await redeem(server, foreign, code)),
    ['token.foreign_client', 'client', '-', 'user'],
  ],
  [
    'a code that is unknown, a minute later',
    async () => {
      server.advance(60_000);
      status(400, await redeem(server, client, 'unknown'));
    },
    ['token.refused', 'client', '-', 'client'],
  ],
  [
    'a code by the remembered consent, redeemed',
    async () => {
      code = await codeFor(server, client, user, {}, { browser });
      take(await redeem(server, client, code));
    },
    ['authorization.issued', 'user', '+', 'both'],
    ['token.issued', 'client', '+', 'both'],
  ],
  [
    'a refresh',
    async () => {
      kept = tokens.refresh_token;
      take(await refresh(server, client, kept));
    },
    ['token.refreshed', 'client', '+', 'both'],
  ],
  [
    'a refresh repeated in time',
    async () => take(await refresh(server, client, kept)),
    ['token.repeated', 'client', '+', 'both'],
  ],
  [
    'a refresh token of another client',
    async () => status(400, await refresh(server, foreign, tokens.refresh_token)),
    ['token.foreign_client', 'client', '-', 'user'],
  ],
  [
    'another kind of token as a refresh token',
    async () => status(400, await refresh(server, client, tokens.access_token)),
    ['token.refused', 'client', '-', 'client'],
  ],
  [
    'a retired refresh token, used too late',
    async () => {
      server.advance(31_000);
      status(400, await refresh(server, client, kept));
    },
    ['token.refresh_reused', 'client', '-', 'both'],
  ],
  [
    'a code used twice',
    async () => {
      code = await codeFor(server, client, user, {}, { browser });
      take(await redeem(server, client, code));
      status(400, await redeem(server, client, code));
    },
    ['authorization.issued', 'user', '+', 'both'],
    ['token.issued', 'client', '+', 'both'],
    ['token.code_replayed', 'client', '-', 'both'],
  ],
  [
    'a token of another client, to be revoked',
    async () => {
      code = await codeFor(server, client, user, {}, { browser });
      take(await redeem(server, client, code));
      status(400, await revoke(server, foreign, tokens.access_token));
    },
    ['authorization.issued', 'user', '+', 'both'],
    ['token.issued', 'client', '+', 'both'],
    ['token.foreign_client', 'client', '-', 'user'],
  ],
  [
    'a token revoked by its client, twice, and garbage',
    async () => {
      for (const token of [tokens.access_token, tokens.refresh_token, 'x'])
        status(200, await revoke(server, client, token));
    },
    ['token.revoked', 'client', '+', 'both'],
  ],
  ['introspection reads only', async () => status(200, await introspect(server, client, tokens.access_token))],
  ['UserInfo reads only', async () => status(401, await userinfo(server, tokens.access_token))],
  ['the person takes access away', () => revokeOnPage(browser, client), ['consent.revoked', 'user', '+', 'both']],
  ['once more, where there is nothing to take', () => revokeOnPage(browser, foreign).catch(() => undefined)],
  [
    'keys are rotated',
    () => {
      const origin = { actor: { type: 'cli', id: null }, address: null, requestId: null } as const;
      return withData(server, (core) => rotateKeys(core.database, core.secret, origin, server.now()));
    },
    ['keys.rotated', 'cli', '+', 'none'],
  ],
  [
    'a ban',
    () => admin(server, 'PUT', `/users/${user.id}/ban`, { reason: 'a reason' }),
    ['account.banned', 'admin', '+', 'user'],
  ],
  [
    'a banned person signs in',
    async () => assert.equal(await signInForm(agent(server.baseUrl), user.username, PASSWORD), 403),
    ['sign_in.failed', 'anonymous', '-', 'user'],
  ],
  [
    'the ban is lifted',
    () => admin(server, 'DELETE', `/users/${user.id}/ban`),
    ['account.unbanned', 'admin', '+', 'user'],
  ],
  [
    'a sign-in, a new password, a sign-out',
    async () => {
      browser = agent(server.baseUrl);
      assert.equal(await signInForm(browser, user.username, PASSWORD), 303);
      const page = await browser.get('/account');
      const fields = { current: PASSWORD, password: 'another good password' };
      assert.equal((await browser.submit(page, fields, '/account/password')).status, 200);
      await browser.submit(await browser.get('/account'), {}, '/logout');
    },
    ['sign_in.succeeded', 'user', '+', 'user'],
    ['account.password_changed', 'user', '+', 'user'],
    ['sign_out', 'user', '+', 'user'],
  ],
];

test('LG-02, LG-03: the record of a run is exactly what was done, by whom, to whom, and how it ended', async () => {
  const requests = new Set<string>();
  for (const [what, act, ...expected] of run) {
    const before = (await allEvents()).length;
    await act();
    const events = (await allEvents()).slice(before);
    assert.deepEqual(
      events.map(({ type }) => type),
      expected.map(([type]) => type),
      what,
    );
    for (const [n, [type, actor, outcome, about]] of expected.entries()) {
      const event = events[n];
      assert.ok(event !== undefined);
      const shown = `${what}: ${JSON.stringify(event)}`;
      const isForeign = type === 'token.foreign_client';
      const isClient = about === 'client' || about === 'both';
      const isUser = about === 'user' || about === 'both';
      assert.equal(event.at, new Date(server.now()).toISOString(), shown);
      assert.equal(event.outcome, outcome === '+' ? 'success' : 'failure', shown);
      const ids = { user: user?.id, client: isForeign ? foreign.clientId : client.clientId };
      const actorId = actor === 'user' || actor === 'client' ? ids[actor] : null;
      assert.deepEqual(event.actor, { type: actor, id: actorId }, shown);
      assert.equal(event.userId, isUser ? ids.user : null, shown);
      assert.equal(event.clientId, isClient || isForeign ? ids.client : null, shown);
      assert.equal(event.address, actor === 'cli' ? null : '127.0.0.1', shown);
      if (actor === 'cli') assert.equal(event.requestId, null, shown);
      else assert.match(event.requestId ?? '', /^[0-9a-f-]{36}$/, shown);
      requests.add(`${event.requestId}`);
    }
  }
  assert.ok(requests.size > 25, 'requests are told apart');
  // LG-04: the ids rise, so that a gap shows.
  const ids = (await allEvents()).map(({ id }) => BigInt(id));
  assert.ok(
    ids.every((id, n) => n === 0 || id === (ids[n - 1] ?? 0n) + 1n),
    'no event is missing between two others',
  );
});

test('LG-03: each kind of attack has an event of its own', () => {
  const attacks = ['token.code_replayed', 'token.refresh_reused', 'token.foreign_client', 'limit.exceeded'];
  const types = run.flatMap(([, , ...expected]) => expected.map(([type]) => type));
  for (const type of attacks) assert.ok(types.includes(type), type);
});
