import cluster, { type Worker } from 'node:cluster';
import { hostname } from 'node:os';
import { SECOND } from '../../platform/clock.ts';
import type { Config } from '../../platform/config/config.ts';
import { logLine, plainLogger } from '../../platform/log.ts';
import type { MetricValues } from '../../platform/metrics/added-up.ts';
import { listenForMetrics } from '../../platform/metrics/listener.ts';
import { ACKNOWLEDGEMENT_TIMEOUT } from '../../platform/stop.ts';
import { Turns } from '../../platform/turns.ts';
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

/** A service of several processes. */
export interface SupervisedService {
  readonly baseUrl: string;
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
  const places: Place[] = Array.from({ length: config.processes }, (_, index) => ({
    number: index + 1,
    running: undefined,
    ends: 0,
    isDue: true,
  }));
  const turns = {
    hash: new Turns<Worker>(config.hashingConcurrency, HASH_LIMIT),
    picture: new Turns<Worker>(1, PICTURE_LIMIT),
  };
  const every = { pid: process.pid, hostname: hostname(), clock: Date.now };
  const log = plainLogger(config.logLevel, every, (line) => logs.out.write(line));
  const first = Promise.withResolvers<Extract<Report, { kind: 'ready' }>>();
  const complete = Promise.withResolvers<void>();
  /** Where the service answers: known when its first process does. */
  let port: number | undefined;
  /** What processes ask for, which must be the same for all that live at a time: 0, where the system has chosen the port of the first. */
  let asked = config.port;
  let stopping = false;
  const ending = new Set<Promise<void>>();
  let failed = 0;

  const running = (): Running[] => places.flatMap((place) => place.running ?? []);
  const serving = (): Running[] => running().filter(({ readySince }) => readySince !== undefined);

  const metrics =
    config.metricsAddress &&
    (await import('../../platform/metrics/added-up.ts')).addUpMetrics({
      count: () => serving().length,
      async measure() {
        await Promise.all(serving().map(measure));
      },
      told: () => serving().flatMap(({ values }) => (values === undefined ? [] : [values])),
      log: logs.out,
    });
  const metricsListener = config.metricsAddress && metrics && (await listenForMetrics(config.metricsAddress, metrics));

  // In turn, on every system: processes that accept by themselves share unevenly, and lose what one of them has not accepted yet.
  cluster.schedulingPolicy = cluster.SCHED_RR;
  cluster.setupPrimary({ silent: true, serialization: 'advanced' });
  const acceptedAt = noteAcceptTimes();
  process.on('exit', () => {
    for (const { worker } of running()) worker.process.kill('SIGKILL');
  });

  function tell({ worker }: Running, order: Order): void {
    // One that has just ended hears nothing; its end is noticed elsewhere.
    if (worker.isConnected()) worker.send(order, () => {});
  }

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

  /** Fills the places that are empty and due. While none serves, one process starts at a time. */
  function fill(): void {
    for (const place of places) {
      if (stopping) return;
      const joins = serving().length > 0 ? port : undefined;
      if (joins === undefined && running().length > 0) return;
      if (place.running === undefined && place.isDue) launch(place, joins);
    }
  }

