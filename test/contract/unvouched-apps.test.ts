// store: SQLite, PostgreSQL
/** Decisions §§12, 15: no operator answers for the app of a person whom the policy of the installation alone makes a developer. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { signInOnCommandLine } from '../support/command-line.ts';
import { newOperator, open, type TestOperator } from '../support/console.ts';
import { admin, authorizeUrl, newUser, PASSWORD, signedIn, standard, walk } from '../support/flow.ts';
import { MINUTE } from '../support/outcome.ts';
import { startServer } from '../support/server.ts';
import { takenBack } from '../support/taken-back.ts';

const server = await startServer({ TESSERA_DEVELOPERS: 'anyone' });
after(() => server.close());

interface Developer extends TestOperator {
  readonly token: string;
}

/** A developer by a role, with a token of the command line. */
async function byRole(): Promise<Developer> {
  const found = await newOperator(server, 'developer');
  return { ...found, token: await signInOnCommandLine(server, { user: found, ...found }) };
}
const takeRole = async ({ id }: Developer) =>
  assert.equal((await admin(server, 'DELETE', `/users/${id}/roles/developer`)).status, 200);

async function byPolicy(): Promise<Developer> {
  const found = await byRole();
  await takeRole(found);
  return found;
}

let count = 0;
/** An app at a host of its own. */
async function newApp(token?: string, fields: Readonly<Record<string, unknown>> = {}) {
  const redirectUri = `https://app-${++count}.example/cb`;
  const app = { name: `App ${count}`, owner: 'Company IT', redirectUris: [redirectUri], ...fields };
  const { status, body } = await admin(server, 'POST', '/clients', app, token);
  assert.equal(status, 201, JSON.stringify(body));
  return { ...body, redirectUri } as typeof body & { redirectUri: string };
}
type App = Awaited<ReturnType<typeof newApp>>;

const change = (app: App, fields: Readonly<Record<string, unknown>>, token?: string) =>
  admin(server, 'PATCH', `/clients/${app.clientId}`, fields, token);
const accept = async ({ clientId }: App) =>
  assert.equal((await admin(server, 'PUT', `/clients/${clientId}/acceptance`)).status, 200);
const read = async ({ clientId }: App) => (await admin(server, 'GET', `/clients/${clientId}`)).body;
const markOf = async (app: App) => {
  const { registeredBy, acceptedAt } = await read(app);
  return [registeredBy, acceptedAt !== null];
};

const NOTICE = /class="notice"><p><strong>A user of this service registered this app/;

/** The consent page of an app, for somebody new. */
async function consentOf(app: App): Promise<string> {
  const browser = await signedIn(server, await newUser(server, { emailVerified: true }));
  let page = await browser.get(authorizeUrl(standard(app)));
  while (page.location !== undefined) page = await browser.get(page.location.href);
  assert.equal(page.status, 200, page.text);
  return page.text;
}

test('people are told that no operator registered it, and by whom it says it is run counts for nothing', async () => {
  const [role, policy] = [await byRole(), await byPolicy()];
  const [given, own] = [await newApp(role.token), await newApp(policy.token)];
  assert.deepEqual(
    [await markOf(given), await markOf(own)],
    [
      ['operator', false],
      ['developer', false],
    ],
  );
  const page = await consentOf(own);
  assert.match(page, NOTICE);
  assert.equal(page.includes('Company IT'), false);
  const other = await consentOf(given);
  assert.equal(NOTICE.test(other), false);
  assert.ok(other.includes('Company IT'));
  const listed = (await admin(server, 'GET', '/unregistered-clients?limit=100')).body.items;
  const ids = listed.map(({ clientId }: App) => clientId);
  assert.deepEqual([ids.includes(own.clientId), ids.includes(given.clientId)], [true, false]);
  assert.match((await open(server, policy, `/console/apps/${own.clientId}`)).text, /until an operator accepts it/);
});

test('no earlier consent answers, until an operator accepts the app; no developer does', async () => {
  const policy = await byPolicy();
  const app = await newApp(policy.token);
  const user = await newUser(server, { emailVerified: true });
  const browser = await signedIn(server, user);
  const silently = async () =>
    (await browser.get(authorizeUrl(standard(app), { prompt: 'none' }))).location?.searchParams;
  assert.ok((await walk(browser, authorizeUrl(standard(app)), { user })).searchParams.has('code'));
  assert.equal((await silently())?.get('error'), 'consent_required');
  assert.equal((await admin(server, 'PUT', `/clients/${app.clientId}/acceptance`, {}, policy.token)).status, 403);
  await accept(app);
  assert.ok((await silently())?.has('code'));
  assert.equal(NOTICE.test(await consentOf(app)), false);
  const events = (await admin(server, 'GET', `/audit-events?clientId=${app.clientId}&limit=100`)).body.items;
  const detailsOf = (wanted: string) =>
    events.filter(({ type }: { type: string }) => type === wanted).map(({ details }: { details: unknown }) => details);
  assert.equal(detailsOf('client.created')[0].registeredBy, 'developer');
  assert.equal(detailsOf('client.accepted').length, 1);
});

