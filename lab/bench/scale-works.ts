import { anyOf, authorizing, eachOf, refreshing, signingIn } from './drivers.ts';
import { answerTo } from './field.ts';
import { type Driver, load } from './load.ts';
import { type Cell, compare, measure, type Result } from './measure.ts';
import { pack } from './requests.ts';
import { say } from './say.ts';
import { type Generated, renewRefreshTokens } from './scale-data.ts';
import type { Seed } from './seed.ts';
import { get, type Subject, stop } from './subject.ts';
import { sessionCookies, startTessera } from './tessera.ts';

const CONNECTIONS = 32;
/** Fewer than the hashing pool lets wait. */
const BROWSERS = 16;

/** So many people send requests: theirs is in the cache of the database or the system, among everything else. */
const ACTIVE = 5000;

interface Place {
  readonly made: Generated;
  readonly subject: Subject;
}

/** The driver of a round. */
type Make = (place: Place) => Driver | Promise<Driver>;

/** A request of the admin API about another person each time. */
function asking(pathOf: (person: number, place: Place) => string): Make {
  return (place) => {
    const { sample } = place.subject;
    const key = `Authorization: Bearer ${place.made.adminKey}`;
    return {
      next: () => get(`/api/v2/admin${pathOf(Math.floor(Math.random() * sample), place)}`, key),
      answered: (_connection, { status }) => status === 200,
    };
  };
}

/** The session of an operator who looks at the console, in each subject. */
const operators = new Map<Subject, string>();

