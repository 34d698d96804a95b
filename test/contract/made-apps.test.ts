// store: SQLite, PostgreSQL with --all
/** Decisions §12: what an admin key, or a role, did to apps is listed where it ends, and ends with it on request. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { admin, newClient, newUser, tokenCall } from '../support/flow.ts';
import { manage, newSelfRegistered } from '../support/registration.ts';
import { startServer } from '../support/server.ts';
import { introspect } from '../support/token-services.ts';

const server = await startServer({ TESSERA_REGISTRATION: 'token' });
after(() => server.close());
const keeper = await newUser(server, { password: undefined });
assert.equal((await admin(server, 'PUT', `/users/${keeper.id}/roles/owner`, {})).status, 200);

const call = async (method: string, path: string, body?: object, key?: string) => {
  const answer = await admin(server, method, path, body, key);
  assert.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body;
};
const newKey = (): Promise<{ id: string; adminKey: string }> =>
  call('POST', '/admin-keys', { name: 'stolen', role: 'admin' });
const APP = {
  ...{ name: 'Intranet', redirectUris: ['https://app.example/callback'], scopes: ['openid', 'email'] },
  consent: 'operator',
};
const newApp = (by?: string) => call('POST', '/clients', APP, by);
const approve = (id: string, by?: string) => call('PUT', `/clients/${id}/consent-approval`, { scopes: ['email'] }, by);

/** What a thief does with a key: to an app of their own, and to one that was there. */
async function plant(by: string) {
  const [own, other] = [await newApp(by), await newApp()];
  await approve(own.clientId, by);
  await approve(other.clientId, by);
  const { id: secretId } = await call('POST', `/clients/${other.clientId}/secrets`, {}, by);
  return { own: own.clientId as string, other: other.clientId as string, secretId: secretId as string };
}

const EXPECTED = ({ own, other }: { own: string; other: string }) => [
  { clientId: own, name: 'Intranet', acts: ['registered', 'approved'] },
  { clientId: other, name: 'Intranet', acts: ['approved', 'secret_added'] },
];

test('what a key did to apps is listed, and goes on where only the key is revoked', async () => {
  const key = await newKey();
  const planted = await plant(key.adminKey);
  assert.deepEqual((await call('GET', `/admin-keys/${key.id}`)).made.apps, EXPECTED(planted));
  const { made } = await call('DELETE', `/admin-keys/${key.id}`);
  assert.deepEqual(made.apps, EXPECTED(planted));
  assert.equal((await call('GET', `/clients/${planted.own}`)).status, 'active');
});

test('with what it made, the apps that a key registered are disabled, its secrets end and its approvals are withdrawn', async () => {
  const key = await newKey();
  const helper = await call('POST', '/admin-keys', { name: 'helper', role: 'admin' }, key.adminKey);
  const planted = [await plant(key.adminKey), await plant(helper.adminKey)];
  const { made } = await call('DELETE', `/admin-keys/${key.id}?endMade=true`);
  assert.deepEqual(made.apps, planted.flatMap(EXPECTED));
  for (const { own, other, secretId } of planted) {
    assert.equal((await call('GET', `/clients/${own}`)).status, 'disabled');
    const kept = await call('GET', `/clients/${other}`);
    assert.deepEqual([kept.status, kept.consentApproval], ['active', null]);
    const secret = kept.secrets.find(({ id }: { id: string }) => id === secretId);
    assert.ok(secret === undefined || Date.parse(secret.expiresAt) <= server.now());
  }
  const { items } = await call('GET', '/audit-events?type=admin_key.revoked&limit=10');
  const event = items.find(({ details }: { details: { adminKeyId: string } }) => details.adminKeyId === key.id);
  assert.equal(event.details.made.apps.length, 4);
});

test('an app that registered with an initial access token of a key is listed with the key, and ends with what it made', async () => {
  const key = await newKey();
  const helper = await call('POST', '/admin-keys', { name: 'helper', role: 'admin' }, key.adminKey);
  const apps = [];
  for (const { adminKey } of [key, helper]) {
    const token = await call('POST', '/initial-access-tokens', { name: 'intranet' }, adminKey);
    const metadata = { client_name: 'Intranet', redirect_uris: ['https://app.example/callback'] };
    apps.push(await newSelfRegistered(server, metadata, token.initialAccessToken));
  }
  const listed = apps.map(({ clientId }) => ({ clientId, name: 'Intranet', acts: ['registered'] }));
  assert.deepEqual((await call('GET', `/admin-keys/${key.id}`)).made.apps, listed.slice(0, 1));
  const { made } = await call('DELETE', `/admin-keys/${key.id}?endMade=true`);
  assert.deepEqual(made.apps, listed);
  for (const app of apps) {
    assert.equal((await call('GET', `/clients/${app.clientId}`)).status, 'disabled');
    assert.equal((await manage(server, 'GET', app)).status, 401);
  }
});

test('an app that a key enabled ends with the key, unless it was enabled again since', async () => {
  const [first, second, third] = [await newKey(), await newKey(), await newKey()];
  const { clientId } = await newApp(first.adminKey);
  const [status, listed] = [
    async () => (await call('GET', `/clients/${clientId}`)).status,
    async ({ id }: { id: string }) => (await call('GET', `/admin-keys/${id}`)).made.apps,
  ];
  const enable = (by: string) => call('PATCH', `/clients/${clientId}`, { status: 'active' }, by);
  await call('DELETE', `/admin-keys/${first.id}?endMade=true`);
  await enable(second.adminKey);
  assert.deepEqual(await listed(second), [{ clientId, name: 'Intranet', acts: ['enabled'] }]);
  await call('DELETE', `/admin-keys/${second.id}?endMade=true`);
  assert.equal(await status(), 'disabled');
  await enable(third.adminKey);
  await call('PATCH', `/clients/${clientId}`, { status: 'disabled' });
  await call('PATCH', `/clients/${clientId}`, { status: 'active' });
  assert.deepEqual(await listed(third), []);
  await call('DELETE', `/admin-keys/${third.id}?endMade=true`);
  assert.equal(await status(), 'active');
});

test('what an app got for itself since a key added a secret to it ends with the secret', async () => {
  const key = await newKey();
  const app = await newClient(server, { grantTypes: ['authorization_code', 'refresh_token', 'client_credentials'] });
  const getToken = async (secret: string | undefined = app.clientSecret): Promise<string> => {
    const grant = { grant_type: 'client_credentials', client_id: app.clientId, client_secret: secret };
    const { status, body } = await tokenCall(server, grant);
    assert.equal(status, 200);
    return body.access_token;
  };
  const isActive = async (token: string) => (await introspect(server, app, token)).body.active;
  const earlier = await getToken();
  server.advance(1000);
  const { clientSecret } = await call('POST', `/clients/${app.clientId}/secrets`, {}, key.adminKey);
  const stolen = await getToken(clientSecret);
  assert.deepEqual([await isActive(earlier), await isActive(stolen)], [true, true]);
  await call('DELETE', `/admin-keys/${key.id}?endMade=true`);
  assert.deepEqual([await isActive(earlier), await isActive(stolen)], [true, false]);
  assert.equal(await isActive(await getToken()), true);
});
