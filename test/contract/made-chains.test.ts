// store: SQLite, PostgreSQL
/**
 * Decisions §12: what rests on a stolen key or account ends with it, down to the last, also where whoever holds it has removed a link between:
 * no act of theirs makes a right look like somebody else's.
 */
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { type OperatorInBrowser, operatorInBrowser, signInOnCommandLine } from '../support/command-line.ts';
import { admin, newUser, type TestUser } from '../support/flow.ts';
import { HOUR, MINUTE } from '../support/outcome.ts';
import { SEVERAL, startServer } from '../support/server.ts';
import { takenBack } from '../support/taken-back.ts';

const server = await startServer({ TESSERA_MAILBOX: 'on' }, SEVERAL);
after(() => server.close());
const { press, reportLink } = takenBack(server);
// Of the owners here, each may lose the role.
const keeper = await newUser(server);
await admin(server, 'PUT', `/users/${keeper.id}/roles/owner`, {});

const call = async (method: string, path: string, body?: object, key?: string) => {
  const answer = await admin(server, method, path, body, key);
  assert.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body;
};

interface Key {
  readonly id: string;
  readonly adminKey: string;
}

let count = 0;
const newOrganization = async (by?: string): Promise<string> =>
  (await call('POST', '/organizations', { name: `chain-${++count}`, domain: `chain-${count}.example` }, by)).id;
const newKey = (by?: string, fields: object = {}): Promise<Key> =>
  call('POST', '/admin-keys', { name: 'one of a chain', role: 'owner', ...fields }, by);
const rolesOf = async ({ id }: TestUser): Promise<string[]> =>
  (await call('GET', `/users/${id}/roles`)).items.map(({ role }: { role: string }) => role);
const works = async ({ adminKey }: Key): Promise<boolean> =>
  (await admin(server, 'GET', '/clients', undefined, adminKey)).status === 200;
const role = ({ id }: TestUser, name = 'owner') => `/users/${id}/roles/${name}`;

/** A stolen key, with which somebody was made an owner, who made a key and another owner, and registered an app. */
async function newChain(stolen?: string) {
  const first: Key = stolen === undefined ? await newKey() : { id: '', adminKey: stolen };
  const accomplice = await operatorInBrowser(server, { emailVerified: true });
  const last = await newUser(server, { emailVerified: true });
  server.advance(MINUTE);
  await call('PUT', role(accomplice.user), {}, first.adminKey);
  const own = await signInOnCommandLine(server, accomplice);
  const key = await newKey(own);
  await call('PUT', role(last), {}, own);
  const app = await call('POST', '/clients', { name: 'Trap', redirectUris: ['https://trap.example/cb'] }, key.adminKey);
  return { first, accomplice: accomplice.user, own, key, last, clientId: app.clientId as string };
}
type Chain = Awaited<ReturnType<typeof newChain>>;

async function assertEnded({ key, last, clientId }: Chain): Promise<void> {
  assert.deepEqual(await rolesOf(last), []);
  assert.equal(await works(key), false);
  assert.equal((await call('GET', `/clients/${clientId}`)).status, 'disabled');
}

/** What takes a link out between a stolen key and what was made with it in the end. */
const REMOVED: readonly [what: string, remove: (chain: Chain) => Promise<unknown>][] = [
  [
    'the role is taken away with the stolen key',
    ({ first, accomplice }) => call('DELETE', role(accomplice), undefined, first.adminKey),
  ],
  ['the person gives the role up', ({ accomplice, own }) => call('DELETE', role(accomplice), undefined, own)],
  [
    'the role is taken away with a key that the person made',
    ({ key, accomplice }) => call('DELETE', role(accomplice), undefined, key.adminKey),
  ],
  [
    'another operator takes the role away, and leaves what was made',
    ({ accomplice }) => call('DELETE', role(accomplice)),
  ],
  [
    'a lesser role takes its place',
    async ({ first, accomplice }) => {
      await call('DELETE', role(accomplice), undefined, first.adminKey);
      await call('PUT', role(accomplice, 'auditor'), {}, first.adminKey);
    },
  ],
  [
    'the role is given again by one who got theirs from it',
    async ({ first, accomplice, key }) => {
      await call('DELETE', role(accomplice), undefined, first.adminKey);
      await call('PUT', role(accomplice), {}, key.adminKey);
    },
  ],
  [
    'the account is deleted',
    ({ first, accomplice }) => call('DELETE', `/users/${accomplice.id}`, undefined, first.adminKey),
  ],
  [
    'the account has another name and address',
    ({ first, accomplice }) =>
      call(
        'PATCH',
        `/users/${accomplice.id}`,
        { username: `renamed-${++count}`, email: `renamed-${count}@example.com` },
        first.adminKey,
      ),
  ],
  [
    'the account is suspended',
    ({ first, accomplice }) => call('PUT', `/users/${accomplice.id}/suspension`, {}, first.adminKey),
  ],
  [
    'the key between is revoked, and another takes its place',
    async ({ first, key, own }) => {
      await newKey(own);
      await call('DELETE', `/admin-keys/${key.id}`, undefined, first.adminKey);
    },
  ],
  [
    'the stolen key was revoked before, and what it made left',
    ({ first }) => call('DELETE', `/admin-keys/${first.id}`),
  ],
];

