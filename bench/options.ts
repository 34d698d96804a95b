import { parseArgs } from 'node:util';

export const WORKS = [
  'userinfo',
  'refresh',
  'code',
  'sign-in',
  'beside',
  'sizes',
  'start',
  'memory',
  'profile',
] as const;
export const OPPONENTS = ['bare', 'sqlite', 'postgres', 'postgres2', 'peer'] as const;
export type Work = (typeof WORKS)[number];
export type Opponent = (typeof OPPONENTS)[number];

export interface Options {
  readonly people: number;
  readonly rounds: number;
  readonly seconds: number;
  readonly only: ReadonlySet<Work>;
  readonly against: ReadonlySet<Opponent>;
  /** Numbers of users for the comparison by size. */
  readonly sizes: readonly number[];
  /** Requests before memory is measured again. */
  readonly long: number;
  /** The folder for the results and the chart of this run. */
  readonly results: string;
  /** Whether they are also written into the documentation. */
  readonly record: boolean;
}

/** Each connection uses different users, so there must be as many. */
const MAX_CONNECTIONS = 128;

const USAGE = `npm run bench -- [options]

  --quick              a short run: few users, one round
  --people <n>         users in the database (default: 100000)
  --rounds <n>         interleaved rounds (default: 3)
  --seconds <n>        seconds of load per round (default: 2)
  --only <a,b>         ${WORKS.join(', ')}
  --against <a,b>      ${OPPONENTS.join(', ')}
  --results <folder>   folder of the results and the chart (default: bench/results)
  --record             write the results and the chart into the documentation
`;

function chosen<Name extends string>(text: string | undefined, all: readonly Name[]): ReadonlySet<Name> {
  const names = text?.split(',') ?? all;
  return new Set(
    names.map((name) => {
      const known = all.find((one) => one === name);
      if (known === undefined) throw new Error(`Unknown name ${name}; expected one of ${all.join(', ')}`);
      return known;
    }),
  );
}

/** @returns undefined if only the usage was requested, which is then printed */
export function readOptions(args: readonly string[]): Options | undefined {
  const { values } = parseArgs({
    args: [...args],
    options: {
      quick: { type: 'boolean', default: false },
      people: { type: 'string' },
      rounds: { type: 'string' },
      seconds: { type: 'string' },
      only: { type: 'string' },
      against: { type: 'string' },
      results: { type: 'string', default: 'bench/results' },
      record: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    process.stdout.write(USAGE);
    return undefined;
  }
  const { quick } = values;
  const people = Number(values.people ?? (quick ? 1000 : 100_000));
  if (!(people >= MAX_CONNECTIONS)) throw new Error(`--people must be ${MAX_CONNECTIONS} or more`);
  return {
    people,
    rounds: Number(values.rounds ?? (quick ? 1 : 3)),
    seconds: Number(values.seconds ?? (quick ? 0.5 : 2)),
    only: chosen(values.only, WORKS),
    against: chosen(values.against, OPPONENTS),
    sizes: quick ? [people, people * 10] : [1000, people, 1_000_000],
    long: quick ? 5000 : 1_000_000,
    results: values.results,
    record: values.record,
  };
}
