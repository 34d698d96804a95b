// store: SQLite
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { after, before, test } from 'node:test';
import { root } from '../../docs/site/markdown.ts';
import type { Agent } from '../support/agent.ts';
import { allow, described } from '../support/api-scopes.ts';
import {
  authorizeUrl,
  newClient,
  newUser,
  redeem,
  revokeOnPage,
  signedIn,
  type TestClient,
  type Tokens,
  tokensFor,
} from '../support/flow.ts';
import { enroll, totpCode, typeCode } from '../support/second-factor.ts';
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
  const itself = await newClient(server, {
    resource: RESOURCE,
    resourceScopes: described(['notes.read', 'notes.write']),
    grantTypes: ['client_credentials'],
  });
  app = { ...(await newClient(server, { idTokenSignedResponseAlg: 'RS256' })), endpointSet: 'oidc' };
  await allow(server, itself, app, ['notes.read', 'notes.write']);
  const user = await newUser(server);
  browser = await signedIn(server, user);
  tokens = await tokensFor(server, app, user, { resource: RESOURCE, scope: 'openid notes.read' }, { browser });
  const code = blocksOf('docs/how-to/protect-your-api.md').find(({ language }) => language === 'js')?.text ?? '';
  // The clock of the server stands still, at another time.
  const atSameTime = `Date.now = () => ${server.now()};\n${code}`;
  api = spawn(process.execPath, ['--input-type=module', '--eval', atSameTime], {
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

const call = async (path: string, token?: string, method = 'GET'): Promise<number> => {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  return (await fetch(origin + path, { method, headers })).status;
};

test('a token for the API is accepted, without the scope for one operation and not for the other', async () => {
  assert.equal(await call('/notes', tokens.access_token), 200);
  assert.equal(await call('/notes', tokens.access_token, 'POST'), 403);
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

test('RFC 9470: a challenge leads through authorization with a code of the authenticator app to the answer', async () => {
  const user = await newUser(server);
  const person = await signedIn(server, user);
  const factor = await enroll(server, user);
  const asked = { resource: RESOURCE, scope: 'openid notes.read' };
  const first = await tokensFor(server, app, user, asked, { browser: person });
  const refused = await fetch(`${origin}/payments`, { headers: { authorization: `Bearer ${first.access_token}` } });
  assert.equal(refused.status, 401);
  const challenge = refused.headers.get('www-authenticate') ?? '';
  const member = (name: string) => new RegExp(`${name}="([^"]*)"`).exec(challenge)?.[1] ?? '';
  assert.equal(member('error'), 'insufficient_user_authentication');
  const stronger = { ...asked, acr_values: member('acr_values'), max_age: member('max_age') };
  const sent = await person.get(authorizeUrl(app, stronger));
  assert.equal(sent.location?.pathname, '/login/verify', sent.text);
  const page = await person.get(sent.location?.href ?? '');
  server.advance(60_000);
  const answer = await typeCode(person, page, totpCode(factor, server.now()));
  // The person has consented before.
  const { body } = await redeem(server, app, answer.location?.searchParams.get('code') ?? '', asked);
  assert.equal(await call('/payments', body.access_token), 200);
  assert.equal(await call('/payments', first.access_token), 401, 'tokens from before say what happened before');
});
