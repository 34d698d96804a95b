// store: SQLite, PostgreSQL
/** Who was made an operator by a stolen key, or with a stolen operator's account, is none when that is ended with what it made. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { agent } from '../support/agent.ts';
import { operatorInBrowser, signInOnCommandLine } from '../support/command-line.ts';
import { act, newOperator } from '../support/console.ts';
import { admin, authorizeUrl, newUser, redeem, signedIn, standard, type TestUser } from '../support/flow.ts';
import { DAY, HOUR, MINUTE } from '../support/outcome.ts';
import { newestMail } from '../support/recovery.ts';
import { startServer } from '../support/server.ts';
import { takenBack } from '../support/taken-back.ts';

const server = await startServer({
  TESSERA_MAILBOX: 'on',
  TESSERA_LIMIT_MAIL_RECIPIENT: 'off',
  TESSERA_LIMIT_MAIL_ADDRESS: 'off',
});
after(() => server.close());
const { signedInWith, reportLink, press } = takenBack(server);
// Of two owners, one may lose the role.
const keeper = await newUser(server);
await admin(server, 'PUT', `/users/${keeper.id}/roles/owner`, {});

const call = async (method: string, path: string, body?: object, key?: string) => {
  const answer = await admin(server, method, path, body, key);
  assert.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body;
};

let count = 0;
const newOrganization = async (): Promise<string> =>
  (await call('POST', '/organizations', { name: `made-${++count}`, domain: `made-${count}.example` })).id;
const newKey = async (role: string): Promise<{ id: string; adminKey: string }> =>
  call('POST', '/admin-keys', { name: 'stolen', role });
const setMember = (organizationId: string, { id }: TestUser, role: string | null, key?: string) =>
  call('PUT', `/organizations/${organizationId}/members/${id}`, { role }, key);
const rolesOf = async ({ id }: TestUser): Promise<string[]> =>
  (await call('GET', `/users/${id}/roles`)).items.map(({ role }: { role: string }) => role);
const memberRole = async (organizationId: string, { id }: TestUser): Promise<string | null | undefined> =>
  (await call('GET', `/organizations/${organizationId}`)).members.find(
    ({ userId }: { userId: string }) => userId === id,
  )?.role;
const endWithMade = (id: string) => call('DELETE', `/admin-keys/${id}?endMade=true`);

test('who was made owner or admin of an organization by a key is no member after it ended, and is listed', async () => {
  for (const role of ['OWNER', 'ADMIN']) {
    const [organizationId, key, mallory] = [await newOrganization(), await newKey('owner'), await newUser(server)];
    await setMember(organizationId, mallory, role, key.adminKey);
    const { made } = await endWithMade(key.id);
    assert.deepEqual(
      made.roles.map((one: { userId: string; role: string; organizationId: string }) => [
        one.userId,
        one.role,
        one.organizationId,
      ]),
      [[mallory.id, role.toLowerCase(), organizationId]],
    );
    assert.equal(await memberRole(organizationId, mallory), undefined);
    assert.deepEqual(await rolesOf(mallory), []);
  }
});

test('a member whom a key raised has the earlier role again, one whom it lowered or to whom it gave the same keeps what is there', async () => {
  const [organizationId, key] = [await newOrganization(), await newKey('owner')];
  const [raised, same, lowered] = [await newUser(server), await newUser(server), await newUser(server)];
  await setMember(organizationId, raised, 'ADMIN');
  await setMember(organizationId, same, 'OWNER');
  await setMember(organizationId, lowered, 'OWNER');
  await setMember(organizationId, raised, 'OWNER', key.adminKey);
  await setMember(organizationId, same, 'OWNER', key.adminKey);
  await setMember(organizationId, lowered, 'ADMIN', key.adminKey);
  await endWithMade(key.id);
  assert.equal(await memberRole(organizationId, raised), 'ADMIN');
  assert.equal(await memberRole(organizationId, same), 'OWNER');
  assert.equal(await memberRole(organizationId, lowered), 'ADMIN');
});

test('who joined as an admin by the invitation of a key is no member after it ended', async () => {
  const [organizationId, key] = [await newOrganization(), await newKey('owner')];
  const mallory = await newUser(server, { emailVerified: true });
  const { email } = await call('GET', `/users/${mallory.id}`);
  await call('POST', '/invitations', { email, organizationId, role: 'ADMIN' }, key.adminKey);
  await accept(mallory, email);
  assert.equal(await memberRole(organizationId, mallory), 'ADMIN');
  await endWithMade(key.id);
  assert.equal(await memberRole(organizationId, mallory), undefined);
});

async function accept(user: TestUser, email: string): Promise<void> {
  const browser = await signedIn(server, user);
  const { link = '' } = await newestMail(server, email, 'invitation');
  const done = await browser.submit(await browser.get(link), {}, '/invitation');
  assert.equal(done.status, 200, `${done.location} ${done.text}`);
}

test('what an admin of an organization made in turn ends with the report of the account that made them one', async () => {
  const [organizationId, mallory] = [await newOrganization(), await operatorInBrowser(server, { emailVerified: true })];
  const operator = await operatorInBrowser(server, { emailVerified: true });
  await call('PUT', `/users/${operator.user.id}/roles/owner`, {});
  const { email } = await call('GET', `/users/${operator.user.id}`);
  server.advance(HOUR);
  const thief = { ...operator, browser: await signedInWith({ user: operator.user, email }, operator.factor) };
  server.advance(MINUTE);
  const token = await signInOnCommandLine(server, thief);
  await setMember(organizationId, mallory.user, 'ADMIN', token);
  server.advance(MINUTE);
  const own = await signInOnCommandLine(server, mallory);
  const made = await call('POST', '/admin-keys', { name: 'more', role: 'admin', organizationId }, own);
  assert.equal((await admin(server, 'GET', `/organizations/${organizationId}`, undefined, made.adminKey)).status, 200);
  assert.equal(await press(await reportLink(email)), 200);
  assert.equal(await memberRole(organizationId, mallory.user), undefined);
  for (const credential of [made.adminKey, own]) {
    const answer = await admin(server, 'GET', `/organizations/${organizationId}`, undefined, credential);
    assert.ok([401, 403, 404].includes(answer.status), String(answer.status));
  }
});

test('who gives a role that had ended, or for longer, is its maker', async () => {
  const [ended, running, same] = [await newUser(server), await newUser(server), await newUser(server)];
  const path = ({ id }: TestUser) => `/users/${id}/roles/admin`;
  const until = (ms: number) => ({ expiresAt: new Date(server.now() + ms).toISOString() });
  await call('PUT', path(ended), until(HOUR));
  await call('PUT', path(running), until(60 * DAY));
  await call('PUT', path(same), {});
  server.advance(DAY);
  const key = await newKey('owner');
  for (const user of [ended, running, same]) await call('PUT', path(user), {}, key.adminKey);
  assert.deepEqual((await endWithMade(key.id)).made.roles.length, 2);
  assert.deepEqual(await rolesOf(ended), []);
  assert.deepEqual(await rolesOf(running), ['admin'], 'until its earlier end');
  assert.deepEqual(await rolesOf(same), ['admin'], 'who gives a role again gives nothing');
});

const SCOPES = ['openid', 'profile', 'email', 'phone'];
const OF_DEVELOPER = { name: 'Intranet', redirectUris: ['https://app.example/cb'] };
const APP = { ...OF_DEVELOPER, scopes: SCOPES };

/** Whether somebody who follows a link to an app is sent there with a code without being asked. */
async function isSilent({
  clientId,
  clientSecret = '',
}: {
  clientId: string;
  clientSecret?: string;
}): Promise<boolean> {
  const browser = await signedIn(server, await newUser(server, { emailVerified: true }));
  const app = standard({ clientId, clientSecret, redirectUri: 'https://app.example/cb' });
  const answer = await browser.get(authorizeUrl(app, { scope: SCOPES.join(' ') }));
  return answer.location?.searchParams.has('code') ?? false;
}

