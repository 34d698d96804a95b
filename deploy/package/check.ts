import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Deployed, freePort, launch, plainEnvironment } from '../launch.ts';
import { CHECKED, driveSignIn } from '../sign-in.ts';
import { pack, stage } from './build.ts';
import { publishedManifest } from './manifest.ts';

/*
 * Packs the package, installs the tarball into an empty folder as a stranger would, and takes a person through the server that
 * `npx tessera serve` starts there. Needs the npm registry, or npm's cache of it. PACKAGE_CHECK_NPM is another npm, such as
 * `npx --yes npm@10.8.2`.
 */

const folder = mkdtempSync(join(tmpdir(), 'tessera-package-'));
const say = (text: string): void => void process.stdout.write(`${text}\n`);
let server: Deployed | undefined;
try {
  const tarball = pack(await staged(), folder);
  const home = join(folder, 'installation');
  cpSync(tarball, join(home, 'tessera.tgz'), { recursive: true });
  writeFileSync(join(home, 'package.json'), '{"private":true}');
  const [npm = 'npm', ...words] = (process.env['PACKAGE_CHECK_NPM'] ?? 'npm').split(' ');
  execFileSync(npm, [...words, 'install', '--no-audit', '--no-fund', './tessera.tgz'], {
    ...{ cwd: home, env: plainEnvironment(), stdio: 'ignore' },
  });
  const version = npx('--version').trim();
  assert.equal(version, publishedManifest().version);
  const nodeOf = (program: string, ...args: string[]): string =>
    execFileSync(program, args, { cwd: home, env: plainEnvironment(), encoding: 'utf8' }).trim();
  say(`Node: ${nodeOf('node', '--version')} of the system, ${nodeOf('npx', 'node', '--version')} of the package`);
  say(
    `installed ${tarball.replace(/.*\//, '')} with ${readdirSync(join(home, 'node_modules')).length} entries in node_modules`,
  );

  const port = String(await freePort());
  const env = { ...CHECKED, TESSERA_PORT: port };
  server = await launch('npx', ['tessera', 'serve'], { cwd: home, env, url: `http://localhost:${port}` });
  say(`npx tessera serve: ready at http://localhost:${port}`);
  assert.match(npx('health', '--port', port), /ready/);
  await driveSignIn(`http://localhost:${port}`);
  say('signed a person in, renewed the tokens, took the access away: rejected');
  const { findings } = JSON.parse(npx('doctor', '--json', '--port', port)) as { findings: { level: string }[] };
  assert.ok(findings.length > 5 && findings.every(({ level }) => level !== 'problem'));
  say(`npx tessera doctor: ${findings.length} findings, no problem`);

  function npx(...args: string[]): string {
    return execFileSync('npx', ['tessera', ...args], { cwd: home, env: plainEnvironment(), encoding: 'utf8' });
  }
} finally {
  await server?.stop();
  rmSync(folder, { recursive: true, force: true });
}
say('The package works.');

async function staged(): Promise<string> {
  const tree = join(folder, 'package');
  stage(tree);
  const left = readdirSync(tree, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.ts'));
  assert.deepEqual(left, [], 'TypeScript is left, which Node does not run there');
  assert.ok(existsSync(join(tree, 'src/pages/assets/style.css')));
  assert.match(readFileSync(join(tree, 'bin/tessera.js'), 'utf8'), /main\.js/);
  return tree;
}
