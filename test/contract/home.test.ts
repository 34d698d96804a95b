// store: SQLite, PostgreSQL with --all
/** The page at the base URL: ways to sign in for a stranger, and the apps of the person who is signed in. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Agent, agent } from '../support/agent.ts';
import { admin, authorizeUrl, newClient, newUser, signedIn, type TestClient, walk } from '../support/flow.ts';
import { startServer, type TestServer } from '../support/server.ts';

let server: TestServer;
before(async () => {
  server = await startServer();
});
after(() => server.close());

const withHome = (name: string, fields: Readonly<Record<string, unknown>> = {}): Promise<TestClient> =>
  newClient(server, { name, homepageUrl: `https://${name}.example/start`, ...fields });

/** The apps that the page offers to open, by the hosts of their home pages. */
async function offered(browser: Agent): Promise<readonly string[]> {
  const { status, text } = await browser.get('/');
  assert.equal(status, 200);
  return [...text.matchAll(/<li><a href="https:\/\/([a-z]+)\.example\/start" rel="noreferrer">/g)].map(
    ([, name]) => name ?? '',
  );
}

test('a stranger may sign in or create an account, and gets no cookie', async () => {
  const { text, headers } = await agent(server.baseUrl).get('/');
  assert.match(text, /<a class="button primary" href="[^"]*\/login">Sign in<\/a>/);
  assert.match(text, /<a class="button" href="[^"]*\/signup">Create an account<\/a>/);
  assert.equal(headers.get('set-cookie'), null);
});

test('nobody is offered an account where only operators create them', async () => {
  const closed = await startServer({ TESSERA_SIGN_UP: 'closed' });
  try {
    const { text } = await agent(closed.baseUrl).get('/');
    assert.match(text, /\/login">Sign in</);
    assert.doesNotMatch(text, /\/signup/);
  } finally {
    await closed.close();
  }
});

test('a person who is signed in sees who that is, and the apps to open: those in use, and those that were assigned', async () => {
  const user = await newUser(server, { displayName: 'Ada <Lovelace>' });
  const browser = await signedIn(server, user);
  const [used, given, ofGroup, disabled] = await Promise.all([
    withHome('used'),
    withHome('given', { access: 'assigned' }),
    withHome('group', { access: 'assigned' }),
    withHome('disabled'),
    withHome('unused'),
    withHome('foreign', { access: 'assigned' }),
  ]);
  const bare = await newClient(server, { name: 'bare' });
  for (const client of [used, disabled, bare]) await walk(browser, authorizeUrl(client), { user });
  await admin(server, 'PATCH', `/clients/${disabled.clientId}`, { status: 'disabled' });
  const assign = (client: TestClient, to: object) =>
    admin(server, 'POST', `/clients/${client.clientId}/assignments`, to);
  await assign(given, { userId: user.id });
  const group = (await admin(server, 'POST', '/groups', { name: 'staff' })).body;
  await admin(server, 'PUT', `/groups/${group.id}/members/${user.id}`);
  await assign(ofGroup, { groupId: group.id });

  assert.deepEqual(await offered(browser), ['given', 'group', 'used']);
  const { text } = await browser.get('/');
  assert.match(text, /You are signed in as <bdi>Ada &lt;Lovelace&gt;<\/bdi>\./);

  await admin(server, 'DELETE', `/groups/${group.id}/members/${user.id}`);
  await admin(server, 'DELETE', `/users/${user.id}/connections/${used.clientId}`);
  assert.deepEqual(await offered(browser), ['given']);
});

test('an ended session shows the page of a stranger', async () => {
  const user = await newUser(server);
  const browser = await signedIn(server, user);
  await admin(server, 'DELETE', `/users/${user.id}/sessions`);
  const { status, text } = await browser.get('/');
  assert.equal(status, 200);
  assert.match(text, /\/login">Sign in</);
  assert.doesNotMatch(text, new RegExp(user.username));
});
