// store: SQLite, PostgreSQL
/** Decisions §12: nothing that an operator makes outlasts the end of their rights by being made at that very moment. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { lockActing } from '../../src/accounts/store.ts';
import { makingDatabase } from '../../src/admin-keys/hand-out.ts';
import { findAdminKey, holdKeyRows } from '../../src/admin-keys/store.ts';
import { openCore } from '../../src/core.ts';
import type { Database, Work } from '../../src/platform/database/database.ts';
import { readConfig } from '../../src/settings/config.ts';
import { agent } from '../support/agent.ts';
import { ask } from '../support/ask-postgres.ts';
import { signInOnCommandLine } from '../support/command-line.ts';
import { newOperator } from '../support/console.ts';
import { admin, type JsonAnswer, newUser, PASSWORD, signedIn } from '../support/flow.ts';
import { newestMail } from '../support/recovery.ts';
import { atSecondStep, totpCode, typeCode } from '../support/second-factor.ts';
import { SEVERAL, spread, startServer } from '../support/server.ts';
import { takenBack } from '../support/taken-back.ts';
import { noFault, times } from './crowd.ts';

/** SQLite has one writer at a time, so nobody waits there for a row: who comes later, comes after the commit. */
const skip = process.env['TESSERA_TEST_POSTGRES'] === undefined;

const server = await startServer(
  {
    TESSERA_MAILBOX: 'on',
    TESSERA_LIMIT_ADMIN_KEY: 'off',
    TESSERA_LIMIT_USER_CODE: 'off',
    TESSERA_LIMIT_USER_CODE_ADDRESS: 'off',
    TESSERA_LIMIT_DEVICE_ADDRESS: 'off',
    TESSERA_LIMIT_MAIL_ADDRESS: 'off',
  },
  SEVERAL,
);
const nodes = spread(server);
const { addApp } = takenBack(server);
const beside = await openCore(readConfig(server.environment), server.now);
after(async () => {
  await beside.close();
  await server.close();
});
const keeper = await newUser(server, { password: undefined });
assert.equal((await admin(server, 'PUT', `/users/${keeper.id}/roles/owner`, {})).status, 200);

/** How many units of work wait for a row. */
async function waiting(): Promise<number> {
  const url = server.environment['TESSERA_DATABASE_URL'] ?? '';
  const asked = await ask(
    url,
    "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
  );
  return asked.length;
}

/** Holds what a unit of work locks, until it is let go. */
async function hold(database: Database, lock: () => Work<unknown>): Promise<() => Promise<void>> {
  const held = Promise.withResolvers<void>();
  let isHeld = true;
  const unit = database.commit(function* holding(): Work<void> {
    yield* lock();
    // Once this is answered, the lock is held.
    yield* findAdminKey({ id: '0' });
    held.resolve();
    while (isHeld) yield* findAdminKey({ id: '0' });
  });
  await Promise.race([held.promise, unit]);
  return () => {
    isHeld = false;
    return unit;
  };
}

/** Sends requests that each wait for a row, one behind the other. @returns their answers, in the order in which they came */
async function inLine(
  letGo: () => Promise<void>,
  requests: readonly (readonly [name: string, send: () => Promise<{ readonly status: number }>])[],
): Promise<{ readonly order: readonly string[]; readonly early: readonly string[] }> {
  const order: string[] = [];
  const sent: Promise<unknown>[] = [];
  for (const [index, [name, send]] of requests.entries()) {
    sent.push(send().then(({ status }) => order.push(`${name}: ${status}`)));
    while (order.length === 0 && (await waiting()) <= index);
  }
  const early = [...order];
  await letGo();
  await Promise.all(sent);
  return { order, early };
}

async function newKey(by?: string): Promise<{ readonly id: string; readonly secret: string }> {
  const { status, body } = await admin(server, 'POST', '/admin-keys', { name: 'a key', role: 'owner' }, by);
  assert.equal(status, 201, JSON.stringify(body));
  return { id: body.id, secret: body.adminKey };
}

const makeKey = (by: string): Promise<JsonAnswer> =>
  admin(nodes, 'POST', '/admin-keys', { name: 'made', role: 'owner' }, by);
