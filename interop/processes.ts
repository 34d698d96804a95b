import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { Server as TlsServer } from 'node:https';
import { type AddressInfo, connect } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';

/** A program that the run needs and this machine does not have. */
export class Missing extends Error {}

const children = new Set<ChildProcess>();

function started(command: string, args: readonly string[], options: SpawnOptions): ChildProcess {
  const child = spawn(command, args, options);
  children.add(child);
  child.on('close', () => children.delete(child));
  return child;
}

async function stop(child: ChildProcess): Promise<void> {
  if (!children.has(child)) return;
  const closed = once(child, 'close');
  child.kill('SIGTERM');
  const late = setTimeout(() => child.kill('SIGKILL'), 10_000);
  await closed;
  clearTimeout(late);
}

/** Ends what this process started and what has not ended yet. */
export const stopAll = (): Promise<unknown> => Promise.all([...children].map(stop));

/** What a program wrote, cut to its end: errors stand there. */
function output(child: ChildProcess): () => string {
  let text = '';
  const take = (more: string) => {
    text = (text + more).slice(-20_000);
  };
  child.stdout?.setEncoding('utf8').on('data', take);
  child.stderr?.setEncoding('utf8').on('data', take);
  return () => text;
}

/** Runs a program to its end, and says every 20 seconds that it still runs. */
export async function run(
  command: string,
  args: readonly string[],
  { cwd, env }: { readonly cwd: string; readonly env?: Readonly<Record<string, string>> },
): Promise<string> {
  const child = started(command, args, {
    cwd,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const said = output(child);
  const begun = performance.now();
  const progress = setInterval(() => {
    report(`    ${command} has run for ${Math.round((performance.now() - begun) / 1000)} s`);
  }, 20_000);
  try {
    const code = await new Promise<number | null>((resolve, reject) => {
      child.on('error', (error: NodeJS.ErrnoException) => {
        reject(error.code === 'ENOENT' ? new Missing(`${command} is not installed`) : error);
      });
      child.on('close', resolve);
    });
    if (code !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${code}:\n${said().slice(-3000)}`);
    return said();
  } finally {
    clearInterval(progress);
  }
}

export const report = (line: string): void => void process.stderr.write(`${line}\n`);

export interface Program {
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** Whether it takes messages of this process. */
  readonly messages?: boolean;
}

export interface Running {
  send(message: number): Promise<void>;
  /** The end of what it wrote. */
  said(): string;
  close(): Promise<void>;
}

/**
 * Starts a program that listens at a port, and waits until it does.
 * @param readyPath what answers 200 when the program is ready, if listening is not enough
 * @param patience for how long to wait, in milliseconds
 */
export async function listening(
  { command, args, env, cwd, messages }: Program,
  port: number,
  readyPath?: string,
  patience = 120_000,
): Promise<Running> {
  const child = started(command, args, {
    // Settings of this shell must not reach the clients, and none of Tessera's the service.
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], ...env },
    stdio: ['ignore', 'pipe', 'pipe', ...(messages ? ['ipc' as const] : [])],
    ...(cwd !== undefined && { cwd }),
  });
  const said = output(child);
  const ended = Promise.withResolvers<never>();
  child.on('error', ended.reject);
  child.on('close', (code) => ended.reject(new Error(`${command} ended with ${code}:\n${said().slice(-3000)}`)));
  // It also ends at the end of the run, when nothing waits for that any more.
  ended.promise.catch(() => undefined);
  try {
    await Promise.race([ready(port, readyPath, patience), ended.promise]);
  } catch (error) {
    await stop(child);
    throw error;
  }
  return {
    async send(message) {
      const taken = once(child, 'message');
      child.send(message);
      await taken;
    },
    said,
    close: () => stop(child),
  };
}

async function ready(port: number, path: string | undefined, patience: number): Promise<void> {
  const until = performance.now() + patience;
  while (performance.now() < until) {
    if (await (path === undefined ? connects(port) : answers(port, path))) return;
    await wait(100);
  }
  throw new Error(`nothing was ready at port ${port} within ${patience / 1000} seconds`);
}

async function connects(port: number): Promise<boolean> {
  const socket = connect(port, 'localhost');
  const open = await new Promise<boolean>((resolve) => {
    socket.on('connect', () => resolve(true));
    socket.on('error', () => resolve(false));
  });
  socket.destroy();
  return open;
}

const answers = (port: number, path: string): Promise<boolean> =>
  fetch(`http://localhost:${port}${path}`).then(
    ({ ok }) => ok,
    () => false,
  );

/** A port that was free a moment ago. */
export async function freePort(): Promise<number> {
  const server = await listen(createServer());
  const { port } = server;
  await server.close();
  return port;
}

export async function listen(server: Server | TlsServer): Promise<{ readonly port: number; close(): Promise<void> }> {
  server.listen(0, 'localhost');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
