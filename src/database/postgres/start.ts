import type { Pool } from 'pg';
import { DatabaseUnusable } from '../database.ts';

/** The oldest server that is tested. */
const OLDEST = 140_000;

/** What keeps a start from using its database, by the server's error code, with the remedy. */
const REMEDIES: Readonly<Record<string, string>> = {
  '28P01': 'The password is wrong. Correct it in TESSERA_DATABASE_URL.',
  '28000':
    'The server does not let this user in. Check user, database and address in TESSERA_DATABASE_URL and in pg_hba.conf.',
  '3D000': 'There is no such database. Create it, or correct TESSERA_DATABASE_URL.',
  '42501':
    'The user may not create tables here. Grant it CREATE on the schema, for example by making it the owner of the database.',
  '53300': 'The server has no connection left. Raise its max_connections.',
  ECONNREFUSED: 'Nothing listens there. Start the server, or correct host and port in TESSERA_DATABASE_URL.',
  ENOTFOUND: 'The host name is not known. Correct it in TESSERA_DATABASE_URL.',
  EAI_AGAIN: 'The host name cannot be looked up now. Check the name service, or the host in TESSERA_DATABASE_URL.',
  ENOENT: 'There is no socket there. Start the server, or correct the host in TESSERA_DATABASE_URL.',
  EHOSTUNREACH: 'The host cannot be reached. Check the network, or correct TESSERA_DATABASE_URL.',
  ETIMEDOUT: 'The host does not answer. Check the network, or correct TESSERA_DATABASE_URL.',
};

/** @throws {DatabaseUnusable} where the server is too old, or does not take writes */
export async function checkServer(pool: Pool): Promise<void> {
  const { rows } = await pool.query<{ version: string; release: string; replica: boolean; readonly: string }>(
    "SELECT current_setting('server_version_num') AS version, current_setting('server_version') AS release, " +
      "pg_is_in_recovery() AS replica, current_setting('default_transaction_read_only') AS readonly",
  );
  const [server] = rows;
  if (server === undefined) throw new DatabaseUnusable('The server does not say which it is.');
  if (Number(server.version) < OLDEST) {
    throw new DatabaseUnusable(`The server is PostgreSQL ${server.release}; Tessera needs 14 or newer. Upgrade it.`);
  }
  if (server.replica || server.readonly === 'on') {
    throw new DatabaseUnusable(
      'The server takes no writes: it is a replica or read-only. Name the primary in TESSERA_DATABASE_URL.',
    );
  }
}

/** An error of the start in words that name the remedy, as far as there are some. */
export function explainStart(error: unknown): unknown {
  if (error instanceof DatabaseUnusable || !(error instanceof Error)) return error;
  const causes = error instanceof AggregateError ? error.errors : [error];
  for (const cause of causes as (Error & { code?: string })[]) {
    const remedy = REMEDIES[cause.code ?? ''];
    if (remedy !== undefined) return new DatabaseUnusable(remedy, { cause: error });
  }
  if (/timeout/i.test(error.message)) return new DatabaseUnusable(REMEDIES['ETIMEDOUT'], { cause: error });
  return error;
}
