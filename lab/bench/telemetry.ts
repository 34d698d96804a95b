/**
 * What telemetry costs: `npm run bench-telemetry`. The same server without it, with 1 % and with 100 % of the requests traced, and on
 * request that of another checkout. They answer a few hundred requests each, in turn and many times, and what is compared is the
 * processor time of those that are next to each other: other work of the machine disturbs that far less than rates.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { anyOf, following } from './drivers.ts';
import { Field } from './field.ts';
import { freePort } from './free-port.ts';
import { type Driver, load } from './load.ts';
import { say } from './say.ts';
import { SERVE } from './service.ts';
import { median } from './statistics.ts';
import { ready, startProgram } from './subject.ts';
import { protocol, serviceEnvironment } from './tessera.ts';

const CONNECTIONS = 32;

const { values } = parseArgs({
  options: {
    people: { type: 'string', default: '1000' },
    rounds: { type: 'string', default: '100' },
    /** In each round, of each server and work. */
    requests: { type: 'string', default: '1000' },
    /** The folder of another checkout, with its dependencies, that can use the database of this one. */
    before: { type: 'string' },
  },
});
const [people, rounds, count] = [Number(values.people), Number(values.rounds), Number(values.requests)];

/** Takes everything, and keeps nothing. */
let received = 0;
const collector = createServer((request, response) => {
  request.on('data', (chunk: Buffer) => {
    received += chunk.length;
  });
  request.on('end', () => response.writeHead(200, { 'content-type': 'application/json' }).end('{}'));
});
await new Promise<void>((listening) => collector.listen(0, '127.0.0.1', listening));
const endpoint = `http://127.0.0.1:${(collector.address() as AddressInfo).port}`;
const sampled = (share: string) => ({
  OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
  OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
  OTEL_TRACES_SAMPLER_ARG: share,
});

const here = resolve(import.meta.dirname, '../..');
const OFF = 'off';
/** Telemetry off is measured twice: the difference between the two is noise. */
const variants: readonly { readonly name: string; readonly folder: string; readonly settings: object }[] = [
  ...(values.before === undefined ? [] : [{ name: 'before', folder: resolve(values.before), settings: {} }]),
  { name: OFF, folder: here, settings: {} },
  { name: 'off, again', folder: here, settings: {} },
  { name: 'metrics only', folder: here, settings: { ...sampled('0'), OTEL_TRACES_EXPORTER: 'none' } },
  { name: '1 % traced', folder: here, settings: sampled('0.01') },
  { name: '100 % traced', folder: here, settings: sampled('1') },
];

/** Nanoseconds that the threads of a process have run: proc(5). The clock of `stat` ticks only a hundred times a second. */
function nanoseconds(pid: number): number {
  const threads = readdirSync(`/proc/${pid}/task`);
  const times = threads.map((id) => Number(readFileSync(`/proc/${pid}/task/${id}/schedstat`, 'utf8').split(' ')[0]));
  return times.reduce((sum, time) => sum + time, 0);
}

/** The first requests of a load. */
function firstOf(driver: Driver, most: number): Driver {
  let left = most;
  return { ...driver, next: (connection) => (left-- > 0 ? driver.next(connection) : undefined) };
}

interface Arm {
  readonly name: string;
  readonly work: string;
  /** Microseconds of processor time per request in each round. */
  readonly micros: number[];
  run(): Promise<void>;
}

await using field = new Field();
const arms: Arm[] = [];
for (const { name, folder, settings } of variants) {
  const population = await field.population('sqlite', people);
  const port = await freePort();
  const environment = { ...population.environment, ...serviceEnvironment(port), ...settings };
  const args = SERVE.map((word) => (word.startsWith('bin/') ? join(folder, word) : word));
  const child = startProgram(args, { environment, log: join(field.folder, `${name.replaceAll(/\W+/g, '-')}.log`) });
  await ready(field.keep({ process: child, port }), '/health/ready');
  const requests = protocol(port, population);
  const { sample } = population.seeded;
  const known = await requests.userInfo(sample);
  const drivers = { UserInfo: anyOf(known), Refresh: following({ sample, ...requests }, CONNECTIONS) };
  for (const [work, driver] of Object.entries(drivers)) {
    const micros: number[] = [];
    arms.push({
      ...{ name, work, micros },
      async run() {
        const before = nanoseconds(child.pid ?? 0);
        await load(port, CONNECTIONS, Number.POSITIVE_INFINITY, firstOf(driver, count));
        micros.push((nanoseconds(child.pid ?? 0) - before) / 1000 / count);
      },
    });
  }
}
say('Warming up …');
for (const arm of arms) {
  for (let time = 0; time < 10; time++) await arm.run();
  arm.micros.length = 0;
}
const works = ['UserInfo', 'Refresh'].map((work) => arms.filter((arm) => arm.work === work));
for (let round = 0; round < rounds; round++) {
  if (round % 20 === 0) say(`Round ${round + 1} of ${rounds} …`);
  for (const of of works) {
    // Each is as often first as last.
    for (let index = 0; index < of.length; index++) await of[(index + round) % of.length]?.run();
  }
}
collector.closeAllConnections();
collector.close();

const lines = [
  '| Work | Telemetry | CPU in µs per request, median | Relative to off, median of the rounds |',
  '|---|---|---|---|',
];
for (const of of works) {
  const off = of.find(({ name }) => name === OFF);
  for (const { work, name, micros } of of) {
    const relative = median(micros.map((each, round) => each / (off?.micros[round] ?? Number.NaN)));
    lines.push(`| ${work} | ${name} | ${median(micros).toFixed(1)} | ${relative.toFixed(3)} |`);
  }
}
process.stdout.write(`${lines.join('\n')}\n\nThe collector got ${(received / 2 ** 20).toFixed(1)} MiB.\n`);
