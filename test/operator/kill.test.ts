// store: SQLite, PostgreSQL
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { type Node, openService, type Service, startNode } from '../../lab/faults/service.ts';
import type { Finding } from '../../src/operations/doctor/finding.ts';
import { type Agent, type Answer, agent } from '../support/agent.ts';
import { assertInvalidGrant, assertInvalidToken } from '../support/api-call.ts';
import {
  admin,
  authorizeUrl,
  newClient,
  newUser,
  PASSWORD,
  redeem,
  refresh,
  type TestClient,
  type TestUser,
  type Tokens,
  userinfo,
  walk,
} from '../support/flow.ts';
import { ownDatabase } from '../support/postgres-database.ts';
import { totpCode } from '../support/second-factor.ts';
import type { TestServer } from '../support/server.ts';
import { tessera } from './command.ts';

// RT-13: what ends every token has done so before it answers. The process is killed as soon as the answer is there, and another
// one on the same data knows.

let service: Service;
let node: Node;
let server: TestServer;
let client: TestClient;
let database: Awaited<ReturnType<typeof ownDatabase>>;
const dataDir = mkdtempSync(join(tmpdir(), 'tessera-kill-'));
before(async () => {
  database = await ownDatabase();
  service = await openService({ TESSERA_DATA_DIR: dataDir, ...database?.environment });
  await startAnother();
  // What the calls of the flow need of a server is where it is.
  server = { baseUrl: service.baseUrl } as TestServer;
  client = await newClient(server);
});
after(async () => {
  await node.kill();
  await service.close();
  await database?.drop();
  rmSync(dataDir, { recursive: true, force: true });
});

async function startAnother(): Promise<void> {
  node = await startNode({ settings: service.settings });
  service.front.targets = [node.port];
}

interface Party {
  readonly user: TestUser;
  readonly browser: Agent;
  readonly tokens: Tokens;
}
async function party(prepare?: (browser: Agent) => Promise<unknown>): Promise<Party> {
  const user = await newUser(server, { emailVerified: true });
  const browser = agent(service.baseUrl);
  if (prepare !== undefined) {
    await browser.submit(await browser.get('/login'), { identifier: user.username, password: PASSWORD }, '/login');
    await prepare(browser);
  }
  const target = await walk(browser, authorizeUrl(client), { user });
  const { status, body } = await redeem(server, client, target.searchParams.get('code') ?? '');
  assert.equal(status, 200);
  return { user, browser, tokens: body };
}

const AUTHENTICATOR = '/account/security/authenticator';
/** Opens the page that sets up an authenticator app, and returns what sends its form. */
async function authenticatorForm(browser: Agent): Promise<() => Promise<Answer>> {
  const page = await browser.get(AUTHENTICATOR);
  const seed = /secret=([A-Z2-7]{32})/.exec(page.text)?.[1] ?? '';
  return () => browser.submit(page, { code: totpCode({ seed }, Date.now()) }, AUTHENTICATOR);
}

interface Event {
  /** What the person has done before the tokens are issued. */
  readonly before?: (browser: Agent) => Promise<unknown>;
  /** The form is ready to be sent, so that its answer is the last thing that happens. */
  readonly prepare: (at: Party) => Promise<() => Promise<{ readonly status: number }>>;
  readonly stays?: true;
}
/** What ends all tokens of an account, and whether the browser that does it stays signed in. */
const EVENTS: Readonly<Record<string, Event>> = {
  'a new password by the person': {
    prepare: async ({ browser }) => {
      const page = await browser.get('/account/security');
      return () => browser.submit(page, { current: PASSWORD, password: 'a new passphrase' }, '/account/password');
    },
    stays: true,
  },
  'a new password by an operator': {
    prepare:
      async ({ user }) =>
      () =>
        admin(server, 'PATCH', `/users/${user.id}`, { password: 'a new passphrase' }),
  },
  'signing out everywhere': {
    prepare: async ({ browser }) => {
      const page = await browser.get('/account/security');
      return () => browser.submit(page, {}, '/account/sign-out-everywhere');
    },
  },
  'setting up an authenticator app': { prepare: ({ browser }) => authenticatorForm(browser), stays: true },
  'removing the authenticator app': {
    before: async (browser) => assert.equal((await (await authenticatorForm(browser))()).status, 200),
    prepare: async ({ browser }) => {
      const page = await browser.get('/account/security');
      return () => browser.submit(page, {}, `${AUTHENTICATOR}/remove`);
    },
    stays: true,
  },
};

for (const [name, { before: first, prepare, stays }] of Object.entries(EVENTS)) {
  test(`RT-13: tokens from before ${name} are dead after kill -9 right behind its answer`, async () => {
    const [one, bystander] = [await party(first), await party()];
    const happen = await prepare(one);
    const { status } = await happen();
    await node.kill();
    assert.equal(status, 200);
    service.front.targets = [];
    await startAnother();
    assertInvalidToken(await userinfo(server, one.tokens.access_token));
    assertInvalidGrant(await refresh(server, client, one.tokens.refresh_token));
    assert.equal((await one.browser.get('/account/security')).status, stays ? 200 : 302);
    assert.equal((await userinfo(server, bystander.tokens.access_token)).status, 200);
    assert.equal((await refresh(server, client, bystander.tokens.refresh_token)).status, 200);
  });
}

test('the node numbers of nodes that were killed are free for those that come after them', async () => {
  for (let life = 0; life < 4; life++) {
    await newUser(server);
    await node.kill();
    service.front.targets = [];
    await startAnother();
  }
  await newUser(server);
  const { stdout } = await tessera(['doctor', '--json'], { env: service.settings });
  const { findings } = JSON.parse(stdout) as { findings: Finding[] };
  const numbers = findings.filter(({ check }) => check === 'node-numbers');
  assert.deepEqual(
    numbers.map(({ found }) => found.replace(/,.*/, '')),
    ['1 of 1024 node numbers are leased'],
  );
});