let operators = 0;
/** An operator in whose account somebody else signed in with the command line, and the link that reports it. */
async function stolenAccount() {
  const email = `operator${operators++}@example.com`;
  const user = await newOperator(server, 'owner', { email });
  server.advance(60 * 60 * 1000);
  const at = await atSecondStep(server, user);
  assert.equal((await typeCode(at.browser, at.page, totpCode(user.factor, server.now()))).status, 303);
  server.advance(60 * 1000);
  const token = await signInOnCommandLine(server, { user, browser: at.browser, factor: user.factor });
  const { link = '' } = await newestMail(server, email, 'security notice');
  const owner = agent(server.baseUrl, nodes.nodeInTurn);
  const page = await owner.get(link);
  return { id: user.id, token, report: () => owner.submit(page, {}) };
}

const revoke = ({ id }: { readonly id: string }): Promise<JsonAnswer> =>
  admin(nodes, 'DELETE', `/admin-keys/${id}?endMade=true`);

test('of keys that a revoked key and its keys make at the same time, none is left', async () => {
  const maker = await newKey();
  const made = await newKey(maker.secret);
  const crowd = times(40, (n) => makeKey(n % 2 === 0 ? maker.secret : made.secret));
  await Promise.any(crowd);
  const { body } = await revoke(maker);
  const answers = await Promise.all(crowd);
  noFault(answers);
  const kept = answers.flatMap(({ status, body: key }) => (status === 201 ? [key.id] : []));
  const ended = new Set(body.made.adminKeys.map(({ id }: { id: string }) => id));
  assert.deepEqual(
    kept.filter((id) => !ended.has(id)),
    [],
  );
});

test('what is made with a key, and with a key made by it, while the key is being revoked, ends or is refused', {
  skip,
}, async () => {
  const maker = await newKey();
  const made = await newKey(maker.secret);
  const letGo = await hold(makingDatabase(beside.database), function* nothing() {});
  let answer: JsonAnswer | undefined;
  let first: JsonAnswer | undefined;
  const { order, early } = await inLine(letGo, [
    ['made before', async () => (first = await makeKey(made.secret))],
    ['revoked', async () => (answer = await revoke(maker))],
    ['made after, with the key', () => makeKey(maker.secret)],
    ['made after, with its key', () => makeKey(made.secret)],
  ]);
  assert.deepEqual(early, []);
  assert.deepEqual([...order].sort(), [
    'made after, with its key: 401',
    'made after, with the key: 401',
    'made before: 201',
    'revoked: 200',
  ]);
  const ended = answer?.body.made.adminKeys.map(({ id }: { id: string }) => id);
  assert.deepEqual(ended, [made.id, first?.body.id]);
});

test('what is made with what a stolen account made, while its owner reports it, ends or is refused', {
  skip,
}, async () => {
  const thief = await stolenAccount();
  const key = await newKey(thief.token);
  const helper = await newOperator(server, 'auditor');
  assert.equal((await admin(server, 'PUT', `/users/${helper.id}/roles/owner`, {}, thief.token)).status, 200);
  server.advance(60 * 1000);
  const token = await signInOnCommandLine(server, { user: helper, browser: helper.browser, factor: helper.factor });
  const letGo = await hold(makingDatabase(beside.database), function* nothing() {});
  let first: JsonAnswer | undefined;
  const { early, order } = await inLine(letGo, [
    ['made before', async () => (first = await makeKey(token))],
    ['reported', thief.report],
    ['made after, with the key', () => makeKey(key.secret)],
    ['made after, in the role', () => makeKey(token)],
  ]);
  assert.deepEqual(early, []);
  assert.deepEqual([...order].sort(), [
    'made after, in the role: 403',
    'made after, with the key: 401',
    'made before: 201',
    'reported: 200',
  ]);
  assert.equal((await admin(server, 'GET', `/admin-keys/${first?.body.id}`)).body.status, 'revoked');
});

