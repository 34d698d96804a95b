import type { Result } from './measure.ts';
import type { Profile } from './profile.ts';
import type { Recording } from './recording.ts';
import type { Spread } from './statistics.ts';
import { BARE, PEER, SOCKETS, WORK } from './work-names.ts';

const BESIDE = 'UserInfo at half of its capacity, while sign-ins fill the hashing pool: p50 / p99 / p99.9 in ms';
const SIGNED = 'Refresh with rotation, 32 connections, by the signature of the ID token';
const APART = 'with a processor left for the threads that hash and sign';

/** The works that have tables of their own. */
const OWN_TABLES: ReadonlySet<string> = new Set([
  ...[WORK.half, WORK.beside, WORK.halfApart, WORK.besideApart],
  ...[WORK.signed, WORK.signedApart, WORK.oneClient],
]);

/** The tables of a run in Markdown, for the terminal and the documentation. */
export function report(recording: Recording): string {
  return [
    environment(recording),
    throughput(recording.results),
    omissions(recording.results),
    generator(recording.results),
    bySize(recording.bySize),
    besideSignIns(recording.results, [WORK.half, WORK.beside], BESIDE),
    besideSignIns(recording.results, [WORK.halfApart, WORK.besideApart], `The same, ${APART}`),
    oneClient(recording.results),
    signatures(recording.results, WORK.signed, SIGNED),
    signatures(recording.results, WORK.signedApart, `The same, ${APART}`),
    starts(recording),
    memory(recording),
    profiles(recording),
  ]
    .filter((part) => part !== '')
    .join('\n\n');
}

const count = (value: number): string => Math.round(value).toLocaleString('en-GB');
const milliseconds = (value: number): string => (value < 10 ? value.toFixed(2) : value.toFixed(0));
const ratio = (value: number): string => value.toFixed(2);
const spread = ({ median, lowest, highest }: Spread): string =>
  lowest === highest ? count(median) : `${count(median)} (${count(lowest)}–${count(highest)})`;

