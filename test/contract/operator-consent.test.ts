// store: SQLite, PostgreSQL with --all
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import type { Agent } from '../support/agent.ts';
import { assertRefused } from '../support/api-call.ts';
import { allow, newApi } from '../support/api-scopes.ts';
import {
  admin,
  authorizeUrl,
  newClient,
  newSignedInUser,
  redeem,
  revokeOnPage,
  standard,
  type TestClient,
  type TestUser,
  tokensFor,
  userinfo,
  walk,
} from '../support/flow.ts';
import { startServer } from '../support/server.ts';

// Decisions §12: an organization's own apps, without a consent page.

const server = await startServer();
after(() => server.close());

const SCOPE = { scope: 'openid profile email' };
const APPROVED = ['openid', 'profile', 'email'];

const call = async (method: string, path: string, body?: unknown) => {
  const answer = await admin(server, method, path, body);
  assert.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body;
};
const approve = ({ clientId }: TestClient, scopes: readonly string[] = APPROVED, more: object = {}) =>
  call('PUT', `/clients/${clientId}/consent-approval`, { scopes, ...more });
const patch = ({ clientId }: TestClient, fields: object) => call('PATCH', `/clients/${clientId}`, fields);

/** An app of the installation, approved for name and address. */
async function newApp(fields: Readonly<Record<string, unknown>> = {}) {
  const app = standard(await newClient(server, { consent: 'operator', ...fields }));
  await approve(app);
  return app;
}

type Parameters = Readonly<Record<string, string>>;

/** Where a request leads: to the app with a code, to the consent page, or with an error. */
async function leadsTo(browser: Agent, app: TestClient, parameters: Parameters = SCOPE): Promise<string> {
  const { location } = await browser.get(authorizeUrl(app, parameters));
  if (location?.searchParams.has('code')) return 'code';
  return location?.searchParams.get('error') ?? location?.pathname ?? '';
}

interface Visit {
  readonly app: TestClient;
  readonly user: TestUser;
  readonly browser: Agent;
}
const visit = async (fields: Readonly<Record<string, unknown>> = {}): Promise<Visit> => ({
  app: await newApp(fields),
  ...(await newSignedInUser(server)),
});

describe('it shows no page', () => {
  test('for what was approved, also under prompt=none, and what is issued works', async () => {
    const { app, browser } = await visit();
    assert.equal(await leadsTo(browser, app, { ...SCOPE, prompt: 'none' }), 'code');
    const { location } = await browser.get(authorizeUrl(app, SCOPE));
    const { body } = await redeem(server, app, location?.searchParams.get('code') ?? '');
    assert.equal(body.scope, 'openid profile email');
    assert.equal((await userinfo(server, body.access_token, '/oidc/userinfo')).status, 200);
  });

  test('the connections page lists the app, says who decided, and takes its access away at once', async () => {
    const { app, user, browser } = await visit();
    const tokens = await tokensFor(server, app, user, SCOPE, { browser });
    const { items } = await call('GET', `/users/${user.id}/connections`);
    assert.deepEqual([items[0].decidedBy, items[0].scopes], ['operator', APPROVED]);
    assert.match(
      (await browser.get(`/account/connections/${app.clientId}`)).text,
      /Allowed by<\/dt><dd>An operator, for everyone who uses the app</,
    );
    assert.match((await browser.get('/account')).text, /if you allow it, or if an operator allowed it for everyone/);
    const { items: events } = await call('GET', `/audit-events?userId=${user.id}&type=consent.granted`);
    assert.equal(events[0].details.decidedBy, 'operator');
    await revokeOnPage(browser, app);
    assert.equal((await userinfo(server, tokens.access_token, '/oidc/userinfo')).status, 401);
  });

  test('at the v2 endpoints where name and address are approved, which are always shared there', async () => {
    const { app, browser } = await visit();
    assert.equal(await leadsTo(browser, { ...app, endpointSet: 'v2' }, { scope: 'openid' }), 'code');
    await approve(app, ['openid']);
    const other = await newSignedInUser(server);
    assert.equal(await leadsTo(other.browser, { ...app, endpointSet: 'v2' }, { scope: 'openid' }), '/consent');
  });

  test('for approved scopes of an API', async () => {
    const { app, browser } = await visit();
    const api = await newApi(server, ['notes.read', 'notes.write']);
    await allow(server, api, app, ['notes.read', 'notes.write']);
    await approve(app, ['openid', 'notes.read']);
    assert.equal(await leadsTo(browser, app, { scope: 'openid notes.read' }), 'code');
    assert.equal(await leadsTo(browser, app, { scope: 'openid notes.read', resource: api.resource }), 'code');
    assert.equal(await leadsTo(browser, app, { scope: 'openid notes.write' }), '/consent');
    // Given back, it is another scope, which nobody approved.
    await allow(server, api, app, ['notes.write']);
    await allow(server, api, app, ['notes.read', 'notes.write']);
    assert.equal(await leadsTo(browser, app, { scope: 'openid notes.read' }), '/consent');
  });

  test('to the members of the organization that it was approved for, and to nobody else', async () => {
    const { app, user, browser } = await visit();
    const { id: organizationId } = await call('POST', '/organizations', { name: 'guild', domain: 'guild.example' });
    await approve(app, APPROVED, { organizationId });
    assert.equal(await leadsTo(browser, app), '/consent');
    await call('PUT', `/organizations/${organizationId}/members/${user.id}`, { role: 'MEMBER' });
    assert.equal(await leadsTo(browser, app), 'code');
    await call('DELETE', `/organizations/${organizationId}/members/${user.id}`);
    assert.equal(await leadsTo(browser, app), '/consent');
  });
});