test('an acceptance ends where the developer makes another app of it, and an operator’s change keeps it', async () => {
  const policy = await byPolicy();
  const more = {
    name: { name: 'Another' },
    owner: { owner: 'Bank' },
    homepageUrl: { homepageUrl: 'https://else.example/' },
    policyUrl: { policyUrl: 'https://else.example/privacy' },
    termsUrl: { termsUrl: 'https://else.example/terms' },
    logoUrl: { logoUrl: 'https://else.example/logo.png' },
    redirectUris: { redirectUris: ['https://else.example/cb'] },
    backchannelLogoutUri: { idTokenSignedResponseAlg: 'RS256', backchannelLogoutUri: 'https://else.example/out' },
    resource: { resource: 'https://else.example/api' },
    resourceScopes: { resourceScopes: [{ name: 'notes.all', descriptions: { en: 'Read your name' } }] },
  };
  for (const [name, fields] of Object.entries(more)) {
    const resource = `https://${name.toLowerCase()}.example/api`;
    const app = await newApp(policy.token, { resource });
    await accept(app);
    assert.equal((await change(app, { description: 'As before.' }, policy.token)).status, 200);
    assert.deepEqual(await markOf(app), ['developer', true], name);
    const changed = await change(app, fields, policy.token);
    assert.equal(changed.status, 200, JSON.stringify(changed.body));
    assert.deepEqual(await markOf(app), ['developer', false], name);
    await accept(app);
    assert.equal((await change(app, { name: 'By an operator' })).status, 200);
    assert.deepEqual(await markOf(app), ['developer', true], name);
  }
});

test('so it is with an app from the time of a role, and with its picture', async () => {
  const developer = await byRole();
  const [kept, renamed, shown] = [
    await newApp(developer.token),
    await newApp(developer.token),
    await newApp(developer.token),
  ];
  assert.equal((await change(kept, { name: 'Of the role' }, developer.token)).status, 200);
  await takeRole(developer);
  assert.equal((await change(kept, { description: 'As before.' }, developer.token)).status, 200);
  assert.deepEqual(await markOf(kept), ['operator', false]);
  assert.equal((await change(renamed, { name: 'Of the policy' }, developer.token)).status, 200);
  assert.deepEqual(await markOf(renamed), ['developer', false]);
  const picture = await fetch(`${server.baseUrl}/api/v2/admin/clients/${shown.clientId}/picture`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${developer.token}`, 'content-type': 'image/png' },
    body: Buffer.from(PIXEL, 'base64'),
  });
  assert.equal(picture.status, 200, await picture.text());
  assert.deepEqual(await markOf(shown), ['developer', false]);
});

const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==';

test('a blocked domain is no place for it', async () => {
  const [role, policy] = [await byRole(), await byPolicy()];
  const redirectUris = ['https://login.evil.example/cb'];
  const [before, accepted, given] = [
    await newApp(policy.token, { redirectUris }),
    await newApp(policy.token, { redirectUris }),
    await newApp(role.token, { redirectUris }),
  ];
  await accept(accepted);
  assert.equal((await admin(server, 'PUT', '/blocked-domains/.evil.example')).status, 200);
  const statuses = [];
  for (const app of [before, accepted, given]) statuses.push((await read(app)).status);
  assert.deepEqual(statuses, ['disabled', 'active', 'active']);
  const refused = await admin(server, 'POST', '/clients', { name: 'Again', redirectUris }, policy.token);
  assert.equal(refused.status, 400);
  assert.match(refused.body.error_description, /login\.evil\.example.*blocked/);
  const other = await newApp(policy.token);
  assert.equal((await change(other, { redirectUris }, policy.token)).status, 400);
  assert.equal((await change(accepted, { name: 'Another' }, policy.token)).status, 400);
  assert.equal((await change(before, { status: 'active' }, policy.token)).status, 403);
  assert.equal((await newApp(role.token, { redirectUris })).status, 'active');
  assert.equal((await admin(server, 'DELETE', `/clients/${accepted.clientId}/acceptance`)).status, 204);
  assert.equal((await read(accepted)).status, 'disabled');
});

test('whom the policy makes a developer is signed out where the key ends that opened the account, and their app is disabled', async () => {
  const { body: stolen } = await admin(server, 'POST', '/admin-keys', { name: 'stolen', role: 'admin' });
  const carl = await newUser(server, { emailVerified: true });
  assert.equal(
    (await admin(server, 'PATCH', `/users/${carl.id}`, { password: PASSWORD }, stolen.adminKey)).status,
    200,
  );
  server.advance(MINUTE);
  const browser = await signedIn(server, carl);
  const { seed } = await takenBack(server).addApp(browser);
  server.advance(MINUTE);
  const token = await signInOnCommandLine(server, { user: carl, browser, factor: { seed, recoveryCodes: [] } });
  const app = await newApp(token);
  const { body } = await admin(server, 'DELETE', `/admin-keys/${stolen.id}?endMade=true`);
  assert.deepEqual(
    body.made.through.map(({ userId, ends }: { userId: string; ends: boolean }) => [userId, ends]),
    [[carl.id, true]],
  );
  assert.equal((await read(app)).status, 'disabled');
  assert.equal((await admin(server, 'GET', '/clients', undefined, token)).status, 401);
});
