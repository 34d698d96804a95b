import { DatabaseError, type QueryResult } from 'pg';
import { UnusableDatabase } from '../database.ts';
import { unverifiedMode } from '../ssl-mode.ts';
import type { ClusterPosition } from './rules/primary.ts';
import type { Room } from './rules/room.ts';
import { missingRight, SCHEMA_RIGHTS, type SchemaRights } from './schema-rights.ts';

/** The oldest server that is tested. */
const OLDEST = 140_000;

/** What keeps a start from using its database, by the server's error code, with the remedy. */
const REMEDIES: Readonly<Record<string, string>> = {
  '28P01': 'The password is wrong. Correct it in TESSERA_DATABASE_URL.',
  '28000':
    'The server does not let this user in. Check user, database and address in TESSERA_DATABASE_URL and in pg_hba.conf.',
  '3D000': 'There is no such database. Create it, or correct TESSERA_DATABASE_URL.',
  '42501':
    'The user may not connect to this database, or lacks a right in it. Run as the owner of the database: GRANT ALL ON DATABASE <database> TO <user>;',
  '53300': 'The server has no connection left. Raise its max_connections, or close connections of other programs.',
  ECONNREFUSED: 'Nothing listens there. Start the server, or correct host and port in TESSERA_DATABASE_URL.',
  ENOTFOUND: 'The host name is not known. Correct it in TESSERA_DATABASE_URL.',
  EAI_AGAIN: 'The host name cannot be looked up now. Check the name service, or the host in TESSERA_DATABASE_URL.',
  ENOENT: 'There is no socket there. Start the server, or correct the host in TESSERA_DATABASE_URL.',
  '57P03': 'The server is starting or stopping. Start again in a moment.',
  ECONNRESET:
    'What listens there ends the connection. Check that host and port in TESSERA_DATABASE_URL are those of PostgreSQL.',
  ENETUNREACH: 'The host cannot be reached. Check the network, or correct TESSERA_DATABASE_URL.',
  EHOSTUNREACH: 'The host cannot be reached. Check the network, or correct TESSERA_DATABASE_URL.',
  ETIMEDOUT: 'The host does not answer. Check the network, or correct TESSERA_DATABASE_URL.',
};

const UNENCRYPTED =
  'The server does not let this user in without encryption. If it requires TLS, add sslmode=verify-full to TESSERA_DATABASE_URL; ' +
  'otherwise check user, database and address there and in pg_hba.conf.';

/** The same for what the driver says without a code. */
const TEXTS: readonly (readonly [RegExp, string | undefined])[] = [
  [
    /client password must be a/,
    'The server asks for a password. Put it in TESSERA_DATABASE_URL: postgres://<user>:<password>@<host>/<database>',
  ],
  [
    /does not support SSL|establishing an SSL connection/,
    'The server offers no encrypted connection. Turn it on there, or take sslmode out of TESSERA_DATABASE_URL.',
  ],
  [
    /not allowed in statement pooling mode/,
    'The pooler is in statement mode, which has no transactions. Set its pool_mode to transaction.',
  ],
  [/terminated unexpectedly/, REMEDIES['ECONNRESET']],
  [/timeout/i, REMEDIES['ETIMEDOUT']],
];

/** https://nodejs.org/api/tls.html#x509-certificate-error-codes */
const CERTIFICATE = /CERT|UNABLE_TO_VERIFY|UNABLE_TO_GET_ISSUER/;

/** Those that hold every character; the second one takes texts as they are. */
const ENCODINGS = ['UTF8', 'SQL_ASCII'];

/** What a server says of itself. */
export interface ServerFacts extends SchemaRights {
  /** `server_version_num`: 140023 is 14.23. */
  readonly version: string;
  /** `server_version`, as people read it. */
  readonly release: string;
  readonly replica: boolean;
  /** `default_transaction_read_only`. */
  readonly readonly: string;
  readonly fsync: string;
  /** `full_page_writes`. */
  readonly fullPages: string;
  /** `synchronous_standby_names`: empty where a commit waits for no standby. */
  readonly standbys: string;
  /** `server_encoding`. */
  readonly encoding: string;
  /** When it was started, in seconds with all digits: it tells servers at one address apart. */
  readonly started: string;
}

/** One process of a server, and when it began: its number alone is given again. */
export interface Backend {
  readonly pid: number;
  /** Seconds, with all digits of the server. */
  readonly began: string;
}

