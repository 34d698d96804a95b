/*
 * `npm run interop:groups`: runs clients with the settings that docs/how-to/connect-with-groups.md prints, for a person in the group and
 * for one outside. A client whose tools are missing is reported, and the exit code is 1.
 */
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { blocksOf } from '../test/docs/blocks.ts';
import { admin, newClient, newUser, PASSWORD, type TestUser } from '../test/support/flow.ts';
import { startServer, type TestServer } from '../test/support/server.ts';
import { type Answer, newBrowser, open } from './browser.ts';
import { clients } from './clients.ts';
import { printed } from './printed.ts';
import { freePort, listen, listening, Missing, type Running, report, run, stopAll } from './processes.ts';
import { debianWith, pythonWith } from './toolchains.ts';

const PAGE = 'docs/how-to/connect-with-groups.md';
const cache = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'tessera-interop');

const settings = (language: string): string => {
  const block = blocksOf(PAGE).find((one) => one.language === language && one.runBy !== undefined);
  if (block === undefined) throw new Error(`${PAGE} prints no ${language}`);
  return block.text;
};

interface Given {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly port: number;
  /** The port of the app behind it, which answers with the headers that it got. */
  readonly upstream: number;
}

interface GroupClient {
  readonly name: string;
  readonly callback: string;
  /** Where a person begins, and comes to what only the group may open. */
  readonly path: string;
  start(folder: string, given: Given): Promise<Running>;
  /** Whether an answer shows that the person was let in, and kept out. */
  letsIn(answer: Answer): boolean;
  keepsOut(answer: Answer): boolean;
}

const own = ({ issuer, clientId, clientSecret, port, upstream }: Given) => ({
  ...{ issuer, clientId, clientSecret, origin: `http://localhost:${port}` },
  upstream: `http://127.0.0.1:${upstream}/`,
});

/** The configuration of another page, with the lines of this one in the place of those that they replace. */
function merged(base: string, more: string): string {
  const names = [...more.matchAll(/^(\w+)[ =]/gm)].map(([, name]) => name);
  const kept = base.split('\n').filter((line) => !names.some((name) => name !== undefined && line.startsWith(name)));
  return `${kept.join('\n')}\n${more}`;
}

const GROUP_CLIENTS: readonly GroupClient[] = [
  {
    name: 'oauth2-proxy',
    callback: '/oauth2/callback',
    path: '/oauth2/start',
    async start(folder, given) {
      const path = join(folder, 'groups.cfg');
      writeFileSync(path, merged(printed('oauth2-proxy', own(given)), settings('toml')));
      const args = [`--config=${path}`, '--cookie-secure=false', `--http-address=127.0.0.1:${given.port}`];
      return listening({ command: join(folder, 'app'), args }, given.port);
    },
    letsIn: ({ status, text }) => status === 200 && /"x-forwarded-groups":"reporters"/.test(text),
    keepsOut: ({ status }) => status === 403,
  },
  {
    name: 'mod_auth_openidc',
    callback: '/app/redirect_uri',
    path: '/reports',
    async start(folder, given) {
      const { command, env } = await debianWith(folder, 'libapache2-mod-auth-openidc');
      const runDir = join(folder, 'groups');
      mkdirSync(runDir, { recursive: true });
      const configuration = join(runDir, 'printed.conf');
      writeFileSync(configuration, merged(printed('mod_auth_openidc', own(given)), settings('apache')));
      const file = new URL('clients/mod_auth_openidc/httpd.conf', import.meta.url).pathname;
      const more = { RUN_DIR: runDir, BACKEND_PORT: String(given.upstream), PRINTED: configuration };
      return listening(
        { command, args: ['-DFOREGROUND', '-f', file], env: { ...env, ...more, PORT: String(given.port) } },
        given.port,
      );
    },
    // The server of the run has no file there.
    letsIn: ({ status }) => status === 404,
    keepsOut: ({ status }) => status === 401 || status === 403,
  },
  {
    name: 'express-openid-connect',
    callback: '/callback',
    path: '/reports',
    async start(folder, given) {
      const file = join(folder, 'groups.js');
      const base = printed('express-openid-connect', own(given)).replace('profile email', 'profile email groups');
      // The person comes back to what only the group may open.
      const asked = base.replace('authRequired: false', 'authRequired: true');
      writeFileSync(file, asked.replace(/^app\.listen/m, `${settings('js')}\napp.listen`));
      const { clientId: CLIENT_ID, clientSecret: CLIENT_SECRET, port } = given;
      return listening(
        { command: process.execPath, args: [file], env: { CLIENT_ID, CLIENT_SECRET, PORT: String(port) } },
        port,
      );
    },
    letsIn: ({ status, text }) => status === 200 && text === '{"groups":["reporters"]}',
    keepsOut: ({ status }) => status === 401 || status === 403,
  },
  {
    name: 'JupyterHub',
    callback: '/hub/oauth_callback',
    path: '/hub/oauth_login?next=%2Fhub%2Fhome',
    async start(folder, given) {
      const { clientId: CLIENT_ID, clientSecret: CLIENT_SECRET, port, issuer } = given;
      const python = await pythonWith('clients/jupyterhub', folder);
      for (const name of ['package.json', 'package-lock.json']) {
        copyFileSync(new URL(`clients/jupyterhub/${name}`, import.meta.url), join(folder, name));
      }
      await run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: folder });
      const config = join(folder, 'jupyterhub_config.py');
      const code = settings('python')
        .replaceAll('https://id.example.com', issuer)
        .replaceAll('https://jupyter.example.com', `http://localhost:${port}`);
      const [hub, api] = [await freePort(), await freePort()];
      writeFileSync(
        config,
        `${code}
c.JupyterHub.bind_url = "http://127.0.0.1:${port}"
c.JupyterHub.hub_port = ${hub}
c.ConfigurableHTTPProxy.api_url = "http://127.0.0.1:${api}"
c.JupyterHub.db_url = "sqlite:///:memory:"
`,
      );
      const path = [join(folder, 'bin'), join(folder, 'node_modules/.bin'), process.env['PATH']].join(':');
      return listening(
        {
          command: python,
          args: ['-m', 'jupyterhub', '-f', config],
          cwd: folder,
          env: { CLIENT_ID, CLIENT_SECRET, PATH: path },
        },
        port,
        '/hub/health',
      );
    },
    letsIn: ({ status, text }) => status === 200 && text.includes('/hub/logout'),
    keepsOut: ({ status }) => status === 403,
  },
];

