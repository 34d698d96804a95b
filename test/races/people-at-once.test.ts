// store: PostgreSQL, SQLite with --all
/** What two people do at the same time, or one person in two places, about accounts that come and go: decisions §11. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { type Agent, type Answer, agent, formOf } from '../support/agent.ts';
import { admin, newUser, PASSWORD, signedIn } from '../support/flow.ts';
import { holdCommits } from '../support/held-commits.ts';
import { mailsTo } from '../support/mail.ts';
import { DAY, MINUTE, query } from '../support/outcome.ts';
import { newPasskey, usePasskey } from '../support/passkeys.ts';
import { sweepDeletions } from '../support/personal-data.ts';
import { SEVERAL, spread, startServer } from '../support/server.ts';

const commits = holdCommits();
const off = Object.fromEntries(
  ['SIGN_IN_ADDRESS', 'MAIL_ADDRESS', 'MAIL_RECIPIENT'].map((name) => [`TESSERA_LIMIT_${name}`, 'off']),
);
const server = spread(
  await startServer({ TESSERA_MAILBOX: 'on', ...off }, SEVERAL, undefined, { database: commits.database }),
);
after(() => server.close());

let names = 0;
const newName = (start: string): string => `${start}${++names}`;
const newBrowser = (): Agent => agent(server.baseUrl, server.nodeInTurn);
const statusOf = async (path: string): Promise<number> => (await admin(server, 'GET', path)).status;

type Send = (header?: Readonly<Record<string, string>>) => Promise<Answer>;

async function formAt(
  browser: Agent,
  page: string,
  action: string,
  fields: Record<string, string> = {},
): Promise<Send> {
  const { hidden } = formOf((await browser.get(page)).text, action);
  return (header = {}) => browser.post(action, { ...hidden, ...fields }, header);
}

/** Sends a form, and does something else right before one of its commits. */
async function during(send: Send, commit: number, event: () => Promise<unknown>): Promise<Answer> {
  const { header } = commits.watch(async (count) => {
    if (count === commit) await event();
  });
  return send(header);
}

test('of several people who ask for one username at once, one has it, and gives one up', async () => {
  const wanted = newName('wanted');
  const people = await Promise.all(Array.from({ length: 6 }, () => newUser(server)));
  const forms = await Promise.all(
    people.map(async (person) =>
      formAt(await signedIn(server, person), '/account', '/account/username', { username: wanted }),
    ),
  );
  const statuses = (await Promise.all(forms.map((send) => send()))).map(({ status }) => status);
  assert.deepEqual([...statuses].sort(), [200, 409, 409, 409, 409, 409]);
  const winner = people[statuses.indexOf(200)];
  const held = await query(server, 'SELECT username, account_id FROM username_reservation');
  assert.deepEqual(held, [{ username: winner?.username, account_id: winner?.id }]);
});

test('a username that is given up at the same time is not taken by another', async () => {
  const [one, two] = [await newUser(server), await newUser(server)];
  const next = { username: newName('next') };
  const leaves = await formAt(await signedIn(server, one), '/account', '/account/username', next);
  const takes = await formAt(await signedIn(server, two), '/account', '/account/username', {
    username: one.username,
  });
  const [left, taken] = await Promise.all([leaves(), takes()]);
  assert.deepEqual([left.status, taken.status], [200, 409]);
});

test('of coming back and the deletion that is due, the first one counts', async () => {
  for (const first of ['coming back', 'the deletion']) {
    const person = await newUser(server);
    await (await formAt(await signedIn(server, person), '/account/data', '/account/deletion', { confirm: 'yes' }))();
    server.advance(14 * DAY - MINUTE);
    const browser = newBrowser();
    await browser.submit(await browser.get('/login'), { identifier: person.username, password: PASSWORD }, '/login');
    const send = await formAt(browser, '/login/come-back', '/login/come-back');
    server.advance(MINUTE);
    if (first === 'coming back') {
      assert.equal((await send()).location?.pathname, '/account');
      await sweepDeletions(server);
    } else {
      assert.equal((await during(send, 1, () => sweepDeletions(server))).location?.pathname, '/login');
    }
    const signedInAfter = (await browser.get('/account')).status === 200;
    const found = await statusOf(`/users/${person.id}`);
    assert.deepEqual([signedInAfter, found], first === 'coming back' ? [true, 200] : [false, 404], first);
  }
});

