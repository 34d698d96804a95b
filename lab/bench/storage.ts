/**
 * Measures the bytes of a user, an event and a refresh in a PostgreSQL database:
 *   node lab/bench/storage.ts [--people 20000] [--seconds 10]
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Client } from 'pg';
import { start } from '../../src/app.ts';
import { randomSecret } from '../../src/platform/crypto/secrets.ts';
import { readConfig } from '../../src/settings/config.ts';
import { startPostgres } from '../../test/support/postgres.ts';
import { refreshing } from './drivers.ts';
import { freePort } from './free-port.ts';
import { load } from './load.ts';
import { populate, protocol, serviceEnvironment } from './tessera.ts';

const { values: options } = parseArgs({
  options: { people: { type: 'string', default: '20000' }, seconds: { type: 'string', default: '10' } },
});
const people = Number(options.people);

const folder = mkdtempSync(join(tmpdir(), 'tessera-storage-'));
const postgres = await startPostgres();
const database = new Client({ connectionString: postgres.url });
try {
  const port = await freePort();
  const environment = {
    ...serviceEnvironment(port),
    TESSERA_DATA_DIR: folder,
    TESSERA_DATABASE_URL: postgres.url,
    TESSERA_SECRET: randomSecret(),
    TESSERA_LOG_LEVEL: 'error',
  };
  await database.connect();
  const number = async (sql: string): Promise<number> => Number(Object.values((await database.query(sql)).rows[0])[0]);
  const population = await populate(environment, people);
  await database.query('VACUUM ANALYZE');

  const tables = await database.query<{ name: string; bytes: string; rows: string }>(
    'SELECT relname AS name, pg_total_relation_size(relid) AS bytes, n_live_tup AS rows FROM pg_stat_user_tables WHERE n_live_tup > 100 ORDER BY 2 DESC',
  );
  console.table(
    tables.rows.map(({ name, bytes, rows }) => ({
      table: name,
      rows: Number(rows),
      'bytes with indexes, a row': Math.round(Number(bytes) / Number(rows)),
      'bytes, a person': Math.round(Number(bytes) / people),
    })),
  );

  const tessera = await start(readConfig(environment));
  const before = await number("SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')");
  const driver = refreshing({ sample: population.seeded.sample, ...protocol(port, population) }, 32);
  const done = await load(port, 32, Number(options.seconds), driver);
  const after = await number("SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')");
  await tessera.close();
  console.log(`${done.requests} refreshes, ${Math.round((after - before) / done.requests)} bytes of WAL each`);
} finally {
  await database.end();
  await postgres.stop();
  rmSync(folder, { recursive: true, force: true });
}
