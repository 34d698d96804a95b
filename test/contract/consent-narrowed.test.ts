// store: SQLite, PostgreSQL with --all
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import type { Agent } from '../support/agent.ts';
import { assertInvalidGrant, assertInvalidToken, assertRefused, STANDARD } from '../support/api-call.ts';
import {
  admin,
  claimsOf,
  codeFor,
  newClient,
  newUser,
  redeem,
  refresh,
  signedIn,
  type TestClient,
  type TestUser,
  type Tokens,
  tokensFor,
  userinfo,
} from '../support/flow.ts';
import { MINUTE } from '../support/outcome.ts';
import { startServer } from '../support/server.ts';
import { introspect } from '../support/token-services.ts';

// Decisions §2, RT-07: a decision that takes scopes away takes them from everything issued under the same grant, at once; one
// that gives some adds nothing to what was issued.

const server = await startServer({ TESSERA_LIMIT_CLIENT_AUTH: 'off' });
after(() => server.close());

const SCOPES = ['email', 'details', 'phone', 'social', 'organization.read'];
const ALL = ['openid', ...SCOPES].join(' ');
const PERSON = { website: 'https://ada.example', birthDate: '1990-12-10', phone: '+905551234567' };

interface Visit {
  readonly client: TestClient;
  readonly user: TestUser;
  readonly browser: Agent;
}

async function visit(): Promise<Visit> {
  const user = await newUser(server, PERSON);
  return { client: await newClient(server), user, browser: await signedIn(server, user) };
}

type Parameters = Readonly<Record<string, string>>;

const code = ({ client, user, browser }: Visit, allow: readonly string[] | 'all', parameters: Parameters = {}) =>
  codeFor(server, client, user, { scope: ALL, ...parameters }, { browser, allow });
const tokens = ({ client, user, browser }: Visit, allow: readonly string[] | 'all', parameters: Parameters = {}) =>
  tokensFor(server, client, user, { scope: ALL, ...parameters }, { browser, allow });

/** Decides again about everything that is asked for, and leaves on only these. */
const decide = (at: Visit, allow: readonly string[], parameters: Parameters = {}) =>
  code(at, allow, { prompt: 'consent', ...parameters });

/** The scopes whose fields UserInfo has. */
async function shown({ access_token: token }: Pick<Tokens, 'access_token'>): Promise<string[]> {
  const { status, body } = await userinfo(server, token);
  assert.equal(status, 200, JSON.stringify(body));
  const fields = ['email', 'website', 'phone', 'socialLinks', 'organization'];
  return SCOPES.filter((_, index) => (fields[index] ?? '') in body.user);
}

async function standardClaims({ access_token: token }: Pick<Tokens, 'access_token'>): Promise<Record<string, unknown>> {
  const { status, body } = await userinfo(server, token, STANDARD);
  assert.equal(status, 200, JSON.stringify(body));
  return body;
}

const scopeAt = async ({ client }: Visit, token: string): Promise<string> => {
  const { body } = await introspect(server, client, token);
  assert.equal(body.active, true);
  return body.scope;
};

/** Everything that says what a family gives agrees on these scopes. */
async function assertGives(at: Visit, family: Tokens, scopes: readonly string[]): Promise<Tokens> {
  const expected = ['openid', ...scopes].join(' ');
  assert.deepEqual(await shown(family), scopes);
  const claims = await standardClaims(family);
  assert.equal('email' in claims, scopes.includes('email'));
  assert.equal('website' in claims, scopes.includes('details'));
  assert.equal('phone_number' in claims, scopes.includes('phone'));
  for (const token of [family.access_token, family.refresh_token]) assert.equal(await scopeAt(at, token), expected);
  const { status, body } = await refresh(server, at.client, family.refresh_token);
  assert.equal(status, 200, JSON.stringify(body));
  assert.equal(claimsOf(body.access_token).scope, expected);
  assert.deepEqual(await shown(body), scopes);
  return body;
}

