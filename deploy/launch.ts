import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** A server that a check started. */
export interface Deployed {
  /** Asks it to end, and waits until it has. */
  stop(): Promise<void>;
}

/** The environment of a stranger: the Node of the system, none of our settings, and nothing that `npm run` adds. */
export function plainEnvironment(): Record<string, string> {
  const kept = Object.entries(process.env).filter(([name]) => !/^(npm_|TESSERA_|NODE_|INIT_CWD)/.test(name));
  const path = (process.env['PATH'] ?? '').split(':').filter((folder) => !folder.includes('node_modules'));
  return { ...(Object.fromEntries(kept) as Record<string, string>), PATH: path.join(':') };
}

/** A port that nothing listens on. */
export async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, 'close');
  return port;
}

const isReady = (url: string): Promise<boolean> =>
  fetch(`${url}/health/ready`).then(
    (response) => response.ok,
    () => false,
  );

/** Starts a program as the leader of its own group, and waits until its server answers that it is ready. */
export async function launch(
  program: string,
  args: readonly string[],
  {
    cwd,
    env = {},
    url,
  }: { readonly cwd?: string; readonly env?: Readonly<Record<string, string>>; readonly url: string },
): Promise<Deployed> {
  const child = spawn(program, args, { cwd, env: { ...plainEnvironment(), ...env }, stdio: 'inherit', detached: true });
  const closed = once(child, 'close');
  while (!(await isReady(url))) {
    if (child.exitCode !== null) throw new Error(`${program} ${args.join(' ')} ended with ${child.exitCode}`);
    await wait(200);
  }
  return {
    async stop() {
      // npm and buildah start the server as a child: the whole group is told, as a terminal does.
      if (child.exitCode === null && child.pid !== undefined) process.kill(-child.pid, 'SIGTERM');
      await closed;
    },
  };
}

/** Starts the server of this clone, with its data in a new folder. */
export function launchClone(port: number, data: string, env: Readonly<Record<string, string>>): Promise<Deployed> {
  mkdirSync(data, { mode: 0o700 });
  return launch(join(ROOT, 'node_modules/.bin/node'), ['bin/tessera.js', 'serve'], {
    cwd: ROOT,
    url: `http://localhost:${port}`,
    env: { TESSERA_DATA_DIR: data, TESSERA_PORT: String(port), TESSERA_LOG_LEVEL: 'error', ...env },
  });
}
