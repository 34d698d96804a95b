import { DatabaseError, type Pool, type PoolClient, type QueryConfig, type QueryResult } from 'pg';
import { type ConnectionLoad, StoreUnavailable } from '../database.ts';
import { isLast, leavesUnusable } from './errors.ts';
import { type Opened, throughPooler } from './pooler.ts';
import { backendOf, cut, gather, PATIENCE, poolerOf, recordBackend } from './pools.ts';
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
const reachedAnotherServer = () =>
  new StoreUnavailable(
    'the pooler led to another server, or the server was restarted: it is checked on a new connection',
  );

/**
 * Lends the connections of a pool, and none that may be dead: when one fails, all that were idle at that time are closed, so that an
 * outage ends for all callers with the first new connection.
 *
 * A closed connection keeps its place in the pool until the server has terminated it. A commit that waits for a standby does not notice
 * that its client is gone: if new connections took its place, they would eventually use up all connections of the server.
 */
class LentConnections implements Connections {
  readonly #pool: Pool;
  readonly #primary: Primary;
  readonly #reaper: Reaper;
  readonly #elsewhere: (() => number) | undefined;
  readonly #states = new WeakMap<PoolClient, ConnectionState>();
  /** The connections being closed, each with a function that stops waiting for that. */
  readonly #retired = new Map<PoolClient, () => void>();
  readonly #sweeping = setInterval(() => this.#sweep(), MAX_IDLE).unref();
  /** A connection that last answered before the latest failure is not trusted. */
  #failures = 0;

