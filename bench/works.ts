import { anyOf, authorizing, eachOf, refreshing } from './drivers.ts';
import { answerTo, type Field, say } from './field.ts';
import { load } from './load.ts';
import { type Cell, compare, measure, type Result } from './measure.ts';
import type { Options } from './options.ts';
import type { Subject, Target } from './subject.ts';

/** One piece of work, on everything that is compared. */
export interface Setting {
  readonly field: Field;
  readonly subjects: readonly Subject[];
  readonly options: Options;
}

/** How long a server works before anything is measured, in seconds. */
const WARM_UP = 1;

const warm = (target: Target, connections: number, driver: Parameters<typeof load>[3], { seconds }: Options) =>
  load(target.port, connections, Math.min(WARM_UP, seconds), driver);

/** The same bytes without the work, where there is a subject to take them from. */
async function bareCells(
  { field, subjects, options }: Setting,
  work: string,
  {
    connections,
    kinds,
    request,
    status,
  }: {
    connections: readonly number[];
    kinds: readonly ('http' | 'sockets')[];
    request: (subject: Subject) => Promise<string>;
    status?: number;
  },
): Promise<{ cells: Cell[]; end(): Promise<void> }> {
  const [first] = subjects;
  if (first === undefined || !options.against.has('bare')) return { cells: [], async end() {} };
  const asked = await request(first);
  const answer = await answerTo(first, asked, first.refreshed);
  const targets = await Promise.all(kinds.map((kind) => field.bare(kind, answer)));
  const driver = () => anyOf([asked], status ?? answer.status);
  const cells = targets.flatMap((target) =>
    connections.map((count) => ({
      work,
      target: target.name,
      connections: count,
      people: 0,
      warmUp: () => warm(target, count, driver(), options),
      round: () => measure(target, count, options.seconds, driver()),
    })),
  );
  return { cells, end: async () => void (await Promise.all(targets.map((target) => field.end(target)))) };
}

const CONNECTIONS = [1, 32, 128] as const;

/** UserInfo: a live token of another person at random for every request; and with tokens that the server has never seen. */
export async function userInfo(setting: Setting): Promise<Result[]> {
  const { subjects, options } = setting;
  const { seconds } = options;
  const request = async (subject: Subject) => (await subject.userInfo(1))[0] ?? '';
  const bare = await bareCells(setting, 'UserInfo', { connections: CONNECTIONS, kinds: ['sockets', 'http'], request });
  const warmCells: Cell[] = [];
  const coldCells: Cell[] = [];
  for (const subject of subjects) {
    const { name: target, people, sample } = subject;
    const requests = await subject.userInfo(sample);
    let seen = false;
    for (const connections of CONNECTIONS) {
      warmCells.push({
        work: 'UserInfo',
        target,
        connections,
        people,
        async warmUp() {
          // Every token once: from then on the server may know all of them.
          if (!seen) await load(subject.port, 32, Number.POSITIVE_INFINITY, eachOf(requests));
          seen = true;
          return warm(subject, connections, anyOf(requests), options);
        },
        round: () => measure(subject, connections, seconds, anyOf(requests)),
      });
    }
    // More than anybody answers in that time.
    const enough = Math.ceil(seconds * 40_000);
    coldCells.push({
      work: 'UserInfo, tokens never seen before',
      target,
      connections: 32,
      people,
      async warmUp() {},
      round: async () => measure(subject, 32, seconds, eachOf(await subject.userInfo(enough))),
    });
  }
  say('UserInfo …');
  const byConnections = CONNECTIONS.flatMap((count) =>
    [...bare.cells, ...warmCells].filter(({ connections }) => connections === count),
  );
  const results = [...(await compare(byConnections, options.rounds)), ...(await compare(coldCells, options.rounds))];
  await bare.end();
  return results;
}

/** Refresh with rotation, each person a chain of tokens. */
export async function refresh(setting: Setting): Promise<Result[]> {
  const { subjects, options } = setting;
  const request = async (subject: Subject) => subject.refresh(0);
  const bare = await bareCells(setting, 'Refresh', { connections: CONNECTIONS, kinds: ['http'], request });
  const cells: Cell[] = CONNECTIONS.flatMap((connections) => [
    ...bare.cells.filter((cell) => cell.connections === connections),
    ...subjects.map((subject) => ({
      work: 'Refresh',
      target: subject.name,
      connections,
      people: subject.people,
      warmUp: () => warm(subject, connections, refreshing(subject, connections), options),
      round: () => measure(subject, connections, options.seconds, refreshing(subject, connections)),
    })),
  ]);
  say('Refresh …');
  const results = await compare(cells, options.rounds);
  await bare.end();
  return results;
}

/** The authorize redirect for somebody signed in whose consent is remembered, and the exchange of the codes that it gave. */
export async function code(setting: Setting): Promise<Result[]> {
  const { subjects, options } = setting;
  const connections = 32;
  const bare = await bareCells(setting, 'Authorize redirect', {
    connections: [connections],
    kinds: ['http'],
    request: async (subject) => subject.authorize(0),
  });
  const cells = subjects.flatMap((subject): Cell[] => {
    const { name: target, people } = subject;
    let exchanges: string[] = [];
    const authorize = () => authorizing(subject, connections, exchanges);
    const exchange = () => {
      const driver = eachOf(exchanges);
      exchanges = [];
      return driver;
    };
    return [
      {
        work: 'Authorize redirect',
        target,
        connections,
        people,
        warmUp: () => warm(subject, connections, authorize(), options),
        round: () => measure(subject, connections, options.seconds, authorize()),
      },
      {
        work: 'Code exchange',
        target,
        connections,
        people,
        warmUp: () => warm(subject, connections, exchange(), options),
        // As many as the redirects just gave, or as there is time for: codes do not live long.
        round: () => measure(subject, connections, options.seconds, exchange()),
      },
    ];
  });
  say('Authorize redirect and code exchange …');
  const results = await compare([...bare.cells, ...cells], options.rounds);
  await bare.end();
  return results;
}
