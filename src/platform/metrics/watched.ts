import { Gauge, type Registry } from 'prom-client';
import type { Passwords } from '../crypto/passwords.ts';
import type { Database } from '../database/database.ts';
import type { LogOutput } from '../log-output.ts';

/** The components whose load is read with the metrics. */
export interface LoadSources {
  readonly database: Pick<Database, 'load'>;
  readonly passwords: Pick<Passwords, 'load'>;
}

/** The state of the node, read with the metrics. */
export interface NodeState {
  /** Why the node is not ready; undefined if it is. */
  unready(): Promise<string | undefined>;
  /** How far its clock is ahead of the database's, in milliseconds. */
  clockOffset(): Promise<number>;
}

/** The notices that wait in the database, of all nodes. */
export interface NoticeQueue {
  waiting(): Promise<number>;
}

/** The messages that wait in the database, of all nodes. */
export interface MailQueue {
  /** How many, and for how long the oldest has waited, in milliseconds. */
  waiting(): Promise<{ readonly count: number; readonly oldest: number }>;
}

/** The leases of node numbers in the database, of all nodes. */
export interface NodeNumberLeases {
  countLeases(): Promise<number>;
}

/** For how long the oldest rows have been due to be removed, in milliseconds, by table. */
export interface HousekeepingBacklog {
  read(): Promise<ReadonlyMap<string, number>>;
}

/** What the gauges read when the metrics are asked for; each of it once it exists. */
export interface Watched {
  sources?: LoadSources;
  notices?: NoticeQueue;
  mail?: MailQueue;
  backlog?: HousekeepingBacklog;
  node?: NodeState;
  numbers?: NodeNumberLeases;
  outages?: { lasts(): boolean };
  log?: Pick<LogOutput, 'loss'>;
}

/** The load of the components of this process. */
export function watchLoad(registry: Registry, watched: Watched): void {
  const registers = [registry];
  new Gauge({
    name: 'tessera_database_waiting',
    help: 'Units of work waiting for a commit (SQLite) or for a connection (PostgreSQL).',
    registers,
    collect() {
      this.set(watched.sources?.database.load().waiting ?? 0);
    },
  });
  new Gauge({
    name: 'tessera_database_connections',
    help: 'Database connections (PostgreSQL) by pool, read or write, and by state. Unanswered connections are kept until the database server has closed them.',
    labelNames: ['pool', 'state'] as const,
    registers,
    collect() {
      const connections = watched.sources?.database.load().connections;
      if (connections === undefined) return;
      for (const [pool, { busy, idle, unanswered }] of Object.entries(connections)) {
        this.set({ pool, state: 'busy' }, busy);
        this.set({ pool, state: 'idle' }, idle);
        this.set({ pool, state: 'unanswered' }, unanswered);
      }
    },
  });
  new Gauge({
    name: 'tessera_password_hashes',
    help: 'Passwords that are being hashed (or were, until the event loop has caught up) or wait for it. Beyond a limit, sign-in answers 503.',
    labelNames: ['state'] as const,
    registers,
    collect() {
      const { running = 0, waiting = 0 } = watched.sources?.passwords.load() ?? {};
      this.set({ state: 'running' }, running);
      this.set({ state: 'waiting' }, waiting);
    },
  });
}

/** What waits in the database. */
export function watchQueues(registry: Registry, watched: Watched): void {
  const registers = [registry];
  new Gauge({
    name: 'tessera_logout_notices_waiting',
    help: 'Logout notices that no app has answered yet, of all nodes.',
    aggregator: 'max',
    registers,
    async collect() {
      // While the database is unavailable the number is unknown; the other metrics are still served.
      const waiting = await watched.notices?.waiting().catch(() => Number.NaN);
      this.set(waiting ?? 0);
    },
  });
  new Gauge({
    name: 'tessera_mails_waiting',
    help: 'Mail that the SMTP server has not accepted yet, of all nodes.',
    aggregator: 'max',
    registers,
    async collect() {
      const queue = await watched.mail?.waiting().catch(() => ({ count: Number.NaN, oldest: Number.NaN }));
      this.set(queue?.count ?? 0);
      oldestMail.set((queue?.oldest ?? 0) / 1000);
    },
  });
  const oldestMail = new Gauge({
    name: 'tessera_mail_oldest_waiting_seconds',
    help: 'For how long the oldest of them has waited.',
    aggregator: 'max',
    registers,
  });
  new Gauge({
    name: 'tessera_housekeeping_backlog_seconds',
    help: 'For how long the oldest row of a table has been due to be removed, for all nodes. Up to a minute or two is normal.',
    labelNames: ['table'] as const,
    aggregator: 'max',
    registers,
    async collect() {
      const overdue = await watched.backlog?.read().catch(() => undefined);
      // While the database is unavailable, the last known ages remain.
      for (const [table, milliseconds] of overdue ?? []) this.set({ table }, milliseconds / 1000);
    },
  });
}

/** The state of this node. */
export function watchState(registry: Registry, watched: Watched): void {
  const registers = [registry];
  new Gauge({
    name: 'tessera_ready',
    help: '1 if /health/ready answers 200, else 0.',
    aggregator: 'min',
    registers,
    async collect() {
      const ready = watched.node?.unready().then(
        (reason) => reason === undefined,
        () => false,
      );
      this.set((await ready) === true ? 1 : 0);
    },
  });
  new Gauge({
    name: 'tessera_clock_offset_seconds',
    help: 'How far the clock of this node is ahead of the database’s (0 on SQLite). Beyond 30 in either direction the node is not ready and deletes nothing.',
    aggregator: 'average',
    registers,
    async collect() {
      const offset = await watched.node?.clockOffset().catch(() => Number.NaN);
      this.set((offset ?? 0) / 1000);
    },
  });
  new Gauge({
    name: 'tessera_node_numbers_held',
    help: 'Leased node numbers of all processes on the database, of 1,024. Without one a node cannot create ids.',
    aggregator: 'max',
    registers,
    async collect() {
      const held = await watched.numbers?.countLeases().catch(() => Number.NaN);
      this.set(held ?? 0);
    },
  });
  new Gauge({
    name: 'tessera_store_up',
    help: '0 from the first database failure until 30 seconds without one, otherwise 1.',
    aggregator: 'min',
    registers,
    collect() {
      this.set(watched.outages?.lasts() ? 0 : 1);
    },
  });
}
