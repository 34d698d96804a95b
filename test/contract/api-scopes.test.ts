// store: SQLite, PostgreSQL with --all
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import type { Agent, Answer } from '../support/agent.ts';
import { assertRefused, tokenForm } from '../support/api-call.ts';
import { allow, described, newApi, type TestApi } from '../support/api-scopes.ts';
import {
  admin,
  authorizeUrl,
  claimsOf,
  codeFor,
  newClient,
  newSignedInUser,
  newUser,
  redeem,
  refresh,
  revokeOnPage,
  signedIn,
  standard,
  type TestClient,
  tokensFor,
  userinfo,
} from '../support/flow.ts';
import { codeOf } from '../support/outcome.ts';
import { startServer } from '../support/server.ts';
import { introspect } from '../support/token-services.ts';

// Decisions §12: scopes of an API.

const server = await startServer({ TESSERA_LIMIT_CLIENT_AUTH: 'off', TESSERA_DISCOVERY_SCOPES: 'notes.read' });
after(() => server.close());

/** An app that may request both scopes of a new API. */
async function appAndApi(more: Readonly<Record<string, unknown>> = {}) {
  const api = await newApi(server, ['notes.read', 'notes.write']);
  const app = standard(await newClient(server, more));
  await allow(server, api, app, ['notes.read', 'notes.write']);
  return { api, app };
}

const NOTES = 'openid notes.read notes.write';
const scopeAt = async (client: TestClient, token: string): Promise<string | undefined> => {
  const { body } = await introspect(server, client, token);
  assert.equal(body.active, true);
  return body.scope;
};
/** The name of the switch of a scope, which the page knows by an id. */
function switchOf(page: string, scope: string): string {
  const [, id] =
    new RegExp(`<label for="scope-(\\d+)"><span class="name"><bdi>Words for ${scope}</bdi>`).exec(page) ?? [];
  assert.ok(id, `no switch for ${scope}`);
  return `allow ${id}`;
}

/** The consent page of a request. */
async function consentPage(browser: Agent, address: string): Promise<Answer> {
  const { location } = await browser.get(address);
  return browser.get(`${location?.pathname}${location?.search}`);
}

/** Allows what the page asks about, except these scopes, and gives the code. */
async function allowOn(browser: Agent, page: Answer, except: readonly string[] = []): Promise<string> {
  const off = except.map((scope) => switchOf(page.text, scope));
  const all = [...page.text.matchAll(/name="(allow [a-z0-9.]+)"/g)].map(([, name]) => name ?? '');
  const on = Object.fromEntries(all.filter((name) => !off.includes(name)).map((name) => [name, 'on']));
  return codeOf(await browser.submit(page, { decision: 'allow', ...on }, '/consent'));
}

const naming = (...apis: readonly { readonly resource: string }[]) =>
  new URLSearchParams(apis.map(({ resource }) => ['resource', resource]));

