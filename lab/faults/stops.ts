import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { randomSecret } from '../../src/platform/crypto/secrets.ts';
import { startPostgres } from '../../test/support/postgres.ts';
import { newDatabase } from '../../test/support/postgres-database.ts';
import { ADMIN_KEY } from '../../test/support/server.ts';
import { seconds } from './kill-postgres.ts';
import { childrenOf, freePort, TESSERA } from './service.ts';
import type { Options, Outcome } from './trial.ts';

/** How long a stop may take, in milliseconds. */
const LONGEST = 10_000;

/** How long an answer may take that does not depend on what is away. */
const PATIENCE = 10_000;

/** A service that is about to be stopped. */
interface Running {
  readonly baseUrl: string;
  readonly process: ChildProcess;
}

/** What is away while the service is told to stop. */
export interface Situation {
  readonly name: string;
  readonly isOnPostgres?: boolean;
  /** With how many processes it is tried in turn. */
  readonly processes: readonly number[];
  /** Where the log goes: `full` takes nothing, and `unread` has no reader. */
  readonly log?: 'full' | 'unread';
  /** Brings it about. @returns what was not as it must be before the stop */
  begin(running: Running, server: ChildProcess | undefined): Promise<string | undefined>;
}

const ask = (baseUrl: string, path: string, init: RequestInit = {}): Promise<number> =>
  fetch(baseUrl + path, { ...init, signal: AbortSignal.timeout(PATIENCE) }).then(async (answer) => {
    await answer.arrayBuffer();
    return answer.status;
  });

/** Requests of strangers, each of which writes a line. */
async function refusals({ baseUrl }: Running, count: number): Promise<string | undefined> {
  for (let sent = 0; sent < count; sent += 50) {
    const stranger = { headers: { authorization: 'Bearer nothing' } };
    const answers = Array.from({ length: 50 }, () => ask(baseUrl, '/api/v2/oauth/userinfo', stranger).catch(String));
    const other = (await Promise.all(answers)).find((answer) => answer !== 401);
    if (other !== undefined) return `a request was answered ${other}`;
  }
  return undefined;
}

let people = 0;
const newPerson = ({ baseUrl }: Running): Promise<number | undefined> => {
  const username = `person${++people}`;
  const body = { username, displayName: 'Ada', email: `${username}@example.com`, password: 'a long passphrase' };
  const headers = { authorization: `Bearer ${ADMIN_KEY}`, 'content-type': 'application/json' };
  return ask(baseUrl, '/api/v2/admin/users', { method: 'POST', headers, body: JSON.stringify(body) }).catch(
    () => undefined,
  );
};

/** More than a pipe and what may wait for it hold. */
const MANY = 6000;

const halt = (pids: readonly number[]) => {
  for (const pid of pids) process.kill(pid, 'SIGSTOP');
};

export const SITUATIONS: Readonly<Record<string, Situation>> = {
  'stop-log-full': {
    ...{ name: 'stopped while the disk of the log is full', processes: [1, 2], log: 'full' },
    begin: (running) => refusals(running, MANY),
  },
  'stop-log-unread': {
    ...{ name: 'stopped while nobody reads the log', processes: [1, 2], log: 'unread' },
    begin: (running) => refusals(running, MANY),
  },
  'stop-postgres-silent': {
    ...{ name: 'stopped while PostgreSQL is silent', processes: [1, 2], isOnPostgres: true },
    async begin(running, server) {
      await newPerson(running);
      await refusals(running, 50);
      halt([...childrenOf(server?.pid), server?.pid ?? 0]);
      await pause(3000);
      return undefined;
    },
  },
  'stop-process-halted': {
    ...{ name: 'stopped while a process hangs', processes: [2] },
    async begin({ process }) {
      halt(childrenOf(process.pid).slice(-1));
      return undefined;
    },
  },
  'stop-process-hashing': {
    ...{ name: 'stopped while a process hangs that hashes', processes: [2] },
    async begin(running) {
      const asked = Array.from({ length: 20 }, () => newPerson(running));
      await Promise.race(asked);
      halt(childrenOf(running.process.pid).slice(-1));
      // Some of them reach the process that works.
      const answers = await Promise.all(Array.from({ length: 6 }, () => newPerson(running)));
      await Promise.all(asked);
      return answers.includes(201) ? undefined : 'nobody got a password hashed by the process that works';
    },
  },
};

