// store: PostgreSQL
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Client } from 'pg';
import { readConfig } from '../../src/settings/config.ts';
import type { Answer } from '../support/agent.ts';
import {
  admin,
  authorizeUrl,
  claimsOf,
  codeFor,
  type JsonAnswer,
  newClient,
  newUser,
  redeem,
  refresh,
  signedIn,
  standard,
  type TestClient,
  userinfo,
} from '../support/flow.ts';
import { assertStaysHere, codeOf, query, restart, settle } from '../support/outcome.ts';
import { startPostgres } from '../support/postgres.ts';
import { startServer, type TestServer } from '../support/server.ts';

// Where rows are locked one by one, what runs beside a decision is found by the order in which it locks.

const started = process.env['TESSERA_TEST_POSTGRES'] === undefined ? await startPostgres() : undefined;
if (started !== undefined) process.env['TESSERA_TEST_POSTGRES'] = started.url;

let server: TestServer;
let beside: Client;
/** In no transaction, within which `pg_stat_activity` would not show what connected since its first use. */
let watching: Client;
before(async () => {
  server = await startServer({ TESSERA_LIMIT_AUTHORIZATION: '1000/m' }, 2);
  // A deadlock is a fault here, not something to be found out and tried again.
  const connectionString = readConfig(server.environment).databaseUrl;
  await query(server, `ALTER DATABASE ${new URL(connectionString).pathname.slice(1)} SET deadlock_timeout = '1h'`);
  await restart(server);
  beside = new Client({ connectionString });
  watching = new Client({ connectionString });
  await Promise.all([beside.connect(), watching.connect()]);
});
after(async () => {
  await Promise.all([beside.end(), watching.end()]);
  await server.close();
  await started?.stop();
});

/**
 * Goes on when so many units of work wait for locks; answers false where one of the requests has given up waiting. A statement that is
 * prepared for later waits as well, and is none of them.
 */
async function waiting(count: number, requests: readonly Promise<unknown>[]): Promise<boolean> {
  let ended = false;
  const end = () => {
    ended = true;
  };
  for (const request of requests) request.then(end, end);
  while (!ended) {
    const { rows } = await watching.query(
      "SELECT count(*)::int AS n FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock' AND query NOT LIKE 'PREPARE %'",
    );
    if (rows[0]?.n === count) return true;
  }
  return false;
}

/** Tries until requests have met as they should, and were answered; what waits for a lock gives up after some seconds. */
async function untilMet<T>(attempt: () => Promise<T | undefined>): Promise<T> {
  for (let attempts = 0; attempts < 10; attempts++) {
    const met = await attempt();
    if (met !== undefined) return met;
  }
  return assert.fail('they do not wait for each other, or they do so for ever');
}

/** Whether one gave up after they had met: a busy machine may have taken some seconds to let them go on. */
const gaveUp = (...answers: readonly { readonly status: number }[]): boolean =>
  answers.some(({ status }) => status === 503);

/** A consent whose form has found no grant, and is about to make one, while another tab allows access and revokes it. */
async function besideAnotherTab(): Promise<{ answer: Answer; clientId: string } | undefined> {
  const client = await newClient(server);
  const user = await newUser(server);
  const browser = await signedIn(server, user);
  const page = await settle(browser, server, await browser.get(authorizeUrl(client)));
  // What the other tab did shows when the grant is made.
  await beside.query('BEGIN; LOCK TABLE consent_grant IN SHARE MODE');
  await beside.query(
    `INSERT INTO consent_grant (id, account_id, client_id, scopes, declined_scopes, consent_epoch, created_at, updated_at, revoked_at)
     VALUES ($1, $1, $2, 'openid', '', 'epoch', 0, 0, 1)`,
    [user.id, client.clientId],
  );
  await beside.query(
    "INSERT INTO consent_revocation (account_id, client_id, name, revoked_at) VALUES ($1, $2, 'another tab', 1)",
    [user.id, client.clientId],
  );
  const sent = browser.submit(page, { decision: 'allow' }, '/consent');
  const met = await waiting(1, [sent]);
  await beside.query('COMMIT');
  const answer = await sent;
  return met && !gaveUp(answer) ? { answer, clientId: client.clientId } : undefined;
}

