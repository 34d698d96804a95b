// store: SQLite, PostgreSQL with --all
/** Decisions §12: where an app is registered in the console is where the operator holds the permission. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { formOf } from '../support/agent.ts';
import { newOperator, open } from '../support/console.ts';
import { admin, newUser } from '../support/flow.ts';
import { startServer } from '../support/server.ts';

const server = await startServer({});
after(() => server.close());
const keeper = await newUser(server, { password: undefined });
assert.equal((await admin(server, 'PUT', `/users/${keeper.id}/roles/owner`, {})).status, 200);

const NEW = '/console/apps/new';
let count = 0;
const newOrganization = async (): Promise<string> => {
  const organization = { name: `place-${++count}`, domain: `place-${count}.example` };
  return (await admin(server, 'POST', '/organizations', organization)).body.id;
};

/** A person who is a developer in these organizations, and nothing else. */
async function developerOf(organizations: readonly string[]) {
  const operator = await newOperator(server, 'developer');
  for (const organizationId of organizations) {
    const given = await admin(server, 'PUT', `/users/${operator.id}/roles/developer`, { organizationId });
    assert.equal(given.status, 200);
  }
  assert.equal((await admin(server, 'DELETE', `/users/${operator.id}/roles/developer`)).status, 200);
  return operator;
}

const FIELDS = { kind: 'web', uris: 'https://app.example/callback', resource: '' };
const placeOf = async (name: string) => {
  const { items } = (await admin(server, 'GET', '/clients?limit=200')).body;
  const found = items.find((client: { name: string }) => client.name === name);
  return found && { organizationId: found.organizationId, developerId: found.developerId };
};

test('the app of a developer of one organization is that organization’s', async () => {
  const organizationId = await newOrganization();
  const operator = await developerOf([organizationId]);
  const page = await open(server, operator, NEW);
  assert.equal(formOf(page.text, NEW).hidden['organization'], organizationId);
  const answer = await operator.browser.submit(page, { ...FIELDS, name: 'Of one' }, NEW);
  assert.equal(answer.status, 200);
  assert.deepEqual(await placeOf('Of one'), { organizationId, developerId: operator.id });
});

test('a developer of several organizations chooses one of them', async () => {
  const [first, second] = [await newOrganization(), await newOrganization()];
  const operator = await developerOf([first, second]);
  const page = await open(server, operator, NEW);
  assert.match(page.text, /<select id="organization"/);
  const answer = await operator.browser.submit(page, { ...FIELDS, name: 'Of several', organization: second }, NEW);
  assert.equal(answer.status, 200);
  assert.deepEqual(await placeOf('Of several'), { organizationId: second, developerId: operator.id });
});

test('a developer of an organization registers no app elsewhere', async () => {
  const [own, other] = [await newOrganization(), await newOrganization()];
  const operator = await developerOf([own]);
  const page = await open(server, operator, NEW);
  const { hidden } = formOf(page.text, NEW);
  const { organization: _, ...rest } = hidden;
  const inInstallation = await operator.browser.post(NEW, { ...rest, ...FIELDS, name: 'Elsewhere' });
  assert.equal(inInstallation.status, 403);
  const inOther = await operator.browser.post(NEW, { ...hidden, ...FIELDS, name: 'Elsewhere', organization: other });
  assert.equal(inOther.status, 404);
  assert.equal(await placeOf('Elsewhere'), undefined);
});

test('the app of an admin of the installation is the installation’s, and nobody’s own', async () => {
  const operator = await newOperator(server, 'admin');
  const page = await open(server, operator, NEW);
  assert.equal((await operator.browser.submit(page, { ...FIELDS, name: 'Of all' }, NEW)).status, 200);
  assert.deepEqual(await placeOf('Of all'), { organizationId: null, developerId: null });
});