/** Why a server cannot be used, with the remedy; undefined where it can. */
export function unsuitability(server: ServerFacts | undefined): string | undefined {
  if (server === undefined) return 'The server does not say which it is.';
  if (!(Number(server.version) >= OLDEST)) {
    return `The server is PostgreSQL ${server.release}; Tessera needs 14 or newer. Upgrade it.`;
  }
  if (server.replica)
    return 'The server is a replica, which takes no writes. Name the primary in TESSERA_DATABASE_URL.';
  if (server.readonly === 'on') {
    return (
      'The server takes no writes: default_transaction_read_only is on for it, this database or this user. ' +
      'Turn it off, or name another database in TESSERA_DATABASE_URL.'
    );
  }
  if (!ENCODINGS.includes(server.encoding)) {
    return (
      `The database has the encoding ${server.encoding}, which cannot hold most names. ` +
      "Make one that can, and name it in TESSERA_DATABASE_URL: CREATE DATABASE tessera ENCODING 'UTF8' TEMPLATE template0;"
    );
  }
  if (server.schema === null) {
    const missing = missingRight(server);
    return missing && `${missing.found} ${missing.remedy}`;
  }
  return undefined;
}

/** What is not well with a server, and what to do about it. */
export interface ServerWarning {
  readonly found: string;
  readonly remedy: string;
}

const LOSS: ServerWarning = {
  found:
    'fsync is off on the PostgreSQL server: a loss of power undoes acknowledged changes, and revives what was revoked.',
  remedy: 'Turn it on: ALTER SYSTEM SET fsync = on; SELECT pg_reload_conf();',
};
const TORN_PAGES: ServerWarning = {
  found:
    'full_page_writes is off on the PostgreSQL server: on most file systems, a loss of power leaves pages that are half written.',
  remedy:
    'Unless its file system copies on write (such as ZFS), turn it on: ALTER SYSTEM SET full_page_writes = on; SELECT pg_reload_conf();',
};

const ASYNCHRONOUS: ServerWarning = {
  found:
    'synchronous_standby_names is empty on the PostgreSQL primary: a standby that takes over may lack the latest acknowledged changes, and revive what was revoked.',
  remedy:
    "Let commits wait for a standby: ALTER SYSTEM SET synchronous_standby_names = 'ANY 1 (*)'; SELECT pg_reload_conf(); with Patroni: synchronous_mode: true",
};

const HIDDEN: ServerWarning = {
  found:
    'The PostgreSQL server does not tell its timeline: if the address leads to a former primary after a fail-over, nodes do not notice, and accept what was revoked since.',
  remedy:
    'Let the user call pg_control_system(), pg_control_checkpoint(), pg_control_recovery() and pg_walfile_name(pg_lsn), or make sure that a primary is stopped before another is promoted.',
};

/** What cannot be found out of a server that hides where it is in the history of its cluster. */
export const timelineWarnings = (told: boolean): readonly ServerWarning[] => (told ? [] : [HIDDEN]);

/** That a connection is encrypted to the server that answers, whichever that is. */
export function certificateWarnings(url: string): readonly ServerWarning[] {
  const mode = unverifiedMode(url);
  if (mode === undefined) return [];
  return [
    {
      found: `sslmode=${mode} encrypts the connection to the PostgreSQL server, but does not verify the certificate: another server can take its place.`,
      remedy:
        'Use sslmode=verify-full in TESSERA_DATABASE_URL, with sslrootcert=<file> unless a public authority has signed the certificate.',
    },
  ];
}

/** What a server's settings put at risk. */
export const durabilityWarnings = ({ fsync, fullPages }: ServerFacts): readonly ServerWarning[] => [
  ...(fsync === 'off' ? [LOSS] : []),
  ...(fullPages === 'off' ? [TORN_PAGES] : []),
];

/** What a fail-over may lose, where the address has several hosts. */
export const failOverWarnings = ({ standbys }: ServerFacts): readonly ServerWarning[] =>
  standbys === '' ? [ASYNCHRONOUS] : [];

/** @throws {UnusableDatabase} where the server loses acknowledged changes when its machine fails */
export function requireDurableSettings({ fsync }: ServerFacts): void {
  if (fsync === 'off') throw new UnusableDatabase(`${LOSS.found} ${LOSS.remedy}`);
}

/** A connection, or a pool of them. */
export interface Queryable {
  query(text: string): Promise<QueryResult>;
}

const FACTS =
  "SELECT current_setting('server_version_num') AS version, current_setting('server_version') AS release, " +
  "pg_is_in_recovery() AS replica, current_setting('default_transaction_read_only') AS readonly, " +
  "current_setting('fsync') AS fsync, current_setting('full_page_writes') AS \"fullPages\", " +
  "current_setting('synchronous_standby_names') AS standbys, " +
  `current_setting('server_encoding') AS encoding, ${SCHEMA_RIGHTS}, ` +
  'extract(epoch FROM pg_postmaster_start_time())::text AS started, pg_backend_pid() AS pid, ' +
  '(SELECT extract(epoch FROM backend_start)::text FROM pg_stat_activity WHERE pid = pg_backend_pid()) AS began';

