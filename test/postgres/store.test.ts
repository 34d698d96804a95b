// store: PostgreSQL
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { listMadeRows } from '../../src/account-actions/makers/made-view-store.ts';
import { findByBeginning } from '../../src/accounts/directory-store.ts';
import { findAccount, findByIdentifier } from '../../src/accounts/store.ts';
import { listCounts } from '../../src/audit/count-store.ts';
import { addSecret, findClient, removeClient } from '../../src/clients/store.ts';
import { listAttention } from '../../src/console/overview/attention-store.ts';
import { listMemberships } from '../../src/console/people/membership-store.ts';
import { findSignInFacts } from '../../src/console/people/sign-in-facts-store.ts';
import { findByText } from '../../src/console/search/named-store.ts';
import { readTokenHolder } from '../../src/credentials/token-family-store.ts';
import { toCurrentSchema } from '../../src/migrations/timeline.ts';
import type { Work } from '../../src/platform/database/database.ts';
import { postgresBuilder } from '../../src/platform/database/postgres/dialect.ts';
import { openPostgres } from '../../src/platform/database/postgres/open.ts';
import { compile } from '../../src/platform/database/statement.ts';
import { storeContract } from '../store/contract.ts';
import { removalStatements } from '../store/removal-statements.ts';
import { account, client } from '../store/rows.ts';
import { connected } from '../support/ask-postgres.ts';
import { startPostgres } from '../support/postgres.ts';
import { ownDatabase } from '../support/postgres-database.ts';

// A server of these tests' own, where none is given.
const started = process.env['TESSERA_TEST_POSTGRES'] === undefined ? await startPostgres() : undefined;
if (started !== undefined) process.env['TESSERA_TEST_POSTGRES'] = started.url;

async function fresh() {
  const own = await ownDatabase();
  assert.ok(own !== undefined);
  return own;
}

storeContract('PostgreSQL', async () => {
  const { url, drop } = await fresh();
  return {
    database: await openPostgres(url, toCurrentSchema),
    reopen: () => openPostgres(url, toCurrentSchema),
    dispose: drop,
  };
});

let own: Awaited<ReturnType<typeof fresh>>;
before(async () => {
  own = await fresh();
});
after(() => own.drop());

test('two pools on one database see each other’s commits at once', async () => {
  const [one, two] = [await openPostgres(own.url, toCurrentSchema), await openPostgres(own.url, toCurrentSchema)];
  for (let n = 1; n <= 20; n++) {
    const [writer, reader] = n % 2 ? [one, two] : [two, one];
    await writer.commit(() => account(String(n)));
    assert.ok(await reader.read(() => findAccount({ id: String(n) })));
  }
  await Promise.all([one.close(), two.close()]);
});

test('a unit whose row another deletes while it runs is run again, and then sees that', async () => {
  const { url, drop } = await fresh();
  const [one, two] = [await openPostgres(url, toCurrentSchema), await openPostgres(url, toCurrentSchema)];
  await one.commit(() => client('1'));
  let deletion: Promise<unknown> | undefined;
  const made = await one.commit(function* add(): Work<boolean> {
    if ((yield* findClient({ id: '1' })) === undefined) return false;
    // The first time, the other deletes it now, and this unit goes on when it is gone.
    deletion ??= two.commit(() => removeClient({ id: '1' }));
    while ((yield* findClient({ id: '1' })) !== undefined);
    yield* addSecret({ id: '2', clientId: '1', hash: 'hash', now: 0 });
    return true;
  });
  assert.equal(made, false);
  await deletion;
  await Promise.all([one.close(), two.close()]);
  await drop();
});

test('of reads that share a round trip, only the one with a value that cannot be stored fails', async () => {
  const { url, drop } = await fresh();
  const database = await openPostgres(url, toCurrentSchema);
  await database.commit(() => account('1'));
  const find = (id: string) => database.read(() => findAccount({ id }));
  const byName = (name: string) => database.read(() => findByIdentifier(name));
  // The second time, the statement is known.
  for (let time = 0; time < 2; time++) {
    const [one, none, tooGreat, other] = await Promise.allSettled(['1', '2', `${2n ** 63n}`, '1'].map(find));
    assert.ok(one?.status === 'fulfilled' && one.value?.id === '1');
    assert.ok(none?.status === 'fulfilled' && none.value === undefined);
    assert.ok(tooGreat?.status === 'rejected' && tooGreat.reason.code === '22003');
    assert.ok(other?.status === 'fulfilled' && other.value?.id === '1');
    const [named, withNul] = await Promise.allSettled(['user1', 'user1\0'].map(byName));
    assert.ok(named?.status === 'fulfilled' && named.value?.id === '1');
    assert.ok(withNul?.status === 'rejected' && withNul.reason.code === '22021');
  }
  await database.close();
  await drop();
});

