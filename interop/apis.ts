/*
 * `npm run interop:apis`: runs the APIs that docs/how-to/protect-your-api.md prints, as they are printed, and sends each of them tokens of
 * every kind. It needs Python 3 with `venv`, Go, and Java 17 with Maven; what is missing is reported, and the exit code is 1.
 */
import { copyFileSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
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

/** Runs one API, and gives what it answered wrongly. */
async function wrongAnswers(name: string): Promise<readonly string[]> {
  const folder = join(cache, name.replaceAll(' ', '-'));
  mkdirSync(folder, { recursive: true });
  const port = await freePort();
  const program = await LANGUAGES[name]?.(folder, port);
  if (program === undefined) throw new Error(`unknown ${name}`);
  const server = await startServer({ TESSERA_LIMIT_CLIENT_AUTH: 'off' });
  const api = await newApi(server, ['notes.read', 'notes.write']);
  const env = { ISSUER: server.baseUrl, RESOURCE: api.resource, CLIENT_ID: api.clientId, PORT: String(port) };
  const running = await listening({ ...program, env: { ...env, CLIENT_SECRET: api.clientSecret } }, port);
  try {
    return await check(server, api, `http://localhost:${port}/notes`);
  } finally {
    await running.close();
    await server.close();
  }
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
for (const name of Object.keys(LANGUAGES)) {
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
