// store: SQLite, PostgreSQL with --all
/** Decisions §11: the last owner of an organization cannot leave it. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { act, newOperator } from '../support/console.ts';
import { admin, newUser } from '../support/flow.ts';
import { startServer } from '../support/server.ts';

const server = await startServer();
after(() => server.close());

const PATH = '/console/organizations';
let count = 0;

/** A person with no role but that of an owner of an organization. */
async function newOwner() {
  const { id } = (await admin(server, 'POST', '/organizations', { name: `last-${++count}`, domain: 'last.example' }))
    .body;
  const owner = await newOperator(server, 'auditor');
  await admin(server, 'DELETE', `/users/${owner.id}/roles/auditor`);
  await put(id, owner.id, 'OWNER');
  return { id: id as string, owner };
}

async function put(organization: string, user: string, role: string): Promise<void> {
  assert.equal((await admin(server, 'PUT', `/organizations/${organization}/members/${user}`, { role })).status, 200);
}

const roleIn = async (organization: string, user: string): Promise<string | null | undefined> =>
  (await admin(server, 'GET', `/organizations/${organization}`)).body.members.find(
    ({ userId }: { userId: string }) => userId === user,
  )?.role;

test('the last owner of an organization can neither leave it nor lower themselves', async () => {
  const { id, owner } = await newOwner();
  const about = { id, user: owner.id };
  assert.equal((await act(server, owner, `${PATH}/remove-member`, about)).status, 409);
  assert.equal((await act(server, owner, `${PATH}/member`, about, { role: 'MEMBER' })).status, 409);
  assert.equal(await roleIn(id, owner.id), 'OWNER');
});

test('an owner of an organization with another owner can leave it', async () => {
  const { id, owner } = await newOwner();
  await put(id, (await newUser(server)).id, 'OWNER');
  assert.equal((await act(server, owner, `${PATH}/remove-member`, { id, user: owner.id })).status, 200);
  assert.equal(await roleIn(id, owner.id), undefined);
});

test('an operator of the installation removes the last owner of an organization', async () => {
  const { id, owner } = await newOwner();
  const operator = await newOperator(server, 'owner');
  assert.equal((await act(server, operator, `${PATH}/remove-member`, { id, user: owner.id })).status, 200);
  assert.equal(await roleIn(id, owner.id), undefined);
});