describe('what an app may request', () => {
  test('a scope travels alone where the client is registered for one API that has the name, and names its audience', async () => {
    const { api, app } = await appAndApi();
    const user = await newUser(server);
    const tokens = await tokensFor(server, app, user, { scope: `${NOTES} email` });
    assert.equal(tokens.scope, 'openid email notes.read notes.write');
    const { scope, aud } = claimsOf(tokens.access_token);
    assert.equal(scope, 'openid email notes.read notes.write');
    assert.deepEqual(aud, [`${server.baseUrl}/oidc/userinfo`, api.resource]);
    const info = await userinfo(server, tokens.access_token, '/oidc/userinfo');
    assert.deepEqual([info.status, info.body.email], [200, claimsOf(tokens.id_token).email]);
    assert.equal(await scopeAt(api, tokens.access_token), 'notes.read notes.write');
  });

  test('without openid the token is for the API alone', async () => {
    const { api, app } = await appAndApi();
    const tokens = await tokensFor(server, app, await newUser(server), { scope: 'notes.read' });
    assert.deepEqual([tokens.scope, claimsOf(tokens.access_token).aud], ['notes.read', api.resource]);
    assert.equal('id_token' in tokens, false);
    assert.equal(await scopeAt(api, tokens.access_token), 'notes.read');
  });

  test('what another API is registered for changes nothing; with two of one name it needs the resource', async () => {
    const { api, app } = await appAndApi();
    const other = await newApi(server, ['notes.read', 'bills.read']);
    const user = await newUser(server);
    const browser = await signedIn(server, user);
    assert.equal((await tokensFor(server, app, user, { scope: 'notes.read' }, { browser })).scope, 'notes.read');
    await allow(server, other, app, ['notes.read', 'bills.read']);
    const { location } = await browser.get(authorizeUrl(app, { scope: 'notes.read' }));
    assert.equal(location?.searchParams.get('error'), 'invalid_scope');
    assert.match(location?.searchParams.get('error_description') ?? '', /resource/);
    const left = await tokensFor(server, app, user, { scope: 'openid notes.read bills.read' }, { browser });
    assert.equal(left.scope, 'openid bills.read');
    for (const { resource } of [api, other]) {
      const tokens = await tokensFor(server, app, user, { scope: 'notes.read', resource }, { browser });
      assert.deepEqual([tokens.scope, claimsOf(tokens.access_token).aud], ['notes.read', resource]);
    }
  });

  test('a scope of another API than the resource that is named is left out', async () => {
    const { api, app } = await appAndApi();
    const other = await newApi(server, ['bills.read']);
    await allow(server, other, app, ['bills.read']);
    const request = { scope: 'openid notes.read bills.read', resource: api.resource };
    const tokens = await tokensFor(server, app, await newUser(server), request);
    assert.equal(tokens.scope, 'openid notes.read');
    assert.equal(await scopeAt(api, tokens.access_token), 'notes.read');
  });

  test('a scope that the API has not let the client request is left out, and alone it is invalid_scope', async () => {
    const api = await newApi(server, ['notes.read']);
    const app = standard(await newClient(server));
    const user = await newUser(server);
    const browser = await signedIn(server, user);
    const tokens = await tokensFor(
      server,
      app,
      user,
      { scope: 'openid notes.read', resource: api.resource },
      { browser },
    );
    assert.equal(tokens.scope, 'openid');
    assert.equal(await scopeAt(api, tokens.access_token), undefined);
    const { location } = await browser.get(authorizeUrl(app, { scope: 'notes.read' }));
    assert.equal(location?.searchParams.get('error'), 'invalid_scope');
  });

  test('a client without scopes in its registration may still request the identity scopes only', async () => {
    const { app } = await appAndApi();
    const tokens = await tokensFor(server, app, await newUser(server), { scope: 'openid groups notes.read' });
    assert.equal(tokens.scope, 'openid notes.read');
  });

  test('the v2 endpoints know none of them', async () => {
    const { app } = await appAndApi();
    const { browser } = await newSignedInUser(server);
    const { location } = await browser.get(authorizeUrl({ ...app, endpointSet: 'v2' }, { scope: 'openid notes.read' }));
    assert.equal(location?.searchParams.get('error'), 'invalid_scope');
  });

  test('the id under which a scope is stored is no name of it', async () => {
    const { app } = await appAndApi();
    const { browser } = await newSignedInUser(server);
    const page = await consentPage(browser, authorizeUrl(app, { scope: 'notes.read' }));
    const id = switchOf(page.text, 'notes.read').slice('allow '.length);
    const refused = await browser.get(authorizeUrl(app, { scope: id }));
    assert.equal(refused.location?.searchParams.get('error'), 'invalid_scope');
  });

  test('a disabled API has no scopes', async () => {
    const { api, app } = await appAndApi();
    await admin(server, 'PATCH', `/clients/${api.clientId}`, { status: 'disabled' });
    const tokens = await tokensFor(server, app, await newUser(server), { scope: NOTES });
    assert.equal(tokens.scope, 'openid');
  });
});

