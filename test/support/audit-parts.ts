import { after, afterEach, beforeEach } from 'node:test';
import { Client } from 'pg';
import { toCurrentSchema } from '../../src/migrations/timeline.ts';
import { type Database, StoreUnavailable, type TableParts } from '../../src/platform/database/database.ts';
import { openPostgres } from '../../src/platform/database/postgres/open.ts';
import { startPostgres } from './postgres.ts';
import { migratedDatabase } from './postgres-database.ts';

/** A database of one test, and a connection of the test's own. */
export interface DividableDatabase {
  readonly database: Database;
  readonly parts: TableParts;
  readonly beside: Client;
}

/** Gives each test of a file a PostgreSQL database whose trail nobody else locks. */
export async function onDividableDatabases(begin: (own: DividableDatabase) => void): Promise<void> {
  const started = process.env['TESSERA_TEST_POSTGRES'] === undefined ? await startPostgres() : undefined;
  if (started !== undefined) process.env['TESSERA_TEST_POSTGRES'] = started.url;
  after(() => started?.stop());
  let end: () => Promise<void>;
  beforeEach(async () => {
    const own = await migratedDatabase();
    if (own === undefined) throw new Error('there is no PostgreSQL');
    const database = await openPostgres(own.url, toCurrentSchema);
    const beside = new Client({ connectionString: own.url });
    await beside.connect();
    // It would hold a lock at any time.
    await beside.query('ALTER TABLE audit_event SET (autovacuum_enabled = false)');
    end = async () => {
      await beside.end();
      await database.close();
      await own.drop();
    };
    begin({ database, parts: partsOf(database), beside });
  });
  afterEach(() => end());
}

/** The parts of the audit trail of a database that can have some. */
function partsOf({ auditParts }: Database): TableParts {
  if (auditParts === undefined) throw new Error('this database keeps the trail in one');
  return auditParts;
}

/** Puts all events aside as a part. Statements of the test itself may hold the table for longer than an instant on a busy machine. */
export const divideTrail = (database: Database): Promise<void> =>
  untilFree(() => database.commit(() => partsOf(database).divide()));

/** Has each part get its index by account, and waits for those that housekeeping builds. */
export async function indexParts(database: Database): Promise<void> {
  const parts = partsOf(database);
  for (const part of await database.read(() => parts.list())) await untilFree(() => parts.index(part));
}

/** Tries again while others hold what is to be locked. */
export async function untilFree(attempt: () => Promise<void>): Promise<void> {
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
    }
  }
}
