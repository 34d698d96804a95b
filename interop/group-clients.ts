import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { randomSecret } from '../src/platform/crypto/secrets.ts';
import { certificate } from '../test/support/certificate.ts';
import type { Answer, Browser } from './browser.ts';
import { clients, pinned } from './clients.ts';
import { type OwnValues, printed, printedForGroups } from './printed.ts';
import { freePort, listening, type Program, type Running, run } from './processes.ts';
import { debianWith, pythonWith } from './toolchains.ts';

/** What a client is given. */
export interface Given {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly port: number;
  /** The port of the app behind it, which answers with the headers that it got. */
  readonly upstream: number;
}

/** A client that goes by groups: `reporters` may come in, and nobody else. */
export interface GroupClient {
  readonly name: string;
  readonly registry: string;
  /** The version that its manifest pins; empty where the registry serves one version. */
  readonly version: string;
  readonly callback: string;
  /** Whether it accepts an issuer with TLS only. */
  readonly https?: true;
  readonly type?: 'public';
  /** Installs or builds it in a folder, and tells the version if the manifest does not. */
  readonly prepare: (folder: string) => Promise<string | undefined>;
  readonly start: (folder: string, given: Given) => Promise<Running>;
  /** Where a person begins, and comes to what only the group may open. */
  readonly path: string;
  /** How a person begins, if that takes more than opening the path. */
  readonly begin?: (browser: Browser, address: string) => Promise<Answer>;
  /** Whether an answer shows that the person was let in, and kept out. */
  readonly letsIn: (answer: Answer) => boolean;
  readonly keepsOut: (answer: Answer) => boolean;
  /** What the client makes of the group, and what a person outside sees, as the recorded page says it. */
  readonly gives: string;
  readonly refuses: string;
}

const pathOf = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

const ownValues = ({ port, upstream, ...given }: Given): OwnValues => ({
  ...given,
  ...{ origin: `http://localhost:${port}`, upstream: `http://127.0.0.1:${upstream}/` },
});

/** Writes the settings that the page prints for a client into a file. */
function writeSettings(client: string, language: string, path: string, given: Given): string {
  writeFileSync(path, printedForGroups(client, language, ownValues(given)));
  return path;
}

const environmentOf = ({ clientId, clientSecret, port }: Given): Readonly<Record<string, string>> => ({
  CLIENT_ID: clientId,
  CLIENT_SECRET: clientSecret,
  PORT: String(port),
});

const begin = (program: Program, given: Given, readyPath?: string): Promise<Running> =>
  listening({ ...program, env: { ...environmentOf(given), ...program.env } }, given.port, readyPath);

/** The configuration of another page, with the lines of this one in the place of those that they replace. */
function merged(base: string, more: string): string {
  const names = [...more.matchAll(/^(\w+)[ =]/gm)].map(([, name]) => name);
  const kept = base.split('\n').filter((line) => !names.some((name) => name !== undefined && line.startsWith(name)));
  return `${kept.join('\n')}\n${more}`;
}

/** A client that `npm run interop` takes through the protocol, too. */
function known(
  name: string,
): { readonly name: string; readonly registry: string; readonly version: string } & Pick<GroupClient, 'prepare'> {
  const client = clients.find((one) => one.name === name);
  if (client === undefined) throw new Error(`npm run interop has no ${name}`);
  const { registry, version, prepare } = client;
  return { name, registry, version, prepare: async (folder) => (await prepare(folder, version)).version };
}

const pypi = (folder: string, name: string): string =>
  pinned(`interop/clients/${folder}/requirements.in`, new RegExp(`^${name}==(.+)$`, 'm'));

const goProgram = (source: string) => async (folder: string) =>
  void (await run('go', ['build', '-mod=readonly', '-o', join(folder, 'app'), '.'], { cwd: pathOf(source) }));

/** Java code and a configuration that the page prints, with a manifest of its own. */
function writeProject(folder: string, pom: string, files: Readonly<Record<string, string>>): void {
  rmSync(join(folder, 'src'), { recursive: true, force: true });
  copyFileSync(pathOf(pom), join(folder, 'pom.xml'));
  for (const [path, text] of Object.entries(files)) {
    const file = join(folder, 'src/main', path);
    mkdirSync(join(file, '..'), { recursive: true });
    writeFileSync(file, text);
  }
}

const forbidden = ({ status }: Answer): boolean => status === 403;

