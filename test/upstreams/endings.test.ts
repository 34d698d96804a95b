// store: SQLite, PostgreSQL with --all
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type Agent, agent } from '../support/agent.ts';
import {
  admin,
  authorizeUrl,
  newClient,
  redeem,
  refresh,
  standard,
  type Tokens,
  userinfo,
  walk,
} from '../support/flow.ts';
import { query } from '../support/outcome.ts';
import { newestMail } from '../support/recovery.ts';
import { enroll, totpCode } from '../support/second-factor.ts';
import { startServer } from '../support/server.ts';
import type { Members } from '../support/upstream-provider.ts';
import { joinedThrough, newUpstream, type TestUpstream, throughUpstream } from './people.ts';

const server = await startServer({
  TESSERA_MAILBOX: 'on',
  TESSERA_LIMIT_SIGN_UP_ADDRESS: 'off',
  TESSERA_LIMIT_MAIL_RECIPIENT: 'off',
  TESSERA_LIMIT_MAIL_ADDRESS: 'off',
});
let upstream: TestUpstream;
let client: Awaited<ReturnType<typeof newClient>>;
const bound = { scope: 'openid' };
const offline = { scope: 'openid offline_access' };

before(async () => {
  upstream = await newUpstream(server, { signUp: 'anyone' });
  client = standard(await newClient(server));
});
after(async () => {
  await upstream.provider[Symbol.asyncDispose]();
  await server.close();
});

let count = 0;

/** A person with an account, and one more browser for each session at the provider that is named. */
async function newPerson(...sids: readonly string[]) {
  const sub = `person-${++count}`;
  const person = { sub, name: 'Alice', email: `${sub}@upstream.example`, sid: `joined ${sub}` };
  await joinedThrough(server, upstream, { person, username: sub, email: `${sub}@example.com` });
  const browsers: Agent[] = [];
  for (const sid of sids) browsers.push(await again({ ...person, sid }));
  const [row] = await query(server, `SELECT id FROM account WHERE username = '${sub}'`);
  return { sub, person, browsers, id: String(row?.['id']) };
}

async function again(person: Members): Promise<Agent> {
  upstream.provider.person = person;
  const browser = agent(server.baseUrl);
  assert.equal((await throughUpstream(browser, upstream)).location?.pathname, '/account');
  return browser;
}

async function tokens(browser: Agent | undefined, parameters: Record<string, string>): Promise<Tokens> {
  assert.ok(browser !== undefined);
  const target = await walk(browser, authorizeUrl(client, { prompt: 'consent', ...parameters }));
  const { status, body } = await redeem(server, client, target.searchParams.get('code') ?? '');
  assert.equal(status, 200, JSON.stringify(body));
  return body;
}

const isSignedIn = async (browser: Agent | undefined): Promise<boolean> =>
  (await browser?.get('/account'))?.status === 200;
const lives = async ({ access_token, refresh_token }: Tokens): Promise<readonly boolean[]> => [
  (await userinfo(server, access_token, '/oidc/userinfo')).status === 200,
  (await refresh(server, client, refresh_token)).status === 200,
];

const post = (token: string, name = upstream.name) =>
  fetch(`${server.baseUrl}/upstreams/${name}/backchannel-logout`, {
    method: 'POST',
    body: new URLSearchParams({ logout_token: token }),
  });
const logout = async (about: Members): Promise<number> =>
  (await post(await upstream.provider.sign(upstream.provider.logoutClaims(about)))).status;

const DEAD = [false, false];
const ALIVE = [true, true];

