import { Pool } from 'pg';
import type { Clock } from '../../clock.ts';
import type { Row } from '../database.ts';
import { type HostFacts, type Inspection, type PostgresFacts, readSingly } from '../inspection.ts';
import { appliedOn, unfinishedOn } from '../migrations/migrate.ts';
import { MIGRATING, postgresBuilder, postgresColumnTypes } from './dialect.ts';
import { askStanding, refuseEarlier, standingWarnings } from './known-server.ts';
import { isPooled } from './pooler.ts';
import { POOL_SIZE } from './pools.ts';
import { openPrimary, type Survey } from './primary.ts';
import { ReadableQuery } from './readable-query.ts';
import {
  askPosition,
  checkServer,
  durabilityWarnings,
  explainConnectionError,
  requireDurableSettings,
  timelineWarnings,
} from './start.ts';

const ROUNDS = 7;

/**
 * Opens a PostgreSQL database for inspection.
 * @param local whether only this machine is served
 * @throws {UnusableDatabase} when a start would refuse it, with the same message
 */
export async function inspectPostgres(url: string, clock: Clock, local: boolean): Promise<Inspection> {
  const primary = openPrimary(url, { application: 'tessera doctor' });
  // What each host is comes from one look at all of them.
  const hosts = primary.several ? hostFacts(await primary.survey()) : [];
  const host = await primary.find().finally(() => primary.close());
  const pool = new Pool({
    connectionString: host.url,
    max: 1,
    application_name: 'tessera doctor',
    connectionTimeoutMillis: 5000,
    query_timeout: 5000,
  });
  pool.on('error', () => {});
  const ask = async (text: string, values: readonly unknown[] = []): Promise<readonly Row[]> => {
    const query = new ReadableQuery(undefined, text);
    return query.rowsOf(await pool.query(query.with([...values])));
  };
  try {
    const client = await pool.connect();
    const server = await checkServer(client).finally(() => client.release());
    if (!local) requireDurableSettings(server);
    const standing = await askStanding(pool);
    refuseEarlier(standing);
    return {
      facts: {
        ...(await gather(ask, clock)),
        cautions: [
          ...durabilityWarnings(server),
          ...timelineWarnings((await askPosition(pool)) !== undefined),
          ...standingWarnings(standing),
        ],
        standbyNames: server.standbys,
        pooled: isPooled(client, server),
        hosts,
      },
      applied: await appliedOn(ask, postgresColumnTypes),
      unfinished: await unfinishedOn(ask, postgresColumnTypes),
      read: (work) => readSingly(work(), postgresBuilder, ask),
      close: () => pool.end(),
    };
  } catch (error) {
    await pool.end();
    throw explainConnectionError(error);
  }
}

const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

/** The hosts of the address in its order. */
function hostFacts({ sightings, choice }: Survey): readonly HostFacts[] {
  const end = choice.kind === 'primary' ? choice.position.end : undefined;
  return sightings.map((one) => {
    const position = one.kind === 'server' ? one.position : undefined;
    const reason = choice.others.find(({ host }) => host === one.host)?.reason;
    const standby = one.kind === 'server' && one.standby;
    return {
      ...{ name: one.host, timeline: position?.timeline, reason },
      role: reason === undefined ? 'primary' : standby ? 'standby' : 'other',
      behind: standby && end !== undefined && position !== undefined ? Math.max(0, end - position.end) : undefined,
    };
  });
}

async function gather(
  ask: (text: string) => Promise<readonly Row[]>,
  clock: Clock,
): Promise<Omit<PostgresFacts, 'cautions' | 'standbyNames' | 'pooled' | 'hosts'>> {
  const times: number[] = [];
  let clockAhead = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const [begun, asked] = [performance.now(), clock()];
    const [row] = await ask('SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now');
    times.push(performance.now() - begun);
    clockAhead = Number(row?.['now']) - (asked + clock()) / 2;
  }
  const [server] = await ask(
    "SELECT current_setting('server_version') AS release, " +
      "current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int AS connections, " +
      // Excludes background processes of the server.
      '(SELECT count(*)::int FROM pg_stat_activity WHERE datid IS NOT NULL) AS used, ' +
      "current_setting('synchronous_commit') AS durability, " +
      `${MIGRATING} AS migrating, ` +
      "coalesce(has_schema_privilege(current_schema(), 'CREATE'), false) AS creates, " +
      "coalesce(host(inet_server_addr()) IN ('127.0.0.1', '::1'), true) AS local, " +
      'coalesce((SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()), false) AS encrypted',
  );
  const standbys = await ask('SELECT application_name AS name, state, sync_state AS sync FROM pg_stat_replication');
  return {
    kind: 'postgres',
    standbys: standbys.map(({ name, state, sync }) => ({
      ...{ name: String(name), state: textOf(state), sync: textOf(sync) },
    })),
    release: String(server?.['release']),
    roundTrip: times.sort((a, b) => a - b)[Math.floor(ROUNDS / 2)] ?? 0,
    maxConnections: Number(server?.['connections']),
    usedConnections: Number(server?.['used']),
    poolSize: POOL_SIZE,
    migrating: server?.['migrating'] === true,
    synchronousCommit: String(server?.['durability']),
    mayCreateTables: server?.['creates'] === true,
    encrypted: server?.['encrypted'] === true,
    local: server?.['local'] === true,
    clockAhead,
  };
}