describe('what was made by way of a right that a stolen key gave ends with the key, also where', () => {
  for (const [what, remove] of REMOVED) {
    test(what, async () => {
      const chain = await newChain();
      await remove(chain);
      await call('DELETE', `/admin-keys/${chain.first.id}?endMade=true`);
      await assertEnded(chain);
      assert.deepEqual((await rolesOf(chain.last)).length, 0);
    });
  }

  test('the role had ended by itself', async () => {
    const [stolen, person] = [await newKey(), await operatorInBrowser(server, { emailVerified: true })];
    const expiresAt = new Date(server.now() + HOUR).toISOString();
    await call('PUT', role(person.user, 'admin'), { expiresAt }, stolen.adminKey);
    const own = await signInOnCommandLine(server, person);
    const app = await call('POST', '/clients', { name: 'Trap', redirectUris: ['https://trap.example/cb'] }, own);
    server.advance(2 * HOUR);
    await call('DELETE', `/admin-keys/${stolen.id}?endMade=true`);
    assert.equal((await call('GET', `/clients/${app.clientId}`)).status, 'disabled');
  });
});

test('before a stolen key is revoked, it is shown what goes on by way of those whose role was taken away', async () => {
  const { first, accomplice, key, last, clientId } = await newChain();
  const listed = async () => {
    const { made } = await call('GET', `/admin-keys/${first.id}`);
    return {
      adminKeys: made.adminKeys.map(({ id }: Key) => id),
      roles: made.roles.map(({ userId }: { userId: string }) => userId),
      apps: made.apps.map((app: { clientId: string }) => app.clientId),
    };
  };
  // They are listed where the person is looked at.
  assert.deepEqual(await listed(), { adminKeys: [], roles: [accomplice.id], apps: [] });
  await call('DELETE', role(accomplice), undefined, first.adminKey);
  assert.deepEqual(await listed(), { adminKeys: [key.id], roles: [last.id], apps: [] });
  await call('DELETE', `/admin-keys/${key.id}`, undefined, first.adminKey);
  assert.deepEqual(await listed(), { adminKeys: [], roles: [last.id], apps: [clientId] });
});

/** An operator whose session on the command line is a thief's. */
async function newRobbed(): Promise<{
  readonly operator: OperatorInBrowser;
  readonly token: string;
  readonly email: string;
}> {
  const operator = await operatorInBrowser(server, { emailVerified: true });
  await call('PUT', role(operator.user), {});
  server.advance(HOUR);
  const { email } = await call('GET', `/users/${operator.user.id}`);
  return { operator, token: await signInOnCommandLine(server, operator), email };
}

describe('what a thief of an operator’s account made by way of somebody whose role they took away again', () => {
  test('ends with the report of the account', async () => {
    const { token, email } = await newRobbed();
    const chain = await newChain(token);
    await call('DELETE', role(chain.accomplice), undefined, token);
    assert.equal(await press(await reportLink(email)), 200);
    await assertEnded(chain);
  });

  test('ends with the role of the account', async () => {
    const { token, operator } = await newRobbed();
    const chain = await newChain(token);
    await call('DELETE', role(chain.accomplice), undefined, token);
    const { made, ended } = await call('DELETE', `${role(operator.user)}?endMade=true`);
    assert.equal(ended, true);
    assert.deepEqual(
      made.roles.map(({ userId }: { userId: string }) => userId),
      [chain.last.id],
    );
    await assertEnded(chain);
  });
});

