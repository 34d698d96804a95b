// store: SQLite, PostgreSQL with --all
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { act, newOperator, open } from '../support/console.ts';
import { admin, newClient, newUser, type TestUser, tokensFor, userinfo } from '../support/flow.ts';
import { startServer } from '../support/server.ts';

// The console's pages that correct, offboard and delete: decisions §12, §13.

const server = await startServer();
after(() => server.close());
const owner = await newOperator(server, 'owner');
const PATH = '/console/people';
const titleOf = (text: string): string => /<h1>(.*?)<\/h1>/s.exec(text)?.[1]?.replaceAll(/<[^>]+>/g, '') ?? '';
/** All fields of the form, as a browser sends them. */
const fieldsOf = ({ username }: TestUser, typed: Readonly<Record<string, string>>) => ({
  ...{ displayName: 'Somebody', username, email: `${username}@example.com` },
  ...typed,
});
const read = async (id: string) => (await admin(server, 'GET', `/users/${id}`)).body;

test('a name and a username are corrected, and nothing that is signed in ends', async () => {
  const user = await newUser(server, { emailVerified: true });
  const tokens = await tokensFor(server, await newClient(server), user);
  const typed = { displayName: 'Ada Lovelace', username: 'ada.corrected', verified: 'yes' };
  const done = await act(server, owner, `${PATH}/correct`, { id: user.id }, fieldsOf(user, typed));
  assert.match(titleOf(done.text), /Ada Lovelace is saved/);
  const { displayName, username } = await read(user.id);
  assert.deepEqual([displayName, username], ['Ada Lovelace', 'ada.corrected']);
  assert.equal((await userinfo(server, tokens.access_token)).status, 200);
});

test('a decision on the address ends what is signed in', async () => {
  const user = await newUser(server, { emailVerified: true });
  const tokens = await tokensFor(server, await newClient(server), user);
  const typed = { email: `moved-${user.username}@example.com`, verified: 'yes' };
  await act(server, owner, `${PATH}/correct`, { id: user.id }, fieldsOf(user, typed));
  assert.equal((await read(user.id)).email, typed.email);
  assert.ok((await userinfo(server, tokens.access_token)).status >= 400);
});

test('what is wrong or taken is said at its field', async () => {
  const [user, other] = [await newUser(server), await newUser(server)];
  for (const [typed, field] of [
    [{ username: other.username }, 'username'],
    [{ username: 'No Username' }, 'username'],
    [{ displayName: '' }, 'displayName'],
    [{ email: 'no address' }, 'email'],
  ] as const) {
    const page = await act(server, owner, `${PATH}/correct`, { id: user.id }, fieldsOf(user, typed));
    assert.ok([400, 409].includes(page.status), `${field} ${page.status}`);
    assert.match(page.text, new RegExp(`class="problem" id="${field}-note"`), JSON.stringify(typed));
  }
});

test('of two operators who correct at once one does, and the other sees both versions and loses nothing typed', async () => {
  const user = await newUser(server);
  const page = await open(server, owner, `${PATH}/correct?id=${user.id}`);
  await admin(server, 'PATCH', `/users/${user.id}`, { displayName: 'First Come' });
  const late = await owner.browser.submit(page, fieldsOf(user, { displayName: 'Second Come' }), `${PATH}/correct`);
  assert.equal(late.status, 409);
  assert.ok(late.text.includes('First Come') && late.text.includes('value="Second Come"'));
  assert.equal((await read(user.id)).displayName, 'First Come');
  await owner.browser.submit(late, fieldsOf(user, { displayName: 'Second Come' }), `${PATH}/correct`);
  assert.equal((await read(user.id)).displayName, 'Second Come');
});

