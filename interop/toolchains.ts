import { copyFileSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { printed } from './printed.ts';
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

/** The values that stand for the reader's own in what a page prints. */
const ownValues = ({ port, ...given }: Given) => ({ ...given, origin: `http://localhost:${port}` });

/** Writes what a page prints for a client into a file. */
function writePrinted(client: string, path: string, given: Given, change = (text: string) => text): string {
  writeFileSync(path, change(printed(client, ownValues(given))));
  return path;
}

/** A program of a Go module, with the configuration that a page prints. */
export const goTool = (source: string, program: string, client: string) => async (folder: string, version: string) => {
  const command = join(folder, 'app');
  await run('go', ['build', '-mod=readonly', '-o', command, program], { cwd: pathOf(source) });
  return {
    version,
    async start(given: Given): Promise<Running> {
      const backend = await backendOf();
      const path = join(folder, 'printed.cfg');
      writeFileSync(path, printed(client, { ...ownValues(given), upstream: `http://127.0.0.1:${backend.port}/` }));
      const flags = ['--cookie-refresh=1ns', '--cookie-secure=false', `--http-address=127.0.0.1:${given.port}`];
      return withBackend(backend, prepared('', { command, args: [`--config=${path}`, ...flags] }).start(given));
    },
  };
};

/** An app on Node from its own manifest, with a file that a page prints. */
export const npm =
  (source: string, files: { readonly printed: string; readonly as: string; readonly main: string }) =>
  async (folder: string, version: string) => {
    for (const file of readdirSync(pathOf(source))) copyFileSync(pathOf(join(source, file)), join(folder, file));
    await run('npm', ['ci', '--legacy-peer-deps', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: folder });
    return {
      version,
      start(given: Given): Promise<Running> {
        writePrinted(files.printed, join(folder, files.as), given);
        return prepared('', { command: process.execPath, args: [join(folder, files.main)] }).start(given);
      },
    };
  };

export const cargo = (source: string, name: string) => async (folder: string, version: string) => {
  await run('cargo', ['build', '--locked', '--quiet', '--target-dir', folder], { cwd: pathOf(source) });
  return prepared(version, { command: join(folder, 'debug', name), args: [] });
};

/** @param client of Spring Boot, whose configuration a page prints */
export const maven = (source: string, client?: string) => async (folder: string, version: string) => {
  const args = ['--batch-mode', '--quiet', 'package', `-Dbuild.folder=${folder}`];
  await run('mvn', args, { cwd: pathOf(source) });
  const jar = join(folder, 'app.jar');
  return {
    version,
    start(given: Given): Promise<Running> {
      const configured =
        client === undefined
          ? []
          : [`--spring.config.additional-location=file:${writePrinted(client, join(folder, 'printed.yaml'), given)}`];
      return prepared('', { command: 'java', args: ['-jar', jar, ...configured] }).start(given);
    },
  };
};

export const python = (source: string) => async (folder: string, version: string) => {
  const command = await pythonWith(source, folder);
  return prepared(version, { command, args: [pathOf(join(source, 'app.py'))] });
};

/** The app that a page prints, with the packages of a manifest. */
export const flask = (source: string, client: string) => async (folder: string, version: string) => {
  const command = await pythonWith(source, folder);
  return {
    version,
    start(given: Given): Promise<Running> {
      const app = writePrinted(client, join(folder, 'app.py'), given);
      const args = ['-m', 'flask', '--app', app, 'run', '--port', String(given.port)];
      return prepared('', { command, args }).start(given);
    },
  };
};

/** A Python with the packages of a manifest. */
export async function pythonWith(source: string, folder: string): Promise<string> {
  const command = join(folder, 'bin', 'python');
  if (!existsSync(command)) await run('python3', ['-m', 'venv', folder], { cwd: folder });
  const args = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--require-hashes'];
  await run(command, [...args, '-r', 'requirements.txt'], { cwd: pathOf(source) });
  return command;
}

/**
 * Apache and its module from Debian's packages. Those that the machine lacks are unpacked in this folder, and not installed on the
 * machine. Debian serves one version of each package in a release.
 * @param client whose configuration a page prints
 */
export const debian = (source: string, name: string, client: string) => async (folder: string) => {
  const { version, command, env: environment } = await debianWith(folder, name);
  return { version, start: (given: Given) => startApache(command, source, { folder, client, environment }, given) };
};

/** Apache with a module, and the environment that it runs in. */
export async function debianWith(folder: string, name: string) {
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
  const env = {
    MODULES: dirname(find('usr/lib/apache2/modules/mod_proxy.so')),
    AUTH_OPENIDC: find('usr/lib/apache2/modules/mod_auth_openidc.so'),
    LD_LIBRARY_PATH: libraries.map((entry) => join(root, 'usr/lib', entry)).join(':'),
  };
  return { version, command: find('usr/sbin/apache2'), env };
}

const archives = (folder: string): string[] => readdirSync(folder).filter((file) => file.endsWith('.deb'));

async function startApache(
  command: string,
  source: string,
  {
    folder,
    client,
    environment,
  }: { readonly folder: string; readonly client: string; readonly environment: Readonly<Record<string, string>> },
  given: Given,
): Promise<Running> {
  const backend = await backendOf();
  const runDir = join(folder, 'run');
  mkdirSync(runDir, { recursive: true });
  // Refreshes with each request, and not in the last minute alone.
  const change = (text: string) => text.replace(' 60 logout_on_error', ' 1800 logout_on_error').replace('/bye', '/');
  const configuration = writePrinted(client, join(runDir, 'printed.conf'), given, change);
  const program = prepared('', {
    command,
    args: ['-DFOREGROUND', '-f', pathOf(join(source, 'httpd.conf'))],
    env: { ...environment, RUN_DIR: runDir, BACKEND_PORT: String(backend.port), PRINTED: configuration },
  });
  return withBackend(backend, program.start(given));
}

type Backend = Awaited<ReturnType<typeof listen>>;

/** An application behind a proxy, which answers with what it was told. */
const backendOf = (): Promise<Backend> =>
  listen(createServer((request, reply) => reply.end(JSON.stringify(request.headers))));

/** A proxy, with which its application ends. */
async function withBackend(backend: Backend, started: Promise<Running>): Promise<Running> {
  try {
    const running = await started;
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
