/**
 * `npm run growth [-- --seconds 20 --rate 20 --rows 20000]`: how much each table grows by what people and apps do, and how fast
 * housekeeping removes rows, on both databases. Writes docs/growth.json, from which docs/reference/retention.md is made.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { toCurrentSchema } from '../../src/migrations/timeline.ts';
import { openPostgres } from '../../src/platform/database/postgres/open.ts';
import { openSqlite } from '../../src/platform/database/sqlite/open.ts';
import { startPostgres } from '../../test/support/postgres.ts';
import { makeTemplate, newDatabase } from '../../test/support/postgres-database.ts';
import { startServer } from '../../test/support/server.ts';
import { ACT_NAMES, type ActName, prepareActs } from './acts.ts';
import { type RemovalRate, removalRates } from './removal-rates.ts';
import { sizesOf } from './sizes.ts';

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '20' },
    rate: { type: 'string', default: '20' },
    rows: { type: 'string', default: '20000' },
  },
});
const seconds = Number(values.seconds);
const rate = Number(values.rate);
const rows = Number(values.rows);

type Store = 'SQLite' | 'PostgreSQL';
/** What an act adds to each table that it adds to. */
type Growth = Record<string, { rows: number; bytes: number }>;

/** Does each act at the given rate for the given time, and compares the sizes of the tables. */
async function measureGrowth(store: Store): Promise<Record<ActName, Growth>> {
  const server = await startServer({ TESSERA_LIMIT_SIGN_IN_ACCOUNT: 'off', TESSERA_LIMIT_SIGN_IN_ADDRESS: 'off' });
  try {
    const acts = await prepareActs(server);
    const grown: Partial<Record<ActName, Growth>> = {};
    for (const name of ACT_NAMES) {
      const before = await sizesOf(server, store);
      const count = Math.round(seconds * rate);
      const began = performance.now();
      for (let n = 0; n < count; n++) {
        server.advance(Math.round(1000 / rate));
        await acts[name]();
        await wait(Math.max(0, began + ((n + 1) * 1000) / rate - performance.now()));
      }
      const achieved = count / ((performance.now() - began) / 1000);
      process.stderr.write(`${store}: ${count} × ${name}, ${achieved.toFixed(1)} a second\n`);
      const growth: Growth = {};
      for (const [table, { rows, bytes }] of await sizesOf(server, store)) {
        const previous = before.get(table) ?? { rows: 0, bytes: 0 };
        const per = (now: number, then: number) => Math.round(((now - then) / count) * 100) / 100;
        if (bytes > previous.bytes || rows > previous.rows) {
          growth[table] = { rows: per(rows, previous.rows), bytes: Math.round(per(bytes, previous.bytes)) };
        }
      }
      grown[name] = growth;
    }
    return grown as Record<ActName, Growth>;
  } finally {
    await server.close();
  }
}

const folder = mkdtempSync(join(tmpdir(), 'tessera-growth-'));
const sqlite = await openSqlite(join(folder, 'removal.db'), toCurrentSchema);
const removal: Record<Store, readonly RemovalRate[]> = { SQLite: await removalRates(sqlite, rows), PostgreSQL: [] };
await sqlite.close();
rmSync(folder, { recursive: true });
const growth = { SQLite: await measureGrowth('SQLite') } as Record<Store, Record<ActName, Growth>>;

const server = await startPostgres();
try {
  await makeTemplate(server.url);
  process.env['TESSERA_TEST_POSTGRES'] = server.url;
  const own = await newDatabase(server.url);
  const database = await openPostgres(own.url, toCurrentSchema);
  removal.PostgreSQL = await removalRates(database, rows);
  await database.close();
  growth.PostgreSQL = await measureGrowth('PostgreSQL');
} finally {
  await server.stop();
}

const measured = { processors: cpus().length, acts: Math.round(seconds * rate), rows, growth, removal };
writeFileSync(new URL('../../docs/growth.json', import.meta.url), `${JSON.stringify(measured, null, 2)}\n`);
process.stdout.write(`${JSON.stringify(measured.removal, null, 2)}\n`);