describe('consent', () => {
  test('the page has a switch for each, in the words of the API, and what is switched off is remembered', async () => {
    const { api, app } = await appAndApi();
    const { user, browser } = await newSignedInUser(server);
    const page = await consentPage(browser, authorizeUrl(app, { scope: NOTES }));
    const tokens = (await redeem(server, app, await allowOn(browser, page, ['notes.write']))).body;
    assert.equal(tokens.scope, 'openid notes.read');
    assert.equal(await scopeAt(api, tokens.access_token), 'notes.read');

    // Both are remembered: no page, and the same answer.
    const again = await browser.get(authorizeUrl(app, { scope: NOTES, prompt: 'none' }));
    const code = again.location?.searchParams.get('code') ?? '';
    assert.equal((await redeem(server, app, code)).body.scope, 'openid notes.read');

    const { body } = await admin(server, 'GET', `/users/${user.id}/connections`);
    assert.deepEqual(body.items[0].scopes, ['openid']);
    assert.deepEqual(body.items[0].resources, [
      {
        name: body.items[0].resources[0].name,
        resource: api.resource,
        scopes: ['notes.read'],
        declinedScopes: ['notes.write'],
      },
    ]);
    const connections = await browser.get(`/account/connections/${app.clientId}`);
    assert.match(connections.text, /Words for notes\.read/);
    assert.match(connections.text, /Not allowed<\/dt><dd><ul class="lines"><li><bdi>Words for notes\.write/);
    const { body: events } = await admin(server, 'GET', `/audit-events?userId=${user.id}&type=consent.granted`);
    assert.deepEqual(events.items[0].details, { scopes: ['openid', 'notes.read'], declined: ['notes.write'] });
  });

  test('another scope is asked about by itself, and an API that the person knows is named as shared already', async () => {
    const { api, app } = await appAndApi();
    const { user, browser } = await newSignedInUser(server);
    await tokensFor(server, app, user, { scope: 'openid notes.read' }, { browser });
    const page = await consentPage(browser, authorizeUrl(app, { scope: NOTES }));
    assert.match(page.text, /wants to know more/);
    switchOf(page.text, 'notes.write');
    assert.throws(() => switchOf(page.text, 'notes.read'));
    assert.match(page.text, /Already shared[\s\S]*Words for notes\.read/);
    assert.ok(page.text.includes(api.resource));
  });

  test('the words are those of the language of the page, else English, else the first', async () => {
    const words = [
      { name: 'a.one', descriptions: { de: 'Eins', en: 'One' } },
      { name: 'a.two', descriptions: { de: 'Zwei', tr: 'İki' } },
    ];
    const api = await newApi(server, [], { resourceScopes: words });
    const app = standard(await newClient(server));
    await allow(server, api, app, ['a.one', 'a.two']);
    const { browser } = await newSignedInUser(server);
    const page = await consentPage(browser, authorizeUrl(app, { scope: 'a.one a.two' }));
    assert.match(page.text, /<bdi>One<\/bdi>/);
    assert.match(page.text, /<bdi>Zwei<\/bdi>/);
  });

  test('a scope that a later decision takes away is taken from everything issued, at once', async () => {
    const { api, app } = await appAndApi();
    const { user, browser } = await newSignedInUser(server);
    const tokens = await tokensFor(server, app, user, { scope: NOTES }, { browser });
    const open = await codeFor(server, app, user, { scope: NOTES }, { browser });
    const page = await consentPage(browser, authorizeUrl(app, { scope: NOTES, prompt: 'consent' }));
    await allowOn(browser, page, ['notes.write']);
    assert.equal(await scopeAt(api, tokens.access_token), 'notes.read');
    assert.equal(await scopeAt(app, tokens.access_token), 'openid notes.read');
    assert.equal((await refresh(server, app, tokens.refresh_token)).body.scope, 'openid notes.read');
    assert.equal((await redeem(server, app, open)).body.scope, 'openid notes.read');
  });

  test('after the access was taken away the API hears nothing of the token', async () => {
    const { api, app } = await appAndApi();
    const { user, browser } = await newSignedInUser(server);
    const tokens = await tokensFor(server, app, user, { scope: NOTES }, { browser });
    await revokeOnPage(browser, app);
    assert.deepEqual((await introspect(server, api, tokens.access_token)).body, { active: false });
  });
});

