// store: SQLite, PostgreSQL with --all
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { agent } from '../support/agent.ts';
import { admin, authorizeUrl, newClient } from '../support/flow.ts';
import { mailsTo } from '../support/mail.ts';
import { startServer, type TestServer } from '../support/server.ts';

// Decisions §11: who may join.

const fieldsOf = (username: string, email: string) => ({
  displayName: 'A. Person',
  username,
  email,
  password: 'quartz lamp river',
});

async function withServer(settings: Record<string, string>, run: (server: TestServer) => Promise<void>): Promise<void> {
  const server = await startServer({ TESSERA_CONTACT: 'help@example.com', ...settings });
  try {
    await run(server);
  } finally {
    await server.close();
  }
}

for (const [mode, text] of [
  ['closed', /does not let people create accounts themselves/],
  ['invitation', /Only people with an invitation/],
] as const) {
  test(`${mode}: nobody signs up, and the sign-in page does not offer it`, () =>
    withServer({ TESSERA_SIGN_UP: mode }, async (server) => {
      const browser = agent(server.baseUrl);
      const page = await browser.get('/signup');
      assert.equal(page.status, 403);
      assert.match(page.text, text);
      assert.match(page.text, /mailto:help@example\.com/);
      const login = await browser.get('/login');
      assert.doesNotMatch(login.text, /\/signup/);
      const form_token = /name="form_token" value="([^"]+)"/.exec(login.text)?.[1] ?? '';
      const sent = await browser.post('/signup', { form_token, ...fieldsOf('ada', 'ada@example.com') });
      assert.equal(sent.status, 403);
      assert.deepEqual((await admin(server, 'GET', '/users')).body.items, []);
    }));
}

test('closed: an invitation is for those who have an account, and its page says so', () =>
  withServer({ TESSERA_SIGN_UP: 'closed' }, async (server) => {
    const { id } = (await admin(server, 'POST', '/organizations', { name: 'closed', domain: 'closed.example' })).body;
    const { link } = (await admin(server, 'POST', '/invitations', { organizationId: id })).body;
    const page = await agent(server.baseUrl).get(link);
    assert.match(page.text, /does not let people create accounts themselves/);
    assert.match(page.text, /I already have an account/);
    assert.doesNotMatch(page.text, /\/signup/);
  }));

test('domains: exactly these, proved by mail, and the authorization request goes on after it', () =>
  withServer(
    { TESSERA_SIGN_UP: 'domains', TESSERA_SIGN_UP_DOMAINS: 'Example.com, example.org', TESSERA_MAILBOX: 'on' },
    async (server) => {
      const client = await newClient(server);
      const browser = agent(server.baseUrl);
      const login = await browser.get(authorizeUrl(client));
      const offered = await browser.get(login.location?.href ?? '');
      const signUp = /href="(\/signup\?request=[^"]+)"/.exec(offered.text)?.[1]?.replaceAll('&amp;', '&') ?? '';
      for (const email of ['eve@elsewhere.example', 'eve@mail.example.com', 'eve@example.com.elsewhere.example']) {
        const refused = await browser.submit(await browser.get(signUp), fieldsOf('eve', email));
        assert.equal(refused.status, 400, email);
        assert.match(refused.text, /Use an address that ends in @example\.com or @example\.org\./);
      }
      const begun = await browser.submit(await browser.get(signUp), fieldsOf('ada', 'Ada@Example.org'));
      assert.equal(begun.status, 303);
      const [mail] = await mailsTo(server, 'ada@example.org');
      // The link carries nothing of the request, which is the browser's own.
      const page = await browser.get(mail?.link?.slice(server.baseUrl.length) ?? '');
      const done = await browser.submit(page, {});
      assert.match(done.location?.pathname ?? '', /^\/consent/);
      const [account] = (await admin(server, 'GET', '/users')).body.items;
      assert.deepEqual([account.username, account.emailVerified], ['ada', true]);
    },
  ));

for (const [title, settings, problem] of [
  ['without domains', { TESSERA_SIGN_UP: 'domains', TESSERA_MAILBOX: 'on' }, /TESSERA_SIGN_UP_DOMAINS names none/],
  [
    'without mail',
    { TESSERA_SIGN_UP: 'domains', TESSERA_SIGN_UP_DOMAINS: 'example.com', TESSERA_MAILBOX: 'off' },
    /cannot be verified without mail/,
  ],
  ['with domains in another mode', { TESSERA_SIGN_UP_DOMAINS: 'example.com' }, /Remove it, or set the mode to domains/],
  ['with an unknown mode', { TESSERA_SIGN_UP: 'on' }, /must be one of open, domains, invitation, closed/],
  [
    'with a bad domain',
    { TESSERA_SIGN_UP: 'domains', TESSERA_SIGN_UP_DOMAINS: '*.example.com', TESSERA_MAILBOX: 'on' },
    /TESSERA_SIGN_UP_DOMAINS must be domain names/,
  ],
] as const) {
  test(`a start ${title} is refused`, () => assert.rejects(startServer(settings), problem));
}
