import { setTimeout as wait } from 'node:timers/promises';
import { sql } from 'kysely';
import { type Database, type DatabaseMeter, type Row, type Step, StoreUnavailable, type Work } from '../database.ts';
import type { MigrationOptions } from '../migrations/timeline.ts';
import { type Compiled, compile, one, type Statement } from '../statement.ts';
import { type Ask, connections, type Deadline, deadline } from './connections.ts';
import { postgresBuilder, rowsOf } from './dialect.ts';
import { isConflict, isConstraint, translate } from './errors.ts';
import { migratePostgres } from './migrate.ts';
import { PATIENCE, READERS, reaperPool, servicePool, WRITERS } from './pools.ts';
import { openPrimary } from './primary.ts';
import { reaper } from './reaper.ts';
import { sharedReads } from './shared-reads.ts';
import {
  checkServer,
  durabilityWarnings,
  explainConnectionError,
  failOverWarnings,
  requireDurableSettings,
} from './start.ts';

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
  const primary = openPrimary(url);
  const pool = reaperPool(primary);
  const reaping = reaper(pool);
  try {
    const server = await checkServer(pool);
    if (!risk.local) requireDurableSettings(server);
    const warnings = [...durabilityWarnings(server), ...(primary.several ? failOverWarnings(server) : [])];
    for (const { found, remedy } of warnings) risk.warn?.(`${found} ${remedy}`);
    await migratePostgres(url, options);
  } catch (error) {
    await reaping.close();
    await primary.close();
    throw explainConnectionError(error);
  }
  primary.watch();

  const { patience = PATIENCE } = risk;
  // A unit of work uses one of the two pools, and never waits for the other.
  const readers = connections(servicePool(primary, READERS, patience), primary, reaping);
  const writers = connections(servicePool(primary, WRITERS, patience), primary, reaping, readers.failures);
  const readShared = sharedReads(readers, meter);
  const written = new Map<Statement<never, unknown>, Compiled & { readonly name: string }>();
  let closed = false;
  const running = new Set<Promise<unknown>>();

  async function execute(ask: Ask, step: Step): Promise<readonly Row[]> {
    let query = written.get(step.statement);
    if (query === undefined) {
      query = { name: `write_${written.size}`, ...compile(step.statement, postgresBuilder) };
      written.set(step.statement, query);
    }
    const { name, sql, bind } = query;
    return rowsOf(await ask({ name, text: sql, values: bind(step.params) }));
  }

  /**
   * Runs a unit of work as a transaction. Statements without results (BEGIN, commands, COMMIT) are sent without waiting for earlier answers.
   * PostgreSQL runs them in order, and nothing after one that failed.
   */
  const transaction = <T>(work: () => Work<T>, until: Deadline): Promise<T> =>
    writers.lend(until, async (ask) => {
      const sent: Promise<unknown>[] = [];
      function ahead(answer: Promise<unknown>): readonly Row[] {
        answer.catch(() => {});
        sent.push(answer);
        return [];
      }
      try {
        ahead(ask({ text: 'BEGIN' }));
        const result = await drive(work(), (step) => (step.effect ? ahead(execute(ask, step)) : execute(ask, step)));
        const began = performance.now();
        const commit = ask({ text: 'COMMIT' });
        ahead(commit);
        for (const answer of sent) await answer;
        // An earlier failure is reported by its own answer; COMMIT would only answer ROLLBACK, without an error.
        if ((await commit).command !== 'COMMIT') throw new Error('a transaction was not committed');
        meter?.committed(1, (performance.now() - began) / 1000);
        return result;
      } catch (error) {
        // Not sent if an answer is missing: it would wait behind that. Such a connection is closed, which rolls back.
        await ask({ text: 'ROLLBACK' }).catch(() => {});
        // Later statements failed only because of the first failure, so that one is reported.
        for (const answer of sent) await answer;
        throw error;
      }
    });

  async function retried<T>(work: () => Work<T>): Promise<T> {
    const until = deadline(patience);
    for (let attempt = 1; ; attempt++) {
      try {
        return await transaction(work, until);
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
    running.add(promise);
    const forget = () => void running.delete(promise);
    promise.then(forget, forget);
    return promise;
  }

  const reading = <T>(read: () => Promise<T>): Promise<T> =>
    tracked(async () => {
      try {
        return await read();
      } catch (error) {
        throw translate(error);
      }
    });

  return {
    read: (work) => reading(() => drive(work(), readShared)),
    commit: (work) => tracked(() => retried(work)),
    sharedTime: () => reading(async () => Number((await drive(serverTime({}), readShared))?.now ?? Number.NaN)),
    load() {
      const [read, write] = [readers.load(), writers.load()];
      return { waiting: read.waiting + write.waiting, connections: { read, write } };
    },
    // Managed by the server: replicas and archives consist of its WAL.
    async emptyJournal() {},
    async close() {
      if (closed) return;
      closed = true;
      await Promise.allSettled(running);
      await Promise.all([readers.close(), writers.close(), reaping.close()]);
      await primary.close();
    },
  };
}

type Run = (step: Step) => Promise<readonly Row[]> | readonly Row[];

async function drive<T>(work: Work<T>, run: Run): Promise<T> {
  let step = work.next();
  while (!step.done) step = work.next(await run(step.value));
  return step.value;
}