/** Positions are public; a standby also tells of the timeline that it last learned of. */
const POSITION =
  'SELECT (SELECT system_identifier FROM pg_control_system())::text AS cluster, CASE WHEN pg_is_in_recovery() ' +
  'THEN greatest((SELECT timeline_id FROM pg_control_checkpoint()), ' +
  '(SELECT min_recovery_end_timeline FROM pg_control_recovery()), (SELECT received_tli FROM pg_stat_wal_receiver)) ' +
  "ELSE ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::int END AS timeline, " +
  '((CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() ELSE pg_current_wal_lsn() END) - \'0/0\')::text AS "end"';

/** Asks a server where it is in the history of its cluster; undefined where it does not tell, as some hosted ones do not. */
export async function askPosition(connection: Queryable): Promise<ClusterPosition | undefined> {
  try {
    const { rows } = await connection.query(POSITION);
    const { cluster, timeline, end } = rows[0] as { cluster: string; timeline: number; end: string | null };
    return { cluster, timeline, end: Number(end) };
  } catch (error) {
    // https://www.postgresql.org/docs/current/errcodes-appendix.html: not supported, not permitted, or no such function
    if (error instanceof DatabaseError && /^(0A000|42501|42883)$/.test(error.code ?? '')) return undefined;
    throw error;
  }
}

const ROOM =
  "SELECT current_setting('max_connections')::int AS most, current_setting('superuser_reserved_connections')::int + " +
  "coalesce(current_setting('reserved_connections', true)::int, 0) AS reserved, " +
  // A superuser has no limit, and the reserved ones, too.
  '(SELECT rolconnlimit FROM pg_roles WHERE rolname = session_user AND rolconnlimit >= 0 AND NOT rolsuper) AS role, ' +
  '(SELECT datconnlimit FROM pg_database WHERE datname = current_database() AND datconnlimit >= 0) AS database';

/** Asks a server how many connections it has. */
export async function askRoom(connection: Queryable): Promise<Room> {
  const { rows } = await connection.query(ROOM);
  const { most, reserved, role, database } = rows[0] as Record<keyof Room, number | null>;
  return {
    ...{ most: most ?? 0, reserved: reserved ?? 0 },
    ...{ role: role ?? undefined, database: database ?? undefined },
  };
}

/** Asks a server what it is, and which of its processes serves this connection. */
export async function askFacts(connection: Queryable): Promise<(ServerFacts & Backend) | undefined> {
  const { rows } = await connection.query(FACTS);
  return rows[0] as (ServerFacts & Backend) | undefined;
}

/**
 * The same, of a server that is to be used.
 * @throws {UnusableDatabase} where the server is too old, or does not take writes
 */
export async function checkServer(connection: Queryable): Promise<ServerFacts & Backend> {
  const facts = await askFacts(connection);
  const reason = unsuitability(facts);
  if (facts === undefined || reason !== undefined) throw new UnusableDatabase(reason ?? '');
  return facts;
}

/** An error of the start in words that name the remedy, as far as there are some. */
export function explainConnectionError(error: unknown): unknown {
  if (error instanceof UnusableDatabase || !(error instanceof Error)) return error;
  const causes = error instanceof AggregateError ? error.errors : [error];
  for (const cause of causes as (Error & { code?: string; syscall?: string; path?: string })[]) {
    const remedy = remedyFor(cause);
    if (remedy !== undefined) return new UnusableDatabase(remedy, { cause: error });
  }
  return error;
}

/** By the function of the server that refuses, since messages may be in any language. */
const LIMITS: Readonly<Record<string, string>> = {
  InitializeSessionUserId:
    'The user has no connection left of those that its own limit allows. Raise it (ALTER ROLE <user> CONNECTION LIMIT 19), or remove it (-1).',
  CheckMyDatabase:
    'The database has no connection left of those that its own limit allows. Raise it (ALTER DATABASE <database> CONNECTION LIMIT 19), or remove it (-1).',
};

function remedyFor(
  cause: Error & { code?: string; syscall?: string; path?: string; routine?: string },
): string | undefined {
  const { code = '', message, routine = '' } = cause;
  if (code === '53300' && LIMITS[routine] !== undefined) return LIMITS[routine];
  // A socket has no encryption.
  if (code === '28000' && /no encryption|SSL off/.test(message) && !message.includes('[local]')) return UNENCRYPTED;
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') {
    return `The server's certificate is that of another host (${message.replace(/^.*?certificate's altnames: /, '').replace(/[:. ]+$/, '')}). Name the host in TESSERA_DATABASE_URL as the certificate does, or give the server a certificate with this name.`;
  }
  if (cause.syscall === 'open')
    return `TESSERA_DATABASE_URL names the file ${cause.path}, which cannot be read (${code}).`;
  if (CERTIFICATE.test(code)) {
    return `The server's certificate is not trusted: ${message}. Name its authority in TESSERA_DATABASE_URL: sslmode=verify-full&sslrootcert=<file>`;
  }
  return REMEDIES[code] ?? TEXTS.find(([text]) => text.test(message))?.[1];
}
