import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');

interface Source {
  /** Below the root of the repository. */
  readonly path: string;
  readonly lines: readonly string[];
}

/** Every source of the program, without its unit tests. */
function readSources(): readonly Source[] {
  return readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
    .sort()
    .map((name) => ({
      path: `src/${name}`,
      lines: readFileSync(join(ROOT, 'src', name), 'utf8')
        .replace(/\n$/, '')
        .split('\n'),
    }));
}

/** A figure of the house. */
export interface Figure {
  readonly name: string;
  readonly value: number;
  /** What it must not exceed; undefined where it only informs, or its target is not reached. */
  readonly bound: number | undefined;
  /** Where to look. */
  readonly places: readonly string[];
}

/** Counts the lines that match, in the sources whose path does. */
function lines(sources: readonly Source[], within: RegExp, what: RegExp): string[] {
  return sources
    .filter(({ path }) => within.test(path))
    .flatMap(({ path, lines }) => lines.flatMap((line, n) => (what.test(line) ? [`${path}:${n + 1}`] : [])));
}

/** The sources with a line that matches. */
const files = (sources: readonly Source[], within: RegExp, what: RegExp): string[] => [
  ...new Set(lines(sources, within, what).map((place) => place.replace(/:\d+$/, ''))),
];

const LONG = 100;
const BEGINNING =
  /^(?:export )?(?:default )?(?:async )?function\*? ?(\w+)|^(?:export )?const (\w+)\b.*(?:=>|function\*?).*[{(]$/;

/** Functions at the top level of a file with more than a hundred lines: the formatter puts their end at the margin. */
function longFunctions(sources: readonly Source[]): string[] {
  return sources.flatMap(({ path, lines }) =>
    lines.flatMap((line, begin) => {
      const [, declared, assigned] = BEGINNING.exec(line) ?? [];
      const name = declared ?? assigned;
      if (name === undefined) return [];
      const length =
        lines
          .slice(begin + 1)
          .findIndex((next) => /^[})]/.test(next) && !/^\)[^;]*\{$/.test(next) && !/^\}[^;]*\{$/.test(next)) + 2;
      return length > LONG ? [`${path}:${begin + 1} ${name}, ${length} lines`] : [];
    }),
  );
}

const METHOD =
  /^ {2}(?:static )?(?:async )?(?:[gs]et )?\*?(?!(?:if|for|while|switch|catch)\b)(#?\w+)(?:<[^>]*>)?\(.*\{$/;

/** The same of the methods of classes. */
function longMethods(sources: readonly Source[]): string[] {
  return sources.flatMap(({ path, lines }) =>
    lines.flatMap((line, begin) => {
      const [, name] = METHOD.exec(line) ?? [];
      if (name === undefined) return [];
      const length = lines.slice(begin + 1).findIndex((next) => /^ {0,2}\}/.test(next)) + 2;
      return length > LONG ? [`${path}:${begin + 1} ${name}, ${length} lines`] : [];
    }),
  );
}

const roomOf = (path: string): string => path.split('/').slice(1, 2).join();

/** Which room of `src/` imports which: `from to`. */
function arrows(sources: readonly Source[]): ReadonlySet<string> {
  const found = new Set<string>();
  for (const { path, lines } of sources) {
    if (path.split('/').length < 3) continue;
    for (const line of lines) {
      const [, target] = /from '(\.[^']*)'/.exec(line) ?? [];
      if (target === undefined) continue;
      const to = roomOf(join(path, '..', target));
      if (to !== roomOf(path) && !to.endsWith('.ts')) found.add(`${roomOf(path)} ${to}`);
    }
  }
  return found;
}

/** How many rooms stand above each other, by their imports. */
function levels(of: ReadonlySet<string>): number {
  const below = Map.groupBy(
    [...of].map((arrow) => arrow.split(' ')),
    ([from = '']) => from,
  );
  const depth = new Map<string, number>();
  const depthOf = (room: string): number => {
    const known = depth.get(room);
    if (known !== undefined) return known;
    // A circle, which the test of the architecture refuses, would not end otherwise.
    depth.set(room, 0);
    const deepest = Math.max(0, ...(below.get(room) ?? []).map(([, to = '']) => depthOf(to)));
    depth.set(room, deepest + 1);
    return deepest + 1;
  };
  return Math.max(...[...below.keys()].map(depthOf));
}

const IDENTITY = /\b(passkeys?|consent|sign-in|invitation|TOTP|token_family|refresh token)\b/i;

/** The figures of the house: what the plan of the sources asks for, in numbers. */
export function figures(): readonly Figure[] {
  const sources = readSources();
  const found = arrows(sources);
  const figure = (name: string, places: readonly string[], bound?: number): Figure => ({
    ...{ name, value: places.length, bound, places },
  });
  return [
    figure('imports of web and pages in protocol', lines(sources, /^src\/protocol\//, /from '[^']*\/(web|pages)\//), 0),
    { name: 'rooms above each other', value: levels(found), bound: 13, places: [] },
    { name: 'imports from room to room', value: found.size, bound: 228, places: [] },
    figure(
      'failures recorded inside the token grants',
      lines(sources, /^src\/protocol\/token\/grants\//, /outcome: 'failure'/),
      0,
    ),
    figure('columns copied by hand in stores', lines(sources, /store\.ts$/, /^\s+\w+: row\.\w+/), 20),
    figure(
      'callbacks in place of straight actions',
      lines(sources, /./, /[{(,]\s*(afterSave|onSignedIn|onContinued|decide|prepare)\??[:,})]/),
      0,
    ),
    figure('classes of errors that only roll back', lines(sources, /./, /^class \w+ extends Error/), 8),
    figure('classes of errors that callers know', lines(sources, /./, /^export class \w+ extends Error/)),
    figure(
      'files with errors of OAuth outside its rooms',
      files(sources, /^src\/(?!(platform|protocol|web|admin|openapi)\/)/, /oauth-error\.ts'/),
    ),
    figure('files of platform that name identity', files(sources, /^src\/platform\//, IDENTITY), 3),
    figure(`functions over ${LONG} lines`, [...longFunctions(sources), ...longMethods(sources)], 0),
    {
      name: 'lines of src',
      value: sources.reduce((sum, { lines }) => sum + lines.length, 0),
      bound: undefined,
      places: [],
    },
  ];
}
