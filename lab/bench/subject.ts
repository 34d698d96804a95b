import { type ChildProcess, fork, type SpawnOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { openSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import type { Answer } from './load.ts';
import type { Requests } from './requests.ts';

/** A server under load. */
export interface Target {
  readonly name: string;
  readonly process: ChildProcess;
  readonly port: number;
  /** The process ID of the database server, if there is one. */
  readonly database?: number | undefined;
}

/** A server with users, and the requests of their apps and browsers. A user is a number below `sample`. */
export interface Subject extends Target {
  readonly people: number;
  /** The number of processes on its port. */
  readonly processes: number;
  /** Whether tokens are self-contained, so that a token can be new to the server. */
  readonly stateless: boolean;
  readonly sample: number;
  readonly sessions: number;
  /** UserInfo requests of this many users in random order, each with a token that the server has not seen. */
  userInfo(count: number): Promise<Requests>;
  /** The requests of single users, with their current tokens. */
  refresh(person: number): string;
  refreshed(person: number, answer: Answer): boolean;
  authorize(person: number): string;
  /** The code in a response; undefined if there is none. */
  exchange(person: number, answer: Answer): string | undefined;
  /** The sign-in forms of this many browsers; undefined if the server has no sign-in. */
  readonly signIn?: ((browsers: number) => Promise<(browser: number) => string>) | undefined;
}

/** What is common to all that are compared. */
const PRODUCTION = {
  // What tests run with is no setting of a server.
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('TESSERA_TEST_'))),
  NODE_ENV: 'production',
};

/** Starts a program with its output in a file. */
export function startProgram(
  args: readonly string[],
  { environment = {}, log }: { environment?: object; log: string },
): ChildProcess {
  const out = openSync(log, 'a');
  const options: SpawnOptions = { env: { ...PRODUCTION, ...environment }, stdio: ['ignore', out, out] };
  return spawn(process.execPath, args, options);
}

/** The same for a Tessera server, which reports its port. */
export async function forkProgram(
  file: string,
  { args = [], execArgv = [], log }: { args?: readonly string[]; execArgv?: string[]; log: string },
): Promise<{ process: ChildProcess; port: number }> {
  const out = openSync(log, 'a');
  const child = fork(new URL(file, import.meta.url), args, {
    env: PRODUCTION,
    execArgv,
    stdio: ['ignore', out, out, 'ipc'],
  });
  const [{ port }] = (await once(child, 'message')) as [{ port: number }];
  return { process: child, port };
}

export async function stop({ process: child }: Pick<Target, 'process'>): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  await ended;
}

/** Waits for the first response of a server that has just been started. @returns the time of the response */
export async function ready({ process: child, port }: Pick<Target, 'process' | 'port'>, path: string): Promise<number> {
  for (;;) {
    try {
      const response = await fetch(`http://127.0.0.1:${port}${path}`);
      await response.arrayBuffer();
      if (response.ok) return performance.now();
    } catch {
      // It does not listen yet.
    }
    await wait(1);
    if (child.exitCode !== null) throw new Error(`a server ended with ${child.exitCode} before it was ready`);
  }
}

export const get = (path: string, headers: string): string =>
  `GET ${path} HTTP/1.1\r\nHost: localhost:8080\r\n${headers}\r\n\r\n`;

export const post = (path: string, type: string, body: string, headers = ''): string =>
  `POST ${path} HTTP/1.1\r\nHost: localhost:8080\r\n${headers}Content-Type: ${type}\r\nContent-Length: ${body.length}\r\n\r\n${body}`;

/** Extracts a string member of a JSON text without parsing the rest. The value must not contain escapes. */
export function member(json: string, name: string): string | undefined {
  const from = json.indexOf(`"${name}":"`);
  if (from < 0) return undefined;
  const begin = from + name.length + 4;
  return json.slice(begin, json.indexOf('"', begin));
}

/** The code in the redirect of a response. */
export const codeIn = ({ status, head }: Answer): string | undefined =>
  status === 302 || status === 303 ? /\r\nlocation: [^\r]*[?&]code=([^&\r]+)/i.exec(head)?.[1] : undefined;

/** This many numbers below a limit in random order, without repetition until all have occurred. */
export function atRandom(count: number, limit: number): number[] {
  const numbers = Array.from({ length: limit }, (_, index) => index);
  for (let index = limit - 1; index > 0; index--) {
    const other = Math.floor(Math.random() * (index + 1));
    [numbers[index], numbers[other]] = [numbers[other] as number, numbers[index] as number];
  }
  return Array.from({ length: count }, (_, index) => numbers[index % limit] as number);
}