test('of the last two passkeys of a person without another way in, one stays', async () => {
  const person = await newUser(server, { password: undefined, emailVerified: false });
  const forms: Send[] = [];
  for (let count = 0; count < 2; count++) {
    const authenticator = await newPasskey(server, person.id);
    const browser = newBrowser();
    await usePasskey(browser, authenticator);
    const fields = { action: 'remove', id: authenticator.id };
    forms.push(await formAt(browser, '/account/security', '/account/security/passkeys', fields));
  }
  const answers = await Promise.all(forms.map((send) => send()));
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 303]);
  assert.equal((await query(server, 'SELECT id FROM passkey WHERE account_id = ?', person.id)).length, 1);
});

/** A sign-up that is about to create its account. */
interface SignUp {
  readonly username: string;
  readonly email: string;
  readonly browser: Agent;
  readonly send: Send;
  readonly invitationId: string;
  readonly organizationId: string;
  readonly inviterId: string;
}

/** @param mailed whether the invitation was sent to the address, and proves it */
async function signUp(mailed: boolean): Promise<SignUp> {
  const [username, name] = [newName('invited'), newName('org')];
  const email = `${username}@example.com`;
  const { body: organization } = await admin(server, 'POST', '/organizations', { name, domain: `${name}.example` });
  const inviter = await newUser(server);
  await admin(server, 'PUT', `/organizations/${organization.id}/members/${inviter.id}`, { role: 'OWNER' });
  const asked = { organizationId: organization.id, inviterId: inviter.id, ...(mailed && { email }) };
  const { body: invitation } = await admin(server, 'POST', '/invitations', asked);
  const [mail] = await mailsTo(server, email);
  const link = new URL(mail?.link ?? invitation.link).searchParams.get('link') ?? '';
  const browser = newBrowser();
  const fields = { displayName: 'N', username, password: PASSWORD, ...(!mailed && { email }) };
  let send = await formAt(browser, `/signup?invitation=${link}`, '/signup', fields);
  if (!mailed) {
    assert.equal((await send()).location?.pathname, '/signup/verify');
    const [{ code = '' } = {}] = await mailsTo(server, email);
    send = await formAt(browser, '/signup/verify', '/signup/verify', { code });
  }
  const ids = { invitationId: invitation.id, organizationId: organization.id, inviterId: inviter.id };
  return { username, email, browser, send, ...ids };
}

const LATE: readonly (readonly [string, number, (it: SignUp) => Promise<unknown>])[] = [
  ['the invitation was revoked', 404, ({ invitationId }) => admin(server, 'DELETE', `/invitations/${invitationId}`)],
  [
    'the inviter lost the role',
    404,
    ({ organizationId, inviterId }) =>
      admin(server, 'PUT', `/organizations/${organizationId}/members/${inviterId}`, { role: 'MEMBER' }),
  ],
  ['the inviter was banned', 404, ({ inviterId }) => admin(server, 'PUT', `/users/${inviterId}/ban`, {})],
  ['the inviter was deleted', 404, ({ inviterId }) => admin(server, 'DELETE', `/users/${inviterId}`)],
  ['another person proved the address', 409, ({ email }) => newUser(server, { email, emailVerified: true })],
  [
    'another person took the username',
    409,
    ({ username }) => newUser(server, { username, email: `${newName('other')}@example.com` }),
  ],
];

for (const mailed of [true, false]) {
  test(`a sign-up by ${mailed ? 'a mailed invitation' : 'an open link'} comes to nothing`, async (context) => {
    // The last commit creates the account.
    let last = 0;
    const control = await signUp(mailed);
    const { header } = commits.watch(async (count) => {
      if (await isFree(control)) last = count;
    });
    assert.equal((await control.send(header)).status, 303);
    assert.equal(await isFree(control), false);

    for (const [name, status, event] of LATE) {
      await context.test(`once ${name}`, async () => {
        const it = await signUp(mailed);
        const answer = await during(it.send, last, () => event(it));
        assert.equal(answer.status, status, answer.text);
        assert.equal((await it.browser.get('/account')).location?.pathname, '/login');
        if (status === 404) assert.ok(await isFree(it));
        const members = await query(
          server,
          'SELECT account_id FROM membership WHERE organization_id = ?',
          it.organizationId,
        );
        assert.ok(members.every(({ account_id }) => account_id === it.inviterId));
      });
    }
  });
}

/** Whether no account has the username. */
const isFree = async ({ username }: SignUp): Promise<boolean> =>
  (await query(server, 'SELECT id FROM account WHERE username = ?', username)).length === 0;
