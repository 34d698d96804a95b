// store: SQLite, PostgreSQL
// Decisions §12: what an operator reads is checked in the read that answers, also where the same request has recorded that it was read.
import assert from 'node:assert/strict';
import { AsyncLocalStorage } from 'node:async_hooks';
import { subscribe } from 'node:diagnostics_channel';
import { after, test } from 'node:test';
import type { FastifyInstance } from 'fastify';
import type { Database } from '../../src/platform/database/database.ts';
import { newOperator } from '../support/console.ts';
import { admin, newSignedInUser, newUser, signedIn } from '../support/flow.ts';
import { startServer } from '../support/server.ts';

const HEADER = 'x-test-reads';

/** A request whose first read after a commit waits. */
interface Held {
  hasCommitted: boolean;
  readonly at: PromiseWithResolvers<void>;
  readonly go: PromiseWithResolvers<void>;
}

const held = new Map<string, Held>();
const current = new AsyncLocalStorage<Held>();
subscribe('fastify.initialization', (message) => {
  const { fastify } = message as { fastify: FastifyInstance };
  fastify.addHook('preHandler', ({ headers }, _reply, done) => {
    const request = held.get(String(headers[HEADER]));
    if (request === undefined) done();
    else current.run(request, done);
  });
});
const watched = (own: Database): Database => ({
  ...own,
  async commit(work) {
    const result = await own.commit(work);
    const request = current.getStore();
    if (request !== undefined) request.hasCommitted = true;
    return result;
  },
  async read(work) {
    const request = current.getStore();
    if (request?.hasCommitted === true) {
      request.at.resolve();
      await request.go.promise;
    }
    return own.read(work);
  },
});
const server = await startServer({}, 1, undefined, { database: watched });
after(() => server.close());

function hold() {
  const request = { hasCommitted: false, at: Promise.withResolvers<void>(), go: Promise.withResolvers<void>() };
  const name = `${held.size + 1}`;
  held.set(name, request);
  return { at: request.at.promise, go: () => request.go.resolve(), header: { [HEADER]: name } };
}

for (const what of ['sessions', 'connections', 'identities']) {
  test(`the ${what} of a person are not shown to a key that was revoked meanwhile`, async () => {
    const key = (await admin(server, 'POST', '/admin-keys', { name: 'auditor', role: 'auditor' })).body;
    const { user } = await newSignedInUser(server);
    const { at, go, header } = hold();
    const pending = fetch(`${server.baseUrl}/api/v2/admin/users/${user.id}/${what}`, {
      headers: { authorization: `Bearer ${key.adminKey}`, ...header },
    });
    await at;
    assert.equal((await admin(server, 'DELETE', `/admin-keys/${key.id}`)).status, 200);
    await signedIn(server, user);
    go();
    const answer = await pending;
    assert.equal(answer.status, 401);
    assert.match(await answer.text(), /"invalid_token"/);
  });
}

test('the page of a person in the console is not shown to who lost the role meanwhile', async () => {
  const operator = await newOperator(server, 'auditor');
  const user = await newUser(server);
  const { at, go, header } = hold();
  const pending = operator.browser.get(`/console/people/${user.id}`, header);
  await at;
  assert.equal((await admin(server, 'DELETE', `/users/${operator.id}/roles/auditor`)).status, 200);
  const name = 'Changed after the role had ended';
  assert.equal((await admin(server, 'PATCH', `/users/${user.id}`, { displayName: name })).status, 200);
  go();
  const answer = await pending;
  assert.equal(answer.status, 404);
  assert.ok(!answer.text.includes(name));
});
