// store: PostgreSQL, SQLite with --all
/** Decisions §12: owners who remove each other at once, and keys and roles that end while something is done with them. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { admin, newUser } from '../support/flow.ts';
import { SEVERAL, spread, startServer } from '../support/server.ts';
import { noFault, times } from './crowd.ts';

const server = await startServer({ TESSERA_LIMIT_ADMIN_KEY: 'off' }, SEVERAL);
after(() => server.close());
const nodes = spread(server);

async function newKey(role: string, by?: string): Promise<{ readonly id: string; readonly secret: string }> {
  const { status, body } = await admin(server, 'POST', '/admin-keys', { name: role, role }, by);
  assert.equal(status, 201, JSON.stringify(body));
  return { id: body.id, secret: body.adminKey };
}

const REMOVALS: readonly (readonly [string, (id: string) => readonly [method: string, path: string, body?: object]])[] =
  [
    ['take the role of', (id) => ['DELETE', `/users/${id}/roles/owner`]],
    ['ban', (id) => ['PUT', `/users/${id}/ban`, {}]],
    ['suspend', (id) => ['PUT', `/users/${id}/suspension`, {}]],
    ['delete', (id) => ['DELETE', `/users/${id}`]],
  ];

/** Those of the round before. */
let earlier: readonly string[] = [];

/** Two people who own the installation, and nobody else. */
async function onlyOwners(): Promise<readonly string[]> {
  const owners = await Promise.all([newUser(server), newUser(server)]);
  const ids = owners.map(({ id }) => id);
  for (const id of ids) await admin(server, 'PUT', `/users/${id}/roles/owner`, {});
  for (const id of earlier) await admin(server, 'DELETE', `/users/${id}/roles/owner`);
  earlier = ids;
  return ids;
}

for (const [index, [name, removal]] of REMOVALS.entries()) {
  test(`of two owners one stays, where one call is to ${name} one of them, and another is about the other`, async () => {
    const other = REMOVALS[(index + 1) % REMOVALS.length]?.[1] ?? removal;
    for (let round = 0; round < 5; round++) {
      const calls = (await onlyOwners()).map((id, which) => (which === 0 ? removal : other)(id));
      const answers = await Promise.all(calls.map(([method, path, body]) => admin(nodes, method, path, body)));
      noFault(answers);
      assert.deepEqual(answers.map(({ status }) => (status < 300 ? 'done' : String(status))).sort(), ['409', 'done']);
    }
  });
}

test('when a key is ended with its maker, nothing that was sent before it changes anything any more', async () => {
  const users = await Promise.all(times(6, () => newUser(server, { password: undefined })));
  for (let round = 0; round < 3; round++) {
    const maker = await newKey('admin');
    const made = await newKey('admin', maker.secret);
    const crowd = users.flatMap(({ id }) =>
      times(5, (n) => admin(nodes, 'PATCH', `/users/${id}`, { about: `${round} ${n}` }, made.secret)),
    );
    await Promise.any(crowd);
    const ended = await admin(nodes, 'DELETE', `/admin-keys/${maker.id}?endMade=true`);
    assert.equal(ended.status, 200, JSON.stringify(ended.body));
    const acts = async () =>
      (await admin(server, 'GET', `/audit-events?limit=200&actorId=${made.id}`)).body.items.length;
    const done = await acts();
    const answers = await Promise.all(crowd);
    noFault(answers);
    assert.equal(await acts(), done);
    assert.equal(answers.filter(({ status }) => status === 200).length, done);
  }
});

test('once a person is stronger than a key, nothing that was sent before it acts on them any more', async () => {
  for (let round = 0; round < 3; round++) {
    const key = await newKey('support');
    const user = await newUser(server, { password: undefined });
    const crowd = times(20, () => admin(nodes, 'PUT', `/users/${user.id}/suspension`, {}, key.secret));
    await Promise.any(crowd);
    assert.equal((await admin(nodes, 'PUT', `/users/${user.id}/roles/auditor`, {})).status, 200);
    const acts = async () =>
      (await admin(server, 'GET', `/audit-events?limit=200&actorId=${key.id}&type=account.suspended`)).body.items
        .length;
    const done = await acts();
    const answers = await Promise.all(crowd);
    noFault(answers);
    assert.equal(await acts(), done);
    assert.ok(answers.every(({ status }) => status === 200 || status === 403));
  }
});
