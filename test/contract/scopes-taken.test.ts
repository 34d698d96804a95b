// store: SQLite, PostgreSQL
/** A scope that an operator takes from an app is gone from what was issued to the app before, when the call returns. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { STANDARD } from '../support/api-call.ts';
import {
  admin,
  claimsOf,
  codeFor,
  newClient,
  newUser,
  redeem,
  refresh,
  signedIn,
  standard,
  tokensFor,
  userinfo,
} from '../support/flow.ts';
import { startServer } from '../support/server.ts';
import { introspect } from '../support/token-services.ts';

const server = await startServer({});
after(() => server.close());
const user = await newUser(server, { emailVerified: true, phone: '+4915112345678', website: 'https://ada.example' });
const browser = await signedIn(server, user);
const group = await admin(server, 'POST', '/groups', { name: 'works-council' });
await admin(server, 'PUT', `/groups/${group.body.id}/members/${user.id}`);

const SCOPES = ['openid', 'email', 'details', 'phone', 'groups'];
const newApp = () => newClient(server, { scopes: SCOPES, groupsClaim: 'all' });
const register = async (app: { clientId: string }, scopes: readonly string[] | null) =>
  assert.equal((await admin(server, 'PATCH', `/clients/${app.clientId}`, { scopes })).status, 200);

test('UserInfo, introspection and refreshes at the OIDC endpoints', async () => {
  const app = standard(await newApp());
  const claims = JSON.stringify({ userinfo: { website: null } });
  const tokens = await tokensFor(server, app, user, { scope: 'openid email phone groups', claims }, { browser });
  const given = async () => {
    const { sub: _, ...others } = (await userinfo(server, tokens.access_token, STANDARD)).body;
    return Object.keys(others).toSorted();
  };
  const before = await given();
  assert.deepEqual(before, ['email', 'email_verified', 'groups', 'phone_number', 'phone_number_verified', 'website']);
  await register(app, ['openid', 'email']);
  assert.deepEqual(await given(), ['email', 'email_verified']);
  await register(app, ['openid']);
  assert.deepEqual(await given(), []);
  for (const token of [tokens.access_token, tokens.refresh_token]) {
    const { body } = await introspect(server, app, token);
    assert.deepEqual([body.active, body.scope, body.groups], [true, 'openid', undefined]);
  }
  const refreshed = await refresh(server, app, tokens.refresh_token);
  assert.equal(claimsOf(refreshed.body.access_token).scope, 'openid');
  // The family keeps what the person allowed.
  await register(app, SCOPES);
  assert.deepEqual(await given(), before);
});

test('a token of which no scope is left is not active', async () => {
  const app = standard(await newApp());
  const tokens = await tokensFor(server, app, user, { scope: 'email' }, { browser });
  assert.equal((await introspect(server, app, tokens.access_token)).body.active, true);
  await register(app, ['openid']);
  assert.deepEqual((await introspect(server, app, tokens.access_token)).body, { active: false });
  assert.equal((await refresh(server, app, tokens.refresh_token)).status, 400);
});

test('a code that was open has the scopes that are left', async () => {
  const app = standard(await newApp());
  const claims = JSON.stringify({ id_token: { website: null } });
  const code = await codeFor(server, app, user, { scope: 'openid email phone', claims }, { browser });
  await register(app, ['openid', 'email']);
  const { body } = await redeem(server, app, code);
  assert.equal(body.scope, 'openid email');
  const { email, phone_number: phone, website } = claimsOf(body.id_token);
  assert.deepEqual([typeof email, phone, website], ['string', undefined, undefined]);
});

test('at the v2 endpoints what every token shares stays; an app that is registered without scopes has all', async () => {
  const app = await newClient(server);
  const claims = JSON.stringify({ id_token: { locale: null } });
  const tokens = await tokensFor(server, app, user, { scope: 'openid profile phone' }, { browser });
  const before = (await userinfo(server, tokens.access_token)).body;
  assert.equal(before.user.phone, '+4915112345678');
  const code = await codeFor(server, app, user, { scope: 'openid profile', claims }, { browser });
  await register(app, ['openid']);
  const { phone: _, ...others } = before.user;
  assert.deepEqual((await userinfo(server, tokens.access_token)).body.user, others);
  assert.equal(claimsOf((await redeem(server, app, code)).body.id_token).locale, 'en');
  await register(app, null);
  assert.deepEqual((await userinfo(server, tokens.access_token)).body, before);
});
