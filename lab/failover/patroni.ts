import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { ask } from '../../test/support/ask-postgres.ts';
import { type Cluster, freePort, type Member, processesOf, signal, throughBoth, unprivileged } from './cluster.ts';

/** Why Patroni cannot run here; undefined where it can. */
export const missingPatroni = (): string | undefined =>
  ['/usr/bin/patroni', '/usr/bin/etcd'].every((file) => existsSync(file))
    ? undefined
    : 'This needs Patroni and etcd (apt-get install patroni etcd-server).';

const versionOf = (file: string): string | undefined =>
  /\d+(\.\d+)+/.exec(execFileSync(file, ['--version'], { encoding: 'utf8' }))?.[0];

interface Watched extends Member {
  readonly settings: string;
  /** The port of its REST API. */
  readonly api: number;
  patroni: ChildProcess | undefined;
}

/**
 * What Patroni is told, in seconds. A former primary keeps its lock for `ttl`, which is the least that Patroni takes. A primary that
 * cannot renew it for `retry_timeout` demotes itself: that is the most that `ttl` allows, because a loaded machine is slow.
 */
export const PATRONI = { ttl: 20, loop_wait: 2, retry_timeout: 9, synchronous_mode: true };

/** https://patroni.readthedocs.io/en/latest/rest_api.html#cluster-status-endpoints */
interface Listed {
  readonly name: string;
  readonly role: string;
  readonly state: string;
}

const hasEnded = ({ exitCode, signalCode }: ChildProcess): boolean => exitCode !== null || signalCode !== null;

/** Ends a process without warning, and waits until it is gone. */
async function end(process: ChildProcess): Promise<void> {
  if (hasEnded(process)) return;
  const gone = once(process, 'exit');
  process.kill('SIGKILL');
  await gone;
}

