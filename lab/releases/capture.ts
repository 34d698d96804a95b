// Keeps the schema of a release with data in it, and its statements: see README.md.
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const [version, commit] = process.argv.slice(2);
if (version === undefined || commit === undefined) {
  process.stderr.write('Usage: npm run release -- <version> <commit>\n');
  process.exit(2);
}
const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'tessera-release-'));
const sources = join(folder, 'sources');
const git = (...args: string[]) => execFileSync('git', ['-C', ROOT, ...args], { stdio: 'inherit' });

git('worktree', 'add', '--detach', sources, commit);
try {
  symlinkSync(join(ROOT, 'node_modules'), join(sources, 'node_modules'));
  // The release's own copy notes every statement that it builds.
  const path = join(sources, 'src/platform/database/statement.ts');
  const [before, after] = [
    '({ build }) as Statement<never, unknown>;',
    'noted({ build } as Statement<never, unknown>);',
  ];
  const text = readFileSync(path, 'utf8');
  if (!text.includes(before)) throw new Error(`${path} has no place to note statements at`);
  const noted =
    'function noted<T>(one: T): T {\n  ((globalThis as { statements?: unknown[] }).statements ??= []).push(one);\n  return one;\n}\n';
  writeFileSync(path, text.replace(before, after) + noted);
  mkdirSync(join(sources, 'lab/releases'), { recursive: true });
  for (const name of ['record.ts', 'life.ts'])
    copyFileSync(join(ROOT, 'lab/releases', name), join(sources, 'lab/releases', name));
  const into = join(ROOT, 'lab/releases', version);
  mkdirSync(into, { recursive: true });
  execFileSync(process.execPath, [join(sources, 'lab/releases/record.ts'), into], { stdio: 'inherit' });
} finally {
  git('worktree', 'remove', '--force', sources);
  rmSync(folder, { recursive: true, force: true });
}
