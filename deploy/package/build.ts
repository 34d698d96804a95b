import { execFileSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { publishedManifest } from './manifest.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/**
 * Makes the tree of the published package. Node runs TypeScript nowhere below `node_modules`, so the sources are compiled, each to the
 * JavaScript file of its name; everything else stays as it is.
 */
export function stage(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const compiler = join(ROOT, 'node_modules', '.bin', 'tsc');
  execFileSync(compiler, ['-p', join(ROOT, 'deploy/package'), '--outDir', join(folder, 'src')], { stdio: 'inherit' });
  // Assets, and the README of each folder.
  cpSync(join(ROOT, 'src'), join(folder, 'src'), { recursive: true, filter: (path) => !path.endsWith('.ts') });
  // Messages name pages of the documentation; its images and tools are not needed to read it.
  for (const part of ['how-to', 'reference', 'explanation', 'tutorial', 'decisions', 'README.md']) {
    const isText = (path: string): boolean => !/\.[a-z]+$/.test(path) || path.endsWith('.md');
    cpSync(join(ROOT, 'docs', part), join(folder, 'docs', part), { recursive: true, filter: isText });
  }
  cpSync(join(ROOT, 'types'), join(folder, 'types'), { recursive: true });
  for (const file of ['LICENSE', 'README.md', 'CHANGELOG.md', 'SECURITY.md'])
    cpSync(join(ROOT, file), join(folder, file));
  mkdirSync(join(folder, 'bin'));
  for (const file of ['bin/bundle.js', 'bin/pinned-node.js', 'bin/require-node.js'])
    cpSync(join(ROOT, file), join(folder, file));
  const command = readFileSync(join(ROOT, 'bin/tessera.js'), 'utf8').replace(
    "'../src/cli/main.ts'",
    "'../src/cli/main.js'",
  );
  writeFileSync(join(folder, 'bin/tessera.js'), command);
  chmodSync(join(folder, 'bin/tessera.js'), 0o755);
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(publishedManifest(), null, 2)}\n`);
}

/** Makes the tarball that npm would publish; returns its path. */
export function pack(folder: string, destination: string): string {
  mkdirSync(destination, { recursive: true });
  const args = ['pack', folder, '--json', '--pack-destination', destination];
  const printed = execFileSync('npm', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
  const { name, version } = publishedManifest();
  const file = `${name.replace('@', '').replace('/', '-')}-${version}.tgz`;
  if (!printed.includes(file)) throw new Error(`npm pack made another file than ${file}: ${printed}`);
  return join(destination, file);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const tree = mkdtempSync(join(tmpdir(), 'tessera-package-'));
  stage(tree);
  process.stdout.write(`${pack(tree, join(ROOT, 'dist'))}\n`);
  rmSync(tree, { recursive: true });
}