describe('tokens', () => {
  const atTwo = async () => {
    const { api, app } = await appAndApi();
    const other = await newApi(server, ['notes.read', 'bills.read']);
    await allow(server, other, app, ['notes.read', 'bills.read']);
    const { browser } = await newSignedInUser(server);
    const page = await consentPage(
      browser,
      `${authorizeUrl(app, { scope: `${NOTES} bills.read` })}&${naming(api, other)}`,
    );
    return { api, other, app, code: await allowOn(browser, page) };
  };

  test('each API sees its own scopes alone', async () => {
    const { api, other, app, code } = await atTwo();
    const tokens = (await redeem(server, app, code)).body;
    assert.equal(tokens.scope, 'openid bills.read notes.read notes.write');
    assert.equal(await scopeAt(api, tokens.access_token), 'notes.read notes.write');
    assert.equal(await scopeAt(other, tokens.access_token), 'bills.read notes.read');
  });

  test('a token for one of them has the scopes of that one, at the exchange and at a refresh', async () => {
    const { api, other, app, code } = await atTwo();
    const first = (await redeem(server, app, code, { resource: [api.resource] })).body;
    assert.equal(first.scope, 'openid notes.read notes.write');
    assert.equal((await introspect(server, other, first.access_token)).body.active, false);
    const next = (await refresh(server, app, first.refresh_token, { resource: [other.resource] })).body;
    assert.equal(next.scope, 'openid bills.read notes.read');
    assert.equal(await scopeAt(other, next.access_token), 'bills.read notes.read');
    const wider = await refresh(server, app, next.refresh_token, { resource: [other.resource], scope: 'notes.write' });
    assertRefused(wider, 400, 'invalid_scope');
    const less = (await refresh(server, app, next.refresh_token, { resource: [api.resource], scope: 'notes.read' }))
      .body;
    assert.deepEqual([less.scope, await scopeAt(api, less.access_token)], ['notes.read', 'notes.read']);
  });

  test('for a resource that none of the granted scopes belongs to, there is no token', async () => {
    const { api, app } = await appAndApi();
    const plain = { resource: `${api.resource}/plain` };
    await newClient(server, { ...plain, redirectUris: undefined, grantTypes: ['client_credentials'] });
    const { browser } = await newSignedInUser(server);
    const page = await consentPage(browser, `${authorizeUrl(app, { scope: 'notes.read' })}&${naming(api, plain)}`);
    const code = await allowOn(browser, page);
    assertRefused(await redeem(server, app, code, { resource: [plain.resource] }), 400, 'invalid_scope');
    // The code is not spent.
    assert.equal((await redeem(server, app, code)).status, 200);
  });

  test('an API that declares no scopes sees those about the person, and never one of another API', async () => {
    const { api, app } = await appAndApi();
    const resource = `${api.resource}/plain`;
    const plain = await newClient(server, { resource, redirectUris: undefined, grantTypes: ['client_credentials'] });
    const { browser } = await newSignedInUser(server);
    const page = await consentPage(browser, `${authorizeUrl(app, { scope: NOTES })}&${naming(api, { resource })}`);
    const tokens = (await redeem(server, app, await allowOn(browser, page))).body;
    assert.equal(await scopeAt(plain, tokens.access_token), 'openid');
  });

  test('a client gets scopes of an API for itself, and none about a person', async () => {
    const { api, app } = await appAndApi({ grantTypes: ['authorization_code', 'client_credentials'] });
    const asked = { grant_type: 'client_credentials', scope: 'notes.read unknown' };
    const standardToken = (fields: Readonly<Record<string, string>>) =>
      fetch(`${server.baseUrl}/oidc/token`, {
        method: 'POST',
        body: new URLSearchParams({ client_id: app.clientId, client_secret: app.clientSecret, ...fields }),
      });
    const answer = await standardToken(asked);
    const own = (await answer.json()) as Record<string, string>;
    assert.deepEqual([answer.status, own['scope']], [200, 'notes.read']);
    const access = own['access_token'] ?? '';
    assert.deepEqual([claimsOf(access).aud, claimsOf(access).scope], [api.resource, 'notes.read']);
    assert.equal(await scopeAt(api, access), 'notes.read');
    for (const scope of ['openid notes.read', 'unknown', 'bad,scope "']) {
      const refused = await standardToken({ ...asked, scope });
      assert.deepEqual([refused.status, ((await refused.json()) as { error: string }).error], [400, 'invalid_scope']);
    }
    assertRefused(
      await tokenForm(server, { ...asked, client_id: app.clientId, client_secret: app.clientSecret }),
      400,
      'invalid_scope',
    );
    await allow(server, api, app, ['notes.write']);
    await allow(server, api, app, ['notes.read']);
    assert.equal(await scopeAt(api, access), undefined);
  });
});

