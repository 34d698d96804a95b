// store: SQLite, PostgreSQL with --all
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { agent } from '../support/agent.ts';
import { admin, newSignedInUser, newUser, PASSWORD, type signedIn } from '../support/flow.ts';
import { mailsTo } from '../support/mail.ts';
import { SEVERAL, spread, startServer } from '../support/server.ts';

// Decisions §11: invitations.

const limits = { TESSERA_LIMIT_MAIL_ADDRESS: 'off', TESSERA_LIMIT_MAIL_RECIPIENT: 'off' };
const server = spread(await startServer({ TESSERA_SIGN_UP: 'invitation', TESSERA_MAILBOX: 'on', ...limits }, SEVERAL));
after(() => server.close());

let names = 0;
const newName = (): string => `guest${++names}`;

async function newOrganization(): Promise<string> {
  const name = `org${++names}`;
  return (await admin(server, 'POST', '/organizations', { name, domain: `${name}.example` })).body.id;
}

const pathOf = (link: string | undefined): string => link?.slice(server.baseUrl.length) ?? '';

async function invite(fields: object): Promise<{ id: string; path: string }> {
  const { status, body } = await admin(server, 'POST', '/invitations', fields);
  assert.equal(status, 201, JSON.stringify(body));
  return { id: body.id, path: pathOf(body.link) };
}

const members = async (id: string): Promise<{ username: string; role: string | null }[]> =>
  (await admin(server, 'GET', `/organizations/${id}`)).body.members;

async function join(path: string, browser: Awaited<ReturnType<typeof signedIn>>): Promise<number> {
  const page = await browser.get(path);
  return page.status === 200 && page.text.includes('<form method="post" action="/invitation"')
    ? (await browser.submit(page, {}, '/invitation')).status
    : page.status;
}

const JOIN = /<button[^>]*>Join</;

test('an invitation by mail: opening it changes nothing, and the account is created, verified and a member at once', async () => {
  const organizationId = await newOrganization();
  const name = newName();
  const email = `${name}@example.com`;
  await invite({ email, organizationId, role: 'ADMIN' });
  const [mail] = await mailsTo(server, email);
  const path = pathOf(mail?.link);
  const browser = agent(server.baseUrl, server.nodeInTurn);
  for (let time = 0; time < 2; time++) assert.match((await browser.get(path)).text, /You are invited to join/);
  const link = new URL(path, server.baseUrl).searchParams.get('link');
  const form = await browser.get(`/signup?invitation=${link}`);
  assert.match(form.text, new RegExp(email));
  const fields = { displayName: 'G', username: name, password: 'quartz lamp river', email: 'other@elsewhere.example' };
  const done = await browser.submit(form, fields);
  assert.deepEqual([done.status, done.headers.get('location')], [303, '/account']);
  const [account] = (await admin(server, 'GET', `/users?q=${name}`)).body.items;
  assert.deepEqual([account.email, account.emailVerified], [email, true]);
  assert.deepEqual(
    (await members(organizationId)).map(({ username, role }) => [username, role]),
    [[name, 'ADMIN']],
  );
  assert.match((await browser.get(path)).text, /You have already joined/);
  assert.equal((await agent(server.baseUrl).get(path)).status, 404, 'once');
  assert.equal((await agent(server.baseUrl).get(`/signup?invitation=${link}`)).status, 404);
});

test('an invited person who chose a taken username displaces no one', async () => {
  const [name, other] = [newName(), await newUser(server)];
  const email = `${name}@example.com`;
  const body = { username: name, displayName: 'G', email, password: 'quartz lamp river' };
  const { body: holder } = await admin(server, 'POST', '/users', body);
  await invite({ email, days: 1 });
  const [mail] = await mailsTo(server, email);
  assert.match(mail?.text ?? '', /The link works for one day, once\./);
  const link = new URL(mail?.link ?? '').searchParams.get('link');
  const browser = agent(server.baseUrl, server.nodeInTurn);
  const fields = { displayName: 'G', username: other.username, password: 'quartz lamp river' };
  const taken = await browser.submit(await browser.get(`/signup?invitation=${link}`), fields);
  assert.equal(taken.status, 409);
  assert.equal((await admin(server, 'GET', `/users/${holder.id}`)).body.email, email, 'kept until an account has it');
  assert.equal((await browser.submit(taken, { ...fields, username: newName() })).status, 303);
  assert.notEqual((await admin(server, 'GET', `/users/${holder.id}`)).body.email, email);
});

