import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const REPORT_PORT = new URL('../cluster/report-port.ts', import.meta.url).href;

/** What a node is doing. */
export type NodeState = 'starting' | 'running' | 'stopping' | 'stopped';

/** A process of some version that serves. */
export interface UpgradeNode {
  readonly version: string;
  readonly port: number;
  state: NodeState;
  /** Stops it as a supervisor does, and waits for its end. */
  stop(): Promise<void>;
}

/** Sources of a version. */
export interface Sources {
  readonly version: string;
  readonly folder: string;
}

/** Starts `tessera serve` of the given sources, and waits until it says that it is ready. */
export async function startNode(
  { version, folder }: Sources,
  settings: Readonly<Record<string, string>>,
  log: (line: string) => void,
): Promise<UpgradeNode> {
  const command = join(folder, 'bin', 'tessera.js');
  const child: ChildProcess = spawn(process.execPath, ['--import', REPORT_PORT, command, 'serve', '--json'], {
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], ...settings, TESSERA_PORT: '0' },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    cwd: folder,
  });
  const closed = once(child, 'close');
  const told = once(child, 'message') as Promise<[{ port: number }]>;
  const ready = Promise.withResolvers<void>();
  for (const stream of [child.stdout, child.stderr]) {
    if (stream === null) continue;
    createInterface({ input: stream }).on('line', (line) => {
      if (line.includes('"baseUrl"')) ready.resolve();
      else log(`${version}: ${line}`);
    });
  }
  void closed.then(() => ready.reject(new Error(`a node of ${version} ended before it was ready`)));
  await ready.promise;
  const [{ port }] = await told;
  const node: UpgradeNode = {
    version,
    port,
    state: 'running',
    async stop() {
      node.state = 'stopping';
      child.kill('SIGTERM');
      await closed;
      node.state = 'stopped';
    },
  };
  return node;
}