describe('what an upstream ends, ends here at once', () => {
  test('a session by its sid: that one, with what is bound to it, and nothing else', async () => {
    const { browsers, id } = await newPerson('sid a', 'sid b');
    const [ended, other] = browsers;
    const [boundTokens, offlineTokens] = [await tokens(ended, bound), await tokens(ended, offline)];
    const others = await tokens(other, bound);
    assert.equal(await logout({ sid: 'sid a' }), 200);
    assert.deepEqual([await isSignedIn(ended), await isSignedIn(other)], [false, true]);
    assert.deepEqual(await lives(boundTokens), DEAD);
    assert.deepEqual(await lives(offlineTokens), ALIVE, 'offline_access outlives the session');
    assert.deepEqual(await lives(others), ALIVE, 'another session at the provider');
    const { body } = await admin(server, 'GET', `/audit-events?type=upstream.sessions_ended&userId=${id}`);
    assert.deepEqual(body.items[0].details, {
      ...{ upstream: upstream.name, upstreamId: upstream.id },
      ...{ sessions: 1, by: 'upstream' },
    });
  });

  test('all sessions of a person by the subject, and of nobody else', async () => {
    const { browsers, sub } = await newPerson('sid c', 'sid d');
    const stranger = await newPerson('sid e');
    const theirs = await Promise.all(browsers.map((browser) => tokens(browser, bound)));
    assert.equal(await logout({ sub }), 200);
    for (const browser of browsers) assert.equal(await isSignedIn(browser), false);
    for (const one of theirs) assert.deepEqual(await lives(one), DEAD);
    assert.equal(await isSignedIn(stranger.browsers[0]), true);
  });

  test('a session that was raised or renewed here since', async () => {
    const { browsers, id } = await newPerson('sid f');
    const [browser] = browsers;
    assert.ok(browser !== undefined);
    // A second factor begins a new generation, and the browser goes on in another session.
    const page = await browser.get('/account/security');
    assert.equal(page.status, 200);
    await enroll(server, { id });
    assert.equal(await logout({ sid: 'sid f' }), 200);
    assert.equal(await isSignedIn(browser), false);
  });

  test('nothing where a sid is named together with another person', async () => {
    const [one, other] = [await newPerson('sid g'), await newPerson('sid h')];
    assert.equal(await logout({ sid: 'sid g', sub: other.sub }), 200);
    assert.deepEqual([await isSignedIn(one.browsers[0]), await isSignedIn(other.browsers[0])], [true, true]);
  });

  test('a sign-in that waits for its second factor', async () => {
    const { person, id } = await newPerson();
    const factor = await enroll(server, { id });
    upstream.provider.person = { ...person, sid: 'sid i' };
    const browser = agent(server.baseUrl);
    assert.equal((await throughUpstream(browser, upstream)).location?.pathname, '/login/verify');
    const page = await browser.get('/login/verify');
    assert.equal(await logout({ sid: 'sid i' }), 200);
    const code = totpCode(factor, server.now());
    assert.equal((await browser.submit(page, { code, with: 'app' }, '/login/verify')).status, 409);
    // Its honest twin: another session at the provider.
    upstream.provider.person = { ...person, sid: 'sid j' };
    const twin = agent(server.baseUrl);
    await throughUpstream(twin, upstream);
    const fields = { code: totpCode(factor, server.now(), 1), with: 'app' };
    const done = await twin.submit(await twin.get('/login/verify'), fields, '/login/verify');
    assert.equal(done.location?.pathname, '/account');
  });

  test('a sign-in whose response is still on the way', async () => {
    const { person, sub } = await newPerson();
    for (const about of [{ sid: 'sid k' }, { sub }]) {
      upstream.provider.person = { ...person, sid: 'sid k' };
      const browser = agent(server.baseUrl);
      const left = await browser.get(`/login/with/${upstream.name}`);
      const callback = upstream.provider.authorize(left.location?.href ?? '');
      assert.equal(await logout(about), 200);
      assert.equal((await browser.get(callback.href)).status, 409, JSON.stringify(about));
    }
    server.advance(2000);
    assert.equal(await isSignedIn(await again({ ...person, sid: 'sid l' })), true, 'a later sign-in');
  });
});

