import { setTimeout as wait } from 'node:timers/promises';
import { sql } from 'kysely';
import { type Database, type DatabaseMeter, type Row, type Step, StoreUnavailable, type Work } from '../database.ts';
import type { MigrationOptions } from '../migrations/timeline.ts';
import { type Compiled, compile, one, type Statement } from '../statement.ts';
import { connections, type Deadline, deadline } from './connections.ts';
import { postgresBuilder } from './dialect.ts';
import { isConflict, isConstraint, translate } from './errors.ts';
import { indexBuilder } from './index-builder.ts';
import { jointCommits } from './joint-commits.ts';
import { type Added, isAnswerTo } from './joint-queries.ts';
import { askStanding, recordServer, standingWarnings, tellsIdentity } from './known-server.ts';
import { migratePostgres } from './migrate.ts';
import { PATIENCE, poolerOf, reaperPool, servicePool } from './pools.ts';
import { openPrimary } from './primary.ts';
import { ReadableQuery } from './readable-query.ts';
import { reaper } from './reaper.ts';
import type { Standing } from './rules/known-server.ts';
import { FULL, type PoolSizes, poolsFor, roomWarnings } from './rules/room.ts';
import { sharedReads } from './shared-reads.ts';
import { sharedStatements } from './shared-statements.ts';
import {
  askRoom,
  checkServer,
  durabilityWarnings,
  explainConnectionError,
  failOverWarnings,
  requireDurableSettings,
  timelineWarnings,
} from './start.ts';
import { tableParts } from './table-parts.ts';
import { transaction } from './transaction.ts';

/** How often a unit of work is run after conflicts with others before it fails. */
const MAX_ATTEMPTS = 12;

const serverTime = one((db, _p: object) =>
  db.selectNoFrom(sql<number>`(extract(epoch FROM clock_timestamp()) * 1000)::float8`.as('now')),
);

/** How a start treats a server that may lose acknowledged changes. */
export interface RiskOptions {
  /** Whether only this machine is served, as in development: then unsafe settings are accepted. */
  readonly local: boolean;
  warn?(text: string): void;
  /** How long a unit of work may take, in milliseconds; that of a server by default. */
  readonly patience?: number | undefined;
  /** How many processes share the connections of the server; this one alone by default. */
  readonly processes?: number;
  /** Whether to open data of an earlier time, in order to end what was issued before. */
  readonly acceptsLoss?: boolean;
}

/**
 * Opens (and migrates) a PostgreSQL database.
 *
 * Reads of one turn of the event loop share round trips. A unit of work that writes is a transaction at READ COMMITTED; its invariants rely
 * on row locks, conditional updates and constraints. It is run again after a deadlock or a serialization failure.
 */
