import { anyOf, authorizing, eachOf, following, followingOneClient, refreshing, signingIn } from './drivers.ts';
import { answerTo, type Field } from './field.ts';
import { type Driver, load, loadAtRate, type Measurement, requestsTo } from './load.ts';
import { accounted, type Cell, compare, type Measured, measure, type Result } from './measure.ts';
import type { Opponent, Options } from './options.ts';
import type { Other } from './other.ts';
import { residentMemory } from './processor-time.ts';
import { processors } from './processors.ts';
import { pack, type Requests } from './requests.ts';
import { say } from './say.ts';
import { CLIENTS } from './setting.ts';
import type { Subject, Target } from './subject.ts';
import { OWN, PEER, PEER_SQLITE, WORK } from './work-names.ts';

export interface Setting {
  readonly field: Field;
  /** Servers with users; each has a store of as many. */
  readonly subjects: readonly Subject[];
  /** A server that is already running. It takes part in UserInfo and refresh. */
  readonly other?: Other | undefined;
  readonly options: Options;
}

const CONNECTIONS = [1, 32, 128] as const;
const MANY = 32;
/** Fewer than the hashing pool lets wait, and than one address may have under way; more than hash at once. */
const BROWSERS = 16;

/** How long a server works before anything is measured, in seconds. */
const WARM_UP = 1;

/** A cell that is warmed up by its own workload. */
function cellOf(
  { options: { seconds } }: Setting,
  cell: Pick<Cell, 'work' | 'connections'>,
  target: Measured & { readonly name: string; readonly people?: number },
  driver: () => Driver | Promise<Driver>,
): Cell {
  const { connections } = cell;
  return {
    ...cell,
    target: target.name,
    people: target.people ?? 0,
    warmUp: async () => load(target.port, connections, Math.min(WARM_UP, seconds), await driver()),
    round: async () => measure(target, connections, seconds, await driver()),
  };
}

interface Bare {
  readonly work: string;
  readonly connections: readonly number[];
  readonly kinds: readonly ('http' | 'sockets')[];
  /** The request whose response is sent. */
  request(subject: Subject): Promise<Requests>;
}

/** The same bytes without the work, taken from the first subject. */
async function bareCells(setting: Setting, { work, connections, kinds, request }: Bare) {
  const [first] = setting.subjects;
  if (first === undefined || !setting.options.against.has('bare')) return { cells: [], async end() {} };
  const asked = await request(first);
  const answer = await answerTo(first, asked.at(0), first.refreshed);
  const targets = await Promise.all(kinds.map((kind) => setting.field.bare(kind, answer)));
  const driver = () => anyOf(asked, { status: answer.status });
  return {
    cells: targets.flatMap((target) =>
      connections.map((count) => cellOf(setting, { work, connections: count }, target, driver)),
    ),
    async end() {
      for (const target of targets) await setting.field.end(target);
    },
  };
}

/** A smaller response is less work: all responses have one size, within a few percent. */
async function assertSameSize(
  { subjects }: Setting,
  request: (subject: Subject) => Promise<string | Uint8Array>,
): Promise<void> {
  const sizes = [];
  for (const subject of subjects) {
    const { body } = await answerTo(subject, await request(subject), subject.refreshed);
    sizes.push(body.length);
  }
  if (Math.max(...sizes) > 1.04 * Math.min(...sizes))
    throw new Error(`answers differ in size: ${sizes.join(', ')} bytes`);
}

/** UserInfo: a live token of another person at random for every request; all of them were seen before. */
export async function userInfo(setting: Setting): Promise<Result[]> {
  const { subjects, options } = setting;
  const work = WORK.userInfo;
  await assertSameSize(setting, async (subject) => (await subject.userInfo(1)).at(0));
  const kinds = ['sockets', 'http'] as const;
  const bare = await bareCells(setting, { work, kinds, connections: CONNECTIONS, request: (of) => of.userInfo(1) });
  const known = new Map<Subject, Requests>();
  say(`${work}: every token once …`);
  for (const subject of subjects) {
    const requests = await subject.userInfo(subject.sample);
    known.set(subject, requests);
    await load(subject.port, MANY, Number.POSITIVE_INFINITY, eachOf(requests));
  }
  const driverOf = (subject: Subject) => anyOf(known.get(subject) ?? pack([]));
  const cells = CONNECTIONS.flatMap((connections) => [
    ...bare.cells.filter((cell) => cell.connections === connections),
    ...subjects.map((subject) => cellOf(setting, { work, connections }, subject, () => driverOf(subject))),
    ...otherUserInfo(setting, work, connections),
  ]);
  const results = await compare(work, cells, options.rounds);
  await bare.end();
  return results;
}

function otherUserInfo(setting: Setting, work: string, connections: number): Cell[] {
  const { other } = setting;
  if (other === undefined) return [];
  const target = { ...other, port: other.userInfoAddress };
  return [cellOf(setting, { work, connections }, target, () => anyOf(other.userInfo()))];
}