describe('a logout token is refused', () => {
  const refused: readonly (readonly [string, (claims: Members) => Members])[] = [
    ['of another issuer', (claims) => ({ ...claims, iss: 'https://other.example' })],
    ['for another client', (claims) => ({ ...claims, aud: 'another' })],
    ['without its event', (claims) => ({ ...claims, events: {} })],
    ['with a nonce', (claims) => ({ ...claims, nonce: 'one' })],
    ['without a session and a person', ({ sid: _, ...claims }) => claims],
    ['that is old', (claims) => ({ ...claims, iat: Math.floor(server.now() / 1000) - 3600 })],
    ['without an id', ({ jti: _, ...claims }) => claims],
  ];
  test('for what it says, and ends nothing', async () => {
    const { browsers } = await newPerson('sid m');
    for (const [name, change] of refused) {
      const token = await upstream.provider.sign(change(upstream.provider.logoutClaims({ sid: 'sid m' })));
      const answer = await post(token);
      assert.equal(answer.status, 400, name);
      assert.equal(answer.headers.get('cache-control'), 'no-store');
    }
    assert.equal((await post('no token')).status, 400);
    assert.equal((await post('x', 'unknown')).status, 404);
    assert.equal(await isSignedIn(browsers[0]), true);
    assert.equal(await logout({ sid: 'sid m' }), 200, 'its honest twin');
    assert.equal(await isSignedIn(browsers[0]), false);
  });

  test('a second time', async () => {
    const { person } = await newPerson();
    const token = await upstream.provider.sign(upstream.provider.logoutClaims({ sid: 'sid n' }));
    assert.equal((await post(token)).status, 200);
    server.advance(20 * 60_000 - 60_000 * 11);
    const later = await again({ ...person, sid: 'sid o' });
    assert.equal((await post(token)).status, 400);
    assert.equal(await isSignedIn(later), true);
  });

  test('if another provider signed it', async () => {
    const other = await newUpstream(server, { signUp: 'anyone' });
    const { browsers } = await newPerson('sid p');
    const claims = upstream.provider.logoutClaims({ sid: 'sid p' });
    assert.equal((await post(await other.provider.sign(claims))).status, 400);
    assert.equal(
      (await post(await other.provider.sign({ ...claims, iss: other.provider.issuer }), other.name)).status,
      200,
    );
    assert.equal(await isSignedIn(browsers[0]), true, 'the sessions of another provider have other names');
    await other.provider[Symbol.asyncDispose]();
  });
});

