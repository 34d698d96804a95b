import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Client } from 'pg';
import type { TestServer } from './server.ts';

/** A transaction beside the server's own, as another node would have one. */
export interface OtherWriter {
  /** Changes rows. @param sql with one `?`, for the id */
  run(sql: string, id: string): Promise<void>;
  /** Resolves when a request that was sent waits for this transaction, or is answered without. */
  awaited(request: Promise<unknown>): Promise<void>;
  commit(): Promise<void>;
}

/**
 * Begins a transaction that holds an account: what the server wants to write about that account waits for it.
 * @param look a harmless request, for a server that does not tell what waits
 */
export async function takeAccountLock(
  { environment, dataDir }: Pick<TestServer, 'environment' | 'dataDir'>,
  accountId: string,
  look: () => Promise<unknown>,
): Promise<OtherWriter> {
  const url = environment['TESSERA_DATABASE_URL'];
  return url === undefined ? onSqlite(dataDir, look) : onPostgres(url, accountId);
}

function onSqlite(dataDir: string, look: () => Promise<unknown>): OtherWriter {
  const database = new DatabaseSync(join(dataDir, 'tessera.db'));
  database.exec('PRAGMA foreign_keys = ON');
  database.exec('BEGIN IMMEDIATE');
  return {
    run: async (sql, id) => void database.prepare(sql).run(BigInt(id)),
    // Reads go on, one after another: once a later one is answered, the request has read what it decides on.
    async awaited() {
      for (let turn = 0; turn < 3; turn++) await look();
    },
    async commit() {
      database.exec('COMMIT');
      database.close();
    },
  };
}

async function onPostgres(url: string, accountId: string): Promise<OtherWriter> {
  const [client, watcher] = [new Client({ connectionString: url }), new Client({ connectionString: url })];
  await Promise.all([client.connect(), watcher.connect()]);
  await client.query('BEGIN');
  await client.query('SELECT id FROM account WHERE id = $1 FOR UPDATE', [accountId]);
  const waiting =
    "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock' AND state = 'active'";
  return {
    run: async (sql, id) => void (await client.query(sql.replace('?', '$1'), [id])),
    async awaited(request) {
      let answered = false;
      const note = () => {
        answered = true;
      };
      request.then(note, note);
      while (!answered && (await watcher.query(waiting)).rowCount === 0);
    },
    async commit() {
      await client.query('COMMIT');
      await Promise.all([client.end(), watcher.end()]);
    },
  };
}
