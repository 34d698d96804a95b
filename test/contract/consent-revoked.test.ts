// store: SQLite, PostgreSQL
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { Agent, Answer } from '../support/agent.ts';
import {
  admin,
  authorizeUrl,
  claimsOf,
  newClient,
  newUser,
  redeem,
  revokeOnPage,
  signedIn,
  type TestClient,
  type TestUser,
  tokensFor,
  userinfo,
  walk,
} from '../support/flow.ts';
import { assertErrorRedirect, assertStaysHere, codeOf, countRows, settle } from '../support/outcome.ts';
import { startServer } from '../support/server.ts';

// Decisions §2, CN-06, AC-08: a consent form belongs to the grant that it was shown over. All of a test happens within one
// millisecond.

const server = await startServer();
after(() => server.close());

interface Visit {
  readonly client: TestClient;
  readonly user: TestUser;
  readonly browser: Agent;
}

async function visit(): Promise<Visit> {
  const user = await newUser(server);
  return { client: await newClient(server), user, browser: await signedIn(server, user) };
}

type Parameters = Readonly<Record<string, string>>;
const EMAIL = { scope: 'openid email' };

/** A consent page that is left open. */
async function open({ browser, client }: Visit, parameters: Parameters = EMAIL): Promise<Answer> {
  const page = await settle(browser, server, await browser.get(authorizeUrl(client, parameters)));
  assert.match(page.text, /action="\/consent"/);
  return page;
}

const allow = ({ browser }: Visit, page: Answer, scopes = ['email', 'phone']) =>
  browser.submit(
    page,
    { decision: 'allow', ...Object.fromEntries(scopes.map((scope) => [`allow ${scope}`, 'on'])) },
    '/consent',
  );

/** Goes through the request in another tab. */
const grant = ({ browser, client }: Visit, parameters: Parameters = EMAIL) =>
  walk(browser, authorizeUrl(client, parameters));
const revoke = async ({ browser, client }: Visit) => {
  assert.equal((await revokeOnPage(browser, client)).status, 200);
};

async function connections({ user }: Visit): Promise<{ clientId: string; scopes: string[] }[]> {
  return (await admin(server, 'GET', `/users/${user.id}/connections`)).body.items;
}

/** Sends a form from before, which allows nothing and is shown again; that page. */
async function assertBeginsAnew(at: Visit, page: Answer): Promise<Answer> {
  const tables = ['consent_grant', 'authorization_code'];
  const before = [await connections(at), ...(await Promise.all(tables.map((name) => countRows(server, name))))];
  const answer = await allow(at, page);
  assertStaysHere(answer, 409);
  assert.match(answer.text, /The request changed while this page was open, so nothing was allowed yet/);
  const now = [await connections(at), ...(await Promise.all(tables.map((name) => countRows(server, name))))];
  assert.deepEqual(now, before);
  // A second press of the same form is no better, nor does a reload of the page make it good.
  assertStaysHere(await allow(at, page), 409);
  return answer;
}

const stale: Record<string, (at: Visit) => Promise<Answer>> = {
  'shown over a grant, which was revoked': async (at) => {
    await grant(at);
    const page = await open(at, { ...EMAIL, prompt: 'consent' });
    await revoke(at);
    return page;
  },
  'shown over a grant, which an operator revoked': async (at) => {
    await grant(at);
    const page = await open(at, { ...EMAIL, prompt: 'consent' });
    const path = `/users/${at.user.id}/connections/${at.client.clientId}`;
    assert.equal((await admin(server, 'DELETE', path)).status, 204);
    return page;
  },
  'shown over no grant; another tab allowed the app, and that was revoked': async (at) => {
    const page = await open(at);
    await grant(at);
    await revoke(at);
    return page;
  },
  'shown after one revocation, and before another': async (at) => {
    await grant(at);
    await revoke(at);
    const page = await open(at);
    await grant(at);
    await revoke(at);
    return page;
  },
};
for (const [name, make] of Object.entries(stale)) {
  test(`a form that was ${name}, begins anew`, async () => {
    const at = await visit();
    const again = await assertBeginsAnew(at, await make(at));
    assert.deepEqual(await connections(at), []);
    // The page that came is a new question, with a new answer.
    const tokens = await redeem(server, at.client, codeOf(await allow(at, again)));
    assert.equal(claimsOf(tokens.body.access_token).scope, 'openid email');
  });
}

test('a form from before a revocation changes nothing in the grant that was made after it', async () => {
  const at = await visit();
  await grant(at);
  const both = { scope: 'openid email phone' };
  const page = await open(at, both);
  await revoke(at);
  await grant(at);
  // The question is the same as before: about the phone, beside the email that is allowed.
  const again = await assertBeginsAnew(at, page);
  assert.deepEqual(
    (await connections(at)).map(({ scopes }) => scopes),
    [['openid', 'email']],
  );
  codeOf(await allow(at, again));
  assert.deepEqual((await connections(at))[0]?.scopes, ['openid', 'email', 'phone']);
});

test('where a grant was made since that answers the whole request, the form from before adds nothing to it', async () => {
  const at = await visit();
  const page = await open(at);
  await grant(at);
  await revoke(at);
  const live = await tokensFor(server, at.client, at.user, EMAIL, { browser: at.browser, allow: [] });
  const answer = await settle(at.browser, server, await allow(at, page));
  const { body } = await redeem(server, at.client, codeOf(answer));
  assert.equal(claimsOf(body.access_token).scope, 'openid');
  assert.equal((await userinfo(server, live.access_token)).status, 200);
  assert.deepEqual((await connections(at))[0]?.scopes, ['openid']);
});

test('decisions §3: tabs do not disturb each other: what another tab allowed, and still holds, makes no form stale', async () => {
  const at = await visit();
  await grant(at);
  await revoke(at);
  const [first, second] = [await open(at), await open(at, { scope: 'openid phone' })];
  codeOf(await allow(at, first));
  codeOf(await allow(at, second));
  assert.deepEqual((await connections(at))[0]?.scopes, ['openid', 'email', 'phone']);
});

test('another app’s revocation, and another person’s, make no form stale', async () => {
  const at = await visit();
  const other = { ...at, client: await newClient(server) };
  const signedInUser = { ...(await visit()), client: at.client };
  await Promise.all([grant(other), grant(signedInUser)]);
  const page = await open(at);
  await revoke(other);
  await revoke(signedInUser);
  codeOf(await allow(at, page));
});

test('a refusal is one, also after a revocation', async () => {
  const at = await visit();
  await grant(at);
  const page = await open(at, { ...EMAIL, prompt: 'consent' });
  await revoke(at);
  assertErrorRedirect(
    await at.browser.submit(page, { decision: 'deny' }, '/consent'),
    {
      error: 'access_denied',
      description: 'User denied the request',
      status: 303,
      state: 'st4te',
      to: at.client.redirectUri,
    },
    server,
  );
});

test('CN-01: what a form says of revocations cannot be put in its place', async () => {
  const at = await visit();
  await grant(at);
  const page = await open(at, { ...EMAIL, prompt: 'consent' });
  await revoke(at);
  const fresh = await open(at);
  const shown = /name="shown" value="([^"]+)"/;
  const mended = { ...page, text: page.text.replace(shown, shown.exec(fresh.text)?.[0] ?? '') };
  assert.notEqual(mended.text, page.text);
  await assertBeginsAnew(at, mended);
});
