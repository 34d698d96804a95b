import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { start } from '../../src/app.ts';
import { passwords } from '../../src/platform/crypto/passwords.ts';
import { readConfig } from '../../src/settings/config.ts';
import { agent } from '../../test/support/agent.ts';
import {
  admin,
  codeFor,
  newClient,
  newUser,
  refresh,
  revokeOnPage,
  signedIn,
  standard,
  tokensFor,
} from '../../test/support/flow.ts';
import { landscape } from '../../test/support/images.ts';
import { withPort } from '../../test/support/own-port.ts';
import { newPasskey } from '../../test/support/passkeys.ts';
import { press } from '../../test/support/playground.ts';
import { enroll } from '../../test/support/second-factor.ts';
import { ADMIN_KEY, BEGINNING, type TestServer } from '../../test/support/server.ts';

/** What people and apps hold when the release is replaced. */
export interface Held {
  readonly secret: string;
  readonly now: number;
  readonly username: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly redirectUri: string;
  readonly accessToken: string;
  readonly refreshToken: string;
  readonly code: string;
  readonly revokedToken: string;
  readonly session: string;
}

/** A server behind an address that is not its own, as behind a proxy, so that the address is the same whoever runs it. */
export async function serverOn(
  environment: Readonly<Record<string, string>>,
  clock: { now: number },
): Promise<TestServer> {
  const settings = { TESSERA_BASE_URL: 'http://localhost:4000', TESSERA_PORT: '0', TESSERA_LOG_LEVEL: 'silent' };
  const all = { ...settings, TESSERA_ADMIN_KEY: ADMIN_KEY, ...environment };
  const { opened, port } = await withPort(() =>
    start(readConfig(all), () => clock.now, {
      passwords: (concurrency) => passwords(concurrency, { memoryCost: 64, timeCost: 1 }),
      sharedTime: () => clock.now,
    }),
  );
  const node = `http://localhost:${port}`;
  return {
    baseUrl: settings.TESSERA_BASE_URL,
    nodes: [node],
    nodeInTurn: () => node,
    dataDir: environment['TESSERA_DATA_DIR'] ?? '',
    environment: all,
    now: () => clock.now,
    advance(milliseconds) {
      clock.now += milliseconds;
    },
    setBack(milliseconds) {
      clock.now -= milliseconds;
    },
    deliverNotices: () => opened.deliverNotices(),
    sendRequestedMail: () => opened.sendRequestedMail(),
    makeExports: () => opened.makeExports(),
    runBulkActs: () => opened.runBulkActs(),
    restart: () => Promise.reject(new Error('it is not started again')),
    close: () => opened.close(),
  };
}

/** Lets people and apps do a little of everything. Returns the path of the database, and what they hold. */
export async function live(secret: string): Promise<{ readonly path: string; readonly held: Held }> {
  const dataDir = mkdtempSync(join(tmpdir(), 'tessera-life-'));
  const clock = { now: BEGINNING };
  const server = await serverOn(
    { TESSERA_DATA_DIR: dataDir, TESSERA_SECRET: secret, TESSERA_MAILBOX: 'on', TESSERA_PLAYGROUND: 'on' },
    clock,
  );
  const { id: organizationId } = (
    await admin(server, 'POST', '/organizations', { name: 'acme', domain: 'acme.example' })
  ).body;
  const ada = await newUser(server);
  await admin(server, 'PUT', `/organizations/${organizationId}/members/${ada.id}`, { role: 'OWNER' });
  const [bo, cy, di] = [await newUser(server), await newUser(server), await newUser(server)];
  const [app, other] = [
    await newClient(server, { scopes: ['openid', 'profile', 'email', 'offline_access'] }),
    await newClient(server),
  ];
  const resource = 'https://api.example.com';
  await newClient(server, { resource });
  const service = await newClient(server, { grantTypes: ['client_credentials'] });
  const browser = await signedIn(server, ada);
  const choice = { browser };
  const first = await tokensFor(server, app, ada, {}, choice);
  const rotated = (await refresh(server, app, first.refresh_token)).body;
  const revoked = await tokensFor(server, other, ada, {}, choice);
  await revokeOnPage(browser, other);
  await tokensFor(server, standard(app), ada, { scope: 'openid profile offline_access', nonce: 'n' }, choice);
  await browser.get(
    `/api/v2/oauth/authorize?client_id=${other.clientId}&response_type=code&redirect_uri=${other.redirectUri}`,
  );
  await fetch(`${server.nodes[0]}/oidc/token`, {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: 'client_credentials',
      client_id: service.clientId,
      client_secret: service.clientSecret,
    }),
  });
  await newPasskey(server, bo.id);
  await enroll(server, cy);
  await admin(server, 'POST', '/invitations', { email: 'guest@example.com', organizationId });
  await admin(server, 'PUT', `/users/${di.id}/ban`, { reason: 'spam' });
  const picture = new File([new Uint8Array(await landscape().png())], 'p.png', { type: 'image/png' });
  await browser.upload(await browser.get('/account'), { picture }, '/account/picture');
  const visitor = agent(server.baseUrl, server.nodeInTurn);
  await press(visitor, 'start');
  const asking = agent(server.baseUrl, server.nodeInTurn);
  await asking.submit(await asking.get('/recover'), { identifier: bo.username });
  await server.sendRequestedMail();
  await asking.submit(await asking.get('/recover'), { identifier: cy.username });
  const half = agent(server.baseUrl, server.nodeInTurn);
  await half.submit(await half.get('/login'), { identifier: cy.username, password: 'correct horse battery' });
  const code = await codeFor(server, app, ada, {}, choice);
  const session = browser.cookie('tessera_session') ?? '';
  await server.close();
  const { clientId, clientSecret, redirectUri } = app;
  const held = {
    secret,
    now: clock.now,
    username: ada.username,
    clientId,
    clientSecret,
    redirectUri,
    accessToken: rotated.access_token,
    refreshToken: rotated.refresh_token,
    code,
    revokedToken: revoked.access_token,
    session,
  };
  return { path: join(dataDir, 'tessera.db'), held };
}
