// store: SQLite, PostgreSQL
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { newOperator } from '../support/console.ts';
import { admin, newClient, newUser } from '../support/flow.ts';
import { startServer } from '../support/server.ts';

// Who has a role of several organizations sees what is in each of them, and in no other: decisions §12.

const server = await startServer();
after(() => server.close());
/** More than one statement asks for. */
const MANY = 27;

let names = 0;
async function newOrganization(): Promise<string> {
  const name = `place-${++names}`;
  return (await admin(server, 'POST', '/organizations', { name, domain: `${name}.example` })).body.id;
}

const lead = await newOperator(server, 'developer');
const own: string[] = [];
for (let place = 0; place < MANY; place++) {
  const id = await newOrganization();
  await admin(server, 'PUT', `/users/${lead.id}/roles/auditor`, { organizationId: id });
  own.push(id);
}
const foreign = await newOrganization();

/** The ids that every page of a list links to. */
async function listed(list: string, address: RegExp): Promise<readonly string[]> {
  const found: string[] = [];
  for (let next: string | undefined = list; next !== undefined; ) {
    const { text } = await lead.browser.get(next);
    found.push(...[...text.matchAll(address)].map((match) => match[1] ?? ''));
    next = /href="([^"]*[?&;](?:after|before)=\d+[^"]*)"/.exec(text)?.[1]?.replaceAll('&amp;', '&');
  }
  return found;
}

test('the organizations themselves, each once, in the order of their ids', async () => {
  assert.deepEqual(await listed('/console/organizations', /\/console\/organizations\/(\d+)"/g), own);
});

test('their groups, and those that a text finds', async () => {
  const groups: string[] = [];
  for (const organizationId of own) {
    const name = `crew-${groups.length}`;
    groups.push((await admin(server, 'POST', '/groups', { name, organizationId })).body.id);
  }
  await admin(server, 'POST', '/groups', { name: 'crew-elsewhere', organizationId: foreign });
  await admin(server, 'POST', '/groups', { name: 'crew-of-none' });
  for (const list of ['/console/groups', '/console/groups?q=crew']) {
    assert.deepEqual(await listed(list, /\/console\/groups\/(\d+)"/g), groups, list);
  }
});

test('their apps, the newest first, and those that a text finds, with an app of one’s own', async () => {
  const apps: string[] = [];
  for (const organizationId of own) apps.push((await newClient(server, { name: 'Ledger', organizationId })).clientId);
  await newClient(server, { name: 'Ledger', organizationId: foreign });
  await newClient(server, { name: 'Ledger' });
  const address = /\/console\/apps\/(\d+)"/g;
  assert.deepEqual(await listed('/console/apps', address), apps.toReversed());
  assert.deepEqual(await listed('/console/apps?q=Ledger', address), apps);
});

test('their invitations, keys and roles', async () => {
  const [keys, developers]: [string[], string[]] = [[], []];
  for (const organizationId of [...own, foreign]) {
    const name = `guest-${organizationId}`;
    await admin(server, 'POST', '/invitations', { email: `${name}@example.com`, organizationId });
    const key = await admin(server, 'POST', '/admin-keys', { name, role: 'auditor', organizationId });
    keys.push(key.body.id);
    const developer = await newUser(server);
    await admin(server, 'PUT', `/users/${developer.id}/roles/developer`, { organizationId });
    developers.push(developer.username);
  }
  assert.deepEqual(await listed('/console/invitations', /guest-(\d+)@/g), own.toReversed());
  const newest = keys.slice(0, MANY).toReversed();
  assert.deepEqual(await listed('/console/keys', /\/console\/keys\/(\d+)"/g), newest);
  const named = new Set(await listed('/console/operators', /(user\d+)/g));
  assert.deepEqual(
    developers.filter((username) => named.has(username)),
    developers.slice(0, MANY),
  );
});
