// store: SQLite, PostgreSQL
/** What was issued while a stolen key had opened a setting ends with the key, also where the setting was closed again before. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { ORGANIZATION_SETTINGS } from '../../src/organizations/settings.ts';
import { keptSettings } from '../../src/platform/settings.ts';
import { UPSTREAM_RIGHTS, type UpstreamRights } from '../../src/upstreams/act-store.ts';
import { agent } from '../support/agent.ts';
import { proofOf } from '../support/assertion.ts';
import {
  admin,
  authorizeUrl,
  codeFor,
  newClient,
  newUser,
  redeem,
  refresh,
  signedIn,
  standard,
  type TestUser,
  tokensFor,
} from '../support/flow.ts';
import { MINUTE } from '../support/outcome.ts';
import { SEVERAL, startServer } from '../support/server.ts';
import { CALLBACK, CASES, own } from '../support/setting-cases.ts';
import { joinedThrough, newUpstream, throughUpstream } from '../upstreams/people.ts';

const server = await startServer({ TESSERA_MAILBOX: 'on', TESSERA_LIMIT_MAIL_ADDRESS: 'off' }, SEVERAL);
after(() => server.close());
const keeper = await newUser(server, { password: undefined });
assert.equal((await admin(server, 'PUT', `/users/${keeper.id}/roles/owner`, {})).status, 200);

const upstream = await newUpstream(server);
after(() => upstream.provider[Symbol.asyncDispose]());

const call = async (method: string, path: string, body?: object, key?: string) => {
  const answer = await admin(server, method, path, body, key);
  assert.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body;
};
const newKey = (): Promise<{ id: string; adminKey: string }> =>
  call('POST', '/admin-keys', { name: 'stolen', role: 'owner' });
type Settings = readonly { readonly fields: readonly string[]; readonly left: readonly string[] }[];
const namesIn = (settings: Settings) => settings.flatMap(({ fields, left }) => [...fields, ...left]);
const listed = async ({ id }: { id: string }) => namesIn((await call('GET', `/admin-keys/${id}`)).made.settings);
const end = async ({ id }: { id: string }) => (await call('DELETE', `/admin-keys/${id}?endMade=true`)).made;
const later = () => server.advance(MINUTE);
const CLOSERS = ['the key', 'somebody else'] as const;

/** Asks the token endpoint as an app does by how it is registered now. */
async function askAs(clientId: string, fields: Readonly<Record<string, string>>) {
  const { tokenEndpointAuthMethod, secrets } = await call('GET', `/clients/${clientId}`);
  const isByKey = tokenEndpointAuthMethod === 'private_key_jwt';
  for (const { id } of isByKey ? [] : secrets.slice(1)) await call('DELETE', `/clients/${clientId}/secrets/${id}`);
  const secret = isByKey ? '' : (await call('POST', `/clients/${clientId}/secrets`, {})).clientSecret;
  const proof = isByKey ? await proofOf(server, clientId, own) : {};
  const authorization = `Basic ${Buffer.from(`${clientId}:${secret}`).toString('base64')}`;
  const answer = await fetch(`${server.baseUrl}/oidc/token`, {
    method: 'POST',
    body: new URLSearchParams({ ...fields, ...proof }),
    ...(!isByKey && { headers: { authorization } }),
  });
  return { status: answer.status, ...((await answer.json()) as { refresh_token?: string; error?: string }) };
}

