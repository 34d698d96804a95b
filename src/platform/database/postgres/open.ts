import { setTimeout as wait } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Pool } from 'pg';
import { type Database, type DatabaseMeter, type Row, type Step, StoreUnavailable, type Work } from '../database.ts';
import type { MigrationOptions } from '../migrations/migrate.ts';
import { type Compiled, compile, one, type Statement } from '../statement.ts';
import { type Connections, connections, type Deadline, deadline } from './connections.ts';
import { postgresBuilder } from './dialect.ts';
import { isConflict, isConstraint, translate } from './errors.ts';
import { indexBuilder } from './index-builder.ts';
import { jointCommits } from './joint-commits.ts';
import { type Added, isAnswerTo } from './joint-queries.ts';
import { askStanding, recordServer, standingWarnings, tellsIdentity } from './known-server.ts';
import { migratePostgres } from './migrate.ts';
import { PATIENCE, poolerOf, reaperPool, servicePool } from './pools.ts';
import { openPrimary, type Primary } from './primary.ts';
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
  options: MigrationOptions,
  meter?: DatabaseMeter,
  risk: RiskOptions = { local: true },
): Promise<Database> {
  const { patience = PATIENCE, acceptsLoss = false } = risk;
  const primary = openPrimary(url, { acceptsLoss });
  const pool = reaperPool(primary);
  const reaping = reaper(pool);
  let tells: boolean;
  let sizes: PoolSizes;
  try {
    sizes = await checkStart(primary, pool, risk);
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
  const writers = connections(servicePool(primary, sizes.writers, patience), primary, reaping, () =>
    readers.failures(),
  );
  const indexes = indexBuilder(primary);
  const readShared = sharedReads(readers, meter);
  const alone = new OwnTransactions(writers, meter);
  const joint = jointCommits(writers, sharedStatements(readers, 'joint'), (...unit) => alone.run(...unit), meter);
  const tasks = new RunningTasks();

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
    tasks.run(async () => {
      try {
        return await read();
      } catch (error) {
        throw translate(error);
      }
    });

  const database: Database = {
    read: (work) => reading(() => drive(work(), readShared)),
    commit: (work) => tasks.run(() => joint.commit(work, deadline(patience))),
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
      if (tasks.closed) return;
      await tasks.close();
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
  primary.onReplaced(() => void tasks.run(learnServer).catch(() => {}));
  return database;
}

/** Checks the server, and warns of what puts the data at risk. @returns how many connections there may be */
async function checkStart(primary: Primary, pool: Pool, risk: RiskOptions): Promise<PoolSizes> {
  const { local, processes = 1, warn } = risk;
  const server = await checkServer(pool);
  if (!local) requireDurableSettings(server);
  const warnings = [
    ...durabilityWarnings(server),
    ...timelineWarnings(primary.tellsTimeline()),
    ...(primary.several ? failOverWarnings(server) : []),
  ];
  const client = await pool.connect();
  const isPooled = poolerOf(client) !== undefined;
  client.release();
  // A pooler alone knows how many it may open.
  const room = isPooled ? undefined : await askRoom(pool);
  if (room !== undefined) warnings.push(...roomWarnings(room, processes));
  for (const { found, remedy } of warnings) warn?.(`${found} ${remedy}`);
  return room === undefined ? FULL : poolsFor(room, processes);
}

/** Runs units of work, each in a transaction for it alone. */
class OwnTransactions {
  readonly #writers: Connections;
  readonly #meter: DatabaseMeter | undefined;
  readonly #prepared = new Map<Statement<never, unknown>, Pick<Compiled, 'bind'> & { readonly query: ReadableQuery }>();

  constructor(writers: Connections, meter: DatabaseMeter | undefined) {
    this.#writers = writers;
    this.#meter = meter;
  }

  /** Runs it again after a conflict with others. */
  async run<T>(work: () => Work<T>, until: Deadline, added: readonly Added[]): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#runOnce(work, until, added);
      } catch (error) {
        if (!isConflict(error)) throw translate(error);
        // A constraint that fails every time is a bug, not a conflict.
        if (attempt === MAX_ATTEMPTS && isConstraint(error)) throw error;
        if (attempt === MAX_ATTEMPTS)
          throw new StoreUnavailable('too many conflicts with other writers', { cause: error });
        this.#meter?.retried();
        // Jitter, so that the conflicting transactions do not meet again.
        await wait(Math.random() * 2 ** Math.min(attempt, 6));
      }
    }
  }

  #runOnce<T>(work: () => Work<T>, until: Deadline, added: readonly Added[]): Promise<T> {
    return this.#writers.lend(until, (connection) =>
      transaction(connection, { meter: this.#meter }, (ask, sendAhead) => {
        const open = [...added];
        return drive(work(), (step) => {
          const index = open.findIndex((one) => isAnswerTo(one, step));
          if (index !== -1) return open.splice(index, 1)[0]?.rows ?? [];
          const { query, bind } = this.#queryFor(step.statement);
          const sent = ask(query.with(bind(step.params)));
          if (!step.effect) return sent.then((answer) => query.rowsOf(answer));
          sendAhead(sent);
          return [];
        });
      }),
    );
  }

  #queryFor(statement: Step['statement']) {
    let known = this.#prepared.get(statement);
    if (known === undefined) {
      const { sql, bind } = compile(statement, postgresBuilder);
      known = { query: new ReadableQuery(`write_${this.#prepared.size}`, sql), bind };
      this.#prepared.set(statement, known);
    }
    return known;
  }
}

/** What runs on the database, which a close waits for. */
class RunningTasks {
  closed = false;
  // A number, because a table of promises is replaced again and again, and each table keeps those after it alive until the next full
  // garbage collection, with all requests in them.
  #running = 0;
  readonly #drained = Promise.withResolvers<void>();

  run<T>(task: () => Promise<T>): Promise<T> {
    if (this.closed) return Promise.reject(new StoreUnavailable('the database is closed'));
    const promise = task();
    this.#running++;
    const ended = () => this.#end();
    promise.then(ended, ended);
    return promise;
  }

  /** Lets nothing more begin, and waits for what runs. */
  async close(): Promise<void> {
    this.closed = true;
    if (this.#running > 0) await this.#drained.promise;
  }

  #end(): void {
    this.#running--;
    if (this.closed && this.#running === 0) this.#drained.resolve();
  }
}

type Run = (step: Step) => Promise<readonly Row[]> | readonly Row[];

async function drive<T>(work: Work<T>, run: Run): Promise<T> {
  let step = work.next();
  while (!step.done) step = work.next(await run(step.value));
  return step.value;
}