/** Registers an app and approves it for everybody. */
async function newApproved(by: string): Promise<{ clientId: string; clientSecret: string }> {
  const app = await call('POST', '/clients', { ...APP, consent: 'operator' }, by);
  await call('PUT', `/clients/${app.clientId}/consent-approval`, { scopes: SCOPES }, by);
  assert.equal(await isSilent(app), true);
  return app;
}

test('an app that a key approved for everybody asks people again after the key ended with what it made', async () => {
  const key = await newKey('admin');
  const app = await newApproved(key.adminKey);
  const earlier = await newApproved((await newKey('admin')).adminKey);
  await endWithMade(key.id);
  assert.equal(await isSilent(app), false);
  assert.equal(await isSilent(earlier), true);
});

/** An operator whose account a thief has taken: what the thief's command line sends with. */
async function robbed(role: string, ...earlier: readonly ((token: string) => Promise<unknown>)[]) {
  const operator = await operatorInBrowser(server, { emailVerified: true });
  await call('PUT', `/users/${operator.user.id}/roles/${role}`, {});
  const { email } = await call('GET', `/users/${operator.user.id}`);
  server.advance(MINUTE);
  const own = await signInOnCommandLine(server, operator);
  for (const act of earlier) await act(own);
  server.advance(9 * DAY);
  const thief = { ...operator, browser: await signedInWith({ user: operator.user, email }, operator.factor) };
  server.advance(MINUTE);
  return { email, token: await signInOnCommandLine(server, thief) };
}