/** With as many connections as there are chains: a token that is used twice at a time would end its chain. */
function otherRefresh(setting: Setting, work: string, connections: number): Cell[] {
  const { other } = setting;
  if (other === undefined) return [];
  if (connections > other.sample) {
    say(`${other.name}: no refresh with ${connections} connections, as it has ${other.sample} refresh tokens`);
    return [];
  }
  const target = { ...other, port: other.tokenAddress };
  return [cellOf(setting, { work, connections }, target, () => following(other, connections))];
}

/** The same with tokens that the server meets for the first time. What looks tokens up in its memory knows no difference. */
export async function coldUserInfo(setting: Setting): Promise<Result[]> {
  const { subjects, options } = setting;
  // More than any server answers in that time.
  const enough = Math.ceil(Math.max(options.seconds, WARM_UP) * 50_000);
  const cells = subjects
    .filter(({ stateless }) => stateless)
    .map((subject) =>
      cellOf(setting, { work: WORK.cold, connections: MANY }, subject, async () =>
        eachOf(await subject.userInfo(enough)),
      ),
    );
  return compare(WORK.cold, cells, options.rounds);
}

/** Refresh with rotation: chains that are followed, of many apps and of one, and the next token of a random user. */
export async function refresh(setting: Setting): Promise<Result[]> {
  const { subjects, options } = setting;
  await assertSameSize(setting, async (subject) => subject.refresh(0));
  const request = async (subject: Subject) => pack([subject.refresh(0)]);
  const bare = await bareCells(setting, { work: WORK.refresh, kinds: ['http'], connections: CONNECTIONS, request });
  const chains = CONNECTIONS.flatMap((connections) => [
    ...bare.cells.filter((cell) => cell.connections === connections),
    ...subjects.map((subject) =>
      cellOf(setting, { work: WORK.refresh, connections }, subject, () => following(subject, connections)),
    ),
    ...otherRefresh(setting, WORK.refresh, connections),
  ]);
  const randomUsers = subjects.map((subject) =>
    cellOf(setting, { work: WORK.scattered, connections: MANY }, subject, () => refreshing(subject, MANY)),
  );
  const oneClient = subjects
    .filter(({ sample }) => sample >= MANY * CLIENTS)
    .map((subject) =>
      cellOf(setting, { work: WORK.oneClient, connections: MANY }, subject, () => followingOneClient(subject)),
    );
  const cells = [...chains, ...oneClient, ...randomUsers];
  const results = await compare('Refresh with rotation', cells, options.rounds);
  setting.other?.keepTokens();
  await bare.end();
  return results;
}

/** The authorize redirect for a signed-in user whose consent is remembered, and the exchange of the codes that it gave. */
export async function code(setting: Setting): Promise<Result[]> {
  const { subjects, options } = setting;
  const [authorize, exchange] = [
    { work: WORK.authorize, connections: MANY },
    { work: WORK.code, connections: MANY },
  ];
  const exchangeOf = async (subject: Subject) => {
    const request = subject.exchange(0, await answerTo(subject, subject.authorize(0)));
    if (request === undefined) throw new Error(`${subject.name} gave no code`);
    return request;
  };
  await assertSameSize(setting, exchangeOf);
  const kinds = ['http'] as const;
  const connections = [MANY];
  const bareRedirect = await bareCells(setting, {
    ...{ work: WORK.authorize, kinds, connections },
    request: async (subject) => pack([subject.authorize(0)]),
  });
  const bareExchange = await bareCells(setting, {
    ...{ work: WORK.code, kinds, connections },
    request: async (subject) => pack([await exchangeOf(subject)]),
  });
  const cells = subjects.flatMap((subject) => {
    // As many are exchanged as the redirects just gave, or as there is time for: codes do not live long.
    let exchanges: string[] = [];
    const redeeming = () => {
      const requests = pack(exchanges);
      exchanges = [];
      return eachOf(requests);
    };
    return [
      cellOf(setting, authorize, subject, () => authorizing(subject, MANY, exchanges)),
      cellOf(setting, exchange, subject, redeeming),
    ];
  });
  const all = [...bareRedirect.cells, ...bareExchange.cells, ...cells];
  const results = await compare('Authorize redirect and code exchange', all, options.rounds);
  await bareRedirect.end();
  await bareExchange.end();
  return results;
}

/** Sign-ins with the right password, from browsers that are known. */
export async function signIn(setting: Setting): Promise<Result[]> {
  const cells: Cell[] = [];
  for (const subject of setting.subjects) {
    const forms = await subject.signIn?.(BROWSERS);
    if (forms === undefined) continue;
    cells.push(cellOf(setting, { work: WORK.signIn, connections: BROWSERS }, subject, () => signingIn(forms)));
  }
  return compare(WORK.signIn, cells, setting.options.rounds);
}

/**
 * UserInfo at half of what it can carry, at a fixed rate: by itself, and while more sign-ins than the hashing pool can work on
 * wait for it. On all processors, and with one left for the threads that hash.
 */
