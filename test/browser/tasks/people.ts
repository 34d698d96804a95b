import assert from 'node:assert/strict';
import { agent } from '../../support/agent.ts';
import { admin, newClient, newUser, signedIn, type TestUser, tokensFor } from '../../support/flow.ts';
import { newPasskey } from '../../support/passkeys.ts';
import type { Hands } from './hands.ts';
import type { Task } from './task.ts';

const SEARCH = 'Username, email address or ID';

/** Finds a person, and opens their page. */
async function open(hands: Hands, { username }: TestUser): Promise<void> {
  await hands.section('People');
  await hands.type(SEARCH, username);
  await hands.press('Search');
  await hands.follow(new RegExp(username));
}

const userOf = async ({ stage }: Hands, { id }: TestUser) => (await admin(stage.server, 'GET', `/users/${id}`)).body;

/** Tries to sign in with a wrong password. */
async function fail({ stage: { server } }: Hands, { username }: TestUser): Promise<void> {
  const browser = agent(server.baseUrl);
  const page = await browser.get('/login');
  await browser.submit(page, { identifier: username, password: 'a wrong password' });
}

/** An act with nothing to type: from the person's page to what holds now. */
const plainAct = (link: string, submit: string, done: RegExp, make?: (hands: Hands) => Promise<TestUser>) =>
  async function walk(hands: Hands): Promise<void> {
    const person = await (make?.(hands) ?? newUser(hands.stage.server, { emailVerified: true }));
    await open(hands, person);
    await hands.follow(link);
    await hands.press(submit);
    await hands.sees(done);
  };

