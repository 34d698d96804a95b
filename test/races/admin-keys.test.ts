// store: PostgreSQL, SQLite with --all
/** An admin key that is revoked while requests with it are under way: they are refused, and change nothing. */
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { text as textOf } from 'node:stream/consumers';
import { after, describe, test } from 'node:test';
import { createAdminKey, revokeAdminKey } from '../../src/account-actions/makers/admin-keys.ts';
import { openCore } from '../../src/core.ts';
import { readConfig } from '../../src/settings/config.ts';
import { callExample, fixture } from '../openapi/examples.ts';
import { startRouted } from '../security/routes.ts';
import { admin, newUser } from '../support/flow.ts';
import { holdRequests } from '../support/held-requests.ts';
import { noFault, times } from './crowd.ts';

const ORIGIN = { actor: { type: 'cli', id: null }, address: null, requestId: null } as const;

const hold = holdRequests();
const server = await startRouted({ TESSERA_LIMIT_ADMIN_KEY: 'off', TESSERA_REGISTRATION: 'open' });
const made = await fixture(server);
const unknown = await admin(server, 'GET', '/users', undefined, `tak_${'x'.repeat(43)}`);

interface Key {
  readonly id: string;
  readonly secret: string;
}

// Keys are made and revoked as the command line does it: beside the server, over connections of its own.
const beside = await openCore(readConfig(server.environment), server.now);
after(async () => {
  await beside.close();
  await server.close();
});
async function newKey(): Promise<Key> {
  const { key, adminKey } = await createAdminKey({ ...beside, operator: undefined }, { name: 'a key' }, ORIGIN);
  return { id: key.id, secret: adminKey };
}
const revoke = ({ id }: Key) => revokeAdminKey({ ...beside, operator: undefined }, id, ORIGIN);

/** How many acts with a key are on record. */
const actsOf = async ({ id }: Key): Promise<number> =>
  (await admin(server, 'GET', `/audit-events?limit=200&actorId=${id}`)).body.items.length;

/** RFC 6750 §3.1: the same answer as to an unknown key. */
function assertRevoked(status: number, text: string): void {
  assert.equal(status, 401, text);
  assert.deepEqual(JSON.parse(text), unknown.body);
}

const routes = server.described.filter(({ schema }) => schema.caller === 'admin key');

test('every route of the admin API is among those that are held', () => {
  const registered = server.routes.filter(({ url }) => url.startsWith('/api/v2/admin'));
  assert.ok(registered.length > 30);
  assert.equal(routes.length, registered.length);
});

describe('revoked between authentication and act', () => {
  for (const route of routes) {
    test(`${route.method} ${route.url}`, async () => {
      const key = await newKey();
      const [example] = route.schema.examples;
      assert.ok(example !== undefined);
      const { address, method, headers, body } = await callExample(made, route, example);
      const held = hold('preHandler');
      const answering = fetch(server.baseUrl + address, {
        method,
        headers: { ...headers, authorization: `Bearer ${key.secret}`, ...held.header },
        ...(body !== undefined && { body }),
      });
      await Promise.race([held.reached, answering]);
      await revoke(key);
      held.release();
      const answer = await answering;
      assertRevoked(answer.status, await answer.text());
      assert.equal(await actsOf(key), 0, 'nothing was done');
    });
  }
});

test('revoked while the body is on its way', async () => {
  const key = await newKey();
  const body = JSON.stringify({ username: 'slow', displayName: 'Slow', email: 'slow@example.com' });
  const held = hold('preParsing');
  const { host, port } = new URL(server.baseUrl);
  const headers = {
    host,
    authorization: `Bearer ${key.secret}`,
    'content-type': 'application/json',
    'content-length': body.length,
    connection: 'close',
    ...held.header,
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const socket = connect({ host: '127.0.0.1', port: Number(port) });
  const answer = textOf(socket);
  socket.write(`POST /api/v2/admin/users HTTP/1.1\r\n${lines.join('')}\r\n${body.slice(0, 10)}`);
  await held.reached;
  held.release();
  await revoke(key);
  socket.write(body.slice(10));
  const [, status, text = ''] = /^HTTP\/1\.1 (\d+) [\s\S]*?\r\n\r\n([\s\S]*)$/.exec(await answer) ?? [];
  assertRevoked(Number(status), text);
  assert.equal(await actsOf(key), 0);
});

test('when the revocation has returned, nothing that was sent before it changes anything any more', async () => {
  const users = await Promise.all(times(8, () => newUser(server, { password: undefined })));
  for (let round = 0; round < 3; round++) {
    const key = await newKey();
    const crowd = users.flatMap(({ id }) =>
      times(5, (n) => admin(server, 'PATCH', `/users/${id}`, { about: `${round} ${n}` }, key.secret)),
    );
    // Some have been answered, others are under way.
    await Promise.any(crowd);
    await revoke(key);
    const done = await actsOf(key);
    const answers = await Promise.all(crowd);
    noFault(answers);
    assert.equal(await actsOf(key), done);
    assert.equal(answers.filter(({ status }) => status === 200).length, done);
  }
});
