// store: PostgreSQL
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Client, type QueryConfig } from 'pg';
import { findClient } from '../../src/clients/store.ts';
import { findGrant } from '../../src/consent/store.ts';
import { spendCode } from '../../src/credentials/code-store.ts';
import { lockFamily, readTokenHolder } from '../../src/credentials/token-family-store.ts';
import { exceeded } from '../../src/limits/limits.ts';
import { toCurrentSchema } from '../../src/migrations/timeline.ts';
import type { Work } from '../../src/platform/database/database.ts';
import type { Connections } from '../../src/platform/database/postgres/connections.ts';
import { openPostgres } from '../../src/platform/database/postgres/open.ts';
import { settings } from '../../src/platform/database/postgres/settings.ts';
import { listsOf, sharedStatements } from '../../src/platform/database/postgres/shared-statements.ts';
import { findSession } from '../../src/sessions/store.ts';
import { startPostgres } from '../support/postgres.ts';
import { ownDatabase } from '../support/postgres-database.ts';

// How PostgreSQL finds the rows of several callers: a plan that goes through a whole table shows only under load.

const started = process.env['TESSERA_TEST_POSTGRES'] === undefined ? await startPostgres() : undefined;
if (started !== undefined) process.env['TESSERA_TEST_POSTGRES'] = started.url;

let own: NonNullable<Awaited<ReturnType<typeof ownDatabase>>>;
let connection: Client;
before(async () => {
  const made = await ownDatabase();
  assert.ok(made !== undefined);
  own = made;
  await (await openPostgres(own.url, toCurrentSchema)).close();
  connection = new Client({ connectionString: own.url, pipeline: true });
  await connection.connect();
  // Rows without those that they refer to.
  await connection.query('SET session_replication_role = replica');
});
after(async () => {
  await connection.end();
  await own.drop();
  await started?.stop();
});

/** The first statement of a unit of work, for this many callers. */
async function sharedBy(callers: number, work: Work<unknown>): Promise<QueryConfig & { readonly values: unknown[] }> {
  const { done, value: step } = work.next();
  assert.ok(!done);
  const connections: Pick<Connections, 'lend'> = { lend: (_until, use) => use((query) => connection.query(query)) };
  const prepared = sharedStatements(connections as Connections, 'plan')(step.statement);
  const values = prepared.bind(step.params);
  const lists = listsOf(
    prepared,
    Array.from({ length: callers }, () => ({ values })),
  );
  return { ...(await prepared.shared()).with(lists), values: lists };
}

/** The plan of the first statement of a unit of work for ten callers. */
async function planOf(work: Work<unknown>): Promise<string> {
  const { text, values } = await sharedBy(10, work);
  const { rows } = await connection.query(`EXPLAIN ${text}`, values);
  return rows.map((row: Record<string, unknown>) => String(row['QUERY PLAN'])).join('\n');
}

test('a read looks up the row of each caller by an index, also in a table of a thousand rows', async () => {
  await connection.query(
    `INSERT INTO browser_session (hash, sid, account_id, generation, auth_time, last_seen_at, expires_at, browser, system, network, amr, proved_at, proved_by)
     SELECT n, n, n, 'generation', 0, 0, 0, '', '', '', '[]', 0, 'password' FROM generate_series(1, 1000) n`,
  );
  await connection.query(
    `INSERT INTO consent_grant (id, account_id, client_id, scopes, declined_scopes, consent_epoch, created_at, updated_at)
     SELECT n, n, 1, 'openid', '', 'epoch', 0, 0 FROM generate_series(1, 1000) n`,
  );
  await connection.query('ANALYZE');
  for (const work of [findSession({ hash: '1' }), findGrant({ accountId: '1', clientId: '1', endpointSet: 'v2' })]) {
    const plan = await planOf(work);
    assert.doesNotMatch(plan, /Seq Scan on (browser_session|consent_grant)|Hash/, plan);
  }
});

test('a code is redeemed by its hash, also where the statistics know of hardly any open code', async () => {
  const insert = (from: number, to: number, redeemedAt: number | null) =>
    connection.query(
      `INSERT INTO authorization_code (hash, face, grant_id, account_id, client_id, account_generation, client_generation, redirect_uri, scopes, narrowed, sid, auth_time, amr, expires_at, redeemed_at)
       SELECT n, 'contract', n, n, n, 'generation', 'generation', 'https://app.example.com', 'openid', 0, n, 0, '[]', 0, $3::bigint FROM generate_series($1::int, $2::int) n`,
      [from, to, redeemedAt],
    );
  await insert(1, 5000, 1);
  await insert(5001, 5006, null);
  await connection.query('ANALYZE authorization_code');
  const plan = await planOf(spendCode({ hash: '1', familyId: '1', now: 1 }));
  assert.match(plan, /Index Scan using \w*pkey on authorization_code/, plan);
  assert.doesNotMatch(plan, /authorization_code_by_end|Seq Scan/, plan);
});

for (const [name, find] of Object.entries({ readTokenHolder, lockFamily })) {
  test(`${name} is not planned again for each list of two callers`, async () => {
    const query = await sharedBy(2, find({ familyId: '1', accountId: '1', clientId: '1' }));
    // PostgreSQL makes five plans before it decides whether to keep one.
    for (let time = 0; time < 10; time++) await connection.query({ ...query, name });
    const { rows } = await connection.query(
      `SELECT custom_plans AS made, generic_plans AS kept FROM pg_prepared_statements WHERE name = '${name}'`,
    );
    assert.deepEqual(rows, [{ made: '5', kept: '5' }]);
  });
}

test('a lookup goes by an index while its table is empty, too: its plan is kept while the table grows', async () => {
  const limits = { statement: 0, lock: 0, idle: 0 };
  await connection.query(`SELECT ${settings({ ...limits, lookups: true }, false)}`);
  assert.match(await planOf(findClient({ id: '1' })), /Index Scan using \w+ on client/);
  const limit = { count: 1, windowMs: 1000 };
  assert.match(await planOf(exceeded('bucket', limit, 0)), /rate_count_pkey/, 'not by the ends of the windows');
  await connection.query('RESET enable_seqscan; RESET enable_hashjoin; RESET enable_mergejoin; RESET jit');
  assert.match(await planOf(findClient({ id: '1' })), /Seq Scan on client/, 'without what is set for requests');
});
