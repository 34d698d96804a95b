import { Counter, collectDefaultMetrics, Gauge, Histogram, type Metric, Registry } from 'prom-client';
import type { Passwords } from '../crypto/passwords.ts';
import type { Database, DatabaseMeter } from '../database/database.ts';
import type { Meter } from '../http/meter.ts';
import type { LogOutput } from '../log-output.ts';
import { VERSION } from '../version.ts';
import { Durations } from './durations.ts';
import { countDroppedLines } from './log-lines.ts';

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

/** Receives what housekeeping does. */
export interface HousekeepingMeter {
  removed(table: string, rows: number): void;
  /** A pass has ended, at this time. */
  passed(now: number): void;
}

/** For how long the oldest rows have been due to be removed, in milliseconds, by table. */
export interface HousekeepingBacklog {
  read(): Promise<ReadonlyMap<string, number>>;
}

export interface Metrics {
  readonly meter: Meter & DatabaseMeter;
  readonly housekeeping: HousekeepingMeter;
  readonly registry: Registry;
  /** Adds the load of these components. */
  watch(sources: LoadSources): void;
  /** Adds the number of logout notices that wait. */
  watchNotices(queue: NoticeQueue): void;
  /** Adds the number and the age of messages that wait. */
  watchMail(queue: MailQueue): void;
  /** Adds the age of what housekeeping has not removed yet. */
  watchBacklog(backlog: HousekeepingBacklog): void;
  /** Adds the state of the node. */
  watchNode(node: NodeState): void;
  /** Adds the number of leased node numbers. */
  watchNumbers(leases: NodeNumberLeases): void;
  /** Adds the number of lines that could not be written. */
  watchLog(log: Pick<LogOutput, 'loss'>): void;
  /** Adds whether the store is unavailable. */
  watchStore(outages: { lasts(): boolean }): void;
}

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const COUNTS = [1, 2, 4, 8, 16, 32, 64, 128, 256];

/**
 * The metrics of one process in the format of Prometheus. Where several make up a service, their values are added up; an `aggregator`
 * says otherwise, for what each of them reads from the database or for what must hold for all.
 */
