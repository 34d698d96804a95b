// store: SQLite, PostgreSQL
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { OperatorRole } from '../../src/operators/permissions.ts';
import { type Database, type Step, StoreUnavailable, type Work } from '../../src/platform/database/database.ts';
import type { Answer } from '../support/agent.ts';
import { act, newOperator, open, type TestOperator } from '../support/console.ts';
import { admin, newClient, newUser, type TestUser, tokensFor, userinfo } from '../support/flow.ts';
import { mailsTo } from '../support/mail.ts';
import { DAY, HOUR, MINUTE } from '../support/outcome.ts';
import { SEVERAL, startServer } from '../support/server.ts';

// Acts on many people: decisions §13.

/** Commits whose confirmation is lost, counted from now on: what was committed stays, as when a process is killed right after it. */
let losesCommit = Number.POSITIVE_INFINITY;
/** Acts that were begun wait for `runActs`, however the time of the poller falls. */
let isHeld = true;

/** Whether a unit of work asks for an act that waits. */
function asksForDue(work: () => Work<unknown>): boolean {
  const { value } = work().next();
  return /bulk_act'[\s\S]*due_at/.test(String((value as Step | undefined)?.statement.build));
}

const controlled = (database: Database): Database => ({
  ...database,
  read: async (work) => (isHeld && asksForDue(work) ? (undefined as never) : database.read(work)),
  async commit(work) {
    const result = await database.commit(work);
    if (--losesCommit === 0) throw new StoreUnavailable('the confirmation was lost');
    return result;
  },
});

const server = await startServer(
  {
    ...{ TESSERA_MAILBOX: 'on', TESSERA_LIMIT_MAIL_ADDRESS: 'off', TESSERA_LIMIT_MAIL_RECIPIENT: 'off' },
    TESSERA_LIMIT_FORM_ACCOUNT: 'off',
  },
  SEVERAL,
  undefined,
  { database: controlled },
);
after(() => server.close());

async function runActs(): Promise<void> {
  isHeld = false;
  await server.runBulkActs();
  isHeld = true;
}
const owner = await newOperator(server, 'owner');

const BULK = '/console/people/bulk';
const newPeople = async (count: number, fields = {}): Promise<readonly TestUser[]> => {
  const people: TestUser[] = [];
  for (let index = 0; index < count; index++) people.push(await newUser(server, fields));
  return people;
};
const namesOf = (people: readonly TestUser[]): string => people.map(({ username }) => username).join('\r\n');
const statusOf = async ({ id }: TestUser): Promise<string> => (await admin(server, 'GET', `/users/${id}`)).body.status;
const eventsOf = async (type: string, { id }: { readonly id: string }): Promise<readonly Event[]> =>
  (await admin(server, 'GET', `/audit-events?type=${type}&userId=${id}`)).body.items;
interface Event {
  readonly actor: { readonly type: string; readonly id: string };
  readonly requestId: string;
  readonly details: Readonly<Record<string, unknown>>;
}
const titleOf = ({ text }: Answer): string => /<h1>(.*?)<\/h1>/s.exec(text)?.[1]?.replaceAll(/<[^>]+>/g, '') ?? '';

/** Makes a list, and shows who is on it. */
async function preview(
  act: string,
  typed: Readonly<Record<string, string>>,
  by: TestOperator = owner,
): Promise<Answer> {
  const page = await open(server, by, `${BULK}/new?act=${act}`);
  assert.equal(page.status, 200, page.text);
  return by.browser.submit(page, typed, `${BULK}/new`);
}

const start = (page: Answer, by: TestOperator = owner): Promise<Answer> => by.browser.submit(page, {}, `${BULK}/start`);

/** Begins an act and waits until it has ended. @returns the page about it */
async function run(act: string, typed: Readonly<Record<string, string>>, by: TestOperator = owner): Promise<Answer> {
  const begun = await start(await preview(act, typed, by), by);
  assert.equal(begun.status, 303, begun.text);
  await runActs();
  return by.browser.get(begun.location?.href ?? '');
}

