import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { type Outcome, tessera } from '../operator/command.ts';
import { startPostgres } from '../support/postgres.ts';
import { ownDatabase } from '../support/postgres-database.ts';
import { ADMIN_KEY } from '../support/server.ts';
import { BASE_URL, openWire, type Wire } from './wire.ts';

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
};

/** Several processes of the real command on one PostgreSQL database. */
export interface Cluster {
  /** To each node, over connections that are kept warm. */
  readonly wires: readonly Wire[];
  /** Runs a command of the operator's on the same database, in a process of its own. */
  command(...args: readonly string[]): Promise<Outcome>;
  /** What the nodes logged: nothing, where all is well. */
  log(): string;
  close(): Promise<void>;
}

export async function startCluster(size: number): Promise<Cluster> {
  // A server of its own where none is given: these tests are about PostgreSQL and never left out.
  const postgres = process.env['TESSERA_TEST_POSTGRES'] === undefined ? await startPostgres() : undefined;
  if (postgres !== undefined) process.env['TESSERA_TEST_POSTGRES'] = postgres.url;
  const database = await ownDatabase();
  if (postgres !== undefined) delete process.env['TESSERA_TEST_POSTGRES'];
  assert.ok(database !== undefined);

  const shared = { ...database.environment, TESSERA_BASE_URL: BASE_URL, TESSERA_LOG_LEVEL: 'error', ...LIMITS_OFF };
  const lines: string[] = [];
  const nodes: Node[] = [];
  const stop = async () => {
    await Promise.all(nodes.map((node) => node.stop()));
    await database.drop();
    await postgres?.stop();
  };
  try {
    // All at once, on an empty database: one of them makes the tables and the first key.
    const starting = Array.from({ length: size }, () => startNode({ ...shared, TESSERA_ADMIN_KEY: ADMIN_KEY }, lines));
    for (const node of await Promise.allSettled(starting)) if (node.status === 'fulfilled') nodes.push(node.value);
    assert.equal(nodes.length, size, `a node did not start: ${lines.join('\n')}`);
  } catch (error) {
    await stop();
    throw error;
  }
  const wires = nodes.map(({ port }) => openWire(port));
  return {
    wires,
    command: (...args) => tessera(args, { env: shared }),
    log: () => lines.join('\n'),
    async close() {
      for (const wire of wires) wire.close();
      await stop();
    },
  };
}

interface Node {
  readonly port: number;
  stop(): Promise<void>;
}

/** Starts `tessera serve` on a port that the system chooses, and waits until it says that it is ready. */
async function startNode(environment: Readonly<Record<string, string>>, lines: string[]): Promise<Node> {
  const child: ChildProcess = spawn(process.execPath, ['--import', REPORT_PORT, COMMAND, 'serve', '--json'], {
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
    async stop() {
      if (child.exitCode === null && child.signalCode === null) child.kill();
      await exited;
    },
  };
}