export function createMetrics(): Metrics {
  const registry = new Registry();
  const registers = [registry];
  let sources: LoadSources | undefined;
  let notices: NoticeQueue | undefined;
  let mail: MailQueue | undefined;
  let backlog: HousekeepingBacklog | undefined;
  let node: NodeState | undefined;
  let numbers: NodeNumberLeases | undefined;
  let outages: { lasts(): boolean } | undefined;
  let log: Pick<LogOutput, 'loss'> | undefined;
  // The defaults of prom-client: event-loop delay, memory, processor time, garbage collection.
  collectDefaultMetrics({ register: registry });

  new Gauge({
    name: 'tessera_build_info',
    help: 'Always 1; the label is the version of the node.',
    labelNames: ['version'] as const,
    aggregator: 'max',
    registers,
  }).set({ version: VERSION }, 1);
  const requests = new Durations(
    'tessera_http_request_duration_seconds',
    'Answered requests and how long they took, by method, route and status.',
    ['method', 'route', 'status'],
    SECONDS,
  );
  registry.registerMetric(requests as unknown as Metric);
  const refusals = new Counter({
    name: 'tessera_refusals_total',
    help: 'Rejected requests by route and error code. The reason says what was wrong with the token, code, session or client.',
    labelNames: ['route', 'error', 'reason'] as const,
    registers,
  });
  const droppedSteps = new Counter({
    name: 'tessera_trace_steps_dropped_total',
    help: 'Steps that `tessera explain` cannot show: too many came at once, or they could not be stored.',
    registers,
  });
  const units = new Histogram({
    name: 'tessera_database_commit_units',
    help: 'Units of work per commit.',
    buckets: COUNTS,
    registers,
  });
  const commits = new Histogram({
    name: 'tessera_database_commit_duration_seconds',
    help: 'Duration of a commit until it is durable.',
    buckets: SECONDS,
    registers,
  });
  const conflicts = new Counter({
    name: 'tessera_database_conflicts_total',
    help: 'Units of work that were retried after a conflict (PostgreSQL).',
    registers,
  });
  const callers = new Histogram({
    name: 'tessera_database_shared_read_callers',
    help: 'How many callers shared one read round trip (PostgreSQL) or lock (SQLite).',
    buckets: COUNTS,
    registers,
  });
  new Gauge({
    name: 'tessera_database_waiting',
    help: 'Units of work waiting for a commit (SQLite) or for a connection (PostgreSQL).',
    registers,
    collect() {
      this.set(sources?.database.load().waiting ?? 0);
    },
  });
  new Gauge({
    name: 'tessera_database_connections',
    help: 'Database connections (PostgreSQL) by pool, read or write, and by state. Unanswered connections are kept until the database server has closed them.',
    labelNames: ['pool', 'state'] as const,
    registers,
    collect() {
      const connections = sources?.database.load().connections;
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
      const { running = 0, waiting = 0 } = sources?.passwords.load() ?? {};
      this.set({ state: 'running' }, running);
      this.set({ state: 'waiting' }, waiting);
    },
  });
  const breachChecks = new Counter({
    name: 'tessera_breach_checks_total',
    help: 'New passwords that were looked for in data breaches: clear, breached, failed (no answer) or skipped (too many at once). The last two were accepted.',
    labelNames: ['outcome'] as const,
    registers,
  });
  const notified = new Counter({
    name: 'tessera_logout_notices_total',
    help: 'Attempts to notify an app of an ended session: delivered, unanswered (tried again) or failed (the last attempt).',
    labelNames: ['outcome'] as const,
    registers,
  });
  new Gauge({
    name: 'tessera_logout_notices_waiting',
    help: 'Logout notices that no app has answered yet, of all nodes.',
    aggregator: 'max',
    registers,
    async collect() {
      // While the database is unavailable the number is unknown; the other metrics are still served.
      const waiting = await notices?.waiting().catch(() => Number.NaN);
      this.set(waiting ?? 0);
    },
  });

  const mailed = new Counter({
    name: 'tessera_mails_total',
    help: 'Attempts to send mail, by what it is about: sent, retried (tried again), dead (given up) or expired (its link was no longer valid).',
    labelNames: ['kind', 'outcome'] as const,
    registers,
  });
  new Gauge({
    name: 'tessera_mails_waiting',
    help: 'Mail that the SMTP server has not accepted yet, of all nodes.',
    aggregator: 'max',
    registers,
    async collect() {
      const queue = await mail?.waiting().catch(() => ({ count: Number.NaN, oldest: Number.NaN }));
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
  const removedRows = new Counter({
    name: 'tessera_housekeeping_removed_rows_total',
    help: 'Rows that this node removed because they were of no more use, by table.',
    labelNames: ['table'] as const,
    registers,
  });
  new Gauge({
    name: 'tessera_housekeeping_backlog_seconds',
    help: 'For how long the oldest row of a table has been due to be removed, for all nodes. Up to a minute or two is normal.',
    labelNames: ['table'] as const,
    aggregator: 'max',
    registers,
    async collect() {
      const overdue = await backlog?.read().catch(() => undefined);
      // While the database is unavailable, the last known ages remain.
      for (const [table, milliseconds] of overdue ?? []) this.set({ table }, milliseconds / 1000);
    },
  });
  const lastPass = new Gauge({
    name: 'tessera_housekeeping_last_pass_timestamp_seconds',
    help: 'When housekeeping of this node last ended a pass, or left it to another node, in seconds since the Unix epoch. 0 before the first one.',
    aggregator: 'max',
    registers,
  });
  new Gauge({
    name: 'tessera_ready',
    help: '1 if /health/ready answers 200, else 0.',
    aggregator: 'min',
    registers,
    async collect() {
      const ready = node?.unready().then(
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
      const offset = await node?.clockOffset().catch(() => Number.NaN);
      this.set((offset ?? 0) / 1000);
    },
  });
  new Gauge({
    name: 'tessera_node_numbers_held',
    help: 'Leased node numbers of all processes on the database, of 1,024. Without one a node cannot create ids.',
    aggregator: 'max',
    registers,
    async collect() {
      const held = await numbers?.countLeases().catch(() => Number.NaN);
      this.set(held ?? 0);
    },
  });

  const forStore = new Counter({
    name: 'tessera_store_unavailable_total',
    help: 'Requests that were refused because the store was unavailable.',
    registers,
  });
  new Gauge({
    name: 'tessera_store_up',
    help: '0 from the first database failure until 30 seconds without one, otherwise 1.',
    aggregator: 'min',
    registers,
    collect() {
      this.set(outages?.lasts() ? 0 : 1);
    },
  });

  countDroppedLines(() => log?.loss().dropped ?? 0, registry);
  const droppedSpans = new Counter({
    name: 'tessera_telemetry_spans_dropped_total',
    help: 'Spans of traces that the collector did not get: the queue was full, or it did not accept them.',
    labelNames: ['reason'] as const,
    registers,
  });
  const exports = new Counter({
    name: 'tessera_telemetry_exports_total',
    help: 'Exports of traces or metrics by OTLP: accepted by the collector, or failed.',
    labelNames: ['signal', 'outcome'] as const,
    registers,
  });

  return {
    registry,
    watch(those) {
      sources = those;
    },
    watchNotices(queue) {
      notices = queue;
    },
    watchMail(queue) {
      mail = queue;
    },
    watchBacklog(those) {
      backlog = those;
    },
    watchNode(state) {
      node = state;
    },
    watchStore(those) {
      outages = those;
    },
    watchLog(own) {
      log = own;
    },
    watchNumbers(numbered) {
      numbers = numbered;
    },
    housekeeping: {
      removed: (table, rows) => removedRows.inc({ table }, rows),
      passed: (now) => lastPass.set(now / 1000),
    },
    meter: {
      answered({ method, route, status, seconds, refusal }) {
        requests.observe(`${status} ${method} ${route}`, () => ({ method, route, status }), seconds);
        if (refusal !== null) refusals.inc({ route, error: refusal.code, reason: refusal.reason ?? '' });
      },
      refusedForStore: () => forStore.inc(),
      committed(count, seconds) {
        units.observe(count);
        commits.observe(seconds);
      },
      retried: () => conflicts.inc(),
      shared: (count) => callers.observe(count),
      notified: (outcome) => notified.inc({ outcome }),
      mailed: (kind, outcome) => mailed.inc({ kind, outcome }),
      droppedSteps: (count) => droppedSteps.inc(count),
      checkedBreaches: (outcome) => breachChecks.inc({ outcome }),
      droppedSpans: (reason, count) => droppedSpans.inc({ reason }, count),
      exported: (signal, outcome) => exports.inc({ signal, outcome }),
    },
  };
}
