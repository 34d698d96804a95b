import { Client } from 'pg';
import { trimEvents } from '../../src/audit/trim-store.ts';
import { timeline, toCurrentSchema } from '../../src/migrations/timeline.ts';
import { sweep } from '../../src/operations/housekeeping/housekeeping.ts';
import type { Timeline } from '../../src/platform/database/migrations/kinds.ts';
import { addIndexes, changeRows, type Migration } from '../../src/platform/database/migrations/kinds.ts';
import { migratePostgres } from '../../src/platform/database/postgres/migrate.ts';
import { openPostgres } from '../../src/platform/database/postgres/open.ts';
import type { Generated } from './scale-data.ts';

const DAY = 24 * 60 * 60 * 1000;
const KEPT = 400 * DAY;

/** What is done to a database beside requests, each with what it touches. The last of them change it for good. */
export const UPKEEP = ['sizes', 'sweep', 'divide', 'drop', 'column', 'index', 'rows'] as const;

/** Measures the upkeep of a database, and prints it. */
export async function measureUpkeep({ url }: Generated, only: ReadonlySet<string>): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    if (only.has('sizes')) await sizes(client);
    const took: object[] = [];
    for (const [name, what, run] of works(url)) {
      if (!only.has(name)) continue;
      const before = await written(client);
      const began = performance.now();
      const result = await run();
      const seconds = Number(((performance.now() - began) / 1000).toFixed(3));
      const wal = Math.round(((await written(client)) - before) / 1e6);
      took.push({ what, seconds, result, 'WAL, MB': wal });
    }
    if (took.length > 0) console.table(took);
  } finally {
    await client.end();
  }
}

async function written(client: Client): Promise<number> {
  const { rows } = await client.query("SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::float8 AS bytes");
  return rows[0].bytes as number;
}

async function sizes(client: Client): Promise<void> {
  const tables = await client.query(
    `SELECT relname AS table, n_live_tup AS rows, round(pg_relation_size(relid) / 1e6) AS "MB", round(pg_indexes_size(relid) / 1e6) AS "MB of indexes",
       round(pg_total_relation_size(relid) / greatest(n_live_tup, 1)::numeric) AS "bytes a row"
     FROM pg_stat_user_tables WHERE n_live_tup > 1000 ORDER BY pg_total_relation_size(relid) DESC`,
  );
  console.table(tables.rows);
  const indexes = await client.query(
    `SELECT indexrelname AS index, round(pg_relation_size(indexrelid) / 1e6) AS "MB"
     FROM pg_stat_user_indexes WHERE pg_relation_size(indexrelid) > 1e6 ORDER BY pg_relation_size(indexrelid) DESC`,
  );
  console.table(indexes.rows);
}

/** Each with its name, what it is, and what it answers. */
function* works(url: string): Generator<readonly [string, string, () => Promise<unknown>]> {
  yield ['sweep', 'a sweep of housekeeping', () => on(url, (database) => sweep(database, Date.now(), KEPT))];
  yield [
    'divide',
    'the events so far become a part of the trail',
    () =>
      on(url, async (database) => {
        const parts = database.auditParts;
        if (parts !== undefined) await database.commit(() => parts.divide());
      }),
  ];
  yield [
    'drop',
    'the oldest part of the trail is dropped',
    () =>
      on(url, async (database) => {
        const parts = database.auditParts;
        const [oldest] = parts === undefined ? [] : await database.read(() => parts.list());
        if (parts === undefined || oldest === undefined) return 'there is none';
        // As if it had been found due long ago.
        const now = Date.now() + 2 * KEPT;
        await database.commit(() => parts.noteDue(oldest, now - 365 * DAY));
        return database.commit(() => trimEvents({ kept: KEPT, parts }, { now, before: now - KEPT, limit: 1 }));
      }),
  ];
  // Each of them runs after those before it, which take part where they have not run yet.
  let steps: Timeline = timeline;
  for (const [name, what, migration] of MIGRATIONS) {
    steps = { ...steps, [`9000-${name}`]: migration };
    const own = steps;
    yield [name, what, () => migratePostgres(url, { steps: own })];
  }
}

const MIGRATIONS: readonly (readonly [name: string, what: string, migration: Migration])[] = [
  [
    'column',
    'a migration: a column of the audit trail',
    { kind: 'expand', statements: () => ['ALTER TABLE audit_event ADD COLUMN scale TEXT'] },
  ],
  [
    'index',
    'a migration: an index of the token families',
    addIndexes({ name: 'scale_index', table: 'token_family', columns: 'leaf_expires_at' }),
  ],
  [
    'rows',
    'a migration: all rows of the token families change',
    changeRows({ table: 'token_family', set: 'review_at = review_at + 1', where: () => 'true' }),
  ],
];

async function on<T>(
  url: string,
  work: (database: Awaited<ReturnType<typeof openPostgres>>) => Promise<T>,
): Promise<T> {
  const database = await openPostgres(url, toCurrentSchema);
  try {
    return await work(database);
  } finally {
    await database.close();
  }
}
