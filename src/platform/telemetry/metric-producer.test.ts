// store: none
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DataPointType } from '@opentelemetry/sdk-metrics';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { metricProducer } from './metric-producer.ts';

test('counters, gauges and histograms of Prometheus, with their labels; what is unknown has no value', async () => {
  const registers = [new Registry()];
  const [registry] = registers;
  assert.ok(registry);
  const labelNames = ['kind'];
  const counter = new Counter({ name: 'things_total', help: 'Things.', labelNames, registers });
  counter.inc({ kind: 'a' }, 2);
  counter.inc({ kind: 'b' }, 3);
  new Gauge({ name: 'level', help: 'A level.', registers }).set(-1.5);
  new Gauge({ name: 'unknown', help: 'Not known now.', registers }).set(Number.NaN);
  const histogram = new Histogram({ name: 'seconds', help: 'Took.', labelNames, buckets: [0.1, 1], registers });
  for (const seconds of [0.05, 0.5, 0.6, 7]) histogram.observe({ kind: 'a' }, seconds);

  const { resourceMetrics, errors } = await metricProducer(registry, 'test').collect();
  const metrics = resourceMetrics.scopeMetrics.flatMap((scope) => scope.metrics);
  const points = (name: string) =>
    metrics
      .find(({ descriptor }) => descriptor.name === name)
      ?.dataPoints.map(({ attributes, value }) => [attributes, value]);
  assert.deepEqual(errors, []);
  assert.deepEqual(
    metrics.map(({ descriptor, dataPointType }) => [descriptor.name, dataPointType]),
    [
      ['things_total', DataPointType.SUM],
      ['level', DataPointType.GAUGE],
      ['unknown', DataPointType.GAUGE],
      ['seconds', DataPointType.HISTOGRAM],
    ],
  );
  assert.deepEqual(points('things_total'), [
    [{ kind: 'a' }, 2],
    [{ kind: 'b' }, 3],
  ]);
  assert.deepEqual(points('level'), [[{}, -1.5]]);
  assert.deepEqual(points('unknown'), []);
  const value = { buckets: { boundaries: [0.1, 1], counts: [1, 2, 1] }, sum: 8.15, count: 4 };
  assert.deepEqual(points('seconds'), [[{ kind: 'a' }, value]]);
});
