import { setTimeout as wait } from 'node:timers/promises';
import { PostgresDialect } from 'kysely';
import { Pool, type PoolClient } from 'pg';
import { type Database, type Row, type Step, StoreUnavailable, type Work } from '../database.ts';
import { migrate } from '../migrations/timeline.ts';
import { bind, compile, type Statement } from '../statement.ts';
import { builder, columnTypes, rowsOf } from './dialect.ts';
import { isConflict, isConstraint, translate } from './errors.ts';
import { sharedReads } from './shared-reads.ts';
import { checkServer, explainStart } from './start.ts';

const SECOND = 1000;

/** How often a unit of work is run again after a conflict with another, before the caller is told to come back. */
const ATTEMPTS = 12;

/**
 * Opens (and migrates) a PostgreSQL database.
 *
 * A unit that reads shares its round trips with the others of its turn. A unit that writes is a transaction at READ
 * COMMITTED; what must hold there rests on row locks, conditional updates and constraints, and a unit that meets a
 * deadlock or a serialization failure is run again.
 */
export async function openPostgres(url: string): Promise<Database> {
  const pool = new Pool({
    connectionString: url,
    max: 16,
    application_name: 'tessera',
    connectionTimeoutMillis: 5 * SECOND,
    query_timeout: 10 * SECOND,
    idle_in_transaction_session_timeout: 30 * SECOND,
    keepAlive: true,
  });
  // An idle connection that breaks leaves the pool by itself; the next query opens another.
  pool.on('error', () => {});
  try {
    await checkServer(pool);
    await migrate(new PostgresDialect({ pool: unending(pool) }), columnTypes);
  } catch (error) {
    await pool.end();
    throw explainStart(error);
  }

  const readShared = sharedReads(pool);
  const written = new Map<Statement<never, unknown>, { name: string; sql: string; parameters: readonly unknown[] }>();
  let closed = false;
  const running = new Set<Promise<unknown>>();

  async function execute(client: PoolClient, step: Step): Promise<readonly Row[]> {
    let query = written.get(step.statement);
    if (query === undefined) {
      query = { name: `write_${written.size}`, ...compile(step.statement, builder) };
      written.set(step.statement, query);
    }
    const { name, sql, parameters } = query;
    return rowsOf(await client.query({ name, text: sql, values: bind(parameters, step.params) }));
  }

  async function transaction<T>(work: () => Work<T>): Promise<T> {
    const client = await pool.connect();
    let broken = false;
    try {
      await client.query('BEGIN');
      try {
        const result = await drive(work(), (step) => execute(client, step));
        await client.query('COMMIT');
        return result;
      } catch (error) {
        // A connection that cannot roll back is not given to anybody else.
        await client.query('ROLLBACK').catch(() => {
          broken = true;
        });
        throw error;
      }
    } finally {
      client.release(broken);
    }
  }

  async function retried<T>(work: () => Work<T>): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await transaction(work);
      } catch (error) {
        if (!isConflict(error)) throw translate(error);
        // A fault of ours that looks like a conflict each time is a fault all the same.
        if (attempt === ATTEMPTS && isConstraint(error)) throw error;
        if (attempt === ATTEMPTS) throw new StoreUnavailable('too many conflicts with other writers', { cause: error });
        // Jitter: those who met each other must not meet again.
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

  return {
    read: (work) =>
      tracked(async () => {
        try {
          return await drive(work(), readShared);
        } catch (error) {
          throw translate(error);
        }
      }),
    commit: (work) => tracked(() => retried(work)),
    async close() {
      if (closed) return;
      closed = true;
      await Promise.allSettled(running);
      await pool.end();
    },
  };
}

async function drive<T>(work: Work<T>, run: (step: Step) => Promise<readonly Row[]>): Promise<T> {
  let step = work.next();
  while (!step.done) step = work.next(await run(step.value));
  return step.value;
}

/** The pool for the migrator, which would otherwise end it with itself. */
const unending = (pool: Pool) => ({ connect: () => pool.connect(), end: async () => {}, options: {} });
