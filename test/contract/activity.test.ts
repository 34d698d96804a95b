// store: SQLite, PostgreSQL with --all
/** What people see of what happened in their account. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { listActivity, NEWEST_ACTIVITY } from '../../src/audit/activity-store.ts';
import { record } from '../../src/audit/audit.ts';
import { type Agent, agent } from '../support/agent.ts';
import { admin, newClient, newUser, PASSWORD, signedIn, type TestUser, tokensFor } from '../support/flow.ts';
import { withData } from '../support/forged-token.ts';
import { startServer } from '../support/server.ts';

const server = await startServer({ TESSERA_LIMIT_SIGN_IN_ACCOUNT: 'off' });
after(() => server.close());
const PAGE = '/account/activity';
const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0';

const textOf = (html: string): string =>
  html
    .replaceAll(/<\/?bdi>/g, '')
    .replaceAll(/<[^>]+>/g, ' ')
    .replaceAll(/\s+/g, ' ');
/** The entries of a page, without markup. */
const entriesOf = (html: string): string[] =>
  [...html.matchAll(/<li>(?:<svg|<p>).*?<\/li>/gs)].map(([entry]) => textOf(entry));
const entries = async (browser: Agent, address = PAGE) => entriesOf((await browser.get(address)).text);

async function signIn(user: TestUser, password = PASSWORD): Promise<Agent> {
  const browser = agent(server.baseUrl, undefined, { 'user-agent': FIREFOX });
  await browser.submit(await browser.get('/login'), { identifier: user.username, password });
  return browser;
}

test('each event is a sentence with time, browser and network, newest first, and names no identifier', async () => {
  const user = await newUser(server);
  for (const wrong of ['wrong 1', 'wrong 2', 'wrong 3']) await signIn(user, `password ${wrong}`);
  const browser = await signIn(user);
  const client = await newClient(server, { name: 'Acme Notes' });
  await tokensFor(server, client, user, {}, { browser });
  await browser.submit(await browser.get('/account'), { about: 'x' }, '/account/profile');
  await browser.submit(
    await browser.get('/account/connections'),
    { client_id: client.clientId },
    '/account/connections',
  );
  await admin(server, 'DELETE', `/users/${user.id}/sessions/unknown-session-id`);
  await admin(server, 'PATCH', `/users/${user.id}`, { about: 'y' });
  const page = await browser.get(PAGE);
  const found = entriesOf(page.text);
  const expected = [
    /Your profile was changed\. An operator of this service did this\. .* UTC $/,
    /The access of Acme Notes was taken away\./,
    /Your profile was changed\. .* UTC .*Firefox on Linux/,
    /You gave access to Acme Notes\./,
    /You signed in\. .* UTC .*Firefox on Linux, 127\.0\.0\.x/,
    /3 sign-ins failed\. .*first on .*Firefox on Linux, 127\.0\.0\.x/,
    /Your account was created\. An operator of this service did this\. .* UTC $/,
  ];
  const sentences = found.filter((entry) => !/was signed out/.test(entry));
  assert.equal(sentences.length, expected.length, found.join('\n'));
  for (const [index, pattern] of expected.entries()) assert.match(sentences[index] ?? '', pattern);
  const shown = textOf(page.text);
  for (const secret of [user.id, client.clientId, '127.0.0.1']) assert.ok(!shown.includes(secret), secret);
  // Another person sees nothing of it.
  assert.deepEqual(
    (await entries(await signedIn(server, await newUser(server)))).map((entry) => /^[\w ]+\./.exec(entry.trim())?.[0]),
    ['You signed in.', 'Your account was created.'],
  );
});

