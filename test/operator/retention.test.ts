// store: SQLite, PostgreSQL with --all
/** Token families go when nothing depends on them any more: their tokens, their redeemed code, their browser session. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { clientsOfSession } from '../../src/credentials/logout-notice-store.ts';
import { openKeys } from '../../src/keys/keys.ts';
import { sweep } from '../../src/operations/housekeeping/housekeeping.ts';
import { explainToken } from '../../src/protocol/token/explain.ts';
import type { Agent } from '../support/agent.ts';
import {
  admin,
  claimsOf,
  codeFor,
  newClient,
  newUser,
  redeem,
  refresh,
  revokeOnPage,
  signedIn,
  type Tokens,
  userinfo,
} from '../support/flow.ts';
import { withData } from '../support/forged-token.ts';
import { DAY, HOUR, MINUTE, query, SECOND } from '../support/outcome.ts';
import { startServer } from '../support/server.ts';
import { introspect, revoke } from '../support/token-services.ts';

const server = await startServer();
after(() => server.close());
const RETURN = 'https://app.example.com/bye';
const client = await newClient(server, {
  idTokenSignedResponseAlg: 'RS256',
  postLogoutRedirectUris: [RETURN],
  backchannelLogoutUri: 'https://app.example.com/logout',
});
/** Nodes whose clocks are behind may need a row for so long. */
const TOLERANCE = 5 * MINUTE;

interface Visit {
  readonly browser: Agent;
  readonly code: string;
  readonly tokens: Tokens;
  readonly familyId: string;
}

/** A new user who signed in to the app. */
async function visit(): Promise<Visit & { readonly userId: string }> {
  const user = await newUser(server);
  const browser = await signedIn(server, user);
  const code = await codeFor(server, client, user, {}, { browser });
  const { status, body: tokens } = await redeem(server, client, code);
  assert.equal(status, 200, JSON.stringify(tokens));
  return { browser, code, tokens, familyId: claimsOf(tokens.access_token).family, userId: user.id };
}

const signOut = async ({ browser }: Visit) => browser.submit(await browser.get('/account/security'), {}, '/logout');
const sweepAt = (now: number) => withData(server, ({ database }) => sweep(database, now));
const expiryOf = (token: string): number => claimsOf(token).exp * SECOND;

/** How many families and codes are on record of an authorization. */
async function rowsOf({ familyId }: Visit): Promise<[families: number, codes: number]> {
  const families = await query(server, 'SELECT 1 AS x FROM token_family WHERE id = ?', familyId);
  const codes = await query(server, 'SELECT 1 AS x FROM authorization_code WHERE family_id = ?', familyId);
  return [families.length, codes.length];
}

/** What the app is answered to everything that it has of an authorization. */
async function answersTo({ code, tokens }: Visit): Promise<unknown> {
  const of = ({ status, body }: { status: number; body: { error?: unknown } }) => [status, body.error];
  const { refresh_token } = tokens;
  const explained = await withData(server, async ({ database, secret, clock }) => {
    const keys = await openKeys(database, { current: secret, previous: undefined }, clock);
    return explainToken({ database, clock, issuer: server.baseUrl, keys }, refresh_token);
  });
  return {
    userinfo: of(await userinfo(server, tokens.access_token)),
    introspection: [
      (await introspect(server, client, tokens.access_token)).body,
      (await introspect(server, client, tokens.refresh_token)).body,
    ],
    refresh: of(await refresh(server, client, tokens.refresh_token)),
    code: of(await redeem(server, client, code)),
    explained: [explained.verdict, explained.answer],
    revocation: (await revoke(server, client, tokens.refresh_token)).status,
  };
}

test('a family goes when its last token has expired, and not a moment before', async () => {
  const visits: Awaited<ReturnType<typeof visit>>[] = [];
  for (let count = 0; count < 4; count++) {
    visits.push(await visit());
    // So that they end one after the other.
    server.advance(SECOND);
  }
  const [one, dead, ended, refreshed] = visits;
  assert.ok(one && dead && ended && refreshed);
  for (const each of [one, refreshed, dead]) await signOut(each);
  assert.equal((await revoke(server, client, dead.tokens.refresh_token)).status, 200);
  await revokeOnPage(ended.browser, client);
  server.advance(6 * DAY);
  const { body: later } = await refresh(server, client, refreshed.tokens.refresh_token);
  for (const [each, token] of [
    [one, one.tokens.refresh_token],
    [dead, dead.tokens.refresh_token],
    [ended, ended.tokens.refresh_token],
    [refreshed, later.refresh_token],
  ] as const) {
    const end = expiryOf(token) + TOLERANCE;
    await sweepAt(end - 1);
    assert.deepEqual(await rowsOf(each), [1, 1]);
    await sweepAt(end);
    assert.deepEqual(await rowsOf(each), [0, 0]);
  }
});