  function launch(place: Place, joins: number | undefined): void {
    // After the last one that shared the port has ended, the system might choose another.
    if (joins === undefined) asked = port ?? asked;
    let worker: Worker;
    try {
      worker = cluster.fork();
    } catch (error) {
      // Too little memory, for example. The first one has nothing to go on with; later, there may be enough again.
      if (port === undefined) throw error;
      metrics?.ended(undefined, false);
      refillLater(place, 0, { ended: error instanceof Error ? error.message : String(error) });
      return;
    }
    const handOver = watchHandover(worker, acceptedAt);
    const one: Running = {
      worker,
      isFirst: joins === undefined,
      readySince: undefined,
      values: undefined,
      measuring: undefined,
      unanswered: 0,
      isClosing: false,
      isKilled: false,
    };
    place.running = one;
    const { stdout, stderr } = worker.process;
    if (stdout) passLines(stdout, logs.out);
    if (stderr) passLines(stderr, logs.err);
    worker.on('message', (report: Report) => {
      switch (report.kind) {
        case 'ready':
          return becomeReady(place, one, report);
        case 'asks':
          return turns[report.what].ask(worker, () => tell(one, { kind: 'turn', request: report.request }));
        case 'gives back':
          return turns[report.what].giveBack(worker);
        case 'measured':
          one.values = report.values;
          return one.measuring?.resolve();
        case 'works':
          one.unanswered = 0;
          return;
        case 'closing':
          one.isClosing = true;
      }
    });
    const end = endOf(worker).then((ended) => {
      replace(place, one, ended);
      handOver(serving().length > 0);
    });
    ending.add(end);
    void end.finally(() => ending.delete(end));
    tell(one, { kind: 'start', number: place.number, port: asked, joins });
  }

  function becomeReady(place: Place, one: Running, report: Extract<Report, { kind: 'ready' }>): void {
    one.readySince = performance.now();
    port = report.port;
    first.resolve(report);
    if (serving().length === places.length) complete.resolve();
    if (place.ends > 0)
      logLine(log, 'info', 'a process took the place of another', { process: one.worker.process.pid });
    fill();
  }

  function replace(place: Place, one: Running, ended: number | string): void {
    const { worker, isFirst, readySince, values, isKilled } = one;
    place.running = undefined;
    one.measuring?.resolve();
    for (const kind of [turns.hash, turns.picture]) kind.forget(worker);
    metrics?.ended(values, stopping);
    if (stopping) {
      // One that was still starting may fail for that reason.
      if (ended !== 0 && readySince !== undefined && !isKilled) failed++;
      return;
    }
    // No other one could start either. What was wrong has been said, unless the system had no room for a process.
    const hadRoom = worker.process.pid !== undefined || port === undefined;
    if (isFirst && readySince === undefined && running().length === 0 && hadRoom)
      process.exit(typeof ended === 'number' ? ended || 1 : 1);
    const served = readySince === undefined ? 0 : performance.now() - readySince;
    refillLater(place, served, { process: worker.process.pid, ended });
  }

  /** @param served for how long its process has served, in milliseconds */
  function refillLater(place: Place, served: number, facts: { process?: number | undefined; ended: number | string }) {
    place.ends = endsInARow(place.ends, served);
    const delay = restartDelay(place.ends);
    logLine(log, 'error', 'a process ended and is replaced', { ...facts, delay: delay / SECOND });
    place.isDue = false;
    setTimeout(() => {
      place.isDue = true;
      fill();
    }, delay);
  }

  function kill(one: Running): void {
    logLine(log, 'error', 'a process hangs and is killed', { process: one.worker.process.pid });
    one.isKilled = true;
    one.worker.process.kill('SIGKILL');
  }

  const stopWatching = watch(serving, (one) => tell(one, { kind: 'look', log: logs.out.loss() }), kill);
  fill();
  const { baseUrl } = await first.promise;
  return {
    baseUrl,
    complete: complete.promise,
    drain() {
      stopping = true;
      // One that is still starting may have taken a connection already: it does so when it has started.
      for (const one of running()) tell(one, { kind: 'drain' });
    },
    async close(patiently = false) {
      for (const one of running()) tell(one, { kind: 'close', patiently });
      // One that hangs would keep the port open, and let new connections wait.
      const timer = setTimeout(() => {
        for (const one of running()) if (!one.isClosing) kill(one);
      }, ACKNOWLEDGEMENT_TIMEOUT);
      await Promise.all(ending);
      clearTimeout(timer);
      stopWatching();
      if (metricsListener) await metricsListener.close();
      if (failed > 0) throw new Error(`${failed} of ${places.length} processes did not stop in order`);
    },
  };
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
