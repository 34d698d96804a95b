// store: SQLite, PostgreSQL
/** Decisions §11: the last owner of an organization stays, whoever acts there: only operators of the installation take them out. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { operatorInBrowser, signInOnCommandLine } from '../support/command-line.ts';
import { admin, newUser } from '../support/flow.ts';
import { startServer } from '../support/server.ts';

const server = await startServer({ TESSERA_MAILBOX: 'on' });
after(() => server.close());

async function ok(method: string, path: string, body?: object, key?: string) {
  const answer = await admin(server, method, path, body, key);
  assert.ok(answer.status < 300, `${method} ${path} ${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body;
}

let names = 0;
/** An owner of a new organization, who acts by the command line. */
async function owned() {
  const { id } = await ok('POST', '/organizations', { name: `acme${++names}`, domain: 'acme.example' });
  const owner = await operatorInBrowser(server);
  const path = `/organizations/${id}/members/${owner.user.id}`;
  await ok('PUT', path, { role: 'OWNER' });
  return { id: String(id), path, token: await signInOnCommandLine(server, owner) };
}

test('a key of the last owner does not take the owner out of the organization, nor the role away', async () => {
  const { id, path, token } = await owned();
  const fields = { name: 'mine', role: 'owner', organizationId: id };
  const { adminKey } = await ok('POST', '/admin-keys', fields, token);
  assert.equal((await admin(server, 'DELETE', path, undefined, adminKey)).status, 409);
  assert.equal((await admin(server, 'PUT', path, { role: 'MEMBER' }, adminKey)).status, 409);
  await ok('DELETE', path);
});

test('an owner does not leave while the other owner is banned, and does when the ban is lifted', async () => {
  const { id, path, token } = await owned();
  const other = await newUser(server);
  await ok('PUT', `/organizations/${id}/members/${other.id}`, { role: 'OWNER' });
  await ok('PUT', `/users/${other.id}/ban`, {});
  assert.equal((await admin(server, 'DELETE', path, undefined, token)).status, 409);
  await ok('DELETE', `/users/${other.id}/ban`);
  await ok('DELETE', path, undefined, token);
});
