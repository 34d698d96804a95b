import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { PostgresServer } from './postgres.ts';

const PORT = 6432;
/** PgBouncer refuses to run as root. */
const UNPRIVILEGED = 65534;

/** The command, where it is installed. */
export const pgbouncer = ['pgbouncer', '/usr/sbin/pgbouncer'].find(
  (file) => spawnSync(file, ['--version']).status === 0,
);

/** PgBouncer before a server. */
export interface Bouncer {
  through(url: string): string;
  /** Leads the transactions of one database to another server from now on, on the connections that clients have. */
  leadTo(server: PostgresServer, database: string): void;
  start(): Promise<void>;
  end(signal: 'SIGKILL' | 'SIGTERM'): Promise<void>;
  close(): Promise<void>;
}

interface BouncerOptions {
  readonly mode?: 'session' | 'transaction' | 'statement';
  /** How many connections to the server it opens for a database and a user. */
  readonly size?: number;
}

export async function openBouncer(
  server: Pick<PostgresServer, 'url'>,
  { mode = 'session', size = 64 }: BouncerOptions = {},
): Promise<Bouncer> {
  const folder = mkdtempSync(join(tmpdir(), 'tessera-bouncer-'));
  const root = process.getuid?.() === 0;
  const [config, users] = [join(folder, 'pgbouncer.ini'), join(folder, 'users.txt')];
  writeFileSync(users, '"tessera" ""\n');
  const targetOf = ({ url }: Pick<PostgresServer, 'url'>) => `host=${new URL(url).searchParams.get('host')} port=5432`;
  const configure = (database = '', led = server) =>
    writeFileSync(
      config,
      `[databases]
${database === '' ? '' : `${database} = ${targetOf(led)}`}
* = ${targetOf(server)}

[pgbouncer]
pool_mode = ${mode}
default_pool_size = ${size}
max_client_conn = 400
server_login_retry = 1
listen_port = ${PORT}
unix_socket_dir = ${folder}
auth_type = trust
auth_file = ${users}
logfile = ${join(folder, 'log')}
`,
    );
  configure();
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
    leadTo(other, database) {
      configure(database, other);
      child?.kill('SIGHUP');
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
