// store: SQLite, PostgreSQL
/** What is left of a person whose account was deleted, row by row: docs/how-to/look-after-people.md says the same. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { sweep } from '../../src/operations/housekeeping/housekeeping.ts';
import { canaryPerson } from '../support/canary-person.ts';
import { admin, newUser } from '../support/flow.ts';
import { withData } from '../support/forged-token.ts';
import { HOUR, query, storedTexts } from '../support/outcome.ts';
import { startServer } from '../support/server.ts';

const server = await startServer();
after(() => server.close());

/** The events that have a reason, or had one. */
const reasons = async (userId: string) =>
  ['account.banned', 'account.suspended'].map(async (type) => {
    const { body } = await admin(server, 'GET', `/audit-events?userId=${userId}&type=${type}`);
    return body.items.map(({ details }: { details: unknown }) => details);
  });

test('with the account its fields go at once, and within an hour every text; the events keep ids and addresses', async () => {
  const { id, canaries } = await canaryPerson(server);
  const other = await newUser(server);
  const elsewhere = { until: null, reason: 'Spam', actorRole: 'owner' };
  await admin(server, 'PUT', `/users/${other.id}/ban`, { reason: elsewhere.reason });
  const texts = Object.entries(canaries).filter(([name]) => !name.startsWith('picture'));
  const before = await storedTexts(server);
  for (const [name, canary] of texts) {
    if (name.includes('every text')) assert.ok(before.includes(canary.toString()), name);
  }
  const events = async () =>
    (await query(server, 'SELECT * FROM audit_event WHERE account_id = ? ORDER BY id', id)).length;
  const recorded = await events();

  assert.equal((await admin(server, 'DELETE', `/users/${id}`)).status, 204);
  assert.equal(await events(), recorded + 1, 'every event stays, and the deletion is one more');
  const [banned, suspended] = await Promise.all(await reasons(id));
  const erased = { reason: null, erased: ['reason'], actorRole: 'owner' };
  assert.deepEqual(banned, Array(2).fill({ until: null, ...erased }));
  assert.deepEqual(suspended, Array(2).fill(erased));
  assert.deepEqual((await Promise.all(await reasons(other.id)))[0], [elsewhere], 'texts about others stay');
  const [signIn] = await query(
    server,
    "SELECT address, actor_id FROM audit_event WHERE type = 'sign_in.succeeded' AND account_id = ?",
    id,
  );
  assert.ok(signIn?.['address'], 'the address is kept as long as the event');

  // What an app gave as a hint waits with its request.
  server.advance(HOUR);
  await withData(server, ({ database, clock }) => sweep(database, clock()));
  // An operator's deletion frees the usernames, too.
  assert.deepEqual(await query(server, 'SELECT username FROM username_reservation'), []);
  const left = await storedTexts(server);
  for (const [name, canary] of texts) assert.ok(!left.includes(canary.toString()), name);
});

test('a ban without a reason is left as it is', async () => {
  const user = await newUser(server);
  await admin(server, 'PUT', `/users/${user.id}/ban`, {});
  await admin(server, 'DELETE', `/users/${user.id}`);
  assert.deepEqual((await Promise.all(await reasons(user.id)))[0], [{ until: null, reason: null, actorRole: 'owner' }]);
});
