// store: SQLite, PostgreSQL with --all
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { type Agent, type Answer, agent, formOf } from '../support/agent.ts';
import {
  authorizeUrl,
  newClient,
  newUser,
  PASSWORD,
  redeem,
  signedIn,
  type TestUser,
  userinfo,
  walk,
} from '../support/flow.ts';
import { assertStaysHere, codeOf, countRows, MINUTE, settle } from '../support/outcome.ts';
import { startServer } from '../support/server.ts';

// Decisions §3, CN-08: a second submit of the same form ends where the first did, and never in a second code.

const server = await startServer();
after(() => server.close());
const client = await newClient(server);

const open = async (browser: Agent, parameters: Readonly<Record<string, string>> = {}) =>
  settle(browser, server, await browser.get(authorizeUrl(client, parameters)));

interface Form {
  readonly browser: Agent;
  readonly page: Answer;
  readonly fields: Readonly<Record<string, string>>;
  readonly action: string;
}

/** A person who has consented, so that a sign-in leads straight to the client. */
async function known(): Promise<TestUser> {
  const user = await newUser(server);
  await walk(await signedIn(server, user), authorizeUrl(client));
  return user;
}

let names = 0;
/** Forms that end at the client, with a code or an error. */
const forms: Record<string, () => Promise<Form>> = {
  'a sign-in with consent on record': async () => {
    const browser = agent(server.baseUrl);
    const user = await known();
    const fields = { identifier: user.username, password: PASSWORD };
    return { browser, page: await open(browser), fields, action: '/login' };
  },
  'a sign-in asked for by prompt=login': async () => {
    const user = await known();
    const browser = await signedIn(server, user);
    const fields = { identifier: user.username, password: PASSWORD };
    return { browser, page: await open(browser, { prompt: 'login' }), fields, action: '/login' };
  },
  'a first consent': async () => {
    const browser = await signedIn(server, await newUser(server));
    const page = await open(browser, { scope: 'openid email' });
    return { browser, page, fields: { decision: 'allow', 'allow email': 'on' }, action: '/consent' };
  },
  'a consent asked for by prompt=consent': async () => {
    const browser = await signedIn(server, await known());
    return {
      browser,
      page: await open(browser, { prompt: 'consent' }),
      fields: { decision: 'allow' },
      action: '/consent',
    };
  },
  'a refusal': async () => {
    const browser = await signedIn(server, await newUser(server));
    return { browser, page: await open(browser), fields: { decision: 'deny' }, action: '/consent' };
  },
};

const send = ({ browser, page, fields, action }: Form) => browser.submit(page, fields, action);

/** Where a submit ends, by way of our own pages if need be. */
async function endOf(form: Form, answer: Answer): Promise<string> {
  const { status, location, text } = await settle(form.browser, server, answer);
  const address = location?.href ?? '';
  assert.ok(address.startsWith(`${client.redirectUri}?`), `${status} ${address} ${text.slice(0, 900)}`);
  return address;
}

for (const [name, make] of Object.entries(forms)) {
  test(`decisions §3: ${name}, submitted again, ends where the first submit did`, async () => {
    const form = await make();
    const codes = await countRows(server, 'authorization_code');
    const first = await endOf(form, await send(form));
    const second = await endOf(form, await send(form));
    assert.equal(second, first);
    assert.equal(await endOf(form, await send(form)), first);
    assert.equal((await countRows(server, 'authorization_code')) - codes, first.includes('code=') ? 1 : 0);
  });

  test(`decisions §3: ${name}, submitted five times at once, ends in one place`, async () => {
    const form = await make();
    const codes = await countRows(server, 'authorization_code');
    const answers = await Promise.all(Array.from({ length: 5 }, () => send(form)));
    for (const { status } of answers) assert.equal(status, 303);
    const ends = await Promise.all(answers.map((answer) => endOf(form, answer)));
    assert.equal(new Set(ends).size, 1, ends.join('\n'));
    assert.equal((await countRows(server, 'authorization_code')) - codes, ends[0]?.includes('code=') ? 1 : 0);
  });

  if (name !== 'a refusal') {
    test(`decisions §3: ${name}: after its code was redeemed a second submit shows a page and revokes nothing`, async () => {
      const form = await make();
      const tokens = await redeem(server, client, codeOf(await settle(form.browser, server, await send(form))));
      assert.equal(tokens.status, 200);
      const codes = await countRows(server, 'authorization_code');
      const again = await settle(form.browser, server, await send(form));
      assertStaysHere(again, 409);
      assert.doesNotMatch(again.text, /code=/);
      const handle = formOf(form.page.text, form.action).hidden['request'];
      for (const path of ['/login', '/consent', '/signup']) {
        assertStaysHere(await form.browser.get(`${path}?request=${handle}`), 409);
      }
      assert.equal(await countRows(server, 'authorization_code'), codes);
      assert.equal((await userinfo(server, tokens.body.access_token)).status, 200);
    });

    test(`decisions §3: ${name}: after its code expired a second submit is a page`, async () => {
      const form = await make();
      codeOf(await settle(form.browser, server, await send(form)));
      server.advance(MINUTE);
      const codes = await countRows(server, 'authorization_code');
      assertStaysHere(await settle(form.browser, server, await send(form)), 409);
      assert.equal(await countRows(server, 'authorization_code'), codes);
    });
  }
}

async function signUp(): Promise<Form> {
  const browser = agent(server.baseUrl);
  const login = await browser.get(authorizeUrl(client));
  const page = await browser.get(`/signup${login.location?.search}`);
  const username = `newcomer${++names}`;
  const fields = { displayName: 'New', username, email: `${username}@example.com`, password: 'a passphrase of mine' };
  return { browser, page, fields, action: '/signup' };
}

test('decisions §3: a sign-up submitted again makes one account and goes on with its request', async () => {
  const form = await signUp();
  const accounts = await countRows(server, 'account');
  const first = await send(form);
  assert.deepEqual([first.status, first.location?.pathname], [303, '/consent']);
  const second = await send(form);
  assert.deepEqual([second.status, second.location?.href], [303, first.location?.href]);
  assert.equal((await countRows(server, 'account')) - accounts, 1);
  const consent = await settle(form.browser, server, second);
  const end = codeOf(await form.browser.submit(consent, { decision: 'allow' }, '/consent'));
  const third = await settle(form.browser, server, await send(form));
  assert.equal(codeOf(third), end);
});

test('decisions §3: a sign-up submitted five times at once makes one account, and all go on', async () => {
  const form = await signUp();
  const accounts = await countRows(server, 'account');
  const answers = await Promise.all(Array.from({ length: 5 }, () => send(form)));
  assert.deepEqual(
    answers.map(({ status }) => status),
    Array(5).fill(303),
  );
  assert.equal(new Set(answers.map(({ location }) => location?.href)).size, 1);
  assert.equal((await countRows(server, 'account')) - accounts, 1);
  assert.equal((await settle(form.browser, server, answers[0] as Answer)).status, 200);
});

test('decisions §3: allowing and refusing at once ends in one of the two, for both', async () => {
  const browser = await signedIn(server, await newUser(server));
  const page = await open(browser);
  const answers = await Promise.all(
    ['allow', 'deny', 'allow', 'deny'].map((decision) => browser.submit(page, { decision }, '/consent')),
  );
  const form = { browser, page, fields: {}, action: '/consent' };
  const ends = await Promise.all(answers.map((answer) => endOf(form, answer)));
  assert.equal(new Set(ends).size, 1, ends.join('\n'));
});