test('people are named by username, address and ID; who is not found is said, and nothing happens before it is confirmed', async () => {
  const [ada, grace, mary] = (await newPeople(3)) as [TestUser, TestUser, TestUser];
  const typed = [ada.username, ` ${grace.username.toUpperCase()}@example.com `, mary.id, ada.id, '<b>nobody', ''];
  const page = await preview('suspend', { names: typed.join('\n'), reason: 'Left' });
  assert.equal(page.status, 200);
  assert.match(titleOf(page), /Suspend: 3 people\?/);
  assert.ok(page.text.includes('&lt;b&gt;nobody') && !page.text.includes('<b>nobody'));
  assert.equal(await statusOf(ada), 'active');
  const begun = await start(page);
  await runActs();
  const done = await owner.browser.get(begun.location?.href ?? '');
  assert.match(done.text, /Finished/);
  assert.match(done.text, /3 of 3/);
  for (const person of [ada, grace, mary]) {
    assert.equal(await statusOf(person), 'suspended');
    const [event, ...more] = await eventsOf('account.suspended', person);
    assert.deepEqual([event?.actor, more.length], [{ type: 'user', id: owner.id }, 0]);
    assert.deepEqual([event?.details['reason'], event?.details['actorRole']], ['Left', 'owner']);
    // All of them are found by the request that began it.
    assert.ok(done.text.includes(`requestId=${event?.requestId}`));
  }
});

test('the act is done to the list that was shown, whoever a search finds by then, and counted again', async () => {
  const listed = await newPeople(2, { displayName: 'Frozen List' });
  const page = await preview('suspend', { text: 'Frozen List' });
  assert.match(titleOf(page), /2 people/);
  const [later] = (await newPeople(1, { displayName: 'Frozen List' })) as [TestUser];
  const [gone] = listed as [TestUser];
  await admin(server, 'DELETE', `/users/${gone.id}`);
  const refused = await start(page);
  assert.equal(refused.status, 409);
  assert.match(refused.text, /another number of people/);
  assert.match(titleOf(refused), /1 person\?/);
  const begun = await start(refused);
  await runActs();
  assert.match(
    (await owner.browser.get(begun.location?.href ?? '')).text,
    /1 person of this list were deleted|deleted since/,
  );
  assert.equal(await statusOf(later), 'active');
  assert.equal(await statusOf(listed[1] as TestUser), 'suspended');
  // Used up.
  assert.equal((await start(refused)).status, 409);
});

test('whom an operator adds to a group with many others leaves it with what else the operator made', async () => {
  const thief = await newOperator(server, 'admin');
  const people = (await newPeople(2)) as [TestUser, TestUser];
  const { body: group } = await admin(server, 'POST', '/groups', { name: 'bulk-taken-back' });
  await start(await preview('add-to-group', { names: namesOf(people), group: 'bulk-taken-back' }, thief), thief);
  await runActs();
  const members = async () => (await admin(server, 'GET', `/groups/${group.id}/members`)).body.items.length;
  assert.equal(await members(), 2);
  const { body } = await admin(server, 'DELETE', `/users/${thief.id}/roles/admin?endMade=true`);
  assert.equal(body.made.access.length, 2);
  assert.equal(await members(), 0);
});

/** Which roles somebody holds, and whether those whom they suspend are told of it: always where they may do so by the help desk's alone. */
const TOLD: readonly [roles: readonly OperatorRole[], isTold: boolean][] = [
  [['support'], true],
  [['support', 'auditor'], true],
  [['support', 'developer'], true],
  [['support', 'admin'], false],
  [['admin'], false],
];

for (const [[first, ...others], isTold] of TOLD) {
  test(`whom an operator suspends who is ${[first, ...others].join(' and ')} is ${isTold ? '' : 'not '}told of it`, async () => {
    const operator = await newOperator(server, first ?? 'support');
    for (const role of others) await admin(server, 'PUT', `/users/${operator.id}/roles/${role}`, {});
    const person = await newUser(server, { emailVerified: true });
    const told = async () =>
      (await mailsTo(server, `${person.username}@example.com`)).filter(({ subject }) => /suspended/i.test(subject))
        .length;
    assert.equal((await act(server, operator, '/console/people/suspend', { id: person.id })).status, 200);
    assert.equal(await told(), isTold ? 1 : 0);
  });
}

