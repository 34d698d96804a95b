// store: SQLite, PostgreSQL with --all
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { type Agent, type Answer, agent } from '../support/agent.ts';
import {
  admin,
  authorizeUrl,
  claimsOf,
  newClient,
  newUser,
  PASSWORD,
  redeem,
  signedIn,
  type TestUser,
  walk,
} from '../support/flow.ts';
import { assertErrorRedirect, codeOf, countRows, MINUTE, parametersOf, settle } from '../support/outcome.ts';
import { startServer } from '../support/server.ts';

// OpenID Connect Core 1.0 §3.1.2.1, decisions §§2–3, AZ-12: what `prompt` asks for, in every state of a browser.

const server = await startServer();
after(() => server.close());
const client = await newClient(server);
const user = await newUser(server);

async function consented(): Promise<{ browser: Agent; user: TestUser }> {
  const signedInUser = await newUser(server);
  const browser = await signedIn(server, signedInUser);
  await walk(browser, authorizeUrl(client, { scope: 'openid email' }), { allow: ['email'] });
  return { browser, user: signedInUser };
}

const browsers: Record<string, () => Promise<Agent>> = {
  anonymous: async () => agent(server.baseUrl),
  'an unknown session': async () => {
    const browser = agent(server.baseUrl);
    browser.setCookie('tessera_session', 'A'.repeat(43));
    return browser;
  },
  'signed in': async () => signedIn(server, await newUser(server)),
  consented: async () => (await consented()).browser,
  revoked: async () => {
    const { browser, user: signedInUser } = await consented();
    await admin(server, 'DELETE', `/users/${signedInUser.id}/connections/${client.clientId}`);
    return browser;
  },
  banned: async () => {
    const { browser, user: signedInUser } = await consented();
    await admin(server, 'PUT', `/users/${signedInUser.id}/ban`, {});
    return browser;
  },
  suspended: async () => {
    const { browser, user: signedInUser } = await consented();
    await admin(server, 'PUT', `/users/${signedInUser.id}/suspension`, {});
    return browser;
  },
  'was banned': async () => {
    const { browser, user: signedInUser } = await consented();
    await admin(server, 'PUT', `/users/${signedInUser.id}/ban`, {});
    await admin(server, 'DELETE', `/users/${signedInUser.id}/ban`);
    return browser;
  },
};

const PROMPTS = ['', 'none', 'login', 'consent', 'select_account', 'login consent'] as const;
type Outcome =
  | 'login page'
  | 'consent page'
  | 'code'
  | `${string}_required`
  | 'Account banned'
  | 'Account is suspended';
const always = (outcome: Outcome): readonly Outcome[] => PROMPTS.map(() => outcome);

/** One outcome for each of {@link PROMPTS}. */
const expected: Record<string, readonly Outcome[]> = {
  anonymous: always('login page').with(1, 'login_required'),
  'an unknown session': always('login page').with(1, 'login_required'),
  'signed in': ['consent page', 'consent_required', 'login page', 'consent page', 'login page', 'login page'],
  consented: ['code', 'code', 'login page', 'consent page', 'login page', 'login page'],
  // CN-07: after a revocation nothing is answered without the page.
  revoked: ['consent page', 'consent_required', 'login page', 'consent page', 'login page', 'login page'],
  banned: always('Account banned'),
  suspended: always('Account is suspended'),
  'was banned': always('login page').with(1, 'login_required'),
};

function outcomeOf(answer: Answer): string {
  assert.equal(answer.status, 302);
  const location = answer.location as URL;
  if (location.origin === new URL(server.baseUrl).origin) {
    assert.match(location.search, /^\?request=[A-Za-z0-9_-]{43,}$/);
    return `${location.pathname.slice(1)} page`;
  }
  if (location.searchParams.has('code')) return 'code';
  const error = location.searchParams.get('error') ?? '';
  const description = location.searchParams.get('error_description') ?? '';
  const ours = error === 'access_denied' ? { description } : {};
  assertErrorRedirect(answer, { error, state: 'st4te', to: client.redirectUri, ...ours }, server);
  return error === 'access_denied' ? description : error;
}

