import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { randomSecret } from '../src/secrets.ts';
import { type PostgresServer, startPostgres } from '../test/support/postgres.ts';
import { freePort } from './free-port.ts';
import { type Driver, load, type Measurement } from './load.ts';
import { processorTime, treeTime } from './processor-time.ts';
import { refreshDriver } from './refresh.ts';
import { type Environment, type Seed, seed } from './seed.ts';

const { values: options } = parseArgs({
  options: {
    people: { type: 'string', default: '20000' },
    seconds: { type: 'string', default: '3' },
    rounds: { type: 'string', default: '5' },
    json: { type: 'boolean', default: false },
  },
});
const [people, seconds, rounds] = [Number(options.people), Number(options.seconds), Number(options.rounds)];
const say = (text: string): void => void process.stderr.write(`${text}\n`);

interface Target {
  readonly name: string;
  readonly process: ChildProcess;
  readonly port: number;
  /** The process of the database server, where there is one. */
  readonly database?: number | undefined;
}

/** Tessera with people of its own, on one of its databases. */
interface Subject extends Target {
  readonly seeded: Seed;
  readonly chains: Map<number, string>;
}

/** UserInfo: a live token picked at random for every request. */
function userInfoDriver({ tokens }: Seed): Driver {
  const requests = tokens.map(
    ({ access }) => `GET /api/v2/oauth/userinfo HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${access}\r\n\r\n`,
  );
  return {
    next: () => requests[Math.floor(Math.random() * requests.length)] as string,
    answered: (_connection, status) => status === 200,
  };
}

