import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { ask } from '../faults/pair.ts';
import { type Cluster, freePort, type Member, processesOf, signal, throughBoth, unprivileged } from './cluster.ts';

/** Why Patroni cannot run here; undefined where it can. */
export const missingPatroni = (): string | undefined =>
  ['/usr/bin/patroni', '/usr/bin/etcd'].every((file) => existsSync(file))
    ? undefined
    : 'This needs Patroni and etcd (apt-get install patroni etcd-server).';

interface Watched extends Member {
  readonly settings: string;
  patroni: ChildProcess | undefined;
}

/** How long a former primary keeps its lock, in seconds: the least that Patroni takes. */
const TTL = 20;

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
          ...{ ttl: TTL, loop_wait: 2, retry_timeout: 5, synchronous_mode: true },
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
    return { name, port, data, url, settings, patroni: undefined };
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
  const following = (standby: Member, sync: string) =>
    `SELECT 1 FROM pg_stat_replication WHERE application_name = '${standby.name}' AND state = 'streaming' AND sync_state ${sync}`;

  const members = [await member('a'), await member('b')] as const;
  const [first, second] = members;
  run(first);
  await until(first.url, 'SELECT 1 WHERE NOT pg_is_in_recovery()');
  run(second);
  await until(first.url, following(second, '<> $$$$'));
  const [server] = await ask<{ release: string }>(first.url, "SELECT current_setting('server_version') AS release");

  let [primary, standby]: [Watched, Watched] = [first, second];
  return {
    release: server?.release ?? '',
    get primary() {
      return primary;
    },
    get standby() {
      return standby;
    },
    through: (url) => throughBoth(members, url),
    synchronize: () => until(primary.url, following(standby, "= 'sync'")),
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
      if (standby.patroni?.exitCode !== null || standby.patroni.signalCode !== null) run(standby);
      await until(primary.url, following(standby, '<> $$$$'));
      return 'Patroni';
    },
    async stop() {
      for (const one of members) {
        const { patroni, data } = one;
        const running = patroni !== undefined && patroni.exitCode === null && patroni.signalCode === null;
        const gone = running && once(patroni, 'exit');
        patroni?.kill('SIGKILL');
        await gone;
        if (existsSync(join(data, 'postmaster.pid'))) signal(processesOf(one), 'SIGKILL');
      }
      etcd.kill('SIGKILL');
      // What was killed may still write.
      rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 200 });
    },
  };
}