test('an open link: its sign-up proves the address first, then joins', async () => {
  const organizationId = await newOrganization();
  const { path } = await invite({ organizationId, role: 'MEMBER' });
  const link = new URL(path, server.baseUrl).searchParams.get('link');
  const name = newName();
  const browser = agent(server.baseUrl, server.nodeInTurn);
  const fields = { displayName: 'G', username: name, password: 'quartz lamp river', email: `${name}@example.com` };
  assert.equal((await browser.submit(await browser.get(`/signup?invitation=${link}`), fields)).status, 303);
  assert.deepEqual(await members(organizationId), []);
  const [mail] = await mailsTo(server, fields.email);
  const done = await browser.submit(await browser.get('/signup/verify'), { code: mail?.code ?? '' });
  assert.equal(done.status, 303);
  assert.equal((await members(organizationId)).length, 1);
});

test('an open link gives MEMBER at most', async () => {
  const organizationId = await newOrganization();
  for (const role of ['OWNER', 'ADMIN']) {
    assert.equal((await admin(server, 'POST', '/invitations', { organizationId, role })).status, 400, role);
  }
  assert.equal((await admin(server, 'POST', '/invitations', { role: 'MEMBER' })).status, 400, 'no organization');
  assert.equal((await admin(server, 'POST', '/invitations', { organizationId: 'x' })).status, 400);
});

test('a person with an account signs in and continues to the invitation', async () => {
  const organizationId = await newOrganization();
  const { path } = await invite({ organizationId });
  const user = await newUser(server);
  const browser = agent(server.baseUrl, server.nodeInTurn);
  const asked = await browser.submit(await browser.get(path), {}, '/invitation');
  assert.equal(asked.location?.pathname, '/login');
  const done = await browser.submit(await browser.get('/login'), { identifier: user.username, password: PASSWORD });
  assert.equal(`${done.location?.pathname}${done.location?.search}`, path);
  assert.equal(browser.cookie('tessera_invitation'), undefined);
  assert.equal(await join(path, browser), 200);
  assert.equal((await members(organizationId)).length, 1);
  // A person who signs up after all accepts it by that.
  const newcomer = agent(server.baseUrl, server.nodeInTurn);
  const another = await invite({ organizationId });
  await newcomer.submit(await newcomer.get(another.path), {}, '/invitation');
  assert.ok(newcomer.cookie('tessera_invitation'));
  await newcomer.get(another.path.replace('/invitation?link=', '/signup?invitation='));
  assert.equal(newcomer.cookie('tessera_invitation'), undefined);
  // Without the form of the page, nothing is kept.
  const other = agent(server.baseUrl);
  await other.post('/invitation', { link: new URL(path, server.baseUrl).searchParams.get('link') ?? '' });
  assert.equal(other.cookie('tessera_invitation'), undefined);
});

test('of many people with one link, one joins; a revoked or expired one admits nobody', async () => {
  const organizationId = await newOrganization();
  const { path } = await invite({ organizationId });
  const people = await Promise.all([1, 2, 3, 4].map(() => newSignedInUser(server)));
  const statuses = await Promise.all(people.map(({ browser }) => join(path, browser)));
  assert.equal(statuses.filter((status) => status === 200).length, 1, `${statuses}`);
  assert.equal((await members(organizationId)).length, 1);

  const { browser } = await newSignedInUser(server);
  const revoked = await invite({ organizationId });
  const page = await browser.get(revoked.path);
  assert.equal((await admin(server, 'DELETE', `/invitations/${revoked.id}`)).status, 204);
  assert.equal((await browser.submit(page, {}, '/invitation')).status, 404);
  assert.equal((await admin(server, 'DELETE', `/invitations/${revoked.id}`)).status, 404);

  const raced = await invite({ organizationId });
  const shown = await browser.get(raced.path);
  const [answer, ended] = await Promise.all([
    browser.submit(shown, {}, '/invitation'),
    admin(server, 'DELETE', `/invitations/${raced.id}`),
  ]);
  assert.equal((answer.status === 200) !== (ended.status === 204), true, `${answer.status} ${ended.status}`);

  const late = await newSignedInUser(server);
  const expired = await invite({ organizationId, days: 1 });
  server.advance(24 * 3_600_000);
  assert.equal((await late.browser.get(expired.path)).status, 404);
});

