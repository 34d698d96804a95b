// store: SQLite, PostgreSQL with --all
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { type Agent, type Answer, agent, formOf } from '../support/agent.ts';
import { authorizeUrl, newClient, newUser, PASSWORD } from '../support/flow.ts';
import { mailsTo } from '../support/mail.ts';
import { SECOND, settle } from '../support/outcome.ts';
import { newPasskey, passkeyOptions, usePasskey } from '../support/passkeys.ts';
import { atSecondStep, enroll, totpCode, typeCode } from '../support/second-factor.ts';
import { startServer } from '../support/server.ts';

// OpenID Connect Core 1.0 §3.1.2.1: what meets prompt=login and max_age=0 is proved for the request, after it was made.

const server = await startServer({ TESSERA_MAILBOX: 'on' });
after(() => server.close());
const client = await newClient(server);

const handleOf = (answer: Answer): string => answer.location?.searchParams.get('request') ?? '';

/** Begins a request that wants a sign-in of its own. */
async function begin(browser: Agent, parameters: Readonly<Record<string, string>>): Promise<string> {
  server.advance(SECOND);
  const answer = await browser.get(authorizeUrl(client, { scope: 'openid', ...parameters }));
  assert.equal(answer.location?.pathname, '/login');
  return handleOf(answer);
}

/** The request still leads to the sign-in page, whichever of its pages is opened. */
async function assertAsks(browser: Agent, handle: string): Promise<void> {
  for (const path of ['/consent', '/login/verify', '/login/come-back']) {
    const answer = await settle(browser, server, await browser.get(`${path}?request=${handle}`));
    assert.match(answer.text, /<form method="post" action="\/login"/, path);
  }
}

for (const parameters of [{ prompt: 'login' }, { max_age: '0' }] as const) {
  describe(`${new URLSearchParams(parameters)} is not met by`, () => {
    test('a password that was typed before, and a code that is typed for the request', async () => {
      const user = await newUser(server);
      const factor = await enroll(server, user);
      const { browser, page } = await atSecondStep(server, user);
      const handle = await begin(browser, parameters);
      const code = totpCode(factor, server.now());
      const { hidden } = formOf(page.text, '/login/verify');
      const moved = await browser.post('/login/verify', { ...hidden, with: 'app', code, request: handle });
      assert.equal(moved.status, 409);
      await assertAsks(browser, handle);
      // The same sign-in, from its first step, for the request.
      const login = await browser.get(`/login?request=${handle}`);
      const first = await browser.submit(login, { identifier: user.username, password: PASSWORD }, '/login');
      assert.equal(first.location?.pathname, '/login/verify');
      const done = await typeCode(browser, await browser.get(first.location?.href ?? ''), code);
      assert.equal(done.location?.pathname, '/consent');
    });

    test('a password that was typed for an earlier request', async () => {
      const user = await newUser(server);
      const factor = await enroll(server, user);
      const browser = agent(server.baseUrl);
      const earlier = await begin(browser, parameters);
      const login = await browser.get(`/login?request=${earlier}`);
      const first = await browser.submit(login, { identifier: user.username, password: PASSWORD }, '/login');
      const page = await browser.get(first.location?.href ?? '');
      const handle = await begin(browser, parameters);
      const { hidden } = formOf(page.text, '/login/verify');
      const code = totpCode(factor, server.now());
      const moved = await browser.post('/login/verify', { ...hidden, with: 'app', code, request: handle });
      assert.equal(moved.status, 409);
      await assertAsks(browser, handle);
    });

    test('a passkey that was used on the page of no request', async () => {
      const user = await newUser(server);
      const authenticator = await newPasskey(server, user.id);
      const browser = agent(server.baseUrl);
      const passkey = authenticator.use(await passkeyOptions(browser, '/login/passkey'));
      const handle = await begin(browser, parameters);
      const login = await browser.get(`/login?request=${handle}`);
      const { hidden } = formOf(login.text, '/login/passkey');
      assert.equal((await browser.post('/login/passkey', { ...hidden, passkey })).status, 401);
      await assertAsks(browser, handle);
      assert.equal((await usePasskey(browser, authenticator, {}, login)).location?.pathname, '/consent');
    });

    test('a sign-up that began before', async () => {
      const username = `early${parameters.prompt ?? ''}`;
      const email = `${username}@example.com`;
      const browser = agent(server.baseUrl);
      const fields = { displayName: 'E', username, email, password: 'quartz lamp river' };
      assert.equal((await browser.submit(await browser.get('/signup'), fields)).status, 303);
      const handle = await begin(browser, parameters);
      const code = (await mailsTo(server, email))[0]?.code ?? '';
      const page = await browser.get(`/signup/verify?request=${handle}`);
      const done = await browser.submit(page, { code }, '/signup/verify');
      assert.equal((await browser.get('/account')).status, 200, 'the person is signed in');
      assert.deepEqual([done.location?.pathname, handleOf(done)], ['/login', handle]);
    });
  });
}
