/**
 * What telemetry costs: `npm run bench-telemetry`. The same server without it, with 1 % and with 100 % of the requests traced, and on
 * request that of another checkout. They answer a few hundred requests each, in turn and many times, and what is compared is the
 * processor time of those that are next to each other: other work of the machine disturbs that far less than rates.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { type Arm, armOf, armsTable, CONNECTIONS, takeTurns } from './arms.ts';
import { anyOf, following } from './drivers.ts';
import { Field } from './field.ts';
import { freePort } from './free-port.ts';
import { SERVE } from './service.ts';
import { ready, startProgram } from './subject.ts';
import { protocol, serviceEnvironment } from './tessera.ts';

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
  const process = { port, pid: child.pid ?? 0 };
  for (const [work, driver] of Object.entries(drivers)) arms.push(armOf({ name, work }, process, driver, count));
}
await takeTurns(arms, rounds);
collector.closeAllConnections();
collector.close();

const table = armsTable(arms, 'Telemetry', OFF);
process.stdout.write(`${table}\n\nThe collector got ${(received / 2 ** 20).toFixed(1)} MiB.\n`);
