// store: SQLite, PostgreSQL with --all
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import {
  admin,
  authorizeUrl,
  claimsOf,
  newClient,
  newUser,
  PASSWORD,
  refresh,
  signedIn,
  type TestClient,
  type Tokens,
  tokensFor,
  userinfo,
} from '../support/flow.ts';
import { assertErrorRedirect, codeOf, settle } from '../support/outcome.ts';
import { startServer } from '../support/server.ts';

// OpenID Connect Core 1.0 §5.5: claims that are asked for one by one.

const ACR = 'urn:oasis:names:tc:SAML:2.0:ac:classes:PasswordProtectedTransport';
let client: TestClient;
const server = await startServer();
after(() => server.close());
const user = await newUser(server, { website: 'https://ada.example', birthDate: '1990-12-10' });
const browser = await signedIn(server, user);

const asking = (claims: object): { claims: string } => ({ claims: JSON.stringify(claims) });
const standard = async (tokens: Pick<Tokens, 'access_token'>) =>
  (await userinfo(server, tokens.access_token, '/oidc/userinfo')).body as Record<string, unknown>;

/** Tokens of a new client. */
async function tokensWith(
  claims: object,
  choice: { allow?: readonly string[] | 'all'; fields?: object } = {},
): Promise<Tokens> {
  client = await newClient(server, { ...choice.fields });
  return tokensFor(server, client, user, asking(claims), { browser, ...choice });
}

describe('userinfo', () => {
  test('a claim is asked for by the scope that covers it, and comes alone', async () => {
    client = await newClient(server);
    const request = authorizeUrl(client, asking({ userinfo: { birthdate: { essential: true } } }));
    const page = await settle(browser, server, await browser.get(request));
    assert.deepEqual(
      [...page.text.matchAll(/name="allow ([a-z.]+)"/g)].map(([, scope]) => scope),
      ['details'],
    );
    const tokens = await tokensFor(server, client, user, asking({ userinfo: { birthdate: null } }), { browser });
    const claims = await standard(tokens);
    assert.equal(claims['birthdate'], '1990-12-10');
    assert.ok(!('website' in claims), 'nothing that was not asked for');
  });

  test('the contract’s UserInfo and the scope of the token know nothing of it', async () => {
    const tokens = await tokensWith({ userinfo: { website: null, email: null } });
    assert.equal(claimsOf(tokens.access_token).scope, 'openid');
    assert.ok(!('scope' in tokens));
    const { body } = await userinfo(server, tokens.access_token);
    for (const name of ['website', 'email', 'birthDate']) assert.ok(!(name in body.user), name);
    assert.deepEqual(
      [(await standard(tokens))['website'], typeof (await standard(tokens))['email']],
      ['https://ada.example', 'string'],
    );
  });

  test('what the person declines is left out, without an error', async () => {
    const tokens = await tokensWith({ userinfo: { website: { essential: true } } }, { allow: [] });
    assert.ok(!('website' in (await standard(tokens))));
    // Decided: it is not asked again, and there is an answer without a page.
    codeOf(await browser.get(authorizeUrl(client, { prompt: 'none', ...asking({ userinfo: { website: null } }) })));
  });

  test('prompt=none without that consent is consent_required', async () => {
    await tokensWith({});
    const answer = await browser.get(
      authorizeUrl(client, { prompt: 'none', ...asking({ userinfo: { website: null } }) }),
    );
    assertErrorRedirect(answer, { error: 'consent_required', state: 'st4te', to: client.redirectUri }, server);
  });

  test('what is not set, unknown, or beyond the registration is left out', async () => {
    const asked = { userinfo: { phone_number: null, middle_name: null, constructor: null, website: null } };
    const claims = await standard(await tokensWith(asked));
    for (const name of ['phone_number', 'middle_name', 'constructor']) assert.ok(!Object.hasOwn(claims, name), name);
    const limited = await tokensWith(asked, { fields: { scopes: ['openid', 'email'] } });
    assert.ok(!('website' in (await standard(limited))));
    assert.ok(!('claims' in claimsOf(limited.access_token)));
  });

  test('a value that is asked for is no condition: the claim is returned as it is', async () => {
    const tokens = await tokensWith({ userinfo: { website: { value: 'https://other.example' } } });
    assert.equal((await standard(tokens))['website'], 'https://ada.example');
  });
});

