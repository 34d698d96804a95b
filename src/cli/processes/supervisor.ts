import cluster, { type Worker } from 'node:cluster';
import { hostname } from 'node:os';
import { SECOND } from '../../platform/clock.ts';
import { logLine, plainLogger } from '../../platform/log.ts';
import type { MetricValues, ServiceMetrics } from '../../platform/metrics/added-up.ts';
import { listenForMetrics } from '../../platform/metrics/listener.ts';
import { ACKNOWLEDGEMENT_TIMEOUT } from '../../platform/stop.ts';
import { Turns } from '../../platform/turns.ts';
import type { Config } from '../../settings/config.ts';
import type { Logs } from '../logs.ts';
import { noteAcceptTimes } from './accept-times.ts';
import { watchHandover } from './handover.ts';
import { passLines } from './lines.ts';
import type { Order, Report } from './messages.ts';
import { endsInARow, restartDelay } from './rules/restart.ts';
import { watch } from './watch.ts';

/** How long a process may take to tell its metrics. Until then the last ones that it told stand for it. */
const MEASURE_TIMEOUT = 5 * SECOND;

/** How long a process may keep a turn: much longer than it takes. One that hangs with it would keep all others from signing people in. */
const HASH_LIMIT = 2 * SECOND;
const PICTURE_LIMIT = 10 * SECOND;

/** One of the processes that share the port. */
interface Running {
  readonly worker: Worker;
  /** Whether no other one served when it started. */
  readonly isFirst: boolean;
  /** When it began to serve, by `performance.now()`. */
  readySince: number | undefined;
  /** What it measured when it was last asked. */
  values: MetricValues | undefined;
  measuring: PromiseWithResolvers<void> | undefined;
  /** How many times in a row it has not said that it works. */
  unanswered: number;
  /** Whether it has said that it closes. */
  isClosing: boolean;
  /** Whether it was killed because it hung. */
  isKilled: boolean;
}

/** A place for a process, which is filled again when the process ends. */
interface Place {
  readonly number: number;
  running: Running | undefined;
  /** How often in a row a process has ended soon. */
  ends: number;
  /** Whether it may be filled: after an end, another process waits before it starts. */
  isDue: boolean;
}

type ReadyReport = Extract<Report, { kind: 'ready' }>;

/** A service of several processes. */
export interface SupervisedService {
  readonly baseUrl: string;
  readonly setupAddress: string | undefined;
  /** Resolves when all processes serve. */
  readonly complete: Promise<void>;
  drain(): void;
  close(patiently?: boolean): Promise<void>;
}

/**
 * Runs a service of several processes that share the port. The supervisor accepts the connections and gives them to the processes in
 * turn; it reads no request, and opens neither the database nor the secret.
 *
 * The first process starts alone: it migrates the database, and creates what a new one lacks. Where it cannot start, the service ends with
 * its message and status. The others start when it serves.
 * @returns when the first process serves
 */
export async function supervise(config: Config, logs: Logs): Promise<SupervisedService> {
  const processes = new Processes(config, logs);
  const metrics =
    config.metricsAddress &&
    (await import('../../platform/metrics/added-up.ts')).sumMetrics({
      count: () => processes.serving().length,
      measure: () => processes.measure(),
      lastMeasured: () => processes.serving().flatMap(({ values }) => (values === undefined ? [] : [values])),
      log: logs.out,
    });
  const metricsListener = config.metricsAddress && metrics && (await listenForMetrics(config.metricsAddress, metrics));
  const { baseUrl, setupAddress } = await processes.start(metrics);
  return {
    ...{ baseUrl, setupAddress },
    complete: processes.complete,
    drain: () => processes.drain(),
    async close(patiently = false) {
      await processes.close(patiently);
      if (metricsListener) await metricsListener.close();
      processes.requireOrder();
    },
  };
}

/** The processes that share the port, each in its place. */
class Processes {
  readonly #logs: Logs;
  readonly #log: ReturnType<typeof plainLogger>;
  readonly #places: readonly Place[];
  readonly #turns: Readonly<Record<'hash' | 'picture', Turns<Worker>>>;
  readonly #first = Promise.withResolvers<ReadyReport>();
  readonly #complete = Promise.withResolvers<void>();
  readonly #ending = new Set<Promise<void>>();
  #acceptedAt: ReturnType<typeof noteAcceptTimes> | undefined;
  #metrics: ServiceMetrics | undefined;
  #stopWatching = (): void => {};
  /** Where the service answers: known when its first process does. */
  #port: number | undefined;
  /** What processes ask for, which must be the same for all that live at a time: 0, where the system has chosen the port of the first. */
  #asked: number;
  #stopping = false;
  /** How many processes did not stop in order. */
  #failed = 0;