/** Two members that Patroni promotes and rebuilds, with etcd for its lock. */
export async function startPatroni(bin: string): Promise<Cluster> {
  const folder = mkdtempSync(join(tmpdir(), 'tessera-patroni-'));
  chmodSync(folder, 0o755);
  const { uid, gid } = unprivileged();
  const own = (path: string): string => {
    mkdirSync(path);
    chownSync(path, uid, gid);
    return path;
  };
  const home = own(join(folder, 'home'));
  const env = { PATH: `${bin}:/usr/bin:/bin`, LC_ALL: 'C', HOME: home };
  const start = (file: string, args: readonly string[]) =>
    spawn(file, args, { uid, gid, cwd: home, env, stdio: 'ignore' });

  const [etcdPort, peerPort] = [await freePort(), await freePort()];
  const [clientUrl, peerUrl] = [`http://127.0.0.1:${etcdPort}`, `http://127.0.0.1:${peerPort}`];
  const etcd = start('/usr/bin/etcd', [
    ...['--name=e', `--data-dir=${own(join(folder, 'etcd'))}`, `--initial-cluster=e=${peerUrl}`],
    ...[`--listen-client-urls=${clientUrl}`, `--advertise-client-urls=${clientUrl}`],
    ...[`--listen-peer-urls=${peerUrl}`, `--initial-advertise-peer-urls=${peerUrl}`],
  ]);

  const member = async (name: string): Promise<Watched> => {
    const [port, api, place] = [await freePort(), await freePort(), own(join(folder, name))];
    const [data, settings] = [join(place, 'data'), join(place, 'patroni.json')];
    const trust = ['all', 'replication'].map((what) => `host ${what} all 127.0.0.1/32 trust`);
    const user = { username: 'tessera', password: 'unused' };
    // JSON is YAML.
    const text = {
      scope: 'tessera',
      name,
      restapi: { listen: `127.0.0.1:${api}`, connect_address: `127.0.0.1:${api}` },
      etcd3: { host: `127.0.0.1:${etcdPort}` },
      bootstrap: {
        dcs: {
          ...PATRONI,
          postgresql: { use_pg_rewind: true, parameters: { max_connections: 100, wal_keep_size: '256MB' } },
        },
        initdb: [{ encoding: 'UTF8' }, { auth: 'trust' }, { locale: 'C' }],
        pg_hba: trust,
      },
      postgresql: {
        ...{ listen: `127.0.0.1:${port}`, connect_address: `127.0.0.1:${port}`, data_dir: data, bin_dir: bin },
        ...{ pgpass: join(place, 'pgpass'), pg_hba: trust },
        authentication: { superuser: user, replication: user, rewind: user },
        parameters: { unix_socket_directories: place },
      },
      watchdog: { mode: 'off' },
    };
    writeFileSync(settings, JSON.stringify(text));
    const url = `postgres://tessera@127.0.0.1:${port}/postgres`;
    return { name, port, data, url, settings, api, patroni: undefined };
  };
  const run = (one: Watched): void => {
    one.patroni = start('/usr/bin/patroni', [one.settings]);
  };

  async function until(url: string, sql: string): Promise<void> {
    const begun = performance.now();
    while ((await ask(url, sql).catch(() => [])).length === 0) {
      if (performance.now() - begun > 300_000) throw new Error(`it never came to this: ${sql}`);
      await pause(50);
    }
  }
  const following = (standby: Member) =>
    `SELECT 1 FROM pg_stat_replication WHERE application_name = '${standby.name}' AND state = 'streaming'`;

  /** The members as Patroni has them in etcd, told by whichever of them answers. */
  async function list(): Promise<readonly Listed[]> {
    for (const { api } of members) {
      try {
        const answer = await fetch(`http://127.0.0.1:${api}/cluster`, { signal: AbortSignal.timeout(5000) });
        return ((await answer.json()) as { members: Listed[] }).members;
      } catch {
        // The other one may answer.
      }
    }
    return [];
  }

  const members = [await member('a'), await member('b')] as const;
  const [first, second] = members;
  run(first);
  await until(first.url, 'SELECT 1 WHERE NOT pg_is_in_recovery()');
  run(second);
  await until(first.url, following(second));
  const [server] = await ask<{ release: string }>(first.url, "SELECT current_setting('server_version') AS release");

  let [primary, standby]: [Watched, Watched] = [first, second];
  return {
    software: `PostgreSQL ${server?.release.split(' ')[0]}, Patroni ${versionOf('/usr/bin/patroni')}, etcd ${versionOf('/usr/bin/etcd')}`,
    promotesItself: true,
    get primary() {
      return primary;
    },
    get standby() {
      return standby;
    },
    through: (url) => throughBoth(members, url),
    async synchronize() {
      // PostgreSQL waits for the standby before Patroni has noted that it does; only a standby so noted is promoted.
      for (const begun = performance.now(); ; await pause(100)) {
        const roles = new Map((await list()).map(({ name, role }) => [name, role]));
        const [leader, other] = roles.get(first.name) === 'leader' ? [first, second] : [second, first];
        if (roles.get(leader.name) === 'leader' && roles.get(other.name) === 'sync_standby') {
          // A primary that could not renew its lock was replaced without having been struck.
          if (leader !== primary) process.stderr.write('Patroni replaced a primary that was not struck\n');
          [primary, standby] = [leader, other];
          return;
        }
        if (performance.now() - begun > 300_000) throw new Error('Patroni notes no synchronous standby');
      }
    },
    strike(how) {
      const pid = primary.patroni?.pid;
      const struck = [...(pid === undefined ? [] : [pid]), ...processesOf(primary)];
      signal(struck, how);
      return () => signal(struck, 'SIGCONT');
    },
    async promote() {
      // It does so by itself, when the lock of the former primary has expired.
      await until(standby.url, 'SELECT 1 WHERE NOT pg_is_in_recovery()');
      [primary, standby] = [standby, primary];
    },
    async rebuild() {
      if (standby.patroni === undefined || hasEnded(standby.patroni)) run(standby);
      await until(primary.url, following(standby));
      return 'Patroni';
    },
    async stop() {
      for (const one of members) {
        if (one.patroni !== undefined) await end(one.patroni);
        if (existsSync(join(one.data, 'postmaster.pid'))) signal(processesOf(one), 'SIGKILL');
      }
      await end(etcd);
      // What was killed may still write.
      rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 200 });
    },
  };
}
