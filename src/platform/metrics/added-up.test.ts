// store: none
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Counter, Gauge, Registry } from 'prom-client';
import { type MetricValues, sumMetrics } from './added-up.ts';
import { countDroppedLines } from './log-lines.ts';

/** What a process has told that answered so many requests. */
async function measured(answered: number): Promise<MetricValues> {
  const registry = new Registry();
  new Counter({ name: 'answered', help: 'Answered.', registers: [registry] }).inc(answered);
  countDroppedLines(() => answered, registry);
  new Gauge({ name: 'tessera_ready', help: 'Ready.', aggregator: 'min', registers: [registry] }).set(1);
  return registry.getMetricsAsJSON();
}

/** How many lines of the log the supervisor has dropped. */
let dropped = 0;

async function service(...first: readonly number[]) {
  const serving = new Map<number, MetricValues>();
  for (const [index, answered] of first.entries()) serving.set(index, await measured(answered));
  const metrics = sumMetrics({
    count: () => serving.size,
    measure: async () => {},
    lastMeasured: () => [...serving.values()],
    log: { loss: () => ({ dropped, lasts: false }) },
  });
  return {
    serving,
    end(index: number, isExpected = false) {
      const last = serving.get(index);
      serving.delete(index);
      metrics.ended(last, isExpected);
    },
    async read(name: string): Promise<number> {
      return Number(new RegExp(`^${name} (.*)$`, 'm').exec(await metrics.registry.metrics())?.[1]);
    },
  };
}

test('counters never go back, however they are read while processes end', async () => {
  const { serving, end, read } = await service(1, 10, 100, 1000);
  assert.equal(await read('answered'), 1111);
  const readings: Promise<number>[] = [];
  for (const index of [0, 1, 2]) {
    readings.push(read('answered'));
    end(index);
    // Two scrapers at a time, at each point of the way.
    for (let turn = 0; turn < 5; turn++) {
      readings.push(read('answered'), read('answered'));
      await Promise.resolve();
    }
  }
  assert.deepEqual([...new Set(await Promise.all(readings))], [1111]);
  serving.set(1, await measured(5));
  assert.equal(await read('answered'), 1116);
  assert.equal(await read('tessera_process_ends_total'), 3);
});

test('a process that was told to end stays counted, and is no end that anybody is told of', async () => {
  const { end, read } = await service(1, 10);
  end(0, true);
  assert.equal(await read('answered'), 11);
  assert.equal(await read('tessera_processes'), 1);
  assert.equal(await read('tessera_process_ends_total'), 0);
});

test('the lag of one slow event loop does not hide among those of others', async () => {
  const { serving, read } = await service(1, 10, 100);
  for (const [index, seconds] of [0.001, 2, 0.003].entries()) {
    const registry = new Registry();
    for (const [name, aggregator] of [
      ['nodejs_eventloop_lag_p99_seconds', 'average'],
      ['nodejs_eventloop_lag_min_seconds', 'min'],
    ] as const)
      new Gauge({ name, help: 'Lag.', aggregator, registers: [registry] }).set(seconds);
    serving.set(index, await registry.getMetricsAsJSON());
  }
  assert.equal(await read('nodejs_eventloop_lag_p99_seconds'), 2);
  assert.equal(await read('nodejs_eventloop_lag_min_seconds'), 0.001);
});

test('a service of which no process serves is not ready', async () => {
  const { end, read } = await service(1, 10);
  assert.equal(await read('tessera_ready'), 1);
  end(0);
  assert.equal(await read('tessera_ready'), 1);
  end(1);
  assert.equal(await read('tessera_ready'), 0);
  assert.equal(await read('answered'), 11);
});

test('the lines that the supervisor and its processes dropped are counted together', async () => {
  const { end, read } = await service(1, 10);
  dropped = 100;
  assert.equal(await read('tessera_log_lines_dropped_total'), 111);
  end(0);
  dropped = 0;
  assert.equal(await read('tessera_log_lines_dropped_total'), 11);
});
