// store: SQLite, PostgreSQL with --all
/** What an app can have written without any page: codes of a remembered consent, and refusals of a barred person. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { type Agent, agent } from '../support/agent.ts';
import { admin, authorizeUrl, newClient, newUser, PASSWORD, signedIn, tokensFor } from '../support/flow.ts';
import { assertErrorRedirect, codeOf, countRows, MINUTE, query, settle, storedTexts } from '../support/outcome.ts';
import { startServer } from '../support/server.ts';

/** On PostgreSQL, two nodes share the counts. */
const nodes = process.env['TESSERA_TEST_POSTGRES'] === undefined ? 1 : 2;
const LIMIT = 5;
// Traces are written in the background, and rows are compared here.
const server = await startServer({ TESSERA_LIMIT_AUTHORIZATION: `${LIMIT}/m`, TESSERA_TRACE_RETENTION: 'off' }, nodes);
after(() => server.close());

const DESCRIPTION =
  'too many authorizations for this app in a short time: try again later, and look for a redirect loop in the app';
const tooMany = (to: string, status: 302 | 303 = 302) =>
  ({ error: 'temporarily_unavailable', description: DESCRIPTION, state: 'st4te', status, to }) as const;

/** A person who has allowed an app; the code for that was the first of this minute. */
async function remembered() {
  const [client, user] = [await newClient(server), await newUser(server)];
  const browser = await signedIn(server, user);
  await tokensFor(server, client, user, {}, { browser });
  return { client, user, browser };
}

/** Events of a type about a user, with their details. */
const events = async (type: string, userId: string) =>
  (await query(server, 'SELECT * FROM audit_event WHERE type = ? AND account_id = ? ORDER BY id', type, userId)).map(
    (event) => ({ ...event, details: JSON.parse(String(event['details'])) as unknown }),
  );

test('over the limit of a person and an app the answer is temporarily_unavailable, and nothing more is written', async () => {
  const { client, user, browser } = await remembered();
  for (let n = 1; n < LIMIT; n++) codeOf(await browser.get(authorizeUrl(client, { prompt: 'none' })));
  assertErrorRedirect(await browser.get(authorizeUrl(client)), tooMany(client.redirectUri), server);
  const [exceeded, ...more] = await events('limit.exceeded', user.id);
  assert.deepEqual(more, []);
  assert.deepEqual(exceeded?.details, { limit: 'authorization' });
  const about = exceeded as Record<string, unknown>;
  assert.deepEqual([about['client_id'], about['actor_id']].map(String), [client.clientId, user.id]);

  const before = await storedTexts(server);
  for (const more of [{}, { prompt: 'none' }, { response_mode: 'query' }]) {
    assertErrorRedirect(await browser.get(authorizeUrl(client, more)), tooMany(client.redirectUri), server);
  }
  assert.equal(await storedTexts(server), before, 'not a row has changed');

  const [other, second] = [await newClient(server), await newUser(server)];
  await tokensFor(server, other, user, {}, { browser });
  await tokensFor(server, client, second);
  server.advance(MINUTE);
  codeOf(await browser.get(authorizeUrl(client, { prompt: 'none' })));
});

test('side by side, on every node, there are as many codes as the limit has', async () => {
  const { client, user, browser } = await remembered();
  const browsers = server.nodes.map((node) => {
    const same = agent(server.baseUrl, () => node);
    for (const name of ['tessera_session', 'tessera_browser']) same.setCookie(name, browser.cookie(name) ?? '');
    return same;
  });
  const before = await countRows(server, 'authorization_code');
  const answers = await Promise.all(
    Array.from({ length: 4 * LIMIT }, (_, n) => (browsers[n % browsers.length] as Agent).get(authorizeUrl(client))),
  );
  const codes = answers.filter(({ location }) => location?.searchParams.has('code'));
  assert.equal(codes.length, LIMIT - 1);
  for (const answer of answers) {
    if (!codes.includes(answer)) assertErrorRedirect(answer, tooMany(client.redirectUri), server);
  }
  assert.equal(await countRows(server, 'authorization_code'), before + codes.length);
  assert.equal((await events('authorization.issued', user.id)).length, LIMIT);
  assert.equal((await events('limit.exceeded', user.id)).length, 1);
});

test('a decision on the page counts too; over the limit it is not lost, and may be sent again', async () => {
  const { client, browser } = await remembered();
  const asking = authorizeUrl(client, { prompt: 'consent', scope: 'openid email' });
  const page = await settle(browser, server, await browser.get(asking));
  for (let n = 1; n < LIMIT; n++) codeOf(await browser.get(authorizeUrl(client)));
  const allow = () => browser.submit(page, { decision: 'allow', 'allow email': 'on' }, '/consent');
  assertErrorRedirect(await allow(), tooMany(client.redirectUri, 303), server);
  server.advance(MINUTE);
  codeOf(await allow());
});

for (const [state, path] of [
  ['banned', 'ban'],
  ['suspended', 'suspension'],
] as const) {
  test(`refusals of a ${state} person are recorded once a minute, with how many were left out`, async () => {
    const { client, user, browser } = await remembered();
    assert.equal((await admin(server, 'PUT', `/users/${user.id}/${path}`, {})).status, 200);
    const ask = async () => {
      const refused = await browser.get(authorizeUrl(client, { prompt: 'none' }));
      assert.equal(refused.location?.searchParams.get('error'), 'access_denied');
    };
    // A fresh window: what the other tests had recorded began the present one.
    server.advance(MINUTE);
    for (let n = 0; n < 20; n++) await ask();
    const details = async () => (await events('authorization.refused', user.id)).map((event) => event.details);
    assert.deepEqual(await details(), [{ reason: state }]);
    server.advance(MINUTE);
    await ask();
    assert.deepEqual(await details(), [{ reason: state }, { reason: state, leftOut: 19 }]);
  });

  test(`the right password of a ${state} person counts as a failed sign-in`, async () => {
    const user = await newUser(server);
    await admin(server, 'PUT', `/users/${user.id}/${path}`, {});
    const attempt = async () => {
      const browser = agent(server.baseUrl);
      const page = await browser.get('/login');
      return (await browser.submit(page, { identifier: user.username, password: PASSWORD })).status;
    };
    const statuses: number[] = [];
    for (let n = 0; n < 15; n++) statuses.push(await attempt());
    assert.deepEqual(statuses, [...Array<number>(10).fill(403), ...Array<number>(5).fill(429)]);
    assert.equal((await events('sign_in.failed', user.id)).length, 10);
    assert.equal((await events('limit.exceeded', user.id)).length, 1);
  });
}