describe('id_token', () => {
  test('claims that it would not have, and no others', async () => {
    const { id_token: idToken } = await tokensWith({
      id_token: { birthdate: null, locale: null, auth_time: { essential: true } },
    });
    const { birthdate, locale, auth_time, ...others } = claimsOf(idToken);
    assert.deepEqual([birthdate, locale, typeof auth_time], ['1990-12-10', 'en', 'number']);
    assert.ok(!('website' in others) && !('acr' in others));
    assert.ok(!('birthdate' in (await standard(await tokensWith({ id_token: { birthdate: null } })))));
  });

  test('a refreshed one has them too, with what holds now; the access token as well', async () => {
    const tokens = await tokensWith({ id_token: { website: null, acr: null }, userinfo: { website: null } });
    await admin(server, 'PATCH', `/users/${user.id}`, { website: 'https://new.example' });
    const { body } = await refresh(server, client, tokens.refresh_token);
    assert.deepEqual([claimsOf(body.id_token).website, claimsOf(body.id_token).acr], ['https://new.example', ACR]);
    assert.equal((await standard(body))['website'], 'https://new.example');
    const narrowed = await refresh(server, client, body.refresh_token, { scope: 'openid' });
    assert.ok(!('website' in (await standard(narrowed.body))), 'asked for less, it gives less');
    await admin(server, 'PATCH', `/clients/${client.clientId}`, { scopes: ['openid'] });
    const without = await refresh(server, client, narrowed.body.refresh_token);
    assert.ok(!('website' in (await standard(without.body))), 'the client may not ask for it any more');
    assert.ok(!('website' in claimsOf(without.body.id_token)));
    await admin(server, 'PATCH', `/users/${user.id}`, { website: 'https://ada.example' });
  });

  for (const [name, claims] of [
    ['voluntary', { id_token: { acr: { values: ['other'] } } }],
    ['essential, any', { id_token: { acr: { essential: true } } }],
    ['essential, this one', { id_token: { acr: { essential: true, value: ACR } } }],
    ['essential, this one among others', { id_token: { acr: { essential: true, values: ['other', ACR] } } }],
  ] as const) {
    test(`acr ${name}: the one that holds`, async () => {
      assert.equal(claimsOf((await tokensWith(claims)).id_token).acr, ACR);
    });
  }

  for (const acr of [
    { essential: true, value: 'other' },
    { essential: true, values: ['a', 'b'] },
    { essential: true, values: [] },
  ]) {
    test(`§5.5.1.1: acr ${JSON.stringify(acr)} cannot be had`, async () => {
      const answer = await browser.get(authorizeUrl(client, asking({ id_token: { acr } })));
      const error = 'unmet_authentication_requirements';
      assertErrorRedirect(answer, { error, state: 'st4te', to: client.redirectUri }, server);
    });
  }
});

describe('sub', () => {
  const sub = (value: unknown, member = 'id_token') => asking({ [member]: { sub: { value } } });

  test('of the person who is signed in: an answer', async () => {
    await tokensWith({});
    for (const member of ['id_token', 'userinfo']) {
      codeOf(await browser.get(authorizeUrl(client, { prompt: 'none', ...sub(user.id, member) })));
    }
    const values = asking({ id_token: { sub: { values: ['1', user.id] } } });
    codeOf(await browser.get(authorizeUrl(client, { prompt: 'none', ...values })));
  });

  test('of another: login_required, or the sign-in page, which does not say who that is', async () => {
    await tokensWith({});
    const other = await newUser(server);
    const silent = await browser.get(authorizeUrl(client, { prompt: 'none', ...sub(other.id) }));
    assertErrorRedirect(silent, { error: 'login_required', state: 'st4te', to: client.redirectUri }, server);
    const own = await signedIn(server, user);
    const page = await settle(own, server, await own.get(authorizeUrl(client, sub(other.id))));
    assert.doesNotMatch(page.text, new RegExp(`${other.username}\\b|${user.username}\\b`));
    const wrong = await own.submit(page, { identifier: user.username, password: PASSWORD });
    assert.equal(wrong.location?.searchParams.get('error'), 'login_required');
    const right = await settle(own, server, await own.get(authorizeUrl(client, sub(other.id))));
    const answer = await own.submit(right, { identifier: other.username, password: PASSWORD });
    assert.equal(answer.location?.pathname, '/consent');
  });

  test('of an unknown user: login_required at once', async () => {
    for (const value of ['nobody', 5, null, '', {}]) {
      const answer = await browser.get(authorizeUrl(client, sub(value)));
      assertErrorRedirect(answer, { error: 'login_required', state: 'st4te', to: client.redirectUri }, server);
    }
    const both = asking({ id_token: { sub: { value: user.id } }, userinfo: { sub: { value: '1' } } });
    assert.equal((await browser.get(authorizeUrl(client, both))).location?.searchParams.get('error'), 'login_required');
  });
});
