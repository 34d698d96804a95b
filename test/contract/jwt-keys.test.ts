// store: SQLite, PostgreSQL with --all
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { after, before, beforeEach, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { dropSigningKey, rotateSigningKey } from '../../src/keys/signing-keys.ts';
import type { Agent } from '../support/agent.ts';
import { assertInvalidGrant, assertInvalidToken } from '../support/api-call.ts';
import {
  codeFor,
  newClient,
  newUser,
  redeem,
  refresh,
  signedIn,
  type TestClient,
  type TestUser,
  type Tokens,
  tokensFor,
  userinfo,
} from '../support/flow.ts';
import { forge, parts, realKeys, withData } from '../support/forged-token.ts';
import { startServer, type TestServer } from '../support/server.ts';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const origin = { actor: { type: 'cli', id: null }, address: null, requestId: null } as const;

let server: TestServer;
let client: TestClient;
let user: TestUser;
let browser: Agent;
let tokens: Tokens;
before(async () => {
  server = await startServer();
  client = await newClient(server);
  user = await newUser(server);
});
beforeEach(async () => {
  browser = await signedIn(server, user);
  tokens = await tokensFor(server, client, user, {}, { browser });
});
after(() => server.close());

const kidOf = (token: string): string => String(parts(token).header['kid']);
/** As the command line does it: another process on the same data, while the server runs. */
const rotate = () =>
  withData(server, ({ database, secret, clock }) => rotateSigningKey(database, secret, origin, clock()));
const drop = (kid: string) =>
  withData(server, ({ database, secret, clock }) => dropSigningKey(database, secret, kid, origin, clock()));
const status = async (token: string) => (await userinfo(server, token)).status;

async function renewed(token: string): Promise<Tokens> {
  const answer = await refresh(server, client, token);
  assert.equal(answer.status, 200, JSON.stringify(answer.body));
  return answer.body;
}

describe('JW-15: rotation without an outage', () => {
  test('the new key signs from the next request on; tokens of the old one are good', async () => {
    const kid = await rotate();
    assert.equal(await status(tokens.access_token), 200);
    const next = await renewed(tokens.refresh_token);
    assert.notEqual(kidOf(tokens.access_token), kid);
    assert.equal(kidOf(next.access_token), kid);
    assert.equal(kidOf(next.refresh_token), kid);
    for (const token of [tokens.access_token, next.access_token]) assert.equal(await status(token), 200);
    await server.restart();
    for (const token of [tokens.access_token, next.access_token]) assert.equal(await status(token), 200);
  });

  test('the code exchange too signs with the new key at once', async () => {
    const code = await codeFor(server, client, user, {}, { browser });
    const kid = await rotate();
    const answer = await redeem(server, client, code);
    assert.equal(answer.status, 200);
    assert.equal(kidOf(answer.body.access_token), kid);
    assert.equal(kidOf(answer.body.refresh_token), kid);
  });

  test('decisions §4: a repetition in the grace window keeps the exact refresh token, its kid included', async () => {
    const next = await renewed(tokens.refresh_token);
    const kid = await rotate();
    const again = await renewed(tokens.refresh_token);
    assert.equal(again.refresh_token, next.refresh_token);
    assert.equal(kidOf(again.access_token), kid);
    await server.restart();
    assert.equal((await renewed(tokens.refresh_token)).refresh_token, next.refresh_token);
  });

  test('a retired key verifies until its last refresh token has expired', async () => {
    await rotate();
    server.advance(7 * DAY - 2000);
    await server.restart();
    await renewed(tokens.refresh_token);
  });

  test('ten rotations in a row lose no token', async () => {
    const sets = [tokens];
    for (let i = 0; i < 10; i++) {
      await rotate();
      sets.push(await renewed(sets.at(-1)?.refresh_token ?? ''));
    }
    assert.equal(new Set(sets.map(({ access_token }) => kidOf(access_token))).size, 11);
    for (const { access_token } of sets) assert.equal(await status(access_token), 200);
  });

  test('only the new key may sign under the new kid', async () => {
    const before = await realKeys(server);
    await rotate();
    const after = await realKeys(server);
    assert.notEqual(before.kid, after.kid);
    const { header, claims } = parts((await renewed(tokens.refresh_token)).access_token);
    assertInvalidToken(await userinfo(server, forge(header, claims, before.access)));
    assertInvalidToken(await userinfo(server, forge({ ...header, kid: before.kid }, claims, after.access)));
    assert.equal(await status(forge(header, claims, after.access)), 200);
  });
});

describe('JW-15: dropping a key', () => {
  test('the current one: every token of it is dead from the next request on, and another signs', async () => {
    const kid = kidOf(tokens.access_token);
    const code = await codeFor(server, client, user, {}, { browser });
    assert.equal(await drop(kid), true);
    assertInvalidToken(await userinfo(server, tokens.access_token));
    assertInvalidGrant(await refresh(server, client, tokens.refresh_token));
    const answer = await redeem(server, client, code);
    assert.equal(answer.status, 200);
    assert.notEqual(kidOf(answer.body.access_token), kid);
    assert.equal(await status(answer.body.access_token), 200);
    await server.restart();
    assertInvalidToken(await userinfo(server, tokens.access_token));
    assert.equal(await status(answer.body.access_token), 200);
  });

  test('a retired one: its tokens die, those of the others live on', async () => {
    const old = kidOf(tokens.access_token);
    await rotate();
    const next = await renewed(tokens.refresh_token);
    assert.equal(await drop(old), true);
    assertInvalidToken(await userinfo(server, tokens.access_token));
    assertInvalidGrant(await refresh(server, client, tokens.refresh_token));
    assert.equal(await status(next.access_token), 200);
    await renewed(next.refresh_token);
  });

  test('inside the grace window the successor of a dropped key is not written again', async () => {
    await rotate();
    const next = await renewed(tokens.refresh_token);
    assert.equal(await drop(kidOf(next.refresh_token)), true);
    const again = await refresh(server, client, tokens.refresh_token);
    if (again.status === 200) assert.notEqual(again.body.refresh_token, next.refresh_token);
    else assertInvalidGrant(again);
    assertInvalidGrant(await refresh(server, client, next.refresh_token));
  });

  test('an unknown one changes nothing', async () => {
    assert.equal(await drop('unknown'), false);
    assert.equal(await status(tokens.access_token), 200);
  });
});

describe('the command line rotates and drops while the server runs', () => {
  const environment = () => ({ PATH: process.env['PATH'] ?? '', ...server.environment });
  const tessera = async (...args: string[]) => {
    const { stdout } = await promisify(execFile)(process.execPath, ['bin/tessera.js', '--json', ...args], {
      cwd: new URL('../..', import.meta.url),
      env: environment(),
    });
    return JSON.parse(stdout);
  };
  test('tessera keys rotate, tessera keys drop', async () => {
    const { kid } = await tessera('keys', 'rotate');
    const next = await renewed(tokens.refresh_token);
    assert.equal(kidOf(next.access_token), kid);
    await tessera('keys', 'drop', kid, '--yes');
    assertInvalidToken(await userinfo(server, next.access_token));
    assert.equal(await status(tokens.access_token), 200);
  });
});
