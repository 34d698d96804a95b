import { DatabaseError, type Pool, type PoolClient, type QueryConfig, type QueryResult } from 'pg';
import { type ConnectionLoad, StoreUnavailable } from '../database.ts';
import { isLast, leavesUnusable } from './errors.ts';
import { backendOf, cut, PATIENCE } from './pools.ts';
import type { Reaper } from './reaper.ts';

/** The moment, by the clock of the process, at which a caller has waited long enough. */
export type Deadline = number;

export const deadline = (): Deadline => performance.now() + PATIENCE;

/** Sends a query on one connection and waits for its answer. */
export type Ask = (query: QueryConfig) => Promise<QueryResult>;

/** Connections of this process to its database, for one purpose. */
export interface Connections {
  /**
   * Lends a connection to `use`, which is to be done with it when its promise settles.
   * @throws {StoreUnavailable} where there is none, or no answer on it, before the deadline
   */
  lend<T>(until: Deadline, use: (ask: Ask) => Promise<T>): Promise<T>;
  load(): ConnectionLoad;
  /** How often one of them has failed. */
  failures(): number;
  close(): Promise<void>;
}

/** For how long a connection may be idle before it is closed, in milliseconds. */
const IDLE = 10_000;

/** For how long one is used at most, in milliseconds, however busy it is. */
const LONGEST_LIFE = 60_000;

/** What is known of a connection. */
interface State {
  /** How many failures there had been when it answered last. */
  answered: number;
  readonly madeAt: number;
  usedAt: number;
  /** How many warnings it has brought. */
  warnings: number;
  /** How many queries the server has not answered; none once it has said its last. */
  open: number;
}

const unanswered = () => new StoreUnavailable(`the database did not answer within ${PATIENCE / 1000} seconds`);
const unreplicated = () =>
  new StoreUnavailable('the wait for the standby was ended on the server: the commit may be lost with the primary');

/**
 * Lends the connections of a pool, and none that may be dead: when one of them fails, all that were idle at that time
 * are closed, so that an outage ends for everybody with the first new connection.
 *
 * One that is closed keeps its place until the server has ended it. A commit that waits for a standby takes no notice of a
 * client that has gone: if others took its place, they would in the end take every connection of the server.
 *
 * @param elsewhere counts failures of other connections that these are not to be trusted after, either: what keeps a commit
 * waiting does not concern a read, and what keeps a read waiting is an outage
 */
export function connections(pool: Pool, reaper: Reaper, elsewhere: () => number = () => 0): Connections {
  /** Counts the failures; a connection that answered last before the latest is not trusted. */
  let own = 0;
  const failures = (): number => own + elsewhere();
  const states = new WeakMap<PoolClient, State>();
  /** Those that are to be closed, each with what gives up waiting for that. */
  const retired = new Map<PoolClient, () => void>();
  pool.on('connect', (client) => {
    const state: State = {
      answered: failures(),
      madeAt: performance.now(),
      usedAt: performance.now(),
      warnings: 0,
      open: 0,
    };
    states.set(client, state);
    client.on('notice', ({ code }) => {
      if (code === WARNING) state.warnings++;
    });
  });
  const sweeping = setInterval(sweep, IDLE).unref();

  async function take(until: Deadline): Promise<{ client: PoolClient; state: State }> {
    for (;;) {
      const client = await before(until, pool.connect());
      const state = states.get(client);
      if (state?.answered === failures()) return { client, state };
      retire(client);
    }
  }

  /** Closes what is idle and not trusted, or has been idle for long. */
  function sweep(): void {
    const usedAfter = performance.now() - IDLE;
    const check = (client: PoolClient): void => {
      const state = states.get(client);
      if (state?.answered === failures() && state.usedAt > usedAfter) client.release();
      else retire(client);
    };
    for (let idle = pool.idleCount; idle > 0; idle--) pool.connect().then(check, () => {});
  }

  /**
   * Closes a connection when what was asked on it is answered. That it was cut says nothing of the server's end: a proxy may
   * have done so.
   */
  function retire(client: PoolClient): void {
    const { promise: gone, resolve } = Promise.withResolvers<void>();
    const giveUp = (): void => {
      cut(client);
      resolve();
    };
    retired.set(client, giveUp);
    const backend = backendOf(client);
    const forget = backend && reaper.watch(backend, giveUp);
    void client
      .end()
      .then(() => (states.get(client)?.open === 0 ? undefined : gone))
      .then(() => {
        forget?.();
        retired.delete(client);
        client.release(true);
      });
  }

  return {
    async lend(until, use) {
      const { client, state } = await take(until);
      const { warnings } = state;
      const waiting = new Set<(error: Error) => void>();
      let broken = false;
      const timer = setTimeout(() => {
        broken = true;
        for (const reject of waiting) reject(unanswered());
      }, until - performance.now());
      const ask: Ask = (query) =>
        new Promise((resolve, reject) => {
          if (broken || performance.now() >= until) {
            broken = true;
            reject(unanswered());
            return;
          }
          waiting.add(reject);
          state.open++;
          client.query(query).then(
            (result) => {
              waiting.delete(reject);
              state.open--;
              if (query.text !== 'COMMIT' || state.warnings === warnings) return resolve(result);
              broken = true;
              reject(unreplicated());
            },
            (error: Error) => {
              waiting.delete(reject);
              const answer = error instanceof DatabaseError;
              if (answer) state.open = isLast(error) ? 0 : state.open - 1;
              // Without an answer, or after the server's last, there is no telling where the connection stands.
              if (!answer || leavesUnusable(error)) broken = true;
              reject(error);
            },
          );
        });
      try {
        return await use(ask);
      } finally {
        clearTimeout(timer);
        if (broken) {
          own++;
          retire(client);
          sweep();
        } else {
          state.answered = failures();
          state.usedAt = performance.now();
          // What a name or an address leads to may have changed: the next connection proves again that it is the primary.
          if (state.usedAt - state.madeAt > LONGEST_LIFE) retire(client);
          else client.release();
        }
      }
    },
    load: () => ({
      waiting: pool.waitingCount,
      busy: pool.totalCount - pool.idleCount - retired.size,
      idle: pool.idleCount,
      unanswered: retired.size,
    }),
    failures,
    async close() {
      clearInterval(sweeping);
      for (const giveUp of retired.values()) giveUp();
      await pool.end();
    },
  };
}

/** What the server says with a commit that nobody but itself has: https://www.postgresql.org/docs/current/errcodes-appendix.html */
const WARNING = '01000';

/** A connection that comes before the deadline; one that comes later is for whoever asks next. */
function before(until: Deadline, connecting: Promise<PoolClient>): Promise<PoolClient> {
  return new Promise((resolve, reject) => {
    let waiting = true;
    const timer = setTimeout(() => {
      waiting = false;
      reject(unanswered());
    }, until - performance.now());
    connecting.then(
      (client) => {
        clearTimeout(timer);
        if (waiting) resolve(client);
        else client.release();
      },
      (error: unknown) => {
        clearTimeout(timer);
        reject(error);
      },
    );
  });
}
