import { DAY, HOUR } from '../../src/platform/clock.ts';
import { pgbouncer } from '../../test/support/pgbouncer.ts';
import { type PostgresServer, startPostgres } from '../../test/support/postgres.ts';
import { cutCommit } from './cut-commit.ts';
import { damage } from './damage.ts';
import { DAMAGES } from './damages.ts';
import { descriptors } from './descriptors.ts';
import { fillDisk } from './fill-disk.ts';
import { killBouncer } from './kill-bouncer.ts';
import { killNode, killProcess } from './kill-node.ts';
import { killPostgres } from './kill-postgres.ts';
import { laggingStandby } from './lagging-standby.ts';
import { exhaustMemory } from './memory.ts';
import { type Network, openNetwork } from './network.ts';
import { nextVersion } from './next-version.ts';
import { type Pair, startPair } from './pair.ts';
import { restartNodes } from './restart-nodes.ts';
import { shiftClock } from './shift-clock.ts';
import { silentStandby } from './silent-standby.ts';
import { slowCallers } from './slow-callers.ts';
import { SITUATIONS, stopWhile } from './stops.ts';
import type { Options, Outcome } from './trial.ts';
import { type Outage, unreachable } from './unreachable.ts';
import { wrongClock } from './wrong-clock.ts';

type Run = (options: Options) => Promise<Outcome>;

export interface Fault {
  /** How often it happens unless told otherwise. */
  readonly times: number;
  /** At most so many on one database; more are spread over several. */
  readonly batch?: number;
  /** Whether it is about one process, not about several that share a port. */
  readonly isForOne?: boolean;
  /** Whether PgBouncer may be in between. */
  readonly isPoolable?: boolean;
  /** Why it cannot be tried here, where it cannot. */
  readonly missing?: string | undefined;
  readonly run: Run;
}

let starting: Promise<PostgresServer> | undefined;

/** The server of the trials that leave it as it is: started for the first that needs it. */
function postgres(): Promise<PostgresServer> {
  starting ??= startPostgres();
  return starting;
}

/** Lets go of what the faults needed. */
export async function stopFaults(): Promise<void> {
  if (starting !== undefined) await (await starting).stop();
  starting = undefined;
}

const onPostgres =
  (run: (server: PostgresServer, options: Options) => Promise<Outcome>): Run =>
  async (options) =>
    run(await postgres(), options);

const onOwnPostgres =
  (run: (server: PostgresServer, options: Options) => Promise<Outcome>): Run =>
  async (options) => {
    const server = await startPostgres();
    try {
      return await run(server, options);
    } finally {
      await server.stop();
    }
  };

const throughNetwork = (run: (server: PostgresServer, network: Network, options: Options) => Promise<Outcome>): Run =>
  onPostgres(async (server, options) => {
    const network = await openNetwork(server);
    try {
      return await run(server, network, options);
    } finally {
      await network.close();
    }
  });

const onPair =
  (run: (pair: Pair, network: Network, options: Options) => Promise<Outcome>, settings: readonly string[] = []): Run =>
  async (options) => {
    const pair = await startPair(settings);
    const network = await openNetwork(pair.primary);
    try {
      return await run(pair, network, options);
    } finally {
      await network.close();
      await pair.stop();
    }
  };

const MINUTE = 60_000;

export const noBouncer = pgbouncer === undefined ? 'PgBouncer is not installed' : undefined;
const noProc = process.platform === 'linux' ? undefined : 'the processes of a service are known on Linux alone';

const bouncerIn = (mode: 'session' | 'transaction') => (server: PostgresServer, options: Options) =>
  killBouncer(server, mode, options);

/** @param lasting how long the database is out of reach, at least and for at least one request of each kind */
const outage = (how: Outage, lasting: number) =>
  throughNetwork((server, network, options) =>
    unreachable(server, network, how, options, (begun) => performance.now() - begun >= lasting),
  );

const damages = Object.entries(DAMAGES).map(([name, kind]): [string, Fault] => [
  name,
  { times: 3, run: (options) => damage(kind, options) },
]);

const stops = Object.entries(SITUATIONS).map(([name, situation]): [string, Fault] => [
  name,
  { times: situation.processes.length, missing: noProc, run: (options) => stopWhile(situation, options) },
]);

/**
 * All faults, by the name that `--only` takes; those that mostly wait come first.
 * @param lasting how long a database is out of reach, in milliseconds
 */
export const faults = (lasting = MINUTE): Readonly<Record<string, Fault>> => ({
  'unreachable-refused': { times: 1, run: outage('refusing connections', lasting) },
  'unreachable-silent': { times: 1, run: outage('silent, and its connections resumed', lasting) },
  'unreachable-lost': { times: 1, run: outage('silent, and its connections lost', lasting) },
  clocks: { times: 20, isPoolable: true, run: onPostgres(shiftClock) },
  'clock-ahead': {
    times: 2,
    isPoolable: true,
    run: onPostgres((server, options) =>
      wrongClock(server, 'a node whose clock is 100 days ahead', 100 * DAY, options),
    ),
  },
  'clock-behind': {
    times: 2,
    isPoolable: true,
    run: onPostgres((server, options) => wrongClock(server, 'a node whose clock is an hour behind', -HOUR, options)),
  },
  'standby-lagging': { times: 10, run: onPair(laggingStandby) },
  'standby-silent': { times: 4, batch: 2, run: onPair(silentStandby, ['synchronous_standby_names=*']) },
  'pgbouncer-session': { times: 20, missing: noBouncer, run: onPostgres(bouncerIn('session')) },
  'pgbouncer-transaction': { times: 20, missing: noBouncer, run: onPostgres(bouncerIn('transaction')) },
  restart: { times: 5, isPoolable: true, run: onPostgres(restartNodes) },
  'next-version': { times: 3, batch: 1, isPoolable: true, run: onPostgres(nextVersion) },
  'sockets-sqlite': { times: 5, run: (options) => slowCallers(options) },
  'sockets-postgres': {
    times: 5,
    isPoolable: true,
    run: onPostgres((server, options) => slowCallers(options, server)),
  },
  'descriptors-sqlite': { times: 6, run: (options) => descriptors(options) },
  'descriptors-postgres': {
    times: 6,
    isPoolable: true,
    run: onPostgres((server, options) => descriptors(options, server)),
  },
  'memory-sqlite': { times: 10, isForOne: true, run: (options) => exhaustMemory(options) },
  'memory-postgres': {
    ...{ times: 10, isForOne: true, isPoolable: true },
    run: onPostgres((server, options) => exhaustMemory(options, server)),
  },
  disk: { times: 5, run: (options) => fillDisk(options) },
  'file-size': { times: 5, run: (options) => fillDisk(options, 'limit') },
  commit: { times: 200, run: throughNetwork(cutCommit) },
  ...Object.fromEntries(damages),
  ...Object.fromEntries(stops),
  postgres: { times: 300, batch: 50, isPoolable: true, run: onOwnPostgres(killPostgres) },
  'process-postgres': {
    ...{ times: 100, batch: 50, missing: noProc, isPoolable: true },
    run: onPostgres((server, options) => killProcess(options, server)),
  },
  'process-sqlite': { times: 100, batch: 50, missing: noProc, run: (options) => killProcess(options) },
  'node-postgres': {
    ...{ times: 300, batch: 50, isPoolable: true },
    run: onPostgres((server, options) => killNode(options, server)),
  },
  'node-sqlite': { times: 400, batch: 50, run: (options) => killNode(options) },
});
