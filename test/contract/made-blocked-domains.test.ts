// store: SQLite, PostgreSQL
/** A domain that a stolen key unblocked is listed where the key ends, and blocked again on request. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { operatorInBrowser, signInOnCommandLine } from '../support/command-line.ts';
import { admin, newUser } from '../support/flow.ts';
import { MINUTE } from '../support/outcome.ts';
import { newestMail } from '../support/recovery.ts';
import { manage, newSelfRegistered, registerSelf } from '../support/registration.ts';
import { SEVERAL, startServer } from '../support/server.ts';
import { takenBack } from '../support/taken-back.ts';

const SETTINGS = { TESSERA_MAILBOX: 'on', TESSERA_REGISTRATION: 'open', TESSERA_LIMIT_REGISTRATION_ADDRESS: 'off' };
const server = await startServer(SETTINGS, SEVERAL);
after(() => server.close());
const { reportLink, press } = takenBack(server);
const keeper = await newUser(server, { password: undefined });
assert.equal((await admin(server, 'PUT', `/users/${keeper.id}/roles/owner`, {})).status, 200);

const call = async (method: string, path: string, body?: object, key?: string) => {
  const answer = await admin(server, method, path, body, key);
  assert.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body;
};
interface Key {
  readonly id: string;
  readonly adminKey: string;
}
const newKey = (role = 'admin', by?: string): Promise<Key> => call('POST', '/admin-keys', { name: 'stolen', role }, by);
const block = (domain: string, by?: Key) => call('PUT', `/blocked-domains/${domain}`, {}, by?.adminKey);
const unblock = (domain: string, by?: Key) => call('DELETE', `/blocked-domains/${domain}`, undefined, by?.adminKey);
const blockedNow = async (domain: string) =>
  (await call('GET', '/blocked-domains')).items.find((one: { domain: string }) => one.domain === domain);
const listed = async ({ id }: Key) => (await call('GET', `/admin-keys/${id}`)).made.unblockedDomains;
const end = async ({ id }: Key, endMade = true) =>
  (await call('DELETE', `/admin-keys/${id}?endMade=${endMade}`)).made.unblockedDomains;

test('a domain that a key and its helper unblocked is blocked again as it was, and ends what registered meanwhile', async () => {
  await block('.stolen.example');
  await block('helper.example');
  const before = await blockedNow('.stolen.example');
  const earlier = await newSelfRegistered(server);
  server.advance(MINUTE);
  const key = await newKey('owner');
  const helper = await newKey('admin', key.adminKey);
  await unblock('.stolen.example', key);
  await unblock('helper.example', helper);
  const evil = await newSelfRegistered(server, { redirect_uris: ['https://a.stolen.example/cb'] });
  assert.deepEqual(await listed(key), ['.stolen.example']);
  assert.deepEqual(await end(key), ['.stolen.example', 'helper.example']);
  assert.deepEqual(await blockedNow('.stolen.example'), before);
  assert.equal((await registerSelf(server, { redirect_uris: ['https://a.stolen.example/cb'] })).status, 400);
  assert.equal((await manage(server, 'GET', evil)).status, 401);
  assert.equal((await call('GET', `/clients/${evil.clientId}`)).status, 'disabled');
  assert.equal((await manage(server, 'GET', earlier)).status, 200, 'an app of another domain goes on');
  const { items } = await call('GET', '/audit-events?type=client.domain_blocked&order=desc&limit=2');
  assert.deepEqual(
    items.map(({ details }: { details: { domain: string; putBack?: boolean } }) => [details.domain, details.putBack]),
    [
      ['helper.example', true],
      ['.stolen.example', true],
    ],
  );
  assert.deepEqual(await listed(key), []);
});

test('a domain stays unblocked where only the key is revoked, and the answer names it', async () => {
  await block('revoked.example');
  const key = await newKey();
  await unblock('revoked.example', key);
  assert.deepEqual(await end(key, false), ['revoked.example']);
  assert.equal(await blockedNow('revoked.example'), undefined);
  assert.deepEqual(await listed(key), ['revoked.example']);
  assert.deepEqual(await end(key), ['revoked.example'], 'also of a key that was revoked before');
  assert.notEqual(await blockedNow('revoked.example'), undefined);
});

test('what somebody else decided since stays, and so does what the command line on the server unblocked', async () => {
  const [key, colleague] = [await newKey(), await newKey()];
  for (const domain of ['again.example', 'honest.example', 'server.example']) await block(domain);
  for (const domain of ['again.example', 'honest.example']) await unblock(domain, key);
  await unblock('server.example');
  for (const domain of ['again.example', 'honest.example']) await block(domain);
  const since = await blockedNow('again.example');
  await unblock('honest.example', colleague);
  assert.deepEqual(await listed(key), []);
  assert.deepEqual(await end(key), []);
  assert.equal(await blockedNow('honest.example'), undefined);
  assert.equal(await blockedNow('server.example'), undefined);
  assert.deepEqual(await blockedNow('again.example'), since);
});

test('a domain is blocked where a key and its helper unblocked, blocked and unblocked it, however often', async () => {
  await block('toggled.example');
  const key = await newKey('owner');
  const helper = await newKey('admin', key.adminKey);
  await unblock('toggled.example', await newKey());
  await block('toggled.example');
  await unblock('toggled.example', key);
  for (let times = 0; times < 60; times += 1) {
    const [blocking, unblocking] = times % 3 === 0 ? [helper, key] : [key, times % 3 === 1 ? key : helper];
    await block('toggled.example', blocking);
    await unblock('toggled.example', unblocking);
  }
  assert.deepEqual(await end(key), ['toggled.example']);
  assert.notEqual(await blockedNow('toggled.example'), undefined);
});

test('a domain that a key blocked and unblocked itself is blocked with its end, and is listed', async () => {
  const key = await newKey();
  await block('own.example', key);
  assert.deepEqual(await listed(key), []);
  await unblock('own.example', key);
  assert.deepEqual(await listed(key), ['own.example']);
  assert.deepEqual(await end(key), ['own.example']);
  assert.equal((await blockedNow('own.example')).domain, 'own.example');
});

for (const order of [
  [0, 1],
  [1, 0],
] as const)
  test(`a domain is blocked where keys that know nothing of each other unblocked it, and end in the order ${order}`, async () => {
    const domain = `order-${order.join('-')}.example`;
    await block(domain);
    const keys = [await newKey(), await newKey()] as const;
    await unblock(domain, keys[0]);
    await block(domain, keys[1]);
    await unblock(domain, keys[1]);
    for (const at of order) await end(keys[at]);
    assert.notEqual(await blockedNow(domain), undefined);
  });

test('what somebody else unblocked last stays so', async () => {
  await block('decided.example');
  const key = await newKey();
  await unblock('decided.example', key);
  await block('decided.example', key);
  await unblock('decided.example', await newKey());
  assert.deepEqual(await end(key), []);
  assert.equal(await blockedNow('decided.example'), undefined);
});

test('a key that may not admit apps does not end it', async () => {
  await block('beyond.example');
  const key = await newKey('owner');
  await unblock('beyond.example', key);
  const helper = await newKey('admin', key.adminKey);
  assert.equal(
    (await admin(server, 'DELETE', `/admin-keys/${key.id}?endMade=true`, undefined, helper.adminKey)).status,
    403,
  );
  assert.equal(await blockedNow('beyond.example'), undefined);
  assert.deepEqual(await end(key), ['beyond.example']);
});

test('a person is told that they unblocked a domain, and the report blocks it again', async () => {
  const operator = await operatorInBrowser(server, { emailVerified: true });
  await call('PUT', `/users/${operator.user.id}/roles/owner`, {});
  const { email } = await call('GET', `/users/${operator.user.id}`);
  await block('told.example');
  server.advance(MINUTE);
  const token = await signInOnCommandLine(server, operator);
  await call('DELETE', '/blocked-domains/told.example', undefined, token);
  assert.match((await newestMail(server, email, 'security notice')).text, /told\.example/);
  assert.equal(await press(await reportLink(email)), 200);
  assert.notEqual(await blockedNow('told.example'), undefined);
});
