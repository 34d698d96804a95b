import { join } from 'node:path';
import { type PostgresServer, startPostgres } from '../support/postgres.ts';
import { cutCommit } from './cut-commit.ts';
import { fillDisk } from './fill-disk.ts';
import { killNode } from './kill-node.ts';
import { killPostgres } from './kill-postgres.ts';
import { type Network, openNetwork } from './network.ts';
import { shiftClock } from './shift-clock.ts';
import type { Options, Outcome } from './trial.ts';
import { type Outage, unreachable } from './unreachable.ts';

export interface Fault {
  /** How often it happens unless told otherwise. */
  readonly times: number;
  /** At most so many on one database; more are spread over several. */
  readonly batch?: number;
  readonly run: (options: Options) => Promise<Outcome>;
}

let starting: Promise<PostgresServer> | undefined;

/** The server of these trials: started for the first that needs it. */
function postgres(): Promise<PostgresServer> {
  starting ??= startPostgres().then((server) => {
    process.env['TESSERA_TEST_POSTGRES'] = server.url;
    return server;
  });
  return starting;
}

/** Lets go of what the faults needed. */
export async function stopFaults(): Promise<void> {
  if (starting !== undefined) await (await starting).stop();
  starting = undefined;
}

async function throughNetwork(run: (network: Network) => Promise<Outcome>): Promise<Outcome> {
  const server = await postgres();
  const network = await openNetwork(join(new URL(server.url).searchParams.get('host') ?? '', '.s.PGSQL.5432'));
  try {
    return await run(network);
  } finally {
    await network.close();
  }
}

const MINUTE = 60_000;

/** @param lasting how long the database is out of reach, at least and for at least one request of each kind */
const outage = (how: Outage, lasting: number) => (options: Options) =>
  throughNetwork((network) => unreachable(network, how, options, (begun) => performance.now() - begun >= lasting));

/** All faults, by the name that `--only` takes. @param lasting how long a database is out of reach, in milliseconds */
export const faults = (lasting = MINUTE): Readonly<Record<string, Fault>> => ({
  'node-sqlite': { times: 50, batch: 50, run: (options) => killNode('SQLite', options) },
  'node-postgres': {
    ...{ times: 50, batch: 50 },
    run: async (options) => {
      await postgres();
      return killNode('PostgreSQL', options);
    },
  },
  postgres: { times: 20, batch: 20, run: async (options) => killPostgres(await postgres(), options) },
  'unreachable-refused': { times: 1, run: outage('refusing connections', lasting) },
  'unreachable-silent': { times: 1, run: outage('silent, and its connections resumed', lasting) },
  'unreachable-lost': { times: 1, run: outage('silent, and its connections lost', lasting) },
  commit: { times: 200, batch: 200, run: (options) => throughNetwork((network) => cutCommit(network, options)) },
  disk: { times: 5, run: (options) => fillDisk(options) },
  'file-size': { times: 5, run: (options) => fillDisk(options, 'limit') },
  clocks: {
    times: 20,
    run: async (options) => {
      await postgres();
      return shiftClock(options);
    },
  },
});

/** Runs a fault so many times, on as many databases as that takes. */
export async function runFault(fault: Fault, options: Options): Promise<Outcome> {
  const { times, seed, progress } = options;
  const batch = fault.batch ?? times;
  let whole: Outcome | undefined;
  for (let done = 0; done < times; done += batch) {
    const size = Math.min(batch, times - done);
    const part = await fault.run({
      ...options,
      times: size,
      seed: seed + done,
      progress: (count) => progress(done + count),
    });
    whole = whole === undefined ? part : sum(whole, part);
  }
  if (whole === undefined) throw new Error('a fault must happen once at least');
  return whole;
}

const sum = (one: Outcome, other: Outcome): Outcome => ({
  ...one,
  times: one.times + other.times,
  acknowledged: one.acknowledged + other.acknowledged,
  unanswered: one.unanswered + other.unanswered,
  refused: one.refused + other.refused,
  violations: [...one.violations, ...other.violations],
  notes: [...one.notes, ...other.notes],
});