export const GROUP_CLIENTS: readonly GroupClient[] = [
  {
    ...known('oauth2-proxy'),
    callback: '/oauth2/callback',
    path: '/oauth2/start',
    async start(folder, given) {
      const path = join(folder, 'groups.cfg');
      const own = ownValues(given);
      writeFileSync(path, merged(printed('oauth2-proxy', own), printedForGroups('oauth2-proxy', 'toml', own)));
      const args = [`--config=${path}`, '--cookie-secure=false', `--http-address=127.0.0.1:${given.port}`];
      return begin({ command: join(folder, 'app'), args }, given);
    },
    letsIn: ({ status, text }) => status === 200 && /"x-forwarded-groups":"reporters"/.test(text),
    keepsOut: forbidden,
    gives: 'The app behind it gets `X-Forwarded-Groups: reporters`',
    refuses: '403',
  },
  {
    ...known('mod_auth_openidc'),
    callback: '/app/redirect_uri',
    path: '/reports',
    async start(folder, given) {
      const { command, env } = await debianWith(folder, 'libapache2-mod-auth-openidc');
      const runDir = join(folder, 'groups');
      mkdirSync(runDir, { recursive: true });
      const configuration = join(runDir, 'printed.conf');
      const own = ownValues(given);
      const lines = merged(printed('mod_auth_openidc', own), printedForGroups('mod_auth_openidc', 'apache', own));
      writeFileSync(configuration, lines);
      const file = pathOf('clients/mod_auth_openidc/httpd.conf');
      const more = { RUN_DIR: runDir, BACKEND_PORT: String(given.upstream), PRINTED: configuration };
      return begin({ command, args: ['-DFOREGROUND', '-f', file], env: { ...env, ...more } }, given);
    },
    // The server of the run has no file there.
    letsIn: ({ status }) => status === 404,
    keepsOut: ({ status }) => status === 401,
    gives: 'May open `/reports`',
    refuses: '401',
  },
  {
    ...known('express-openid-connect'),
    callback: '/callback',
    path: '/reports',
    async start(folder, given) {
      const own = ownValues(given);
      const base = printed('express-openid-connect', own).replace('profile email', 'profile email groups');
      // The person comes back to what only the group may open.
      const asked = base.replace('authRequired: false', 'authRequired: true');
      const file = join(folder, 'groups.js');
      const route = printedForGroups('express-openid-connect', 'js', own);
      writeFileSync(file, asked.replace(/^app\.listen/m, `${route}\napp.listen`));
      return begin({ command: process.execPath, args: [file] }, given);
    },
    letsIn: ({ status, text }) => status === 200 && text === '{"groups":["reporters"]}',
    keepsOut: forbidden,
    gives: '`req.oidc.user.groups` is `["reporters"]`',
    refuses: '403',
  },
  {
    name: 'JupyterHub',
    registry: 'PyPI',
    version: `${pypi('jupyterhub', 'jupyterhub')}, oauthenticator ${pypi('jupyterhub', 'oauthenticator')}`,
    callback: '/hub/oauth_callback',
    path: '/hub/oauth_login?next=%2Fhub%2Fhome',
    async prepare(folder) {
      await pythonWith('clients/jupyterhub', folder);
      for (const name of ['package.json', 'package-lock.json']) {
        copyFileSync(pathOf(`clients/jupyterhub/${name}`), join(folder, name));
      }
      await run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: folder });
    },
    async start(folder, given) {
      const config = join(folder, 'jupyterhub_config.py');
      const [hub, api] = [await freePort(), await freePort()];
      writeFileSync(
        config,
        `${printedForGroups('JupyterHub', 'python', ownValues(given))}
c.JupyterHub.bind_url = "http://127.0.0.1:${given.port}"
c.JupyterHub.hub_port = ${hub}
c.ConfigurableHTTPProxy.api_url = "http://127.0.0.1:${api}"
c.JupyterHub.db_url = "sqlite:///:memory:"
`,
      );
      const PATH = [join(folder, 'bin'), join(folder, 'node_modules/.bin'), process.env['PATH']].join(':');
      const args = ['-m', 'jupyterhub', '-f', config];
      return begin({ command: join(folder, 'bin/python'), args, cwd: folder, env: { PATH } }, given, '/hub/health');
    },
    letsIn: ({ status, text }) => status === 200 && text.includes('/hub/logout'),
    keepsOut: forbidden,
    gives: 'Is signed in to the hub',
    refuses: '403',
  },
  {
    name: 'Spring Security',
    registry: 'Maven Central',
    version: known('Spring Security').version,
    callback: '/login/oauth2/code/tessera',
    path: '/reports',
    async prepare(folder) {
      const own = { issuer: '', origin: '', clientId: '', clientSecret: '' };
      writeProject(folder, 'clients/spring-security/pom.xml', {
        'java/groups/Groups.java': `package groups;\n\n${printedForGroups('Spring Security', 'java', own)}`,
        'java/groups/App.java': readFileSync(pathOf('clients/spring-groups/App.java'), 'utf8'),
      });
      await run('mvn', ['--batch-mode', '--quiet', 'package'], { cwd: folder });
    },
    async start(folder, given) {
      const file = join(folder, 'printed.yaml');
      const base = printed('Spring Security', ownValues(given));
      writeFileSync(file, base.replace('openid,profile,email', 'openid,profile,email,groups'));
      const args = ['-jar', join(folder, 'target/app.jar'), `--spring.config.location=file:${file}`];
      return begin({ command: 'java', args: [...args, `--server.port=${given.port}`] }, given);
    },
    letsIn: ({ status, text }) => status === 200 && text.includes('GROUP_reporters'),
    keepsOut: forbidden,
    gives: 'Has the authority `GROUP_reporters`',
    refuses: '403',
  },
  {
    name: 'Quarkus',
    registry: 'Maven Central',
    version: pinned('interop/clients/quarkus/pom.xml', /<quarkus.version>([^<]+)/),
    callback: '/callback',
    path: '/reports',
    async prepare(folder) {
      const args = ['--batch-mode', '--quiet', 'package', `-Dbuild.folder=${folder}`];
      await run('mvn', args, { cwd: pathOf('clients/quarkus') });
    },
    async start(folder, given) {
      const file = writeSettings('Quarkus', 'properties', join(folder, 'printed.properties'), given);
      const args = [`-Dquarkus.config.locations=${file}`, `-Dquarkus.http.port=${given.port}`];
      return begin({ command: 'java', args: [...args, '-jar', join(folder, 'quarkus-app/quarkus-run.jar')] }, given);
    },
    letsIn: ({ status, text }) => status === 200 && text === '[reporters]',
    keepsOut: forbidden,
    gives: 'Has the role `reporters`',
    refuses: '403',
  },
  {
    name: 'Django',
    registry: 'PyPI',
    version: `${pypi('django', 'Django')}, mozilla-django-oidc ${pypi('django', 'mozilla-django-oidc')}`,
    callback: '/oidc/callback/',
    path: '/oidc/authenticate/?next=/reports/',
    prepare: async (folder) => void (await pythonWith('clients/django', folder)),
    async start(folder, given) {
      writeSettings('Django settings', 'python', join(folder, 'printed_settings.py'), given);
      writeSettings('Django', 'python', join(folder, 'people.py'), given);
      const env = { DATABASE: join(folder, 'people.sqlite3'), PYTHONPATH: folder };
      rmSync(env.DATABASE, { force: true });
      const [command, app] = [join(folder, 'bin/python'), pathOf('clients/django/app.py')];
      await run(command, [app, 'migrate', '--verbosity=0'], { cwd: folder, env: { ...environmentOf(given), ...env } });
      const args = [app, 'runserver', '--noreload', `localhost:${given.port}`];
      return begin({ command, args, cwd: folder, env }, given);
    },
    letsIn: ({ status, text }) => status === 200 && text === '{"groups": ["reporters"]}',
    keepsOut: ({ status, text }) => status === 401 && text === 'You may not read the reports.',
    gives: 'Is in the group `reporters` of Django',
    refuses: 'Is not signed in',
  },
  {
    name: 'Flask-AppBuilder',
    registry: 'PyPI',
    version: pypi('flask-appbuilder', 'Flask-AppBuilder'),
    callback: '/oauth-authorized/tessera',
    path: '/login/tessera?next=/reports/',
    prepare: async (folder) => void (await pythonWith('clients/flask-appbuilder', folder)),
    async start(folder, given) {
      writeSettings('Flask-AppBuilder', 'python', join(folder, 'config.py'), given);
      const env = { DATABASE: join(folder, 'people.sqlite3'), PYTHONPATH: folder };
      rmSync(env.DATABASE, { force: true });
      const app = pathOf('clients/flask-appbuilder/app.py');
      const args = ['-m', 'flask', '--app', app, 'run', '--host=localhost', `--port=${given.port}`];
      return begin({ command: join(folder, 'bin/python'), args, cwd: folder, env }, given);
    },
    letsIn: ({ status, text }) => status === 200 && text.includes('"Reporter"'),
    keepsOut: forbidden,
    gives: 'Has the role `Reporter`',
    refuses: '403',
  },
  {
    name: 'pgAdmin',
    registry: 'PyPI',
    version: pypi('pgadmin', 'pgadmin4'),
    callback: '/oauth2/authorize',
    path: '/login',
    prepare: async (folder) => void (await pythonWith('clients/pgadmin', folder)),
    async start(folder, given) {
      const data = join(folder, 'data');
      rmSync(data, { recursive: true, force: true });
      const python = join(folder, 'bin/python');
      const package_ = (
        await run(python, ['-c', 'import pgadmin4; print(pgadmin4.__path__[0])'], { cwd: folder })
      ).trim();
      const local = writeSettings('pgAdmin', 'python', join(package_, 'config_local.py'), given);
      const more = `DATA_DIR = ${JSON.stringify(data)}\nDEFAULT_SERVER_PORT = ${given.port}\n`;
      writeFileSync(local, `${readFileSync(local, 'utf8')}${more}LOG_FILE = ${JSON.stringify(join(data, 'log'))}\n`);
      const env = { PGADMIN_SETUP_EMAIL: 'admin@example.com', PGADMIN_SETUP_PASSWORD: randomSecret() };
      const args = [join(package_, 'pgAdmin4.py')];
      return begin({ command: python, args, cwd: folder, env }, given, '/misc/ping');
    },
    // What its page of sign-in does, which is a script.
    async begin(browser, address) {
      const token = /"csrfToken": "([^"]+)"/.exec((await browser.get(address)).text)?.[1] ?? '';
      const { origin } = new URL(address);
      return browser.post(`${origin}/authenticate/login`, { csrf_token: token, oauth2_button: 'tessera' });
    },
    letsIn: ({ status, text }) => status === 200 && text.includes('/browser/'),
    keepsOut: ({ text }) => text.includes('The user is not authorized to login'),
    gives: 'Is signed in',
    refuses: '“The user is not authorized to login”',
  },
  {
    name: 'Kubernetes',
    registry: 'Go module proxy',
    version: `k8s.io/apiserver ${pinned('interop/clients/kubernetes/go.mod', /k8s.io\/apiserver (v\S+)/)}`,
    callback: '/',
    https: true,
    type: 'public',
    path: '/',
    prepare: goProgram('clients/kubernetes'),
    async start(folder, given) {
      const authority = join(folder, 'ca.pem');
      writeFileSync(authority, certificate);
      const configuration = writeSettings('Kubernetes', 'yaml', join(folder, 'authentication.yaml'), given);
      const env = { CONFIGURATION: configuration, SSL_CERT_FILE: authority };
      return begin({ command: join(folder, 'app'), args: [], env }, given, '/healthz');
    },
    letsIn: ({ status, text }) => status === 200 && text.includes('"tessera:reporters"'),
    keepsOut: forbidden,
    gives: 'Is in the group `tessera:reporters`',
    refuses: '403',
  },
  {
    name: 'Vault',
    registry: 'Go module proxy',
    version: `vault-plugin-auth-jwt ${pinned('interop/clients/vault/go.mod', /vault-plugin-auth-jwt (v\S+)/)}`,
    callback: '/oidc/callback',
    path: '/login',
    prepare: goProgram('clients/vault'),
    async start(folder, given) {
      const text = printedForGroups('Vault', 'sh', ownValues(given)).replace(':8250/', `:${given.port}/`);
      const calls = [...text.matchAll(/^vault write auth\/oidc\/(\S+) - <<'EOF'\n(.*?)^EOF$/gms)];
      const settings = calls.map(([, path = '', fields = '']) => ({ path, fields: JSON.parse(fields) }));
      return begin({ command: join(folder, 'app'), args: [], env: { SETTINGS: JSON.stringify(settings) } }, given);
    },
    letsIn: ({ status, text }) => status === 200 && text === '{"groups":["reporters"],"policies":["reports"]}\n',
    keepsOut: forbidden,
    gives: 'Has the group alias `reporters` and the policy `reports`',
    refuses: 'Is not signed in',
  },
];
