// store: PostgreSQL, SQLite with --all
/** An admin key that is revoked while a request with it waits inside its route, or while its unit of work runs. */

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, test } from 'node:test';
import fastify from 'fastify';
import { actingDatabase } from '../../src/account-actions/admission/acting-database.ts';
import { createAdminKey, revokeAdminKey } from '../../src/account-actions/makers/admin-keys.ts';
import { findAccount, searchAccounts } from '../../src/accounts/store.ts';
import { revokeEverythingIssued } from '../../src/admin/recovery.ts';
import { adminRoutes } from '../../src/admin/routes.ts';
import { findLiveAdminKey, hashesOf, lockLiveAdminKey } from '../../src/admin-keys/store.ts';
import { type AuditEvent, record } from '../../src/audit/audit.ts';
import { listEvents } from '../../src/audit/search-store.ts';
import { createKeySet } from '../../src/keys/store.ts';
import { toCurrentSchema } from '../../src/migrations/timeline.ts';
import { MINUTE } from '../../src/platform/clock.ts';
import { HASH_COST, passwords } from '../../src/platform/crypto/passwords.ts';
import { randomName } from '../../src/platform/crypto/secrets.ts';
import type { Database, Work } from '../../src/platform/database/database.ts';
import { openPostgres } from '../../src/platform/database/postgres/open.ts';
import { sendError, toOAuthError } from '../../src/platform/http/errors.ts';
import { OutgoingFailed } from '../../src/platform/http/outgoing.ts';
import { compileValidator } from '../../src/platform/http/parameters.ts';
import { leasedIds } from '../../src/platform/ids/ids.ts';
import { invalidToken } from '../../src/platform/oauth-error.ts';
import { readConfig } from '../../src/settings/config.ts';
import { untraced } from '../../src/traces/recorder.ts';
import { ask } from '../support/ask-postgres.ts';
import { NO_MAIL } from '../support/no-mail.ts';
import { openOwnStore } from '../support/own-store.ts';
import { ownDatabase } from '../support/postgres-database.ts';

const skip = process.env['TESSERA_TEST_POSTGRES'] === undefined;
const USERS = '/api/v2/admin/users';
const ORIGIN = { actor: { type: 'cli', id: null }, address: null, requestId: null } as const;
const EVENT: AuditEvent = { at: 0, type: 'account.updated', origin: ORIGIN };

const store = await openOwnStore();
after(() => store.dispose());
const { database } = store;
const clock = Date.now;
const ids = leasedIds(database, clock);

/** What requests wait for inside a route. */
let whileWaiting = async (): Promise<void> => {};
const noted: AuditEvent[] = [];
const app = fastify();
app.removeAllContentTypeParsers();
app.decorateRequest('address', '192.0.2.1');
app.setValidatorCompiler(compileValidator);
app.setSerializerCompiler(() => (value) => JSON.stringify(value));
app.setErrorHandler((error, request, reply) => sendError(reply, toOAuthError(error, request)));
adminRoutes(app, {
  ...NO_MAIL,
  database,
  clock,
  ids,
  passwords: {
    ...passwords(1, HASH_COST),
    async hash() {
      await whileWaiting();
      return 'a hash';
    },
  },
  developers: { policy: 'off', mostApps: 20 },
  breaches: { includes: async () => false },
  pictures: {
    async convert() {
      await whileWaiting();
      return { name: 'picture.png', bytes: new Uint8Array(1) };
    },
  },
  limits: readConfig({}).limits,
  secondFactor: 'offered',
  signUp: { mode: 'closed', domains: [] },
  outgoing: () => Promise.reject(new OutgoingFailed('nothing is sent')),
  adminKey: undefined,
  keys: {} as never,
  commandLineSignIn: true,
  recordThrottled: async (event) => void noted.push(event),
  refusals: { database, recordThrottled: async (event) => void noted.push(event) },
  traces: untraced,
  traceRetention: null,
});
await app.ready();

/** The database of a request with this key, which may do everything. */
const actingWith = (on: Database, adminKey: string) =>
  actingDatabase(on, {
    acts: true,
    *verify(locks) {
      const asked = { ...hashesOf(adminKey), now: clock() };
      return (yield* locks ? lockLiveAdminKey(asked) : findLiveAdminKey(asked)) !== undefined;
    },
    ended: async () => invalidToken('revoked'),
    *admit() {},
    refused: async () => {},
  });

const newKey = () => createAdminKey({ operator: undefined, database, clock, ids }, { name: 'a key' }, ORIGIN);
const revoke = async (id: string): Promise<void> =>
  void (await revokeAdminKey({ operator: undefined, database, clock }, id, ORIGIN));

const EVE = { username: 'eve', displayName: 'Eve', email: 'eve@example.com' };
const waits = [
  ['the hash of a new account', 'POST', '/users', { ...EVE, password: 'tens of small words' }],
  ['the hash of a new password', 'PATCH', '/users/:id', { password: 'tens of small words' }],
  ['a picture', 'PUT', '/users/:id/picture', Buffer.alloc(1)],
] as const;

