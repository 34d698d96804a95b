/*
 * `npm run interop:apis`: runs the APIs that docs/how-to/protect-your-api.md prints, as they are printed, and those of
 * examples/resource-server, and sends each of them tokens of every kind. It needs Python 3 with `venv`, Go, and Java 17 with Maven; what is missing is reported, and the exit code is 1.
 */
import { copyFileSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import { root } from '../docs/site/markdown.ts';
import { blocksOf } from '../test/docs/blocks.ts';
import { allow, newApi } from '../test/support/api-scopes.ts';
import {
  authorizeUrl,
  newClient,
  newSignedInUser,
  revokeOnPage,
  standard,
  type TestClient,
  tokensFor,
  walk,
} from '../test/support/flow.ts';
import { MINUTE } from '../test/support/outcome.ts';
import { startServer, type TestServer } from '../test/support/server.ts';
import { freePort, listening, Missing, type Program, report, run, stopAll } from './processes.ts';

const PAGE = 'docs/how-to/protect-your-api.md';
const cache = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'tessera-interop', 'apis');
const pathOf = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** The code that the page prints in a language. */
function printed(language: string): string {
  const block = blocksOf(PAGE).find((one) => one.language === language && one.text.includes('introspect'));
  if (block === undefined) throw new Error(`${PAGE} prints no ${language}`);
  return block.text;
}

/** How the code in each language is installed, in a folder of its own, and started. */
const LANGUAGES: Readonly<Record<string, (folder: string, port: number) => Promise<Program>>> = {
  async Express(folder) {
    const file = join(folder, 'api.mjs');
    writeFileSync(file, printed('js'));
    // Its packages are this repository's development dependencies.
    return { command: process.execPath, args: ['--input-type=module', '--eval', printed('js')], cwd: root };
  },
  async FastAPI(folder, port) {
    const python = join(folder, 'bin', 'python');
    if (!existsSync(python)) await run('python3', ['-m', 'venv', folder], { cwd: folder });
    const install = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--require-hashes', '-r'];
    await run(python, [...install, pathOf('clients/apis/fastapi/requirements.txt')], { cwd: folder });
    writeFileSync(join(folder, 'api.py'), printed('python'));
    return { command: python, args: ['-m', 'uvicorn', 'api:app', '--port', String(port)], cwd: folder };
  },
  async Go(folder) {
    writeFileSync(join(folder, 'main.go'), printed('go'));
    writeFileSync(join(folder, 'go.mod'), 'module notes\n\ngo 1.22\n');
    await run('go', ['build', '-o', 'api', '.'], { cwd: folder });
    return { command: join(folder, 'api'), args: [] };
  },
  async 'Spring Security'(folder) {
    const [code, settings] = [join(folder, 'src/main/java/notes'), join(folder, 'src/main/resources')];
    for (const path of [code, settings]) mkdirSync(path, { recursive: true });
    copyFileSync(pathOf('clients/apis/spring/pom.xml'), join(folder, 'pom.xml'));
    writeFileSync(join(code, 'App.java'), printed('java'));
    writeFileSync(join(settings, 'application.yaml'), printed('yaml'));
    await run('mvn', ['--batch-mode', '--quiet', 'package'], { cwd: folder });
    return { command: 'java', args: ['-jar', join(folder, 'target/app.jar')] };
  },
};

const EXAMPLES = 'examples/resource-server';

/** Those that also ask for a recent sign-in, publish their metadata, and are refused everything while the server is away. */
const BY_HAND: typeof LANGUAGES = {
  async 'Python by hand'() {
    return { command: 'python3', args: [join(root, EXAMPLES, 'resource_server.py')] };
  },
  async 'Go by hand'(folder) {
    await run('go', ['build', '-o', join(folder, 'api'), '.'], { cwd: join(root, EXAMPLES) });
    return { command: join(folder, 'api'), args: [] };
  },
};

/** Runs one API, and gives what it answered wrongly. */
async function wrongAnswers(name: string): Promise<readonly string[]> {
  const folder = join(cache, name.replaceAll(' ', '-'));
  mkdirSync(folder, { recursive: true });
  const port = await freePort();
  const program = await (LANGUAGES[name] ?? BY_HAND[name])?.(folder, port);
  if (program === undefined) throw new Error(`unknown ${name}`);
  const server = await startServer({ TESSERA_LIMIT_CLIENT_AUTH: 'off' });
  const resource = `https://notes.example.com${BY_HAND[name] === undefined ? '' : '/v1'}`;
  const api = { ...(await newApi(server, ['notes.read', 'notes.write'], { resource })), resource };
  const env = { ISSUER: server.baseUrl, RESOURCE: api.resource, CLIENT_ID: api.clientId, PORT: String(port) };
  const running = await listening({ ...program, env: { ...env, CLIENT_SECRET: api.clientSecret } }, port);
  try {
    const base = `http://127.0.0.1:${port}`;
    const wrong = await check(server, api, `${base}/notes`);
    if (BY_HAND[name] === undefined) {
      await server.close();
      return wrong;
    }
    const more = await checkMore(server, api, base);
    await server.close();
    const { status } = await fetch(`${base}/notes`, { headers: { authorization: 'Bearer anything' } });
    return [...wrong, ...more, ...(status === 503 ? [] : [`without the server: ${status}, not 503`])];
  } finally {
    await running.close();
  }
}

