import { Socket } from 'node:net';
import { Client, type ClientBase, type ClientConfig, Pool, type PoolConfig, type QueryConfig } from 'pg';
import type { DatabaseHost } from '../server-address.ts';
import type { Primary } from './primary.ts';
import { askPosition, type Backend, checkServer } from './start.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;

/** How long a caller waits for the database at most, in milliseconds: for a connection and all answers together. */
export const PATIENCE = 5 * SECOND;

/**
 * How many connections one process uses at most. A standby that hangs blocks all commits, and so all writers; reads have separate
 * connections and continue.
 */
export const READERS = 5;
export const WRITERS = 10;
/** One more connection terminates those that do not answer: see `reaper.ts`. */
export const POOL_SIZE = READERS + WRITERS + 1;

/**
 * Time limits of the server, each shorter than ours: for a statement, a lock, and an idle transaction, whose process may have crashed.
 * They are set with a statement because poolers reject them as startup parameters.
 */
const setting = (statement: number, lock: number, idle: number): string =>
  `SET statement_timeout = ${statement}; SET lock_timeout = ${lock}; SET idle_in_transaction_session_timeout = ${idle}; ${WARNINGS}; ${DURABLE}`;

/** Only a warning reports that the wait for a standby was canceled, so warnings must be sent whatever the server's setting. */
const WARNINGS = 'SET client_min_messages = warning';

/** Acknowledged commits must be on disk, whatever the server's setting; a stronger one (`remote_apply`) is kept. */
const DURABLE =
  "SELECT set_config('synchronous_commit', 'on', false) " +
  "WHERE current_setting('synchronous_commit') IN ('off', 'local', 'remote_write')";

const limits = (patience: number): string => setting(patience - SECOND / 2, patience - SECOND, patience);

/** The sockets and backends of our connections. */
const sockets = new WeakMap<ClientBase, Socket>();
const backends = new WeakMap<ClientBase, Backend>();

/** Closes a connection without waiting for the server. */
export const cut = (client: ClientBase): void => void sockets.get(client)?.destroy();
export const backendOf = (client: ClientBase): Backend | undefined => backends.get(client);

const base = (session: string, timeout: number) => ({
  application_name: 'tessera',
  connectionTimeoutMillis: timeout,
  keepAlive: true,
  // Queries are sent before earlier ones have been answered.
  pipeline: true,
  session,
  timeout,
});

/** What each connection of a pool begins with. */
interface Beginning {
  readonly session: string;
  readonly timeout: number;
}

/**
 * Prepares a new connection. A name or proxy may lead to another server than before, so each is checked to be to the primary before it is
 * used: a lagging replica, or a primary that was replaced, would accept revoked tokens.
 */
async function prepare(client: ClientBase, primary: Primary, { session, timeout }: Beginning): Promise<void> {
  const ask = (text: string) => {
    const timed: QueryConfig & { query_timeout: number } = { text, query_timeout: timeout };
    return client.query(timed);
  };
  await ask(session);
  const [{ pid, began }, position] = await Promise.all([checkServer({ query: ask }), askPosition({ query: ask })]);
  primary.accept(client, position);
  backends.set(client, { pid, began });
}

/** Leads a client that is not connected yet to a host. TLS checks the certificate against this name, and `.pgpass` is searched for it. */
function lead(client: Client, { host, port }: DatabaseHost): void {
  Object.assign(client, { host, port });
  const parameters: unknown = Reflect.get(client, 'connectionParameters');
  if (typeof parameters === 'object' && parameters !== null) Object.assign(parameters, { host, port });
}

type Connected = (error: Error | null) => void;

/** A pool of connections to the primary. It also closes the sockets of failed logins, which the driver leaves open, so that the process can exit. */
class PrimaryPool extends Pool {
  readonly #sockets: ReadonlySet<Socket>;

  constructor(primary: Primary, { session, timeout, ...config }: PoolConfig & Beginning) {
    const open = new Set<Socket>();
    const hosts = new WeakMap<ClientBase, DatabaseHost>();
    class OwnClient extends Client {
      constructor(own?: ClientConfig) {
        const socket = new Socket();
        // All hosts of the address have the same user, database and TLS settings.
        super({ ...own, connectionString: primary.url, stream: () => socket });
        sockets.set(this, socket);
        open.add(socket);
        socket.once('close', () => open.delete(socket));
      }

      override connect(): Promise<Client>;
      override connect(callback: Connected): void;
      override connect(callback?: Connected): Promise<Client> | undefined {
        // The pool always passes a callback.
        if (callback === undefined) return super.connect();
        const fail = (error: Error): void => {
          cut(this);
          callback(error);
        };
        void primary.find().then((host) => {
          // The pool gives up a connection by this.
          if (sockets.get(this)?.destroyed) return fail(new Error('timeout exceeded when trying to connect'));
          hosts.set(this, host);
          if (primary.several) lead(this, host);
          try {
            super.connect((error: Error | null) => {
              if (error instanceof Error) primary.lost(host);
              callback(error);
            });
          } catch (error) {
            fail(error instanceof Error ? error : new Error(String(error)));
          }
        }, fail);
        return undefined;
      }
    }
    super({
      ...config,
      Client: OwnClient,
      async onConnect(client) {
        try {
          await prepare(client, primary, { session, timeout });
        } catch (error) {
          const host = hosts.get(client);
          if (host !== undefined) primary.lost(host);
          throw error;
        }
      },
    });
    this.#sockets = open;
    // A broken idle connection is removed from the pool; the next query opens another.
    this.on('error', () => {});
    // An error between two statements must not crash the process: the next statement reports it.
    this.on('connect', (client) => void client.on('error', () => {}));
  }

  override async end(): Promise<void> {
    const destroy = () => {
      for (const socket of this.#sockets) socket.destroy();
    };
    // A server that does not answer does not close connections either.
    const timer = setTimeout(destroy, SECOND);
    await super.end();
    clearTimeout(timer);
    destroy();
  }
}

/** A pool for the migrations, which may take long on large tables, and wait for each other. */
export const migrationPool = (primary: Primary): Pool =>
  new PrimaryPool(primary, {
    ...base(setting(10 * MINUTE, 0, 10 * MINUTE), PATIENCE),
    max: 2,
    query_timeout: 10 * MINUTE + 5 * SECOND,
  });

/**
 * A pool for requests. `connections.ts` closes its connections and limits the time of queries, because the driver would abandon a late
 * query together with its connection.
 * @param patience how long a caller waits, in milliseconds
 */
export const servicePool = (primary: Primary, max: number, patience = PATIENCE): Pool =>
  new PrimaryPool(primary, { ...base(limits(patience), PATIENCE), max, idleTimeoutMillis: 0 });

/** One connection to manage the others. */
export const reaperPool = (primary: Primary): Pool =>
  new PrimaryPool(primary, { ...base(limits(PATIENCE), 3 * SECOND), max: 1, query_timeout: 3 * SECOND });