test('the help desk of the installation tells also where its operator is an admin of an organization', async () => {
  const { body: organization } = await admin(server, 'POST', '/organizations', {
    name: 'bulk-told',
    domain: 'told.example',
  });
  const support = await newOperator(server, 'support');
  await admin(server, 'PUT', `/organizations/${organization.id}/members/${support.id}`, { role: 'ADMIN' });
  const person = await newUser(server, { emailVerified: true });
  await start(await preview('suspend', { names: namesOf([person]) }, support), support);
  await runActs();
  assert.equal(await statusOf(person), 'suspended');
  const mails = await mailsTo(server, `${person.username}@example.com`);
  assert.equal(mails.filter(({ subject }) => /suspended/i.test(subject)).length, 1);
});

test('nobody acts on somebody who holds more: they are named before, and left as they are', async () => {
  const support = await newOperator(server, 'support');
  const boss = await newOperator(server, 'admin');
  const [person] = (await newPeople(1)) as [TestUser];
  const page = await preview('suspend', { names: namesOf([person, boss]) }, support);
  assert.match(titleOf(page), /1 person\?/);
  assert.match(page.text, /You may not act on/);
  const begun = await start(page, support);
  await runActs();
  const done = await support.browser.get(begun.location?.href ?? '');
  assert.match(done.text, /Missing permission/);
  assert.deepEqual([await statusOf(boss), await statusOf(person)], ['active', 'suspended']);
});

test('somebody who became stronger after the list was shown is refused with the reason', async () => {
  const support = await newOperator(server, 'support');
  const people = await newPeople(2);
  const page = await preview('suspend', { names: namesOf(people) }, support);
  await admin(server, 'PUT', `/users/${people[0]?.id}/roles/admin`, {});
  const begun = await start(page, support);
  await runActs();
  const done = await support.browser.get(`${begun.location?.href}?show=refused`);
  assert.match(done.text, /Missing permission/);
  assert.deepEqual(
    [await statusOf(people[0] as TestUser), await statusOf(people[1] as TestUser)],
    ['active', 'suspended'],
  );
});

test('each act does what it does for one person', async () => {
  const client = await newClient(server);
  const people = await newPeople(2, { emailVerified: true });
  const [ada, grace] = people as [TestUser, TestUser];
  const names = namesOf(people);
  const tokens = await tokensFor(server, client, ada);
  await run('end-sessions', { names });
  assert.ok((await userinfo(server, tokens.access_token)).status >= 400);

  const { body: group } = await admin(server, 'POST', '/groups', { name: 'bulk-analysts' });
  const members = async (): Promise<readonly string[]> =>
    (await admin(server, 'GET', `/groups/${group.id}/members`)).body.items.map((one: { userId: string }) => one.userId);
  await admin(server, 'PUT', `/groups/${group.id}/members/${ada.id}`);
  const added = await run('add-to-group', { names, group: 'bulk-analysts' });
  assert.match(added.text, /Nothing to do/);
  assert.deepEqual((await members()).toSorted(), [ada.id, grace.id].toSorted());
  const removed = await run('remove-from-group', { members: group.id, group: group.id });
  assert.match(removed.text, /2 of 2/);
  assert.deepEqual(await members(), []);

  await run('send-recovery', { names });
  assert.equal(
    (await mailsTo(server, `${ada.username}@example.com`)).filter(({ kind }) => kind === 'recovery').length,
    1,
  );

  await run('suspend', { names });
  assert.equal(await statusOf(grace), 'suspended');
  await run('reinstate', { names });
  assert.equal(await statusOf(grace), 'active');

  const [unverified] = (await newPeople(1)) as [TestUser];
  const asked = await run('remind-verification', { names: namesOf([unverified, ada]) });
  assert.match(asked.text, /Nothing to do/);
  assert.equal((await eventsOf('account.verification_reminded', unverified)).length, 1);
  assert.equal((await eventsOf('account.verification_reminded', ada)).length, 0);

  await run('offboard', { names, days: '7', reason: 'Left' });
  const offboarded = (await admin(server, 'GET', `/users/${ada.id}`)).body;
  assert.equal(Date.parse(offboarded.deletion.dueAt), server.now() + 7 * DAY);
});

