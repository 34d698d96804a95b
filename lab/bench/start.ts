import { join } from 'node:path';
import type { Field } from './field.ts';
import { freePort } from './free-port.ts';
import type { Options } from './options.ts';
import { say } from './say.ts';
import { SERVE } from './service.ts';
import { type Spread, spreadOf } from './statistics.ts';
import { ready, startProgram } from './subject.ts';
import { serviceEnvironment } from './tessera.ts';
import { BARE, PEER } from './work-names.ts';
import { memoryOf } from './works.ts';

/** From the start of a process to its first successful response. */
export interface Start {
  readonly target: string;
  readonly milliseconds: Spread;
  /** Its resident memory at that time, in MiB. */
  readonly memory: Spread;
}

const TIMES = 15;

/** The least that a server is. */
const BARE_SERVER =
  "import('node:http').then((http) => http.createServer((_, to) => to.end()).listen(process.argv[1], '127.0.0.1'))";

/** Starts each server repeatedly, in turn: `node:http` alone, SQLite with a new and with an existing database, and the peer. */
export async function starts(field: Field, { against }: Options): Promise<Start[]> {
  say('Starts …');
  const measured = new Map<string, { milliseconds: number[]; memory: number[] }>();

  async function once(
    target: string,
    args: readonly string[],
    path: string,
    environment: object,
    port: number,
  ): Promise<void> {
    const began = performance.now();
    const started = field.keep({
      process: startProgram(args, { environment, log: join(field.folder, 'starts.log') }),
      port,
    });
    const milliseconds = (await ready(started, path)) - began;
    const so = measured.get(target) ?? { milliseconds: [], memory: [] };
    so.milliseconds.push(milliseconds);
    so.memory.push(memoryOf({ ...started, name: target }));
    measured.set(target, so);
    await field.end(started);
  }

  const existing = (await field.environment('sqlite')).environment;
  for (let time = 0; time <= TIMES; time++) {
    if (against.has('bare')) {
      const port = await freePort();
      await once(BARE, ['--eval', BARE_SERVER, String(port)], '/', {}, port);
    }
    if (against.has('sqlite')) {
      for (const [target, environment] of [
        ['Tessera, SQLite, empty folder', (await field.environment('sqlite')).environment],
        ['Tessera, SQLite, existing data', existing],
      ] as const) {
        const port = await freePort();
        await once(target, SERVE, '/health/ready', { ...environment, ...serviceEnvironment(port) }, port);
      }
    }
    if (against.has('peer')) {
      const path = '/.well-known/openid-configuration';
      const port = await freePort();
      await once(PEER, ['bench/peer-server.ts', String(port)], path, {}, port);
    }
    // The first start warms up the machine's caches.
    if (time === 0) measured.clear();
  }
  return measured
    .entries()
    .map(([target, { milliseconds, memory }]) => ({
      target,
      milliseconds: spreadOf(milliseconds),
      memory: spreadOf(memory),
    }))
    .toArray();
}
