import { AggregatorRegistry, Counter, Gauge, Registry } from 'prom-client';
import type { LogOutput } from '../log-output.ts';
import type { MetricsText } from './listener.ts';
import { countDroppedLines } from './log-lines.ts';

/** The values of all metrics of a process at some time. */
export type MetricValues = Awaited<ReturnType<Registry['getMetricsAsJSON']>>;

/** The processes of a service, as their supervisor knows them. */
export interface MeasuredProcesses {
  /** How many serve now. */
  count(): number;
  /** Asks each of them what it has measured. */
  measure(): Promise<void>;
  /** What each of those that serve now has told last. */
  lastMeasured(): readonly MetricValues[];
  /** Where the supervisor writes the lines of all. */
  readonly log: Pick<LogOutput, 'loss'>;
}

/** The metrics of a service that several processes make up. */
export interface ServiceMetrics {
  readonly registry: MetricsText;
  /** The supervisor's own. */
  readonly own: Registry;
  /**
   * A process ended. Its counters go on with the last values that it told.
   * @param isExpected whether it had been told to end
   */
  ended(last: MetricValues | undefined, isExpected: boolean): void;
}

/** Counters and histograms only grow: Prometheus takes a lower value for a new beginning, and all of it for an increase. */
const growing = (values: MetricValues): MetricValues =>
  values.filter(({ type }) => ['counter', 'histogram'].includes(String(type)));

/**
 * The lag of the slowest event loop: the library averages it over the processes, where one that is slow would hide among the others.
 */
const ofSlowest = (values: MetricValues): MetricValues =>
  values.map((metric) =>
    metric.name.startsWith('nodejs_eventloop_lag_') && metric.aggregator === 'average'
      ? { ...metric, aggregator: 'max' }
      : metric,
  );

/** Adds up the metrics of processes as each metric says: see `aggregator` in metrics.ts. */
export function sumMetrics(processes: MeasuredProcesses): ServiceMetrics {
  const own = new Registry();
  const registers = [own];
  new Gauge({
    name: 'tessera_processes',
    help: 'Processes that serve, where several share the port.',
    registers,
    collect() {
      this.set(processes.count());
    },
  });
  const ends = new Counter({
    name: 'tessera_process_ends_total',
    help: 'Processes that ended without having been told to, and were replaced.',
    registers,
  });
  // Where no process is there to say that it is not ready.
  const none = new Registry();
  new Gauge({ name: 'tessera_ready', help: '1 if /health/ready answers 200, else 0.', registers: [none] }).set(0);

  // Under the name that the processes have, too, and so added to theirs.
  const shared = new Registry();
  countDroppedLines(() => processes.log.loss().dropped, shared);

  /** Of the processes that have ended. At every moment they add up to all that these have told. */
  let past: MetricValues[] = [];
  let joining = Promise.resolve();
  /** Keeps the list short, however many have ended. */
  async function joinPast(): Promise<void> {
    const joined = [...past];
    const sum = await AggregatorRegistry.aggregate(joined).getMetricsAsJSON();
    past = [sum, ...past.slice(joined.length)];
  }

  return {
    own,
    ended(last, isExpected) {
      if (!isExpected) ends.inc();
      if (last === undefined) return;
      past.push(growing(last));
      joining = joining.then(joinPast);
    },
    registry: {
      contentType: own.contentType,
      async metrics() {
        await processes.measure();
        // Read in one moment, so that a process that ends meanwhile counts once.
        const now = processes.lastMeasured().map(ofSlowest);
        const sum = AggregatorRegistry.aggregate([...past, ...now, await shared.getMetricsAsJSON()]);
        const texts = [own.metrics(), sum.metrics(), ...(now.length === 0 ? [none.metrics()] : [])];
        return (await Promise.all(texts)).join('\n');
      },
    },
  };
}
