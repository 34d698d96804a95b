import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Client } from 'pg';
import { readConfig } from '../../src/config/config.ts';
import type { Answer } from '../support/agent.ts';
import {
  authorizeUrl,
  claimsOf,
  codeFor,
  type JsonAnswer,
  newClient,
  newUser,
  redeem,
  signedIn,
  userinfo,
} from '../support/flow.ts';
import { codeOf, query, restart } from '../support/outcome.ts';
import { startPostgres } from '../support/postgres.ts';
import { startServer, type TestServer } from '../support/server.ts';

// Where rows are locked one by one, what runs beside a decision is found by the order in which it locks.

const started = process.env['TESSERA_TEST_POSTGRES'] === undefined ? await startPostgres() : undefined;
if (started !== undefined) process.env['TESSERA_TEST_POSTGRES'] = started.url;

let server: TestServer;
let beside: Client;
before(async () => {
  server = await startServer({}, 2);
  // A deadlock is a fault here, not something to be found out and tried again.
  const connectionString = readConfig(server.environment).databaseUrl;
  await query(server, `ALTER DATABASE ${new URL(connectionString).pathname.slice(1)} SET deadlock_timeout = '1h'`);
  await restart(server);
  beside = new Client({ connectionString });
  await beside.connect();
});
after(async () => {
  await beside.end();
  await server.close();
  await started?.stop();
});

/** Goes on when so many units of work wait for locks; answers false where one of the requests has given up waiting. */
async function waiting(count: number, requests: readonly Promise<unknown>[]): Promise<boolean> {
  let ended = false;
  const end = () => {
    ended = true;
  };
  for (const request of requests) request.then(end, end);
  while (!ended) {
    const { rows } = await beside.query(
      "SELECT count(*)::int AS n FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
    );
    if (rows[0]?.n === count) return true;
  }
  return false;
}

/** A redemption that makes its family while the decision waits for its code; undefined where the machine was too slow for that. */
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
  return met ? { tokens, answer } : undefined;
}

test('decisions §2: a decision waits for a redemption that holds its code, and takes the scope from its family', async () => {
  let done: Awaited<ReturnType<typeof besideEachOther>>;
  while (done === undefined) done = await besideEachOther();
  const { status, body } = done.tokens;
  assert.equal(status, 200, JSON.stringify(body));
  assert.ok(codeOf(done.answer));
  assert.equal(claimsOf(body.access_token).scope, 'openid email phone', 'it was under way before');
  const shown = await userinfo(server, body.access_token);
  assert.deepEqual([shown.status, 'email' in shown.body.user, 'phone' in shown.body.user], [200, false, true]);
});
