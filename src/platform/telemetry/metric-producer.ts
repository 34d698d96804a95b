import { type HrTime, ValueType } from '@opentelemetry/api';
import { hrTime } from '@opentelemetry/core';
import { emptyResource } from '@opentelemetry/resources';
import {
  AggregationTemporality,
  DataPointType,
  type MetricData,
  type MetricProducer,
} from '@opentelemetry/sdk-metrics';
import type { Registry } from 'prom-client';

type PrometheusMetric = Awaited<ReturnType<Registry['getMetricsAsJSON']>>[number];
type Sample = PrometheusMetric['values'][number] & { readonly metricName?: string };

/** Reads the metrics of the registry that Prometheus reads, under the same names: there is one source of both. */
export function metricProducer(registry: Pick<Registry, 'getMetricsAsJSON'>, scope: string): MetricProducer {
  const startTime = hrTime();
  return {
    async collect() {
      const metrics = await registry.getMetricsAsJSON();
      const endTime = hrTime();
      const converted = metrics.flatMap((metric) => convert(metric, { startTime, endTime }));
      return {
        resourceMetrics: { resource: emptyResource(), scopeMetrics: [{ scope: { name: scope }, metrics: converted }] },
        errors: [],
      };
    },
  };
}

interface Period {
  readonly startTime: HrTime;
  readonly endTime: HrTime;
}

/** A metric of Prometheus in the model of OpenTelemetry; none for a summary, which Tessera does not have. */
function convert({ name, help, type, values }: PrometheusMetric, period: Period): MetricData[] {
  const common = {
    descriptor: { name, description: help, unit: '', valueType: ValueType.DOUBLE },
    aggregationTemporality: AggregationTemporality.CUMULATIVE,
  };
  const numbers = () =>
    // What is unknown now has no value.
    values
      .filter(({ value }) => Number.isFinite(value))
      .map(({ labels, value }) => ({ ...period, attributes: withoutUndefined(labels), value }));
  // The type of prom-client is an enum for its own code, and a text in what it returns.
  const kind: string = String(type);
  if (kind === 'counter') {
    return [{ ...common, dataPointType: DataPointType.SUM, isMonotonic: true, dataPoints: numbers() }];
  }
  if (kind === 'gauge') return [{ ...common, dataPointType: DataPointType.GAUGE, dataPoints: numbers() }];
  if (kind !== 'histogram') return [];
  const series = Map.groupBy(values as readonly Sample[], ({ labels }) => keyOf(labels));
  const dataPoints = [...series.values()].map((samples) => ({ ...period, ...histogramOf(name, samples) }));
  return [{ ...common, dataPointType: DataPointType.HISTOGRAM, dataPoints }];
}

/** A series of a histogram: its buckets are cumulative in Prometheus, and not in OpenTelemetry. */
function histogramOf(name: string, samples: readonly Sample[]) {
  const boundaries: number[] = [];
  const counts: number[] = [];
  let [below, sum, count] = [0, 0, 0];
  for (const { metricName, labels, value } of samples) {
    if (metricName === `${name}_sum`) sum = value;
    if (metricName === `${name}_count`) count = value;
    if (metricName !== `${name}_bucket`) continue;
    const { le } = labels as { readonly le?: number | string };
    if (le !== '+Inf') boundaries.push(Number(le));
    counts.push(value - below);
    below = value;
  }
  const { le: _bound, ...attributes } = withoutUndefined(samples[0]?.labels ?? {});
  return { attributes, value: { buckets: { boundaries, counts }, sum, count } };
}

const keyOf = (labels: object): string =>
  JSON.stringify(
    Object.entries(labels)
      .filter(([label]) => label !== 'le')
      .sort(([one], [other]) => (one < other ? -1 : 1)),
  );

const withoutUndefined = (labels: Partial<Record<string, string | number>>): Record<string, string | number> =>
  Object.fromEntries(Object.entries(labels).flatMap(([label, value]) => (value === undefined ? [] : [[label, value]])));
