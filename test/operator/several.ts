import { spawn } from 'node:child_process';
import { EventEmitter, on, once } from 'node:events';
import { Agent, request } from 'node:http';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const COMMAND = fileURLToPath(new URL('../../bin/tessera.js', import.meta.url));
const TELL_PROCESS = new URL('./tell-process.ts', import.meta.url).href;

/** An answer, and who gave it. */
export interface Told {
  readonly status: number;
  readonly text: string;
  /** The id of the process that answered. */
  readonly process: number;
}

/** A service of several processes. */
export interface SeveralProcesses {
  readonly baseUrl: string;
  readonly port: number;
  readonly pid: number;
  /** What it wrote to its standard output until now, in lines. */
  readonly lines: readonly string[];
  /** Sends a request over a connection of its own. */
  ask(path: string, how?: { method?: string; headers?: Record<string, string>; body?: string }): Promise<Told>;
  /** The processes that answer now: asks until there are so many, none of which is among the others. */
  answering(count: number, others?: readonly number[]): Promise<readonly number[]>;
  /** Waits for a line of the log. */
  logged(isIt: (line: Readonly<Record<string, unknown>>) => boolean): Promise<Readonly<Record<string, unknown>>>;
  metrics(): Promise<string>;
  kill(signal?: NodeJS.Signals): void;
  readonly ended: Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }>;
}

/**
 * Starts `tessera serve` on ports that the system chooses, and waits until it says that it is ready.
 * @param files how many files each of its processes may have open, sockets included
 */
export async function startSeveral(
  settings: Readonly<Record<string, string>>,
  { args = ['--processes', '2'], files }: { args?: readonly string[]; files?: number | undefined } = {},
): Promise<SeveralProcesses> {
  const command = [process.execPath, '--import', TELL_PROCESS, COMMAND, 'serve', '--json', ...args];
  const limit = files === undefined ? '' : `ulimit -n ${files}; `;
  const child = spawn('sh', ['-c', `${limit}exec "$@"`, 'sh', ...command], {
    env: {
      PATH: process.env['PATH'],
      HOME: process.env['HOME'],
      TESSERA_PORT: '0',
      TESSERA_METRICS_ADDRESS: '127.0.0.1:0',
      TESSERA_DRAIN_SECONDS: '0',
      ...settings,
    },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  const lines: string[] = [];
  const arrivals = new EventEmitter();
  const ports: number[] = [];
  let errors = '';
  child.on('message', ({ port }: { port: number }) => ports.push(port));
  child.stderr?.on('data', (chunk) => {
    errors += String(chunk);
  });
  const ended = once(child, 'exit').then(([code, signal]) => ({ code, signal }));
  const ready = Promise.withResolvers<{ baseUrl: string }>();
  void ended.then(({ code }) => ready.reject(new Error(`it ended with ${code}: ${errors}`)));
  createInterface({ input: child.stdout as NodeJS.ReadableStream }).on('line', (line) => {
    lines.push(line);
    if (line.startsWith('{"baseUrl"')) ready.resolve(JSON.parse(line));
    arrivals.emit('line', line);
  });
  const { baseUrl } = await ready.promise;
  // The supervisor listens for Prometheus first, then for everybody.
  const [metricsPort = 0, port = 0] = ports;

  const ask: SeveralProcesses['ask'] = (path, { method = 'GET', headers = {}, body } = {}) =>
    new Promise((resolve, reject) => {
      const options = { agent: new Agent(), host: '127.0.0.1', port, method, path, headers };
      const sent = request(options, (answer) => {
        let text = '';
        answer.setEncoding('utf8').on('data', (part: string) => {
          text += part;
        });
        answer.on('error', reject);
        answer.on('end', () =>
          resolve({ status: answer.statusCode ?? 0, text, process: Number(answer.headers['x-process']) }),
        );
      });
      sent.on('error', reject);
      sent.end(body);
    });

  return {
    ...{ baseUrl, port, lines, ask, ended },
    pid: child.pid ?? 0,
    async answering(count, others = []) {
      const found = new Set<number>();
      while (found.size < count) {
        const told = await ask('/health/live');
        if (!others.includes(told.process)) found.add(told.process);
      }
      return [...found];
    },
    async logged(isIt) {
      const read = (line: string) => {
        const parsed = JSON.parse(line) as Readonly<Record<string, unknown>>;
        return isIt(parsed) ? parsed : undefined;
      };
      const coming = on(arrivals, 'line');
      for (const line of lines) {
        const found = read(line);
        if (found !== undefined) return found;
      }
      for await (const [line] of coming) {
        const found = read(line);
        if (found !== undefined) return found;
      }
      throw new Error('the log ended');
    },
    metrics: async () => (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text(),
    kill: (signal = 'SIGTERM') => void child.kill(signal),
    ended,
  };
}