test('an app that a thief registered and approved with the account of an admin is disabled with the report', async () => {
  const { email, token } = await robbed('admin');
  const app = await newApproved(token);
  assert.equal(await press(await reportLink(email)), 200);
  assert.equal((await call('GET', `/clients/${app.clientId}`)).status, 'disabled');
  assert.equal(await isSilent(app), false);
});

test('a secret that a thief added to an earlier app ends with the report, and changed redirect URIs are put back', async () => {
  let app = { clientId: '', clientSecret: '' };
  let untouched = app;
  const register = async (token: string) => {
    app = await call('POST', '/clients', OF_DEVELOPER, token);
    untouched = await call('POST', '/clients', OF_DEVELOPER, token);
  };
  const { email, token } = await robbed('developer', register);
  const { clientSecret } = await call('POST', `/clients/${app.clientId}/secrets`, {}, token);
  await call(
    'PATCH',
    `/clients/${app.clientId}`,
    { redirectUris: [...APP.redirectUris, 'https://thief.example/cb'] },
    token,
  );
  const isRight = async (secret: string): Promise<boolean> => {
    const client = { clientId: app.clientId, clientSecret: secret, redirectUri: 'https://app.example/cb' };
    return (await redeem(server, standard(client), 'no-code')).body.error !== 'invalid_client';
  };
  assert.equal(await isRight(clientSecret), true);
  assert.equal(await press(await reportLink(email)), 200);
  assert.equal(await isRight(clientSecret), false);
  assert.equal(await isRight(app.clientSecret), true, 'the earlier one goes on until its end');
  const { text } = await newestMail(server, email, 'recovery');
  assert.match(text, /a secret of an app/);
  assert.deepEqual((await call('GET', `/clients/${app.clientId}`)).redirectUris, APP.redirectUris);
  for (const { clientId } of [app, untouched]) {
    assert.equal((await call('GET', `/clients/${clientId}`)).status, 'active');
  }
});

