/**
 * Runs the tests, a few files in each process group, which has a hard end.
 *
 *   npm test                                   every file, with a sample of what takes long
 *   npm test -- test/races/account.test.ts     some files or patterns, on each store that they are for
 *   npm run test:all                           with what is spared otherwise
 *   npm run test:postgres                      everything that is for PostgreSQL
 */
import { accessSync, chmodSync, constants, mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { failures } from './runner/counts.ts';
import { startGuard } from './runner/guard.ts';
import { planned, ROOT, type Store } from './runner/plan.ts';
import { runFiles, summary } from './runner/run-files.ts';
import { makeFileTemplate } from './support/file-template.ts';
import { startShared } from './support/global-setup.ts';
import { preparePostgres } from './support/postgres.ts';

// Far beyond what anything healthy takes, also beside twenty processes that never rest.
const MINUTE = 60_000;
const TEST = 15 * MINUTE;
const FILE = 20 * MINUTE;
const RUN = 80 * MINUTE;

// Two more than there are processors, for the time in which some wait; PostgreSQL has connections for four.
const CONCURRENCY = Math.min(4, availableParallelism() + 2);

const STORES: readonly Store[] = ['SQLite', 'PostgreSQL'];

/** A file system in memory, which Linux mounts for POSIX shared memory: shm_overview(7). */
const MEMORY = '/dev/shm';
/** Far more than the databases of a run need at any time; containers often have 64 MiB there. */
const ENOUGH_MEMORY = 4 * 2 ** 30;

/**
 * A folder for databases in memory, where no commit waits for a disk, and a copy of a PostgreSQL database takes a seventh of the
 * processor's time; undefined where the machine has no room for it.
 */
function folderInMemory(): string | undefined {
  try {
    accessSync(MEMORY, constants.W_OK);
    const { bavail, bsize } = statfsSync(MEMORY);
    if (bavail * bsize < ENOUGH_MEMORY) return undefined;
    const folder = mkdtempSync(join(MEMORY, 'tessera-tests-'));
    // PostgreSQL runs as another user, who must be able to enter its own folder.
    chmodSync(folder, 0o711);
    return folder;
  } catch {
    return undefined;
  }
}

async function main(): Promise<number> {
  const { values, positionals: patterns } = parseArgs({
    options: { store: { type: 'string' }, all: { type: 'boolean', default: false } },
    allowPositionals: true,
  });
  process.chdir(ROOT);
  const stores = STORES.filter((store) => values.store === undefined || values.store === store);
  const wanted = { stores, patterns, all: values.all };
  const begun = performance.now();
  const guard = startGuard();
  const runsOn = (store: Store) => planned({ ...wanted, stores: stores.filter((one) => one === store) }).length > 0;
  const cache = mkdtempSync(join(tmpdir(), 'tessera-compiled-'));
  // Hundreds of processes load the same sources: compiled once, they take a third of the time.
  process.env['NODE_COMPILE_CACHE'] = cache;
  const data = folderInMemory();
  if (data !== undefined) {
    process.env['TEST_DATA_FOLDER'] = data;
    // An interrupted run must not leave memory occupied.
    guard.remove(data);
  }
  if (runsOn('SQLite')) await makeFileTemplate(cache);
  const onPostgres = runsOn('PostgreSQL');
  const prepared = onPostgres ? preparePostgres() : undefined;
  if (prepared !== undefined) guard.remove(prepared);
  const postgres = onPostgres ? await startShared() : undefined;
  if (postgres?.process.pid !== undefined) guard.watch(postgres.process.pid);
  const hardEnd = () => {
    const controller = new AbortController();
    const left = begun + RUN - performance.now();
    setTimeout(() => controller.abort(), Math.min(FILE, left)).unref();
    return controller.signal;
  };
  try {
    const batches = planned(wanted);
    if (batches.length === 0) throw new Error(`no file of tests fits: ${process.argv.slice(2).join(' ')}`);
    const print = (text: string) => void process.stdout.write(text);
    const counts = await runFiles(batches, { guard, concurrency: CONCURRENCY, testTimeout: TEST, hardEnd, print });
    print(summary(counts, performance.now() - begun));
    return failures(counts) === 0 ? 0 : 1;
  } finally {
    await postgres?.stop();
    for (const folder of [cache, ...(prepared === undefined ? [] : [prepared])])
      rmSync(folder, { recursive: true, force: true });
  }
}

process.exit(await main());
