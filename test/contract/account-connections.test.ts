// store: SQLite, PostgreSQL with --all
/** Contract §3, design: the apps that have access, what each may do, and what taking it away has stopped. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { Answer } from '../support/agent.ts';
import {
  admin,
  newClient,
  newUser,
  refresh,
  revokeOnPage,
  signedIn,
  standard,
  type TestClient,
  tokensFor,
  userinfo,
} from '../support/flow.ts';
import { query } from '../support/outcome.ts';
import { startServer } from '../support/server.ts';

const PAGE = '/account/connections';
const pageOf = ({ clientId }: TestClient) => `${PAGE}/${clientId}`;
const ORDERS = 'https://orders.example.com';

const server = await startServer();
after(() => server.close());
const client = await newClient(server, { name: 'Acme Notes', owner: 'Acme Ltd' });
await newClient(server, { name: 'Orders', resource: ORDERS, grantTypes: ['client_credentials'] });
const user = await newUser(server);
const browser = await signedIn(server, user);

const words = ({ text }: Answer): string => text.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ');

test('each app: name, owner, host, what it sees and what not, where it acts, since when and last used', async () => {
  const parameters = { scope: 'openid email phone social', resource: ORDERS };
  await tokensFor(server, client, user, parameters, { browser, allow: ['email'] });
  assert.match(words(await browser.get(PAGE)), /Acme Notes app\.example\.com · Last used on 1 March 2026, 12:00 UTC/);
  const text = words(await browser.get(pageOf(client)));
  assert.match(
    text,
    /Acme Notes app\.example\.com , by Acme Ltd Sees Name Username Picture Email address .* When your account was created Whether your email address is verified /,
  );
  assert.match(text, /Not allowed Phone Social links Can act for you at Orders/);
  assert.match(text, /Since 1 March 2026, 12:00 UTC Last used 1 March 2026, 12:00 UTC/);
  const { items } = (await admin(server, 'GET', `/users/${user.id}/connections`)).body;
  assert.deepEqual(
    [items[0].declinedScopes.toSorted(), items[0].resources, items[0].owner],
    [['phone', 'social'], [{ name: 'Orders', resource: ORDERS, scopes: [], declinedScopes: [] }], 'Acme Ltd'],
  );
});

test('CN-05: the last use is that of the last token, a refresh too; the consent is as old as it was', async () => {
  const person = await newUser(server);
  const own = await signedIn(server, person);
  const app = await newClient(server, { name: 'Often Used' });
  const tokens = await tokensFor(server, app, person, {}, { browser: own });
  const connectedAt = new Date(server.now()).toISOString();
  const connection = async () => (await admin(server, 'GET', `/users/${person.id}/connections`)).body.items[0];
  server.advance(60 * 60_000);
  assert.equal((await refresh(server, app, tokens.refresh_token)).status, 200);
  const lastUsedAt = new Date(server.now()).toISOString();
  const { connectedAt: since, lastUsedAt: last } = await connection();
  assert.deepEqual([since, last], [connectedAt, lastUsedAt]);
  const { text } = await own.get(pageOf(app));
  for (const instant of [connectedAt, lastUsedAt]) assert.ok(text.includes(`<time datetime="${instant}">`), instant);
});

test('taken away: the page says when, and how many sign-ins were found dead; again, it says the same', async () => {
  const tokens = await tokensFor(server, client, user, {}, { browser });
  const revokedAt = new Date(server.now()).toISOString();
  const page = await browser.get(PAGE);
  const press = () => browser.submit(page, { client_id: client.clientId }, PAGE);
  const first = await press();
  assert.ok(first.text.includes(`<time datetime="${revokedAt}">`));
  assert.match(words(first), /Acme Notes lost access on .* Access from 2 sign-ins no longer works: we checked/);
  assert.equal((await userinfo(server, tokens.access_token)).status, 403);
  server.advance(60_000);
  const second = await press();
  assert.ok(
    second.text.includes(`<time datetime="${revokedAt}">`),
    'the time at which it ended, not of the second press',
  );
  assert.match(words(second), /Access from 2 sign-ins no longer works/);
  const never = await newClient(server);
  await tokensFor(server, client, user, {}, { browser });
  assert.doesNotMatch(words(await revokeOnPage(browser, never)), /lost access on/);
});

test('a hundred apps: every page is lighter than 50 KiB with all that it loads, and leads to the next', async () => {
  const many = await newUser(server);
  const here = await signedIn(server, many);
  const apps: string[] = [];
  const long = 'Ünïcodé-näme-“of”-an-app-'.repeat(4);
  for (let n = 0; n < 100; n++) {
    apps.push(
      (await newClient(server, { name: `${long.slice(0, 60)} ${n}`, owner: long.slice(0, 60).trim() })).clientId,
    );
  }
  const clientIds = apps.map((id) => `'${id}'`).join(', ');
  await query(
    server,
    `INSERT INTO consent_grant (id, account_id, client_id, scopes, declined_scopes, consent_epoch, created_at, updated_at)
     SELECT id, CAST(? AS BIGINT), id, 'openid email social', 'details phone organization.read', 'e', 0, 0
     FROM client WHERE id IN (${clientIds})`,
    many.id,
  );
  const seen = new Set<string>();
  let address: string | undefined = PAGE;
  while (address !== undefined && seen.size < 200) {
    const page: Answer = await here.get(address);
    assert.ok(Buffer.byteLength(page.text) < 34 * 1024, `${address}: ${Buffer.byteLength(page.text)}`);
    for (const [, id] of page.text.matchAll(/<a id="app-(\d+)"/g)) seen.add(id ?? '');
    address = /<a rel="next" href="([^"]+)"/.exec(page.text)?.[1];
  }
  assert.equal(seen.size, 100);
});

test('decisions §10: an app is one row; at the OIDC endpoints alone it sees only the account’s id', async () => {
  const person = await newUser(server);
  const own = await signedIn(server, person);
  const app = await newClient(server, { name: 'Both Endpoints' });
  const scope = 'openid profile email phone';
  await tokensFor(server, standard(app), person, { scope }, { browser: own, allow: ['email'] });
  const sees = async () => words(await own.get(pageOf(app)));
  assert.match(
    await sees(),
    /Sees Account ID Email address Not allowed Name, username, picture and language Phone Since/,
  );
  await tokensFor(server, app, person, { scope: 'openid social' }, { browser: own });
  assert.match(
    await sees(),
    /Sees Name Username Picture Email address .* Whether your email address is verified Social links Not allowed Phone Since/,
  );
  assert.equal((await own.get(PAGE)).text.split('<a id="app-').length, 2);
  assert.equal((await admin(server, 'GET', `/users/${person.id}/connections`)).body.items.length, 1);
  await revokeOnPage(own, app);
  assert.doesNotMatch((await own.get(PAGE)).text, /<a id="app-/);
});
