// store: PostgreSQL
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Client } from 'pg';
import { rotateSigningKey } from '../../src/keys/signing-keys.ts';
import { digest } from '../../src/platform/crypto/secrets.ts';
import { type Agent, agent } from '../support/agent.ts';
import {
  admin,
  authorizeUrl,
  codeFor,
  newClient,
  newUser,
  PASSWORD,
  redeem,
  refresh,
  signedIn,
  type TestClient,
  type TestUser,
  tokenCall,
  tokensFor,
  walk,
} from '../support/flow.ts';
import { withData } from '../support/forged-token.ts';
import { startPostgres } from '../support/postgres.ts';
import { startServer, type TestServer } from '../support/server.ts';

/*
 * RC-04, RC-08: what another node is changing in this moment. A unit of work waits for the row that it rests on, and then goes
 * by what the other has made of it; on SQLite there is one writer at a time. The other node is a connection of the test's own,
 * which commits when PostgreSQL says that the unit waits.
 */

// A server of these tests' own, where none is given.
const started = process.env['TESSERA_TEST_POSTGRES'] === undefined ? await startPostgres() : undefined;
if (started !== undefined) process.env['TESSERA_TEST_POSTGRES'] = started.url;

let server: TestServer;
let other: Client;
let observer: Client;
before(async () => {
  server = await startServer();
  const connectionString = server.environment['TESSERA_DATABASE_URL'];
  assert.ok(connectionString?.startsWith('postgres'));
  [other, observer] = [new Client({ connectionString }), new Client({ connectionString })];
  await Promise.all([other.connect(), observer.connect()]);
});
after(async () => {
  await Promise.all([other.end(), observer.end()]);
  await server.close();
  await started?.stop();
});