test('of a person who waits for their deletion no invitation works, and none is made', async () => {
  const organizationId = await newOrganization();
  const { user: inviter, browser } = await newSignedInUser(server);
  await admin(server, 'PUT', `/organizations/${organizationId}/members/${inviter.id}`, { role: 'ADMIN' });
  const fields = { organizationId, inviterId: inviter.id };
  const { path } = await invite(fields);
  const asked = await browser.submit(await browser.get('/account/data'), { confirm: 'yes' }, '/account/deletion');
  assert.equal(asked.status, 200);
  const other = await newSignedInUser(server);
  assert.equal(await join(path, other.browser), 404);
  assert.equal((await admin(server, 'POST', '/invitations', fields)).status, 409);
});

test('the inviter must still have the right, and people elsewhere are refused, never moved', async () => {
  const [organizationId, other] = [await newOrganization(), await newOrganization()];
  const inviter = await newUser(server);
  const fields = { organizationId, inviterId: inviter.id };
  const setRole = (role: string | null) =>
    admin(server, 'PUT', `/organizations/${organizationId}/members/${inviter.id}`, { role });
  await setRole('MEMBER');
  assert.equal((await admin(server, 'POST', '/invitations', fields)).status, 409, 'a member');
  await setRole('ADMIN');
  const above = { ...fields, email: 'boss@example.com', role: 'OWNER' };
  assert.equal((await admin(server, 'POST', '/invitations', above)).status, 409, 'above their own role');
  const { path } = await invite(fields);
  const { user, browser } = await newSignedInUser(server);
  await setRole('MEMBER');
  assert.equal(await join(path, browser), 404, 'the role was lost');
  await setRole('ADMIN');
  for (const bar of ['ban', 'suspension']) {
    const { path: ended } = await invite(fields);
    await admin(server, 'PUT', `/users/${inviter.id}/${bar}`, {});
    assert.equal(await join(ended, browser), 404, bar);
    await admin(server, 'DELETE', `/users/${inviter.id}/${bar}`);
    assert.equal(await join(ended, browser), 404, `given back after the ${bar}`);
  }
  const { path: open } = await invite(fields);
  const free = await browser.get(open);
  assert.match(free.text, JOIN);
  await admin(server, 'PUT', `/organizations/${other}/members/${user.id}`, {});
  const refused = await browser.submit(free, {}, '/invitation');
  assert.equal(refused.status, 409, 'in another organization');
  // So says the page before anything is pressed, with no button that would fail.
  for (const { text } of [refused, await browser.get(open)]) {
    assert.match(text, /<h1>This account cannot join org\d+<\/h1>/);
    assert.match(
      text,
      /You are a member of <strong><bdi>org\d+<.* first, then open this invitation again\. Or sign out/s,
    );
    assert.match(text, /href="\/account\/organization"/);
    assert.doesNotMatch(text, JOIN);
  }
  assert.deepEqual(
    (await members(other)).map(({ username }) => username),
    [user.username],
  );
  for (const [what, lose, restore] of [
    [
      'suspended',
      () => admin(server, 'PUT', `/users/${inviter.id}/suspension`, {}),
      () => admin(server, 'DELETE', `/users/${inviter.id}/suspension`),
    ],
    [
      'no longer a member',
      () => admin(server, 'DELETE', `/organizations/${organizationId}/members/${inviter.id}`),
      () => setRole('ADMIN'),
    ],
    ['deleted', () => admin(server, 'DELETE', `/users/${inviter.id}`), async () => {}],
  ] as const) {
    const last = await newSignedInUser(server);
    const { path: opened } = await invite(fields);
    const page = await last.browser.get(opened);
    assert.ok((await lose()).status < 300, what);
    assert.equal((await last.browser.submit(page, {}, '/invitation')).status, 404, what);
    await restore();
  }
  const bound = await invite({ organizationId, email: 'somebody@example.com' });
  assert.equal(bound.path, '', 'a mailed link is shown to nobody');
  const [mail] = await mailsTo(server, 'somebody@example.com');
  const wrong = await newSignedInUser(server);
  assert.equal(await join(pathOf(mail?.link), wrong.browser), 409, 'another address');
  const { text } = await wrong.browser.get(pathOf(mail?.link));
  assert.match(text, /This account cannot join .*Sign out, then open the invitation again/s);
  assert.doesNotMatch(text, JOIN);
  const { path: again } = await invite({ organizationId: other });
  const within = await browser.get(again);
  assert.match(within.text, /You have already joined org\d+/);
  assert.doesNotMatch(within.text, JOIN);
});