test('an invitation that a thief sent with the account of an operator ends with the report', async () => {
  const operator = await newOperator(server, 'admin');
  const { email } = await call('GET', `/users/${operator.id}`);
  server.advance(9 * DAY);
  const thief = { ...operator, browser: await signedInWith({ user: operator, email }, operator.factor) };
  const invited = `invited-${++count}@example.com`;
  await act(server, thief, '/console/invitations/new', {}, { email: invited, days: '7' });
  const { link = '' } = await newestMail(server, invited, 'invitation');
  assert.equal((await agent(server.baseUrl).get(link)).status, 200);
  assert.equal(await press(await reportLink(email)), 200);
  assert.notEqual((await agent(server.baseUrl).get(link)).status, 200);
});

test('nobody approves an app that they registered as a developer', async () => {
  const { token } = await robbed('developer');
  const app = await call('POST', '/clients', { ...OF_DEVELOPER, consent: 'operator' }, token);
  const [{ developerId }] = [await call('GET', `/clients/${app.clientId}`)];
  await call('PUT', `/users/${developerId}/roles/admin`, {});
  const approved = await admin(server, 'PUT', `/clients/${app.clientId}/consent-approval`, { scopes: SCOPES }, token);
  assert.equal(approved.status, 409, JSON.stringify(approved.body));
});

test('who holds a role from elsewhere keeps what that allows, also where an ended operator gave them more', async () => {
  const [giver, colleague] = [await newOperator(server, 'owner'), await newOperator(server, 'admin')];
  const earlier = await call('POST', '/clients', APP);
  assert.equal(
    (await act(server, giver, '/console/operators/grant', { user: colleague.id }, { role: 'auditor' })).status,
    200,
  );
  const key = await act(server, colleague, '/console/keys/new', {}, { name: 'Of a colleague', role: 'admin' });
  const adminKey = /tak_[\w-]+/.exec(key.text)?.[0] ?? '';
  const app = await call('POST', '/clients', APP, adminKey);
  await call('DELETE', `/users/${giver.id}/roles/owner?endMade=true`);
  assert.deepEqual(await rolesOf(colleague), ['admin']);
  for (const { clientId } of [app, earlier])
    assert.equal((await call('GET', `/clients/${clientId}`, undefined, adminKey)).status, 'active');
});

test('what goes beyond the role from elsewhere ends, as does a role that somebody gave themselves by the ended one', async () => {
  const [stolen, mallory] = [await newKey('owner'), await newOperator(server, 'auditor')];
  await call('PUT', `/users/${mallory.id}/roles/owner`, {}, stolen.adminKey);
  const made = await act(server, mallory, '/console/keys/new', {}, { name: 'Of more', role: 'owner' });
  const adminKey = /tak_[\w-]+/.exec(made.text)?.[0] ?? '';
  await call('PUT', `/users/${mallory.id}/roles/admin`, {}, adminKey);
  assert.equal(
    (await act(server, mallory, '/console/operators/grant', { user: mallory.id }, { role: 'developer' })).status,
    200,
  );
  const app = await call('POST', '/clients', APP, adminKey);
  await endWithMade(stolen.id);
  assert.deepEqual(await rolesOf(mallory), ['auditor']);
  assert.equal((await admin(server, 'GET', '/users', undefined, adminKey)).status, 401);
  assert.equal((await call('GET', `/clients/${app.clientId}`)).status, 'disabled');
});

test('of whom the ended operator made an operator, only what they made from then on ends', async () => {
  const [stolen, person] = [await newKey('owner'), await newOperator(server, 'developer')];
  await act(
    server,
    person,
    '/console/apps/new',
    {},
    { kind: 'web', name: `Early ${++count}`, uris: 'https://a.example/cb' },
  );
  await call('DELETE', `/users/${person.id}/roles/developer`);
  server.advance(HOUR);
  await call('PUT', `/users/${person.id}/roles/developer`, {}, stolen.adminKey);
  await act(
    server,
    person,
    '/console/apps/new',
    {},
    { kind: 'web', name: `Late ${count}`, uris: 'https://a.example/cb' },
  );
  const { made } = await endWithMade(stolen.id);
  assert.deepEqual(
    made.apps.map(({ name }: { name: string }) => name),
    [`Late ${count}`],
  );
});
