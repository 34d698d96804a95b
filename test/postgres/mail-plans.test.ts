// store: PostgreSQL
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Client } from 'pg';
import { listDue, listDueInLane, nextLane } from '../../src/mail/queue-store.ts';
import { toCurrentSchema } from '../../src/migrations/timeline.ts';
import type { Work } from '../../src/platform/database/database.ts';
import { postgresBuilder } from '../../src/platform/database/postgres/dialect.ts';
import { openPostgres } from '../../src/platform/database/postgres/open.ts';
import { compile } from '../../src/platform/database/statement.ts';
import { startPostgres } from '../support/postgres.ts';
import { ownDatabase } from '../support/postgres-database.ts';

// How PostgreSQL finds the next messages behind many to one domain, by a plan that it keeps for all parameters.

const started = process.env['TESSERA_TEST_POSTGRES'] === undefined ? await startPostgres() : undefined;
if (started !== undefined) process.env['TESSERA_TEST_POSTGRES'] = started.url;

let own: NonNullable<Awaited<ReturnType<typeof ownDatabase>>>;
let connection: Client;
before(async () => {
  const made = await ownDatabase();
  assert.ok(made !== undefined);
  own = made;
  await (await openPostgres(own.url, toCurrentSchema)).close();
  connection = new Client({ connectionString: own.url });
  await connection.connect();
  await connection.query('SET plan_cache_mode = force_generic_plan');
});
after(async () => {
  await connection.end();
  await own.drop();
  await started?.stop();
});

/** How the first statement of a unit of work is run, whatever its parameters. */
async function planOf(work: Work<unknown>): Promise<string> {
  const { done, value: step } = work.next();
  assert.ok(!done);
  const { sql, bind } = compile(step.statement, postgresBuilder);
  const values = bind(step.params).map((value) => (typeof value === 'number' ? value : `'${value}'`));
  await connection.query(`PREPARE looked AS ${sql}`);
  const { rows } = await connection.query(`EXPLAIN EXECUTE looked(${values.join(', ')})`);
  await connection.query('DEALLOCATE looked');
  return rows.map((row: Record<string, unknown>) => String(row['QUERY PLAN'])).join('\n');
}

const statements: readonly [name: string, index: string, work: () => Work<unknown>][] = [
  ['the head', 'mail_by_priority', () => listDue({ priority: 1, now: 1e6, limit: 32 })],
  ['the next domain', 'mail_by_lane', () => nextLane({ priority: 0, after: 'a.example' })],
  ['the head of a domain', 'mail_by_lane', () => listDueInLane({ priority: 0, lane: 'b.example', now: 1e6, limit: 8 })],
];

test('the next messages are found by their own indexes, with statistics and without', async () => {
  await connection.query('ALTER TABLE mail SET (autovacuum_enabled = off)');
  await connection.query(
    `INSERT INTO mail (message_id, kind, priority, recipient, recipient_domain, status, attempts, unconfirmed, due_at,
      created_at, expires_at)
      SELECT 'm', 'recovery', 0, 'a' || n || '@slow.example', 'slow.example', 'waiting', 0, 0, n, n, 9999999
      FROM generate_series(1, 20000) AS n`,
  );
  for (const statistics of ['without', 'with']) {
    if (statistics === 'with') await connection.query('ANALYZE mail');
    for (const [name, index, work] of statements) {
      const plan = await planOf(work());
      assert.ok(plan.includes(`using ${index} `), `${name}, ${statistics} statistics: ${plan}`);
      assert.doesNotMatch(plan, /Filter|Sort|Bitmap/, `${name}, ${statistics} statistics`);
    }
  }
});
