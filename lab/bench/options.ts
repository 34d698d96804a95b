import { parseArgs } from 'node:util';

export const WORKS = [
  'userinfo',
  'refresh',
  'code',
  'sign-in',
  'beside',
  'sizes',
  'signatures',
  'start',
  'memory',
  'profile',
] as const;
export const OPPONENTS = ['bare', 'sqlite', 'sqlite2', 'postgres', 'postgres2', 'peer', 'peer-sqlite'] as const;
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
  /** Whether to go on with what an interrupted run with the same options has measured. */
  readonly resume: boolean;
  /** A server that is already running, to be compared. */
  readonly other: OtherOptions | undefined;
}

export interface OtherOptions {
  /** Its name in the tables. */
  readonly name: string;
  /** The token endpoint. */
  readonly url: string;
  readonly userInfo: string;
  readonly clientId: string | undefined;
  readonly clientSecret: string | undefined;
  /** Whether the client authenticates with HTTP Basic, instead of in the body. */
  readonly basic: boolean;
  /** Whether the body of a token request is JSON. */
  readonly json: boolean;
  /** Files with one token a line. */
  readonly refreshTokens: string | undefined;
  readonly accessTokens: string | undefined;
  /** Its process on this machine, whose processor time is counted. */
  readonly pid: number | undefined;
}

/** What the benchmark can ask of a server that it did not start. */
const ASKED_OF_OTHERS: readonly Work[] = ['userinfo', 'refresh'];

/** Each connection uses different users, so there must be as many. */
const MAX_CONNECTIONS = 128;

const USAGE = `npm run bench -- [options]

  --quick              a short run: few users, one round
  --people <n>         users in the database (default: 100000)
  --rounds <n>         interleaved rounds (default: 3)
  --seconds <n>        seconds of load per round (default: 2)
  --only <a,b>         ${WORKS.join(', ')}
  --against <a,b>      ${OPPONENTS.join(', ')}
  --results <folder>   folder of the results and the chart (default: lab/bench/results)
  --record             write the results and the chart into the documentation
  --resume             continue a run with the same options that was interrupted

A server that is already running, beside ours (lab/bench/other-servers.md):

  --url <url>              its token endpoint
  --userinfo <url>         its UserInfo endpoint
  --client-id <id>         the client of the refresh tokens
  --client-secret <text>   its secret; none for a public client
  --basic                  send both by HTTP Basic, instead of in the body
  --json                   send token requests as JSON, instead of as a form
  --refresh-tokens <file>  refresh tokens, one a line; replaced by the current ones, since they rotate
  --access-tokens <file>   access tokens, one a line (default: those of the refresh tokens)
  --name <text>            its name in the tables (default: the host of --url)
  --pid <n>                its process on this machine, to count its processor time
`;

function chosen<Name extends string>(
  text: string | undefined,
  all: readonly Name[],
  otherwise: readonly Name[] = all,
): ReadonlySet<Name> {
  const names = text?.split(',') ?? otherwise;
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
      results: { type: 'string', default: 'lab/bench/results' },
      record: { type: 'boolean', default: false },
      resume: { type: 'boolean', default: false },
      url: { type: 'string' },
      userinfo: { type: 'string' },
      'client-id': { type: 'string' },
      'client-secret': { type: 'string' },
      basic: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
      'refresh-tokens': { type: 'string' },
      'access-tokens': { type: 'string' },
      name: { type: 'string' },
      pid: { type: 'string' },
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
  const other = otherOf(values);
  return {
    people,
    rounds: Number(values.rounds ?? (quick ? 1 : 3)),
    seconds: Number(values.seconds ?? (quick ? 0.5 : 2)),
    only: chosen(values.only, WORKS, other === undefined ? WORKS : ASKED_OF_OTHERS),
    against: chosen(values.against, OPPONENTS, other === undefined ? OPPONENTS : ['sqlite']),
    sizes: quick ? [people, people * 10] : [1000, people, 1_000_000],
    long: quick ? 5000 : 1_000_000,
    results: values.results,
    record: values.record,
    resume: values.resume,
    other,
  };
}

type OtherValues = Readonly<
  Partial<
    Record<
      'url' | 'userinfo' | 'client-id' | 'client-secret' | 'refresh-tokens' | 'access-tokens' | 'name' | 'pid',
      string
    >
  >
> & { readonly basic: boolean; readonly json: boolean };

function otherOf(values: OtherValues): OtherOptions | undefined {
  const { url, userinfo: userInfo, basic, json } = values;
  if (url === undefined && userInfo === undefined) return undefined;
  if (url === undefined || userInfo === undefined) throw new Error('Give both --url and --userinfo');
  return {
    ...{ url, userInfo, basic, json },
    name: values.name ?? (URL.canParse(url) ? new URL(url).host : url),
    clientId: values['client-id'],
    clientSecret: values['client-secret'],
    refreshTokens: values['refresh-tokens'],
    accessTokens: values['access-tokens'],
    pid: values.pid === undefined ? undefined : Number(values.pid),
  };
}
