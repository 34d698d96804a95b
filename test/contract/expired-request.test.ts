// store: SQLite, PostgreSQL with --all
/** A page of a sign-in that was left open until the app's request has expired (decisions §3: it lasts an hour). */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { type Agent, type Answer, agent } from '../support/agent.ts';
import { admin, authorizeUrl, newClient, newUser, PASSWORD, signedIn } from '../support/flow.ts';
import { countRows } from '../support/outcome.ts';
import { enroll } from '../support/second-factor.ts';
import { startServer } from '../support/server.ts';

const HOUR = 60 * 60_000;
const HOME = 'https://acme.example/start?a=1';
const STATE = 'a-state-of-long-ago';

const server = await startServer({ TESSERA_TRACE_RETENTION: 'off' });
after(() => server.close());
const client = await newClient(server, { name: 'Acme & Sons', homepageUrl: HOME });

/** The sign-in page for an app, an hour old. */
async function leftOpen(app = client): Promise<{ browser: Agent; page: Answer }> {
  const browser = agent(server.baseUrl);
  const { location } = await browser.get(authorizeUrl(app, { state: STATE }));
  const page = await browser.get(location?.href ?? '');
  server.advance(HOUR);
  return { browser, page };
}

/** Asserts that a page leads to the app's home page, and nothing to its redirect URI. */
function assertNamesApp({ text, location }: Answer, home: string | null = HOME): void {
  assert.equal(location, undefined);
  assert.match(text, /Acme &amp; Sons/);
  assert.equal(/<a class="button primary" href="([^"]+)"/.exec(text)?.[1] ?? null, home);
  assert.match(text, /href="\/account"/);
  assert.ok(!text.includes(STATE) && !text.includes(client.redirectUri), text);
}

test('the right password signs in, and the page says that the request has expired and where to start again', async () => {
  const user = await newUser(server, { displayName: 'Ada <L>' });
  const { browser, page } = await leftOpen();
  const before = await countRows(server, 'authorization_code');
  const answer = await browser.submit(page, { identifier: user.username, password: PASSWORD });
  assert.equal(answer.status, 400, answer.text);
  assertNamesApp(answer);
  assert.match(answer.text, /open for more than an hour/);
  assert.match(answer.text, /You are signed in as <bdi>Ada &lt;L&gt;<\/bdi>/);
  assert.equal((await browser.get('/account')).status, 200);
  assert.equal(await countRows(server, 'authorization_code'), before, 'the request is not taken up again');
});

test('a wrong password is refused as ever, and the right one after it leads to the same page', async () => {
  const user = await newUser(server);
  const { browser, page } = await leftOpen();
  const refused = await browser.submit(page, { identifier: user.username, password: 'wrong' });
  assert.equal(refused.status, 401);
  assert.equal((await browser.get('/account')).status, 302);
  const answer = await browser.submit(refused, { identifier: user.username, password: PASSWORD }, '/login');
  assert.equal(answer.status, 400, answer.text);
  assertNamesApp(answer);
});

test('with a second factor nobody is signed in yet, and the app asks for it again', async () => {
  const user = await newUser(server, { emailVerified: true });
  await enroll(server, user);
  const { browser, page } = await leftOpen();
  const answer = await browser.submit(page, { identifier: user.username, password: PASSWORD });
  assert.equal(answer.status, 400, answer.text);
  assertNamesApp(answer);
  assert.doesNotMatch(answer.text, /You are signed in/);
  assert.equal((await browser.get('/account')).status, 302);
});

test('the consent page names the app, too, and its answer is worth nothing', async () => {
  const browser = await signedIn(server, await newUser(server));
  const { location } = await browser.get(authorizeUrl(client, { state: STATE }));
  const page = await browser.get(location?.href ?? '');
  server.advance(HOUR);
  const before = await countRows(server, 'consent_grant');
  for (const decision of ['allow', 'deny']) {
    const answer = await browser.submit(page, { decision }, '/consent');
    assert.equal(answer.status, 400, answer.text);
    assertNamesApp(answer);
    assert.match(answer.text, /more than an hour old/);
  }
  assert.equal(await countRows(server, 'consent_grant'), before);
});

test('the page of an app that is not open to the person names it, too', async () => {
  const closed = await newClient(server, { name: 'Acme & Sons', homepageUrl: HOME, access: 'assigned' });
  const browser = await signedIn(server, await newUser(server));
  const { location } = await browser.get(authorizeUrl(closed, { state: STATE }));
  const page = await browser.get(location?.href ?? '');
  server.advance(HOUR);
  const answer = await browser.submit(page, {}, '/no-access');
  assert.equal(answer.status, 400, answer.text);
  assertNamesApp(answer);
});

test('the sign-up form names the app, too, and does nothing', async () => {
  const browser = agent(server.baseUrl);
  const begun = await browser.get(authorizeUrl(client, { state: STATE }));
  const page = await browser.get(begun.location?.href.replace('/login', '/signup') ?? '');
  server.advance(HOUR);
  const fields = {
    displayName: 'Eve',
    username: 'eve-late',
    email: 'eve-late@example.com',
    password: 'quartz lamp river',
  };
  const answer = await browser.submit(page, fields, '/signup');
  assert.equal(answer.status, 400);
  assertNamesApp(answer);
  assert.deepEqual((await admin(server, 'GET', '/users?q=eve-late')).body.items, []);
});

test('an app without a home page is named without a link, and a disabled one is not named', async () => {
  const bare = await newClient(server, { name: 'Acme & Sons' });
  const user = await newUser(server);
  const first = await leftOpen(bare);
  const answer = await first.browser.submit(first.page, { identifier: user.username, password: PASSWORD });
  assert.equal(answer.status, 400);
  assertNamesApp(answer, null);
  const second = await leftOpen(bare);
  await admin(server, 'PATCH', `/clients/${bare.clientId}`, { status: 'disabled' });
  const refused = await second.browser.submit(second.page, { identifier: user.username, password: PASSWORD });
  assert.equal(refused.status, 400);
  assert.doesNotMatch(refused.text, /Acme/);
});