test('decisions §2: a form is out of date where access was allowed and revoked just before its own grant is made', async () => {
  const { answer, clientId } = await untilMet(besideAnotherTab);
  assertStaysHere(answer, 409);
  const rows = await query(server, 'SELECT id FROM consent_grant WHERE revoked_at IS NULL AND client_id = ?', clientId);
  assert.deepEqual(rows, []);
});

/** A redemption that makes its family while the decision waits for its code. */
async function besideEachOther(): Promise<{ tokens: JsonAnswer; answer: Answer } | undefined> {
  const client = await newClient(server);
  const user = await newUser(server);
  const browser = await signedIn(server, user);
  const code = await codeFor(server, client, user, { scope: 'openid email phone' }, { browser });
  const asked = await browser.get(authorizeUrl(client, { scope: 'openid email phone', prompt: 'consent' }));
  const page = await browser.get(asked.location?.href ?? '');

  // The redemption gets as far as its family, with the code locked.
  await beside.query('BEGIN; LOCK TABLE token_family IN SHARE MODE');
  const redeemed = redeem({ baseUrl: server.nodes[1] ?? '' }, client, code);
  const held = await waiting(1, [redeemed]);
  // The decision has changed the grant by then.
  const decided = browser.submit(page, { decision: 'allow', 'allow phone': 'on' }, '/consent');
  const met = held && (await waiting(2, [redeemed, decided]));
  await beside.query('COMMIT');
  const [tokens, answer] = await Promise.all([redeemed, decided]);
  return met && !gaveUp(tokens, answer) ? { tokens, answer } : undefined;
}

test('decisions §2: a decision waits for a redemption that holds its code, and takes the scope from its family', async () => {
  const { tokens, answer } = await untilMet(besideEachOther);
  const { status, body } = tokens;
  assert.equal(status, 200, JSON.stringify(body));
  assert.ok(codeOf(answer));
  assert.equal(claimsOf(body.access_token).scope, 'openid email phone', 'it was under way before');
  const shown = await userinfo(server, body.access_token);
  assert.deepEqual([shown.status, 'email' in shown.body.user, 'phone' in shown.body.user], [200, false, true]);
});

/** A decision and an authorization without a page that both wait for the count that they share. */
async function besideTheCount(): Promise<readonly Answer[] | undefined> {
  const client = await newClient(server);
  const user = await newUser(server);
  const browser = await signedIn(server, user);
  await codeFor(server, client, user, { scope: 'openid email' }, { browser });
  const page = await settle(browser, server, await browser.get(authorizeUrl(client, { prompt: 'consent' })));
  await beside.query('BEGIN; LOCK TABLE rate_count IN EXCLUSIVE MODE');
  const decided = browser.submit(page, { decision: 'allow' }, '/consent');
  const held = await waiting(1, [decided]);
  const silent = browser.get(authorizeUrl(client));
  const met = held && (await waiting(2, [decided, silent]));
  await beside.query('COMMIT');
  const answers = await Promise.all([decided, silent]);
  return met ? answers : undefined;
}

test('decisions §2: a decision and an authorization without a page lock in one order', async () => {
  for (const answer of await untilMet(besideTheCount)) assert.ok(codeOf(answer));
});

/** A first consent at the OIDC endpoints, which has made its grant, beside a revocation: only the contract's grant had a row before. */
async function besideFirstConsent(): Promise<{ answer: Answer; revoked: JsonAnswer; clientId: string } | undefined> {
  const client = await newClient(server);
  const user = await newUser(server);
  const browser = await signedIn(server, user);
  await codeFor(server, client, user, {}, { browser });
  const asked = await browser.get(authorizeUrl(standard(client), { scope: 'openid profile' }));
  const page = await browser.get(asked.location?.href ?? '');

  await beside.query('BEGIN; LOCK TABLE authorization_code IN SHARE MODE');
  const decided = browser.submit(page, { decision: 'allow', 'allow profile': 'on' }, '/consent');
  const held = await waiting(1, [decided]);
  const there = { baseUrl: server.nodes[1] ?? '' };
  const revoking = admin(there, 'DELETE', `/users/${user.id}/connections/${client.clientId}`);
  const met = held && (await waiting(2, [decided, revoking]));
  await beside.query('COMMIT');
  const [answer, revoked] = await Promise.all([decided, revoking]);
  return met && !gaveUp(answer, revoked) ? { answer, revoked, clientId: client.clientId } : undefined;
}

