// store: SQLite, PostgreSQL
/** A key, or an operator, that goes on making others while it is ended with all that it made leaves none. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { agent } from '../support/agent.ts';
import { operatorInBrowser, signInOnCommandLine } from '../support/command-line.ts';
import { admin, newUser, PASSWORD, signedIn } from '../support/flow.ts';
import { HOUR, MINUTE } from '../support/outcome.ts';
import { newestMail } from '../support/recovery.ts';
import { SEVERAL, spread, startServer } from '../support/server.ts';
import { takenBack } from '../support/taken-back.ts';
import { answered, times } from './crowd.ts';

const server = await startServer(
  {
    TESSERA_MAILBOX: 'on',
    TESSERA_LIMIT_ADMIN_KEY: 'off',
    TESSERA_LIMIT_MAIL_RECIPIENT: 'off',
    TESSERA_LIMIT_MAIL_ADDRESS: 'off',
  },
  SEVERAL,
);
after(() => server.close());
const nodes = spread(server);
const { addApp, signedInWith } = takenBack(server);
const keeper = await newUser(server);
await admin(server, 'PUT', `/users/${keeper.id}/roles/owner`, {});

interface Key {
  readonly id: string;
  readonly adminKey: string;
}
const newKey = async (by?: string): Promise<Key> =>
  (await admin(server, 'POST', '/admin-keys', { name: 'maker', role: 'owner' }, by)).body;

const revoke = ({ id }: Key) => answered(() => admin(server, 'DELETE', `/admin-keys/${id}?endMade=true`));

const WORKERS = 8;
const EACH = 12;

/** Makes keys side by side until it may no longer. @returns the keys that were made; `begun` once there are some */
function makeKeys(by: string): { readonly begun: Promise<void>; readonly all: Promise<readonly Key[]> } {
  const made: Key[] = [];
  let begin: () => void = () => {};
  const begun = new Promise<void>((resolve) => {
    begin = resolve;
  });
  const work = async (): Promise<void> => {
    for (let turn = 0; turn < EACH; turn++) {
      const { status, body } = await admin(nodes, 'POST', '/admin-keys', { name: 'made', role: 'owner' }, by);
      if (status !== 201) break;
      made.push(body);
      if (made.length === WORKERS) begin();
    }
    begin();
  };
  return { begun, all: Promise.all(times(WORKERS, work)).then(() => made) };
}

async function assertNoneWorks(keys: readonly Key[]): Promise<void> {
  assert.ok(keys.length > 0);
  const works = await Promise.all(
    keys.map(async ({ adminKey }) => (await admin(server, 'GET', '/users?limit=1', undefined, adminKey)).status),
  );
  assert.deepEqual([...new Set(works)], [401]);
}

test('a key that is revoked with what it made', async () => {
  const key = await newKey();
  const { begun, all } = makeKeys(key.adminKey);
  await begun;
  const revoked = await revoke(key);
  assert.equal(revoked.status, 200, JSON.stringify(revoked.body));
  await assertNoneWorks(await all);
});

test('a key that was made by the one that is revoked with what it made', async () => {
  const key = await newKey();
  const second = await newKey(key.adminKey);
  const { begun, all } = makeKeys(second.adminKey);
  await begun;
  const revoked = await revoke(key);
  assert.equal(revoked.status, 200, JSON.stringify(revoked.body));
  await assertNoneWorks(await all);
});

test('a person to whom it gave a role, with the command line', async () => {
  const [key, person] = [await newKey(), await operatorInBrowser(server, { emailVerified: true })];
  const given = await admin(server, 'PUT', `/users/${person.user.id}/roles/owner`, {}, key.adminKey);
  assert.equal(given.status, 200, JSON.stringify(given.body));
  server.advance(MINUTE);
  const { begun, all } = makeKeys(await signInOnCommandLine(server, person));
  await begun;
  const revoked = await revoke(key);
  assert.equal(revoked.status, 200, JSON.stringify(revoked.body));
  await assertNoneWorks(await all);
});