for (const off of SCOPES) {
  test(`${off} is taken from what was issued, at once and everywhere`, async () => {
    const at = await visit();
    const [first, second] = [await tokens(at, 'all'), await tokens(at, 'all')];
    assert.deepEqual(await shown(first), SCOPES);
    const rest = SCOPES.filter((scope) => scope !== off);
    await decide(at, rest);
    for (const family of [first, second]) {
      const refreshed = await assertGives(at, family, rest);
      // The access token from before says more than it gives.
      assert.equal(claimsOf(family.access_token).scope, ALL);
      assert.deepEqual(await shown(refreshed), rest);
      const wider = await refresh(server, at.client, refreshed.refresh_token, { scope: `openid ${off}` });
      assertRefused(wider, 400, 'invalid_scope');
      const less = await refresh(server, at.client, refreshed.refresh_token, { scope: 'openid' });
      assert.deepEqual(await shown(less.body), []);
    }
  });
}

test('RFC 6749 §5.1: a refresh tells what is left, for that is less than the authorization granted', async () => {
  const at = await visit();
  const family = await tokens(at, 'all');
  const before = await refresh(server, at.client, family.refresh_token);
  assert.equal('scope' in before.body, false);
  await decide(at, ['phone']);
  const { body } = await refresh(server, at.client, before.body.refresh_token);
  assert.equal(body.scope, 'openid phone');
  // A retry within the grace gets the same refresh token, and no more.
  const again = await refresh(server, at.client, before.body.refresh_token);
  assert.deepEqual([again.body.refresh_token, again.body.scope], [body.refresh_token, 'openid phone']);
  const asked = await refresh(server, at.client, body.refresh_token, { scope: 'openid phone' });
  assert.equal('scope' in asked.body, false);
});

test('a code that was not redeemed gives what is left, and tells it', async () => {
  const at = await visit();
  const waiting = await code(at, 'all');
  await decide(at, ['phone', 'social']);
  const { status, body } = await redeem(server, at.client, waiting);
  assert.deepEqual([status, body.scope], [200, 'openid phone social']);
  assert.equal(claimsOf(body.access_token).scope, 'openid phone social');
  await assertGives(at, body, ['phone', 'social']);
});

test('what is granted again later is for new tokens alone', async () => {
  const at = await visit();
  const family = await tokens(at, 'all');
  const waiting = await code(at, 'all');
  await decide(at, ['phone']);
  await decide(at, SCOPES);
  const old = await assertGives(at, family, ['phone']);
  const { body } = await redeem(server, at.client, waiting);
  await assertGives(at, body, ['phone']);
  const fresh = await tokens(at, 'all');
  await decide(at, ['email', 'details', 'social', 'organization.read']);
  // Each keeps what none of the decisions since has taken.
  await assertGives(at, old, []);
  await assertGives(at, fresh, ['email', 'details', 'social', 'organization.read']);
});

test('a decision about some scopes leaves the others of what was issued', async () => {
  const at = await visit();
  const family = await tokens(at, 'all');
  await decide(at, [], { scope: 'openid email' });
  await assertGives(at, family, ['details', 'phone', 'social', 'organization.read']);
});

test('a form that leaves off what another tab has just allowed takes it away', async () => {
  const at = await visit();
  const family = await tokens(at, ['email', 'phone'], { scope: 'openid email phone' });
  await decide(at, ['email'], { scope: 'openid email phone details' });
  await assertGives(at, family, ['email']);
});

test('a refusal takes nothing away', async () => {
  const at = await visit();
  const family = await tokens(at, 'all');
  const page = await at.browser.get(
    (await at.browser.get(`/api/v2/oauth/authorize?${query(at, { prompt: 'consent' })}`)).location?.href ?? '',
  );
  const answer = await at.browser.submit(page, { decision: 'deny' }, '/consent');
  assert.equal(answer.location?.searchParams.get('error'), 'access_denied');
  await assertGives(at, family, SCOPES);
});

const query = ({ client }: Visit, more: Parameters) =>
  new URLSearchParams({
    response_type: 'code',
    client_id: client.clientId,
    redirect_uri: client.redirectUri,
    scope: ALL,
    ...more,
  });

