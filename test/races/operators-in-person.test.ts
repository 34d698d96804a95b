// store: PostgreSQL, SQLite with --all
/** Decisions §12, §15: what ends the rights of a person who signed in with the command line, while they act on both nodes. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { COMMAND_LINE_ID } from '../../src/clients/rules/command-line.ts';
import { operatorInBrowser, signInOnCommandLine } from '../support/command-line.ts';
import { admin, type JsonAnswer, newUser } from '../support/flow.ts';
import { png } from '../support/images.ts';
import { SEVERAL, spread, startServer } from '../support/server.ts';
import { noFault, times } from './crowd.ts';

const server = await startServer(
  {
    TESSERA_LIMIT_ADMIN_KEY: 'off',
    TESSERA_LIMIT_USER_CODE: 'off',
    TESSERA_LIMIT_USER_CODE_ADDRESS: 'off',
    TESSERA_LIMIT_DEVICE_ADDRESS: 'off',
  },
  SEVERAL,
);
after(() => server.close());
const nodes = spread(server);
const keeper = await newUser(server, { password: undefined });
assert.equal((await admin(server, 'PUT', `/users/${keeper.id}/roles/owner`, {})).status, 200);

const ENDINGS: readonly (readonly [string, (id: string) => readonly [method: string, path: string, body?: object]])[] =
  [
    ['the role', (id) => ['DELETE', `/users/${id}/roles/admin`]],
    ['the role together with what it made', (id) => ['DELETE', `/users/${id}/roles/admin?endMade=true`]],
    ['every session', (id) => ['DELETE', `/users/${id}/sessions`]],
    ['the access of the command line', (id) => ['DELETE', `/users/${id}/connections/${COMMAND_LINE_ID}`]],
    ['the password', (id) => ['PATCH', `/users/${id}`, { password: 'another fine secret' }]],
    ['a ban', (id) => ['PUT', `/users/${id}/ban`, {}]],
    ['a suspension', (id) => ['PUT', `/users/${id}/suspension`, {}]],
    ['the account', (id) => ['DELETE', `/users/${id}`]],
  ];

const picture = png(32, 32);

/** Uploads a picture. */
async function upload(userId: string, token: string): Promise<JsonAnswer> {
  const response = await fetch(`${nodes.nodeInTurn?.() ?? nodes.baseUrl}/api/v2/admin/users/${userId}/picture`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'image/png' },
    body: picture,
  });
  return { status: response.status, headers: response.headers, body: await response.json() };
}

for (const [name, ending] of ENDINGS) {
  test(`once ${name} has ended a person’s rights, nothing that was sent before changes anything`, async () => {
    const operator = await operatorInBrowser(server);
    const { id } = operator.user;
    assert.equal((await admin(server, 'PUT', `/users/${id}/roles/admin`, {})).status, 200);
    const token = await signInOnCommandLine(server, operator);
    const users = await Promise.all(times(4, () => newUser(server, { password: undefined })));
    const crowd = users.flatMap((user) => [
      ...times(5, (n) => admin(nodes, 'PATCH', `/users/${user.id}`, { about: `${n}` }, token)),
      admin(nodes, 'PUT', `/users/${user.id}/suspension`, {}, token),
      upload(user.id, token),
      admin(nodes, 'GET', '/users?limit=10', undefined, token),
    ]);
    await Promise.any(crowd);
    const [method, path, body] = ending(id);
    const ended = await admin(nodes, method, path, body);
    assert.ok(ended.status < 300, JSON.stringify(ended.body));
    const acts = async () =>
      (await admin(server, 'GET', `/audit-events?limit=200&actor=user&actorId=${id}`)).body.items.filter(
        ({ type }: { type: string }) => /^account\.(updated|suspended)$/.test(type),
      ).length;
    const done = await acts();
    const answers = await Promise.all(crowd);
    noFault(answers);
    assert.equal(await acts(), done);
    for (const { status } of answers) assert.ok([200, 401, 403, 404, 503].includes(status), String(status));
    assert.ok((await admin(nodes, 'GET', '/users', undefined, token)).status >= 401);
  });
}