/** Opens the page of an app as a person, through the pages of the issuer. */
async function visit(address: string, user: TestUser): Promise<Answer> {
  const browser = newBrowser();
  let answer = await browser.get(address);
  const { host } = new URL(address);
  for (let hop = 0; answer.location?.host === host && hop < 5; hop++) answer = await browser.get(answer.location.href);
  if (answer.location === undefined) throw new Error(`the app did not ask the issuer: ${answer.status}`);
  const person = { id: user.id, username: user.username, displayName: '', email: '', password: PASSWORD };
  return open(browser, answer.location.href, person);
}

async function wrongAnswers(client: GroupClient, server: TestServer): Promise<readonly string[]> {
  const prepared = clients.find(({ name }) => name === client.name);
  const folder = join(cache, client.name);
  mkdirSync(folder, { recursive: true });
  await prepared?.prepare(folder, prepared.version);
  const [port, app] = [
    await freePort(),
    await listen(createServer((request, reply) => reply.end(JSON.stringify(request.headers)))),
  ];
  const redirectUris = [`http://localhost:${port}${client.callback}`];
  const registered = await newClient(server, { redirectUris, scopes: ['openid', 'profile', 'email', 'groups'] });
  const { body: group } = await admin(server, 'POST', '/groups', { name: 'reporters' });
  await admin(server, 'POST', `/clients/${registered.clientId}/assignments`, { groupId: group.id });
  const member = await newUser(server, { emailVerified: true });
  const other = await newUser(server, { emailVerified: true });
  await admin(server, 'PUT', `/groups/${group.id}/members/${member.id}`);
  const running = await client.start(folder, { issuer: server.baseUrl, ...registered, port, upstream: app.port });
  const wrong: string[] = [];
  try {
    const address = `http://localhost:${port}${client.path}`;
    const seen = await visit(address, member);
    if (!client.letsIn(seen)) wrong.push(`in the group: ${seen.status} ${seen.text.slice(0, 200)}`);
    server.advance(Date.now() - server.now());
    const refused = await visit(address, other);
    if (!client.keepsOut(refused)) wrong.push(`outside: ${refused.status} ${refused.text.slice(0, 200)}`);
    if (wrong.length > 0) wrong.push(running.said().slice(-1500));
  } finally {
    await running.close();
    await app.close();
  }
  return wrong;
}

let failed = false;
for (const client of GROUP_CLIENTS) {
  const server = await startServer({ TESSERA_LIMIT_CLIENT_AUTH: 'off' });
  // Its clock stands still, at another time.
  server.advance(Date.now() - server.now());
  try {
    const wrong = await wrongAnswers(client, server);
    failed ||= wrong.length > 0;
    report(wrong.length === 0 ? `✔ ${client.name}` : `✖ ${client.name}\n  ${wrong.join('\n  ')}`);
  } catch (error) {
    failed = true;
    const text = error instanceof Error ? error.message : String(error);
    report(error instanceof Missing ? `- ${client.name}: skipped, ${text}` : `✖ ${client.name}: ${text}`);
  } finally {
    await server.close();
  }
}
await stopAll();
process.exit(failed ? 1 : 0);
