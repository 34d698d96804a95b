import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { after, before, test } from 'node:test';
import { root } from '../../docs/site/markdown.ts';
import type { Agent } from '../support/agent.ts';
import {
  newClient,
  newUser,
  revokeOnPage,
  signedIn,
  type TestClient,
  type Tokens,
  tokensFor,
} from '../support/flow.ts';
import { startServer, type TestServer } from '../support/server.ts';
import { blocksOf } from './blocks.ts';

// The code for Express in docs/how-to/protect-your-api.md, as the API that it describes.

const RESOURCE = 'https://api.example.com/notes';

let server: TestServer;
let app: TestClient;
let browser: Agent;
let api: ChildProcess;
let origin = '';
let tokens: Tokens;

before(async () => {
  server = await startServer();
  const itself = await newClient(server, { resource: RESOURCE, grantTypes: ['client_credentials'] });
  app = { ...(await newClient(server, { idTokenSignedResponseAlg: 'RS256' })), face: 'standard' };
  const user = await newUser(server);
  browser = await signedIn(server, user);
  tokens = await tokensFor(server, app, user, { resource: RESOURCE, scope: 'openid profile' }, { browser });
  const code = blocksOf('docs/how-to/protect-your-api.md').find(({ language }) => language === 'js')?.text ?? '';
  api = spawn(process.execPath, ['--input-type=module', '--eval', code], {
    cwd: root,
    env: {
      PATH: process.env['PATH'],
      ISSUER: server.baseUrl,
      RESOURCE,
      CLIENT_ID: itself.clientId,
      CLIENT_SECRET: itself.clientSecret,
      PORT: '0',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [said] = await once(api.stdout ?? api, 'data');
  origin = `http://localhost:${/port (\d+)/.exec(String(said))?.[1]}`;
});
after(async () => {
  const closed = once(api, 'close');
  api.kill();
  await Promise.all([closed, server.close()]);
});

const call = async (path: string, token?: string): Promise<number> =>
  (await fetch(origin + path, token === undefined ? {} : { headers: { authorization: `Bearer ${token}` } })).status;

test('a token for the API is accepted, without the scope for one operation and not for the other', async () => {
  assert.equal(await call('/notes', tokens.access_token), 200);
  assert.equal(await call('/contacts', tokens.access_token), 403);
});

test('no token, an ID token, a refresh token and a token for another server are rejected', async () => {
  const other = await tokensFor(server, app, await newUser(server), { scope: 'openid' });
  assert.equal(await call('/notes'), 401);
  for (const token of [tokens.id_token, tokens.refresh_token, other.access_token, 'undefined']) {
    assert.equal(await call('/notes', token), 401);
  }
});

test('a revoked token is rejected at the next request', async () => {
  await revokeOnPage(browser, app);
  assert.equal(await call('/notes', tokens.access_token), 401);
});
