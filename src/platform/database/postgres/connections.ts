import { DatabaseError, type Pool, type PoolClient, type QueryConfig, type QueryResult } from 'pg';
import { type ConnectionLoad, StoreUnavailable } from '../database.ts';
import { isLast, leavesUnusable } from './errors.ts';
import { type Opened, throughPooler } from './pooler.ts';
import { backendOf, cut, gather, ledTo, PATIENCE, poolerOf } from './pools.ts';
import type { Primary } from './primary.ts';
import type { Reaper } from './reaper.ts';

/** When a caller stops waiting, by `performance.now()`. */
export type Deadline = number;

export const deadline = (patience = PATIENCE): Deadline => performance.now() + patience;

/**
 * When a caller must have a connection. Under a load that is too high, callers would otherwise get one so late that they fail, and the
 * connection with them, so that nobody is served.
 */
export function startBy(until: Deadline): Deadline {
  const now = performance.now();
  return now + 0.8 * (until - now);
}

/** Sends a query on one connection and waits for its answer. */
export type Ask = (query: QueryConfig) => Promise<QueryResult>;

/** A set of connections to the database. */
export interface Connections {
  /**
   * Lends a connection to `use`, until the promise of that settles.
   * @throws {StoreUnavailable} when there is no connection, or no answer on it, before the deadline
   */
  lend<T>(until: Deadline, use: (ask: Ask) => Promise<T>): Promise<T>;
  load(): ConnectionLoad;
  /** How many failures there have been. */
  failures(): number;
  close(): Promise<void>;
}

/** How long a connection may be idle before it is closed, in milliseconds. */
const MAX_IDLE = 10_000;

/** The maximum age of a connection, in milliseconds. */
const MAX_AGE = 60_000;

/** The state of a connection. */
interface ConnectionState {
  /** The number of failures when it last answered. */
  answered: number;
  readonly madeAt: number;
  usedAt: number;
  /** How many warnings it has received. */
  warnings: number;
  /** How many queries the server has not answered; 0 once it has closed the connection. */
  open: number;
}

const isEnd = ({ text = '' }: QueryConfig): boolean => ['COMMIT', 'ROLLBACK'].includes(text);

export const unanswered = (): StoreUnavailable => new StoreUnavailable('the database did not answer in time');
const unreplicated = () =>
  new StoreUnavailable('the wait for the standby was canceled on the server: the commit may be lost with the primary');
const replacedPrimary = () =>
  new StoreUnavailable('another server became the primary meanwhile: what the former one answered does not count');
const ledElsewhere = () =>
  new StoreUnavailable(
    'the pooler led to another server, or the server was restarted: it is checked on a new connection',
  );

/**
 * Lends the connections of a pool, and none that may be dead: when one fails, all that were idle at that time are closed, so that an
 * outage ends for all callers with the first new connection.
 *
 * A closed connection keeps its place in the pool until the server has terminated it. A commit that waits for a standby does not notice
 * that its client is gone: if new connections took its place, they would eventually use up all connections of the server.
 *
 * @param elsewhere counts failures of other connections after which these are not trusted, either: a blocked read is an outage, while a
 * blocked commit does not affect reads
 */