  constructor(config: Config, logs: Logs) {
    this.#logs = logs;
    this.#asked = config.port;
    this.#places = Array.from({ length: config.processes }, (_, index) => ({
      number: index + 1,
      running: undefined,
      ends: 0,
      isDue: true,
    }));
    this.#turns = {
      hash: new Turns<Worker>(config.hashingConcurrency, HASH_LIMIT),
      picture: new Turns<Worker>(1, PICTURE_LIMIT),
    };
    const every = { pid: process.pid, hostname: hostname(), clock: Date.now };
    this.#log = plainLogger(config.logLevel, every, (line) => logs.out.write(line));
  }

  /** Resolves when all processes serve. */
  get complete(): Promise<void> {
    return this.#complete.promise;
  }

  serving(): Running[] {
    return this.#running().filter(({ readySince }) => readySince !== undefined);
  }

  async measure(): Promise<void> {
    await Promise.all(this.serving().map(measure));
  }

  /** @returns when the first process serves */
  start(metrics: ServiceMetrics | undefined): Promise<ReadyReport> {
    this.#metrics = metrics;
    // In turn, on every system: processes that accept by themselves share unevenly, and lose what one of them has not accepted yet.
    cluster.schedulingPolicy = cluster.SCHED_RR;
    cluster.setupPrimary({ silent: true, serialization: 'advanced' });
    this.#acceptedAt = noteAcceptTimes();
    process.on('exit', () => {
      for (const { worker } of this.#running()) worker.process.kill('SIGKILL');
    });
    this.#stopWatching = watch(
      () => this.serving(),
      (one) => tell(one, { kind: 'look', log: this.#logs.out.loss() }),
      (one) => this.#kill(one),
    );
    this.#fill();
    return this.#first.promise;
  }

  drain(): void {
    this.#stopping = true;
    // One that is still starting may have taken a connection already: it does so when it has started.
    for (const one of this.#running()) tell(one, { kind: 'drain' });
  }

  async close(patiently: boolean): Promise<void> {
    for (const one of this.#running()) tell(one, { kind: 'close', patiently });
    // One that hangs would keep the port open, and let new connections wait.
    const timer = setTimeout(() => {
      for (const one of this.#running()) if (!one.isClosing) this.#kill(one);
    }, ACKNOWLEDGEMENT_TIMEOUT);
    await Promise.all(this.#ending);
    clearTimeout(timer);
    this.#stopWatching();
  }

  /** @throws {Error} where a process did not stop in order */
  requireOrder(): void {
    if (this.#failed > 0) throw new Error(`${this.#failed} of ${this.#places.length} processes did not stop in order`);
  }

  #running(): Running[] {
    return this.#places.flatMap((place) => place.running ?? []);
  }

  /** Fills the places that are empty and due. While none serves, one process starts at a time. */
  #fill(): void {
    for (const place of this.#places) {
      if (this.#stopping) return;
      const joins = this.serving().length > 0 ? this.#port : undefined;
      if (joins === undefined && this.#running().length > 0) return;
      if (place.running === undefined && place.isDue) this.#launch(place, joins);
    }
  }

  #launch(place: Place, joins: number | undefined): void {
    // After the last one that shared the port has ended, the system might choose another.
    if (joins === undefined) this.#asked = this.#port ?? this.#asked;
    let worker: Worker;
    try {
      worker = cluster.fork();
    } catch (error) {
      // Too little memory, for example. The first one has nothing to go on with; later, there may be enough again.
      if (this.#port === undefined) throw error;
      this.#metrics?.ended(undefined, false);
      this.#refillLater(place, 0, { ended: error instanceof Error ? error.message : String(error) });
      return;
    }
    const handOver = this.#acceptedAt && watchHandover(worker, this.#acceptedAt);
    const one = runningIn(worker, joins === undefined);
    place.running = one;
    const { stdout, stderr } = worker.process;
    if (stdout) passLines(stdout, this.#logs.out);
    if (stderr) passLines(stderr, this.#logs.err);
    worker.on('message', (report: Report) => this.#hear(place, one, report));
    const end = endOf(worker).then((ended) => {
      this.#replace(place, one, ended);
      handOver?.(this.serving().length > 0);
    });
    this.#ending.add(end);
    void end.finally(() => this.#ending.delete(end));
    tell(one, { kind: 'start', number: place.number, port: this.#asked, joins });
  }

  #hear(place: Place, one: Running, report: Report): void {
    const { worker } = one;
    switch (report.kind) {
      case 'ready':
        this.#becomeReady(place, one, report);
        break;
      case 'asks':
        this.#turns[report.what].ask(worker, () => tell(one, { kind: 'turn', request: report.request }));
        break;
      case 'gives back':
        this.#turns[report.what].giveBack(worker);
        break;
      case 'measured':
        one.values = report.values;
        one.measuring?.resolve();
        break;
      case 'works':
        one.unanswered = 0;
        break;
      case 'closing':
        one.isClosing = true;
    }
  }

  #becomeReady(place: Place, one: Running, report: ReadyReport): void {
    one.readySince = performance.now();
    this.#port = report.port;
    this.#first.resolve(report);
    if (this.serving().length === this.#places.length) this.#complete.resolve();
    if (place.ends > 0)
      logLine(this.#log, 'info', 'a process took the place of another', { process: one.worker.process.pid });
    this.#fill();
  }

  #replace(place: Place, one: Running, ended: number | string): void {
    const { worker, isFirst, readySince, values, isKilled } = one;
    place.running = undefined;
    one.measuring?.resolve();
    for (const kind of [this.#turns.hash, this.#turns.picture]) kind.forget(worker);
    this.#metrics?.ended(values, this.#stopping);
    if (this.#stopping) {
      // One that was still starting may fail for that reason.
      if (ended !== 0 && readySince !== undefined && !isKilled) this.#failed++;
      return;
    }
    // No other one could start either. What was wrong has been said, unless the system had no room for a process.
    const hadRoom = worker.process.pid !== undefined || this.#port === undefined;
    if (isFirst && readySince === undefined && this.#running().length === 0 && hadRoom)
      process.exit(typeof ended === 'number' ? ended || 1 : 1);
    const served = readySince === undefined ? 0 : performance.now() - readySince;
    this.#refillLater(place, served, { process: worker.process.pid, ended });
  }

  /** @param served for how long its process has served, in milliseconds */
  #refillLater(place: Place, served: number, facts: { process?: number | undefined; ended: number | string }): void {
    place.ends = endsInARow(place.ends, served);
    const delay = restartDelay(place.ends);
    logLine(this.#log, 'error', 'a process ended and is replaced', { ...facts, delay: delay / SECOND });
    place.isDue = false;
    setTimeout(() => {
      place.isDue = true;
      this.#fill();
    }, delay);
  }

  #kill(one: Running): void {
    logLine(this.#log, 'error', 'a process hangs and is killed', { process: one.worker.process.pid });
    one.isKilled = true;
    one.worker.process.kill('SIGKILL');
  }
}

const runningIn = (worker: Worker, isFirst: boolean): Running => ({
  worker,
  isFirst,
  readySince: undefined,
  values: undefined,
  measuring: undefined,
  unanswered: 0,
  isClosing: false,
  isKilled: false,
});

function tell({ worker }: Running, order: Order): void {
  // One that has just ended hears nothing; its end is noticed elsewhere.
  if (worker.isConnected()) worker.send(order, () => {});
}

/** Asks a process for its metrics, and waits for them. */
async function measure(one: Running): Promise<void> {
  if (one.measuring === undefined) {
    const measuring = Promise.withResolvers<void>();
    one.measuring = measuring;
    const timer = setTimeout(measuring.resolve, MEASURE_TIMEOUT);
    void measuring.promise.then(() => {
      clearTimeout(timer);
      one.measuring = undefined;
    });
    tell(one, { kind: 'measure' });
  }
  await one.measuring.promise;
}

/** How a process ended, once all that it wrote has been read and its share of the port has been given up. */
function endOf(worker: Worker): Promise<number | string> {
  return new Promise((resolve) => {
    worker.on('error', (error) => {
      if (worker.process.pid === undefined) resolve(error.message);
    });
    worker.process.once('close', (code, signal) => {
      const ended = code ?? signal ?? 'unknown';
      if (worker.isConnected()) worker.once('disconnect', () => resolve(ended));
      else resolve(ended);
    });
  });
}
