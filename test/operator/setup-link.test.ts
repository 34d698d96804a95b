// store: SQLite
/** The link that a first start prints, and the command that makes another: decisions §13. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { agent } from '../support/agent.ts';
import { ADMIN_KEY } from '../support/server.ts';
import { type RunningServer, serve, tessera } from './command.ts';

const folder = mkdtempSync(join(tmpdir(), 'tessera-setup-'));
after(() => rmSync(folder, { recursive: true, force: true }));
const fresh = (): Record<string, string> => ({ TESSERA_DATA_DIR: mkdtempSync(join(folder, 'data-')) });
const linkIn = (text: string): string => /\S+\/setup\?link=([\w-]{43})$/m.exec(text)?.[0].trim() ?? '';

/** Creates the owner's account by a link. */
async function setUp({ baseUrl }: RunningServer, link: string): Promise<number> {
  const browser = agent(baseUrl);
  const fields = { displayName: 'Ada', username: 'ada', email: 'ada@example.com', password: 'correct horse battery' };
  return (await browser.submit(await browser.get(link.slice(baseUrl.length)), fields, '/setup')).status;
}

for (const processes of ['1', '2']) {
  test(`a first start of ${processes} process(es) prints the link, and a later one, with an owner, does not`, async () => {
    const env = { ...fresh(), TESSERA_LOG_LEVEL: 'info' };
    const server = await serve({ env }, ['--processes', processes]);
    const link = linkIn(server.greeting);
    assert.ok(link.startsWith(`${server.baseUrl}/setup?link=`), server.greeting);
    assert.equal(await setUp(server, link), 303);
    await server.stop();
    assert.ok(!(await server.errors()).includes(link.slice(-43)));
    const later = await serve({ env }, ['--processes', processes]);
    assert.equal(linkIn(later.greeting), '');
    await later.stop();
    const { code, stderr } = await tessera(['setup-link'], { env });
    assert.equal(code, 1);
    assert.match(stderr, /has an owner.* tessera user grant-role <user> owner/);
  });
}

test('with an admin key there is no link at the start; the command makes one, which ends the one before', async () => {
  const env = { ...fresh(), TESSERA_ADMIN_KEY: ADMIN_KEY };
  const server = await serve({ env });
  assert.equal(linkIn(server.greeting), '');
  const { port } = new URL(server.baseUrl);
  const make = async () => (await tessera(['setup-link', '--port', port, '--json'], { env })).stdout;
  const [first, second] = [JSON.parse(await make()).url, JSON.parse(await make()).url];
  assert.equal((await agent(server.baseUrl).get(first.slice(server.baseUrl.length))).status, 410);
  assert.equal(await setUp(server, second), 303);
  await server.stop();
});

test('with the default base URL the page answers to this machine alone', async () => {
  const server = await serve({ env: fresh() });
  const path = linkIn(server.greeting).slice(server.baseUrl.length);
  const far = await fetch(server.baseUrl + path, {
    headers: { 'x-forwarded-for': '203.0.113.7', accept: 'text/html' },
  });
  assert.equal(far.status, 403);
  assert.match(await far.text(), /Open this link on the server itself.*TESSERA_BASE_URL/s);
  assert.equal((await agent(server.baseUrl).get(path)).status, 200);
  await server.stop();
});
