// store: SQLite, PostgreSQL
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { consoleActs } from '../../src/console/acts.ts';
import { actNames, actPath } from '../../src/console/people/acts.ts';
import { newOperator, open } from '../support/console.ts';
import { type PreparedAct, prepareAct, preparedAddress } from '../support/console-acts.ts';
import { admin, newUser, type TestUser } from '../support/flow.ts';
import { startRouted } from './routes.ts';

// Decisions §12: whom admission has judged is who is acted on, whatever else a form of the console names.

const server = await startRouted({ TESSERA_MAILBOX: 'on' });
after(() => server.close());
const operator = await newOperator(server, 'admin');
let names = 0;

const onPerson = async (): Promise<PreparedAct> => ({
  about: { id: (await newUser(server)).id },
  typed: { reason: 'A reason' },
});
async function onMember(): Promise<PreparedAct> {
  const { id } = (await admin(server, 'POST', '/groups', { name: `subjects-${++names}` })).body;
  return { about: { id, user: (await newUser(server)).id }, typed: {} };
}

/** Every act that is about a person, and how it is prepared. */
const ACTS = new Map<string, () => Promise<PreparedAct>>([
  ...consoleActs
    .filter(({ objects }) => objects.person !== undefined)
    .map(({ address }) => [address, () => prepareAct(address, server, operator.id)] as const),
  ...actNames.map((name) => [actPath(name), onPerson] as const),
  ['/console/groups/add-member', onMember],
  ['/console/groups/remove-member', onMember],
]);

test('every form of the console is about a person, or known to be about something else', () => {
  const others = consoleActs.filter(({ objects }) => objects.person === undefined).map(({ address }) => address);
  // On each person of a list: test/contract/console-bulk.test.ts.
  others.push(
    '/console/people/export',
    '/console/events/export',
    ...['new', 'start', 'stop'].map((name) => `/console/people/bulk/${name}`),
  );
  const unknown = server.routes
    .filter(({ method, url }) => method === 'POST' && url.startsWith('/console/') && !url.startsWith('/console/apps/'))
    .filter(({ url }) => !ACTS.has(url) && !others.includes(url));
  assert.deepEqual(unknown, []);
});

/** Somebody who holds more than the operator. In the organization of an act they are its owner. */
async function newBoss(address: string, { about }: PreparedAct): Promise<TestUser> {
  const boss = await newUser(server);
  await admin(server, 'PUT', `/users/${boss.id}/roles/owner`, {});
  if (address.startsWith('/console/organizations/')) {
    await admin(server, 'PUT', `/organizations/${about['id']}/members/${boss.id}`, { role: 'OWNER' });
  }
  if (address === '/console/groups/remove-member') {
    await admin(server, 'PUT', `/groups/${about['id']}/members/${boss.id}`);
  }
  return boss;
}

/** What is stored about a person. */
async function stateOf({ id }: TestUser): Promise<readonly unknown[]> {
  const paths = [`/users/${id}`, `/users/${id}/roles`, `/users/${id}/groups`];
  return Promise.all(paths.map(async (path) => (await admin(server, 'GET', path)).body));
}

for (const [address, prepare] of ACTS) {
  test(`${address} acts on whom its page was about, and on nobody whom a form names beside them`, async () => {
    const prepared = await prepare();
    const boss = await newBoss(address, prepared);
    const before = await stateOf(boss);
    const page = await open(server, operator, preparedAddress(address, prepared));
    assert.equal(page.status, 200, page.text);
    for (const member of [boss.username, boss.id]) {
      const answer = await operator.browser.submit(page, { ...prepared.typed, member }, address);
      assert.ok(answer.status < 500, answer.text);
      assert.ok(!answer.text.includes(boss.username), answer.text);
      assert.deepEqual(await stateOf(boss), before);
    }
  });

  test(`${address} does nothing to somebody who holds more, whose ID was put in its form`, async () => {
    const prepared = await prepare();
    const boss = await newBoss(address, prepared);
    const before = await stateOf(boss);
    const page = await open(server, operator, preparedAddress(address, prepared));
    const field = prepared.about['user'] === undefined ? 'id' : 'user';
    const member = String(prepared.about[field]);
    const answer = await operator.browser.submit(page, { ...prepared.typed, [field]: boss.id, member }, address);
    // Where its page names an app that is not theirs, that is told first.
    assert.ok(answer.status === 403 || (answer.status === 404 && address === actPath('revoke-app')), answer.text);
    assert.deepEqual(await stateOf(boss), before);
  });
}

test('an admin of an organization leaves its owner as they are, and finds nobody outside of it', async () => {
  for (const act of ['member', 'remove-member']) {
    const address = `/console/organizations/${act}`;
    const prepared = await prepareAct(address, server, operator.id);
    const { id = '' } = prepared.about;
    const boss = await newUser(server);
    await admin(server, 'PUT', `/organizations/${id}/members/${boss.id}`, { role: 'OWNER' });
    const one = await newOperator(server, 'auditor');
    await admin(server, 'DELETE', `/users/${one.id}/roles/auditor`);
    await admin(server, 'PUT', `/organizations/${id}/members/${one.id}`, { role: 'ADMIN' });
    const page = await open(server, one, preparedAddress(address, prepared));
    const fields = { member: boss.username, role: 'MEMBER' };
    assert.equal((await one.browser.submit(page, fields, address)).status, 200);
    const { members } = (await admin(server, 'GET', `/organizations/${id}`)).body;
    assert.equal(members.find(({ userId }: { readonly userId: string }) => userId === boss.id)?.role, 'OWNER');
    const outside = await newUser(server);
    for (const query of [`user=${outside.id}`, `member=${outside.username}`]) {
      const answer = await open(server, one, `${address}?id=${id}&${query}`);
      assert.equal(answer.status, 404);
      assert.ok(!answer.text.includes(outside.username) || query.includes(outside.username));
    }
  }
});