function table(title: string, head: readonly string[], rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return '';
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [`### ${title}`, '', line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

function environment({ recordedOn, command, minutes, machine, people, rounds, seconds }: Recording): string {
  const { processor, processors, memoryGiB, system, node, sqlite, postgres, peer } = machine;
  return (
    `\`${command}\` on ${recordedOn}: ${processors} processors (${processor}), ${memoryGiB} GiB, ${system}; Node ${node.slice(1)}, ` +
    `SQLite ${sqlite}, PostgreSQL ${postgres}, node-oidc-provider ${peer}. Medians of ${rounds} ${rounds === 1 ? 'round' : 'rounds'} of ${seconds} s, with the lowest and ` +
    `highest value in parentheses; ${count(people)} users in the database. The run took ${minutes.toFixed(0)} minutes.`
  );
}

const isSameLoad = (one: Result) => (other: Result) => other.work === one.work && other.connections === one.connections;
const isSameLoadOf = (work: string, one: Result) => (other: Result) =>
  other.work === work && other.target === one.target && other.connections === one.connections;
const isPeer = ({ target }: Result): boolean => target === PEER;
const isSockets = ({ target }: Result): boolean => target === SOCKETS;

/** The throughput relative to another result; empty if there is none. */
const relativeTo = (one: Result, other: Result | undefined): string =>
  other === undefined || other === one ? '' : ratio(one.summary.perSecond.median / other.summary.perSecond.median);

function throughput(results: readonly Result[]): string {
  const shown = results.filter((result) => !OWN_TABLES.has(result.work) && !isSockets(result));
  const names = [...new Set(shown.map(({ work }) => work))];
  const rows = names.flatMap((name) =>
    shown
      .filter(({ work }) => work === name)
      .map((result) => {
        const { work, connections, target, summary } = result;
        const same = results.filter(isSameLoad(result));
        const bare = same.find((other) => other.target === BARE);
        const { p50, p99, p999, userMicros, systemMicros, databaseMicros } = summary;
        return [
          work,
          String(connections),
          target,
          spread(summary.perSecond),
          relativeTo(result, bare),
          result === bare ? '' : relativeTo(result, same.find(isPeer)),
          [p50, p99, p999].map((each) => milliseconds(each.median)).join(' / '),
          userMicros.median > 0 ? `${count(userMicros.median)} + ${count(systemMicros.median)}` : '',
          databaseMicros.median > 0 ? count(databaseMicros.median) : '',
        ];
      }),
  );
  const head = [
    ...['Work', 'Connections', 'Server', 'Requests/s', 'Relative to the bare server', 'Relative to the peer'],
    ...['p50 / p99 / p99.9 in ms', 'CPU in µs, user + system', 'PostgreSQL in µs'],
  ];
  return table('Throughput, latency and cost per request', head, rows);
}

/** Explains missing comparisons. */
const omissions = (results: readonly Result[]): string =>
  results.some(({ work }) => work === WORK.signIn)
    ? 'node-oidc-provider leaves sign-in to the application, so there is no comparison.'
    : '';

/** Shows that the load generator is not the bottleneck. */
function generator(results: readonly Result[]): string {
  const sockets = results.filter(isSockets);
  const busiest = (rows: readonly Result[]) => Math.max(...rows.map(({ summary }) => summary.generatorShare.highest));
  const servers = results.filter(({ target }) => !target.startsWith('bare'));
  if (sockets.length === 0 || servers.length === 0) return '';
  const reached = Math.max(...sockets.map(({ summary }) => summary.perSecond.median));
  const fastest = Math.max(...servers.map(({ summary }) => summary.perSecond.median));
  return (
    `The load generator runs in a separate process. It reaches ${count(reached)} requests per second against sockets that send a ` +
    `fixed response, ${ratio(reached / fastest)} times as many as the fastest server, and used at most ` +
    `${ratio(busiest(servers))} of one processor during the measurements.`
  );
}

function bySize(results: readonly Result[]): string {
  const sizes = [...new Set(results.map(({ people }) => people))].sort((a, b) => a - b);
  const cost = ({ summary }: Result) =>
    summary.userMicros.median + summary.systemMicros.median + summary.databaseMicros.median;
  const servers = [...new Set(results.map(({ target }) => target))];
  const lines = [...new Set(results.map(({ work }) => work))].flatMap((work) =>
    servers.map((target) => ({ work, target })),
  );
  const rows = lines.map(({ work, target }) => {
    const own = sizes.map((size) =>
      results.find((other) => other.work === work && other.target === target && other.people === size),
    );
    const [first, last] = [own[0], own.at(-1)];
    return [
      work,
      target,
      ...own.map((each) =>
        each === undefined ? '' : `${count(each.summary.perSecond.median)}/s, ${count(cost(each))} µs`,
      ),
      first === undefined || last === undefined ? '' : ratio(cost(last) / cost(first)),
    ];
  });
  const head = [
    'Work, 32 connections',
    'Server',
    ...sizes.map((size) => `${count(size)} users`),
    'Cost ratio, most to fewest',
  ];
  return table('Number of users: requests per second, and CPU time per request including the database', head, rows);
}

function besideSignIns(results: readonly Result[], [alone, beside]: readonly [string, string], title: string): string {
  const tails = ({ summary }: Result) =>
    [summary.p50, summary.p99, summary.p999].map((each) => milliseconds(each.median)).join(' / ');
  const rows = results
    .filter(({ work }) => work === alone)
    .map((calm) => {
      const busy = results.find(({ work, target }) => work === beside && target === calm.target);
      return [
        calm.target,
        count(calm.summary.perSecond.median),
        tails(calm),
        busy === undefined ? '' : tails(busy),
        busy === undefined ? '' : ratio(busy.summary.p99.median / calm.summary.p99.median),
      ];
    });
  const head = ['Server', 'UserInfo requests/s', 'Alone', 'With sign-ins', 'p99 ratio'];
  return table(title, head, rows);
}

function oneClient(results: readonly Result[]): string {
  const cost = ({ summary }: Result) =>
    [summary.userMicros.median + summary.systemMicros.median, summary.databaseMicros.median].map(count).join(' + ');
  const rows = results
    .filter(({ work }) => work === WORK.oneClient)
    .flatMap((one) => {
      const many = results.find(isSameLoadOf(WORK.refresh, one));
      if (many === undefined) return [];
      const [ofMany, ofOne] = [many, one].map(({ summary }) => spread(summary.perSecond));
      return [[one.target, ofMany ?? '', ofOne ?? '', relativeTo(one, many), cost(many), cost(one)]];
    });
  const head = ['Server', 'Many apps, requests/s', 'One app, requests/s', 'Share', 'CPU, many apps', 'CPU, one app'];
  return table(
    'Refresh with rotation, 32 connections, by the number of apps; CPU in µs, server + PostgreSQL',
    head,
    rows,
  );
}

function signatures(results: readonly Result[], signature: string, title: string): string {
  const signed = results.filter(({ work }) => work === signature);
  const [first] = signed;
  const rows = signed.map((result) => {
    const { perSecond, loopMicros, userMicros, systemMicros, p50, p99 } = result.summary;
    return [
      result.target,
      spread(perSecond),
      relativeTo(result, first),
      count(loopMicros.median),
      first === undefined || result === first ? '' : ratio(first.summary.loopMicros.median / loopMicros.median),
      count(userMicros.median + systemMicros.median),
      [p50, p99].map((each) => milliseconds(each.median)).join(' / '),
    ];
  });
  const head = [
    ...['ID token', 'Requests/s', 'Share of the first', 'CPU of the event loop in µs', 'Share of the first'],
    ...['CPU of all threads in µs', 'p50 / p99 in ms'],
  ];
  return table(title, head, rows);
}

function starts({ starts }: Recording): string {
  const bare = starts.find(({ target }) => target === BARE)?.milliseconds.median;
  const rows = starts.map(({ target, milliseconds, memory }) => [
    target,
    spread(milliseconds),
    bare === undefined || target === BARE ? '' : (milliseconds.median / bare).toFixed(1),
    count(memory.median),
  ]);
  const head = ['Server', 'ms', 'Relative to the bare server', 'Resident memory in MiB'];
  return table('From process start to the first response', head, rows);
}

function memory({ memory, people }: Recording): string {
  const rows = memory.map(({ target, started, requests, later }) => [
    target,
    count(started),
    count(later),
    count(requests),
  ]);
  const head = ['Server', 'After start', 'After load', 'Requests'];
  const title = `Resident memory in MiB, ${count(people)} users in the database`;
  return table(title, head, rows);
}

function profiles({ profiles }: Recording): string {
  const parts = new Set(profiles.flatMap(({ shares }) => shares.map(([part]) => part)));
  const cells = ({ micros, shares }: Profile, part: string) => {
    const share = shares.find(([name]) => name === part)?.[1] ?? 0;
    return `${(share * micros).toFixed(1)} µs, ${Math.round(share * 100)} %`;
  };
  const rows = [...parts].map((part) => [part, ...profiles.map((profile) => cells(profile, part))]);
  const sum = ['Sum', ...profiles.map(({ micros }) => `${micros.toFixed(1)} µs`)];
  const head = ['Part', ...profiles.map(({ work, connections }) => `${work}, ${connections} connections`)];
  const title = 'Event loop time per request of Tessera on SQLite, under the profiler';
  return table(title, head, profiles.length > 0 ? [...rows, sum] : []);
}

/** The results of a chart: every server except the bare ones. */
export const ranked = (results: readonly Result[], work: string, connections: number): readonly Result[] =>
  results.filter(
    (result) => result.work === work && result.connections === connections && !result.target.startsWith('bare'),
  );
