// store: SQLite, PostgreSQL with --all
import assert from 'node:assert/strict';
import { after, beforeEach, describe, test } from 'node:test';
import { jwtVerify } from 'jose';
import { assertInvalidGrant, assertRefused } from '../support/api-call.ts';
import {
  admin,
  codeFor,
  newClient,
  newUser,
  redeem,
  refresh,
  signedIn,
  type TestClient,
  type Tokens,
  tokensFor,
  userinfo,
} from '../support/flow.ts';
import { query, SECOND } from '../support/outcome.ts';
import { startServer } from '../support/server.ts';

const HOUR = 60 * 60 * 1000;

let old: TestClient;
let fresh: TestClient;
let tokens: Tokens;
let code: string;

const server = await startServer();
after(() => server.close());
const user = await newUser(server);

/** Another secret for the client; the one before lasts as asked. */
async function rotate(body: object): Promise<{ fresh: TestClient; id: string }> {
  const answer = await admin(server, 'POST', `/clients/${old.clientId}/secrets`, body);
  assert.equal(answer.status, 201, JSON.stringify(answer.body));
  assert.notEqual(answer.body.clientSecret, old.clientSecret);
  return { fresh: { ...old, clientSecret: answer.body.clientSecret }, id: answer.body.id };
}

beforeEach(async () => {
  old = await newClient(server);
  const browser = await signedIn(server, user);
  tokens = await tokensFor(server, old, user, {}, { browser });
  code = await codeFor(server, old, user, {}, { browser });
});

async function signedBy({ id_token }: Tokens, { clientSecret }: TestClient): Promise<boolean> {
  const key = new TextEncoder().encode(clientSecret);
  return jwtVerify(id_token, key, { currentDate: new Date(server.now()) }).then(
    () => true,
    () => false,
  );
}

describe('decisions §1: two secrets while one is rotated (JW-16)', () => {
  test('both are good for 24 hours, and the one presented signs the ID token', async () => {
    ({ fresh } = await rotate({}));
    for (const [presented, idle] of [
      [old, fresh],
      [fresh, old],
      [old, fresh],
    ] as const) {
      const answer = await refresh(server, presented, tokens.refresh_token);
      assert.equal(answer.status, 200);
      tokens = answer.body;
      assert.equal(await signedBy(tokens, presented), true);
      assert.equal(await signedBy(tokens, idle), false);
    }
  });

  test('the old one is good until the last millisecond of its day, and dead after it', async () => {
    ({ fresh } = await rotate({}));
    server.advance(24 * HOUR - 1);
    const last = await refresh(server, old, tokens.refresh_token);
    assert.equal(last.status, 200);
    server.advance(1);
    assertRefused(await refresh(server, old, last.body.refresh_token), 401, 'invalid_client');
    assert.equal((await refresh(server, fresh, last.body.refresh_token)).status, 200);
  });

  test('it can be ended at once; codes and tokens live on', async () => {
    ({ fresh } = await rotate({ expirePreviousIn: 0 }));
    assertRefused(await refresh(server, old, tokens.refresh_token), 401, 'invalid_client');
    assertRefused(await redeem(server, old, code), 401, 'invalid_client');
    assert.equal((await userinfo(server, tokens.access_token)).status, 200);
    const redeemed = await redeem(server, fresh, code);
    assert.equal(redeemed.status, 200);
    assert.equal(await signedBy(redeemed.body, fresh), true);
    assert.equal((await refresh(server, fresh, tokens.refresh_token)).status, 200);
  });

  test('it can be ended by its id before its day is over', async () => {
    const listed = await admin(server, 'GET', `/clients/${old.clientId}`);
    const { id } = listed.body.secrets[0];
    ({ fresh } = await rotate({}));
    assert.equal((await admin(server, 'DELETE', `/clients/${old.clientId}/secrets/${id}`)).status, 204);
    assertRefused(await refresh(server, old, tokens.refresh_token), 401, 'invalid_client');
    assert.equal((await refresh(server, fresh, tokens.refresh_token)).status, 200);
  });

  test('one that was ended stays so on a node whose clock is behind', async () => {
    ({ fresh } = await rotate({ expirePreviousIn: 0 }));
    server.setBack(HOUR);
    try {
      assertRefused(await refresh(server, old, tokens.refresh_token), 401, 'invalid_client');
    } finally {
      server.advance(HOUR);
    }
  });

  test('of those that ended, the newest five are on record, and not who added them', async () => {
    for (let n = 0; n < 8; n++) await rotate({ expirePreviousIn: n % 2 });
    server.advance(2 * SECOND);
    await rotate({ expirePreviousIn: 0 });
    const rows = (table: string) => query(server, `SELECT * FROM ${table} WHERE client_id = ?`, old.clientId);
    assert.equal((await rows('client_secret')).length, 6);
    const added = (await rows('client_act')).filter(({ kind }) => kind === 'secret');
    assert.ok(added.length <= 4, `${added.length}: of the one in use, and those whose time was over`);
  });

  test('a former one is named in the audit trail: it is still sent from there', async () => {
    const listed = await admin(server, 'GET', `/clients/${old.clientId}`);
    ({ fresh } = await rotate({ expirePreviousIn: 0 }));
    assertRefused(await refresh(server, old, tokens.refresh_token), 401, 'invalid_client');
    const failed = await admin(server, 'GET', `/audit-events?clientId=${old.clientId}&type=client.auth_failed`);
    assert.deepEqual(
      failed.body.items.map(({ details }: { details: object }) => details),
      [{ reason: 'wrong secret', secretId: listed.body.secrets[0].id }],
    );
  });

  test('never do more than two hold: a third ends the first', async () => {
    const second = (await rotate({})).fresh;
    const third = (await rotate({})).fresh;
    assertRefused(await refresh(server, old, 'x'), 401, 'invalid_client');
    for (const held of [second, third]) assertInvalidGrant(await refresh(server, held, 'x'));
  });

  test('one client’s secret is nothing to another', async () => {
    const other = await newClient(server);
    const mixed = { ...old, clientSecret: other.clientSecret };
    assertRefused(await refresh(server, mixed, tokens.refresh_token), 401, 'invalid_client');
    assert.equal((await refresh(server, old, tokens.refresh_token)).status, 200);
  });
});

test('a repetition inside the grace window is signed by the secret presented with it', async () => {
  ({ fresh } = await rotate({}));
  const first = await refresh(server, old, tokens.refresh_token);
  const again = await refresh(server, fresh, tokens.refresh_token);
  assert.equal(again.body.refresh_token, first.body.refresh_token);
  assert.equal(await signedBy(first.body, old), true);
  assert.equal(await signedBy(again.body, fresh), true);
});
