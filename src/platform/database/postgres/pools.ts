import { Socket } from 'node:net';
import { Client, type ClientBase, type ClientConfig, Pool, type PoolConfig, type QueryConfig } from 'pg';
import { UnusableDatabase } from '../database.ts';
import type { DatabaseHost } from '../server-address.ts';
import { askStanding, refuseEarlier } from './known-server.ts';
import { isPooled, openingOf, type Pooled } from './pooler.ts';
import type { Primary } from './primary.ts';
import { type ConnectionSettings, MIGRATION_SETTINGS, settings } from './settings.ts';
import type { StallCheck } from './stall-check.ts';
import { askPosition, type Backend, checkServer } from './start.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** How long a caller waits for the database at most, in milliseconds: for a connection and all answers together. */
export const PATIENCE = 5 * SECOND;

/** @param patience how long a caller waits, in milliseconds */
const requestSettings = (patience: number): ConnectionSettings => ({
  ...{ statement: patience - SECOND / 2, lock: patience - SECOND, idle: patience },
  lookups: true,
});

/** The sockets and backends of our connections. */
const sockets = new WeakMap<ClientBase, Socket>();
const backends = new WeakMap<ClientBase, Backend>();
const pooled = new WeakMap<ClientBase, Pooled>();

/** Closes a connection without waiting for the server. */
export const cut = (client: ClientBase): void => void sockets.get(client)?.destroy();
/** Sends all that this turn of the event loop asks of a connection at once. */
export function gather(client: ClientBase): void {
  const socket = sockets.get(client);
  if (socket === undefined || socket.writableCorked > 0) return;
  socket.cork();
  process.nextTick(() => socket.uncork());
}
export const backendOf = (client: ClientBase): Backend | undefined => backends.get(client);
/** Takes note of the backend that a pooler has led a connection to. */
export const recordBackend = (client: ClientBase, backend: Backend): void => void backends.set(client, backend);
/** What a connection needs that is to a pooler; undefined where it is to the server itself. */
export const poolerOf = (client: ClientBase): Pooled | undefined => pooled.get(client);

const base = (connectionSettings: ConnectionSettings, timeout: number) => ({
  application_name: 'tessera',
  connectionTimeoutMillis: timeout,
  keepAlive: true,
  // Queries are sent before earlier ones have been answered.
  pipeline: true,
  connectionSettings,
  timeout,
});

/** What each connection of a pool begins with. */
interface Beginning {
  readonly connectionSettings: ConnectionSettings;
  readonly timeout: number;
}

/**
 * Prepares a new connection. A name or proxy may lead to another server than before, so each is checked to be to the primary before it is
 * used: a lagging replica, a primary that was replaced, or data of an earlier time would accept revoked tokens.
 */