/** The tasks about one person. */
export const personTasks: readonly Task[] = [
  {
    ...{ name: 'Find a person by a part of the name', keys: true },
    async walk(hands) {
      const person = await newUser(hands.stage.server, { displayName: `Augusta ${hands.stage.server.now()}` });
      await hands.section('People');
      await hands.type(SEARCH, 'ugusta');
      await hands.press('Search');
      await hands.sees(person.username);
    },
  },
  {
    ...{ name: 'See why the last sign-in of a person failed', gate: true },
    async walk(hands) {
      const person = await newUser(hands.stage.server);
      await fail(hands, person);
      await open(hands, person);
      await hands.sees('The password was wrong.');
    },
  },
  {
    ...{ name: 'Send recovery', keys: true, gate: true },
    walk: plainAct('Send recovery', 'Send recovery', /Recovery is on the way/),
  },
  {
    name: 'Remove a lost passkey',
    async walk(hands) {
      const person = await newUser(hands.stage.server, { emailVerified: true });
      await newPasskey(hands.stage.server, person.id);
      await open(hands, person);
      await hands.follow(/^Remove /);
      await hands.press('Remove it');
      await hands.sees(/The factor of .* is removed/);
    },
  },
  {
    ...{ name: 'End the wait after failed sign-ins', keys: true },
    walk: plainAct('Unlock', 'Unlock', /can try again/),
  },
  {
    ...{ name: 'Sign a person out everywhere', keys: true },
    walk: plainAct('Sign out everywhere', 'Sign out everywhere', /is signed out everywhere/, async ({ stage }) => {
      const person = await newUser(stage.server);
      await signedIn(stage.server, person);
      return person;
    }),
  },
  {
    name: 'Sign a person out of one browser',
    async walk(hands) {
      const person = await newUser(hands.stage.server);
      await signedIn(hands.stage.server, person);
      await open(hands, person);
      await hands.follow('Browsers');
      await hands.follow(/^End: /);
      await hands.press('Sign out');
      await hands.sees(/is signed out of that browser/);
    },
  },
  {
    name: 'See which apps have access to a person, and take that away',
    async walk(hands) {
      const { server } = hands.stage;
      const person = await newUser(server);
      const app = await newClient(server, { name: 'Acme Notes' });
      await tokensFor(server, app, person, {}, { browser: await signedIn(server, person) });
      await open(hands, person);
      await hands.follow('Apps');
      await hands.sees('Acme Notes');
      await hands.follow(/Take access away/);
      await hands.press('Take access away');
      await hands.sees(/has no access to/);
    },
  },
  {
    name: 'See the groups, the organization and the roles of a person',
    async walk(hands) {
      const { server } = hands.stage;
      const person = await newUser(server);
      const group = await admin(server, 'POST', '/groups', { name: `of.${person.username}` });
      await admin(server, 'PUT', `/groups/${group.body.id}/members/${person.id}`);
      await open(hands, person);
      await hands.follow('Groups');
      await hands.sees(`of.${person.username}`);
    },
  },
  {
    ...{ name: 'Suspend a person', keys: true, gate: true },
    async walk(hands) {
      const person = await newUser(hands.stage.server);
      await open(hands, person);
      await hands.follow('Suspend');
      await hands.type('Reason', 'Asked for it');
      await hands.press('Suspend');
      await hands.sees(/is suspended/);
      assert.equal((await userOf(hands, person)).status, 'suspended');
    },
  },
  {
    name: 'Reinstate a person',
    walk: plainAct('Reinstate', 'Reinstate', /is reinstated/, async ({ stage: { server } }) => {
      const person = await newUser(server);
      await admin(server, 'PUT', `/users/${person.id}/suspension`, {});
      return person;
    }),
  },
  {
    name: 'Ask a person to verify the address',
    walk: plainAct('Ask to verify the address', 'Send the message', /A message is on the way/, ({ stage }) =>
      newUser(stage.server),
    ),
  },
  {
    name: 'Correct the name of a person',
    async walk(hands) {
      const person = await newUser(hands.stage.server);
      await open(hands, person);
      await hands.follow('Correct');
      await hands.type('Name', 'Mary Fairfax');
      await hands.press('Save');
      await hands.sees(/The record of .* is saved/);
      assert.equal((await userOf(hands, person)).displayName, 'Mary Fairfax');
    },
  },
  {
    name: 'See what happened to a person',
    async walk(hands) {
      const person = await newUser(hands.stage.server);
      await open(hands, person);
      await hands.follow('Events');
      await hands.sees('account.created');
    },
  },
  {
    name: 'Ban a person until a day, and lift the ban',
    async walk(hands) {
      const person = await newUser(hands.stage.server);
      await open(hands, person);
      await hands.follow('Ban');
      await hands.type('Until', new Date(hands.stage.server.now() + 7 * 86_400_000).toISOString().slice(0, 10));
      await hands.press('Ban');
      await hands.sees(/is banned/);
      assert.equal((await userOf(hands, person)).status, 'banned');
      await hands.follow(/^Back to /);
      await hands.follow('Lift the ban');
      await hands.press('Lift the ban');
      await hands.sees(/The ban of .* is lifted/);
    },
  },
  {
    name: 'Offboard a person',
    async walk(hands) {
      const person = await newUser(hands.stage.server);
      await open(hands, person);
      await hands.follow('Offboard');
      await hands.choose('Delete the account after', '7 days');
      await hands.press('Offboard');
      await hands.sees(/is offboarded/);
    },
  },
  {
    name: 'Delete an account',
    async walk(hands) {
      const person = await newUser(hands.stage.server);
      await open(hands, person);
      await hands.follow('Delete');
      await hands.type('Type the username', person.username);
      await hands.press('Delete for good');
      await hands.sees(/The account of .* is deleted/);
    },
  },
  {
    name: 'Suspend many people by a pasted list',
    async walk(hands) {
      const { server } = hands.stage;
      const people = [await newUser(server), await newUser(server)];
      await hands.section('People');
      await hands.follow('Act on many');
      await hands.follow(/^Suspend/);
      await hands.type('People, one per line', people.map(({ username }) => username).join('\n'));
      await hands.press('See who they are');
      await hands.sees('Suspend: 2 people?');
      await hands.press('Suspend (2 people)');
      await server.runBulkActs();
      await hands.follow('Look again');
      await hands.sees('Finished');
    },
  },
  {
    name: 'Save people to a file, as a search shows them',
    async walk(hands) {
      const person = await newUser(hands.stage.server);
      await hands.section('People');
      await hands.type(SEARCH, person.username);
      await hands.press('Search');
      await hands.follow('Save to a file');
      const saved = hands.page.waitForEvent('download');
      await hands.page.getByRole('button', { name: 'Save as CSV' }).click();
      assert.match((await saved).suggestedFilename(), /\.csv$/);
    },
  },
];
