// store: SQLite, PostgreSQL with --all
/** Decisions §13: the first owner of an installation makes their account by a link. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { makeFirstSetupLink } from '../../src/account-actions/setup/setup.ts';
import { HOUR } from '../../src/platform/clock.ts';
import { SYSTEM_ORIGIN } from '../../src/platform/validation/origin.ts';
import { type Agent, type Answer, agent } from '../support/agent.ts';
import { admin, newUser, PASSWORD, signedIn } from '../support/flow.ts';
import { withData } from '../support/forged-token.ts';
import { query } from '../support/outcome.ts';
import { SEVERAL, startServer, type TestServer } from '../support/server.ts';
import { setupLink } from '../support/setup.ts';

const servers: TestServer[] = [];
after(() => Promise.all(servers.map((server) => server.close())));

/** A server whose operator has said at which address people reach it. */
async function fresh(nodes = 1): Promise<TestServer> {
  const server = await startServer({}, nodes);
  servers.push(server);
  return server;
}
const ADA = { displayName: 'Ada', username: 'ada', email: 'ada@example.com', password: PASSWORD };
const open = (browser: Agent, secret: string): Promise<Answer> => browser.get(`/setup?link=${secret}`);
const send = async (browser: Agent, secret: string, values = ADA): Promise<Answer> =>
  browser.submit(await open(browser, secret), values, '/setup');
const rolesOf = async (server: TestServer, id: string) =>
  (await admin(server, 'GET', `/users/${id}/roles`)).body.items.map(({ role }: { role: string }) => role);
const userOf = async (server: TestServer, username: string) =>
  (
    await admin(
      server,
      'GET',
      `/users/${(await query(server, `SELECT id FROM account WHERE username = '${username}'`))[0]?.['id']}`,
    )
  ).body;

test('whoever opens the link makes the first account, which owns the installation, and is signed in', async () => {
  const server = await fresh();
  const browser = agent(server.baseUrl);
  const secret = await setupLink(server);
  const page = await open(browser, secret);
  assert.equal(page.status, 200);
  assert.equal((await query(server, 'SELECT id FROM account')).length, 0, 'opening it changes nothing');
  assert.equal((await send(browser, secret, { ...ADA, email: 'ada' })).status, 400, 'and neither does a mistake');
  const done = await send(browser, secret);
  assert.equal(done.location?.pathname, '/setup/done');
  const after = await browser.get('/setup/done');
  assert.match(after.text, /You are signed in as ada, the owner of this installation\./);
  assert.match(after.text, /href="\/account\/security"/);
  const { id, emailVerified } = await userOf(server, 'ada');
  assert.equal(emailVerified, true, 'so that a second factor can be set up without mail');
  assert.deepEqual(await rolesOf(server, id), ['owner']);
  const types = (await admin(server, 'GET', `/audit-events?userId=${id}`)).body.items.map(
    ({ type, actor }: { type: string; actor: { type: string } }) => [type, actor.type],
  );
  assert.deepEqual(types.slice(0, 3), [
    ['account.created', 'anonymous'],
    ['operator.role_granted', 'user'],
    ['sign_in.succeeded', 'user'],
  ]);
});

test('a link works once, for an hour, and until a newer one is made', async () => {
  const server = await fresh();
  const first = await setupLink(server);
  const second = await setupLink(server);
  const replaced = await open(agent(server.baseUrl), first);
  assert.equal(replaced.status, 410);
  assert.match(replaced.text, /tessera setup-link/);
  for (const wrong of ['', 'x', 'x'.repeat(43)]) {
    assert.equal((await open(agent(server.baseUrl), wrong)).status, 410, wrong);
  }
  const form = await open(agent(server.baseUrl), second);
  server.advance(HOUR);
  const late = agent(server.baseUrl);
  assert.equal((await open(late, second)).status, 410);
  assert.equal((await late.submit(form, ADA, '/setup')).status, 410);
  assert.equal((await query(server, 'SELECT id FROM account')).length, 0);

  const third = await setupLink(server);
  await send(agent(server.baseUrl), third);
  const owned = await open(agent(server.baseUrl), third);
  assert.equal(owned.status, 410);
  assert.match(owned.text, /This installation has an owner/);
  await assert.rejects(setupLink(server), /has an owner/);
});