async function prepare(
  client: ClientBase,
  primary: Primary,
  { connectionSettings, timeout }: Beginning,
): Promise<void> {
  const ask = (text: string) => {
    const timed: QueryConfig & { query_timeout: number } = { text, query_timeout: timeout };
    return client.query(timed);
  };
  const connection = { query: ask };
  // In one transaction, which a pooler cannot lead to two servers. One without transactions refuses it, and closes the connection: what was
  // sent meanwhile would fail to be written before the reason is read.
  await ask('BEGIN');
  const answers = [
    checkServer(connection),
    askPosition(connection),
    // Last: where there is no record yet, this ends the transaction.
    primary.acceptsLoss ? undefined : askStanding(connection),
    ask('COMMIT'),
  ] as const;
  // What is behind a failure fails because of it, and may reject earlier.
  await Promise.allSettled(answers);
  const [facts, position, standing] = await Promise.all(answers);
  refuseEarlier(standing);
  primary.accept(client, position);
  const { pid, began, started } = facts;
  if (isPooled(client, facts)) {
    pooled.set(client, { opening: openingOf(connectionSettings), started });
  } else {
    await ask(`SELECT ${settings(connectionSettings, false)}`);
    backends.set(client, { pid, began });
  }
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

  constructor(primary: Primary, { connectionSettings, timeout, ...config }: PoolConfig & Beginning) {
    const open = new Set<Socket>();
    const clients = new Set<ClientBase>();
    /** The connections that are being opened, until they can be used. */
    const opening = new Map<
      ClientBase,
      { readonly host: DatabaseHost; readonly opened: ReturnType<StallCheck['sent']> }
    >();
    primary.onReplaced((by) => {
      // A former primary that answers nothing would keep their places.
      for (const [client, { host }] of opening) if (by !== undefined && host !== by) cut(client);
      for (const client of clients) if (!primary.trusts(client)) cut(client);
    });
    const failed = (client: ClientBase): void => {
      const attempt = opening.get(client);
      if (attempt === undefined) return;
      opening.delete(client);
      void attempt.opened();
      primary.lost(attempt.host);
    };
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
          opening.set(this, { host, opened: primary.sent(true) });
          if (primary.several) lead(this, host);
          try {
            super.connect((error: Error | null) => {
              if (error instanceof Error) failed(this);
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
          await prepare(client, primary, { connectionSettings, timeout });
          await opening.get(client)?.opened();
          opening.delete(client);
          if (!primary.trusts(client)) throw new UnusableDatabase('Another server became the primary meanwhile.');
        } catch (error) {
          failed(client);
          // The server may not answer a farewell, either.
          cut(client);
          throw error;
        }
      },
    });
    this.#sockets = open;
    // A broken idle connection is removed from the pool; the next query opens another.
    this.on('error', () => {});
    // An error between two statements must not crash the process: the next statement reports it.
    this.on('connect', (client) => {
      client.on('error', () => {});
      clients.add(client);
    });
    this.on('remove', (client) => void clients.delete(client));
  }

  override end(): Promise<void> {
    return endWith(() => super.end(), this.#sockets);
  }
}

/** Closes a pool with its sockets. A server that does not answer does not close connections either. */
async function endWith(end: () => Promise<void>, sockets: ReadonlySet<Socket>): Promise<void> {
  const destroy = () => {
    for (const socket of sockets) socket.destroy();
  };
  const timer = setTimeout(destroy, SECOND);
  await end();
  clearTimeout(timer);
  destroy();
}

/** One connection to look at a server. */
export class InspectionPool extends Pool {
  readonly #sockets: ReadonlySet<Socket>;

  constructor(url: string, application: string) {
    const sockets = new Set<Socket>();
    super({
      connectionString: url,
      max: 1,
      application_name: application,
      connectionTimeoutMillis: PATIENCE,
      query_timeout: PATIENCE,
      stream: () => {
        const socket = new Socket();
        sockets.add(socket);
        return socket;
      },
    });
    this.#sockets = sockets;
    this.on('error', () => {});
  }

  override end(): Promise<void> {
    return endWith(() => super.end(), this.#sockets);
  }
}

/** How long the build of an index may take, which waits for the transactions of others, and for nobody else. */
const INDEX_BUILD = 6 * HOUR;

/** A pool for the migrations, which may take long on large tables. Their transactions have shorter limits: see `dialect.ts`. */
export const migrationPool = (primary: Primary): Pool =>
  new PrimaryPool(primary, {
    ...base({ ...MIGRATION_SETTINGS, statement: INDEX_BUILD, lock: 0 }, PATIENCE),
    // One holds the lock while another builds an index, and one looks how far that is.
    max: 3,
    query_timeout: INDEX_BUILD + 5 * SECOND,
  });

/**
 * A pool for requests. `connections.ts` closes its connections and limits the time of queries, because the driver would abandon a late
 * query together with its connection.
 * @param patience how long a caller waits, in milliseconds
 */
export const servicePool = (primary: Primary, max: number, patience = PATIENCE): Pool =>
  new PrimaryPool(primary, { ...base(requestSettings(patience), PATIENCE), max, idleTimeoutMillis: 0 });

/** One connection to manage the others. */
export const reaperPool = (primary: Primary): Pool =>
  new PrimaryPool(primary, { ...base(requestSettings(PATIENCE), 3 * SECOND), max: 1, query_timeout: 3 * SECOND });
