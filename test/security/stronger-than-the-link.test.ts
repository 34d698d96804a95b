// store: SQLite, PostgreSQL
/** Nobody acts on somebody who holds a permission that they lack: not by a recovery link either that was made before the person held it. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { agent } from '../support/agent.ts';
import { admin, newUser, PASSWORD, signedIn, type TestUser } from '../support/flow.ts';
import { startServer } from '../support/server.ts';

const server = await startServer();
after(() => server.close());

async function ok(method: string, path: string, body?: object, key?: string) {
  const answer = await admin(server, method, path, body, key);
  assert.ok(answer.status < 300, `${method} ${path} ${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body;
}

const newOrganization = async (name: string): Promise<string> =>
  (await ok('POST', '/organizations', { name, domain: 'example.org' })).id;

const STRONGER: Readonly<Record<string, (user: TestUser) => Promise<unknown>>> = {
  'a role of the installation': ({ id }) => ok('PUT', `/users/${id}/roles/owner`, {}),
  async 'the role of a member'({ id }) {
    const organization = await newOrganization('raised');
    await ok('PUT', `/organizations/${organization}/members/${id}`, { role: 'OWNER' });
  },
  async 'the role of an invitation'(user) {
    const organizationId = await newOrganization('invited');
    const { email } = await ok('GET', `/users/${user.id}`);
    const { link } = await ok('POST', '/invitations', { organizationId, role: 'OWNER', email });
    const browser = await signedIn(server, user);
    assert.ok((await browser.submit(await browser.get(link), {}, '/invitation')).status < 400);
  },
};

for (const [what, give] of Object.entries(STRONGER)) {
  test(`a recovery link that was made before ${what} was given does nothing after it`, async () => {
    const { adminKey } = await ok('POST', '/admin-keys', { name: 'an admin', role: 'admin' });
    const user = await newUser(server, { emailVerified: true });
    const { url } = await ok('POST', `/users/${user.id}/recovery-link`, { resetFactors: true }, adminKey);
    const browser = agent(server.baseUrl);
    const page = await browser.get(url);
    assert.equal(page.status, 200);
    await give(user);
    assert.equal((await browser.submit(page, { password: 'set by a weaker one' }, '/recover/link')).status, 410);
    await signedIn(server, user, PASSWORD);
    const own = await ok('POST', `/users/${user.id}/recovery-link`, {});
    assert.equal((await browser.get(own.url)).status, 200, 'one that is made afterwards');
  });
}