async function startTessera(name: string, environment: Environment, database?: number): Promise<Subject> {
  const port = await freePort();
  say(`${name}: seeding ${people} people with a live token each …`);
  const seeded = await seed({ ...environment, TESSERA_BASE_URL: `http://localhost:${port}` }, people);
  const child = spawn(process.execPath, ['bin/tessera.js', 'serve'], {
    env: {
      ...process.env,
      ...environment,
      TESSERA_PORT: String(port),
      TESSERA_METRICS_ADDRESS: '127.0.0.1:0',
      // One client makes all the load, and would meet its limit.
      TESSERA_LIMIT_TOKEN: 'off',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await new Promise<void>((resolve, reject) => {
    child.stdout?.on('data', (text: Buffer) => text.includes('is ready') && resolve());
    child.on('exit', () => reject(new Error('the server ended before it was ready')));
  });
  return { name, process: child, port, database, seeded, chains: new Map() };
}

async function startBare(answer: Response): Promise<Target> {
  const body = await answer.text();
  const skip = new Set(['connection', 'keep-alive', 'date', 'transfer-encoding']);
  const headers = Object.fromEntries([...answer.headers].filter(([name]) => !skip.has(name)));
  const child = fork(new URL('./bare-server.ts', import.meta.url), [JSON.stringify({ headers, body })]);
  const port = await new Promise<number>((resolve) =>
    child.once('message', (message) => resolve((message as { port: number }).port)),
  );
  return { name: 'bare node:http, same bytes', process: child, port };
}

interface Row extends Measurement {
  readonly userMicros: number;
  readonly systemMicros: number;
  /** What the database server spent on a request, user and system. */
  readonly databaseMicros: number;
}

/** The time of a process and of all that it started, in milliseconds. */
function timeOf({ process: { pid = 0 }, database }: Target) {
  const { user, system } = processorTime(pid);
  return { user, system, database: database === undefined ? 0 : treeTime(database) };
}

async function measure(target: Target, connections: number, driver: Driver): Promise<Row> {
  const before = timeOf(target);
  const measured = await load(target.port, connections, seconds, driver);
  const after = timeOf(target);
  if (measured.failures > 0) throw new Error(`${target.name}: ${measured.failures} answers were not 200`);
  return {
    ...measured,
    userMicros: ((after.user - before.user) * 1000) / measured.requests,
    systemMicros: ((after.system - before.system) * 1000) / measured.requests,
    databaseMicros: ((after.database - before.database) * 1000) / measured.requests,
  };
}

const median = (numbers: readonly number[]): number => [...numbers].sort((a, b) => a - b)[numbers.length >> 1] ?? 0;

function summary(rows: readonly Row[]) {
  const of = (pick: (row: Row) => number) => median(rows.map(pick));
  const rates = rows.map((row) => row.perSecond);
  return {
    perSecond: Math.round(of((row) => row.perSecond)),
    spread: `${Math.round(Math.min(...rates))}–${Math.round(Math.max(...rates))}`,
    p50: of((row) => row.p50).toFixed(2),
    p99: of((row) => row.p99).toFixed(2),
    userMicros: of((row) => row.userMicros).toFixed(1),
    systemMicros: of((row) => row.systemMicros).toFixed(1),
    databaseMicros: of((row) => row.databaseMicros).toFixed(1),
  };
}

const dataDir = mkdtempSync(join(tmpdir(), 'tessera-bench-'));
const targets: Target[] = [];
let postgres: PostgresServer | undefined;
try {
  postgres = await startPostgres();
  const onPostgres = { TESSERA_DATA_DIR: dataDir, TESSERA_DATABASE_URL: postgres.url, TESSERA_SECRET: randomSecret() };
  const subjects = [
    await startTessera('Tessera (SQLite, synchronous=FULL)', { TESSERA_DATA_DIR: dataDir }),
    await startTessera('Tessera (PostgreSQL, one process)', onPostgres, postgres.process.pid),
  ];
  targets.push(...subjects);

  const results: Record<string, unknown>[] = [];
  const works = [
    {
      name: 'UserInfo, distinct tokens',
      connections: [1, 32, 128],
      sample: ({ port, seeded }: Subject) =>
        fetch(`http://127.0.0.1:${port}/api/v2/oauth/userinfo`, {
          headers: { authorization: `Bearer ${seeded.tokens[0]?.access}` },
        }),
      driver: ({ seeded }: Subject) => userInfoDriver(seeded),
    },
    {
      name: 'Refresh with rotation, each connection its own chain',
      connections: [1, 32, 128],
      sample: ({ port, seeded }: Subject) =>
        fetch(`http://127.0.0.1:${port}/api/v2/oauth/token`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({
            grant_type: 'refresh_token',
            client_id: seeded.clientId,
            client_secret: seeded.clientSecret,
            refresh_token: seeded.tokens.at(-1)?.refresh,
          }),
        }),
      driver: ({ seeded, chains }: Subject, own: boolean) => refreshDriver(seeded, chains, own),
    },
  ];
  const [first] = subjects;
  if (first === undefined) throw new Error('nothing to measure');
  for (const work of works) {
    const bare = await startBare(await work.sample(first));
    targets.push(bare);
    for (const connections of work.connections) {
      say(`${work.name}, ${connections} connections, ${rounds} rounds of ${seconds} s …`);
      const runs = [
        { target: bare, rows: [] as Row[], driver: () => work.driver(first, false) },
        ...subjects.map((subject) => ({
          target: subject,
          rows: [] as Row[],
          driver: () => work.driver(subject, true),
        })),
      ];
      for (const { target, driver } of runs) await load(target.port, connections, 1, driver());
      for (let round = 0; round < rounds; round++) {
        for (const { target, rows, driver } of runs) rows.push(await measure(target, connections, driver()));
      }
      const limit = median(runs[0]?.rows.map((row) => row.perSecond) ?? []);
      for (const { target, rows } of runs) {
        const summed = summary(rows);
        const shareOfBare = (summed.perSecond / limit).toFixed(2);
        results.push({ work: work.name, connections, target: target.name, ...summed, shareOfBare });
      }
    }
    bare.process.kill();
  }
  if (options.json) {
    const machine = { processor: cpus()[0]?.model, processors: cpus().length, node: process.version };
    console.log(JSON.stringify({ machine, people, seconds, rounds, results }, null, 2));
  } else {
    console.table(results);
  }
} finally {
  await Promise.all(
    targets.map(({ process }) => {
      process.kill('SIGKILL');
      return process.exitCode === null && process.signalCode === null ? once(process, 'exit') : undefined;
    }),
  );
  await postgres?.stop();
  rmSync(dataDir, { recursive: true, force: true });
}
