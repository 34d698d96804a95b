/*
 * `npm run interop:groups`: runs clients with the settings that docs/how-to/connect-with-groups.md prints, for a person in the group and
 * for one outside. A client whose tools are missing is reported, and the exit code is 1.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { certificate, certificateKey } from '../test/support/certificate.ts';
import { admin, newClient, newUser, PASSWORD, type TestUser } from '../test/support/flow.ts';
import { startServer, type TestServer } from '../test/support/server.ts';
import { type Answer, type Browser, newBrowser, open } from './browser.ts';
import { GROUP_CLIENTS, type GroupClient } from './group-clients.ts';
import { pass } from './issuer.ts';
import { type GroupResult, groupsSection, withGroups } from './page.ts';
import { freePort, listen, Missing, report, stopAll } from './processes.ts';

const RECORD = new URL('../docs/reference/interop.md', import.meta.url);
const cache = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'tessera-interop');

const { only, record } = parseArgs({
  options: { only: { type: 'string', multiple: true }, record: { type: 'boolean', default: false } },
}).values;
const unknown = (only ?? []).filter((name) => !GROUP_CLIENTS.some((client) => client.name === name));
if (unknown.length > 0) {
  report(`Unknown client ${unknown.join(', ')}. Known: ${GROUP_CLIENTS.map(({ name }) => name).join(', ')}`);
  process.exit(2);
}

interface Issuer {
  readonly server: TestServer;
  close(): Promise<void>;
}

async function startIssuer({ https }: GroupClient): Promise<Issuer> {
  const port = await freePort();
  const secure =
    https === undefined
      ? undefined
      : await listen(
          createTlsServer(
            { cert: certificate, key: certificateKey },
            (request, reply) => void pass(request, reply, port),
          ),
        );
  const started = await startServer({
    TESSERA_LIMIT_CLIENT_AUTH: 'off',
    TESSERA_PORT: String(port),
    ...(secure !== undefined && { TESSERA_BASE_URL: `https://localhost:${secure.port}` }),
  });
  return {
    server: { ...started, nodeInTurn: () => `http://localhost:${port}` },
    async close() {
      await started.close();
      await secure?.close();
    },
  };
}

/** Its clock stands still, unlike that of the clients. */
const toTheMinute = (server: TestServer): void => server.advance(Date.now() - server.now());

/** Opens the page of an app as a person, through the pages of the issuer. */
async function visit({ path, begin }: GroupClient, port: number, user: TestUser): Promise<Answer> {
  const browser = newBrowser();
  const address = `http://localhost:${port}${path}`;
  let answer = await (begin ?? ((one: Browser, at: string) => one.get(at)))(browser, address);
  const { host } = new URL(address);
  for (let hop = 0; answer.location?.host === host && hop < 5; hop++) answer = await browser.get(answer.location.href);
  if (answer.location === undefined) throw new Error(`the app did not ask the issuer: ${answer.status} ${answer.text}`);
  const person = { id: user.id, username: user.username, displayName: '', email: '', password: PASSWORD };
  return open(browser, answer.location.href, person);
}

async function wrongAnswers(client: GroupClient, server: TestServer, folder: string): Promise<readonly string[]> {
  const [port, app] = [
    await freePort(),
    await listen(createServer((request, reply) => reply.end(JSON.stringify(request.headers)))),
  ];
  const registered = await newClient(server, {
    redirectUris: [`http://localhost:${port}${client.callback}`],
    scopes: ['openid', 'profile', 'email', 'groups'],
    ...(client.type !== undefined && { type: client.type }),
  });
  const { body: group } = await admin(server, 'POST', '/groups', { name: 'reporters' });
  await admin(server, 'POST', `/clients/${registered.clientId}/assignments`, { groupId: group.id });
  const member = await newUser(server, { emailVerified: true });
  const other = await newUser(server, { emailVerified: true });
  await admin(server, 'PUT', `/groups/${group.id}/members/${member.id}`);
  const running = await client.start(folder, { issuer: server.baseUrl, ...registered, port, upstream: app.port });
  const wrong: string[] = [];
  try {
    toTheMinute(server);
    const seen = await visit(client, port, member);
    if (!client.letsIn(seen)) wrong.push(`in the group: ${seen.status} ${seen.text.slice(0, 500)}`);
    toTheMinute(server);
    const refused = await visit(client, port, other);
    if (!client.keepsOut(refused)) wrong.push(`outside: ${refused.status} ${refused.text.slice(0, 500)}`);
    if (wrong.length > 0) wrong.push(running.said().slice(-3000));
  } finally {
    await running.close();
    await app.close();
  }
  return wrong;
}

async function result(client: GroupClient): Promise<GroupResult | undefined> {
  const folder = join(cache, 'groups', client.name.replaceAll(/[^\w.-]+/g, '-'));
  mkdirSync(folder, { recursive: true });
  try {
    const version = (await client.prepare(folder)) ?? client.version;
    // A new service for each client, so that no client depends on what an earlier one did.
    const { server, close } = await startIssuer(client);
    try {
      toTheMinute(server);
      const wrong = await wrongAnswers(client, server, folder);
      report(wrong.length === 0 ? `✔ ${client.name} ${version}` : `✖ ${client.name}\n  ${wrong.join('\n  ')}`);
      return wrong.length === 0 ? { client, version } : undefined;
    } finally {
      await close();
    }
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    report(error instanceof Missing ? `- ${client.name}: skipped, ${text}` : `✖ ${client.name}: ${text}`);
    return undefined;
  }
}

let failed = false;
const results: GroupResult[] = [];
for (const client of GROUP_CLIENTS) {
  if (only !== undefined && !only.includes(client.name)) continue;
  const one = await result(client);
  if (one === undefined) failed = true;
  else results.push(one);
}
if (record && results.length === GROUP_CLIENTS.length) {
  writeFileSync(RECORD, withGroups(readFileSync(RECORD, 'utf8'), groupsSection(results, new Date())));
  report('Recorded in docs/reference/interop.md');
} else if (record) {
  report('Not recorded: that takes a run of all clients, each of which passes');
  failed = true;
}
await stopAll();
process.exit(failed ? 1 : 0);