test('of several who send the form at the same time one wins, and the others are told', async () => {
  const server = await fresh(SEVERAL);
  const secret = await setupLink(server);
  const pages = await Promise.all(
    Array.from({ length: 6 }, async (_, index) => {
      const browser = agent(server.baseUrl, () => server.nodes[index % server.nodes.length] ?? server.baseUrl);
      return { browser, page: await open(browser, secret) };
    }),
  );
  const answers = await Promise.all(
    pages.map(({ browser, page }, index) =>
      browser.submit(page, { ...ADA, username: `ada${index}`, email: `ada${index}@example.com` }, '/setup'),
    ),
  );
  assert.deepEqual(answers.map(({ status }) => status).sort(), [303, 410, 410, 410, 410, 410]);
  for (const { status, text } of answers) if (status === 410) assert.match(text, /This installation has an owner/);
  assert.equal((await query(server, 'SELECT id FROM account')).length, 1);
  assert.equal((await query(server, 'SELECT id FROM operator_grant')).length, 1);
});

test('an owner who is suspended owns nothing, and an account of another person is not taken over', async () => {
  const server = await fresh();
  const grace = await newUser(server, { email: ADA.email });
  await admin(server, 'PUT', `/users/${grace.id}/roles/owner`, {});
  await assert.rejects(setupLink(server), /has an owner/);
  await query(server, `UPDATE account SET suspended_at = ${server.now()} WHERE id = ${grace.id}`);
  const secret = await setupLink(server);
  const taken = await send(agent(server.baseUrl), secret);
  assert.equal(taken.status, 409);
  assert.match(taken.text, /An account with this email address already exists/);
  assert.equal((await send(agent(server.baseUrl), secret, { ...ADA, email: 'new@example.com' })).status, 303);
});

test('a link ends where somebody is made owner without it, and does not work again when that one is suspended', async () => {
  const server = await fresh();
  const secret = await setupLink(server);
  const grace = await newUser(server);
  await admin(server, 'PUT', `/users/${grace.id}/roles/admin`, {});
  assert.equal((await open(agent(server.baseUrl), secret)).status, 200);
  await admin(server, 'PUT', `/users/${grace.id}/roles/owner`, {});
  await query(server, `UPDATE account SET suspended_at = ${server.now()} WHERE id = ${grace.id}`);
  const late = await open(agent(server.baseUrl), secret);
  assert.notEqual(late.status, 200);
});

test('the page is nobody else’s: the owner’s next steps are shown to an owner who is signed in alone', async () => {
  const server = await fresh();
  const stranger = agent(server.baseUrl);
  assert.equal((await stranger.get('/setup/done')).location?.pathname, '/account');
  const person = await signedIn(server, await newUser(server));
  assert.equal((await person.get('/setup/done')).location?.pathname, '/account');
  const secret = await setupLink(server);
  const form = { link: secret, form_token: 'x'.repeat(43), ...ADA };
  assert.equal((await stranger.post('/setup', form)).status, 400, 'without its token');
  assert.equal((await query(server, 'SELECT id FROM account')).length, 1);
});

test('a start makes a link only where there is neither an account nor an admin key', async () => {
  const server = await fresh();
  const atStart = () => withData(server, (core) => makeFirstSetupLink(core, SYSTEM_ORIGIN));
  assert.match((await atStart()) ?? '', /^[\w-]{43}$/);
  await newUser(server);
  assert.equal(await atStart(), undefined);
  const other = await fresh();
  await admin(other, 'POST', '/admin-keys', { name: 'ci', role: 'auditor' });
  assert.equal(await withData(other, (core) => makeFirstSetupLink(core, SYSTEM_ORIGIN)), undefined);
});
