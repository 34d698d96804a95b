// store: SQLite, PostgreSQL with --all
/** What a developer sees in the terminal while their app is refused: in that of the server, and in another one. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { readConfig } from '../../src/settings/config.ts';
import { admin, newClient, redeem, type TestClient } from '../support/flow.ts';
import { startServer } from '../support/server.ts';
import { following, serve, tessera } from './command.ts';

const folder = mkdtempSync(join(tmpdir(), 'tessera-development-'));
after(() => rmSync(folder, { recursive: true, force: true }));

test('on for a base URL on a loopback host, off elsewhere, and as it is set', () => {
  const of = (TESSERA_BASE_URL: string, TESSERA_DEVELOPMENT = '') =>
    readConfig({ TESSERA_BASE_URL, TESSERA_DEVELOPMENT }).development;
  for (const local of ['', 'http://localhost:3000', 'https://127.0.0.1/auth']) {
    assert.equal(of(local), true, local);
    assert.equal(of(local, 'off'), false, local);
  }
  assert.equal(of('https://id.example.com'), false);
  assert.equal(of('https://id.example.com', 'on'), true);
});

/** What a server prints to its standard error while an app sends a code that is none. */
async function printed(env: Readonly<Record<string, string>>): Promise<string> {
  const settings = { TESSERA_DATA_DIR: mkdtempSync(join(folder, 'data-')), ...env };
  const server = await serve({ env: settings });
  const made = await tessera(
    ['client', 'create', '--name', 'My app', '--redirect-uri', 'https://app.example.com/cb', '--json'],
    { env: settings },
  );
  const { clientId: client_id, clientSecret: client_secret } = JSON.parse(made.stdout);
  const body = new URLSearchParams({
    ...{ grant_type: 'authorization_code', code: 'undefined', redirect_uri: 'https://app.example.com/cb' },
    ...{ client_id, client_secret },
  });
  const response = await fetch(`${server.baseUrl}/oidc/token`, { method: 'POST', body });
  assert.equal(response.status, 400);
  await server.stop();
  const errors = await server.errors();
  return errors.replaceAll(client_id, 'CLIENT').replaceAll(response.headers.get('x-request-id') ?? '-', 'REQUEST');
}

test('the server prints one line for a refused request, with the remedy and the command for the trace', async () => {
  const line =
    /^✗ \d\d:\d\d:\d\d token \(400 invalid_grant\) app CLIENT: .*undefined.* More: npx tessera explain REQUEST --data-dir \S+$/m;
  assert.match(await printed({}), line);
  assert.doesNotMatch(await printed({ TESSERA_DEVELOPMENT: 'off' }), /✗/);
});

test('traces --follow prints what comes, for one app, until it is stopped', async () => {
  const server = await startServer();
  try {
    const [mine, other] = await Promise.all([newClient(server), newClient(server)]);
    const wrong = async (client: TestClient): Promise<string> =>
      (await redeem(server, client, 'undefined')).headers.get('x-request-id') ?? '';
    // The command prints what there is already, and then what comes.
    const before = await wrong(mine);
    const shown = async (id: string, next: () => Promise<string>) => {
      const line = await next();
      assert.ok(line.includes(`app ${mine.clientId}: `) && line.endsWith(`More: tessera explain ${id}`), line);
    };
    // The server stores what waits before it answers.
    await admin(server, 'GET', `/traces/${before}`);
    const follower = following(['traces', '--follow', '--client', mine.clientId], { env: server.environment });
    try {
      await shown(before, follower.next);
      await wrong(other);
      await shown(await wrong(mine), follower.next);
    } finally {
      await follower.stop();
    }
  } finally {
    await server.close();
  }
});
