import { mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { anyOf, following } from './drivers.ts';
import type { Field } from './field.ts';
import { load } from './load.ts';
import type { Options } from './options.ts';
import { say } from './say.ts';
import { SERVE_SOURCES } from './service.ts';
import { startTessera } from './tessera.ts';
import { WORK } from './work-names.ts';

/** Event loop time of one kind of request, by the sampling profiler. */
export interface Profile {
  readonly work: string;
  readonly connections: number;
  /** Event loop microseconds per request, including the profiler's own cost. */
  readonly micros: number;
  /** The share of each part, from 0 to 1, in descending order. */
  readonly shares: readonly (readonly [part: string, share: number])[];
}

interface Frame {
  readonly functionName: string;
  readonly url: string;
}

/** https://chromedevtools.github.io/devtools-protocol/tot/Profiler/#type-Profile, as far as it is read. */
export interface CpuProfile {
  readonly nodes: readonly { readonly id: number; readonly callFrame: Frame; readonly children?: readonly number[] }[];
  /** In microseconds, like all times. */
  readonly endTime: number;
  readonly startTime: number;
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

const CONNECTIONS = 32;

/** Parts identified by the function itself, wherever it is called. */
const NAMED: readonly (readonly [RegExp, string])[] = [
  [/^\(garbage collector\)$/, 'Garbage collector'],
  [/^\(program\)$/, 'Runtime, unnamed'],
  [/^write(v|Buffer|Utf8String|Latin1String|AsciiString)$/, 'Writing to sockets, by the kernel'],
];

/** Parts identified by the nearest file on the call stack. */
const PLACES: readonly (readonly [RegExp, string])[] = [
  [/\/node_modules\/jose\/|\/src\/(keys|platform\/crypto)\//, 'Signatures and hashes'],
  [/\/node_modules\/(pino|sonic-boom|prom-client)\/|\/src\/platform\/metrics\//, 'Log and metrics'],
  [/\/node_modules\/|\/src\/platform\/http\//, 'Fastify, with our part of it'],
  [/\/src\/platform\/database\//, 'SQLite'],
  [/\/src\//, 'Tessera’s own rules: claims, verdict, answer'],
];

const REST = 'node:http';

/** The share of each part in the busy time between two instants. */
export function sharesOf(
  profile: CpuProfile,
  { from, to }: { readonly from: number; readonly to: number },
): { busy: number; shares: Profile['shares'] } {
  const nodes = new Map(profile.nodes.map((node) => [node.id, node.callFrame]));
  const parents = new Map(profile.nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id])));

  function partOf(id: number): string {
    const name = nodes.get(id)?.functionName ?? '';
    const named = NAMED.find(([pattern]) => pattern.test(name));
    if (named !== undefined) return named[1];
    for (let at: number | undefined = id; at !== undefined; at = parents.get(at)) {
      const { functionName = '', url = '' } = nodes.get(at) ?? {};
      // This function only begins and commits transactions, so its time is disk time.
      if (functionName === 'flush' && url.includes('/src/platform/database/sqlite/'))
        return 'Commit, with the wait for the disk';
      const place = PLACES.find(([pattern]) => pattern.test(url));
      if (place !== undefined) return place[1];
    }
    return REST;
  }

  const parts = new Map<number, string>();
  const times = new Map<string, number>();
  let at = profile.startTime;
  let busy = 0;
  for (const [index, id] of profile.samples.entries()) {
    const time = profile.timeDeltas[index] ?? 0;
    at += time;
    if (at < from || at > to || nodes.get(id)?.functionName === '(idle)') continue;
    const part = parts.get(id) ?? partOf(id);
    parts.set(id, part);
    times.set(part, (times.get(part) ?? 0) + time);
    busy += time;
  }
  const shares = [...times].map(([part, time]) => [part, time / busy] as const).sort((a, b) => b[1] - a[1]);
  return { busy, shares };
}

/** Profiles UserInfo and refresh, each in a separate process. */
export async function profiles(field: Field, { people, seconds }: Options): Promise<Profile[]> {
  const population = await field.population('sqlite', people);
  const looked: Profile[] = [];
  for (const work of [WORK.userInfo, WORK.refresh]) {
    say(`Where the time of ${work} goes …`);
    const folder = mkdtempSync(join(field.folder, 'profile-'));
    const environment = { ...population.environment, NODE_OPTIONS: `--cpu-prof --cpu-prof-dir=${folder}` };
    const name = 'Tessera, under the profiler';
    const how = { folder: field.folder, command: SERVE_SOURCES };
    const subject = field.keep(await startTessera(name, { ...population, environment }, how));
    const requests = await subject.userInfo(subject.sample);
    const run = () =>
      load(
        subject.port,
        CONNECTIONS,
        seconds,
        work === WORK.userInfo ? anyOf(requests) : following(subject, CONNECTIONS),
      );
    // The first run warms it up; only the second one counts.
    await run();
    const began = performance.now();
    const { requests: count } = await run();
    const ran = performance.now() - began;
    await field.end(subject);
    const ended = performance.now() - began - ran;
    const [file = ''] = readdirSync(folder);
    const profile = JSON.parse(readFileSync(join(folder, file), 'utf8')) as CpuProfile;
    const { busy, shares } = sharesOf(profile, {
      from: profile.endTime - (ran + ended) * 1000,
      to: profile.endTime - ended * 1000,
    });
    looked.push({ work, connections: CONNECTIONS, micros: busy / count, shares });
  }
  return looked;
}