export async function beside(setting: Setting, results: readonly Result[]): Promise<Result[]> {
  const { options } = setting;
  // The slowest hundredth of so short a round would be a single pause.
  const seconds = 3 * options.seconds;
  const cells: Cell[] = [];
  const two = processors();
  for (const subject of setting.subjects) {
    const forms = await subject.signIn?.(BROWSERS);
    if (forms === undefined) continue;
    const { name: target, port, people, sample } = subject;
    const requests = await subject.userInfo(sample);
    const capacity =
      results.find((result) => result.work === WORK.userInfo && result.target === target && result.connections === MANY)
        ?.summary.perSecond.median ?? (await load(port, MANY, seconds, anyOf(requests))).perSecond;
    const calm = (duration: number, perSecond: number) =>
      loadAtRate(port, 128, { perSecond, seconds: duration }, anyOf(requests));
    const busy = async (duration: number, perSecond: number) => {
      // From a moment before to a moment after.
      const crowd = load(port, BROWSERS, duration + 1, signingIn(forms));
      await new Promise((resolve) => setTimeout(resolve, 500));
      const measured = await calm(duration, perSecond);
      await crowd;
      return measured;
    };
    const cellOfRun = (work: string, run: (duration: number) => Promise<Measurement>): Cell => ({
      work,
      target,
      people,
      connections: 128,
      warmUp: () => run(Math.min(WARM_UP, seconds)),
      round: () => accounted(subject, () => run(seconds)),
    });
    cells.push(
      cellOfRun(WORK.half, (duration) => calm(duration, capacity / 2)),
      cellOfRun(WORK.beside, (duration) => busy(duration, capacity / 2)),
    );
    if (two === undefined) continue;
    // The generator takes its part of the processor of the event loop.
    const apart = <T>(run: () => Promise<T>) => two.apart(subject.process, run);
    const rate = (await apart(() => load(port, MANY, seconds, anyOf(requests)))).perSecond / 2;
    cells.push(
      cellOfRun(WORK.halfApart, (duration) => apart(() => calm(duration, rate))),
      cellOfRun(WORK.besideApart, (duration) => apart(() => busy(duration, rate))),
    );
  }
  return compare(WORK.half, cells, options.rounds);
}

/**
 * UserInfo and refresh with other numbers of people in the store, side by side. One kind of server after the other: what is
 * compared are its sizes, and a million people of another kind are felt by all that share the machine.
 */
export async function sizes(setting: Setting): Promise<Result[]> {
  const { options, subjects } = setting;
  const results: Result[] = [];
  for (const [kind, name] of [
    ['sqlite', OWN.sqlite],
    ['postgres', OWN.postgres],
    ['peer', PEER],
    ['peer-sqlite', PEER_SQLITE],
  ] as const) {
    const own = subjects.filter((subject) => subject.name === name);
    if (options.against.has(kind)) results.push(...(await sizesOf(setting, kind, own)));
  }
  return results;
}

async function sizesOf(setting: Setting, kind: Opponent, own: readonly Subject[]): Promise<Result[]> {
  const { field, options } = setting;
  const others: Subject[] = [];
  for (const people of options.sizes) {
    if (people !== options.people) others.push(...(await field.subjects(new Set([kind]), people)));
  }
  const all = [...own, ...others].sort((one, other) => one.people - other.people);
  const requests = new Map<Subject, Requests>();
  for (const subject of all) {
    requests.set(subject, await subject.userInfo(subject.sample));
    await load(subject.port, MANY, Number.POSITIVE_INFINITY, eachOf(requests.get(subject) ?? pack([])));
  }
  const cells = all.flatMap((subject) => [
    cellOf(setting, { work: WORK.userInfo, connections: MANY }, subject, () =>
      anyOf(requests.get(subject) ?? pack([])),
    ),
    cellOf(setting, { work: WORK.scattered, connections: MANY }, subject, () => refreshing(subject, MANY)),
  ]);
  const results = await compare('UserInfo and refresh by the number of users', cells, options.rounds);
  for (const subject of others) await field.end(subject);
  return results;
}

/** Resident memory of a server's processes in MiB. */
export interface Memory {
  readonly target: string;
  readonly people: number;
  readonly started: number;
  readonly requests: number;
  readonly later: number;
}

export const memoryOf = ({ process: { pid = 0 } }: Target): number => residentMemory(pid);

/** Sends UserInfo until each has answered so many requests of all kinds, and looks at what it holds then. */
export async function memory({ subjects, options }: Setting, started: ReadonlyMap<Subject, number>): Promise<Memory[]> {
  const looked: Memory[] = [];
  for (const subject of subjects) {
    say(`Memory of ${subject.name}: up to ${options.long} requests …`);
    const requests = await subject.userInfo(subject.sample);
    const count = options.long - requestsTo(subject.port);
    if (count > 0) await load(subject.port, MANY, Number.POSITIVE_INFINITY, anyOf(requests, { count }));
    const { name: target, people, port } = subject;
    const later = memoryOf(subject);
    looked.push({ target, people, started: started.get(subject) ?? 0, requests: requestsTo(port), later });
  }
  return looked;
}