test('processes that start together on an empty database migrate it once', async () => {
  const { url, drop } = await fresh();
  const opened = await Promise.all(Array.from({ length: 4 }, () => openPostgres(url, toCurrentSchema)));
  await opened[0]?.commit(() => account('1'));
  for (const database of opened) assert.ok(await database.read(() => findAccount({ id: '1' })));
  await Promise.all(opened.map((database) => database.close()));
  await drop();
});

test('whether consent was revoked is looked up by the grant, also where the statistics know of none that was', async () => {
  const { url, drop } = await fresh();
  await (await openPostgres(url, toCurrentSchema)).close();
  await connected(url, async (connection) => {
    await connection.query('SET session_replication_role = replica');
    await connection.query(
      `INSERT INTO consent_grant (id, account_id, client_id, scopes, declined_scopes, consent_epoch, created_at, updated_at)
       SELECT n, n, 1, 'openid', '', 'epoch', 0, 0 FROM generate_series(1, 10000) n`,
    );
    await connection.query('ANALYZE');
    await connection.query('UPDATE consent_grant SET revoked_at = 1 WHERE id <= 900');
    const step = readTokenHolder({ familyId: '1', accountId: '2', clientId: '3' }).next();
    assert.ok(!step.done);
    const { sql, bind } = compile(step.value.statement, postgresBuilder);
    const plan = await connection.query(`EXPLAIN ${sql}`, bind(step.value.params));
    const lines = plan.rows.map((row: Record<string, unknown>) => String(row['QUERY PLAN']).trim());
    const search = lines.findIndex((line) => / on consent_grant g /.test(line));
    assert.match(lines[search] ?? '', /consent_grant_revoked/, lines.join('\n'));
    assert.equal(lines[search + 1], 'Index Cond: ((- id) = (- f.grant_id))');
  }).finally(drop);
});

test('housekeeping finds what is due by an index, in its order', async () => {
  const { url, drop } = await fresh();
  await (await openPostgres(url, toCurrentSchema)).close();
  await connected(url, async (connection) => {
    // On small tables it would go through all rows although there is an index.
    for (const way of ['seqscan', 'bitmapscan', 'hashjoin', 'mergejoin', 'sort']) {
      await connection.query(`SET enable_${way} = off`);
    }
    for (const { table, compiled, params } of removalStatements(postgresBuilder)) {
      const { rows } = await connection.query(`EXPLAIN ${compiled.sql}`, compiled.bind(params));
      const plan = rows.map((row: Record<string, unknown>) => String(row['QUERY PLAN'])).join('\n');
      assert.doesNotMatch(plan, /Seq Scan|Sort/, `${table}: ${compiled.sql}\n${plan}`);
    }
  }).finally(drop);
});

// The last of them all: databases are dropped before.
after(() => started?.stop());

test('what a page of the console reads in one statement is found by an index in each of its tables', async () => {
  const { url, drop } = await fresh();
  await (await openPostgres(url, toCurrentSchema)).close();
  const reads: Readonly<Record<string, Work<unknown>>> = {
    'what a key made': listMadeRows({ madeBy: '1', limit: 6 }),
    'a search of everything': findByText('name', 5, new Map([['apps', () => undefined]])),
    'people by the beginning of a name': findByBeginning('name', 5),
    'how a person signs in': findSignInFacts({ accountId: '1' }),
    'where a person belongs': listMemberships({ accountId: '1', limit: 5 }),
    'what needs attention': listAttention({ now: 1, before: 2, mostKeys: 5, mostRequests: 5 }),
    'counts of events': listCounts({ since: 1, width: 24, limit: 5 }),
  };
  // One row for each key and provider that operators have made.
  const small = / on (admin_key|upstream)\b/;
  await connected(url, async (connection) => {
    // On small tables it would go through all rows although there is an index.
    await connection.query('SET enable_seqscan = off');
    for (const [what, work] of Object.entries(reads)) {
      const step = work.next();
      assert.ok(!step.done);
      const { sql, bind } = compile(step.value.statement, postgresBuilder);
      const { rows } = await connection.query(`EXPLAIN ${sql}`, bind(step.value.params));
      const plan = rows.map((row: Record<string, unknown>) => String(row['QUERY PLAN']));
      const scanned = plan.filter((line) => /Seq Scan/.test(line) && !small.test(line));
      assert.deepEqual(scanned, [], `${what}: ${plan.join('\n')}`);
    }
  }).finally(drop);
});
