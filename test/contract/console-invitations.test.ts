// store: SQLite, PostgreSQL with --all
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { agent } from '../support/agent.ts';
import { act, newOperator, open } from '../support/console.ts';
import { admin, newUser } from '../support/flow.ts';
import { mailsTo } from '../support/mail.ts';
import { HOUR } from '../support/outcome.ts';
import { startServer } from '../support/server.ts';

// The console's pages about invitations: decisions §11, §12, §13.

const server = await startServer();
after(() => server.close());
const owner = await newOperator(server, 'owner');
const PATH = '/console/invitations';
const newOrganization = async (name: string): Promise<string> =>
  (await admin(server, 'POST', '/organizations', { name, domain: `${name}.example` })).body.id;
/** The link that a page shows. */
const linkIn = (text: string): string => /<code>(http[^<]*\/invitation\?link=[\w-]+)<\/code>/.exec(text)?.[1] ?? '';
async function isOpen(link: string): Promise<boolean> {
  assert.ok(link !== '', 'no link is shown');
  return (await agent(server.baseUrl).get(link)).status === 200;
}

test('without mail the link is shown once, opens the page of the invitation, and is in no list', async () => {
  const made = await act(server, owner, `${PATH}/new`, {}, { email: 'new@example.com', days: '7' });
  const link = linkIn(made.text);
  assert.ok(await isOpen(link));
  const list = (await owner.browser.get(PATH)).text;
  assert.ok(list.includes('new@example.com') && !list.includes(link.split('=')[1] ?? '-'));
});

test('without mail the page of an act on a person does not promise that they are told', async () => {
  const page = await open(server, owner, `/console/people/end-sessions?id=${(await newUser(server)).id}`);
  assert.match(page.text, /Nobody: this server sends no mail/);
});

test('what is wrong is said at its field', async () => {
  const organization = await newOrganization('fields');
  const wrong = [
    [{}, { email: 'no address' }, 'email'],
    [{}, { days: '1000' }, 'days'],
    [{ organization }, { email: '', role: 'ADMIN' }, 'role'],
    [{ organization }, { email: 'ada@example.com', role: 'EMPEROR' }, 'role'],
  ] as const;
  for (const [about, typed, field] of wrong) {
    const page = await act(server, owner, `${PATH}/new`, about, typed);
    assert.equal(page.status, 400);
    assert.match(page.text, new RegExp(`class="problem" id="${field}-note"`), JSON.stringify(typed));
  }
});

test('a person is invited to an organization in a role, and the invitation is revoked', async () => {
  const organization = await newOrganization('works');
  const typed = { email: 'mary@example.com', role: 'ADMIN' };
  const made = await act(server, owner, `${PATH}/new`, { organization }, typed);
  const link = linkIn(made.text);
  assert.match(
    (await owner.browser.get(`/console/organizations/${organization}/invitations`)).text,
    /mary@example.com/,
  );
  const { items } = (await admin(server, 'GET', '/invitations')).body;
  const { id, role } = items.find((one: { readonly email: string }) => one.email === 'mary@example.com');
  assert.equal(role, 'ADMIN');
  await act(server, owner, `${PATH}/revoke`, { id });
  assert.equal(await isOpen(link), false);
});

test('an invitation ends with the role of the operator who made it, and does not come back with the role', async () => {
  const maker = await newOperator(server, 'admin');
  const link = linkIn((await act(server, maker, `${PATH}/new`, {}, {})).text);
  assert.ok(await isOpen(link));
  await admin(server, 'DELETE', `/users/${maker.id}/roles/admin`);
  assert.equal(await isOpen(link), false);
  await admin(server, 'PUT', `/users/${maker.id}/roles/admin`, {});
  assert.equal(await isOpen(link), false);
});

test('an invitation of a role that ran out does not come back with a new one, and one that goes on keeps it', async () => {
  const maker = await newOperator(server, 'admin');
  const until = (hours: number) => ({ expiresAt: new Date(server.now() + hours * HOUR).toISOString() });
  const give = async (fields: object) =>
    assert.equal((await admin(server, 'PUT', `/users/${maker.id}/roles/admin`, fields)).status, 200);
  const link = linkIn((await act(server, maker, `${PATH}/new`, {}, {})).text);
  await give(until(2));
  server.advance(HOUR);
  await give(until(2));
  assert.ok(await isOpen(link));
  server.advance(3 * HOUR);
  assert.equal(await isOpen(link), false);
  await give({});
  assert.equal(await isOpen(link), false);
});

test('an invitation ends with the ban of the operator, and with the membership that gave the right', async () => {
  const banned = await newOperator(server, 'admin');
  const first = linkIn((await act(server, banned, `${PATH}/new`, {}, {})).text);
  await admin(server, 'PUT', `/users/${banned.id}/ban`, {});
  assert.equal(await isOpen(first), false);
  const organization = await newOrganization('leads');
  const lead = await newOperator(server, 'developer');
  await admin(server, 'PUT', `/organizations/${organization}/members/${lead.id}`, { role: 'ADMIN' });
  const second = linkIn((await act(server, lead, `${PATH}/new`, { organization }, { role: 'MEMBER' })).text);
  assert.ok(await isOpen(second));
  await admin(server, 'PUT', `/organizations/${organization}/members/${lead.id}`, { role: 'MEMBER' });
  await admin(server, 'PUT', `/organizations/${organization}/members/${lead.id}`, { role: 'ADMIN' });
  assert.equal(await isOpen(second), false);
});

test('an admin of an organization invites to it alone, in no higher role', async () => {
  const [organization, other] = [await newOrganization('inside'), await newOrganization('outside')];
  const lead = await newOperator(server, 'developer');
  await admin(server, 'PUT', `/organizations/${organization}/members/${lead.id}`, { role: 'ADMIN' });
  assert.equal((await open(server, lead, `${PATH}/new`)).status, 403);
  assert.equal((await open(server, lead, `${PATH}/new?organization=${other}`)).status, 404);
  const page = await open(server, lead, `${PATH}/new?organization=${organization}`);
  const typed = { email: 'x@example.com', role: 'OWNER' };
  assert.equal((await lead.browser.submit(page, typed, `${PATH}/new`)).status, 403);
  assert.equal((await lead.browser.submit(page, { ...typed, organization: other }, `${PATH}/new`)).status, 404);
});

test('with mail nobody sees the link', async () => {
  const mailing = await startServer({ TESSERA_MAILBOX: 'on' });
  try {
    const operator = await newOperator(mailing, 'owner');
    const made = await act(mailing, operator, `${PATH}/new`, {}, { email: 'mailed@example.com' });
    assert.equal(linkIn(made.text), '');
    assert.equal((await mailsTo(mailing, 'mailed@example.com')).length, 1);
  } finally {
    await mailing.close();
  }
});

test('an auditor sees who is invited, and invites nobody', async () => {
  const auditor = await newOperator(server, 'auditor');
  assert.doesNotMatch((await auditor.browser.get(PATH)).text, /invitations\/(new|revoke)/);
  assert.equal((await auditor.browser.get(`${PATH}/new`)).status, 403);
});