describe('an operator disables an upstream', () => {
  test('and nobody signs in through it; sessions go on unless they are ended as well', async () => {
    const mine = await newUpstream(server, { signUp: 'anyone' });
    const person = { sub: 'switched', email: 'switched@upstream.example', sid: 'sid q' };
    const browser = await joinedThrough(server, mine, { person, username: 'switched', email: 'switched@example.com' });
    const offlineTokens = await tokens(browser, offline);
    const left = await agent(server.baseUrl).get(`/login/with/${mine.name}`);
    assert.equal(left.status, 302);
    const off = await admin(server, 'POST', `/upstreams/${mine.id}/disable`, {});
    assert.deepEqual([off.status, off.body.upstream.status, off.body.ended.sessions], [200, 'disabled', 0]);
    assert.equal((await agent(server.baseUrl).get(`/login/with/${mine.name}`)).status, 404);
    assert.equal(await isSignedIn(browser), true);
    const other = agent(server.baseUrl);
    await admin(server, 'POST', `/upstreams/${mine.id}/enable`, {});
    mine.provider.person = { ...person, sid: 'sid r' };
    assert.equal((await throughUpstream(other, mine)).location?.pathname, '/account');
    await admin(server, 'POST', `/upstreams/${mine.id}/disable`, {});
    const logout = await mine.provider.sign(mine.provider.logoutClaims({ sid: 'sid r' }));
    assert.equal((await post(logout, mine.name)).status, 200);
    assert.equal(await isSignedIn(other), false, 'the provider still says that a session is over');
    assert.equal(await isSignedIn(browser), true);
    const ended = await admin(server, 'POST', `/upstreams/${mine.id}/disable`, { endSessions: true });
    assert.deepEqual(ended.body.ended, { users: 1, sessions: 1 });
    assert.equal(await isSignedIn(browser), false);
    assert.deepEqual(await lives(offlineTokens), DEAD, 'all ends, offline_access included');
    assert.equal((await admin(server, 'POST', `/upstreams/${mine.id}/enable`, {})).body.status, 'active');
    assert.deepEqual(await lives(offlineTokens), DEAD, 'nothing revives');
    mine.provider.person = person;
    assert.equal((await throughUpstream(agent(server.baseUrl), mine)).location?.pathname, '/account');
    await mine.provider[Symbol.asyncDispose]();
  });

  test('while a person is away at it', async () => {
    const mine = await newUpstream(server, { signUp: 'anyone' });
    const person = { sub: 'away', email: 'away@upstream.example' };
    await joinedThrough(server, mine, { person, username: 'away', email: 'away@example.com' });
    const browser = agent(server.baseUrl);
    const left = await browser.get(`/login/with/${mine.name}`);
    const callback = mine.provider.authorize(left.location?.href ?? '');
    await admin(server, 'POST', `/upstreams/${mine.id}/disable`, {});
    assert.equal((await browser.get(callback.href)).status, 404);
    assert.equal((await admin(server, 'DELETE', `/upstreams/${mine.id}`)).status, 204);
    assert.deepEqual(await query(server, `SELECT id FROM upstream_identity WHERE upstream_id = ${mine.id}`), []);
    await mine.provider[Symbol.asyncDispose]();
  });

  test('and enables it again: what was under way before begins again, and what ended stays ended', async () => {
    const mine = await newUpstream(server, { signUp: 'anyone' });
    const person = { sub: 'back-again', email: 'back-again@upstream.example' };
    const joined = await joinedThrough(server, mine, {
      person,
      username: 'back-again',
      email: 'back-again@example.com',
    });
    const offlineTokens = await tokens(joined, offline);
    const [row] = await query(server, `SELECT id FROM account WHERE username = 'back-again'`);
    const arrive = async (who: Members) => {
      mine.provider.person = who;
      const browser = agent(server.baseUrl);
      return { browser, back: await throughUpstream(browser, mine) };
    };
    // Four people who are under way: at the provider, before the second factor, on the page for a new account, and before its code.
    const away = agent(server.baseUrl);
    const left = await away.get(`/login/with/${mine.name}`);
    const callback = mine.provider.authorize(left.location?.href ?? '').href;
    const factor = await enroll(server, { id: String(row?.['id']) });
    const half = await arrive(person);
    assert.equal(half.back.location?.pathname, '/login/verify');
    const secondFactor = await half.browser.get('/login/verify');
    const newcomer = await arrive({ sub: 'newcomer-2' });
    const newPage = await newcomer.browser.get(newcomer.back.location?.href ?? '');
    const typing = await arrive({ sub: 'newcomer-3' });
    const fields = { displayName: 'N', username: 'newcomer-3', email: 'newcomer-3@example.com' };
    const path = typing.back.location?.pathname;
    await typing.browser.submit(await typing.browser.get(path ?? ''), fields, path);
    const { code = '' } = await newestMail(server, fields.email, 'verify address');

    await admin(server, 'POST', `/upstreams/${mine.id}/disable`, { endSessions: true });
    await admin(server, 'POST', `/upstreams/${mine.id}/enable`, {});
    assert.equal((await away.get(callback)).status, 400);
    const proof = { code: totpCode(factor, server.now()), with: 'app' };
    assert.equal((await half.browser.submit(secondFactor, proof, '/login/verify')).status, 409);
    const other = { displayName: 'N', username: 'newcomer-2', email: 'newcomer-2@example.com' };
    assert.equal((await newcomer.browser.submit(newPage, other, path)).status, 400);
    await typing.browser.submit(await typing.browser.get('/signup/verify'), { code }, '/signup/verify');
    for (const browser of [joined, away, half.browser, newcomer.browser, typing.browser]) {
      assert.equal(await isSignedIn(browser), false);
    }
    assert.deepEqual(await query(server, `SELECT id FROM account WHERE username LIKE 'newcomer-_'`), []);
    assert.deepEqual(await lives(offlineTokens), DEAD);

    const again = await arrive(person);
    const asked = await again.browser.get('/login/verify');
    const done = { code: totpCode(factor, server.now(), 1), with: 'app' };
    assert.equal((await again.browser.submit(asked, done, '/login/verify')).location?.pathname, '/account');
    await joinedThrough(server, mine, { person: { sub: 'newcomer-3' }, username: 'newcomer-3', email: fields.email });
    await mine.provider[Symbol.asyncDispose]();
  });

  test('an active one is not deleted', async () => {
    assert.equal((await admin(server, 'DELETE', `/upstreams/${upstream.id}`)).status, 409);
  });
});

