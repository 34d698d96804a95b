// store: SQLite, PostgreSQL with --all
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { newOperator, type TestOperator } from '../support/console.ts';
import { admin, newClient, newUser } from '../support/flow.ts';
import { startServer } from '../support/server.ts';

// The console's search over everything: decisions §13.

const server = await startServer();
after(() => server.close());
const owner = await newOperator(server, 'owner');
const WORD = 'quincunx';
const person = await newUser(server, { username: `${WORD}.person` });
const app = await newClient(server, { name: `The ${WORD} almanac` });
const make = async (path: string, body: object): Promise<string> => {
  const answer = await admin(server, 'POST', path, body);
  assert.equal(answer.status, 201, JSON.stringify(answer.body));
  return answer.body.id;
};
const group = await make('/groups', { name: `${WORD}.group` });
const organization = await make('/organizations', { name: `${WORD}-society`, domain: 'quincunx.example' });
const other = await make('/organizations', { name: `other-${WORD}`, domain: 'other.example' });
const key = await make('/admin-keys', { name: `Nightly ${WORD}`, role: 'auditor' });
const upstream = await make('/upstreams', {
  ...{ name: WORD, displayName: 'Five', issuer: 'https://id.example', clientId: 'tessera' },
});

const linksFor = async ({ browser }: TestOperator, text: string): Promise<readonly string[]> => {
  const page = await browser.get(`/console/search?${new URLSearchParams({ text })}`);
  assert.equal(page.status, 200, page.text);
  const [, hits = ''] = page.text.split('id="hits"');
  return [...hits.matchAll(/href="([^"]*)"/g)].map(([, href = '']) => href.replaceAll('&amp;', '&'));
};

test('one text finds people, apps, groups, organizations, keys and providers', async () => {
  assert.deepEqual(await linksFor(owner, WORD), [
    `/console/people/${person.id}`,
    `/console/apps/${app.clientId}`,
    `/console/groups/${group}`,
    `/console/organizations/${organization}`,
    `/console/organizations/${other}`,
    `/console/keys/${key}`,
    `/console/upstreams/${upstream}`,
  ]);
});

test('an ID finds what it names', async () => {
  for (const [id, address] of [
    [person.id, `/console/people/${person.id}`],
    [app.clientId, `/console/apps/${app.clientId}`],
    [group, `/console/groups/${group}`],
    [organization, `/console/organizations/${organization}`],
    [key, `/console/keys/${key}`],
    [upstream, `/console/upstreams/${upstream}`],
  ] as const) {
    assert.deepEqual(await linksFor(owner, id), [address]);
  }
});

test('a correlation ID leads to its explanation, and a word to the pages that are called so', async () => {
  const id = '6f0b6e0e-5a0c-4a39-9f4f-7f1f5c2f8f11';
  assert.deepEqual(await linksFor(owner, id.toUpperCase()), [`/console/explain?id=${id}`]);
  assert.deepEqual(await linksFor(owner, 'admin KEY'), ['/console/keys']);
  assert.ok((await linksFor(owner, '')).includes('/console/apps/new'));
});

test('a role finds what its pages show, and nothing else', async () => {
  const support = await newOperator(server, 'support');
  assert.deepEqual(
    (await linksFor(support, WORD)).filter((link) => /keys|upstreams/.test(link)),
    [],
  );
  assert.ok((await linksFor(support, WORD)).includes(`/console/people/${person.id}`));
  for (const address of await linksFor(support, '')) {
    const page = await support.browser.get(address);
    assert.ok(page.status === 200 || page.location !== undefined, `${address}: ${page.status}`);
  }
});

test('a role of an organization finds that organization alone', async () => {
  const member = await newOperator(server, 'auditor');
  await admin(server, 'PUT', `/organizations/${organization}/members/${member.id}`, { role: 'ADMIN' });
  assert.equal((await admin(server, 'DELETE', `/users/${member.id}/roles/auditor`)).status, 200);
  const found = await linksFor(member, WORD);
  assert.ok(found.includes(`/console/organizations/${organization}`));
  assert.deepEqual(
    found.filter((link) => link.includes(other) || /people|keys|upstreams|apps|groups/.test(link)),
    [],
  );
});

test('what is reached by several roles is found, of each kind what its own role reaches', async () => {
  const lead = await newOperator(server, 'developer');
  await admin(server, 'PUT', `/organizations/${other}/members/${lead.id}`, { role: 'ADMIN' });
  const word = 'sextile';
  await make('/groups', { name: `${word}.elsewhere`, organizationId: organization });
  const inPlace = await make('/groups', { name: `${word}.group`, organizationId: other });
  const own = await newClient(server, { name: `${word} of the place`, organizationId: other });
  await newClient(server, { name: `${word} of nobody` });
  assert.deepEqual(await linksFor(lead, word), [`/console/apps/${own.clientId}`, `/console/groups/${inPlace}`]);
});

test('who has lost the role is not answered', async () => {
  const gone = await newOperator(server, 'auditor');
  await admin(server, 'DELETE', `/users/${gone.id}/roles/auditor`);
  assert.equal((await gone.browser.get(`/console/search?text=${WORD}`)).status, 403);
});

test('what was typed is shown as text', async () => {
  const page = await owner.browser.get(`/console/search?${new URLSearchParams({ text: '<b>%_\\' })}`);
  assert.match(page.text, /No results for <bdi>&lt;b&gt;%_\\<\/bdi>/);
});