test('a colleague into whose account it got by a password that it set', async () => {
  const [key, colleague] = [await newKey(), await operatorInBrowser(server, { emailVerified: true })];
  await admin(server, 'PUT', `/users/${colleague.user.id}/roles/owner`, {});
  const { id } = colleague.user;
  for (const [method, path, body] of [
    ['DELETE', `/users/${id}/factors/totp`, undefined],
    ['PATCH', `/users/${id}`, { password: PASSWORD }],
  ] as const) {
    assert.ok((await admin(server, method, path, body, key.adminKey)).status < 300);
  }
  const browser = await signedIn(server, colleague.user);
  const { seed } = await addApp(browser);
  server.advance(MINUTE);
  const thief = { user: colleague.user, browser, factor: { seed, recoveryCodes: [] } };
  const { begun, all } = makeKeys(await signInOnCommandLine(server, thief));
  await begun;
  const revoked = await revoke(key);
  assert.equal(revoked.status, 200, JSON.stringify(revoked.body));
  await assertNoneWorks(await all);
});

for (const how of ['report', 'ban']) {
  test(`an operator who acts without pause does not keep a ${how} from its turn`, async () => {
    const operator = await operatorInBrowser(server, { emailVerified: true });
    await admin(server, 'PUT', `/users/${operator.user.id}/roles/owner`, {});
    const { email } = (await admin(server, 'GET', `/users/${operator.user.id}`)).body;
    const target = await newUser(server);
    server.advance(HOUR);
    const thief = { ...operator, browser: await signedInWith({ user: operator.user, email }, operator.factor) };
    server.advance(MINUTE);
    const token = await signInOnCommandLine(server, thief);
    const owner = agent(server.baseUrl, nodes.nodeInTurn);
    const page = await owner.get((await newestMail(server, email, 'security notice')).link ?? '');
    let isOver = false;
    const flood = times(24, async () => {
      while (!isOver) {
        const { status } = await admin(nodes, 'PATCH', `/users/${target.id}`, { about: how }, token);
        if (status !== 200) return;
      }
    });
    const { status } =
      how === 'report'
        ? await owner.submit(page, {})
        : await admin(server, 'PUT', `/users/${operator.user.id}/ban`, {});
    isOver = true;
    await Promise.all(flood);
    assert.equal(status, 200);
  });
}

test('a key that was made with the account of an operator who reports that it was not them', async () => {
  const operator = await operatorInBrowser(server, { emailVerified: true });
  await admin(server, 'PUT', `/users/${operator.user.id}/roles/owner`, {});
  const { email } = (await admin(server, 'GET', `/users/${operator.user.id}`)).body;
  server.advance(HOUR);
  const thief = { ...operator, browser: await signedInWith({ user: operator.user, email }, operator.factor) };
  server.advance(MINUTE);
  const key = await newKey(await signInOnCommandLine(server, thief));
  const owner = agent(server.baseUrl, nodes.nodeInTurn);
  const page = await owner.get((await newestMail(server, email, 'security notice')).link ?? '');
  const { begun, all } = makeKeys(key.adminKey);
  await begun;
  assert.equal((await owner.submit(page, {})).status, 200);
  await assertNoneWorks(await all);
});

test('accounts that a key goes on creating while it is revoked with what it made are all suspended', async () => {
  const key = await newKey();
  const users: string[] = [];
  let begin: () => void = () => {};
  const begun = new Promise<void>((resolve) => {
    begin = resolve;
  });
  const work = async (_: unknown, worker: number): Promise<void> => {
    for (let turn = 0; turn < EACH; turn++) {
      const username = `in-flight-${worker}-${turn}`;
      const fields = { username, displayName: 'Made', email: `${username}@example.com` };
      const { status, body } = await admin(nodes, 'POST', '/users', fields, key.adminKey);
      if (status !== 201) break;
      users.push(body.id);
      if (users.length === WORKERS) begin();
    }
    begin();
  };
  const all = Promise.all(Array.from({ length: WORKERS }, work));
  await begun;
  assert.equal((await revoke(key)).status, 200);
  await all;
  const states = await Promise.all(users.map(async (id) => (await admin(server, 'GET', `/users/${id}`)).body.status));
  assert.deepEqual([...new Set(states)], ['suspended']);
});