describe('what an API declares', () => {
  const patch = (api: TestApi, fields: object) => admin(server, 'PATCH', `/clients/${api.clientId}`, fields);

  const refused: readonly (readonly [what: string, scopes: unknown, message: RegExp])[] = [
    ['one name twice', described(['a', 'a']), /a is there twice/],
    ['a name of Tessera', described(['email']), /email, which a standard or Tessera uses/],
    ['a name of a standard', described(['address']), /which a standard or Tessera uses/],
    ['such a name in other letters', described(['OpenID']), /which a standard or Tessera uses/],
    ['a name that begins like Tessera', described(['tessera.admin']), /which a standard or Tessera uses/],
    ['a name of digits', described(['123']), /beginning with a letter/],
    ['a name with a space', described(['a b']), /beginning with a letter/],
    ['no words', [{ name: 'a', descriptions: {} }], /descriptions/],
    ['a language that is none', [{ name: 'a', descriptions: { 'not a tag': 'A' } }], /descriptions|language/],
    ['words on two lines', [{ name: 'a', descriptions: { en: 'A\nB' } }], /descriptions/],
  ];
  for (const [what, resourceScopes, message] of refused) {
    test(`${what} is refused`, async () => {
      const api = await newApi(server, ['notes.read']);
      const answer = await patch(api, { resourceScopes });
      assertRefused(answer, 400, 'invalid_request');
      assert.match(answer.body.error_description, message);
    });
  }

  test('a client that is no resource server declares none', async () => {
    const { clientId } = await newClient(server);
    const answer = await admin(server, 'PATCH', `/clients/${clientId}`, { resourceScopes: described(['a']) });
    assertRefused(answer, 400, 'invalid_request');
    assert.match(answer.body.error_description, /only a resource server has scopes/);
  });

  test('it lets a client request what it declares, and nothing else', async () => {
    const api = await newApi(server, ['notes.read']);
    const app = await newClient(server);
    const path = `/clients/${api.clientId}/allowed-clients/${app.clientId}`;
    const answer = await admin(server, 'PUT', path, { scopes: ['notes.read', 'notes.delete'] });
    assertRefused(answer, 400, 'invalid_request');
    assert.match(answer.body.error_description, /notes\.delete/);
    assertRefused(await admin(server, 'GET', path), 404, 'not_found');
    assertRefused(
      await admin(server, 'PUT', `/clients/${api.clientId}/allowed-clients/1`, { scopes: ['notes.read'] }),
      404,
      'not_found',
    );
    assertRefused(
      await admin(server, 'PUT', `/clients/${api.clientId}/allowed-clients/${api.clientId}`, {
        scopes: ['notes.read'],
      }),
      400,
      'invalid_request',
    );
  });

  test('the lists of both sides agree, and an event says what changed', async () => {
    const { api, app } = await appAndApi();
    const of = async (path: string) => (await admin(server, 'GET', path)).body.items;
    const scopes = ['notes.read', 'notes.write'];
    assert.deepEqual(await of(`/clients/${api.clientId}/allowed-clients`), [
      { apiId: api.clientId, clientId: app.clientId, scopes },
    ]);
    const [own] = await of(`/clients/${app.clientId}/api-scopes`);
    assert.deepEqual([own.apiId, own.resource, own.scopes], [api.clientId, api.resource, scopes]);
    await allow(server, api, app, ['notes.read']);
    const events = await of(`/audit-events?clientId=${app.clientId}&type=client.api_scopes_changed`);
    assert.deepEqual(events.at(-1).details, {
      actorRole: 'owner',
      apiId: api.clientId,
      added: [],
      removed: ['notes.write'],
    });
  });

  test('discovery lists only what the operator lists', async () => {
    await newApi(server, ['notes.read', 'secret.read']);
    const answer = await fetch(`${server.baseUrl}/.well-known/openid-configuration`);
    const { scopes_supported: listed } = (await answer.json()) as { scopes_supported: string[] };
    assert.deepEqual([listed.includes('notes.read'), listed.includes('secret.read')], [true, false]);
  });
});

