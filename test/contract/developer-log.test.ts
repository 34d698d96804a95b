// store: SQLite, PostgreSQL
/** Decisions §§12, 13: a developer reads what their own apps sent and were told, and of people the ID, and the name that they share. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { agent } from '../support/agent.ts';
import { signInOnCommandLine } from '../support/command-line.ts';
import { newOperator } from '../support/console.ts';
import {
  admin,
  authorizeUrl,
  codeFor,
  newClient,
  newUser,
  redeem,
  revokeOnPage,
  signedIn,
  standard,
  walk,
} from '../support/flow.ts';
import { startServer } from '../support/server.ts';

const server = await startServer({});
after(() => server.close());
const developer = await newOperator(server, 'developer');
const token = await signInOnCommandLine(server, { user: developer, ...developer });
const call = (path: string, by = token) => admin(server, 'GET', path, undefined, by);

const redirectUri = 'https://app.example/cb';
const registered = await admin(server, 'POST', '/clients', { name: 'Own', redirectUris: [redirectUri] }, token);
const own = standard({ ...registered.body, redirectUri } as {
  clientId: string;
  clientSecret: string;
  redirectUri: string;
});
const other = await newClient(server, { name: 'Other' });
const logOf = (clientId: string, query = '') => call(`/clients/${clientId}/trace-steps${query}`);
const page = `/console/apps/${own.clientId}/log`;

test('the log has what the app sent and was told, and of a person who shares no name the ID alone', async () => {
  const displayName = 'Augusta Ada Byron';
  const user = await newUser(server, { displayName, emailVerified: true });
  const typed = 'somebody-who-is-typed@example.org';
  const stranger = agent(server.baseUrl);
  const login = await stranger.get(authorizeUrl(own, { login_hint: typed }));
  const form = await stranger.get(login.location?.href ?? '');
  await stranger.submit(form, { identifier: typed, password: 'wrong password' }, '/login');
  const code = await codeFor(server, own, user);
  assert.equal((await redeem(server, { ...own, clientSecret: 'wrong' }, code)).status, 401);
  assert.equal((await redeem(server, own, code)).status, 200);
  const { status, body } = await logOf(own.clientId);
  assert.equal(status, 200, JSON.stringify(body));
  const refused = body.items.find((step: { step: string; error?: string }) => step.error === 'invalid_client');
  assert.equal(refused?.step, 'token');
  assert.ok(refused.description.length > 0);
  assert.ok(body.items.some((step: { userId: string | null }) => step.userId === user.id));
  for (const step of body.items) {
    assert.equal(step.clientId, own.clientId);
    assert.deepEqual(
      [step.reason, step.remedy, step.expected, step.received],
      [undefined, undefined, undefined, undefined],
    );
  }
  const { text } = await developer.browser.get(page);
  assert.ok(text.includes(user.id) && text.includes('invalid_client'));
  for (const hidden of [displayName, user.username, typed, '127.0.0.1', '::1', code]) {
    assert.ok(!JSON.stringify(body).includes(hidden), hidden);
    assert.ok(!text.includes(hidden), hidden);
  }
});

test('nobody is named who has not allowed the app, whatever they did at its request', async () => {
  const user = await newUser(server, { emailVerified: true });
  const browser = agent(server.baseUrl);
  const denied = await walk(browser, authorizeUrl(own), { user, decision: 'deny' });
  assert.equal(denied.searchParams.get('error'), 'access_denied');
  const silent = await browser.get(authorizeUrl(own, { prompt: 'none' }));
  assert.equal(silent.location?.searchParams.get('error'), 'consent_required');
  await browser.get(`/oidc/end-session?client_id=${own.clientId}`);
  const named = async () => (await logOf(own.clientId, '?order=desc')).body.items.map(namedStep).filter(Boolean);
  const namedStep = ({ step, userId }: { step: string; userId: string | null }) => userId === user.id && step;
  const [, flow] =
    /"requestId":"([^"]+)","clientId":"[^"]+","userId":null,"step":"consent"/.exec(
      JSON.stringify((await logOf(own.clientId, '?order=desc')).body.items),
    ) ?? [];
  assert.ok(flow !== undefined, 'the refusal itself is in the log');
  assert.deepEqual(await named(), []);
  assert.equal((await developer.browser.get(page)).text.includes(user.id), false);
  await codeFor(server, own, user);
  assert.deepEqual(await named(), ['code']);
});

test('a person is named while they let the app read the name', async () => {
  const displayName = 'Grace <b>Brewster</b> Hopper';
  const user = await newUser(server, { displayName, emailVerified: true });
  const browser = await signedIn(server, user);
  const allowed = async (app: typeof own, scope: string, allow: readonly string[]) =>
    redeem(server, app, await codeFor(server, app, user, { scope, prompt: 'consent' }, { browser, allow }));
  const names = async () => {
    const { items } = (await logOf(own.clientId, '?order=desc')).body;
    const { text } = await developer.browser.get(page);
    assert.ok(text.includes(user.id));
    const steps = items.filter((step: { userId: string | null }) => step.userId === user.id);
    const shown = text.includes('Grace &lt;b&gt;Brewster&lt;/b&gt; Hopper') ? displayName : null;
    return [...new Set([shown, ...steps.map((step: { userName: string | null }) => step.userName)])];
  };
  // Another app may read it, which says nothing to this one.
  await allowed(standard(other), 'openid profile', ['profile']);
  await allowed(own, 'openid', []);
  assert.deepEqual(await names(), [null]);
  await allowed(own, 'openid profile', []);
  assert.deepEqual(await names(), [null], 'the switch was off');
  await allowed(own, 'openid profile', ['profile']);
  assert.deepEqual(await names(), [displayName]);
  const { requestId } = (await logOf(own.clientId, '?order=desc')).body.items[0];
  assert.ok((await developer.browser.get(`${page}?request=${requestId}`)).text.includes('Hopper'));
  const scopes = (list: readonly string[]) =>
    admin(server, 'PATCH', `/clients/${own.clientId}`, { scopes: list }, token);
  assert.equal((await scopes(['openid', 'email'])).status, 200);
  assert.deepEqual(await names(), [null], 'the app may no longer request it');
  assert.equal((await scopes(['openid', 'profile', 'email'])).status, 200);
  assert.deepEqual(await names(), [displayName]);
  await revokeOnPage(browser, own);
  assert.deepEqual(await names(), [null]);
});

test('one flow of the app is read by the correlation ID of any of its requests', async () => {
  const code = await codeFor(server, own, await newUser(server, { emailVerified: true }));
  assert.equal((await redeem(server, own, code)).status, 200);
  const { body } = await logOf(own.clientId, '?order=desc');
  const { requestId } = body.items.find((step: { step: string }) => step.step === 'token');
  const flow = (await logOf(own.clientId, `?requestId=${requestId}`)).body.items;
  const names = flow.map((step: { step: string }) => step.step);
  assert.ok(names.includes('token') && names.includes('code'), String(names));
  assert.ok(flow.length < body.items.length);
  const { text } = await developer.browser.get(`${page}?request=${requestId}`);
  assert.match(text, /steps of this flow/);
});

test('nothing of another app is shown', async () => {
  const code = await codeFor(server, other, await newUser(server, { emailVerified: true }));
  assert.equal((await redeem(server, { ...other, clientSecret: 'wrong' }, code)).status, 401);
  const { items } = (await admin(server, 'GET', `/clients/${other.clientId}/trace-steps?order=desc`)).body;
  const { requestId } = items.find((step: { error?: string }) => step.error === 'invalid_client');
  for (const clientId of [other.clientId, '1234567']) assert.equal((await logOf(clientId)).status, 404);
  for (const path of [`/console/apps/${other.clientId}/log`, `/console/apps/${other.clientId}/log/live`]) {
    assert.equal((await developer.browser.get(path)).status, 404, path);
  }
  assert.deepEqual((await logOf(own.clientId, `?requestId=${requestId}`)).body.items, []);
  assert.deepEqual(
    [
      (await call('/trace-steps')).status,
      (await call(`/traces/${requestId}`)).status,
      (await call('/audit-events')).status,
    ],
    [403, 403, 403],
  );
});

test('the page of an app leads to its log, which ends with the role', async () => {
  assert.ok((await developer.browser.get(`/console/apps/${own.clientId}`)).text.includes(page));
  assert.ok((await developer.browser.get(`${page}?live=1`)).text.includes(`${page}/live`));
  assert.equal((await admin(server, 'DELETE', `/users/${developer.id}/roles/developer`)).status, 200);
  assert.equal((await developer.browser.get(page)).status, 403);
  assert.equal((await logOf(own.clientId)).status, 404);
});