for (const [what, method, path, payload] of waits) {
  test(`revoked while a request waits for ${what}`, async () => {
    const { key, adminKey } = await newKey();
    const headers = { authorization: `Bearer ${adminKey}` };
    const name = randomName().toLowerCase();
    const ada = { username: name, displayName: 'Ada', email: `${name}@example.com` };
    const { id } = (await app.inject({ method: 'POST', url: USERS, headers, payload: ada })).json();
    const before = await database.read(() => findAccount({ id }));
    whileWaiting = () => revoke(key.id);
    const answer = await app.inject({
      method,
      url: `/api/v2/admin${path.replace(':id', id)}`,
      headers: { ...headers, ...(Buffer.isBuffer(payload) && { 'content-type': 'image/png' }) },
      payload,
    });
    whileWaiting = async () => {};
    assert.deepEqual([answer.statusCode, answer.json().error], [401, 'invalid_token'], answer.body);
    assert.equal(noted.pop()?.type, 'admin_key.refused');
    assert.deepEqual(await database.read(() => findAccount({ id })), before);
    assert.deepEqual((await searchAccounts(database, { after: '0', limit: 1, text: 'eve' })).items, []);
  });
}

test('what a request reads after its act is not refused: the act is done', async () => {
  const { key, adminKey } = await newKey();
  const acting = actingWith(database, adminKey);
  await acting.commit(() => record(EVENT));
  await revoke(key.id);
  assert.equal(await acting.read(() => findLiveAdminKey({ ...hashesOf(adminKey), now: clock() })), undefined);
  await assert.rejects(
    acting.commit(() => record(EVENT)),
    { status: 401 },
  );
});

test('a revocation takes effect before the units under way have ended, and each returns after them', {
  skip,
}, async (t) => {
  const own = await ownDatabase();
  assert.ok(own !== undefined);
  const [node, other] = [await openPatient(own.url), await openPatient(own.url)];
  let underWay = true;
  t.after(async () => {
    underWay = false;
    await Promise.all([node.close(), other.close()]);
    await own.drop();
  });
  const { key, adminKey } = await createAdminKey(
    { operator: undefined, database: node, clock, ids },
    { name: 'a key' },
    ORIGIN,
  );
  // Read at the database: the answers of two connections may arrive in either order.
  const returnedAfterAct: boolean[] = [];
  const checkAct = async () => {
    const filter = { type: EVENT.type };
    returnedAfterAct.push((await listEvents(other, { filter, order: 'desc', after: '0', limit: 1 })).length === 1);
  };
  const isLive = () => other.read(() => findLiveAdminKey({ ...hashesOf(adminKey), now: clock() }));
  const acting = actingWith(node, adminKey);

  const [begun, ended] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const order: string[] = [];
  const act = acting.commit(function* unit(): Work<void> {
    begun.resolve();
    while (underWay) yield* findLiveAdminKey({ ...hashesOf(''), now: clock() });
    yield* record(EVENT);
  });
  act.then(() => order.push('act'), ended.reject);
  await begun.promise;
  const revocation = revokeAdminKey({ operator: undefined, database: other, clock }, key.id, ORIGIN);
  const checked = revocation.then(checkAct);
  revocation.then(() => order.push('revocation'), ended.reject);
  const waiting = (async () => {
    while ((await isLive()) !== undefined);
    while (order.length === 0 && (await waiters(own.url)) < 1);
  })();
  await Promise.race([waiting, ended.promise]);
  await assert.rejects(
    acting.commit(() => record(EVENT)),
    { status: 401 },
    'another unit is refused by now',
  );
  // Another operator who revokes it finds nothing to end, and may rely on that no sooner.
  const again = assert
    .rejects(revokeAdminKey({ operator: undefined, database: other, clock }, key.id, ORIGIN), { code: 'not_found' })
    .then(checkAct)
    .then(() => order.push('second revocation'));
  while (order.length === 0 && (await waiters(own.url)) < 2);
  underWay = false;
  await Promise.all([act, checked, again]);
  assert.deepEqual(returnedAfterAct, [true, true]);
  assert.deepEqual(order.sort(), ['act', 'revocation', 'second revocation']);
});

test('a recovery returns after the requests under way have ended that had an admin key', { skip }, async (t) => {
  const own = await ownDatabase();
  assert.ok(own !== undefined);
  const [node, other] = [await openPatient(own.url), await openPatient(own.url)];
  let underWay = true;
  t.after(async () => {
    underWay = false;
    await Promise.all([node.close(), other.close()]);
    await own.drop();
  });
  await node.commit(() => createKeySet({ kid: 'kid', sealed: 'sealed' }, 'version', clock()));
  const { adminKey } = await createAdminKey(
    { operator: undefined, database: node, clock, ids },
    { name: 'a key' },
    ORIGIN,
  );
  const acting = actingWith(node, adminKey);
  const begun = Promise.withResolvers<void>();
  const act = acting.commit(function* unit(): Work<void> {
    begun.resolve();
    while (underWay) yield* findLiveAdminKey({ ...hashesOf(''), now: clock() });
    yield* record(EVENT);
  });
  await begun.promise;
  let acts: number | undefined;
  const recovery = (async () => {
    await revokeEverythingIssued({ database: other, clock, secret: randomBytes(32) }, undefined, ORIGIN);
    acts = (await listEvents(other, { filter: { type: EVENT.type }, order: 'desc', after: '0', limit: 2 })).length;
  })();
  while (acts === undefined && (await waiters(own.url)) < 1);
  underWay = false;
  await Promise.all([act, recovery]);
  assert.equal(acts, 1);
});

/** Its units of work may take as long as a busy machine needs until others wait for them. */
const openPatient = (url: string) =>
  openPostgres(url, toCurrentSchema, undefined, { local: true, patience: 10 * MINUTE });

const WAITERS = "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";

/** How many connections to a database wait for a lock. */
const waiters = async (url: string): Promise<number> => (await ask(url, WAITERS)).length;
