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
  /** Numbers of people to compare the store's size by. */
  readonly sizes: readonly number[];
  /** Requests after which memory is looked at again. */
  readonly long: number;
  /** The folder for the figures and the chart of this run. */
  readonly results: string;
  /** Whether they go into the documentation, too. */
  readonly record: boolean;
}

/** Each connection has people of its own. */
const MOST_CONNECTIONS = 128;

const USAGE = `npm run bench -- [options]

  --quick              a short look: few people, one round
  --people <n>         users in the store, 100000
  --rounds <n>         interleaved rounds, 3
  --seconds <n>        of load in a round, 2
  --only <a,b>         ${WORKS.join(', ')}
  --against <a,b>      ${OPPONENTS.join(', ')}
  --results <folder>   for the figures and the chart, bench/results
  --record             write the figures and the chart into the documentation
`;

function chosen<Name extends string>(text: string | undefined, all: readonly Name[]): ReadonlySet<Name> {
  const names = text?.split(',') ?? all;
  return new Set(
    names.map((name) => {
      const known = all.find((one) => one === name);
      if (known === undefined) throw new Error(`${name} is none of ${all.join(', ')}`);
      return known;
    }),
  );
}

/** @returns undefined where only the usage was asked for, and written */
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
  if (!(people >= MOST_CONNECTIONS)) throw new Error(`--people must be ${MOST_CONNECTIONS} or more`);
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
