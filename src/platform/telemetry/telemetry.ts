import { hostname } from 'node:os';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  ParentBasedSampler,
  type Sampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import type { Registry } from 'prom-client';
import { SECOND } from '../clock.ts';
import type { TelemetrySettings, TraceSettings } from '../config/telemetry.ts';
import type { Meter } from '../http/meter.ts';
import type { BeginRequestSpan } from '../http/request-tracing.ts';
import { VERSION } from '../version.ts';
import { createExporters, type Signal } from './exporters.ts';
import { metricProducer } from './metric-producer.ts';
import { createSpanQueue } from './span-queue.ts';
import { type Traced, tracedBy } from './traced.ts';
import { createTracing } from './tracing.ts';

/** How long a stopping service waits for the collector to take what is left. */
const DRAIN = 3 * SECOND;
const SCOPE = 'tessera';

/** The telemetry of a running server. */
export interface Telemetry {
  /** Undefined where only metrics are sent. */
  readonly beginRequest: BeginRequestSpan | undefined;
  readonly traced: Traced | undefined;
  /** Sends what is left, but does not wait long for a collector that does not answer. */
  stop(): Promise<void>;
}

interface TelemetryParts {
  readonly settings: TelemetrySettings;
  /** The number of this process, where several make up the service. */
  readonly process?: number | undefined;
  readonly databaseSystem: 'sqlite' | 'postgresql';
  /** The metrics that are sent, if any. */
  readonly registry: Pick<Registry, 'getMetricsAsJSON'> | undefined;
  readonly meter: Pick<Meter, 'droppedSpans' | 'exported'>;
  /** Called when the collector stops taking a signal, with the cause, and when it takes it again. */
  readonly changed: (signal: Signal, cause: string | undefined) => void;
}

/**
 * Starts to send traces and metrics by OTLP. Nothing of it is global, so that several servers of a process do not share it, and no
 * request waits for it: queues are bounded, and what does not fit is dropped and counted.
 */
export function startTelemetry({
  settings,
  process,
  databaseSystem,
  registry,
  meter,
  changed,
}: TelemetryParts): Telemetry {
  const failing = new Set<Signal>();
  const exporters = createExporters(settings, (signal, cause) => {
    meter.exported(signal, cause === undefined ? 'accepted' : 'failed');
    if ((cause !== undefined) === failing.has(signal)) return;
    if (cause === undefined) failing.delete(signal);
    else failing.add(signal);
    changed(signal, cause);
  });
  const resource = resourceFromAttributes({
    'service.version': VERSION,
    ...settings.resource,
    'service.name': settings.serviceName,
    ...(process !== undefined && { 'service.instance.id': instanceId(settings, process) }),
  });
  const tracers =
    settings.traces &&
    new TracerProvider({
      resource,
      sampler: samplerOf(settings.traces),
      spanProcessors: [
        createSpanQueue(exporters.spans, settings.traces.delayMs, (reason, spans) => meter.droppedSpans(reason, spans)),
      ],
    });
  const tracing = tracers && createTracing(tracers.getTracer(SCOPE), settings.traces?.trustParent ?? false);
  const meters =
    settings.metrics &&
    registry &&
    new MeterProvider({
      resource,
      readers: [
        new PeriodicExportingMetricReader({
          exporter: exporters.metrics,
          exportIntervalMillis: settings.metrics.intervalMs,
          metricProducers: [metricProducer(registry, SCOPE)],
        }),
      ],
    });
  return {
    beginRequest: tracing?.beginRequest,
    traced: tracing && tracedBy(tracing, databaseSystem),
    async stop() {
      const { promise: late, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(resolve, DRAIN);
      await Promise.race([Promise.allSettled([tracers?.shutdown(), meters?.shutdown()]), late]);
      clearTimeout(timer);
      exporters.abandon();
    },
  };
}

/** Processes that send metrics of the same name must differ, or a collector takes them for one that contradicts itself. */
const instanceId = ({ resource }: TelemetrySettings, process: number): string =>
  `${resource['service.instance.id'] ?? hostname()}/${process}`;

function samplerOf({ sampler, ratio }: TraceSettings): Sampler {
  const root = sampler.endsWith('always_off')
    ? new AlwaysOffSampler()
    : sampler.endsWith('always_on')
      ? new AlwaysOnSampler()
      : new TraceIdRatioBasedSampler(ratio);
  return sampler.startsWith('parentbased') ? new ParentBasedSampler({ root }) : root;
}
