// store: SQLite, PostgreSQL
/** What a person made as an operator is listed where the account is barred or deleted, goes on without endMade, and ends with it. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { act, newOperator, open, type TestOperator } from '../support/console.ts';
import { admin, newUser } from '../support/flow.ts';
import { startServer } from '../support/server.ts';

const server = await startServer({ TESSERA_LIMIT_ADMIN_KEY: 'off' });
after(() => server.close());
const owner = await newOperator(server, 'owner');

const call = async (method: string, path: string, body?: object, key?: string) => {
  const answer = await admin(server, method, path, body, key);
  assert.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body;
};
const appStatus = async (clientId: string): Promise<string> => (await call('GET', `/clients/${clientId}`)).status;
const userStatus = async (id: string): Promise<string> => (await call('GET', `/users/${id}`)).status;
const works = async (key: string): Promise<boolean> =>
  (await admin(server, 'GET', '/users?limit=1', undefined, key)).status === 200;

let count = 0;
/** An admin who made a key, an app with it, and an account. */
async function newMaker() {
  const maker = await newOperator(server, 'admin');
  const name = `Of maker ${++count}`;
  const page = await act(server, maker, '/console/keys/new', {}, { name, role: 'admin' });
  const adminKey = /tak_[\w-]+/.exec(page.text)?.[0] ?? '';
  const app = await call('POST', '/clients', { name, redirectUris: ['https://app.example/cb'] }, adminKey);
  const username = `by-maker-${count}`;
  const account = await call(
    'POST',
    '/users',
    { username, displayName: 'Made', email: `${username}@example.com` },
    adminKey,
  );
  return { maker, name, adminKey, clientId: app.clientId as string, accountId: account.id as string };
}

const BARS: Readonly<
  Record<string, (maker: TestOperator, endMade: boolean, key?: string) => ReturnType<typeof admin>>
> = {
  'a ban': ({ id }, endMade, key) => admin(server, 'PUT', `/users/${id}/ban?endMade=${endMade}`, {}, key),
  'a suspension': ({ id }, endMade, key) => admin(server, 'PUT', `/users/${id}/suspension?endMade=${endMade}`, {}, key),
  offboarding: ({ id }, endMade, key) => admin(server, 'PUT', `/users/${id}/deletion?endMade=${endMade}`, {}, key),
  'a deletion': ({ id }, endMade, key) => admin(server, 'DELETE', `/users/${id}?endMade=${endMade}`, undefined, key),
};

for (const [how, bar] of Object.entries(BARS)) {
  test(`what a person made is listed with ${how}, and goes on`, async () => {
    const { maker, name, clientId, accountId } = await newMaker();
    const { status, body } = await bar(maker, false);
    assert.equal(status, 200, JSON.stringify(body));
    assert.equal(body.ended, false);
    // The keys of a person who is deleted end with the account in any case.
    assert.deepEqual(
      body.made.adminKeys.map((key: { name: string }) => key.name),
      how === 'a deletion' ? [] : [name],
    );
    assert.deepEqual([await appStatus(clientId), await userStatus(accountId)], ['active', 'active']);
  });

  test(`what a person made, and what that made, ends with ${how}`, async () => {
    const { maker, adminKey, clientId, accountId } = await newMaker();
    assert.equal(await works(adminKey), true);
    const { status, body } = await bar(maker, true);
    assert.equal(status, 200, JSON.stringify(body));
    assert.equal(body.ended, true);
    assert.deepEqual(
      body.made.apps.map((app: { clientId: string }) => app.clientId),
      [clientId],
    );
    assert.deepEqual([await appStatus(clientId), await userStatus(accountId)], ['disabled', 'suspended']);
    if (how === 'a ban') await call('DELETE', `/users/${maker.id}/ban`);
    if (how === 'a suspension') await call('DELETE', `/users/${maker.id}/suspension`);
    assert.equal(await works(adminKey), false, 'also once the person may act again');
  });
}

test('of a person who made nothing, nothing is told', async () => {
  const person = await newUser(server);
  assert.equal((await call('PUT', `/users/${person.id}/suspension`, {})).made, undefined);
  assert.equal((await admin(server, 'DELETE', `/users/${person.id}`)).status, 204);
});

test('the help desk suspends, and neither sees nor ends what the person made', async () => {
  const { maker, name, adminKey, clientId } = await newMaker();
  await call('DELETE', `/users/${maker.id}/roles/admin`);
  const support = await call('POST', '/admin-keys', { name: 'Help desk', role: 'support' });
  const refused = await BARS['a suspension']?.(maker, true, support.adminKey);
  assert.deepEqual([refused?.status, refused?.body.error], [403, 'insufficient_permission']);
  assert.equal(await userStatus(maker.id), 'active');
  // An admin's key would end with it, which is beyond the help desk, until somebody else has ended that.
  const beyond = await BARS['a suspension']?.(maker, false, support.adminKey);
  assert.deepEqual([beyond?.status, beyond?.body.error], [403, 'insufficient_permission']);
  assert.deepEqual([await userStatus(maker.id), await works(adminKey)], ['active', true]);
  const { items } = await call('GET', '/admin-keys?limit=100');
  await call('DELETE', `/admin-keys/${items.find((key: { name: string }) => key.name === name).id}`);
  const { body } = (await BARS['a suspension']?.(maker, false, support.adminKey)) ?? assert.fail();
  assert.deepEqual([body.status, body.made], ['suspended', undefined]);
  assert.deepEqual([await appStatus(clientId), await works(adminKey)], ['active', false]);
});

test('the last owner cannot be barred with what they made', async () => {
  const { status } = await admin(server, 'PUT', `/users/${owner.id}/suspension?endMade=true`, {});
  assert.equal(status, 409);
});

for (const [address, about] of [
  ['/console/people/suspend', {}],
  ['/console/people/ban', {}],
  ['/console/people/offboard', { days: '30' }],
  ['/console/people/delete', {}],
] as const) {
  test(`the console lists what the person made before ${address}, and ends it where that is chosen`, async () => {
    const { maker, name, clientId } = await newMaker();
    const page = await open(server, owner, `${address}?id=${maker.id}`);
    assert.equal(page.status, 200, page.text);
    assert.ok(page.text.includes(name), page.text);
    const typed = { ...about, typed: maker.username, made: 'end' };
    const done = await owner.browser.submit(page, typed, address);
    assert.equal(done.status, 200, done.text);
    assert.match(done.text, /Ended with it/);
    assert.equal(await appStatus(clientId), 'disabled');
  });
}

test('a list of people that are suspended says who made something that goes on', async () => {
  const { maker, clientId } = await newMaker();
  const bulk = '/console/people/bulk';
  const page = await open(server, owner, `${bulk}/new?act=suspend`);
  const preview = await owner.browser.submit(page, { names: maker.username }, `${bulk}/new`);
  const begun = await owner.browser.submit(preview, {}, `${bulk}/start`);
  assert.equal(begun.status, 303, begun.text);
  await server.runBulkActs();
  const done = await owner.browser.get(begun.location?.href ?? '');
  assert.match(done.text, /made as an operator goes on: 1 admin keys and roles/);
  assert.equal(await appStatus(clientId), 'active');
});