  constructor(pool: Pool, primary: Primary, reaper: Reaper, elsewhere: (() => number) | undefined) {
    this.#pool = pool;
    this.#primary = primary;
    this.#reaper = reaper;
    this.#elsewhere = elsewhere;
    pool.on('connect', (client) => this.#made(client));
    primary.onReplaced(() => {
      // The places are for the new primary, which knows nothing of the backends of the former one.
      for (const [client, giveUp] of this.#retired) if (!primary.trusts(client)) giveUp();
    });
  }

  async lend<T>(until: Deadline, use: (ask: Ask) => Promise<T>): Promise<T> {
    const { client, state } = await this.#take(until);
    const loan = new Loan(client, state, this.#primary, until, this.#elsewhere === undefined);
    try {
      return await use(loan.asking());
    } finally {
      this.#takeBack(client, state, loan.end());
    }
  }

  load(): ConnectionLoad {
    const { waitingCount, totalCount, idleCount } = this.#pool;
    const { size: retired } = this.#retired;
    return { waiting: waitingCount, busy: totalCount - idleCount - retired, idle: idleCount, unanswered: retired };
  }

  failures(): number {
    return this.#failures + (this.#elsewhere?.() ?? 0);
  }

  async close(): Promise<void> {
    clearInterval(this.#sweeping);
    for (const giveUp of this.#retired.values()) giveUp();
    await this.#pool.end();
  }

  #made(client: PoolClient): void {
    const now = performance.now();
    const state: ConnectionState = { answered: this.failures(), madeAt: now, usedAt: now, warnings: 0, open: 0 };
    this.#states.set(client, state);
    client.on('notice', ({ code }) => {
      if (code === WARNING) state.warnings++;
    });
  }

  #trusts(client: PoolClient, state: ConnectionState | undefined): state is ConnectionState {
    return state?.answered === this.failures() && this.#primary.trusts(client);
  }

  async #take(until: Deadline): Promise<{ client: PoolClient; state: ConnectionState }> {
    const latest = startBy(until);
    for (;;) {
      const client = await before(latest, this.#pool.connect());
      const state = this.#states.get(client);
      if (this.#trusts(client, state)) return { client, state };
      this.#retire(client);
    }
  }

  #takeBack(client: PoolClient, state: ConnectionState, isBroken: boolean): void {
    if (isBroken) {
      this.#failures++;
      this.#retire(client);
      this.#sweep();
      return;
    }
    state.answered = this.failures();
    state.usedAt = performance.now();
    // The name may lead to another server by now: a new connection checks again that it is the primary.
    if (state.usedAt - state.madeAt > MAX_AGE) this.#retire(client);
    else client.release();
  }

  /** Closes idle connections that are not trusted or have been idle for too long. */
  #sweep(): void {
    const usedAfter = performance.now() - MAX_IDLE;
    const check = (client: PoolClient): void => {
      const state = this.#states.get(client);
      if (this.#trusts(client, state) && state.usedAt > usedAfter) client.release();
      else this.#retire(client);
    };
    for (let idle = this.#pool.idleCount; idle > 0; idle--) this.#pool.connect().then(check, () => {});
  }

  /**
   * Closes a connection once its queries have been answered, or its backend is terminated. A closed socket is not enough: a proxy may have
   * closed it.
   */
  #retire(client: PoolClient): void {
    const { promise: gone, resolve } = Promise.withResolvers<void>();
    const giveUp = (): void => {
      cut(client);
      resolve();
    };
    this.#retired.set(client, giveUp);
    const backend = backendOf(client);
    const forget = backend && this.#reaper.watch(backend, giveUp);
    if (!this.#primary.trusts(client)) giveUp();
    void client
      .end()
      .then(() => (this.#states.get(client)?.open === 0 ? undefined : gone))
      .then(() => {
        forget?.();
        this.#retired.delete(client);
        client.release(true);
      });
    // A pooler has not led it to a backend yet, so none is left behind.
    if (backend === undefined) giveUp();
  }
}

/**
 * @param elsewhere counts failures of other connections after which these are not trusted, either: a blocked read is an outage, while a
 * blocked commit does not affect reads
 */
export const connections = (pool: Pool, primary: Primary, reaper: Reaper, elsewhere?: () => number): Connections =>
  new LentConnections(pool, primary, reaper, elsewhere);

/** The use of a connection by one caller, until its deadline. */
class Loan {
  readonly #client: PoolClient;
  readonly #state: ConnectionState;
  readonly #primary: Primary;
  readonly #until: Deadline;
  /** Whether what is sent says something about the primary when it is not answered. */
  readonly #tells: boolean;
  /** How many warnings there were before. */
  readonly #warnings: number;
  readonly #waiting = new Set<(error: Error) => void>();
  readonly #timer: NodeJS.Timeout;
  #broken = false;
  #asked = false;

  constructor(client: PoolClient, state: ConnectionState, primary: Primary, until: Deadline, tells: boolean) {
    this.#client = client;
    this.#state = state;
    this.#primary = primary;
    this.#until = until;
    this.#tells = tells;
    this.#warnings = state.warnings;
    this.#timer = setTimeout(() => this.#giveUp(), Math.max(0, until - performance.now()));
  }

  asking(): Ask {
    const ask: Ask = (query) => this.#ask(query);
    const pooled = poolerOf(this.#client);
    if (pooled === undefined) return ask;
    return throughPooler(ask, pooled.opening, ({ pid, began, started }: Opened) => {
      recordBackend(this.#client, { pid, began });
      if (started === pooled.started) return;
      this.#broken = true;
      throw reachedAnotherServer();
    });
  }

  /** @returns whether the connection is of no more use */
  end(): boolean {
    clearTimeout(this.#timer);
    return this.#broken;
  }

  #giveUp(): void {
    this.#broken = true;
    for (const reject of this.#waiting) reject(unanswered());
  }

  #ask(query: QueryConfig): Promise<QueryResult> {
    return new Promise((resolve, reject) => {
      if (this.#broken || performance.now() >= this.#until) {
        // A transaction may be open, unless the caller had waited too long before.
        this.#broken = this.#asked;
        reject(unanswered());
        return;
      }
      this.#asked = true;
      this.#waiting.add(reject);
      this.#state.open++;
      const answered = this.#primary.sent(this.#tells);
      gather(this.#client);
      this.#client.query(query).then(
        async (result) => {
          this.#state.open--;
          const confirmed = answered();
          if (confirmed !== undefined) await confirmed;
          this.#waiting.delete(reject);
          const problem = this.#problemOf(query);
          if (problem === undefined) return resolve(result);
          this.#broken = true;
          reject(problem);
        },
        async (error: Error) => {
          const isAnswer = error instanceof DatabaseError;
          if (isAnswer) this.#state.open = isLast(error) ? 0 : this.#state.open - 1;
          // Without an answer, or after a fatal error, the state of the connection is unknown. A transaction whose end was canceled may
          // still be open: the next one would commit what it wrote.
          if (!isAnswer || leavesUnusable(error) || isEnd(query)) this.#broken = true;
          const confirmed = answered();
          if (isAnswer && confirmed !== undefined) await confirmed;
          this.#waiting.delete(reject);
          if (this.#primary.trusts(this.#client)) return reject(error);
          this.#broken = true;
          reject(isAnswer ? replacedPrimary() : error);
        },
      );
    });
  }

  /** Why the answer to a query does not count; undefined if it does. */
  #problemOf({ text }: QueryConfig): StoreUnavailable | undefined {
    if (!this.#primary.trusts(this.#client)) return replacedPrimary();
    return text === 'COMMIT' && this.#state.warnings !== this.#warnings ? unreplicated() : undefined;
  }
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
