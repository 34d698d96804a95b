import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { type Outcome, tessera } from '../../test/operator/command.ts';
import { startPostgres } from '../../test/support/postgres.ts';
import { ownDatabase } from '../../test/support/postgres-database.ts';
import { ADMIN_KEY } from '../../test/support/server.ts';
import { childrenOf } from '../faults/service.ts';
import { BASE_URL, openWire, processesOn, untilAnswered, type Wire } from './wire.ts';

const COMMAND = fileURLToPath(new URL('../../bin/tessera.js', import.meta.url));
const REPORT_PORT = new URL('./report-port.ts', import.meta.url).href;

/**
 * Off, because they would be met by the load and not by what is tested: they have tests of their own. A client that is
 * disabled fails to authenticate, and all requests come from one address.
 */
const LIMITS_OFF = {
  TESSERA_LIMIT_SIGN_IN_ACCOUNT: 'off',
  TESSERA_LIMIT_SIGN_IN_ADDRESS: 'off',
  TESSERA_LIMIT_PENDING_ADDRESS: 'off',
  TESSERA_LIMIT_PENDING_BYTES_ADDRESS: 'off',
  TESSERA_LIMIT_CLIENT_AUTH: 'off',
  TESSERA_LIMIT_TOKEN: 'off',
  TESSERA_LIMIT_AUTHORIZATION: 'off',
  TESSERA_LIMIT_FORM_ACCOUNT: 'off',
  TESSERA_LIMIT_SESSION_ACCOUNT: 'off',
  TESSERA_LIMIT_DEVICE_ADDRESS: 'off',
  TESSERA_LIMIT_USER_CODE: 'off',
  TESSERA_LIMIT_USER_CODE_ADDRESS: 'off',
  TESSERA_LIMIT_METADATA_ADDRESS: 'off',
  TESSERA_LIMIT_METADATA_HOST: 'off',
  TESSERA_LIMIT_REGISTRATION_ADDRESS: 'off',
  TESSERA_LIMIT_REGISTRATION: 'off',
};

/** Decisions §15: apps that no operator registered. */
const AGENTS = { TESSERA_CLIENT_METADATA: 'open', TESSERA_REGISTRATION: 'open' };

/** How the processes of a cluster live. */
export interface ClusterKind {
  readonly store?: 'PostgreSQL' | 'SQLite';
  /** Whether one service runs them all, and they share its port; else each is a service of its own. */
  readonly isOneService?: boolean;
  /** Whether processes of that service are killed. The ways lead to any of them then. */
  readonly isKilled?: boolean;
}

/** Several processes of the real command on one database. */
export interface Cluster {
  /** To each node, over connections that are kept warm. */
  readonly wires: readonly Wire[];
  /** Runs a command of the operator's on the same database, in a process of its own. */
  command(...args: readonly string[]): Promise<Outcome>;
  /**
   * Ends one of the processes of a service without warning, or their supervisor where no number is given, and starts that again.
   * @returns when the service answers again
   */
  kill(process: number | undefined): Promise<void>;
  /** What the nodes logged: nothing, where all is well. */
  log(): string;
  close(): Promise<void>;
}

