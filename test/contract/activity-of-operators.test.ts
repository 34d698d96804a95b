// store: SQLite, PostgreSQL
/** A person reads in their own activity which role of operators they got, and which was taken from them or ended with its maker. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { admin, newUser, signedIn } from '../support/flow.ts';
import { startServer } from '../support/server.ts';

const server = await startServer();
after(() => server.close());

test('roles that were given, taken away, and ended with what an operator made', async () => {
  const user = await newUser(server);
  const browser = await signedIn(server, user);
  const roles = `/users/${user.id}/roles`;
  await admin(server, 'PUT', `${roles}/auditor`, {});
  await admin(server, 'DELETE', `${roles}/auditor`);
  const maker = (await admin(server, 'POST', '/admin-keys', { name: 'Maker', role: 'admin' })).body;
  await admin(server, 'PUT', `${roles}/support`, {}, maker.adminKey);
  await admin(server, 'DELETE', `/admin-keys/${maker.id}?endMade=true`);
  for (const page of ['/account/activity', '/account/activity?kind=account']) {
    const { text } = await browser.get(page);
    for (const role of ['auditor', 'support']) {
      assert.ok(text.includes(`You got the role ${role} of operators`), page);
      assert.ok(text.includes(`The role ${role} of operators was taken from you.`), page);
    }
    assert.ok(text.includes('An operator of this service did this.'));
  }
});
