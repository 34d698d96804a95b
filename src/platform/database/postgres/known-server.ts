import { sql } from 'kysely';
import { DatabaseError } from 'pg';
import { UnusableDatabase } from '../database.ts';
import { command } from '../statement.ts';
import { compareServers, type RecoverySigns, type ServerIdentity, type Standing } from './rules/known-server.ts';
import type { Queryable, ServerWarning } from './start.ts';

// A database that PostgreSQL restored revives what was revoked since. The server on which the data is complete is therefore recorded in the
// data itself, and each connection compares: see docs/decisions/0025-backups.md.

const CLUSTER = '(SELECT system_identifier FROM pg_control_system())::text';
const TIMELINE = "('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::int";
const DATABASE = '(SELECT oid FROM pg_database WHERE datname = current_database())::text';
const RELATION = "'known_server'::regclass::oid::text";
const RELEASE = "current_setting('server_version_num')::int / 10000";

/** https://www.postgresql.org/docs/current/runtime-config-wal.html#RUNTIME-CONFIG-WAL-RECOVERY-TARGET */
const TARGETS = ['', '_lsn', '_name', '_time', '_xid'].map((suffix) => `recovery_target${suffix}`);
const TARGET = `concat_ws(', ', ${TARGETS.map((name) => `'${name} = ' || nullif(current_setting('${name}'), '')`).join(', ')})`;

const COMPARISON =
  `SELECT cluster, timeline::int, database, relation, release, ${CLUSTER} AS "presentCluster", ${TIMELINE} AS "presentTimeline", ` +
  `${DATABASE} AS "presentDatabase", ${RELATION} AS "presentRelation", ${RELEASE} AS "presentRelease", ${TARGET} AS target, ` +
  'coalesce(pg_last_xact_replay_timestamp() > pg_postmaster_start_time(), false) AS followed, ' +
  "has_function_privilege('pg_read_file(text)', 'execute') AS readable FROM known_server";

interface ComparisonRow extends ServerIdentity, Pick<RecoverySigns, 'target' | 'followed'> {
  readonly presentCluster: string;
  readonly presentTimeline: number;
  readonly presentDatabase: string;
  readonly presentRelation: string;
  readonly presentRelease: number;
  readonly readable: boolean;
}

/**
 * What a server does not do, or does not tell this user: not supported, not permitted, no such function, no such table, no such file, or
 * an earlier statement of the transaction failed for such a reason.
 * https://www.postgresql.org/docs/current/errcodes-appendix.html
 */
const UNTOLD = /^(0A000|25P02|42501|42883|42P01|58P01)$/;

async function rowOf<T>(connection: Queryable, text: string): Promise<T | undefined> {
  try {
    return (await connection.query(text)).rows[0] as T | undefined;
  } catch (error) {
    if (error instanceof DatabaseError && UNTOLD.test(error.code ?? '')) return undefined;
    throw error;
  }
}

/** Compares the server of a connection with the one that is recorded; undefined where none is, or the server does not tell. */
export async function askStanding(connection: Queryable): Promise<Standing | undefined> {
  const row = await rowOf<ComparisonRow>(connection, COMPARISON);
  if (row === undefined) return undefined;
  const present = {
    cluster: row.presentCluster,
    timeline: row.presentTimeline,
    database: row.presentDatabase,
    relation: row.presentRelation,
    release: row.presentRelease,
  };
  const file = `pg_wal/${row.presentTimeline.toString(16).toUpperCase().padStart(8, '0')}.history`;
  const history =
    row.readable && row.timeline !== row.presentTimeline
      ? await rowOf<{ text: string }>(connection, `SELECT pg_read_file('${file}') AS text`)
      : undefined;
  return compareServers(row, present, { target: row.target, followed: row.followed, history: history?.text });
}

/** Whether a server tells which it is, as some hosted ones do not. */
export const tellsIdentity = async (connection: Queryable): Promise<boolean> =>
  (await rowOf(connection, `SELECT ${CLUSTER}, ${TIMELINE}, ${DATABASE}`)) !== undefined;

const identity = {
  cluster: sql.raw<string>(CLUSTER),
  timeline: sql.raw<number>(TIMELINE),
  database: sql.raw<string>(DATABASE),
  relation: sql.raw<string>(RELATION),
  release: sql.raw<number>(RELEASE),
};

/** Records that the data is complete on the present server. */
export const recordServer = command((db, _p: object) =>
  db
    .insertInto('known_server')
    .values({ id: 1, ...identity })
    .onConflict((conflict) => conflict.column('id').doUpdateSet(identity)),
);

const REMEDY =
  'If changes are missing, end all that was issued before: tessera restore --new-epoch. If none are, say so: tessera restore --keep-sessions';

/** @throws {UnusableDatabase} where the data is that of an earlier time, or a copy */
export function refuseEarlier(standing: Standing | undefined): void {
  if (standing?.kind !== 'earlier') return;
  throw new UnusableDatabase(
    `The data was restored from a backup or copied: ${standing.sign}. What was revoked since then would be accepted again. ${REMEDY}`,
  );
}

/** What a start and `tessera doctor` warn of. */
export const standingWarnings = (standing: Standing | undefined): readonly ServerWarning[] =>
  standing?.kind === 'unclear'
    ? [
        {
          found:
            'The PostgreSQL server began another timeline: a fail-over does this, and so does a recovery from a backup, which may lack the latest changes.',
          remedy: REMEDY,
        },
      ]
    : [];
