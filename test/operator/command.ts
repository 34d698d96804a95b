import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import manifest from '../../package.json' with { type: 'json' };

const COMMAND = fileURLToPath(new URL('../../bin/tessera.js', import.meta.url));

export interface Outcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Run {
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** Another copy of the program. */
  readonly command?: string;
  readonly input?: string;
  /** Whether a person sits at a terminal and types the input. */
  readonly atTerminal?: boolean;
}

/** Makes a program take its standard input for a terminal. */
const AT_TERMINAL = ['--import', 'data:text/javascript,process.stdin.isTTY=true'];

/** Only the variables that a program needs: none of the developer’s own settings reach it. */
export const clean = (env: Readonly<Record<string, string>> = {}) => ({
  PATH: process.env['PATH'],
  HOME: process.env['HOME'],
  ...env,
});

async function textOf(stream: NodeJS.ReadableStream): Promise<string> {
  let text = '';
  for await (const chunk of stream) text += String(chunk);
  return text;
}

/** Runs the real command to its end. */
export async function tessera(
  args: readonly string[],
  { env, cwd, command = COMMAND, input = '', atTerminal = false }: Run = {},
): Promise<Outcome> {
  const child = spawn(process.execPath, [...(atTerminal ? AT_TERMINAL : []), command, ...args], {
    env: clean(env),
    cwd,
  });
  child.stdin.on('error', () => {});
  child.stdin.end(input);
  const ended = once(child, 'close');
  const [stdout, stderr] = await Promise.all([textOf(child.stdout), textOf(child.stderr)]);
  await ended;
  return { code: child.exitCode, stdout, stderr };
}

/** Runs the real command, which goes on until it is asked to end, and answers its lines as they come. */
export function following(args: readonly string[], { env, cwd }: Run = {}) {
  const child = spawn(process.execPath, [COMMAND, ...args], {
    env: clean(env),
    cwd,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    async next(): Promise<string> {
      const { value, done } = await lines.next();
      if (done === true) throw new Error(`${args.join(' ')} ended`);
      return value;
    },
    async stop(): Promise<void> {
      child.kill();
      await exited;
    },
  };
}

export interface RunningServer {
  readonly baseUrl: string;
  /** What it printed until it was ready. */
  readonly greeting: string;
  readonly process: ChildProcess;
  /** Asks it to end, and answers how it did. */
  stop(signal?: NodeJS.Signals): Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
  /** All that it wrote to its standard error, once it has ended. */
  errors(): Promise<string>;
}

/** Starts the real server on a free port and waits until it says that it is ready. */
export const serve = (run: Run = {}, args: readonly string[] = []): Promise<RunningServer> =>
  started(process.execPath, [run.command ?? COMMAND, 'serve', ...args], run);

/** The same by the script of `npm start`, which npm gives to a shell; npm passes signals on to that. */
export function serveByScript({ env = {} }: Run): Promise<RunningServer> {
  const root = fileURLToPath(new URL('../..', import.meta.url));
  const PATH = `${join(root, 'node_modules', '.bin')}:${process.env['PATH']}`;
  return started('sh', ['-c', manifest.scripts.start], { env: { ...env, PATH }, cwd: root });
}

async function started(program: string, args: readonly string[], { env, cwd }: Run): Promise<RunningServer> {
  const child = spawn(program, args, {
    env: clean({ TESSERA_PORT: '0', TESSERA_LOG_LEVEL: 'error', TESSERA_DRAIN_SECONDS: '0', ...env }),
    cwd,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let errors = '';
  child.stderr.on('data', (chunk) => {
    errors += String(chunk);
  });
  const exited = once(child, 'exit');
  const closed = once(child, 'close');
  const lines: string[] = [];
  const output = createInterface({ input: child.stdout });
  for await (const line of output) {
    lines.push(line);
    if (line.includes('client create')) break;
  }
  child.stdout.resume();
  const greeting = lines.join('\n');
  const baseUrl = /Address +(\S+)/.exec(greeting)?.[1];
  if (baseUrl === undefined) throw new Error(`the server did not start: ${greeting}${errors}`);
  return {
    baseUrl,
    greeting,
    process: child,
    async stop(signal = 'SIGTERM') {
      child.kill(signal);
      const [code, by] = await exited;
      return { code, signal: by };
    },
    async errors() {
      await closed;
      return errors;
    },
  };
}
