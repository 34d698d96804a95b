import { Socket } from 'node:net';
import { DatabaseError, Pool, type PoolClient, type PoolConfig, type QueryConfig, type QueryResult } from 'pg';
import { type DatabaseLoad, StoreUnavailable } from '../database.ts';
import { checkServer, type Queryable } from './start.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;

/** How long a caller waits for the database at most, in milliseconds: for a connection and for all answers together. */
const PATIENCE = 5 * SECOND;

/** The moment, by the clock of the process, at which a caller has waited long enough. */
export type Deadline = number;

export const deadline = (): Deadline => performance.now() + PATIENCE;

/** Sends a query on one connection and waits for its answer. */
export type Ask = (query: QueryConfig) => Promise<QueryResult>;

/** The connections of this process to its database. */
export interface Connections {
  /**
   * Lends a connection to `use`, which is to be done with it when its promise settles.
   * @throws {StoreUnavailable} where there is none, or no answer on it, before the deadline
   */
  lend<T>(until: Deadline, use: (ask: Ask) => Promise<T>): Promise<T>;
  load(): DatabaseLoad;
  close(): Promise<void>;
}

/**
 * The server's own ends of what nobody waits for any longer, each before ours: a statement, a lock, and a transaction whose
 * process has gone without a word. They are set here rather than at the start of the connection, where poolers refuse them.
 */
const setting = (statement: number, lock: number, idle: number): string =>
  `SET statement_timeout = ${statement}; SET lock_timeout = ${lock}; SET idle_in_transaction_session_timeout = ${idle}; ${DURABLE}`;

/** An acknowledged commit is on disk, whatever the server's own setting; a stronger one (`remote_apply`) stays. */
const DURABLE =
  "SELECT set_config('synchronous_commit', 'on', false) " +
  "WHERE current_setting('synchronous_commit') IN ('off', 'local', 'remote_write')";

const base = (url: string, session: string) => ({
  connectionString: url,
  application_name: 'tessera',
  connectionTimeoutMillis: PATIENCE,
  keepAlive: true,
  // A query is sent at once, before those ahead of it have answered.
  pipeline: true,
  // Names, proxies and addresses may lead anywhere: every connection proves that its server is the primary before it is used.
  // A lagging replica would accept what was revoked.
  async onConnect(client: Queryable) {
    await client.query(session);
    await checkServer(client);
  },
});

/** The driver forgets a socket on which it could not sign in, and the process would live on with it: this pool closes it. */
class ClosingPool extends Pool {
  readonly #sockets: ReadonlySet<Socket>;

  constructor(config: PoolConfig) {
    const sockets = new Set<Socket>();
    const stream = () => {
      const socket = new Socket();
      sockets.add(socket);
      socket.once('close', () => sockets.delete(socket));
      return socket;
    };
    super({ ...config, stream });
    this.#sockets = sockets;
  }

  override async end(): Promise<void> {
    await super.end();
    for (const socket of this.#sockets) socket.destroy();
  }
}

function pooled(pool: Pool): Pool {
  // An idle connection that breaks leaves the pool by itself; the next query opens another.
  pool.on('error', () => {});
  // A server that ends a connection between two statements must not end this process: the next statement is told.
  pool.on('connect', (client) => void client.on('error', () => {}));
  return pool;
}

/** A pool for the migrations, which take as long as their tables are large and wait for each other. */
export const migrationPool = (url: string): Pool =>
  pooled(
    new ClosingPool({
      ...base(url, setting(10 * MINUTE, 0, 10 * MINUTE)),
      max: 2,
      query_timeout: 10 * MINUTE + 5 * SECOND,
    }),
  );

/** How many connections one process takes at most. */
export const POOL_SIZE = 16;

export const servicePool = (url: string): Pool =>
  pooled(
    new ClosingPool({
      ...base(url, setting(PATIENCE - SECOND / 2, PATIENCE - SECOND, PATIENCE)),
      max: POOL_SIZE,
      query_timeout: PATIENCE,
    }),
  );

const unanswered = () => new StoreUnavailable(`the database did not answer within ${PATIENCE / SECOND} seconds`);

/**
 * Lends the connections of a pool, and none that may be dead: when one of them fails, all that were idle at that time
 * are closed instead of being lent again, so that an outage ends for everybody with the first new connection.
 */
export function connections(pool: Pool): Connections {
  /** Counts the failures; a connection that answered last before the latest is not trusted. */
  let failures = 0;
  const answered = new WeakMap<PoolClient, number>();
  pool.on('connect', (client) => void answered.set(client as PoolClient, failures));

  async function take(until: Deadline): Promise<PoolClient> {
    for (;;) {
      const client = await before(until, pool.connect());
      if (answered.get(client) === failures) return client;
      client.release(true);
    }
  }

  return {
    async lend(until, use) {
      const client = await take(until);
      let broken = false;
      const ask: Ask = async (query) => {
        const left = Math.ceil(until - performance.now());
        if (broken || left <= 0) {
          broken = true;
          throw unanswered();
        }
        const timed: QueryConfig & { query_timeout: number } = { ...query, query_timeout: left };
        try {
          return await client.query(timed);
        } catch (error) {
          // Without an answer, or after the server's last, there is no telling where the connection stands.
          if (!(error instanceof DatabaseError) || error.severity === 'FATAL') broken = true;
          throw error;
        }
      };
      try {
        return await use(ask);
      } finally {
        if (broken) failures++;
        else answered.set(client, failures);
        client.release(broken);
      }
    },
    load: () => ({ waiting: pool.waitingCount, busy: pool.totalCount - pool.idleCount, idle: pool.idleCount }),
    close: () => pool.end(),
  };
}

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