test('what an operator did is not told as an act of the person, and the operator is named once', async () => {
  const user = await newUser(server);
  const browser = await signIn(user);
  await signIn(user);
  const { body } = await admin(server, 'GET', `/users/${user.id}/sessions`);
  const [newest] = body.items;
  for (const [method, path, sent] of [
    ['DELETE', `sessions/${newest.id}`, undefined],
    ['POST', 'unlock', {}],
    ['PUT', 'deletion', {}],
    ['DELETE', 'deletion', undefined],
    ['DELETE', 'suspension', undefined],
  ] as const) {
    const { status } = await admin(server, method, `/users/${user.id}/${path}`, sent);
    assert.ok(status < 300, `${method} ${path}: ${status}`);
  }
  await browser.submit(await browser.get('/login'), { identifier: user.username, password: PASSWORD });
  const byOperator = / *(.*) An operator of this service did this\./;
  assert.deepEqual(
    (await entries(browser)).flatMap((entry) => byOperator.exec(entry)?.[1] ?? []),
    [
      'The suspension of your account was lifted.',
      'The deletion of your account was canceled.',
      'The deletion of your account was scheduled.',
      'Your account was suspended.',
      'The wait after failed attempts to sign in was ended.',
      'A browser was signed out.',
      'Your account was created.',
    ],
  );
});

test('a filter shows the events of one kind, on each of its pages', async () => {
  const user = await newUser(server);
  const browser = await signIn(user);
  const client = await newClient(server, { name: 'Acme Notes' });
  await tokensFor(server, client, user, {}, { browser });
  const begins = async (kind: string) =>
    (await entries(browser, `${PAGE}?kind=${kind}`)).map((entry) => /^ *([^.]+)\./.exec(entry)?.[1]);
  assert.deepEqual(await begins('sign-ins'), ['You signed in']);
  assert.deepEqual(await begins('account'), ['Your account was created']);
  assert.deepEqual(await begins('apps'), ['You gave access to Acme Notes']);
  assert.deepEqual(await begins('organization'), []);
  assert.equal((await begins('everything')).length, 3, 'an unknown kind is no filter');
  const page = await browser.get(`${PAGE}?kind=apps`);
  assert.match(page.text, /<a href="[^"]*\?kind=apps" aria-current="true">Apps<\/a>/);
  await withData(server, ({ database, clock }) =>
    database.commit(function* many() {
      const origin = { actor: { type: 'user', id: user.id }, address: null, requestId: null } as const;
      for (let index = 0; index < 70; index++) {
        const type = index % 2 === 0 ? 'sign_in.succeeded' : 'account.updated';
        yield* record({ at: clock() + index, type, origin, accountId: user.id });
      }
    }),
  );
  const first = await browser.get(`${PAGE}?kind=sign-ins`);
  const older = /<a rel="next" href="([^"]+)"/.exec(first.text)?.[1] ?? assert.fail('no older ones');
  const second = await entries(browser, older.replaceAll('&amp;', '&'));
  assert.deepEqual([entriesOf(first.text).length, second.length], [30, 6]);
  for (const entry of [...entriesOf(first.text), ...second]) assert.match(entry, /You signed in/);
});

test('pages follow each other by a link that only this account can use', async () => {
  const user = await newUser(server);
  const browser = await signIn(user);
  await withData(server, ({ database, clock }) =>
    database.commit(function* many() {
      const origin = { actor: { type: 'user', id: user.id }, address: null, requestId: null } as const;
      for (let index = 0; index < 70; index++) {
        const type = index % 2 === 0 ? 'sign_in.succeeded' : 'token.refreshed';
        yield* record({ at: clock() + index, type, origin, accountId: user.id });
      }
    }),
  );
  const linkTo = (html: string, label: string): string =>
    new RegExp(`href="([^"]+)">${label}</a>`).exec(html)?.[1] ?? assert.fail(label);
  const first = await browser.get(PAGE);
  const older = linkTo(first.text, 'Older');
  const second = await browser.get(older);
  assert.deepEqual([entriesOf(first.text).length, entriesOf(second.text).length], [30, 7]);
  assert.ok(!second.text.includes('>Older<'));
  assert.equal(new URL(linkTo(second.text, 'Newest'), server.baseUrl).pathname, PAGE);
  const other = await signedIn(server, await newUser(server));
  assert.equal((await entries(other, older)).length, 2, 'the link of another account is that to the first page');
  assert.equal((await entries(other, `${PAGE}?before=1`)).length, 2);
  const inStore = await withData(server, ({ database }) =>
    database.read(() => listActivity({ accountId: user.id, before: NEWEST_ACTIVITY, limit: 100 })),
  );
  assert.equal(inStore.length, 37);
});
