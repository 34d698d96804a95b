import { execFileSync, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { ask } from '../../test/support/ask-postgres.ts';

/** Where Debian puts the binaries; unlike the packages that the tests use, these have `pg_basebackup` and `pg_rewind`. */
const VERSIONS = '/usr/lib/postgresql';
const USER = 'postgres';

/** The folder of the newest version; undefined where none is installed. */
export function findBinaries(): string | undefined {
  const versions = existsSync(VERSIONS) ? readdirSync(VERSIONS) : [];
  const [newest] = versions.sort((a, b) => Number(b) - Number(a));
  return newest === undefined ? undefined : join(VERSIONS, newest, 'bin');
}

export interface Member {
  readonly name: string;
  readonly port: number;
  readonly data: string;
  /** The address of its maintenance database. */
  readonly url: string;
}

/** The server of a member with all its processes. */
export function processesOf({ data }: Member): number[] {
  const leader = Number(readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n', 1)[0]);
  const listed = spawnSync('ps', ['-o', 'pid=', '--ppid', String(leader)], { encoding: 'utf8' }).stdout;
  return [leader, ...listed.trim().split(/\s+/).filter(Boolean).map(Number)];
}

export function signal(pids: readonly number[], name: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, name);
    } catch {
      // It has ended by itself meanwhile.
    }
  }
}

/** The address of a database on both members. */
export function throughBoth(members: readonly Member[], url: string): string {
  const hosts = members.map(({ port }) => `127.0.0.1:${port}`).join(',');
  return `postgres://tessera@${hosts}${new URL(url).pathname}?target_session_attrs=read-write`;
}

/** The user that PostgreSQL runs as, which refuses to run as root. */
export function unprivileged(): { readonly uid: number; readonly gid: number } {
  const [uid, gid] = ['-u', '-g'].map((flag) => Number(execFileSync('id', [flag, USER], { encoding: 'utf8' })));
  if (uid === undefined || gid === undefined) throw new Error(`there is no user ${USER}`);
  return { uid, gid };
}

/** A primary and its standby, each of which takes over from the other. */
export interface Cluster {
  /** What runs, with its versions. */
  readonly software: string;
  /** Whether something watches the primary, and promotes the standby. */
  readonly promotesItself: boolean;
  readonly primary: Member;
  readonly standby: Member;
  /** The address of a database on both. */
  through(url: string): string;
  /** Lets commits wait for the standby, and waits until it follows. */
  synchronize(): Promise<void>;
  /** Ends or halts all processes of the primary without warning; returns what wakes those that were halted. */
  strike(how: 'SIGKILL' | 'SIGSTOP'): () => void;
  /** Promotes the standby; resolves when it takes writes. The members then change places. */
  promote(): Promise<void>;
  /** Makes the former primary a standby; returns how. */
  rebuild(): Promise<string>;
  stop(): Promise<void>;
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

export async function startCluster(bin: string): Promise<Cluster> {
  const folder = mkdtempSync(join(tmpdir(), 'tessera-fail-over-'));
  const { uid, gid } = unprivileged();
  chmodSync(folder, 0o755);
  const as = { uid, gid, cwd: folder, env: { PATH: `${bin}:/usr/bin:/bin`, LC_ALL: 'C', HOME: folder } } as const;
  /** Both ends are closed for a command that leaves a server behind. */
  function run(command: string, ...args: readonly string[]): void {
    const done = spawnSync(join(bin, command), args, { ...as, encoding: 'utf8', stdio: ['ignore', 'ignore', 'pipe'] });
    if (done.status !== 0) throw new Error(`${command}: ${done.error ?? ''}${done.stderr}`);
  }
  const member = async (name: string): Promise<Member> => {
    const [port, home] = [await freePort(), join(folder, name)];
    mkdirSync(home);
    chownSync(home, uid, gid);
    const url = `postgres://tessera@127.0.0.1:${port}/postgres`;
    return { name, port, data: join(home, 'data'), url };
  };
  const source = ({ port }: Member) => `host=127.0.0.1 port=${port} user=tessera dbname=postgres`;

  /** All settings of a member are here: the files of a copy are those of its original. */
  function configure(own: Member, other: Member, synchronous: boolean): void {
    const settings = {
      port: own.port,
      listen_addresses: '127.0.0.1',
      unix_socket_directories: '',
      max_connections: 100,
      shared_buffers: '64MB',
      wal_log_hints: 'on',
      wal_keep_size: '256MB',
      wal_retrieve_retry_interval: '200ms',
      primary_conninfo: `${source(other)} application_name=${own.name}`,
      synchronous_standby_names: synchronous ? '*' : '',
      log_min_messages: 'fatal',
    };
    const text = Object.entries(settings).map(([name, value]) => `${name} = '${value}'\n`);
    writeFileSync(join(own.data, 'postgresql.conf'), text.join(''));
  }
  const start = ({ data }: Member) =>
    run('pg_ctl', 'start', '-w', '-t', '120', '-D', data, '-l', join(data, '..', 'log'));

  /** Copies the primary. */
  function copy(from: Member, to: Member): void {
    rmSync(to.data, { recursive: true, force: true });
    run('pg_basebackup', '-D', to.data, '-d', source(from), '--checkpoint=fast', '--wal-method=stream');
  }
  function follow(own: Member, other: Member): void {
    configure(own, other, false);
    writeFileSync(join(own.data, 'standby.signal'), '');
    start(own);
  }

  const [first, second] = [await member('a'), await member('b')];
  run('initdb', '-D', first.data, '-U', 'tessera', '--auth=trust', '--encoding=UTF8', '--no-locale');
  configure(first, second, false);
  start(first);
  copy(first, second);
  follow(second, first);
  const [server] = await ask<{ release: string }>(first.url, "SELECT current_setting('server_version') AS release");

  let [primary, standby] = [first, second];
  return {
    software: `PostgreSQL ${server?.release.split(' ')[0]}`,
    promotesItself: false,
    get primary() {
      return primary;
    },
    get standby() {
      return standby;
    },
    through: (url) => throughBoth([first, second], url),
    async synchronize() {
      configure(primary, standby, true);
      run('pg_ctl', 'reload', '-D', primary.data);
      const sql = "SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync' AND state = 'streaming'";
      while ((await ask(primary.url, sql)).length === 0) await pause(50);
    },
    strike(how) {
      const struck = processesOf(primary);
      signal(struck, how);
      return () => signal(struck, 'SIGCONT');
    },
    async promote() {
      run('pg_ctl', 'promote', '-w', '-t', '120', '-D', standby.data);
      [primary, standby] = [standby, primary];
    },
    async rebuild() {
      // What was halted and woken is still there.
      spawnSync(join(bin, 'pg_ctl'), ['stop', '-m', 'immediate', '-w', '-D', standby.data], as);
      // pg_rewind goes by the checkpoint of its source, which follows a promotion late.
      await ask(primary.url, 'CHECKPOINT');
      let how: 'pg_rewind' | 'pg_basebackup' = 'pg_rewind';
      try {
        run('pg_rewind', '-D', standby.data, '--source-server', source(primary));
      } catch {
        how = 'pg_basebackup';
        copy(primary, standby);
      }
      follow(standby, primary);
      return how;
    },
    async stop() {
      for (const { data } of [first, second])
        spawnSync(join(bin, 'pg_ctl'), ['stop', '-m', 'immediate', '-w', '-D', data], as);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