/** RFC 9728 and RFC 9470. */
async function checkMore(
  server: TestServer,
  api: Awaited<ReturnType<typeof newApi>>,
  base: string,
): Promise<readonly string[]> {
  const wrong: string[] = [];
  const path = '/.well-known/oauth-protected-resource';
  const expected = {
    resource: api.resource,
    authorization_servers: [server.baseUrl],
    scopes_supported: ['notes.read', 'notes.write'],
    bearer_methods_supported: ['header'],
  };
  for (const at of [path, path + new URL(api.resource).pathname]) {
    const answer = await fetch(base + at);
    if (!isDeepStrictEqual(answer.status === 200 && (await answer.json()), expected)) wrong.push(`metadata at ${at}`);
  }
  const challengeOf = async (method: string, token?: string) => {
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const answer = await fetch(`${base}/notes`, { method, headers });
    return `${answer.status} ${answer.headers.get('www-authenticate')}`;
  };
  const metadata = `resource_metadata="${new URL(api.resource).origin}${path}${new URL(api.resource).pathname}"`;
  const expect = async (what: string, answer: string, wanted: string) => {
    if (answer !== wanted) wrong.push(`${what}: ${answer}, not ${wanted}`);
  };
  const app: TestClient = standard(await newClient(server));
  await allow(server, api, app, ['notes.read', 'notes.write']);
  const newToken = async () => {
    const { user, browser } = await newSignedInUser(server);
    const parameters = { scope: 'openid notes.write', resource: api.resource };
    return (await tokensFor(server, app, user, parameters, { browser })).access_token;
  };
  // The APIs go by the time of this machine.
  const behind = Date.now() - server.now();
  if (behind > 0) server.advance(behind);
  else server.setBack(-behind);
  const recent = await newToken();
  await expect('no token', await challengeOf('GET'), `401 Bearer scope="notes.read", ${metadata}`);
  const rubbish = await challengeOf('GET', 'x');
  await expect('rubbish', rubbish, `401 Bearer error="invalid_token", scope="notes.read", ${metadata}`);
  const narrow = await challengeOf('GET', recent);
  await expect('a scope too few', narrow, `403 Bearer error="insufficient_scope", scope="notes.read", ${metadata}`);
  await expect('a recent sign-in', await challengeOf('DELETE', recent), '200 null');
  server.setBack(10 * MINUTE);
  const stale = await challengeOf('DELETE', await newToken());
  const stepUp = `401 Bearer error="insufficient_user_authentication", max_age="300", ${metadata}`;
  await expect('an old sign-in', stale, stepUp);
  return wrong;
}

async function check(
  server: TestServer,
  api: Awaited<ReturnType<typeof newApi>>,
  address: string,
): Promise<readonly string[]> {
  const wrong: string[] = [];
  const expect = async (what: string, token: string | undefined, read: number, write: number) => {
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
    for (const [method, wanted] of [['GET', read] as const, ['POST', write] as const]) {
      const { status } = await fetch(address, { method, headers });
      if (status !== wanted) wrong.push(`${method} with ${what}: ${status}, not ${wanted}`);
    }
  };
  const app: TestClient = standard(await newClient(server));
  const both = ['notes.read', 'notes.write'];
  await allow(server, api, app, both);
  const { user, browser } = await newSignedInUser(server);
  const scope = `openid ${both.join(' ')}`;
  const tokens = await tokensFor(server, app, user, { scope, resource: api.resource }, { browser });
  const withUserInfo = await tokensFor(server, app, user, { scope }, { browser });
  const reading = await tokensFor(
    server,
    app,
    user,
    { scope: 'openid notes.read', resource: api.resource },
    { browser },
  );
  const other = await tokensFor(server, app, user, { scope: 'openid' }, { browser });
  await expect('both scopes', tokens.access_token, 200, 200);
  await expect('both scopes, for UserInfo as well', withUserInfo.access_token, 200, 200);
  await expect('notes.read', reading.access_token, 200, 403);
  await expect('no token', undefined, 401, 401);
  await expect('an ID token', tokens.id_token, 401, 401);
  await expect('a refresh token', tokens.refresh_token, 401, 401);
  await expect('a token for UserInfo', other.access_token, 401, 401);
  await expect('no token of this server', 'undefined', 401, 401);
  await allow(server, api, app, ['notes.read']);
  await expect('notes.write that the API took away', tokens.access_token, 200, 403);
  await allow(server, api, app, both);
  await expect('notes.write that the API gave back', tokens.access_token, 200, 403);
  // The person leaves nothing on.
  await walk(browser, authorizeUrl(app, { scope, resource: api.resource, prompt: 'consent' }), { allow: [] });
  await expect('scopes that the person took away', reading.access_token, 403, 403);
  await revokeOnPage(browser, app);
  await expect('access that the person took away', reading.access_token, 401, 401);
  return wrong;
}

let failed = false;
const only = process.argv.slice(2).join(' ');
for (const name of [...Object.keys(LANGUAGES), ...Object.keys(BY_HAND)].filter((one) => one.includes(only))) {
  try {
    const wrong = await wrongAnswers(name);
    failed ||= wrong.length > 0;
    report(wrong.length === 0 ? `✔ ${name}` : `✖ ${name}\n  ${wrong.join('\n  ')}`);
  } catch (error) {
    failed = true;
    const text = error instanceof Error ? error.message : String(error);
    report(error instanceof Missing ? `- ${name}: skipped, ${text}` : `✖ ${name}: ${text}`);
  }
}
await stopAll();
process.exit(failed ? 1 : 0);
