import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { PostgresServer } from '../support/postgres.ts';

const PORT = 6432;
/** PgBouncer refuses to run as root. */
const UNPRIVILEGED = 65534;

/** The command, where it is installed. */
export const pgbouncer = ['pgbouncer', '/usr/sbin/pgbouncer'].find(
  (file) => spawnSync(file, ['--version']).status === 0,
);

/** PgBouncer before a server, in session mode. */
export interface Bouncer {
  through(url: string): string;
  start(): Promise<void>;
  end(signal: 'SIGKILL' | 'SIGTERM'): Promise<void>;
  close(): Promise<void>;
}

export async function openBouncer(server: PostgresServer): Promise<Bouncer> {
  const folder = mkdtempSync(join(tmpdir(), 'tessera-bouncer-'));
  const root = process.getuid?.() === 0;
  const host = new URL(server.url).searchParams.get('host') ?? '';
  const [config, users] = [join(folder, 'pgbouncer.ini'), join(folder, 'users.txt')];
  writeFileSync(users, '"tessera" ""\n');
  writeFileSync(
    config,
    `[databases]
* = host=${host} port=5432

[pgbouncer]
pool_mode = session
default_pool_size = 64
max_client_conn = 200
listen_port = ${PORT}
unix_socket_dir = ${folder}
auth_type = trust
auth_file = ${users}
logfile = ${join(folder, 'log')}
`,
  );
  chmodSync(folder, 0o755);
  if (root) chownSync(folder, UNPRIVILEGED, UNPRIVILEGED);
  let child: ChildProcess | undefined;

  const bouncer: Bouncer = {
    through(url) {
      const address = new URL(url);
      address.port = String(PORT);
      address.searchParams.set('host', folder);
      return address.href;
    },
    async start() {
      const own = root ? { uid: UNPRIVILEGED, gid: UNPRIVILEGED } : {};
      const started = spawn(pgbouncer ?? '', ['-q', config], { ...own, stdio: 'ignore' });
      child = started;
      while (!(await listens(join(folder, `.s.PGSQL.${PORT}`)))) {
        if (started.exitCode !== null) throw new Error(`pgbouncer ended with ${started.exitCode}`);
        await pause(10);
      }
    },
    async end(signal) {
      if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, 'exit');
      child.kill(signal);
      await ended;
    },
    async close() {
      await bouncer.end('SIGKILL');
      rmSync(folder, { recursive: true, force: true });
    },
  };
  await bouncer.start();
  return bouncer;
}

async function listens(path: string): Promise<boolean> {
  const socket = connect(path);
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
