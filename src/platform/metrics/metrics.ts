import { Counter, collectDefaultMetrics, Gauge, Histogram, type Metric, Registry } from 'prom-client';
import type { DatabaseMeter } from '../database/database.ts';
import type { Meter } from '../http/meter.ts';
import type { LogOutput } from '../log-output.ts';
import { VERSION } from '../version.ts';
import { Durations } from './durations.ts';
import { countDroppedLines } from './log-lines.ts';
import {
  type HousekeepingBacklog,
  type LoadSources,
  type MailQueue,
  type NodeNumberLeases,
  type NodeState,
  type NoticeQueue,
  type Watched,
  watchLoad,
  watchQueues,
  watchState,
} from './watched.ts';

/** Receives what housekeeping does. */
export interface HousekeepingMeter {
  removed(table: string, rows: number): void;
  /** A pass has ended, at this time. */
  passed(now: number): void;
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

/** What requests and background work report. */
function workMeter(registry: Registry): Meter {
  const registers = [registry];
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
  const mailed = new Counter({
    name: 'tessera_mails_total',
    help: 'Attempts to send mail, by what it is about: sent, retried (tried again), dead (given up) or expired (its link was no longer valid).',
    labelNames: ['kind', 'outcome'] as const,
    registers,
  });
  const forStore = new Counter({
    name: 'tessera_store_unavailable_total',
    help: 'Requests that were refused because the store was unavailable.',
    registers,
  });
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
    answered({ method, route, status, seconds, refusal }) {
      requests.observe(`${status} ${method} ${route}`, () => ({ method, route, status }), seconds);
      if (refusal !== null) refusals.inc({ route, error: refusal.code, reason: refusal.reason ?? '' });
    },
    refusedForStore: () => forStore.inc(),
    notified: (outcome) => notified.inc({ outcome }),
    mailed: (kind, outcome) => mailed.inc({ kind, outcome }),
    droppedSteps: (count) => droppedSteps.inc(count),
    checkedBreaches: (outcome) => breachChecks.inc({ outcome }),
    droppedSpans: (reason, count) => droppedSpans.inc({ reason }, count),
    exported: (signal, outcome) => exports.inc({ signal, outcome }),
  };
}

/** What the store reports. */
function databaseMeter(registry: Registry): DatabaseMeter {
  const registers = [registry];
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
  return {
    committed(count, seconds) {
      units.observe(count);
      commits.observe(seconds);
    },
    retried: () => conflicts.inc(),
    shared: (count) => callers.observe(count),
  };
}

function housekeepingMeter(registry: Registry): HousekeepingMeter {
  const registers = [registry];
  const removedRows = new Counter({
    name: 'tessera_housekeeping_removed_rows_total',
    help: 'Rows that this node removed because they were of no more use, by table.',
    labelNames: ['table'] as const,
    registers,
  });
  const lastPass = new Gauge({
    name: 'tessera_housekeeping_last_pass_timestamp_seconds',
    help: 'When housekeeping of this node last ended a pass, or left it to another node, in seconds since the Unix epoch. 0 before the first one.',
    aggregator: 'max',
    registers,
  });
  return {
    removed: (table, rows) => removedRows.inc({ table }, rows),
    passed: (now) => lastPass.set(now / 1000),
  };
}

/**
 * The metrics of one process in the format of Prometheus. Where several make up a service, their values are added up; an `aggregator`
 * says otherwise, for what each of them reads from the database or for what must hold for all.
 */
export function createMetrics(): Metrics {
  const registry = new Registry();
  const registers = [registry];
  const watched: Watched = {};
  // The defaults of prom-client: event-loop delay, memory, processor time, garbage collection.
  collectDefaultMetrics({ register: registry });

  new Gauge({
    name: 'tessera_build_info',
    help: 'Always 1; the label is the version of the node.',
    labelNames: ['version'] as const,
    aggregator: 'max',
    registers,
  }).set({ version: VERSION }, 1);
  const meter = { ...workMeter(registry), ...databaseMeter(registry) };
  const housekeeping = housekeepingMeter(registry);
  watchLoad(registry, watched);
  watchQueues(registry, watched);
  watchState(registry, watched);
  countDroppedLines(() => watched.log?.loss().dropped ?? 0, registry);
  return {
    ...{ registry, meter, housekeeping },
    watch(sources) {
      watched.sources = sources;
    },
    watchNotices(queue) {
      watched.notices = queue;
    },
    watchMail(queue) {
      watched.mail = queue;
    },
    watchBacklog(backlog) {
      watched.backlog = backlog;
    },
    watchNode(node) {
      watched.node = node;
    },
    watchStore(outages) {
      watched.outages = outages;
    },
    watchLog(log) {
      watched.log = log;
    },
    watchNumbers(numbers) {
      watched.numbers = numbers;
    },
  };
}
