// store: SQLite, PostgreSQL with --all
/** Decisions §15: what strangers send of apps that nobody registered makes nothing grow without bound. It is counted, not timed. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, describe, test } from 'node:test';
import { DEVICE_GRANT } from '../../src/clients/rules/registration.ts';
import { HOUR, MINUTE } from '../../src/platform/clock.ts';
import { randomSecret } from '../../src/platform/crypto/secrets.ts';
import { agent } from '../support/agent.ts';
import { assertInvalidGrant } from '../support/api-call.ts';
import { appKey, proofOf } from '../support/assertion.ts';
import { askAsDevice, newDeviceClient } from '../support/devices.ts';
import {
  authorizeUrl,
  codeFor,
  newClient,
  newUser,
  signedIn,
  standard,
  type TestClient,
  tokenCall,
} from '../support/flow.ts';
import { everyRow, query } from '../support/outcome.ts';
import { registerSelf } from '../support/registration.ts';
import { startServer } from '../support/server.ts';

const MOST = 6;
const server = await startServer({
  TESSERA_CLIENT_METADATA: 'open',
  TESSERA_REGISTRATION: 'open',
  TESSERA_LIMIT_METADATA_ADDRESS: `${MOST}/m`,
  TESSERA_LIMIT_REGISTRATION_ADDRESS: `${MOST}/h`,
  TESSERA_LIMIT_DEVICE_ADDRESS: `${MOST}/m`,
  // Their rows are in rings, of which another test counts the places.
  TESSERA_TRACE_RETENTION: 'off',
});
after(() => server.close());

/** A host of strangers that answers nothing until it is told to, and counts its connections. */
async function startSlowHost() {
  const waiting = new Set<ServerResponse>();
  const state = { open: 0, most: 0, requests: 0 };
  const http = createServer((_request, response) => {
    state.requests++;
    waiting.add(response);
  });
  http.on('connection', (socket) => {
    state.most = Math.max(state.most, ++state.open);
    socket.on('close', () => state.open--);
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  after(() => {
    http.closeAllConnections();
    return new Promise((resolve) => http.close(resolve));
  });
  const { port } = http.address() as AddressInfo;
  return Object.assign(state, {
    origin: `http://127.0.0.1:${port}`,
    /** Answers what waits and what comes until a request of our own is done. */
    async answering<T>(work: Promise<T>): Promise<T> {
      const answer = () => {
        for (const response of waiting) response.writeHead(404).end();
        waiting.clear();
      };
      http.on('request', answer);
      answer();
      return work.finally(() => http.off('request', answer));
    },
  });
}

/** How many rows each table has, and how many bytes they are as text. */
async function sizes(): Promise<Record<string, { readonly rows: number; readonly bytes: number }>> {
  const tables = Object.entries(await everyRow(server));
  return Object.fromEntries(
    tables.map(([name, rows]) => [name, { rows: rows.length, bytes: JSON.stringify(rows).length }]),
  );
}

test('an anonymous flood of metadata, registrations, keys and devices: rows, bytes and sockets stay within the bounds', async () => {
  const host = await startSlowHost();
  const key = await appKey();
  const device = await newDeviceClient(server);
  const stranger = agent(server.baseUrl);
  let made = 0;

  async function wave(): Promise<void> {
    const numbers = Array.from({ length: 30 }, () => ++made);
    const registered = await Promise.all(
      numbers.map((n) => {
        const jwks_uri = `${host.origin}/keys-${n}.json`;
        return registerSelf(server, { token_endpoint_auth_method: 'private_key_jwt', jwks_uri });
      }),
    );
    const documents = numbers.map((n) => {
      const clientId = `${host.origin}/app-${n}.json`;
      const app = { clientId, clientSecret: '', redirectUri: 'https://a.example/', endpointSet: 'oidc' } as const;
      return stranger.get(authorizeUrl(app, { scope: 'openid' }));
    });
    const keys = registered
      .filter(({ status }) => status === 201)
      .map(async ({ body }) => {
        const grant = { grant_type: 'refresh_token', refresh_token: 'x' };
        const proof = await proofOf(server, body.client_id, key);
        return tokenCall(server, { ...grant, ...proof }, { endpointSet: 'oidc' });
      });
    // All others are under way while the host is silent.
    await Promise.all(numbers.map(() => askAsDevice(server, device)));
    await host.answering(Promise.all([...documents, ...keys]));
  }

  const begun = await sizes();
  await wave();
  const first = await sizes();
  for (const [name, { rows }] of Object.entries(first)) {
    const added = rows - (begun[name]?.rows ?? 0);
    // Counts, apps, devices and their events: nothing has more rows than the limits let through, and a few that say what was refused.
    assert.ok(added <= 4 * MOST, `${name} has ${added} more rows`);
  }
  assert.ok(host.most <= 4, `two for documents and two for keys, and there were ${host.most}`);
  const { requests } = host;
  assert.ok(requests <= 2 * MOST, `${requests} requests reached the host`);
  await wave();
  const second = await sizes();
  await wave();
  assert.deepEqual(await sizes(), second);
  assert.equal(host.requests, requests, 'nothing more is fetched');
  assert.ok(host.most <= 4, `${host.most}`);
});

describe('a stranger who guesses as a public client', () => {
  const CODE = { grant_type: 'authorization_code', redirect_uri: 'https://app.example.com/callback' };
  const VERIFIER = 'v'.repeat(43);
  const code_challenge = createHash('sha256').update(VERIFIER).digest('base64url');
  const open = { type: 'public', grantTypes: ['authorization_code', 'refresh_token', DEVICE_GRANT] };

  async function eventsOf({ clientId }: TestClient): Promise<readonly unknown[]> {
    const rows = await query(
      server,
      `SELECT type, details FROM audit_event WHERE client_id = '${clientId}' AND outcome = 'failure' ORDER BY id`,
    );
    return rows.map(({ type, details }) => {
      const { reason, leftOut } = JSON.parse(String(details ?? '{}'));
      return [type, reason, leftOut].filter((part) => part !== undefined).join(', ');
    });
  }

  const ofCodes = 'token.refused, the code is unknown or was used before';

  test('leaves one event of each kind in a minute, and the next says how many were left out', async () => {
    const app = standard(await newClient(server, open));
    const guess = (fields: Readonly<Record<string, string>>) =>
      tokenCall(server, { client_id: app.clientId, ...fields }, app);
    for (let n = 0; n < 10; n++) {
      assertInvalidGrant(await guess({ ...CODE, code: `guess${n}` }));
      assertInvalidGrant(await guess({ grant_type: 'refresh_token', refresh_token: `guess${n}` }));
      assertInvalidGrant(await guess({ grant_type: DEVICE_GRANT, device_code: randomSecret() }));
      assert.equal((await guess({ grant_type: 'client_credentials' })).body.error, 'unauthorized_client');
    }
    const kinds = await eventsOf(app);
    assert.equal(kinds.length, 4, kinds.join('; '));
    assert.equal(new Set(kinds).size, 4);
    assert.ok(kinds.includes(ofCodes), kinds.join('; '));
    server.advance(MINUTE);
    assertInvalidGrant(await guess({ ...CODE, code: 'guess' }));
    assert.equal((await eventsOf(app)).at(-1), `${ofCodes}, 9`);
  });

  test('and so does an app that registered itself, but not one that an operator registered', async () => {
    server.advance(HOUR);
    const { body } = await registerSelf(server, { redirect_uris: [CODE.redirect_uri] });
    const own = { client_id: body.client_id, client_secret: body.client_secret };
    const registered = await newClient(server);
    const vouched = { client_id: registered.clientId, client_secret: registered.clientSecret };
    for (let n = 0; n < 3; n++) {
      assertInvalidGrant(await tokenCall(server, { ...CODE, ...own, code: `guess${n}` }, { endpointSet: 'oidc' }));
      assertInvalidGrant(await tokenCall(server, { ...CODE, ...vouched, code: `guess${n}` }));
    }
    assert.deepEqual(await eventsOf({ ...registered, clientId: body.client_id }), [ofCodes]);
    assert.deepEqual(await eventsOf(registered), [ofCodes, ofCodes, ofCodes]);
  });

  test('a stolen code and a stolen refresh token are events each where they end something, and are counted after that', async () => {
    const app = standard(await newClient(server, open));
    const user = await newUser(server);
    const browser = await signedIn(server, user);
    const pkce = { code_challenge, code_challenge_method: 'S256', scope: 'openid' };
    for (const _ of [1, 2]) {
      const code = await codeFor(server, app, user, pkce, { browser });
      const redeemed = () =>
        tokenCall(server, { ...CODE, client_id: app.clientId, code, code_verifier: VERIFIER }, app);
      assert.equal((await redeemed()).status, 200);
      for (let n = 0; n < 4; n++) assertInvalidGrant(await redeemed());
    }
    const replayed = 'token.code_replayed';
    assert.deepEqual(await eventsOf(app), [replayed, replayed, replayed], 'two ended a sign-in, and one repetition');

    server.advance(MINUTE);
    const code = await codeFor(server, app, user, pkce, { browser });
    const first = await tokenCall(server, { ...CODE, client_id: app.clientId, code, code_verifier: VERIFIER }, app);
    const used = { grant_type: 'refresh_token', client_id: app.clientId, refresh_token: first.body.refresh_token };
    assert.equal((await tokenCall(server, used, app)).status, 200);
    server.advance(MINUTE);
    for (let n = 0; n < 4; n++) assertInvalidGrant(await tokenCall(server, used, app));
    const after = (await eventsOf(app)).slice(3);
    assert.deepEqual(after, ['token.refresh_reused', 'token.refused, the sign-in of this token has ended']);
  });
});