/** Makes the first of the people an owner. */
async function operatorOf({ subject, made: { adminKey, seeded } }: Place): Promise<string> {
  const known = operators.get(subject);
  if (known !== undefined) return known;
  const path = `/api/v2/admin/users/${seeded.accountOf(0)}/roles/owner`;
  const { status } = await fetch(`http://127.0.0.1:${subject.port}${path}`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${adminKey}`, 'content-type': 'application/json' },
    body: '{}',
  });
  if (status !== 200 && status !== 201) throw new Error(`the first person cannot be made an owner: ${status}`);
  const cookies = sessionCookies(seeded, 0);
  operators.set(subject, cookies);
  return cookies;
}

/** A page of the console, about another person each time, for one operator. */
function looking(pathOf: (person: number, seeded: Seed) => string): {
  readonly connections: number;
  readonly make: Make;
} {
  return {
    connections: 1,
    async make(place) {
      const { sample } = place.subject;
      const cookies = await operatorOf(place);
      return {
        next: () =>
          get(`/console${pathOf(Math.floor(Math.random() * sample), place.made.seeded)}`, `Cookie: ${cookies}`),
        answered: (_connection, { status }) => status === 200,
      };
    },
  };
}

/** As the admin API writes cursors: opaque to callers, and the load generator is not one. */
const after = (id: string) => Buffer.from(`after ${id}`).toString('base64url');

const exchanges = new Map<Subject, string[]>();

const WORKS: Readonly<Record<string, { readonly connections?: number; readonly make: Make }>> = {
  userinfo: {
    make: async ({ subject }) => anyOf(await subject.userInfo(subject.sample)),
  },
  refresh: { make: ({ subject }) => refreshing(subject, CONNECTIONS) },
  authorize: {
    make({ subject }) {
      const codes: string[] = [];
      exchanges.set(subject, codes);
      return authorizing(subject, CONNECTIONS, codes);
    },
  },
  exchange: { make: ({ subject }) => eachOf(pack(exchanges.get(subject) ?? [])) },
  'sign-in': {
    connections: BROWSERS,
    make: async ({ subject }) => signingIn((await subject.signIn?.(BROWSERS)) ?? (() => '')),
  },
  'users: a page': {
    make: asking((person, { made }) => `/users?limit=50&cursor=${after(made.seeded.accountOf(person))}`),
  },
  'users: one': { make: asking((person, { made }) => `/users/${made.seeded.accountOf(person)}`) },
  'events: the newest': { make: asking(() => '/audit-events?order=desc&limit=50') },
  'events: since a day ago': {
    make: asking(() => `/audit-events?limit=50&since=${new Date(Date.now() - 86_400_000).toISOString()}`),
  },
  'users: search': {
    connections: 1,
    make: asking((person, { made }) => `/users?limit=50&q=${made.seeded.usernameOf(person)}%40`),
  },
  'events: of a user': {
    connections: 1,
    make: asking((person, { made }) => `/audit-events?order=desc&limit=50&userId=${made.seeded.accountOf(person)}`),
  },
  'console: overview': looking(() => '/overview'),
  'console: people': looking(() => '/people'),
  'console: people found': looking((person, seeded) => `/people?q=${seeded.usernameOf(person)}`),
  'console: search': looking((person, seeded) => `/search?text=${seeded.usernameOf(person)}`),
  'console: a person': looking((person, seeded) => `/people/${seeded.accountOf(person)}`),
  'console: their browsers': looking((person, seeded) => `/people/${seeded.accountOf(person)}/sessions`),
  'console: their apps': looking((person, seeded) => `/people/${seeded.accountOf(person)}/apps`),
  'console: apps': looking(() => '/apps'),
  'console: an app': looking((person, seeded) => `/apps/${seeded.clientOf(person).id}`),
  'console: events': looking(() => '/events'),
  'console: events of a person': looking((person, seeded) => `/events?userId=${seeded.accountOf(person)}`),
  'console: explain': looking(() => '/explain'),
};

export const SCALE_WORKS = Object.keys(WORKS);

interface ScaleOptions {
  readonly folder: string;
  readonly rounds: number;
  readonly seconds: number;
  readonly only: ReadonlySet<string>;
  /** Whether those who send requests were not active before, so that what they need is on the disk. */
  readonly cold: boolean;
}

/** Measures each kind of request on databases of different sizes, in turn, and prints what it costs. */
export async function measureScale(
  all: readonly Generated[],
  { folder, rounds, seconds, only, cold }: ScaleOptions,
): Promise<void> {
  const works = Object.entries(WORKS).filter(([name]) => only.has(name));
  if (works.length === 0) return;
  const places: Place[] = [];
  try {
    for (const made of all) {
      const sample = Math.min(made.seeded.sample, ACTIVE);
      const seeded = { ...made.seeded, sample, sessions: Math.min(made.seeded.sessions, ACTIVE) };
      // An earlier run in the same folder has used them.
      await renewRefreshTokens(made, sample);
      const subject = await startTessera(
        'scale',
        {
          ...made,
          environment: { ...made.environment, TESSERA_CONSOLE_SECOND_FACTOR: 'off' },
          seeded,
          refreshTokens: new Map<number, string>(),
        },
        { folder },
      );
      places.push({ made, subject });
      if (cold) continue;
      // What was never read is on the disk, and every system waits for that.
      say(`${made.people} people: each of ${sample} once …`);
      await load(subject.port, CONNECTIONS, Number.POSITIVE_INFINITY, eachOf(await subject.userInfo(sample)));
    }
    const cells: Cell[] = [];
    for (const place of places) {
      const { subject } = place;
      // Each kind of request once, so that a wrong answer ends the run here.
      await answerTo(subject, subject.refresh(0), subject.refreshed);
      for (const [work, { make, connections = CONNECTIONS }] of works) {
        cells.push({
          ...{ work, connections, target: subject.name, people: subject.people },
          warmUp: async () => load(subject.port, connections, 1, await make(place)),
          round: async () => measure(subject, connections, seconds, await make(place)),
        });
      }
    }
    // Side by side: what is compared are the sizes.
    const order = cells.toSorted((one, other) => SCALE_WORKS.indexOf(one.work) - SCALE_WORKS.indexOf(other.work));
    show(await compare('Requests by the number of people', order, rounds));
  } finally {
    for (const { subject } of places) await stop(subject);
  }
}

function show(results: readonly Result[]): void {
  const [few] = [Math.min(...results.map(({ people }) => people))];
  console.table(
    results.map(({ work, people, summary }) => {
      const base = results.find((one) => one.work === work && one.people === few)?.summary;
      const cpu = (of: typeof summary) => of.userMicros.median + of.systemMicros.median + of.databaseMicros.median;
      return {
        work,
        people,
        'a second': Math.round(summary.perSecond.median),
        'p50 ms': Number(summary.p50.median.toFixed(2)),
        'p95 ms': Number(summary.p95.median.toFixed(2)),
        'p99 ms': Number(summary.p99.median.toFixed(2)),
        'node µs': Math.round(summary.userMicros.median + summary.systemMicros.median),
        'database µs': Math.round(summary.databaseMicros.median),
        'cost ×': base === undefined ? '' : (cpu(summary) / cpu(base)).toFixed(2),
      };
    }),
  );
  say(
    'The cost is processor time, of the node and the database together, as a multiple of that with the fewest people.',
  );
}