/** Whether a unit of work of the server waits for a lock. */
async function somebodyWaits(): Promise<boolean> {
  const { rowCount } = await observer.query(
    `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
  );
  return rowCount === 1;
}

interface Change {
  readonly sql: string;
  readonly values: readonly (string | number)[];
}

/** Does something while another node has made a change and not committed it. */
async function beside<T>({ sql, values }: Change, act: () => Promise<T>): Promise<T> {
  await other.query('BEGIN');
  try {
    assert.equal((await other.query(sql, [...values])).rowCount, 1, sql);
    let answered = false;
    const answer = act().finally(() => {
      answered = true;
    });
    while (!answered && !(await somebodyWaits()));
    assert.ok(!answered, 'it did not wait for the row that is being changed');
    await other.query('COMMIT');
    return await answer;
  } finally {
    await other.query('ROLLBACK');
  }
}

interface Stage {
  readonly user: TestUser;
  readonly client: TestClient;
  readonly browser: Agent;
}

/** A person who is signed in, and has consented to an app. */
async function stage(): Promise<Stage> {
  const [user, client] = [await newUser(server), await newClient(server)];
  const browser = await signedIn(server, user);
  await walk(browser, authorizeUrl(client));
  return { user, client, browser };
}

const revoking = ({ user, client }: Stage): Change => ({
  sql: 'UPDATE consent_grant SET revoked_at = $1 WHERE account_id = $2 AND client_id = $3 AND revoked_at IS NULL',
  values: [server.now(), user.id, client.clientId],
});
const banning = ({ user }: Stage): Change => ({
  sql: `UPDATE account SET banned_at = $1, generation = 'another' WHERE id = $2`,
  values: [server.now(), user.id],
});
const disabling = ({ client }: Stage): Change => ({
  sql: `UPDATE client SET status = 'disabled', generation = 'another' WHERE id = $1`,
  values: [client.clientId],
});
const ending = ({ user }: Stage): Change => ({
  sql: 'DELETE FROM browser_session WHERE account_id = $1',
  values: [user.id],
});
const killing = ({ user }: Stage): Change => ({
  sql: `UPDATE token_family SET dead_at = $1, dead_reason = 'revoked' WHERE account_id = $2`,
  values: [server.now(), user.id],
});

test('CN-06: a silent authorization waits for the revocation of its grant, and asks anew', async () => {
  const at = await stage();
  const answer = await beside(revoking(at), () => at.browser.get(authorizeUrl(at.client)));
  assert.equal(answer.location?.pathname, '/consent', `${answer.location}`);
});

test('CN-06: a consent waits for the revocation of the grant before, and gives no code of it', async () => {
  const at = await stage();
  const asked = await at.browser.get(authorizeUrl(at.client, { prompt: 'consent' }));
  const page = await at.browser.get(asked.location?.href ?? '');
  const answer = await beside(revoking(at), () => at.browser.submit(page, { decision: 'allow' }, '/consent'));
  const code = answer.location?.searchParams.get('code') ?? undefined;
  if (code !== undefined) assert.equal((await redeem(server, at.client, code)).status, 200, 'it is of a new grant');
});

test('SE-03: an authorization waits for its session to end, and then there is no session', async () => {
  const at = await stage();
  const answer = await beside(ending(at), () => at.browser.get(authorizeUrl(at.client)));
  assert.equal(answer.location?.pathname, '/login', `${answer.location}`);
});

test('AC-01: a sign-in waits for a ban, and then there is none', async () => {
  const at = await stage();
  const browser = agent(server.baseUrl);
  const page = await browser.get('/login');
  const fields = { identifier: at.user.username, password: PASSWORD };
  const answer = await beside(banning(at), () => browser.submit(page, fields));
  assert.equal(answer.status, 403);
  assert.equal(browser.cookie('tessera_session'), undefined);
});

test('AC-01: a change of a profile waits for a ban, and does not undo it', async () => {
  const at = await stage();
  const changed = await beside(banning(at), () => admin(server, 'PATCH', `/users/${at.user.id}`, { about: 'x' }));
  assert.deepEqual([changed.status, changed.body.status, changed.body.about], [200, 'banned', 'x']);
});

test('a change of an app waits until it is disabled, and does not enable it', async () => {
  const at = await stage();
  const path = `/clients/${at.client.clientId}`;
  const changed = await beside(disabling(at), () => admin(server, 'PATCH', path, { name: 'Other' }));
  assert.deepEqual([changed.status, changed.body.status, changed.body.name], [200, 'disabled', 'Other']);
});

test('RT-07: a refresh waits for the death of its family, and then there is none', async () => {
  const at = await stage();
  const { refresh_token } = await tokensFor(server, at.client, at.user, {}, { browser: at.browser });
  const answer = await beside(killing(at), () => refresh(server, at.client, refresh_token));
  assert.deepEqual([answer.status, answer.body.error], [400, 'invalid_grant']);
});

test('RC-01: a redemption waits for another of the same code, and is a replay then', async () => {
  const at = await stage();
  const code = await codeFor(server, at.client, at.user, { scope: 'openid' }, { browser: at.browser });
  const redeemed = {
    sql: 'UPDATE authorization_code SET redeemed_at = $1 WHERE hash = $2',
    values: [server.now(), digest(code)],
  };
  const answer = await beside(redeemed, () => redeem(server, at.client, code));
  assert.deepEqual([answer.status, answer.body.error], [400, 'invalid_grant']);
});

test('SE-03: ending a session waits for a sign-in that goes on under its name, and ends that', async () => {
  const { user } = await stage();
  const path = `/users/${user.id}/sessions`;
  const [{ id: sid }] = (await admin(server, 'GET', path)).body.items;
  const signingIn = {
    sql: `WITH locked AS (SELECT id FROM account WHERE id = $1 FOR UPDATE),
               gone AS (DELETE FROM browser_session WHERE account_id = $1 RETURNING browser_session.*)
          INSERT INTO browser_session
          SELECT (jsonb_populate_record(NULL::browser_session, to_jsonb(gone) || '{"hash": "another"}')).* FROM gone, locked`,
    values: [user.id],
  };
  const ended = await beside(signingIn, () => admin(server, 'DELETE', `${path}/${sid}`));
  assert.equal(ended.status, 200);
  assert.deepEqual((await admin(server, 'GET', path)).body.items, []);
});

test('a revocation of a client’s own token waits for another of the same token, and is recorded once', async () => {
  const client = await newClient(server, { grantTypes: ['client_credentials'] });
  const credentials = { client_id: client.clientId, client_secret: client.clientSecret };
  const { body } = await tokenCall(server, { grant_type: 'client_credentials', ...credentials });
  const killed = {
    sql: 'UPDATE client_token SET dead_at = $1 WHERE client_id = $2',
    values: [server.now(), client.clientId],
  };
  const revoke = () =>
    fetch(`${server.baseUrl}/oidc/revoke`, {
      method: 'POST',
      body: new URLSearchParams({ token: body.access_token, ...credentials }),
    });
  assert.equal((await beside(killed, revoke)).status, 200);
  const events = await admin(server, 'GET', `/audit-events?type=token.revoked&clientId=${client.clientId}`);
  assert.deepEqual(events.body.items, []);
});

// The last: the key that the other node makes is sealed with no secret of ours.
test('a rotation of the keys waits for another, and one key signs after both', async () => {
  const rotating = {
    sql: `WITH locked AS (SELECT version FROM key_set WHERE id = 1 FOR UPDATE),
               retired AS (UPDATE signing_key SET retired_at = $1 FROM locked WHERE retired_at IS NULL RETURNING sealed)
          INSERT INTO signing_key (kid, sealed, created_at) SELECT 'another', sealed, $1 FROM retired`,
    values: [server.now()],
  };
  const origin = { actor: { type: 'system', id: null }, address: null, requestId: null } as const;
  const kid = await beside(rotating, () =>
    withData(server, ({ database, secret }) => rotateSigningKey(database, secret, origin, server.now())),
  );
  const { rows } = await observer.query('SELECT kid FROM signing_key WHERE retired_at IS NULL');
  assert.deepEqual(rows, [{ kid }]);
});