/** What takes a member out between, in an organization. */
const LEFT: readonly [what: string, method: string, body: object | undefined][] = [
  ['lowered', 'PUT', { role: 'MEMBER' }],
  ['removed', 'DELETE', undefined],
];

for (const [how, method, body] of LEFT) {
  test(`whom an owner of an organization made one is none after the key ended that made the first, who was ${how}`, async () => {
    const organizationId = await newOrganization();
    const member = ({ id }: TestUser) => `/organizations/${organizationId}/members/${id}`;
    const [honest, last] = [await newUser(server), await newUser(server)];
    const accomplice = await operatorInBrowser(server, { emailVerified: true });
    await call('PUT', member(honest), { role: 'OWNER' });
    const stolen = await newKey(undefined, { organizationId });
    await call('PUT', member(accomplice.user), { role: null });
    await call('PUT', member(last), { role: null });
    await call('PUT', member(accomplice.user), { role: 'OWNER' }, stolen.adminKey);
    await call('PUT', member(last), { role: 'OWNER' }, await signInOnCommandLine(server, accomplice));
    await call(method, member(accomplice.user), body, stolen.adminKey);
    const { made } = await call('DELETE', `/admin-keys/${stolen.id}?endMade=true`);
    assert.deepEqual(
      made.roles.map(({ userId }: { userId: string }) => userId),
      [last.id],
    );
    assert.deepEqual(await rolesOf(last), []);
    assert.deepEqual(await rolesOf(honest), ['owner']);
  });
}

test('an app that a key of a deleted organization registered ends with the key that made that one', async () => {
  const stolen = await newKey();
  const organizationId = await newOrganization(stolen.adminKey);
  const between = await newKey(stolen.adminKey, { organizationId });
  const fields = { name: 'Trap', redirectUris: ['https://trap.example/cb'], organizationId };
  const { clientId } = await call('POST', '/clients', fields, between.adminKey);
  await call('DELETE', `/organizations/${organizationId}`, undefined, stolen.adminKey);
  const { made } = await call('DELETE', `/admin-keys/${stolen.id}?endMade=true`);
  assert.deepEqual(
    made.apps.map((app: { clientId: string }) => app.clientId),
    [clientId],
  );
  assert.equal((await call('GET', `/clients/${clientId}`)).status, 'disabled');
});

test('what a key made ends also where the key itself went with its organization; of a person it is not ended so', async () => {
  const organizationId = await newOrganization();
  const stolen = await newKey(undefined, { organizationId });
  const fields = { name: 'Trap', redirectUris: ['https://trap.example/cb'], organizationId };
  const { clientId } = await call('POST', '/clients', fields, stolen.adminKey);
  await call('DELETE', `/organizations/${organizationId}`);
  assert.equal((await admin(server, 'DELETE', `/admin-keys/${stolen.id}`)).status, 404);
  await call('DELETE', `/admin-keys/${stolen.id}?endMade=true`);
  assert.equal((await call('GET', `/clients/${clientId}`)).status, 'disabled');
  assert.equal((await admin(server, 'DELETE', `/admin-keys/${stolen.id}?endMade=true`)).status, 404);
  const { operator, token } = await newRobbed();
  const { id } = await newKey(token);
  assert.equal((await admin(server, 'DELETE', `/admin-keys/${operator.user.id}?endMade=true`)).status, 404);
  assert.equal((await call('GET', `/admin-keys/${id}`)).status, 'active');
});

test('who holds the role from elsewhere keeps it, and what they made, after a lesser one from a stolen key was taken away', async () => {
  const [stolen, honest] = [await newKey(), await operatorInBrowser(server, { emailVerified: true })];
  await call('PUT', role(honest.user), {});
  await call('PUT', role(honest.user, 'auditor'), {}, stolen.adminKey);
  const own = await signInOnCommandLine(server, honest);
  const [key, made] = [await newKey(own), await newUser(server)];
  await call('PUT', role(made), {}, own);
  await call('DELETE', role(honest.user, 'auditor'), undefined, stolen.adminKey);
  await call('DELETE', `/admin-keys/${stolen.id}?endMade=true`);
  assert.ok(await works(key));
  assert.deepEqual(await rolesOf(made), ['owner']);
  assert.deepEqual(await rolesOf(honest.user), ['owner']);
});
