// store: SQLite
/*
 * The examples with a server of their own, as a person uses them: each is started as it stands in examples/, and knows the
 * issuer, its client id, its secret and its port.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { MINUTE } from '../../src/platform/clock.ts';
import { type Agent, type Answer, agent, formOf } from '../support/agent.ts';
import { admin, authorizeUrl, newUser, revokeOnPage, type TestUser, walk } from '../support/flow.ts';
import { startServer, type TestServer } from '../support/server.ts';
import { type RunningExample, startExample } from './example.ts';

interface WebApp {
  readonly file: string;
  readonly callback: string;
  /** Where it shows what UserInfo says. */
  readonly profile: string;
  readonly claims: (shown: string) => Record<string, unknown> | undefined;
  /** What it answers where the person has taken its access away, and where the person denies. */
  readonly revoked: RegExp;
  readonly denied: RegExp;
  readonly signIn: (browser: Agent, origin: string) => Promise<Answer>;
}

const express = {
  callback: '/callback',
  profile: '/profile',
  claims: (shown: string) => JSON.parse(shown),
  revoked: /You are signed out/,
  denied: /You are signed out/,
  signIn: (browser: Agent, origin: string) => browser.get(`${origin}/login`),
};

const APPS: readonly WebApp[] = [
  { ...express, file: 'openid-client.js' },
  { ...express, file: 'oauth4webapi.js' },
  // The strategy sends a person who denied back to the start.
  { ...express, file: 'passport-openidconnect.js', denied: /Sign in/ },
  {
    file: 'auth-core.js',
    callback: '/auth/callback/tessera',
    profile: '/auth/session',
    claims: (shown) => JSON.parse(shown)?.user,
    revoked: /^null$/,
    denied: /Try signing in with a different account/,
    async signIn(browser, origin) {
      const page = await browser.get(`${origin}/auth/signin`);
      const [, csrfToken = ''] = /name="csrfToken" value="(\w+)"/.exec(page.text) ?? [];
      return browser.post(`${origin}/auth/signin/tessera`, { csrfToken }, { origin });
    },
  },
];

let server: TestServer;
let user: TestUser;
const examples = new Map<WebApp, RunningExample>();
before(async () => {
  server = await startServer({ TESSERA_KEY_ROTATION: 'off' });
  // The examples run by the real clock.
  server.advance(Date.now() - server.now());
  user = await newUser(server, { emailVerified: true });
  const start = async (app: WebApp) =>
    examples.set(app, await startExample(server, app.file, { callback: app.callback }));
  await Promise.all(APPS.map(start));
});
after(async () => {
  await Promise.all([...examples.values()].map((example) => example.close()));
  await server.close();
});

/** Time passes, for everybody. */
async function advance(milliseconds: number): Promise<void> {
  server.advance(milliseconds);
  await Promise.all([...examples.values()].map((example) => example.advance(milliseconds)));
}

/** Opens an address and goes where it leads. */
async function open(browser: Agent, address: string): Promise<Answer> {
  let answer = await browser.get(address);
  for (let hop = 0; hop < 5 && answer.location !== undefined; hop++) answer = await browser.get(answer.location.href);
  return answer;
}

for (const app of APPS) {
  describe(app.file, () => {
    const started = (): RunningExample => {
      const example = examples.get(app);
      assert.ok(example !== undefined);
      return example;
    };

    /** From the app's own page to the issuer and back. */
    async function signIn(browser: Agent, decision: 'allow' | 'deny' = 'allow'): Promise<Answer> {
      const { origin, client } = started();
      const sent = await app.signIn(browser, origin);
      assert.equal(sent.location?.origin, server.baseUrl, sent.text);
      const arrived = await walk(browser, sent.location.href, { user, decision });
      assert.ok(arrived.href.startsWith(client.redirectUri), arrived.href);
      return open(browser, arrived.href);
    }
    const readProfile = (browser: Agent): Promise<Answer> => browser.get(started().origin + app.profile);

    async function assertSignedIn(browser: Agent): Promise<void> {
      const answer = await readProfile(browser);
      assert.equal(answer.status, 200, answer.text);
      const claims = app.claims(answer.text);
      assert.deepEqual(
        [claims?.['sub'], claims?.['preferred_username'], claims?.['email'], claims?.['email_verified']],
        [user.id, user.username, `${user.username}@example.com`, true],
      );
    }

    for (const alg of ['RS256', 'HS256']) {
      describe(`ID tokens under ${alg}`, () => {
        before(async () => {
          const change = { idTokenSignedResponseAlg: alg };
          const answer = await admin(server, 'PATCH', `/clients/${started().client.clientId}`, change);
          assert.equal(answer.status, 200, JSON.stringify(answer.body));
        });

        test('signs in, reads UserInfo, and refreshes for as long as the session is used', async () => {
          const browser = agent(server.baseUrl);
          const home = await signIn(browser);
          assert.match(home.text, /Sign out/);
          await assertSignedIn(browser);
          // Each time the access token of the time before has ended, and a refresh token was used up.
          for (let time = 1; time <= 3; time++) {
            await advance(31 * MINUTE);
            await assertSignedIn(browser);
          }
        });

        test('signs out, at the issuer as well', async () => {
          const browser = agent(server.baseUrl);
          await signIn(browser);
          // By then the ID token is one that a refresh brought.
          await advance(31 * MINUTE);
          await assertSignedIn(browser);
          const { origin } = started();
          const home = await browser.get(origin);
          const sent = await browser.post(origin + formOf(home.text).action, {}, { origin });
          assert.equal(sent.location?.origin, server.baseUrl, sent.text);
          let end = await browser.get(sent.location.href);
          // An ID token under the client's secret proves nothing to the issuer, which asks the person.
          if (alg === 'HS256') end = await browser.submit(end, {});
          assert.equal(end.location?.href, `${origin}/`, end.text);
          assert.match((await open(browser, end.location.href)).text, /Sign in/);
          // The next user has to sign in.
          const again = await app.signIn(browser, origin);
          assert.match((await open(browser, again.location?.href ?? '')).text, /action="[^"]*\/login"/);
        });
      });
    }

    test('RFC 9700 §2.1: a response signs in only the browser that made the request', async () => {
      const { origin, client } = started();
      const sent = await app.signIn(agent(server.baseUrl), origin);
      assert.ok(sent.location !== undefined);
      // A response to another request, and one to a request without any of the checks.
      const bare = authorizeUrl(client, { scope: 'openid', state: '' });
      for (const request of [sent.location.href, bare]) {
        const arrived = await walk(agent(server.baseUrl), request, { user });
        const other = agent(server.baseUrl);
        await other.get(arrived.href);
        assert.match((await other.get(origin)).text, /Sign in/);
      }
    });

    test('ends its session where the person takes its access away', async () => {
      const browser = agent(server.baseUrl);
      await signIn(browser);
      await revokeOnPage(browser, started().client);
      assert.match((await readProfile(browser)).text, app.revoked);
      assert.match((await browser.get(started().origin)).text, /Sign in/);
    });

    test('says so where the person denies', async () => {
      const answer = await signIn(agent(server.baseUrl), 'deny');
      assert.match(answer.text, app.denied);
    });
  });
}
