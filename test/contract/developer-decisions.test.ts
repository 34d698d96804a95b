// store: SQLite, PostgreSQL
/** Decisions §12: a developer looks after their apps, and does not decide who may use them. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { admin } from '../support/flow.ts';
import { startServer } from '../support/server.ts';

const server = await startServer({});
after(() => server.close());

const newKey = async (role: string) => {
  const { status, body } = await admin(server, 'POST', '/admin-keys', { name: role, role });
  assert.equal(status, 201);
  return body as { readonly id: string; readonly adminKey: string };
};
const newApp = async (key: string, change = {}) => {
  const app = { name: 'App', redirectUris: ['https://app.example/callback'], ...change };
  const { status, body } = await admin(server, 'POST', '/clients', app, key);
  assert.equal(status, 201);
  return body.clientId as string;
};
const change = async (clientId: string, fields: object, key?: string) =>
  (await admin(server, 'PATCH', `/clients/${clientId}`, fields, key)).status;
const enable = (clientId: string, key?: string) => change(clientId, { status: 'active' }, key);
const disable = (clientId: string, key?: string) => change(clientId, { status: 'disabled' }, key);

test('who may use an app, and whether with a second factor, is not changed by its developer', async () => {
  const { adminKey: developer } = await newKey('developer');
  const clientId = await newApp(developer);
  assert.equal(await change(clientId, { access: 'assigned', requireSecondFactor: true }), 200);
  for (const fields of [{ access: 'everyone' }, { requireSecondFactor: false }, { name: 'B', access: 'everyone' }]) {
    const { status, body } = await admin(server, 'PATCH', `/clients/${clientId}`, fields, developer);
    assert.deepEqual([status, body.error], [403, 'insufficient_permission'], JSON.stringify(fields));
    assert.match(body.error_description, /apps\.assign/);
  }
  // What stays as it was is no decision: a program may send the whole registration.
  assert.equal(await change(clientId, { name: 'C', access: 'assigned', requireSecondFactor: true }, developer), 200);
  const { body } = await admin(server, 'GET', `/clients/${clientId}`);
  assert.deepEqual([body.name, body.access, body.requireSecondFactor], ['C', 'assigned', true]);
  const { body: events } = await admin(server, 'GET', '/audit-events?type=operator.refused');
  assert.equal(events.items[0]?.details.permission, 'apps.assign');
});

test('a developer chooses who may use an app by registering it', async () => {
  const { adminKey: developer } = await newKey('developer');
  const clientId = await newApp(developer, { access: 'assigned', requireSecondFactor: true });
  assert.equal(await change(clientId, { access: 'everyone' }, developer), 403);
});

test('an app that its developer disabled is enabled by its developer; one that another operator disabled is not', async () => {
  const { adminKey: developer } = await newKey('developer');
  const { id, adminKey: other } = await newKey('admin');
  const clientId = await newApp(developer);
  assert.deepEqual([await disable(clientId, developer), await enable(clientId, developer)], [200, 200]);
  assert.deepEqual([await disable(clientId, other), await enable(clientId, developer)], [200, 403]);
  assert.deepEqual([await enable(clientId, other), await disable(clientId, developer)], [200, 200]);
  assert.equal(await enable(clientId, developer), 200);
  // With the key that had enabled an app, the app is disabled: nobody but an operator who decides on it enables it.
  const { adminKey: third } = await newKey('admin');
  assert.deepEqual([await disable(clientId, third), await enable(clientId, other)], [200, 200]);
  assert.equal((await admin(server, 'DELETE', `/admin-keys/${id}?endMade=true`)).status, 200);
  assert.equal(await enable(clientId, developer), 403);
});

test('whoever decides on an app takes over that its developer disabled it, and the developer does not take it back', async () => {
  const { adminKey: developer } = await newKey('developer');
  const { id, adminKey: decider } = await newKey('admin');
  const clientId = await newApp(developer);
  assert.deepEqual([await disable(clientId, developer), await disable(clientId, decider)], [200, 200]);
  // Once more changes nothing about who did it.
  assert.deepEqual([await disable(clientId, developer), await enable(clientId, developer)], [200, 403]);
  const { body } = await admin(server, 'GET', `/audit-events?type=client.disabled&clientId=${clientId}`);
  assert.ok(body.items.some(({ actor }: { actor: { id: string } }) => actor.id === id));
  assert.equal(body.items.length, 2);
  assert.equal(await enable(clientId, decider), 200);
  // The same by the command line, with another change in the same call.
  await disable(clientId, developer);
  assert.equal(await change(clientId, { status: 'disabled', name: 'Closed' }), 200);
  assert.equal(await enable(clientId, developer), 403);
});
