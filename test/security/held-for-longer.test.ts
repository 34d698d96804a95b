// store: SQLite, PostgreSQL
/** A right that ends does not go on in the account of somebody whose right lasts longer: nobody who holds it for a time takes that account over. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { newOperator, open } from '../support/console.ts';
import { admin, newUser, type TestUser } from '../support/flow.ts';
import { MINUTE } from '../support/outcome.ts';
import { startServer } from '../support/server.ts';

const server = await startServer({ TESSERA_MAILBOX: 'on' });
after(() => server.close());

async function ok(method: string, path: string, body?: object, key?: string) {
  const answer = await admin(server, method, path, body, key);
  assert.ok(answer.status < 300, `${method} ${path} ${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body;
}
const soon = () => new Date(server.now() + 10 * MINUTE).toISOString();
const keyFor = async (role: string): Promise<string> =>
  (await ok('POST', '/admin-keys', { name: `${role} for ten minutes`, role, expiresAt: soon() })).adminKey;

const OPENING: Readonly<Record<string, (user: TestUser) => readonly [string, string, object | undefined]>> = {
  'a recovery link': ({ id }) => ['POST', `/users/${id}/recovery-link`, { resetFactors: true }],
  'a password': ({ id }) => ['PATCH', `/users/${id}`, { password: 'set for ten minutes 1' }],
  'an address': ({ id }) => ['PATCH', `/users/${id}`, { email: `taken-${id}@example.com`, emailVerified: true }],
  'the removal of a factor': ({ id }) => ['DELETE', `/users/${id}/factors/totp`, undefined],
};

for (const role of ['owner', 'admin'] as const) {
  for (const [what, act] of Object.entries(OPENING)) {
    test(`${what} by a key of the role ${role} for ten minutes, for an ${role} without an end`, async () => {
      const colleague = await newOperator(server, role);
      const refused = await admin(server, ...act(colleague), await keyFor(role));
      assert.deepEqual([refused.status, refused.body.error], [403, 'insufficient_permission']);
      assert.match(
        refused.body.error_description,
        /lasts longer than yours, which ends at .*whose role ends no earlier/,
      );
      const [method, path, body] = act(colleague);
      await ok(method, path, body);
    });
  }
}

test('sessions are ended and people are banned by whose role ends', async () => {
  const colleague = await newOperator(server, 'admin');
  const key = await keyFor('admin');
  await ok('DELETE', `/users/${colleague.id}/sessions`, undefined, key);
  await ok('PUT', `/users/${colleague.id}/ban`, {}, key);
});

test('an account whose password an operator set gets no role that lasts longer than that one’s', async () => {
  const user = await newUser(server, { emailVerified: true });
  const key = await keyFor('admin');
  server.advance(1000);
  await ok('PATCH', `/users/${user.id}`, { password: 'set for ten minutes 1' }, key);
  assert.equal((await admin(server, 'PUT', `/users/${user.id}/roles/admin`, {})).status, 409);
  await ok('PUT', `/users/${user.id}/roles/admin`, { expiresAt: new Date(server.now() + MINUTE).toISOString() });
});

test('the page of such a person offers what may be done, and says what may not', async () => {
  const [owner, colleague] = [await newOperator(server, 'owner'), await newOperator(server, 'admin')];
  await newOperator(server, 'owner');
  await ok('PUT', `/users/${owner.id}/roles/admin`, { expiresAt: new Date(server.now() + 60 * MINUTE).toISOString() });
  await ok('DELETE', `/users/${owner.id}/roles/owner`);
  const page = await open(server, owner, `/console/people/${colleague.id}`);
  assert.match(page.text, /holds a role for longer than you hold yours/);
  assert.match(page.text, /\/console\/people\/end-sessions/);
  assert.doesNotMatch(page.text, /\/console\/people\/(correct|remove-factor)/);
  const refused = await open(server, owner, `/console/people/correct?id=${colleague.id}`);
  assert.doesNotMatch(refused.text, /does not include this/);
});