/** A first consent, which has read that no second factor is required, beside its becoming required and the end of what is weaker. */
async function besideTheRequirement(): Promise<{ client: TestClient; code: string } | undefined> {
  const client = await newClient(server);
  const browser = await signedIn(server, await newUser(server));
  const page = await settle(browser, server, await browser.get(authorizeUrl(client)));
  await beside.query('BEGIN; LOCK TABLE rate_count IN EXCLUSIVE MODE');
  const decided = browser.submit(page, { decision: 'allow' }, '/consent');
  const held = await waiting(1, [decided]);
  const there = { baseUrl: server.nodes[1] ?? '' };
  const ending = admin(there, 'PATCH', `/clients/${client.clientId}`, { requireSecondFactor: true }).then(() =>
    admin(there, 'POST', '/end-weaker-access', { clientId: client.clientId }),
  );
  if (held) await waiting(2, [decided, ending]);
  await beside.query('COMMIT');
  const [answer, ended] = await Promise.all([decided, ending]);
  const code = answer.location?.searchParams.get('code');
  return held && ended.status === 200 && code ? { client, code } : undefined;
}

test('decisions §11: ending what is weaker for an app waits for a first consent that is under way, and ends its code', async () => {
  const { client, code } = await untilMet(besideTheRequirement);
  assert.equal((await redeem(server, client, code)).body.error, 'invalid_grant');
});

test('decisions §10: a revocation waits for a first consent at the other endpoints, and ends its grant', async () => {
  const { answer, revoked, clientId } = await untilMet(besideFirstConsent);
  codeOf(answer);
  assert.equal(revoked.status, 204);
  const live = await query(
    server,
    'SELECT face FROM consent_grant WHERE revoked_at IS NULL AND client_id = ?',
    clientId,
  );
  assert.deepEqual(live, []);
});

/** A redemption that makes its family, which ends with the session, while the sign-out waits for its code. */
async function besideSignOut(): Promise<{ client: TestClient; tokens: JsonAnswer; answer: Answer } | undefined> {
  const client = standard(await newClient(server));
  const user = await newUser(server);
  const browser = await signedIn(server, user);
  const code = await codeFor(server, client, user, { scope: 'openid' }, { browser });
  const page = await browser.get('/account');

  // The redemption gets as far as its family, with the code locked.
  await beside.query('BEGIN; LOCK TABLE token_family IN SHARE MODE');
  const redeemed = redeem({ baseUrl: server.nodes[1] ?? '' }, client, code);
  const held = await waiting(1, [redeemed]);
  const signedOut = browser.submit(page, {}, '/logout');
  const met = held && (await waiting(2, [redeemed, signedOut]));
  await beside.query('COMMIT');
  const [tokens, answer] = await Promise.all([redeemed, signedOut]);
  return met && !gaveUp(tokens, answer) ? { client, tokens, answer } : undefined;
}

test('decisions §10: a sign-out waits for a redemption that holds its code, and ends its family', async () => {
  const { client, tokens, answer } = await untilMet(besideSignOut);
  assert.equal(tokens.status, 200, 'it was under way before');
  assert.equal(answer.location?.pathname, '/login', `${answer.status} ${answer.text}`);
  assert.equal((await userinfo(server, tokens.body.access_token, '/oidc/userinfo')).status, 401);
  assert.equal((await refresh(server, client, tokens.body.refresh_token)).body.error, 'invalid_grant');
});