test('what is made through a colleague, into whose account a key got, while the key is being revoked, ends or is refused', {
  skip,
}, async () => {
  const maker = await newKey();
  const colleague = await newOperator(server, 'owner');
  assert.equal(
    (await admin(server, 'DELETE', `/users/${colleague.id}/factors/totp`, undefined, maker.secret)).status,
    200,
  );
  const set = await admin(server, 'PATCH', `/users/${colleague.id}`, { password: PASSWORD }, maker.secret);
  assert.equal(set.status, 200);
  const browser = await signedIn(server, colleague);
  const { seed } = await addApp(browser);
  server.advance(60 * 1000);
  const thief = { user: colleague, browser, factor: { seed, recoveryCodes: [] } };
  const token = await signInOnCommandLine(server, thief);
  const letGo = await hold(makingDatabase(beside.database), function* nothing() {});
  let first: JsonAnswer | undefined;
  let answer: JsonAnswer | undefined;
  const { early, order } = await inLine(letGo, [
    ['made before', async () => (first = await makeKey(token))],
    ['revoked', async () => (answer = await revoke(maker))],
    ['made after', () => makeKey(token)],
  ]);
  assert.deepEqual(early, []);
  assert.deepEqual([...order].sort(), ['made after: 401', 'made before: 201', 'revoked: 200']);
  const [through] = answer?.body.made.through ?? [];
  assert.deepEqual([through.userId, through.made.adminKeys[0]?.id], [colleague.id, first?.body.id]);
  assert.equal((await admin(server, 'GET', `/admin-keys/${first?.body.id}`)).body.status, 'revoked');
});

const ENDINGS: readonly (readonly [
  name: string,
  (id: string) => readonly [method: string, path: string, body?: object],
])[] = [
  ['a ban', (id) => ['PUT', `/users/${id}/ban`, {}]],
  ['a suspension', (id) => ['PUT', `/users/${id}/suspension`, {}]],
  ['the end of the role', (id) => ['DELETE', `/users/${id}/roles/owner?endMade=true`]],
  ['the end of every session', (id) => ['DELETE', `/users/${id}/sessions`]],
];

for (const [name, ending] of [['a report', undefined] as const, ...ENDINGS]) {
  test(`${name} comes before the acts of the person that were sent after it`, { skip }, async () => {
    const thief = await stolenAccount();
    const target = await newUser(server, { password: undefined });
    const letGo = await hold(beside.database, () => lockActing({ accountId: thief.id, actedOn: thief.id }));
    let [ended, acted] = [0, 0];
    const { early } = await inLine(letGo, [
      [
        'ended',
        async () => {
          const answer = await (ending === undefined ? thief.report() : admin(nodes, ...ending(thief.id)));
          ended = answer.status;
          return answer;
        },
      ],
      [
        'act',
        async () => {
          const answer = await admin(nodes, 'PATCH', `/users/${target.id}`, { about: 'changed' }, thief.token);
          acted = answer.status;
          return answer;
        },
      ],
    ]);
    assert.deepEqual(early, []);
    assert.ok(ended < 300, String(ended));
    assert.ok(acted >= 401, String(acted));
  });
}

test('a report answers after what is under way with a key, and in a role, that ended with it', { skip }, async () => {
  const thief = await stolenAccount();
  const key = await newKey(thief.token);
  const helper = await newUser(server, { password: undefined });
  assert.equal((await admin(server, 'PUT', `/users/${helper.id}/roles/auditor`, {}, thief.token)).status, 200);
  const underWay = [
    await hold(beside.database, () => holdKeyRows(key.id)),
    await hold(beside.database, () => lockActing({ accountId: helper.id, actedOn: helper.id })),
  ];
  const answered: number[] = [];
  const reported = thief.report().then(({ status }) => answered.push(status));
  for (const letGo of underWay) {
    while (answered.length === 0 && (await waiting()) === 0);
    assert.deepEqual(answered, []);
    // What was ended is committed, and seen by now.
    assert.equal((await admin(server, 'GET', '/users', undefined, key.secret)).status, 401);
    await letGo();
  }
  await reported;
  assert.deepEqual(answered, [200]);
});

const TAKEN: readonly (readonly [name: string, method: string, body?: object])[] = [
  ['is removed', 'DELETE'],
  ['becomes a plain member', 'PUT', { role: 'MEMBER' }],
];

for (const [name, method, body] of TAKEN) {
  test(`once an admin of an organization ${name}, nothing that was under way in that role is left`, {
    skip,
  }, async () => {
    const organization = { name: `taken-${method.toLowerCase()}`, domain: 'taken.example' };
    const { id } = (await admin(server, 'POST', '/organizations', organization)).body;
    const member = await newUser(server, { password: undefined });
    const path = `/organizations/${id}/members/${member.id}`;
    assert.ok((await admin(server, 'PUT', path, { role: 'ADMIN' })).status < 300);
    const letGo = await hold(beside.database, () => lockActing({ accountId: member.id, actedOn: member.id }));
    const { early, order } = await inLine(letGo, [['taken', () => admin(nodes, method, path, body)]]);
    assert.deepEqual([early.length, order.length], [0, 1]);
  });
}
