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
  /** The process of the database server, where there is one. */
  readonly database?: number | undefined;
}

/** A server that knows people, and how to talk to it as their apps and browsers do. A person is a number under `sample`. */
export interface Subject extends Target {
  readonly people: number;
  /** How many processes answer at its port. */
  readonly processes: number;
  /** Whether a token is proved by itself, so that one can be new to the server; else it is looked up. */
  readonly stateless: boolean;
  readonly sample: number;
  readonly sessions: number;
  /** UserInfo for so many people in no order, each with a token that was never shown before. */
  userInfo(count: number): Promise<Requests>;
  /** The requests of people one by one, with the token that each has now. */
  refresh(person: number): string;
  refreshed(person: number, answer: Answer): boolean;
  authorize(person: number): string;
  /** Reads the code of an answer; undefined where there is none. */
  exchange(person: number, answer: Answer): string | undefined;
  /** Forms of so many browsers, which sign in one person after the other; undefined where the server has none. */
  readonly signIn?: ((browsers: number) => Promise<(browser: number) => string>) | undefined;
}

/** What is common to all that are compared. */
const PRODUCTION = { ...process.env, NODE_ENV: 'production' };

/** Starts a program whose words go to a file, as a service's do. */
export function startProgram(
  args: readonly string[],
  { environment = {}, log }: { environment?: object; log: string },
): ChildProcess {
  const out = openSync(log, 'a');
  const options: SpawnOptions = { env: { ...PRODUCTION, ...environment }, stdio: ['ignore', out, out] };
  return spawn(process.execPath, args, options);
}

/** The same for one of our own, which tells its port. */
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

/** Waits for the first answer of a server that has just been started. @returns when it came */
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

/** A member of a JSON text whose value needs no decoding, found without reading the rest. */
export function member(json: string, name: string): string | undefined {
  const from = json.indexOf(`"${name}":"`);
  if (from < 0) return undefined;
  const begin = from + name.length + 4;
  return json.slice(begin, json.indexOf('"', begin));
}

/** The code in the address that a browser is sent to. */
export const codeIn = ({ status, head }: Answer): string | undefined =>
  status === 302 || status === 303 ? /\r\nlocation: [^\r]*[?&]code=([^&\r]+)/i.exec(head)?.[1] : undefined;

/** So many numbers under a limit, in no order: each comes once before one comes again. */
export function atRandom(count: number, limit: number): number[] {
  const numbers = Array.from({ length: limit }, (_, index) => index);
  for (let index = limit - 1; index > 0; index--) {
    const other = Math.floor(Math.random() * (index + 1));
    [numbers[index], numbers[other]] = [numbers[other] as number, numbers[index] as number];
  }
  return Array.from({ length: count }, (_, index) => numbers[index % limit] as number);
}