describe('traces', () => {
  const stepOf = async (answer: { readonly headers: Headers }) => {
    const id = answer.headers.get('x-request-id') ?? '';
    const { body } = await admin(server, 'GET', `/traces/${id}`);
    return body.steps.find((step: { requestId: string }) => step.requestId === id);
  };

  test('a scope or parameter that was left out is recorded as ignored, and a value of a parameter is not', async () => {
    const { app } = await appAndApi();
    const { user, browser } = await newSignedInUser(server);
    const parameters = { scope: `${NOTES} groups other`, audience: 'value', ui_locales: 'de', 'X Y': '1' };
    const shown = await stepOf(await browser.get(authorizeUrl(app, parameters)));
    const ignored = shown.ignored;
    assert.match(
      ignored,
      /^scope groups \(not registered for this app; add it: .* --scope groups\), scope other \(unknown: no API declares it, or not the one that resource names\), parameter audience \(send resource, which names an API here\), parameter ui_locales \(.*\), 1 more$/,
    );
    assert.match(shown.sent, /scope="openid notes\.read notes\.write groups other"/);
    await tokensFor(server, app, user, { scope: NOTES }, { browser });
    const silent = await stepOf(await browser.get(authorizeUrl(app, parameters)));
    assert.equal(silent.ignored, ignored);
    const plain = await stepOf(await browser.get(authorizeUrl(app, { scope: NOTES })));
    assert.equal('ignored' in plain, false);
  });

  test('a scope that the token endpoint ignores is recorded, too', async () => {
    const { app } = await appAndApi({ grantTypes: ['authorization_code', 'client_credentials'] });
    const { clientId: client_id, clientSecret: client_secret } = app;
    const ofClient = (scope: string) =>
      fetch(`${server.baseUrl}/oidc/token`, {
        method: 'POST',
        body: new URLSearchParams({ client_id, client_secret, grant_type: 'client_credentials', scope }),
      });
    const issued = await stepOf(await ofClient('notes.read other'));
    assert.deepEqual([issued.step, issued.ignored], ['token', 'scope other']);
    assert.match(issued.description, /for the scopes notes\.read\.$/);
    assert.equal('ignored' in (await stepOf(await ofClient('notes.read'))), false);

    const user = await newUser(server);
    const exchange = async (more: Readonly<Record<string, string>>) => {
      const code = await codeFor(server, app, user, { scope: NOTES });
      return stepOf(await redeem(server, app, code, more));
    };
    const exchanged = await exchange({ scope: 'notes.read' });
    assert.deepEqual(
      [exchanged.step, exchanged.ignored],
      ['token', 'parameter scope (a code has the scopes of its authorization request)'],
    );
    assert.equal('ignored' in (await exchange({})), false);
  });
});