for (const [state, outcomes] of Object.entries(expected)) {
  for (const [index, prompt] of PROMPTS.entries()) {
    test(`AZ-12: ${state}, prompt=${prompt}: ${outcomes[index]}`, async () => {
      const browser = await (browsers[state] as () => Promise<Agent>)();
      const before = await countRows(server, 'interaction');
      const answer = await browser.get(authorizeUrl(client, { scope: 'openid email', ...(prompt && { prompt }) }));
      assert.equal(outcomeOf(answer), outcomes[index]);
      const pending = outcomes[index]?.endsWith('page') ? 1 : 0;
      assert.equal(
        (await countRows(server, 'interaction')) - before,
        pending,
        'a pending request is kept for a page alone',
      );
    });
  }
}

test('decisions §2: prompt=none with a scope that was never asked is consent_required', async () => {
  const { browser } = await consented();
  const ask = (scope: string) => browser.get(authorizeUrl(client, { scope, prompt: 'none' }));
  assert.equal(outcomeOf(await ask('openid email phone')), 'consent_required');
  assert.equal(outcomeOf(await ask('openid email')), 'code');
});

test('AZ-13: prompt=login needs the password anew, gives a later auth_time, and nothing leads around it', async () => {
  const { browser, user: signedInUser } = await consented();
  const first = await redeem(server, client, codeOf(await browser.get(authorizeUrl(client))));
  server.advance(5 * MINUTE);
  const pending = await browser.get(authorizeUrl(client, { prompt: 'login' }));
  // The next page, asked for too early, and its form, sent too early, lead back to the sign-in.
  const skipped = await browser.get(`/consent${pending.location?.search}`);
  assert.equal(skipped.location?.href, pending.location?.href);
  const handle = pending.location?.searchParams.get('request') ?? '';
  const forced = await browser.post('/consent', { request: handle, decision: 'allow', form_token: 'x' });
  assert.equal(forced.location?.href, pending.location?.href);
  const page = await browser.get(pending.location?.href ?? '');
  const wrong = await browser.submit(page, { identifier: signedInUser.username, password: 'not the password' });
  assert.equal(wrong.status, 401);
  const answer = await browser.submit(page, { identifier: signedInUser.username, password: PASSWORD });
  assert.equal(answer.status, 303);
  const second = await redeem(server, client, codeOf(answer));
  const [before, after] = [first, second].map(({ body }) => claimsOf(body.id_token).auth_time as number);
  assert.equal(after, Math.floor(server.now() / 1000));
  assert.ok((before ?? 0) <= (after ?? 0) - 300);
});

test('AZ-13: prompt=login is content with another person, who is asked for consent', async () => {
  const { browser } = await consented();
  const page = await settle(browser, server, await browser.get(authorizeUrl(client, { prompt: 'login' })));
  const answer = await browser.submit(page, { identifier: user.username, password: PASSWORD });
  assert.equal(answer.location?.pathname, '/consent');
});

test('contract §4.1: prompt=login consent asks for both, once', async () => {
  const { browser, user: signedInUser } = await consented();
  const page = await settle(browser, server, await browser.get(authorizeUrl(client, { prompt: 'login consent' })));
  const toConsent = await browser.submit(page, { identifier: signedInUser.username, password: PASSWORD });
  assert.equal(toConsent.location?.pathname, '/consent');
  const consent = await settle(browser, server, toConsent);
  const answer = await browser.submit(consent, { decision: 'allow' }, '/consent');
  const { code, ...rest } = parametersOf(answer.location);
  assert.ok(code);
  assert.deepEqual(rest, { state: 'st4te', iss: server.baseUrl });
});
