import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { randomSecret } from '../src/platform/crypto/secrets.ts';
import { listen, listening, Missing, type Program, type Running, run } from './processes.ts';

/** What a client is given. */
export interface Given {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly port: number;
}

export interface Prepared {
  readonly version: string;
  start(given: Given): Promise<Running>;
}

const pathOf = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

const prepared = (version: string, program: Program): Prepared => ({
  version,
  start: (given) =>
    listening(
      {
        ...program,
        env: {
          ISSUER: given.issuer,
          CLIENT_ID: given.clientId,
          CLIENT_SECRET: given.clientSecret,
          PORT: String(given.port),
          ...program.env,
        },
      },
      given.port,
    ),
});

/** Loaded before a Node app: its clock then moves when it is told to. */
const CLOCK = new URL('../test/clients/clock.ts', import.meta.url).href;

/** A Node app, whose packages are this repository's development dependencies. */
export const node = (file: string) => async (_folder: string, version: string) =>
  prepared(version, { command: process.execPath, args: ['--import', CLOCK, pathOf(file)], messages: true });

export const go = (source: string) => async (folder: string, version: string) => {
  const command = join(folder, 'app');
  await run('go', ['build', '-mod=readonly', '-o', command, '.'], { cwd: pathOf(source) });
  return prepared(version, { command, args: [] });
};

export const cargo = (source: string, name: string) => async (folder: string, version: string) => {
  await run('cargo', ['build', '--locked', '--quiet', '--target-dir', folder], { cwd: pathOf(source) });
  return prepared(version, { command: join(folder, 'debug', name), args: [] });
};

export const maven = (source: string) => async (folder: string, version: string) => {
  const args = ['--batch-mode', '--quiet', 'package', `-Dbuild.folder=${folder}`];
  await run('mvn', args, { cwd: pathOf(source) });
  return prepared(version, { command: 'java', args: ['-jar', join(folder, 'app.jar')] });
};

export const python = (source: string) => async (folder: string, version: string) => {
  const command = join(folder, 'bin', 'python');
  if (!existsSync(command)) await run('python3', ['-m', 'venv', folder], { cwd: folder });
  const args = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--require-hashes'];
  await run(command, [...args, '-r', 'requirements.txt'], { cwd: pathOf(source) });
  return prepared(version, { command, args: [pathOf(join(source, 'app.py'))] });
};

/**
 * Apache and its module from Debian's packages. Those that the machine lacks are unpacked in this folder, and not installed on the
 * machine. Debian serves one version of each package in a release.
 */
export const debian = (source: string, name: string) => async (folder: string) => {
  const cwd = folder;
  const plan = await run('apt-get', ['--simulate', '--no-install-recommends', 'install', name], { cwd });
  const missing = [...plan.matchAll(/^Inst (\S+) .*?\((\S+)/gm)].map(([, name = '', version = '']) => ({
    name,
    version,
  }));
  const version =
    missing.find((one) => one.name === name)?.version ??
    /^ {2}Installed: (.+)$/m.exec(await run('apt-cache', ['policy', name], { cwd }))?.[1];
  if (version === undefined) throw new Missing(`apt-get knows no version of ${name}: run apt-get update`);
  const root = join(folder, version);
  if (missing.length > 0 && !existsSync(root)) {
    for (const file of archives(folder)) rmSync(join(folder, file));
    // Run by root, apt-get downloads as a user who may not write here.
    const download = ['-o', 'APT::Sandbox::User=root', 'download', ...missing.map((one) => one.name)];
    await run('apt-get', download, { cwd });
    for (const file of archives(folder)) await run('dpkg-deb', ['--extract', file, `${root}.part`], { cwd });
    renameSync(`${root}.part`, root);
  }
  function find(path: string): string {
    const found = [join(root, path), `/${path}`].find(existsSync);
    if (found === undefined) throw new Missing(`Debian's packages for ${name} have no ${path}`);
    return found;
  }
  const libraries = readdirSync('/usr/lib').filter((entry) => entry.endsWith('-linux-gnu'));
  const environment = {
    MODULES: dirname(find('usr/lib/apache2/modules/mod_proxy.so')),
    AUTH_OPENIDC: find('usr/lib/apache2/modules/mod_auth_openidc.so'),
    LD_LIBRARY_PATH: libraries.map((entry) => join(root, 'usr/lib', entry)).join(':'),
  };
  const command = find('usr/sbin/apache2');
  return { version, start: (given: Given) => startApache(command, source, folder, environment, given) };
};

const archives = (folder: string): string[] => readdirSync(folder).filter((file) => file.endsWith('.deb'));

async function startApache(
  command: string,
  source: string,
  folder: string,
  environment: Readonly<Record<string, string>>,
  given: Given,
): Promise<Running> {
  // The application behind Apache answers with what it was told.
  const backend = await listen(createServer((request, reply) => reply.end(JSON.stringify(request.headers))));
  const runDir = join(folder, 'run');
  mkdirSync(runDir, { recursive: true });
  const program = prepared('', {
    command,
    args: ['-DFOREGROUND', '-f', pathOf(join(source, 'httpd.conf'))],
    env: { ...environment, RUN_DIR: runDir, BACKEND_PORT: String(backend.port), PASSPHRASE: randomSecret() },
  });
  try {
    const running = await program.start(given);
    return {
      ...running,
      async close() {
        await running.close();
        await backend.close();
      },
    };
  } catch (error) {
    await backend.close();
    throw error;
  }
}
