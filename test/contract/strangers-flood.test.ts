// store: SQLite, PostgreSQL with --all
/** Decisions §15: what strangers send of apps that nobody registered makes nothing grow without bound. It is counted, not timed. */
import assert from 'node:assert/strict';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, test } from 'node:test';
import { agent } from '../support/agent.ts';
import { appKey, proofOf } from '../support/assertion.ts';
import { askAsDevice, newDeviceClient } from '../support/devices.ts';
import { authorizeUrl, tokenCall } from '../support/flow.ts';
import { everyRow } from '../support/outcome.ts';
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
