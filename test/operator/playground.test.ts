// store: SQLite, PostgreSQL with --all
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readConfig } from '../../src/settings/config.ts';
import { agent } from '../support/agent.ts';
import { admin, newUser } from '../support/flow.ts';
import { send, startBehind } from '../support/listening.ts';
import { authorize, json, press, wire } from '../support/playground.ts';
import { startServer } from '../support/server.ts';

test('decisions §7: on for loopback base URLs, off elsewhere, and as it is set', () => {
  const of = (TESSERA_BASE_URL: string, TESSERA_PLAYGROUND = '', more = {}) =>
    readConfig({ TESSERA_BASE_URL, TESSERA_PLAYGROUND, ...more }).playground;
  for (const local of ['', 'http://localhost:3000', 'https://127.0.0.1/auth', 'http://[::1]:9']) {
    assert.equal(of(local), true, local);
    assert.equal(of(local, 'off'), false, local);
  }
  assert.equal(of('https://id.example.com'), false);
  assert.equal(of('https://id.example.com', 'on'), true);
  assert.equal(of('http://10.0.0.1', '', { TESSERA_ALLOW_HTTP: '1' }), false);
  // No app may have a redirect URI there.
  assert.throws(() => of('http://10.0.0.1', 'on', { TESSERA_ALLOW_HTTP: '1' }), /TESSERA_PLAYGROUND is on/);
});

test('off, there is nothing at its addresses, and the page at the base URL does not lead there', async () => {
  const server = await startBehind('https://id.example.com');
  try {
    for (const path of ['/playground', '/playground/callback?state=x']) {
      assert.equal((await send(server.port, 'GET', path, { host: 'id.example.com' })).status, 404, path);
    }
    assert.equal((await send(server.port, 'POST', '/playground', { host: 'id.example.com' })).status, 404);
    const home = await send(server.port, 'GET', '/', { host: 'id.example.com' });
    assert.equal(home.status, 200);
    assert.doesNotMatch(home.text, /playground/);
    assert.match(home.text, /href="\/login"/);
    assert.equal(home.headers['set-cookie'], undefined);
  } finally {
    await server.close();
  }
});

test('on behind a proxy, with https and a path: the wire is this server’s own listener all the same', async () => {
  const base = '/auth';
  const server = await startBehind(`https://id.example.com${base}`, {
    TESSERA_PLAYGROUND: 'on',
    TESSERA_LIMIT_PLAYGROUND_ADDRESS: '1/h',
  });
  try {
    const node = `http://127.0.0.1:${server.port}`;
    const user = await newUser({ ...server, baseUrl: node + base });
    const browser = agent(server.baseUrl, () => node);
    const begun = await press(browser, 'start', undefined, base);
    const back = await authorize(browser, begun, user, { base });
    for (const act of ['tokens', 'userinfo', 'refresh', 'revoke']) await press(browser, act, undefined, base);
    const tokens = wire(await browser.get(`${base}/playground?step=tokens`));
    assert.match(tokens[0] ?? '', /^POST \/auth\/api\/v2\/oauth\/token HTTP\/1\.1\nHost: id\.example\.com\n/);
    assert.match(tokens[1] ?? '', /^HTTP\/1\.1 200 OK\n/);
    assert.match(tokens[1] ?? '', /\nstrict-transport-security: /);
    const ended = wire(await browser.get(`${base}/playground`));
    assert.match(ended[1] ?? '', /^HTTP\/1\.1 200 OK\n/);
    assert.equal(json(ended[3]).error_description, 'Access revoked by user');
    assert.ok(back.text.includes(`${server.baseUrl}/api/v2/oauth/token`), 'the commands name the base URL');

    const limited = await press(browser, 'start', undefined, base);
    assert.equal(limited.status, 429);
    assert.ok(Number(limited.headers.get('retry-after')) > 3000);
    const clients = await admin({ baseUrl: node + base }, 'GET', '/clients');
    assert.equal(clients.body.items.length, 1);
  } finally {
    await server.close();
  }
});

test('the page at the base URL leads a developer to the playground', async () => {
  const server = await startServer();
  try {
    const home = await agent(server.baseUrl).get('/');
    assert.match(home.text, /href="\/playground"/);
    assert.match(home.headers.get('content-security-policy') ?? '', /default-src 'none'/);
  } finally {
    await server.close();
  }
});