describe('it asks', () => {
  const cases: readonly (readonly [name: string, prepare: (at: Visit) => Promise<unknown>, parameters?: Parameters])[] =
    [
      ['with prompt=consent', async () => {}, { ...SCOPE, prompt: 'consent' }],
      ['for a scope that was not approved', async () => {}, { scope: 'openid profile email phone' }],
      ['for offline_access that was not approved', async () => {}, { scope: 'openid profile email offline_access' }],
      [
        'for a claim whose scope was not approved',
        async () => {},
        { ...SCOPE, claims: '{"userinfo":{"phone_number":null}}' },
      ],
      ['a person who took the access away', ({ app, browser }) => revokeOnPage(browser, app)],
      [
        'a person whose access an operator took away',
        ({ app, user }) => call('DELETE', `/users/${user.id}/connections/${app.clientId}`),
      ],
      [
        'a person who declined a scope',
        ({ app, browser }) =>
          walk(browser, authorizeUrl(app, { ...SCOPE, prompt: 'consent' }), { allow: ['profile'] }).then(() =>
            call('PUT', `/clients/${app.clientId}/consent-approval`, { scopes: [...APPROVED, 'phone'] }),
          ),
        { scope: 'openid profile phone' },
      ],
      [
        'a person who denied the app',
        async ({ app, browser }) => {
          await walk(browser, authorizeUrl(app, { ...SCOPE, prompt: 'consent' }), { decision: 'deny' });
          await approve(app, [...APPROVED, 'phone']);
        },
        { ...SCOPE, scope: 'openid phone' },
      ],
      [
        'after another redirect URI',
        ({ app }) => patch(app, { redirectUris: [app.redirectUri, 'https://other.example/cb'] }),
      ],
      ['after other scopes', ({ app }) => patch(app, { scopes: ['openid', 'profile', 'email', 'phone'] })],
      ['after the approval was withdrawn', ({ app }) => call('DELETE', `/clients/${app.clientId}/consent-approval`)],
      ['after consent: ask', ({ app }) => patch(app, { consent: 'ask' })],
    ];
  for (const [name, prepare, sent] of cases) {
    const parameters: Parameters = sent ?? SCOPE;
    test(name, async () => {
      const at = await visit();
      // The operator has consented for the person before.
      assert.equal(await leadsTo(at.browser, at.app), 'code');
      await prepare(at);
      assert.equal(await leadsTo(at.browser, at.app, parameters), '/consent');
      const silent = await leadsTo(at.browser, at.app, { ...parameters, prompt: 'none' });
      if (parameters['prompt'] === undefined) assert.equal(silent, 'consent_required');
    });
  }

  test('where nothing was approved yet', async () => {
    const app = standard(await newClient(server, { consent: 'operator' }));
    const { browser } = await newSignedInUser(server);
    assert.equal(await leadsTo(browser, app), '/consent');
  });

  test('for a resource that was not approved', async () => {
    const { app, browser } = await visit();
    const { resource } = await newApi(server, ['notes.read']);
    assert.equal(await leadsTo(browser, app, { ...SCOPE, resource }), '/consent');
  });

  test('a person who has taken the access away is asked still, long after', async () => {
    const { app, browser } = await visit();
    assert.equal(await leadsTo(browser, app), 'code');
    await revokeOnPage(browser, app);
    server.advance(3 * 24 * 60 * 60_000);
    assert.equal(await leadsTo(browser, app), '/consent');
    // Once the person allows it by themselves, it is remembered.
    await walk(browser, authorizeUrl(app, SCOPE));
    assert.equal(await leadsTo(browser, app), 'code');
  });

  test('what a person consented to by themselves outlasts the approval', async () => {
    const { app, user, browser } = await visit();
    await walk(browser, authorizeUrl(app, { ...SCOPE, prompt: 'consent' }));
    await call('DELETE', `/clients/${app.clientId}/consent-approval`);
    assert.equal(await leadsTo(browser, app), 'code');
    const { items } = await call('GET', `/users/${user.id}/connections`);
    assert.equal(items[0].decidedBy, 'person');
  });
});

