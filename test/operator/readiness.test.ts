// store: SQLite, PostgreSQL with --all
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, test } from 'node:test';
import { Client } from 'pg';
import { start } from '../../src/app.ts';
import { readConfig } from '../../src/settings/config.ts';
import { newClient, newUser, tokensFor, userinfo } from '../support/flow.ts';
import { DAY, MINUTE, query, SECOND } from '../support/outcome.ts';
import { BEGINNING, SEVERAL, startServer, type TestServer } from '../support/server.ts';

// What a load balancer is told: whether requests that go to this node would be answered as they should.

let server: TestServer;
let databaseAhead = 0;
let accessToken: string;
before(async () => {
  server = await startServer({}, 1, undefined, { databaseAhead: () => databaseAhead });
  accessToken = (await tokensFor(server, await newClient(server), await newUser(server))).access_token;
});
after(() => server.close());

interface Ready {
  readonly status: number;
  readonly body: { readonly error?: string; readonly error_description?: string };
}
async function ready(): Promise<Ready> {
  const answer = await fetch(`${server.baseUrl}/health/ready`);
  if (answer.status === 503) assert.match(answer.headers.get('retry-after') ?? '', /^[1-9]$/);
  return { status: answer.status, body: (await answer.json()) as Ready['body'] };
}

/** Asks until the answer is this one; an answer about writes and clocks is good for a second. */
async function untilReadyIs(status: number): Promise<Ready['body']> {
  for (;;) {
    const answer = await ready();
    if (answer.status === status) return answer.body;
  }
}

test('a node whose clock is more than 30 seconds from the database’s is not ready, and says by how much', async () => {
  for (const [ahead, words] of [
    [30 * SECOND, undefined],
    [30 * SECOND + 1, 'The clock of this node is 30 s behind the database’s'],
    [-100 * DAY, 'The clock of this node is 8640000 s ahead of the database’s'],
  ] as const) {
    databaseAhead = ahead;
    const { error, error_description: text = '' } = await untilReadyIs(words === undefined ? 200 : 503);
    if (words === undefined) continue;
    assert.equal(error, 'temporarily_unavailable');
    assert.equal(text, `${words.replace('’', "'")}. Let both machines keep their time with NTP.`);
    // By a wrong clock a valid token may look expired: no response says so.
    const { status, body, headers } = await userinfo(server, accessToken);
    assert.deepEqual([status, body.error], [503, 'temporarily_unavailable']);
    assert.match(headers.get('retry-after') ?? '', /^[1-9]$/);
    databaseAhead = 0;
    await untilReadyIs(200);
    assert.equal((await userinfo(server, accessToken)).status, 200);
  }
});

test('where the database is on another machine its clock is asked', {
  skip: SEVERAL === 1 && 'a file has no clock',
}, async () => {
  // Nothing stands in for the database's own clock, which is months from that of these tests.
  const node = await start(readConfig({ ...server.environment, TESSERA_PORT: '0' }), () => BEGINNING);
  const right = await start(readConfig({ ...server.environment, TESSERA_PORT: '0' }));
  try {
    const answer = await fetch(`${node.baseUrl}/health/ready`);
    assert.equal(answer.status, 503);
    assert.match(await answer.text(), /The clock of this node is \d{7,} s behind the database's/);
    assert.equal((await fetch(`${right.baseUrl}/health/ready`)).status, 200);
  } finally {
    await node.close();
    await right.close();
  }
});

test('a node that meets a later version’s schema is not ready, and goes on answering', async () => {
  await query(
    server,
    "INSERT INTO schema_migration VALUES ('9999-later', '999.0.0', '999.0.0', '2099-01-01') RETURNING name",
  );
  const { status, body } = await ready();
  assert.equal(status, 503);
  assert.match(body.error_description ?? '', /changed by a later version of Tessera \(9999-later\)\. Run that version/);
  assert.equal((await userinfo(server, accessToken)).status, 200);
  await query(server, "DELETE FROM schema_migration WHERE name = '9999-later' RETURNING name");
  assert.equal((await ready()).status, 200);
});

/** Keeps every node from writing, while reads go on; answers what lets them again. */
async function holdWrites({ environment, dataDir }: TestServer): Promise<() => Promise<void>> {
  const connectionString = environment['TESSERA_DATABASE_URL'];
  if (connectionString === undefined) {
    const database = new DatabaseSync(join(dataDir, 'tessera.db'));
    database.exec('BEGIN IMMEDIATE');
    return async () => database.close();
  }
  const client = new Client({ connectionString });
  await client.connect();
  await client.query('BEGIN; LOCK TABLE node_lease IN EXCLUSIVE MODE');
  return () => client.end();
}

test('while the database takes no writes a node is not ready, and reads go on', async () => {
  const release = await holdWrites(server);
  try {
    const { error } = await untilReadyIs(503);
    assert.equal(error, 'temporarily_unavailable');
    assert.equal((await userinfo(server, accessToken)).status, 200);
  } finally {
    await release();
  }
  await untilReadyIs(200);
});

test('a node is ready though many ask at once, and one write answers them all', async () => {
  const writes = async () => (await query(server, 'SELECT max(expires_at) AS latest FROM node_lease'))[0]?.['latest'];
  await untilReadyIs(200);
  const before = await writes();
  server.advance(MINUTE);
  const answers = await Promise.all(Array.from({ length: 200 }, ready));
  assert.deepEqual([...new Set(answers.map(({ status }) => status))], [200]);
  // Of this second or of the one before.
  assert.ok([before, Number(before) + MINUTE].map(String).includes(String(await writes())));
});