test('who is offboarded has nothing signed in with the answer, and is deleted on the day', async () => {
  const user = await newUser(server);
  const tokens = await tokensFor(server, await newClient(server), user);
  const done = await act(server, owner, `${PATH}/offboard`, { id: user.id }, { days: '7', reason: 'Left' });
  assert.match(titleOf(done.text), /is offboarded/);
  assert.ok((await userinfo(server, tokens.access_token)).status >= 400);
  const { status, suspension, deletion } = await read(user.id);
  assert.deepEqual([status, suspension.reason], ['suspended', 'Left']);
  assert.equal(Date.parse(deletion.dueAt) - Date.parse(deletion.requestedAt), 7 * 86_400_000);
  assert.match((await owner.browser.get(`${PATH}/${user.id}`)).text, /cancel-deletion/);
});

test('a deletion that was called off leaves the suspension', async () => {
  const user = await newUser(server);
  await act(server, owner, `${PATH}/offboard`, { id: user.id }, { days: '30' });
  const done = await act(server, owner, `${PATH}/cancel-deletion`, { id: user.id });
  assert.match(done.text, /still suspended/);
  const { status, deletion } = await read(user.id);
  assert.deepEqual([status, deletion], ['suspended', null]);
});

test('an account is deleted by who types its username', async () => {
  const user = await newUser(server);
  const wrong = await act(server, owner, `${PATH}/delete`, { id: user.id }, { typed: 'somebody' });
  assert.equal(wrong.status, 400);
  assert.match(wrong.text, /class="problem" id="typed-note"/);
  const done = await act(server, owner, `${PATH}/delete`, { id: user.id }, { typed: user.username });
  assert.match(titleOf(done.text), /is deleted/);
  assert.equal((await admin(server, 'GET', `/users/${user.id}`)).status, 404);
});

test('nobody offboards or deletes their own account in the console, the last owner neither', async () => {
  for (const [name, typed] of [
    ['offboard', { days: '30' }],
    ['delete', { typed: owner.username }],
  ] as const) {
    const address = `${PATH}/${name}`;
    const other = await newUser(server);
    const form = await open(server, owner, `${address}?id=${other.id}`);
    const sent = await owner.browser.submit(form, { ...typed, id: owner.id }, address);
    for (const page of [sent, await open(server, owner, `${address}?id=${owner.id}`)]) {
      assert.equal(page.status, 403, name);
      assert.match(page.text, /You cannot delete this account[\s\S]*on the pages of your account/);
    }
    const record = await open(server, owner, `${PATH}/${owner.id}`);
    assert.ok(!record.text.includes(address), name);
  }
  assert.equal((await read(owner.id)).status, 'active');
});

test('support corrects and deletes nobody, and an admin no owner', async () => {
  const [support, admins, user] = [
    await newOperator(server, 'support'),
    await newOperator(server, 'admin'),
    await newUser(server),
  ];
  const names = ['correct', 'offboard', 'delete'];
  const page = (await support.browser.get(`${PATH}/${user.id}`)).text;
  for (const name of names) {
    assert.ok(!page.includes(`${PATH}/${name}`), name);
    assert.equal((await support.browser.get(`${PATH}/${name}?id=${user.id}`)).status, 403);
    assert.equal((await open(server, admins, `${PATH}/${name}?id=${owner.id}`)).status, 403);
  }
});

test('opening the page of an act on a record is on record, and sending its form adds no second view', async () => {
  const user = await newUser(server);
  const views = async (): Promise<number> => {
    const { items } = (await admin(server, 'GET', `/audit-events?type=account.viewed&userId=${user.id}`)).body;
    return items.length;
  };
  const names = ['correct', 'offboard', 'cancel-deletion', 'delete'];
  for (const [index, name] of names.entries()) {
    const page = await open(server, owner, `${PATH}/${name}?id=${user.id}`);
    assert.equal(await views(), index + 1, name);
    // Refused, and shown again.
    if (name === 'delete') await owner.browser.submit(page, { typed: 'nobody' }, `${PATH}/${name}`);
    assert.equal(await views(), index + 1, name);
  }
});