test('an invitation says who invites, to what, as what and whom', async () => {
  const organizationId = await newOrganization();
  const inviter = await newUser(server, { displayName: 'Ada <Lovelace>' });
  await admin(server, 'PUT', `/organizations/${organizationId}/members/${inviter.id}`, { role: 'OWNER' });
  const email = `${newName()}@example.com`;
  await invite({ email, organizationId, role: 'ADMIN', inviterId: inviter.id });
  const [mail] = await mailsTo(server, email);
  const { text } = await agent(server.baseUrl).get(pathOf(mail?.link));
  assert.match(
    text,
    /You are invited to join <strong><bdi>org\d+<\/bdi>.*, in the name of <strong><bdi>Ada &lt;Lovelace&gt;<\/bdi><\/strong>/,
  );
  assert.match(text, /\(<bdi>org\d+\.example<\/bdi>\) as an administrator, in the name of/);
  assert.ok(text.includes(email));
});

test('an invitation to an address can be declined, and then admits nobody; a link for anyone cannot', async () => {
  const organizationId = await newOrganization();
  const email = `${newName()}@example.com`;
  const { id } = await invite({ email, organizationId });
  const [mail] = await mailsTo(server, email);
  const path = pathOf(mail?.link);
  const browser = agent(server.baseUrl, server.nodeInTurn);
  const page = await browser.get(path);
  // Without the form of the page, nothing happens.
  const forged = { decision: 'decline', link: new URL(path, server.baseUrl).searchParams.get('link') ?? '' };
  await agent(server.baseUrl).post('/invitation', forged);
  const declined = await browser.submit(page, { decision: 'decline' }, '/invitation');
  assert.match(declined.text, /You declined to join org\d+/);
  assert.equal((await browser.get(path)).status, 404);
  assert.equal((await admin(server, 'DELETE', `/invitations/${id}`)).status, 404);
  const { items } = (await admin(server, 'GET', '/audit-events?type=invitation.declined')).body;
  assert.equal(items.at(-1)?.details.invitationId, id);

  const open = await invite({ organizationId });
  const { text } = await browser.get(open.path);
  assert.doesNotMatch(text, /Decline/);
  await browser.submit(await browser.get(open.path), { decision: 'decline' }, '/invitation');
  assert.equal((await browser.get(open.path)).status, 200, 'it still works');
});

test('who opens the link again after joining is told so; another person is not', async () => {
  const organizationId = await newOrganization();
  const { path } = await invite({ organizationId });
  const { user, browser } = await newSignedInUser(server);
  assert.equal(await join(path, browser), 200);
  const again = await browser.get(path);
  const { items } = (await admin(server, 'GET', '/invitations?limit=200')).body;
  const usedBy = items.find((one: { usedBy: unknown }) => one.usedBy === user.id);
  assert.ok(usedBy !== undefined, 'the API names who used it, digit for digit');
  assert.deepEqual([again.status, /You have already joined org\d+/.test(again.text)], [200, true]);
  assert.match(again.text, /<header class="masthead">.*Sign out.*<\/header>/s, 'who is signed in');
  const { browser: other } = await newSignedInUser(server);
  assert.equal((await other.get(path)).status, 404);
});