test('what other people and other apps have is untouched', async () => {
  const at = await visit();
  const [other, person] = [
    { ...at, client: await newClient(server) },
    { ...(await visit()), client: at.client },
  ];
  const untouched = [[other, await tokens(other, 'all')] as const, [person, await tokens(person, 'all')] as const];
  await tokens(at, 'all');
  await decide(at, []);
  for (const [of, family] of untouched) await assertGives(of, family, SCOPES);
});

describe('single claims go with the scope that covers them', () => {
  const claims = JSON.stringify({
    userinfo: { website: null, phone_number: null },
    id_token: { birthdate: null, locale: null, phone_number: null },
  });
  const asked = { scope: 'openid', claims };

  test('from UserInfo and from refreshed ID tokens', async () => {
    const at = await visit();
    const family = await tokens(at, 'all', asked);
    assert.deepEqual(
      [(await standardClaims(family))['website'], claimsOf(family.id_token).birthdate],
      [PERSON.website, PERSON.birthDate],
    );
    await decide(at, ['phone'], asked);
    const left = await standardClaims(family);
    assert.deepEqual([left['website'], left['phone_number']], [undefined, PERSON.phone]);
    const { body } = await refresh(server, at.client, family.refresh_token);
    const { birthdate, locale, phone_number: phone } = claimsOf(body.id_token);
    assert.deepEqual([birthdate, locale, phone], [undefined, 'en', PERSON.phone]);
    assert.deepEqual(claimsOf(body.access_token).claims, ['phone_number']);
    assert.equal('website' in (await standardClaims(body)), false);
  });

  test('from a code that was not redeemed', async () => {
    const at = await visit();
    const waiting = await code(at, 'all', asked);
    await decide(at, ['phone'], asked);
    const { body } = await redeem(server, at.client, waiting);
    assert.deepEqual(claimsOf(body.access_token).claims, ['phone_number']);
    assert.equal(claimsOf(body.id_token).birthdate, undefined);
    // Allowed again, they are for new tokens.
    await decide(at, ['phone', 'details'], asked);
    const refreshed = await refresh(server, at.client, body.refresh_token);
    assert.equal(claimsOf(refreshed.body.id_token).birthdate, undefined);
  });
});

describe('where the app has changed hands, a decision is about all that it may have', () => {
  const ORDERS = 'https://api.example.com/orders';
  const BILLS = 'https://api.example.com/bills';

  test('what was not asked for again is taken from what was issued', async () => {
    const at = await visit();
    const family = await tokens(at, 'all');
    await admin(server, 'PATCH', `/clients/${at.client.clientId}`, { owner: 'Another Ltd' });
    await assertGives(at, await tokens(at, 'all', { scope: 'openid email' }), ['email']);
    await assertGives(at, family, ['email']);
  });

  test('RFC 8707: what is for a resource server that was not allowed again ends', async () => {
    const grantTypes = ['client_credentials'];
    const orders = await newClient(server, { resource: ORDERS, grantTypes });
    await newClient(server, { resource: BILLS, grantTypes });
    const at = await visit();
    const [gone, kept, none] = [
      await tokens(at, 'all', { resource: ORDERS }),
      await tokens(at, 'all', { resource: BILLS }),
      await tokens(at, 'all'),
    ];
    const waiting = await code(at, 'all', { resource: ORDERS });
    await admin(server, 'PATCH', `/clients/${at.client.clientId}`, { owner: 'Another Ltd' });
    await tokens(at, 'all', { resource: BILLS });
    assert.equal((await introspect(server, orders, gone.access_token)).text, '{"active":false}');
    assertInvalidGrant(await refresh(server, at.client, gone.refresh_token));
    assertInvalidGrant(await redeem(server, at.client, waiting));
    assert.equal((await refresh(server, at.client, kept.refresh_token)).status, 200);
    assert.equal((await refresh(server, at.client, none.refresh_token)).status, 200);
  });
});

test('a family that had ended stays ended', async () => {
  const at = await visit();
  const family = await tokens(at, 'all');
  await refresh(server, at.client, (await refresh(server, at.client, family.refresh_token)).body.refresh_token);
  server.advance(MINUTE);
  assertInvalidGrant(await refresh(server, at.client, family.refresh_token));
  await decide(at, []);
  assertInvalidToken(await userinfo(server, family.access_token));
});