test('until then every refusal is the same: revoked consent, reuse and replay are told at the end as at the beginning', async () => {
  const [revoked, reused, replayed] = [await visit(), await visit(), await visit()];
  await revokeOnPage(revoked.browser, client);
  const successor = (await refresh(server, client, reused.tokens.refresh_token)).body;
  for (const each of [revoked, reused, replayed]) await signOut(each);
  server.advance(expiryOf(revoked.tokens.refresh_token) - server.now() - SECOND);
  await sweepAt(server.now());
  assert.deepEqual((await refresh(server, client, revoked.tokens.refresh_token)).body, {
    error: 'access_denied',
    error_description: 'Access revoked by user',
  });
  assert.equal((await refresh(server, client, reused.tokens.refresh_token)).body.error, 'invalid_grant');
  assert.match(
    (await refresh(server, client, successor.refresh_token)).body.error_description,
    /the sign-in that it came from has ended/,
  );
  const { body: last } = await refresh(server, client, replayed.tokens.refresh_token);
  server.advance(6 * DAY);
  await sweepAt(server.now());
  assert.equal((await redeem(server, client, replayed.code)).body.error, 'invalid_grant');
  assert.equal((await refresh(server, client, last.refresh_token)).status, 400, 'its code was replayed');
});

test('what is left of a removed family is answered as that of a dead one', async () => {
  const [removed, dead] = [await visit(), await visit()];
  for (const each of [removed, dead]) await signOut(each);
  assert.equal((await revoke(server, client, dead.tokens.refresh_token)).status, 200);
  // Ahead of time for one of them, so that its tokens have not expired: nothing but the record can tell.
  await query(server, 'DELETE FROM token_family WHERE id = ?', removed.familyId);
  assert.deepEqual(await rowsOf(removed), [0, 0]);
  assert.deepEqual(await answersTo(removed), await answersTo(dead));
  server.advance(HOUR);
  assert.deepEqual(await answersTo(removed), await answersTo(dead));
  server.advance(7 * DAY);
  assert.deepEqual(await answersTo(removed), await answersTo(dead));
});

test('while the browser session lives, the app is notified of its end and may end it with an old ID token', async () => {
  const used = await visit();
  const unused = await visit();
  const idle = server.now() + 14 * DAY;
  for (let day = 0; day < 20; day += 5) {
    server.advance(5 * DAY);
    await sweepAt(server.now());
    assert.equal((await used.browser.get('/account')).status, 200);
  }
  assert.deepEqual(await rowsOf(used), [1, 1]);
  assert.ok(idle + TOLERANCE < server.now());
  assert.deepEqual(await rowsOf(unused), [0, 0], 'its session was not used');
  const { sub: accountId, sid } = claimsOf(used.tokens.id_token);
  const notified = await withData(server, ({ database }) => database.read(() => clientsOfSession({ accountId, sid })));
  assert.deepEqual(
    notified.map(({ clientId }) => clientId),
    [client.clientId],
  );
  const answer = await used.browser.get(
    `/oidc/logout?${new URLSearchParams({ id_token_hint: used.tokens.id_token, post_logout_redirect_uri: RETURN })}`,
  );
  assert.equal(answer.location?.href, RETURN, 'without a question');
});

test('a connection still says when it was last used', async () => {
  const gone = await visit();
  const connection = async () => (await admin(server, 'GET', `/users/${gone.userId}/connections`)).body;
  server.advance(HOUR);
  await refresh(server, client, gone.tokens.refresh_token);
  const before = await connection();
  assert.equal(before.items[0].lastUsedAt, new Date(server.now()).toISOString());
  server.advance(30 * DAY);
  await sweepAt(server.now());
  assert.deepEqual(await rowsOf(gone), [0, 0]);
  assert.deepEqual(await connection(), before);
});

test('a session goes when it was not used for 14 days, and a code an hour after it could have been redeemed', async () => {
  const user = await newUser(server);
  const browser = await signedIn(server, user);
  await codeFor(server, client, user, {}, { browser });
  const now = server.now();
  const left = async () => [
    (await query(server, 'SELECT 1 AS x FROM browser_session WHERE account_id = ?', user.id)).length,
    (await query(server, 'SELECT 1 AS x FROM authorization_code WHERE account_id = ?', user.id)).length,
  ];
  await sweepAt(now + MINUTE + HOUR - 1);
  assert.deepEqual(await left(), [1, 1]);
  await sweepAt(now + MINUTE + HOUR);
  assert.deepEqual(await left(), [1, 0]);
  await sweepAt(now + 14 * DAY - 1);
  assert.deepEqual(await left(), [1, 0]);
  await sweepAt(now + 14 * DAY);
  assert.deepEqual(await left(), [0, 0]);
});