export function connections(pool: Pool, primary: Primary, reaper: Reaper, elsewhere?: () => number): Connections {
  /** A connection that last answered before the latest failure is not trusted. */
  let own = 0;
  const failures = (): number => own + (elsewhere?.() ?? 0);
  const states = new WeakMap<PoolClient, ConnectionState>();
  /** The connections being closed, each with a function that stops waiting for that. */
  const retired = new Map<PoolClient, () => void>();
  const trusted = (client: PoolClient, state: ConnectionState | undefined): state is ConnectionState =>
    state?.answered === failures() && primary.trusts(client);
  pool.on('connect', (client) => {
    const state: ConnectionState = {
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
  primary.onReplaced(() => {
    // The places are for the new primary, which knows nothing of the backends of the former one.
    for (const [client, giveUp] of retired) if (!primary.trusts(client)) giveUp();
  });
  const sweeping = setInterval(sweep, MAX_IDLE).unref();

  async function take(until: Deadline): Promise<{ client: PoolClient; state: ConnectionState }> {
    const latest = startBy(until);
    for (;;) {
      const client = await before(latest, pool.connect());
      const state = states.get(client);
      if (trusted(client, state)) return { client, state };
      retire(client);
    }
  }

  /** Closes idle connections that are not trusted or have been idle for too long. */
  function sweep(): void {
    const usedAfter = performance.now() - MAX_IDLE;
    const check = (client: PoolClient): void => {
      const state = states.get(client);
      if (trusted(client, state) && state.usedAt > usedAfter) client.release();
      else retire(client);
    };
    for (let idle = pool.idleCount; idle > 0; idle--) pool.connect().then(check, () => {});
  }

  /**
   * Closes a connection once its queries have been answered, or its backend is terminated. A closed socket is not enough: a proxy may have
   * closed it.
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
    if (!primary.trusts(client)) giveUp();
    void client
      .end()
      .then(() => (states.get(client)?.open === 0 ? undefined : gone))
      .then(() => {
        forget?.();
        retired.delete(client);
        client.release(true);
      });
    // A pooler has not led it to a backend yet, so none is left behind.
    if (backend === undefined) giveUp();
  }

  return {
    async lend(until, use) {
      const { client, state } = await take(until);
      const { warnings } = state;
      const waiting = new Set<(error: Error) => void>();
      let broken = false;
      let asked = false;
      const timer = setTimeout(
        () => {
          broken = true;
          for (const reject of waiting) reject(unanswered());
        },
        Math.max(0, until - performance.now()),
      );
      const ask: Ask = (query) =>
        new Promise((resolve, reject) => {
          if (broken || performance.now() >= until) {
            // A transaction may be open, unless the caller had waited too long before.
            broken = asked;
            reject(unanswered());
            return;
          }
          asked = true;
          waiting.add(reject);
          state.open++;
          const answered = primary.sent(elsewhere === undefined);
          gather(client);
          client.query(query).then(
            async (result) => {
              state.open--;
              const confirmed = answered();
              if (confirmed !== undefined) await confirmed;
              waiting.delete(reject);
              if (!primary.trusts(client)) {
                broken = true;
                return reject(replacedPrimary());
              }
              if (query.text !== 'COMMIT' || state.warnings === warnings) return resolve(result);
              broken = true;
              reject(unreplicated());
            },
            async (error: Error) => {
              const answer = error instanceof DatabaseError;
              if (answer) state.open = isLast(error) ? 0 : state.open - 1;
              // Without an answer, or after a fatal error, the state of the connection is unknown. A transaction whose end was canceled may
              // still be open: the next one would commit what it wrote.
              if (!answer || leavesUnusable(error) || isEnd(query)) broken = true;
              const confirmed = answered();
              if (answer && confirmed !== undefined) await confirmed;
              waiting.delete(reject);
              if (primary.trusts(client)) return reject(error);
              broken = true;
              reject(answer ? replacedPrimary() : error);
            },
          );
        });
      const pooled = poolerOf(client);
      const check = ({ pid, began, started }: Opened): void => {
        ledTo(client, { pid, began });
        if (started === pooled?.started) return;
        broken = true;
        throw ledElsewhere();
      };
      try {
        return await use(pooled === undefined ? ask : throughPooler(ask, pooled.opening, check));
      } finally {
        clearTimeout(timer);
        if (broken) {
          own++;
          retire(client);
          sweep();
        } else {
          state.answered = failures();
          state.usedAt = performance.now();
          // The name may lead to another server by now: a new connection checks again that it is the primary.
          if (state.usedAt - state.madeAt > MAX_AGE) retire(client);
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

/** The server sends this warning with a commit that its standby does not have: https://www.postgresql.org/docs/current/errcodes-appendix.html */
const WARNING = '01000';

/** Waits for a connection until the deadline; one that arrives later returns to the pool. */
function before(until: Deadline, connecting: Promise<PoolClient>): Promise<PoolClient> {
  return new Promise((resolve, reject) => {
    let waiting = true;
    const timer = setTimeout(
      () => {
        waiting = false;
        reject(unanswered());
      },
      Math.max(0, until - performance.now()),
    );
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
