import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import type { Batch } from './run-files.ts';

export const ROOT = join(import.meta.dirname, '../..');

export type Store = 'SQLite' | 'PostgreSQL';

/** Measurements, and what takes long: left out unless everything is asked for. */
const LONG = /\.long\.test\.ts$/;

export const FILES = ['src/**/*.test.ts', 'test/**/*.test.ts', 'lab/**/*.test.ts'];

interface Need {
  /** Where the file runs by default. */
  readonly sample: readonly Store[];
  /** Where it runs if everything is asked for, or the file is named. */
  readonly all: readonly Store[];
}

const BOTH: readonly Store[] = ['SQLite', 'PostgreSQL'];

/**
 * What the first line of a test file may say about the store that it needs, after `// store: `. A file whose subject is decided before the
 * store is asked, or after it has answered, runs on PostgreSQL with --all only: the flows of the other files make the same statements.
 * One whose subject is what happens at the same time runs on PostgreSQL, where units of work do: SQLite has one at a time.
 */
const NEEDS: Readonly<Record<string, Need>> = {
  none: { sample: ['SQLite'], all: ['SQLite'] },
  SQLite: { sample: ['SQLite'], all: ['SQLite'] },
  PostgreSQL: { sample: ['PostgreSQL'], all: ['PostgreSQL'] },
  'SQLite, PostgreSQL': { sample: BOTH, all: BOTH },
  'SQLite, PostgreSQL with --all': { sample: ['SQLite'], all: BOTH },
  'PostgreSQL, SQLite with --all': { sample: ['PostgreSQL'], all: BOTH },
  'PostgreSQL with --all': { sample: [], all: ['PostgreSQL'] },
};

const SETTINGS: Readonly<Record<Store, string>> = {
  SQLite: 'test/support/test.env',
  PostgreSQL: 'test/support/postgres.env',
};

/** What a test file needs, by its first line. */
export function needOf(path: string): Need {
  const [first = ''] = readFileSync(join(ROOT, path), 'utf8').split('\n', 1);
  const need = NEEDS[/^\/\/ store: (.+)$/.exec(first)?.[1] ?? ''];
  if (need === undefined)
    throw new Error(`the first line of ${path} must be "// store: " and one of: ${Object.keys(NEEDS).join(' | ')}`);
  return need;
}

/**
 * How many files of a folder one process runs; of other folders, it runs sixteen. What takes longest begins first, so that at the end of
 * the run no processor waits for one file.
 */
const SIZES: Readonly<Record<string, number>> = {
  ...{ browser: 1, faults: 1, cluster: 1, matrix: 1, postgres: 3, model: 1, docs: 3, races: 6, operator: 4 },
  ...{ security: 4, sqlite: 4, releases: 3 },
};
const FIRST = Object.keys(SIZES);
const OTHERS = 16;

const folderOf = (path: string): string => /^(?:test|lab)\/([^/]+)\//.exec(path)?.[1] ?? 'src';

function turn(path: string): number {
  const at = FIRST.indexOf(folderOf(path));
  return at === -1 ? FIRST.length : at;
}

export const found = (patterns: readonly string[]): string[] => globSync(patterns, { cwd: ROOT }).sort();

export interface Wanted {
  readonly stores: readonly Store[];
  /** Patterns of the files that are wanted: all without any. A file that is named is never spared. */
  readonly patterns: readonly string[];
  readonly all: boolean;
}

/** The files of tests to run, in their order. */
export function planned({ stores, patterns, all }: Wanted): Batch[] {
  const isWhole = all || patterns.length > 0;
  const wanted = patterns.length === 0 ? undefined : new Set(found(patterns));
  const files = found(FILES)
    .filter((path) => wanted?.has(path) ?? (all || !LONG.test(path)))
    .map((path) => ({ path, runsOn: needOf(path)[isWhole ? 'all' : 'sample'] }));
  const batches = stores.flatMap((store) => {
    const env = environment(store, all);
    const paths = files.filter(({ runsOn }) => runsOn.includes(store)).map(({ path }) => path);
    const folders = Object.values(Object.groupBy(paths, folderOf)).filter((folder) => folder !== undefined);
    return folders.flatMap(chunked).map((paths) => ({
      turn: turn(paths[0] ?? ''),
      files: paths.map((path) => ({ path, label: `${path} on ${store}` })),
      env,
    }));
  });
  return batches.sort((one, other) => one.turn - other.turn);
}

/** The files of one folder, in as many parts as there are processes for them. */
function chunked(paths: readonly string[]): string[][] {
  const size = SIZES[folderOf(paths[0] ?? '')] ?? OTHERS;
  return Array.from({ length: Math.ceil(paths.length / size) }, (_, n) => paths.slice(n * size, (n + 1) * size));
}

/** As `node --env-file` would have it: what is set already goes before what the file says. */
function environment(store: Store, all: boolean): NodeJS.ProcessEnv {
  const settings = parseEnv(readFileSync(join(ROOT, SETTINGS[store]), 'utf8'));
  const { TESSERA_TEST_POSTGRES, TESSERA_TEST_TEMPLATE, TESSERA_TEST_DATABASE: _, ...rest } = process.env;
  const server = store === 'PostgreSQL' ? { TESSERA_TEST_POSTGRES, TESSERA_TEST_TEMPLATE } : {};
  return { ...settings, ...rest, ...server, ...(all && { TESSERA_TEST_WHOLE: 'yes' }) };
}