describe('while a person is on the way', () => {
  test('a logout that comes before the session signs nobody in', async () => {
    const { person } = await newPerson();
    for (const about of [{ sid: 'overtaken' }, { sub: person.sub }]) {
      upstream.provider.person = { ...person, sid: 'overtaken' };
      const browser = agent(server.baseUrl);
      const callback = upstream.provider.authorize(
        (await browser.get(`/login/with/${upstream.name}`)).location?.href ?? '',
      );
      // The provider answers the request for tokens when the logout is done: then the session is about to begin.
      upstream.provider.tricks = {
        async idToken(claims, provider) {
          assert.equal((await post(await provider.sign(provider.logoutClaims(about)))).status, 200);
          return provider.sign(claims);
        },
      };
      await browser.get(callback.href);
      upstream.provider.tricks = {};
      assert.equal(await isSignedIn(browser), false, JSON.stringify(about));
      server.advance(2000);
    }
  });

  test('a logout of everything is remembered for a person who has no account yet', async () => {
    const person = { sub: 'newcomer', email: 'newcomer@upstream.example' };
    upstream.provider.person = person;
    const browser = agent(server.baseUrl);
    const back = await throughUpstream(browser, upstream);
    const page = await browser.get(back.location?.href ?? '');
    const fields = { displayName: 'N', username: 'newcomer', email: 'newcomer@example.com' };
    await browser.submit(page, fields, back.location?.pathname);
    assert.equal(
      (await post(await upstream.provider.sign(upstream.provider.logoutClaims({ sub: person.sub })))).status,
      200,
    );
    const { code = '' } = await newestMail(server, fields.email, 'verify address');
    await browser.submit(await browser.get('/signup/verify'), { code }, '/signup/verify');
    assert.equal(await isSignedIn(browser), false);
    assert.deepEqual(await query(server, `SELECT id FROM account WHERE username = 'newcomer'`), []);
    server.advance(2000);
    await joinedThrough(server, upstream, { person, username: 'newcomer', email: fields.email });
  });

  test('the word of a provider does not last longer by another message', async () => {
    const person = { sub: 'patient', email: 'patient@upstream.example' };
    upstream.provider.person = person;
    const browser = agent(server.baseUrl);
    const back = await throughUpstream(browser, upstream);
    const page = await browser.get(back.location?.href ?? '');
    const fields = { displayName: 'P', username: 'patient', email: 'patient@example.com' };
    await browser.submit(page, fields, back.location?.pathname);
    for (let minutes = 0; minutes < 30; minutes += 10) {
      server.advance(10 * 60_000);
      await browser.submit(await browser.get('/signup/verify'), { action: 'resend' }, '/signup/verify');
    }
    const { code = '' } = await newestMail(server, fields.email, 'verify address');
    const done = await browser.submit(await browser.get('/signup/verify'), { code }, '/signup/verify');
    assert.equal(done.location?.pathname, '/login');
    assert.deepEqual(await query(server, `SELECT id FROM account WHERE username = 'patient'`), []);
  });

  test('a person whom the provider refuses at the next sign-in is not signed in, and stays connected', async () => {
    const { person, id, browsers } = await newPerson('sid before');
    const [before] = browsers;
    assert.ok(before !== undefined);
    const [boundTokens, offlineTokens] = [await tokens(before, bound), await tokens(before, offline)];
    upstream.provider.person = person;
    for (const error of ['access_denied', 'login_required', 'interaction_required', 'account_selection_required']) {
      upstream.provider.tricks = { callback: (parameters) => parameters.set('error', error) };
      const refused = agent(server.baseUrl);
      assert.equal((await throughUpstream(refused, upstream)).status, 400, error);
      assert.equal(await isSignedIn(refused), false);
      // Asked to sign in again for an app, in a browser where they are signed in: no code comes of the session from before.
      const asked = await before.get(authorizeUrl(client, { scope: 'openid', prompt: 'login' }));
      const again = await throughUpstream(before, upstream, asked.location?.search);
      assert.equal(again.status, 400);
      assert.equal((await before.get(`/continue${asked.location?.search}`)).location?.pathname, '/login');
    }
    upstream.provider.tricks = {};
    // The refusal does not say of whom it is, so that it ends nothing: a logout token does.
    assert.equal(await isSignedIn(before), true);
    assert.deepEqual([await lives(boundTokens), await lives(offlineTokens)], [ALIVE, ALIVE]);
    assert.equal((await query(server, `SELECT id FROM upstream_identity WHERE account_id = '${id}'`)).length, 1);
    assert.equal(await isSignedIn(await again(person)), true);
  });
});
