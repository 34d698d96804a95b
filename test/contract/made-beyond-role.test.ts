// store: SQLite, PostgreSQL
/** Nobody gives a role for longer than they hold it: what outlasts a role that ends sooner is listed, and ends on request (decisions §12). */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { operatorInBrowser, signInOnCommandLine } from '../support/command-line.ts';
import { act, newOperator } from '../support/console.ts';
import { admin, newUser } from '../support/flow.ts';
import { DAY, HOUR } from '../support/outcome.ts';
import { startServer } from '../support/server.ts';

const server = await startServer();
after(() => server.close());

const inTime = (time: number): string => new Date(server.now() + time).toISOString();
const call = async (method: string, path: string, body?: object, key?: string) => {
  const answer = await admin(server, method, path, body, key);
  assert.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body;
};
const stands = async (adminKey: string) => (await admin(server, 'GET', '/clients', undefined, adminKey)).status === 200;

/** An operator who made a key without an end, one that ends in an hour, and an operator. */
async function maker() {
  const operator = await operatorInBrowser(server, { emailVerified: true });
  await call('PUT', `/users/${operator.user.id}/roles/admin`, {});
  const token = await signInOnCommandLine(server, operator);
  const [lasting, brief, other] = [
    await call('POST', '/admin-keys', { name: 'lasting', role: 'admin' }, token),
    await call('POST', '/admin-keys', { name: 'brief', role: 'admin', expiresAt: inTime(HOUR) }, token),
    await newUser(server),
  ];
  await call('PUT', `/users/${other.id}/roles/auditor`, {}, token);
  return { operator, lasting, brief, other };
}

const idsOf = (made: { adminKeys: { id: string }[]; roles: { userId: string; role: string }[] }) => [
  made.adminKeys.map(({ id }) => id),
  made.roles.map(({ userId, role }) => [userId, role]),
];

test('what outlasts a role that ends sooner is listed, and goes on', async () => {
  const { operator, lasting, brief, other } = await maker();
  const { made, ended, ...role } = await call('PUT', `/users/${operator.user.id}/roles/admin`, {
    expiresAt: inTime(DAY),
  });
  assert.equal(role.role, 'admin');
  assert.deepEqual([idsOf(made), ended], [[[lasting.id], [[other.id, 'auditor']]], false]);
  assert.deepEqual([await stands(lasting.adminKey), await stands(brief.adminKey)], [true, true]);
});

test('it ends on request in the same call, also when the call comes again', async () => {
  const { operator, lasting, brief, other } = await maker();
  const [path, body] = [`/users/${operator.user.id}/roles/admin`, { expiresAt: inTime(DAY) }];
  await call('PUT', path, body);
  const { made, ended } = await call('PUT', `${path}?endMade=true`, body);
  assert.deepEqual([idsOf(made), ended], [[[lasting.id], [[other.id, 'auditor']]], true]);
  assert.deepEqual([await stands(lasting.adminKey), await stands(brief.adminKey)], [false, true]);
  assert.deepEqual((await call('GET', `/users/${other.id}/roles`)).items, []);
  const { items } = await call('GET', `/audit-events?userId=${operator.user.id}&type=operator.role_granted`);
  assert.deepEqual(items.find(({ details }: { details: { made?: object } }) => details.made).details.made.adminKeys, [
    lasting.id,
  ]);
});

test('a role that is given anew, for longer or for as long lists nothing', async () => {
  const { operator } = await maker();
  const path = `/users/${operator.user.id}/roles`;
  assert.equal('made' in (await call('PUT', `${path}/admin`, {})), false);
  assert.equal('made' in (await call('PUT', `${path}/auditor`, { expiresAt: inTime(DAY) })), false);
});

test('what somebody else’s role covers as long goes on', async () => {
  const { operator, lasting } = await maker();
  await call('PUT', `/users/${operator.user.id}/roles/owner`, {});
  const answer = await call('PUT', `/users/${operator.user.id}/roles/admin?endMade=true`, { expiresAt: inTime(DAY) });
  assert.equal('made' in answer, false);
  assert.equal(await stands(lasting.adminKey), true);
});

test('the console lists it after the act', async () => {
  const owner = await newOperator(server, 'owner');
  const { operator, lasting } = await maker();
  const page = await act(
    server,
    owner,
    '/console/operators/grant',
    { user: operator.user.id },
    { role: 'admin', until: inTime(DAY).slice(0, 10) },
  );
  assert.match(page.text, new RegExp(`/console/keys/${lasting.id}`));
});