test('what a person cannot be done is refused with the reason, and the others go on', async () => {
  const people = await newPeople(2, { emailVerified: true });
  const [suspended, active] = people as [TestUser, TestUser];
  await admin(server, 'PUT', `/users/${suspended.id}/suspension`, {});
  const done = await run('send-recovery', { names: namesOf(people) });
  assert.match(done.text, /banned, suspended or about to be deleted/);
  assert.equal((await mailsTo(server, `${active.username}@example.com`)).length > 0, true);
});

test('nobody offboards themselves or who gave them their role with many others; these are offboarded', async () => {
  const giver = await newOperator(server, 'owner');
  const receiver = await newOperator(server, 'owner');
  await admin(server, 'DELETE', `/users/${receiver.id}/roles/owner`);
  await act(server, giver, '/console/operators/grant', { user: receiver.id }, { role: 'owner' });
  const [before, later] = (await newPeople(2)) as [TestUser, TestUser];
  const done = await run('offboard', { names: namesOf([before, giver, receiver, later]), days: '30' }, receiver);
  assert.match(done.text, /Finished/);
  assert.match(done.text, /was given by this person in the last seven days/);
  assert.match(done.text, /This is your own account/);
  const states = await Promise.all([before, giver, receiver, later].map(statusOf));
  assert.deepEqual(states, ['suspended', 'active', 'active', 'suspended']);
});

test('a process that ends half way leaves nobody acted on twice, and the next one goes on', async () => {
  const people = await newPeople(25);
  const begun = await start(await preview('end-sessions', { names: namesOf(people) }));
  // The claim is the first commit; this loses what it heard of the tenth after it.
  losesCommit = 11;
  await runActs();
  losesCommit = Number.POSITIVE_INFINITY;
  const half = await owner.browser.get(begun.location?.href ?? '');
  assert.match(half.text, /Under way/);
  assert.doesNotMatch(half.text, />(0|25) of 25/);
  await server.restart();
  server.advance(MINUTE);
  await runActs();
  const done = await owner.browser.get(begun.location?.href ?? '');
  assert.match(done.text, /25 of 25/);
  for (const person of people) assert.equal((await eventsOf('account.signed_out_everywhere', person)).length, 1);
});

test('a fresh proof of the operator does not end it', async () => {
  const people = await newPeople(2);
  const begun = await start(await preview('suspend', { names: namesOf(people) }));
  server.advance(11 * MINUTE);
  await open(server, owner, `${BULK}/new?act=suspend`);
  await runActs();
  assert.match((await owner.browser.get(begun.location?.href ?? '')).text, /2 of 2/);
});

test('the operator stops it: whoever is not done stays as they were', async () => {
  const people = await newPeople(3);
  const begun = await start(await preview('suspend', { names: namesOf(people) }));
  const page = await owner.browser.get(begun.location?.href ?? '');
  const stopped = await owner.browser.submit(page, {}, `${BULK}/stop`);
  assert.equal(stopped.status, 303);
  await runActs();
  const done = await owner.browser.get(begun.location?.href ?? '');
  assert.match(done.text, /Stopped by you/);
  assert.match(done.text, /0 of 3/);
  for (const person of people) assert.equal(await statusOf(person), 'active');
});