/** Stops a service in a situation, several times. It must end in time, with status 0. */
export async function stopWhile(situation: Situation, options: Options): Promise<Outcome> {
  const violations: string[] = [];
  let longest = 0;
  for (let time = 0; time < options.times; time++) {
    const processes = options.processes ?? situation.processes[time % situation.processes.length] ?? 1;
    if (!situation.processes.includes(processes)) continue;
    const server = situation.isOnPostgres ? await startPostgres() : undefined;
    const folder = mkdtempSync(join(tmpdir(), 'tessera-stop-'));
    const database = server && (await newDatabase(server.url));
    const running = await begin(situation.log, {
      TESSERA_DATA_DIR: folder,
      TESSERA_PROCESSES: String(processes),
      ...database?.environment,
    });
    try {
      const found = await situation.begin(running, server?.process);
      if (found !== undefined) violations.push(found);
      const began = performance.now();
      const ended = once(running.process, 'exit');
      running.process.kill('SIGTERM');
      const end = await Promise.race([ended, pause(3 * LONGEST)]);
      const took = performance.now() - began;
      longest = Math.max(longest, took);
      const [status, signal] = (end as [number | null, string | null] | undefined) ?? [];
      if (status !== 0) violations.push(`${processes} processes: ended with ${status ?? signal ?? 'nothing'}`);
      if (took > LONGEST) violations.push(`${processes} processes: took ${seconds(took)} to end`);
    } finally {
      for (const pid of [...childrenOf(running.process.pid), running.process.pid ?? 0]) kill(pid, 'SIGKILL');
      if (server !== undefined) {
        for (const pid of [...childrenOf(server.process.pid), server.process.pid ?? 0]) kill(pid, 'SIGCONT');
        await server.stop();
      }
      rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
    }
    options.progress(time + 1);
  }
  return {
    fault: situation.name,
    store: situation.isOnPostgres ? 'PostgreSQL' : 'SQLite',
    ...{ times: options.times, acknowledged: 0, unanswered: 0, refused: 0, violations },
    notes: [`ended ${seconds(longest)} after SIGTERM at the latest`],
  };
}

function kill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has ended.
  }
}

/** Starts the service, and waits until all of its processes serve. */
async function begin(log: Situation['log'], settings: Readonly<Record<string, string>>): Promise<Running> {
  const port = await freePort();
  const baseUrl = `http://localhost:${port}`;
  const full = log === 'full' ? openSync('/dev/full', 'w') : undefined;
  const child = spawn(process.execPath, [...TESSERA, 'serve'], {
    env: {
      ...{ PATH: process.env['PATH'], TESSERA_PORT: String(port), TESSERA_BASE_URL: baseUrl },
      ...{ TESSERA_ADMIN_KEY: ADMIN_KEY, TESSERA_SECRET: randomSecret(), TESSERA_DRAIN_SECONDS: '0' },
      ...{ TESSERA_HASHING_CONCURRENCY: '1', TESSERA_LIMIT_TOKEN: 'off' },
      ...settings,
    },
    stdio: ['ignore', full ?? (log === 'unread' ? 'pipe' : 'ignore'), full ?? 'ignore'],
  });
  if (full !== undefined) closeSync(full);
  const processes = Number(settings['TESSERA_PROCESSES']);
  const expected = processes === 1 ? 0 : processes;
  const isReady = () => ask(baseUrl, '/health/ready').catch(() => 0);
  while ((await isReady()) !== 200 || childrenOf(child.pid).length < expected) {
    if (child.exitCode !== null) throw new Error(`it ended with ${child.exitCode}`);
    await pause(50);
  }
  // The last of them may have begun a moment ago.
  await pause(expected === 0 ? 0 : 5000);
  return { baseUrl, process: child };
}