export async function openPostgres(
  url: string,
  options?: MigrationOptions,
  meter?: DatabaseMeter,
  risk: RiskOptions = { local: true },
): Promise<Database> {
  const { patience = PATIENCE, acceptsLoss = false, processes = 1 } = risk;
  const primary = openPrimary(url, { acceptsLoss });
  const pool = reaperPool(primary);
  const reaping = reaper(pool);
  let tells: boolean;
  let sizes: PoolSizes = FULL;
  try {
    const server = await checkServer(pool);
    if (!risk.local) requireDurableSettings(server);
    const warnings = [
      ...durabilityWarnings(server),
      ...timelineWarnings(primary.tellsTimeline()),
      ...(primary.several ? failOverWarnings(server) : []),
    ];
    const client = await pool.connect();
    const isPooled = poolerOf(client) !== undefined;
    client.release();
    // A pooler alone knows how many it may open.
    if (!isPooled) {
      const room = await askRoom(pool);
      sizes = poolsFor(room, processes);
      warnings.push(...roomWarnings(room, processes));
    }
    for (const { found, remedy } of warnings) risk.warn?.(`${found} ${remedy}`);
    await migratePostgres(url, options, { acceptsLoss });
    tells = await tellsIdentity(pool);
  } catch (error) {
    await reaping.close();
    await primary.close();
    throw explainConnectionError(error);
  }
  primary.watch();

  // A unit of work uses one of the two pools, and never waits for the other.
  const readers = connections(servicePool(primary, sizes.readers, patience), primary, reaping);
  const writers = connections(servicePool(primary, sizes.writers, patience), primary, reaping, readers.failures);
  const indexes = indexBuilder(primary);
  const readShared = sharedReads(readers, meter);
  const written = new Map<Statement<never, unknown>, Pick<Compiled, 'bind'> & { readonly query: ReadableQuery }>();
  let closed = false;
  // A number, because a table of promises is replaced again and again, and each table keeps those after it alive until the next full
  // garbage collection, with all requests in them.
  let running = 0;
  const { promise: drained, resolve: drain } = Promise.withResolvers<void>();
  const ended = (): void => {
    running--;
    if (closed && running === 0) drain();
  };

  function writing(statement: Step['statement']) {
    let known = written.get(statement);
    if (known === undefined) {
      const { sql, bind } = compile(statement, postgresBuilder);
      known = { query: new ReadableQuery(`write_${written.size}`, sql), bind };
      written.set(statement, known);
    }
    return known;
  }

  const alone = <T>(work: () => Work<T>, until: Deadline, added: readonly Added[]): Promise<T> =>
    writers.lend(until, (connection) =>
      transaction(connection, { meter }, (ask, sendAhead) => {
        const open = [...added];
        return drive(work(), (step) => {
          const index = open.findIndex((one) => isAnswerTo(one, step));
          if (index !== -1) return open.splice(index, 1)[0]?.rows ?? [];
          const { query, bind } = writing(step.statement);
          const sent = ask(query.with(bind(step.params)));
          if (!step.effect) return sent.then((answer) => query.rowsOf(answer));
          sendAhead(sent);
          return [];
        });
      }),
    );

  async function retried<T>(work: () => Work<T>, until: Deadline, added: readonly Added[]): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await alone(work, until, added);
      } catch (error) {
        if (!isConflict(error)) throw translate(error);
        // A constraint that fails every time is a bug, not a conflict.
        if (attempt === MAX_ATTEMPTS && isConstraint(error)) throw error;
        if (attempt === MAX_ATTEMPTS)
          throw new StoreUnavailable('too many conflicts with other writers', { cause: error });
        meter?.retried();
        // Jitter, so that the conflicting transactions do not meet again.
        await wait(Math.random() * 2 ** Math.min(attempt, 6));
      }
    }
  }

  function tracked<T>(run: () => Promise<T>): Promise<T> {
    if (closed) return Promise.reject(new StoreUnavailable('the database is closed'));
    const promise = run();
    running++;
    promise.then(ended, ended);
    return promise;
  }

  const joint = jointCommits(writers, sharedStatements(readers, 'joint'), retried, meter);

  /** Records the server where none is recorded yet, and one that is known to have taken over with all data. */
  async function learnServer(): Promise<Standing | undefined> {
    if (!tells) return undefined;
    const standing = await askStanding(pool);
    const isComplete = standing === undefined || standing.kind === 'promoted' || standing.kind === 'upgraded';
    // If it takes no writes now, the next start records it.
    if (isComplete) await joint.commit(() => recordServer({}), deadline(patience)).catch(() => {});
    return standing;
  }

  const reading = <T>(read: () => Promise<T>): Promise<T> =>
    tracked(async () => {
      try {
        return await read();
      } catch (error) {
        throw translate(error);
      }
    });

  const database: Database = {
    read: (work) => reading(() => drive(work(), readShared)),
    commit: (work) => tracked(() => joint.commit(work, deadline(patience))),
    sharedTime: () => reading(async () => Number((await drive(serverTime({}), readShared))?.now ?? Number.NaN)),
    *recordServer() {
      if (tells) yield* recordServer({});
    },
    auditParts: tableParts('audit_event', indexes.build),
    load() {
      const [read, write] = [readers.load(), writers.load()];
      return { waiting: joint.waiting() + read.waiting + write.waiting, connections: { read, write } };
    },
    // Managed by the server: replicas and archives consist of its WAL.
    async emptyJournal() {},
    async close() {
      if (closed) return;
      closed = true;
      if (running > 0) await drained;
      await Promise.all([readers.close(), writers.close(), indexes.close(), reaping.close()]);
      await primary.close();
    },
  };
  try {
    for (const { found, remedy } of standingWarnings(await learnServer())) risk.warn?.(`${found} ${remedy}`);
  } catch (error) {
    await database.close();
    throw explainConnectionError(error);
  }
  primary.onReplaced(() => void tracked(learnServer).catch(() => {}));
  return database;
}

type Run = (step: Step) => Promise<readonly Row[]> | readonly Row[];

async function drive<T>(work: Work<T>, run: Run): Promise<T> {
  let step = work.next();
  while (!step.done) step = work.next(await run(step.value));
  return step.value;
}
