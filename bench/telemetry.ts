/**
 * What telemetry costs: `npm run bench-telemetry`. The same server without it, with 1 % and with 100 % of the requests traced, and on
 * request that of another checkout. They are measured in turn, by the processor time of the server for each request, which depends
 * on other work of the machine far less than rates do.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { anyOf, following } from './drivers.ts';
import { Field } from './field.ts';
import { freePort } from './free-port.ts';
import { load } from './load.ts';
import { type Cell, compare, measure } from './measure.ts';
import { SERVE } from './service.ts';
import { ready, startProgram, type Target } from './subject.ts';
import { protocol, serviceEnvironment } from './tessera.ts';

const CONNECTIONS = 32;

const { values } = parseArgs({
  options: {
    people: { type: 'string', default: '1000' },
    rounds: { type: 'string', default: '7' },
    seconds: { type: 'string', default: '3' },
    /** The folder of another checkout, with its dependencies, that can use the database of this one. */
    before: { type: 'string' },
  },
});
const [people, rounds, seconds] = [Number(values.people), Number(values.rounds), Number(values.seconds)];

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

const here = resolve(import.meta.dirname, '..');
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

await using field = new Field();
const cells: Cell[] = [];
for (const { name, folder, settings } of variants) {
  const population = await field.population('sqlite', people);
  const port = await freePort();
  const environment = { ...population.environment, ...serviceEnvironment(port), ...settings };
  const args = SERVE.map((word) => (word.startsWith('bin/') ? join(folder, word) : word));
  const child = startProgram(args, { environment, log: join(field.folder, `${name.replaceAll(/\W+/g, '-')}.log`) });
  const target: Target = field.keep({ name, process: child, port });
  await ready(target, '/health/ready');
  const requests = protocol(port, population);
  const { sample } = population.seeded;
  const known = await requests.userInfo(sample);
  for (const [work, driver] of [
    ['UserInfo', () => anyOf(known)],
    ['Refresh', () => following({ sample, ...requests }, CONNECTIONS)],
  ] as const) {
    cells.push({
      ...{ work, target: name, connections: CONNECTIONS, people },
      warmUp: () => load(port, CONNECTIONS, seconds, driver()),
      round: () => measure(target, CONNECTIONS, seconds, driver()),
    });
  }
}
const results = await compare('Telemetry', cells, rounds);
collector.closeAllConnections();
collector.close();

// The lowest round is the one that other work of the machine disturbed least.
const lines = ['| Work | Telemetry | CPU in µs per request: lowest, median | Lowest, relative to off | Requests/s |'];
lines.push('|---|---|---|---|---|');
for (const work of ['UserInfo', 'Refresh']) {
  const own = results.filter((result) => result.work === work);
  const cpuOf = ({ summary: { userMicros, systemMicros } }: (typeof own)[number], of: 'lowest' | 'median') =>
    userMicros[of] + systemMicros[of];
  const off = own.find(({ target }) => target === OFF);
  for (const result of own) {
    const lowest = cpuOf(result, 'lowest');
    const relative = off === undefined ? '' : (lowest / cpuOf(off, 'lowest')).toFixed(2);
    const cpu = `${lowest.toFixed(0)}, ${cpuOf(result, 'median').toFixed(0)}`;
    const rate = result.summary.perSecond.median.toFixed(0);
    lines.push(`| ${work} | ${result.target} | ${cpu} | ${relative} | ${rate} |`);
  }
}
process.stdout.write(`${lines.join('\n')}\n\nThe collector got ${(received / 2 ** 20).toFixed(1)} MiB.\n`);