for (const [name, { app, stolen, closed }] of Object.entries(CASES)) {
  if (closed === null) continue;
  for (const closer of CLOSERS) {
    test(`what an app got while a key had opened ${name} ends with the key, also where ${closer} closed it again`, async (t) => {
      const fields = { name: 'Intranet', redirectUris: [CALLBACK], ...app };
      const { clientId } = await call('POST', '/clients', fields);
      t.after(() => call('DELETE', `/clients/${clientId}`));
      const before = await call('GET', `/clients/${clientId}`);
      const client = standard({ clientId, clientSecret: '', redirectUri: CALLBACK });
      const person = await newUser(server);
      if (app['access'] === 'assigned') await call('POST', `/clients/${clientId}/assignments`, { userId: person.id });
      const refreshToken = async () => {
        const code = await codeFor(server, client, person, { scope: 'openid' });
        const got = { grant_type: 'authorization_code', code, redirect_uri: CALLBACK };
        const { refresh_token } = await askAs(clientId, got);
        return { grant_type: 'refresh_token', refresh_token: refresh_token ?? '' };
      };
      later();
      const key = await newKey();
      await call('PATCH', `/clients/${clientId}`, stolen, key.adminKey);
      const got = await refreshToken();
      later();
      const by = closer === 'the key' ? key.adminKey : undefined;
      await call('PATCH', `/clients/${clientId}`, closed ?? { [name]: before[name] }, by);
      later();
      assert.ok((await listed(key)).includes(name));
      assert.ok(namesIn((await end(key)).settings).includes(name));
      assert.equal((await askAs(clientId, got)).error, 'invalid_grant');
      // Who opens it afterwards has decided, and the key ends nothing more.
      await call('PATCH', `/clients/${clientId}`, stolen);
      const decided = await refreshToken();
      await end(key);
      assert.equal((await askAs(clientId, decided)).status, 200);
    });
  }
}

test('what an app got without a page since a key approved it ends with the key, whoever has approved it since', async () => {
  for (const since of ['nobody', 'withdrawn', 'approved'] as const) {
    const scope = 'openid profile email';
    const scopes = scope.split(' ');
    const app = standard(await newClient(server, { scopes, consent: 'operator' }));
    const path = `/clients/${app.clientId}/consent-approval`;
    const key = await newKey();
    await call('PUT', path, { scopes }, key.adminKey);
    const browser = await signedIn(server, await newUser(server));
    const code = (await browser.get(authorizeUrl(app, { scope }))).location?.searchParams.get('code') ?? '';
    const { body: got } = await redeem(server, app, code);
    later();
    if (since === 'withdrawn') await call('DELETE', path);
    if (since === 'approved') await call('PUT', path, { scopes });
    later();
    const { apps } = await end(key);
    assert.deepEqual(apps[0]?.acts, ['approved'], since);
    assert.equal((await refresh(server, app, got.refresh_token)).body.error, 'invalid_grant', since);
    assert.equal((await call('GET', `/clients/${app.clientId}`)).consentApproval !== null, since === 'approved');
  }
});

let slug = 0;
/** An organization with a member who was signed in before anything changed. */
async function newOrganization(fields: object = {}) {
  const name = `acme-${++slug}`;
  const { id } = await call('POST', '/organizations', { name, domain: `${name}.example`, ...fields });
  const app = standard(await newClient(server));
  const member: TestUser = await newUser(server);
  await call('PUT', `/organizations/${id}/members/${member.id}`, { role: 'MEMBER' });
  const got = () => tokensFor(server, app, member, { scope: 'openid' });
  const statusOf = async ({ refresh_token }: { refresh_token: string }) =>
    (await refresh(server, app, refresh_token)).status;
  return { id, member, got, statusOf, path: `/organizations/${id}/members/${member.id}` };
}

/** How each requirement of an organization is set. */
const REQUIREMENTS: Readonly<
  Record<keyof typeof ORGANIZATION_SETTINGS, (id: string, on: boolean) => [string, string, object]>
> = {
  requireSecondFactor: (id, on) => ['PATCH', `/organizations/${id}`, { requireSecondFactor: on }],
  onlyUpstreamId: (id, on) => ['PUT', `/organizations/${id}/only-upstream`, { upstreamId: on ? upstream.id : null }],
};