describe('who may have it', () => {
  test('a public client, and one with a redirect URI that is not https, may not', async () => {
    const registration = { name: 'App', consent: 'operator' };
    const publicClient = { ...registration, type: 'public', redirectUris: ['https://app.example.com/cb'] };
    const loopback = { ...registration, redirectUris: ['https://app.example.com/cb', 'http://localhost:8080/cb'] };
    for (const body of [publicClient, loopback]) {
      const answer = await admin(server, 'POST', '/clients', body);
      assertRefused(answer, 400, 'invalid_request');
      assert.match(answer.body.error_description, /^consent must be ask/);
    }
    const app = await newApp();
    const added = { redirectUris: [app.redirectUri, 'http://127.0.0.1/cb'] };
    assertRefused(await admin(server, 'PATCH', `/clients/${app.clientId}`, added), 400, 'invalid_request');
  });

  test('an approval names scopes that the app may request, and an organization that exists', async () => {
    const app = await newApp({ scopes: ['openid', 'profile', 'email'] });
    const path = `/clients/${app.clientId}/consent-approval`;
    const refused = [{ scopes: ['phone'] }, { scopes: ['groups'] }, { scopes: ['unknown'] }, { scopes: [] }];
    for (const body of refused) assertRefused(await admin(server, 'PUT', path, body), 400, 'invalid_request');
    assertRefused(await admin(server, 'PUT', path, { scopes: APPROVED, organizationId: '1' }), 404, 'not_found');
    const asking = await newClient(server);
    const wrong = await admin(server, 'PUT', `/clients/${asking.clientId}/consent-approval`, { scopes: APPROVED });
    assertRefused(wrong, 409, 'conflict');
  });

  test('the record and an event say who approved which scopes, and when it ended', async () => {
    const app = await newApp();
    const record = await call('GET', `/clients/${app.clientId}`);
    const { scopes, organizationId, approvedBy } = record.consentApproval;
    assert.deepEqual([scopes, organizationId, approvedBy.type], [APPROVED, null, 'admin']);
    const { items } = await call('GET', `/audit-events?clientId=${app.clientId}&type=client.consent_approved`);
    assert.deepEqual(items[0].details, { scopes: APPROVED, organizationId: null, actorRole: 'owner' });
    assert.equal(items[0].actor.id ?? null, approvedBy.id);
    await patch(app, { redirectUris: ['https://other.example.com/cb'] });
    assert.equal((await call('GET', `/clients/${app.clientId}`)).consentApproval, null);
    const ended = await call('GET', `/audit-events?clientId=${app.clientId}&type=client.consent_approval_ended`);
    assert.equal(ended.items.length, 1);
  });
});
