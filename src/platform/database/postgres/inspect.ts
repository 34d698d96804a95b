import type { Clock } from '../../clock.ts';
import type { Row } from '../database.ts';
import { type HostFacts, type Inspection, type PostgresFacts, readSingly } from '../inspection.ts';
import { appliedOn, unfinishedOn } from '../migrations/migrate.ts';
import { MIGRATING, postgresBuilder, postgresColumnTypes } from './dialect.ts';
import { askStanding, refuseEarlier, standingWarnings } from './known-server.ts';
import { isPooled } from './pooler.ts';
import { InspectionPool } from './pools.ts';
import { openPrimary, type Survey } from './primary.ts';
import { ReadableQuery } from './readable-query.ts';
import { FULL, offered, roomWarnings, sizeOf } from './rules/room.ts';
import { explainMissingRights, missingRight, requireRightToCreate, type SchemaRights } from './schema-rights.ts';
import {
  askPosition,
  askRoom,
  certificateWarnings,
  checkServer,
  durabilityWarnings,
  explainConnectionError,
  requireDurableSettings,
  type ServerWarning,
  timelineWarnings,
} from './start.ts';

const ROUNDS = 7;

/**
 * Opens a PostgreSQL database for inspection.
 * @param service whether it serves only this machine, and how many processes a node of it has
 * @throws {UnusableDatabase} when a start would refuse it, with the same message
 */
export async function inspectPostgres(
  url: string,
  clock: Clock,
  { local, processes }: { readonly local: boolean; readonly processes: number },
): Promise<Inspection> {
  const primary = openPrimary(url, { application: 'tessera doctor' });
  // What each host is comes from one look at all of them.
  const hosts = primary.several ? hostFacts(await primary.survey()) : [];
  const host = await primary.find().finally(() => primary.close());
  const pool = new InspectionPool(host.url, 'tessera doctor');
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
    const applied = await appliedOn(ask, postgresColumnTypes);
    const gathered = await gather(ask, clock);
    if (applied.length === 0) requireRightToCreate(server);
    const room = await askRoom(pool);
    return {
      facts: {
        ...gathered,
        maxConnections: offered(room).count,
        poolSize: sizeOf(FULL) * processes,
        tooFew: roomWarnings(room, processes),
        cautions: [
          ...durabilityWarnings(server),
          ...timelineWarnings((await askPosition(pool)) !== undefined),
          ...standingWarnings(standing),
          ...rightWarnings(server),
          ...certificateWarnings(url),
        ],
        standbyNames: server.standbys,
        pooled: isPooled(client, server),
        hosts,
      },
      applied,
      unfinished: await unfinishedOn(ask, postgresColumnTypes),
      read: (work) => readSingly(work(), postgresBuilder, ask),
      close: () => pool.end(),
    };
  } catch (error) {
    const explained = await explainMissingRights(error, pool);
    await pool.end();
    throw explainConnectionError(explained);
  }
}

/** What a database with tables lacks for those of the next version. */
function rightWarnings(rights: SchemaRights): readonly ServerWarning[] {
  const missing = missingRight(rights);
  if (missing === undefined) return [];
  return [{ ...missing, found: `${missing.found} The migrations of the next version will fail.` }];
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
): Promise<
  Omit<PostgresFacts, 'cautions' | 'standbyNames' | 'pooled' | 'hosts' | 'maxConnections' | 'poolSize' | 'tooFew'>
> {
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
      // Excludes background processes of the server.
      '(SELECT count(*)::int FROM pg_stat_activity WHERE datid IS NOT NULL) AS used, ' +
      "current_setting('synchronous_commit') AS durability, " +
      `${MIGRATING} AS migrating, ` +
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
    usedConnections: Number(server?.['used']),
    migrating: server?.['migrating'] === true,
    synchronousCommit: String(server?.['durability']),
    encrypted: server?.['encrypted'] === true,
    local: server?.['local'] === true,
    clockAhead,
  };
}
