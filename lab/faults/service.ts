import { type ChildProcess, spawn } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { ADMIN_KEY } from '../../test/support/server.ts';
import { type Front, openFront } from './front.ts';

/** The command. */
export const TESSERA = [fileURLToPath(new URL('../../bin/tessera.js', import.meta.url))];
const SERVE = [...TESSERA, 'serve', '--json'];
/** A node that differs from others: see there. */
export const SPECIAL = [fileURLToPath(new URL('./node.ts', import.meta.url))];

/** A port that was free a moment ago. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

/** A process that serves, or the supervisor of several. */
export interface Node {
  readonly port: number;
  readonly process: ChildProcess;
  /** Ends it without warning, and with it those that it supervises. */
  kill(): Promise<void>;
  /** Ends it in order. */
  stop(): Promise<void>;
}

export interface Launch {
  readonly settings: Readonly<Record<string, string>>;
  readonly script?: readonly string[];
  /** A command that runs the command after it. */
  readonly wrapper?: readonly string[];
}

/** A start that ended by itself, with what it said. */
export class NotStarted extends Error {
  override readonly name = 'NotStarted';
  readonly complaint: string;
  constructor(complaint: string) {
    super(`the node did not start: ${complaint}`);
    this.complaint = complaint;
  }
}

/**
 * Starts a process and waits until it is ready.
 * @throws {NotStarted} where it ends before that
 */
export async function startNode({ settings, script = SERVE, wrapper = [] }: Launch): Promise<Node> {
  // What the tests themselves run with is none of the node's business.
  const own = Object.entries(process.env).filter(([name]) => !/^(TESSERA_|NODE_TEST|NODE_OPTIONS)/.test(name));
  for (;;) {
    const port = await freePort();
    const [file = '', ...args] = [...wrapper, process.execPath, ...script];
    const child = spawn(file, args, {
      env: { ...Object.fromEntries(own), ...settings, TESSERA_PORT: String(port) },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let complaint = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      complaint += text;
    });
    const exit = once(child, 'exit');
    const lines = createInterface({ input: child.stdout });
    const ready = once(lines, 'line').then(() => true);
    // Why an answer was 500 stands nowhere else; one tells enough.
    let faults = 0;
    lines.on('line', (line) => {
      if (line.includes('"internal error"') && ++faults === 1) process.stderr.write(`${line}\n`);
    });
    if (await Promise.race([ready, exit.then(() => false)])) {
      const end = async (signal: NodeJS.Signals) => {
        child.kill(signal);
        await exit;
      };
      return {
        ...{ port, process: child, stop: () => end('SIGTERM') },
        async kill() {
          const supervised = childrenOf(child.pid);
          await end('SIGKILL');
          while (supervised.some(lives)) await pause(5);
        },
      };
    }
    // Another program took the port in between: another one is free.
    if (!complaint.includes('Cannot listen')) throw new NotStarted(complaint);
  }
}

/** The processes that a process has started; none where the system does not tell. */
export function childrenOf(pid = 0): readonly number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
  } catch {
    return [];
  }
}

/** Whether a process runs: one that has ended may keep its id until somebody has asked how it did. */
function lives(pid: number): boolean {
  try {
    return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

/** The service as its callers see it: one address, and whichever nodes are behind it. */
export interface Service {
  readonly baseUrl: string;
  readonly front: Front;
  readonly settings: Readonly<Record<string, string>>;
  /**
   * Resolves when there is a node behind the address.
   * @throws where the service was given up
   */
  reachable(): Promise<void>;
  /** Lets all callers go: from now on nothing is asked again. */
  giveUp(): void;
  readonly givenUp: boolean;
  /** Counts the faults that are over; the load checks its ledger when it changes. */
  faults: number;
  /** Tells `over` after each fault. */
  readonly events: EventEmitter;
  close(): Promise<void>;
}

const UNLIMITED = [
  'SIGN_IN_ACCOUNT',
  'SIGN_IN_ADDRESS',
  'SIGN_UP_ADDRESS',
  'PENDING_ADDRESS',
  'AUTHORIZATION',
  'FORM_ACCOUNT',
  'PENDING_BYTES_ADDRESS',
  'TOKEN',
];

export async function openService(settings: Readonly<Record<string, string>>): Promise<Service> {
  const front = await openFront();
  const events = new EventEmitter();
  events.setMaxListeners(0);
  let givenUp = false;
  return {
    baseUrl: front.baseUrl,
    front,
    get givenUp() {
      return givenUp;
    },
    giveUp() {
      givenUp = true;
      events.emit('over');
    },
    settings: {
      TESSERA_BASE_URL: front.baseUrl,
      TESSERA_LOG_LEVEL: 'error',
      TESSERA_ADMIN_KEY: ADMIN_KEY,
      ...Object.fromEntries(UNLIMITED.map((name) => [`TESSERA_LIMIT_${name}`, 'off'])),
      ...settings,
    },
    async reachable() {
      while (front.targets.length === 0 && !givenUp) await once(events, 'over');
      if (givenUp) throw new Error('the service was given up');
    },
    faults: 0,
    events,
    close: () => front.close(),
  };
}

/** Says that a fault is over. */
export function faultOver(service: Service): void {
  service.faults++;
  service.events.emit('over');
}