export async function startCluster(
  size: number,
  { store = 'PostgreSQL', isOneService = false, isKilled = false }: ClusterKind = {},
): Promise<Cluster> {
  const database = store === 'SQLite' ? ownFile() : await databaseOfServer();
  const shared = {
    ...database.environment,
    TESSERA_BASE_URL: BASE_URL,
    TESSERA_LOG_LEVEL: 'error',
    ...LIMITS_OFF,
    ...AGENTS,
  };
  const lines: string[] = [];
  const nodes: Node[] = [];
  const stop = async () => {
    await Promise.all(nodes.map((node) => node.stop()));
    await database.drop();
  };
  try {
    const environment = { ...shared, TESSERA_ADMIN_KEY: ADMIN_KEY };
    // All at once, on an empty database: one of them makes the tables and the first key.
    const starting = isOneService
      ? [startNode(environment, lines, ['--processes', String(size)])]
      : Array.from({ length: size }, () => startNode(environment, lines));
    for (const node of await Promise.allSettled(starting)) if (node.status === 'fulfilled') nodes.push(node.value);
    assert.equal(nodes.length, starting.length, `a node did not start: ${lines.join('\n')}`);
  } catch (error) {
    await stop();
    throw error;
  }
  const { port: first = 0 } = nodes[0] ?? {};
  const ports = isOneService ? Array.from({ length: size }, () => first) : nodes.map(({ port }) => port);
  const wires = isOneService && !isKilled ? await wiresToEach(first, size) : ports.map((port) => openWire(port));
  return {
    wires,
    async kill(number) {
      const [node] = nodes;
      assert.ok(node !== undefined && isOneService);
      if (number === undefined) {
        await node.kill();
        nodes[0] = await startNode({ ...shared, TESSERA_ADMIN_KEY: ADMIN_KEY, TESSERA_PORT: String(first) }, lines, [
          '--processes',
          String(size),
        ]);
      } else {
        const victim = childrenOf(node.process.pid)[number];
        // All may have been killed, and none started again yet.
        if (victim !== undefined) process.kill(victim, 'SIGKILL');
      }
      await untilAnswered(first);
    },
    command: (...args) => tessera(args, { env: shared }),
    log: () => lines.join('\n'),
    async close() {
      for (const wire of wires) wire.close();
      await stop();
    },
  };
}

const wiresToEach = async (port: number, size: number): Promise<readonly Wire[]> =>
  (await processesOn(port, size)).map((process) => openWire(port, process));

function ownFile() {
  const folder = mkdtempSync(join(tmpdir(), 'tessera-cluster-'));
  return {
    environment: { TESSERA_DATA_DIR: folder },
    drop: async () => rmSync(folder, { recursive: true, force: true }),
  };
}

async function databaseOfServer() {
  // A server of its own where none is given: these tests are about PostgreSQL and never left out.
  const postgres = process.env['TESSERA_TEST_POSTGRES'] === undefined ? await startPostgres() : undefined;
  if (postgres !== undefined) process.env['TESSERA_TEST_POSTGRES'] = postgres.url;
  const database = await ownDatabase();
  if (postgres !== undefined) delete process.env['TESSERA_TEST_POSTGRES'];
  assert.ok(database !== undefined);
  return {
    environment: database.environment,
    async drop() {
      await database.drop();
      await postgres?.stop();
    },
  };
}

interface Node {
  readonly port: number;
  readonly process: ChildProcess;
  kill(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts `tessera serve` on a port that the system chooses, and waits until it says that it is ready. */
async function startNode(
  environment: Readonly<Record<string, string>>,
  lines: string[],
  args: readonly string[] = [],
): Promise<Node> {
  const child: ChildProcess = spawn(process.execPath, ['--import', REPORT_PORT, COMMAND, 'serve', '--json', ...args], {
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], TESSERA_PORT: '0', ...environment },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  const exited = once(child, 'exit');
  const told = once(child, 'message') as Promise<[{ port: number }]>;
  const ready = new Promise<void>((resolve, reject) => {
    void exited.then(([code]) => reject(new Error(`a node ended with ${code}`)));
    for (const stream of [child.stdout, child.stderr]) {
      assert.ok(stream);
      createInterface({ input: stream }).on('line', (line) => {
        if (line.startsWith('{"baseUrl"')) resolve();
        // The first faults tell enough.
        else if (lines.length < 200) lines.push(line);
      });
    }
  });
  await ready;
  const [{ port }] = await told;
  return {
    port,
    process: child,
    async kill() {
      child.kill('SIGKILL');
      await exited;
    },
    async stop() {
      if (child.exitCode === null && child.signalCode === null) child.kill();
      await exited;
    },
  };
}
