import { Socket } from 'node:net';
import { Client, type ClientBase, type ClientConfig, Pool, type PoolConfig, type QueryConfig } from 'pg';
import { type Backend, checkServer } from './start.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;

/** How long a caller waits for the database at most, in milliseconds: for a connection and for all answers together. */
export const PATIENCE = 5 * SECOND;

/**
 * How many connections one process takes at most, by what they are for. A standby that hangs holds up every commit, and so all
 * writers; what only reads has connections of its own, and goes on.
 */
export const READERS = 5;
export const WRITERS = 10;
/** One asks the server what became of those that give no answer: see `reaper.ts`. */
export const POOL_SIZE = READERS + WRITERS + 1;

/**
 * The server's own ends of what nobody waits for any longer, each before ours: a statement, a lock, and a transaction whose
 * process has gone without a word. They are set here rather than at the start of the connection, where poolers refuse them.
 */
const setting = (statement: number, lock: number, idle: number): string =>
  `SET statement_timeout = ${statement}; SET lock_timeout = ${lock}; SET idle_in_transaction_session_timeout = ${idle}; ${WARNINGS}; ${DURABLE}`;

/** That the wait for a standby was ended is told by a warning alone: whatever the server's own setting, it is sent. */
const WARNINGS = 'SET client_min_messages = warning';

/** An acknowledged commit is on disk, whatever the server's own setting; a stronger one (`remote_apply`) stays. */
const DURABLE =
  "SELECT set_config('synchronous_commit', 'on', false) " +
  "WHERE current_setting('synchronous_commit') IN ('off', 'local', 'remote_write')";

const SERVICE = setting(PATIENCE - SECOND / 2, PATIENCE - SECOND, PATIENCE);

/** What belongs to a connection of ours. */
const sockets = new WeakMap<ClientBase, Socket>();
const backends = new WeakMap<ClientBase, Backend>();

/** Lets go of a connection without waiting for its server. */
export const cut = (client: ClientBase): void => void sockets.get(client)?.destroy();
export const backendOf = (client: ClientBase): Backend | undefined => backends.get(client);

const base = (url: string, session: string, timeout: number) => ({
  connectionString: url,
  application_name: 'tessera',
  connectionTimeoutMillis: timeout,
  keepAlive: true,
  // A query is sent at once, before those ahead of it have answered.
  pipeline: true,
  // Names, proxies and addresses may lead anywhere: every connection proves that its server is the primary before it is used.
  // A lagging replica would accept what was revoked.
  async onConnect(client: ClientBase) {
    const ask = (text: string) => {
      const timed: QueryConfig & { query_timeout: number } = { text, query_timeout: timeout };
      return client.query(timed);
    };
    await ask(session);
    const { pid, began } = await checkServer({ query: ask });
    backends.set(client, { pid, began });
  },
});

/** The driver forgets a socket on which it could not sign in, and the process would live on with it: this pool closes it. */
class ClosingPool extends Pool {
  readonly #sockets: ReadonlySet<Socket>;

  constructor(config: PoolConfig) {
    const open = new Set<Socket>();
    class OwnClient extends Client {
      constructor(own?: ClientConfig) {
        const socket = new Socket();
        super({ ...own, stream: () => socket });
        sockets.set(this, socket);
        open.add(socket);
        socket.once('close', () => open.delete(socket));
      }
    }
    super({ ...config, Client: OwnClient });
    this.#sockets = open;
    // An idle connection that breaks leaves the pool by itself; the next query opens another.
    this.on('error', () => {});
    // A server that ends a connection between two statements must not end this process: the next statement is told.
    this.on('connect', (client) => void client.on('error', () => {}));
  }

  override async end(): Promise<void> {
    const destroy = () => {
      for (const socket of this.#sockets) socket.destroy();
    };
    // A server that does not answer does not end a connection, either.
    const timer = setTimeout(destroy, SECOND);
    await super.end();
    clearTimeout(timer);
    destroy();
  }
}

/** A pool for the migrations, which take as long as their tables are large and wait for each other. */
export const migrationPool = (url: string): Pool =>
  new ClosingPool({
    ...base(url, setting(10 * MINUTE, 0, 10 * MINUTE), PATIENCE),
    max: 2,
    query_timeout: 10 * MINUTE + 5 * SECOND,
  });

/**
 * A pool for requests. It closes nothing by itself, and its queries have no time limit, since the driver would leave a late
 * one and its connection to themselves: `connections.ts` does both.
 */
export const servicePool = (url: string, max: number): Pool =>
  new ClosingPool({ ...base(url, SERVICE, PATIENCE), max, idleTimeoutMillis: 0 });

/** One connection for questions about the others. */
export const reaperPool = (url: string): Pool =>
  new ClosingPool({ ...base(url, SERVICE, 3 * SECOND), max: 1, query_timeout: 3 * SECOND });
