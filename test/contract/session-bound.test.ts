// store: SQLite, PostgreSQL with --all
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import type { Agent } from '../support/agent.ts';
import {
  admin,
  authorizeUrl,
  claimsOf,
  newClient,
  newUser,
  PASSWORD,
  redeem,
  refresh,
  signedIn,
  standard,
  type TestClient,
  type TestUser,
  type Tokens,
  tokensFor,
  userinfo,
} from '../support/flow.ts';
import { startReceiver, tokenOf } from '../support/logout-receiver.ts';
import { codeOf, DAY, settle } from '../support/outcome.ts';
import { startServer } from '../support/server.ts';

// Decisions §10: at the OIDC endpoints, tokens without offline_access end with the browser session in which they were issued.

const receiver = await startReceiver();
const server = await startServer();
after(async () => {
  await server.close();
  await receiver.close();
});
const contract = await newClient(server, {
  idTokenSignedResponseAlg: 'RS256',
  backchannelLogoutUri: receiver.uri,
  postLogoutRedirectUris: ['https://app.example.com/bye'],
});
const client = standard(contract);
const ONLINE = { scope: 'openid email' };
const OFFLINE = { scope: 'openid email offline_access' };

/** What one session gave rise to: tokens, and a code that was not exchanged. */
interface Issued {
  readonly client: TestClient;
  readonly tokens: Tokens;
  readonly code: string;
}

interface Visit {
  readonly user: TestUser;
  readonly browser: Agent;
  readonly bound: Issued;
  /** What outlives the session. */
  readonly free: readonly Issued[];
}

async function issue(user: TestUser, browser: Agent, at: TestClient, scope: Readonly<Record<string, string>>) {
  const tokens = await tokensFor(server, at, user, scope, { browser });
  return { client: at, tokens, code: codeOf(await browser.get(authorizeUrl(at, scope))) };
}

async function visit(): Promise<Visit> {
  const user = await newUser(server);
  const browser = await signedIn(server, user);
  const bound = await issue(user, browser, client, ONLINE);
  const free = [await issue(user, browser, client, OFFLINE), await issue(user, browser, contract, OFFLINE)];
  return { user, browser, bound, free };
}

const isAccepted = async ({ tokens }: Issued): Promise<boolean> =>
  (await userinfo(server, tokens.access_token, '/oidc/userinfo')).status === 200;

/** Asserts that the tokens and the code of a session work, or that none does. */
async function assertWorks({ client: at, tokens, code }: Issued, works: boolean, message: string): Promise<void> {
  const seen = await userinfo(server, tokens.access_token, '/oidc/userinfo');
  const rest = [await refresh(server, at, tokens.refresh_token), await redeem(server, at, code)];
  if (works) {
    for (const { status, body } of [seen, ...rest]) assert.equal(status, 200, `${message} ${JSON.stringify(body)}`);
    return;
  }
  assert.deepEqual([seen.status, seen.body.error], [401, 'invalid_token'], message);
  for (const { status, body } of rest) assert.deepEqual([status, body.error], [400, 'invalid_grant'], message);
}

async function signInAs(browser: Agent, { username }: TestUser): Promise<void> {
  const page = await settle(browser, server, await browser.get(authorizeUrl(client, { prompt: 'login' })));
  const answer = await browser.submit(page, { identifier: username, password: PASSWORD });
  assert.equal(answer.status, 303, answer.text);
}

const signOut = async ({ browser }: Pick<Visit, 'browser'>) =>
  browser.submit(await browser.get('/account'), {}, '/logout');

const ENDS: Record<string, (visit: Visit) => Promise<unknown>> = {
  'the person signs out': signOut,
  'an app signs the person out': async ({ browser, bound }) => {
    const hint = new URLSearchParams({ id_token_hint: bound.tokens.id_token });
    return settle(browser, server, await browser.get(`/oidc/logout?${hint}`));
  },
  'the person confirms that an app signs them out': async ({ browser }) => {
    const page = await browser.get('/oidc/logout');
    return settle(browser, server, await browser.submit(page, {}, '/oidc/logout/confirm'));
  },
  'another person signs in in the browser': async ({ browser }) => signInAs(browser, await newUser(server)),
  'the person presses "Not you?"': async ({ browser }) => {
    const page = await settle(browser, server, await browser.get(authorizeUrl(client, { prompt: 'consent' })));
    return browser.submit(page, {}, '/logout');
  },
};

describe('tokens without offline_access end with the session', () => {
  for (const [name, end] of Object.entries(ENDS)) {
    test(`when ${name}`, async () => {
      const at = await visit();
      await end(at);
      await assertWorks(at.bound, false, 'bound');
      for (const issued of at.free) await assertWorks(issued, true, 'free');
    });
  }

  test('when the session is the oldest of too many', async () => {
    const at = await visit();
    for (let count = 0; count < 64; count++) {
      server.advance(1);
      await signedIn(server, at.user);
    }
    await assertWorks(at.bound, false, 'bound');
    for (const issued of at.free) await assertWorks(issued, true, 'free');
  });

  test('and only those of that session', async () => {
    const at = await visit();
    const there = await signedIn(server, at.user);
    const elsewhere = await issue(at.user, there, client, ONLINE);
    await signOut(at);
    assert.equal(await isAccepted(at.bound), false);
    await assertWorks(elsewhere, true, 'another browser');
  });

  test('and a session that is ended from elsewhere takes all of its tokens with it', async () => {
    const at = await visit();
    const { sid } = claimsOf(at.bound.tokens.id_token);
    assert.equal((await admin(server, 'DELETE', `/users/${at.user.id}/sessions/${sid}`)).status, 200);
    for (const issued of [at.bound, ...at.free]) await assertWorks(issued, false, 'all');
  });
});

describe('tokens without offline_access stay valid', () => {
  test('when the same person signs in again: the session goes on', async () => {
    const at = await visit();
    await signInAs(at.browser, at.user);
    await assertWorks(at.bound, true, 'bound');
    const again = await issue(at.user, at.browser, client, ONLINE);
    await signOut(at);
    assert.equal(await isAccepted(again), false);
  });

  for (const name of ['the person signs out', 'another person signs in in the browser']) {
    test(`when the session has run out before ${name}`, async () => {
      const user = await newUser(server);
      const browser = await signedIn(server, user);
      let { refresh_token } = await tokensFor(server, client, user, ONLINE, { browser });
      const form = await browser.get('/account');
      // Without use in the browser, the session runs out after 14 days.
      for (let days = 0; days < 15; days += 5) {
        server.advance(5 * DAY);
        ({ refresh_token } = (await refresh(server, client, refresh_token)).body);
      }
      if (name === 'the person signs out') await browser.submit(form, {}, '/logout');
      else await signInAs(browser, await newUser(server));
      assert.equal((await refresh(server, client, refresh_token)).status, 200);
    });
  }
});

test('the app is told of the end, once', async () => {
  await server.deliverNotices();
  const at = await visit();
  const before = receiver.received.length;
  await signOut(at);
  await server.deliverNotices();
  const told = receiver.received.slice(before).map((received) => claimsOf(tokenOf(received)));
  const { sub, sid } = claimsOf(at.bound.tokens.id_token);
  assert.deepEqual(
    told.map((claims) => [claims.sub, claims.sid]),
    [[sub, sid]],
  );
  assert.equal((await admin(server, 'DELETE', `/users/${at.user.id}/sessions`)).status, 204);
  await server.deliverNotices();
  assert.equal(receiver.received.length, before + 2, 'the tokens with offline_access were still in use');
});