for (const name of keptSettings(ORGANIZATION_SETTINGS)) {
  for (const closer of CLOSERS) {
    test(`what members got while a key had lifted ${name} ends with the key, also where ${closer} required it again`, async () => {
      const { id, got, statusOf } = await newOrganization();
      const earlier = await got();
      server.advance(5 * MINUTE);
      await call(...REQUIREMENTS[name](id, true));
      const key = await newKey();
      later();
      await call(...REQUIREMENTS[name](id, false), key.adminKey);
      const tokens = await got();
      later();
      await call(...REQUIREMENTS[name](id, true), closer === 'the key' ? key.adminKey : undefined);
      later();
      assert.deepEqual(await listed(key), [name]);
      assert.deepEqual(namesIn((await end(key)).settings), [name]);
      assert.deepEqual([await statusOf(tokens), await statusOf(earlier)], [400, 200]);
      // What the key closed is on record still.
      assert.deepEqual(await listed(key), closer === 'the key' ? [name] : []);
    });
  }

  test(`what members got while a key had lifted ${name} ends with the key, also where the organization is deleted`, async () => {
    for (const [lifts, deletes] of [
      [true, true],
      [true, false],
      [false, true],
    ]) {
      const { id, got, statusOf } = await newOrganization();
      await call(...REQUIREMENTS[name](id, true));
      const key = await newKey();
      later();
      const remove = () => call('DELETE', `/organizations/${id}`, undefined, deletes ? key.adminKey : undefined);
      if (lifts) await call(...REQUIREMENTS[name](id, false), key.adminKey);
      else await remove();
      const tokens = await got();
      later();
      if (lifts) await remove();
      await end(key);
      assert.equal(await statusOf(tokens), 400, `${lifts} ${deletes}`);
    }
  });
}

test('what a person got whom a key had removed from an organization, or made its owner, ends with the key', async () => {
  for (const eases of ['removed', 'owner'] as const) {
    for (const closer of CLOSERS) {
      const { got, statusOf, path } = await newOrganization();
      const key = await newKey();
      later();
      if (eases === 'removed') await call('DELETE', path, undefined, key.adminKey);
      else await call('PUT', path, { role: 'OWNER' }, key.adminKey);
      const tokens = await got();
      later();
      await call('PUT', path, { role: 'MEMBER' }, closer === 'the key' ? key.adminKey : undefined);
      await end(key);
      assert.equal(await statusOf(tokens), 400, `${eases} ${closer}`);
    }
  }
});

test('an organization that requires nothing is deleted, and its members stay signed in', async () => {
  const { id, got, statusOf } = await newOrganization();
  const key = await newKey();
  await call('DELETE', `/organizations/${id}`, undefined, key.adminKey);
  const tokens = await got();
  await end(key);
  assert.equal(await statusOf(tokens), 200);
});

/** What a key opens of each right of a provider, which has what is first. */
const RIGHTS: Readonly<Record<keyof UpstreamRights, readonly [before: object, stolen: object]>> = {
  signUp: [{ signUp: 'invited' }, { signUp: 'anyone' }],
  signUpDomains: [{ signUpDomains: [] }, { signUpDomains: ['evil.example'] }],
  domains: [{ domains: [] }, { domains: ['victim.example'] }],
  claimsMap: [{ claimsMap: {} }, { claimsMap: { name: '/nickname' } }],
};

for (const name of UPSTREAM_RIGHTS) {
  test(`what people got through a provider while a key had opened ${name} ends with the key, also where it is closed again`, async () => {
    const [before, stolen] = RIGHTS[name];
    for (const closer of CLOSERS) {
      const provider = await newUpstream(server, { signUp: 'anyone', ...(name !== 'signUp' && before) });
      after(() => provider.provider[Symbol.asyncDispose]());
      const path = `/upstreams/${provider.id}`;
      const username = `${name}-${closer.length}`.toLowerCase();
      const person = { sub: username, name: 'Joined', email: `${username}@upstream.example`, sid: username };
      const browser = await joinedThrough(server, provider, { person, username, email: `${username}@example.com` });
      server.advance(5 * MINUTE);
      if (name === 'signUp') await call('PATCH', path, before);
      const key = await newKey();
      later();
      await call('PATCH', path, stolen, key.adminKey);
      const meanwhile = agent(server.baseUrl);
      await throughUpstream(meanwhile, provider);
      assert.equal((await meanwhile.get('/account')).status, 200);
      later();
      await call('PATCH', path, before, closer === 'the key' ? key.adminKey : undefined);
      assert.deepEqual(namesIn((await end(key)).settings), [name]);
      assert.notEqual((await meanwhile.get('/account')).status, 200);
      assert.equal((await browser.get('/account')).status, 200);
    }
  });
}
