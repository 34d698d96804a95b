// store: SQLite, PostgreSQL
/** A key that a person made is refused while the person's account is barred, and ends with the account. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { act, newOperator } from '../support/console.ts';
import { admin } from '../support/flow.ts';
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