test('a role that is taken away ends the act, and so does a session that ends', async () => {
  for (const how of ['role', 'session'] as const) {
    const support = await newOperator(server, 'admin');
    const people = await newPeople(2);
    const begun = await start(await preview('suspend', { names: namesOf(people) }, support), support);
    if (how === 'role') await admin(server, 'DELETE', `/users/${support.id}/roles/admin`);
    else await admin(server, 'DELETE', `/users/${support.id}/sessions`);
    await runActs();
    for (const person of people) assert.equal(await statusOf(person), 'active', how);
    const { body } = await admin(server, 'GET', `/audit-events?type=account.suspended&actorId=${support.id}`);
    assert.deepEqual(body.items, []);
    if (how === 'role') {
      await admin(server, 'PUT', `/users/${support.id}/roles/admin`, {});
      assert.match((await support.browser.get(begun.location?.href ?? '')).text, /your role does not include this/);
      await runActs();
      for (const person of people) assert.equal(await statusOf(person), 'active', 'it has ended for good');
    }
  }
});

test('a list is of its operator alone, is used within an hour, and acts without the permission are refused', async () => {
  const people = await newPeople(1);
  const page = await preview('suspend', { names: namesOf(people) });
  const other = await newOperator(server, 'owner');
  const id = /name="id" value="(\d+)"/.exec(page.text)?.[1] ?? '';
  assert.equal((await other.browser.get(`${BULK}/lists/${id}`)).status, 404);
  const own = await preview('suspend', { names: namesOf(people) }, other);
  const taken = await other.browser.submit(own, { id }, `${BULK}/start`);
  assert.equal(taken.status, 404);
  for (const wrong of ['x', '0', '99999999999999999999']) {
    assert.equal((await owner.browser.get(`${BULK}/lists/${wrong}`)).status, 404, wrong);
    assert.equal((await other.browser.submit(own, { id: wrong }, `${BULK}/start`)).status, 404, wrong);
  }
  const support = await newOperator(server, 'support');
  assert.equal((await support.browser.get(`${BULK}/new?act=offboard`)).status, 403);
  assert.equal((await support.browser.get(`${BULK}/new?act=nothing`)).status, 404);
  const forged = await open(server, support, `${BULK}/new?act=suspend`);
  const refused = await support.browser.submit(forged, { act: 'offboard', names: namesOf(people) }, `${BULK}/new`);
  assert.equal(refused.status, 403);
  server.advance(HOUR + MINUTE);
  // The proof is asked for again.
  await open(server, owner, `${BULK}/new?act=suspend`);
  assert.equal((await start(await owner.browser.get(`${BULK}/lists/${id}`))).status, 409);
  assert.equal(await statusOf(people[0] as TestUser), 'active');
});

test('a form that says nothing, too much or nonsense comes back with what was typed', async () => {
  const nobody = `nobody-${'x'.repeat(20)}`;
  for (const [typed, expected] of [
    [{}, /Fill in one of the fields that say who they are/],
    [{ names: 'a', text: 'b' }, /Fill in one of the fields that say who they are/],
    [{ names: nobody }, new RegExp(nobody)],
    [{ names: 'a', reason: 'x'.repeat(501) }, /At most 500 characters/],
    [{ members: 'no-such-group' }, /no such group/],
    [{ names: Array.from({ length: 5_001 }, (_, index) => `p${index}`).join('\n') }, /more than 5000 people/],
  ] as const) {
    const answer = await preview('suspend', typed);
    assert.equal(answer.status, 400, JSON.stringify(typed).slice(0, 80));
    assert.match(answer.text, expected);
  }
  assert.match((await preview('suspend', { names: nobody, reason: 'Kept text' })).text, /Kept text/);
  assert.equal((await preview('add-to-group', { names: owner.username })).status, 400);
});

test('two acts of an operator run at a time', async () => {
  const people = await newPeople(1);
  const pages: Answer[] = [];
  for (let index = 0; index < 3; index++) pages.push(await preview('end-sessions', { names: namesOf(people) }));
  const statuses: number[] = [];
  for (const page of pages) statuses.push((await start(page)).status);
  assert.deepEqual(statuses, [303, 303, 409]);
  await runActs();
  assert.equal((await start(pages[2] as Answer)).status, 303);
  await runActs();
});
