// store: SQLite, PostgreSQL
/** A key that a person made is refused while the person's account is barred, and ends with the account. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { act, newOperator } from '../support/console.ts';
import { admin } from '../support/flow.ts';
import { query } from '../support/outcome.ts';
import { startServer } from '../support/server.ts';

const server = await startServer();
after(() => server.close());

/** An operator, a key that they made, and one that was made with it. */
async function newMaker() {
  const maker = await newOperator(server, 'admin');
  const page = await act(server, maker, '/console/keys/new', {}, { name: 'Left behind', role: 'admin' });
  const own = /tak_[\w-]+/.exec(page.text)?.[0] ?? '';
  const made = await admin(server, 'POST', '/admin-keys', { name: 'In turn', role: 'admin' }, own);
  const statuses = async () => [await statusWith(own), await statusWith(made.body.adminKey)];
  assert.deepEqual(await statuses(), [200, 200]);
  return { id: maker.id, statuses };
}
const statusWith = async (key: string): Promise<number> =>
  (await admin(server, 'GET', '/users', undefined, key)).status;

for (const [barred, method, path] of [
  ['banned', 'PUT', 'ban'],
  ['suspended', 'PUT', 'suspension'],
] as const) {
  test(`the keys of a ${barred} person are refused until that is lifted`, async () => {
    const { id, statuses } = await newMaker();
    assert.equal((await admin(server, method, `/users/${id}/${path}`, {})).status, 200);
    assert.deepEqual(await statuses(), [401, 401]);
    await admin(server, 'DELETE', `/users/${id}/${path}`);
    assert.deepEqual(await statuses(), [200, 200]);
  });
}

test('the keys of a deleted person are revoked', async () => {
  const { id, statuses } = await newMaker();
  assert.equal((await admin(server, 'DELETE', `/users/${id}`)).status, 204);
  assert.deepEqual(await statuses(), [401, 401]);
  const keys = (await admin(server, 'GET', '/admin-keys?limit=100')).body.items;
  const { status } = keys.findLast(({ name }: { name: string }) => name === 'In turn');
  assert.equal(status, 'revoked');
});

/** Somebody who made an owner's key, and is an admin now. */
async function formerOwner() {
  const maker = await newOperator(server, 'owner');
  const page = await act(server, maker, '/console/keys/new', {}, { name: 'Of an owner', role: 'owner' });
  const key = /tak_[\w-]+/.exec(page.text)?.[0] ?? '';
  await admin(server, 'PUT', `/users/${maker.id}/roles/support`, {});
  // Of two owners, one may lose the role.
  await newOperator(server, 'owner');
  const { status, body } = await admin(server, 'DELETE', `/users/${maker.id}/roles/owner`);
  assert.equal(status, 200);
  return { id: maker.id, key, keyId: body.made.adminKeys[0].id as string };
}

test('nobody bars the maker of a key that is stronger than they are, or lets them in again', async () => {
  const { id, key, keyId } = await formerOwner();
  const weaker = (await admin(server, 'POST', '/admin-keys', { name: 'Weaker', role: 'admin' })).body.adminKey;
  for (const [method, path] of [
    ['PUT', '/suspension'],
    ['PUT', '/ban'],
    ['PUT', '/deletion'],
    ['DELETE', ''],
  ] as const) {
    const { status, body } = await admin(
      server,
      method,
      `/users/${id}${path}`,
      method === 'PUT' ? {} : undefined,
      weaker,
    );
    assert.deepEqual([status, body.error], [403, 'insufficient_permission'], `${method} ${path}`);
    assert.match(body.error_description, /admin key that this person made/);
    assert.equal(await statusWith(key), 200);
  }
  // Whoever holds as much may; and it is not given back by anybody who holds less.
  assert.equal((await admin(server, 'PUT', `/users/${id}/suspension`, {})).status, 200);
  assert.equal(await statusWith(key), 401);
  assert.equal((await admin(server, 'DELETE', `/users/${id}/suspension`, undefined, weaker)).status, 403);
  await admin(server, 'DELETE', `/users/${id}/suspension`);
  assert.equal(await statusWith(key), 200);
  // What has ended is in nobody's way.
  await admin(server, 'DELETE', `/admin-keys/${keyId}`);
  assert.equal((await admin(server, 'PUT', `/users/${id}/suspension`, {}, weaker)).status, 200);
});

test('with what a weaker operator ends, no account is suspended whose key is stronger', async () => {
  const creator = (await admin(server, 'POST', '/admin-keys', { name: 'Creator', role: 'admin' })).body;
  const created = async (name: string): Promise<string> => {
    const account = { username: name, displayName: name, email: `${name}@example.com` };
    return (await admin(server, 'POST', '/users', account, creator.adminKey)).body.id;
  };
  const [plain, strong] = [await created('barred-plain'), await created('barred-strong')];
  const made = await admin(server, 'POST', '/admin-keys', { name: 'Strong', role: 'owner' });
  await query(server, `UPDATE admin_key SET maker_id = ${strong} WHERE id = ${made.body.id}`);
  const weaker = (await admin(server, 'POST', '/admin-keys', { name: 'Ends', role: 'admin' })).body.adminKey;
  const { status, body } = await admin(server, 'DELETE', `/admin-keys/${creator.id}?endMade=true`, undefined, weaker);
  assert.equal(status, 200);
  const ends = new Map(body.made.accounts.map((one: { userId: string; ends: boolean }) => [one.userId, one.ends]));
  assert.deepEqual([ends.get(plain), ends.get(strong)], [true, false]);
  assert.equal(await statusWith(made.body.adminKey), 200);
});
