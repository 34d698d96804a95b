import assert from 'node:assert/strict';
import { admin, authorizeUrl, newClient, newUser, type TestClient } from '../../support/flow.ts';
import type { Hands } from './hands.ts';
import type { Task } from './task.ts';

/** A request that is refused for its redirect URI. @returns its correlation ID */
async function refusedAt({ stage: { server } }: Hands, client: TestClient, redirect_uri: string): Promise<string> {
  const init = { redirect: 'manual', headers: { accept: 'text/html' } } as const;
  const answer = await fetch(server.baseUrl + authorizeUrl(client, { redirect_uri }), init);
  return answer.headers.get('x-request-id') ?? '';
}

let count = 0;
/** A name that nothing else has. */
const fresh = (name: string): string => `${name} ${++count}`;
const slug = (name: string): string => `${name}-${++count}`;

/** Finds an app, and opens its page. */
async function openApp(hands: Hands, name: string): Promise<void> {
  await hands.section('Apps');
  await hands.type('Name or client ID', name);
  await hands.press('Search');
  await hands.follow(new RegExp(`${name} `));
}

async function makeApp({ stage: { server } }: Hands): Promise<TestClient & { readonly name: string }> {
  const name = fresh('Almanac');
  return { name, ...(await newClient(server, { name, redirectUris: ['https://almanac.example/callback'] })) };
}

interface Named {
  readonly id: string;
  readonly name: string;
}

async function makeGroup({ stage: { server } }: Hands): Promise<Named> {
  const name = fresh('Analysts');
  const { body } = await admin(server, 'POST', '/groups', { name: slug('analysts'), displayName: name });
  return { id: body.id, name };
}

/** Finds a group, and opens its page. */
async function openGroup(hands: Hands, { name }: Named): Promise<void> {
  await hands.section('Groups');
  await hands.type('Name or ID', name);
  await hands.press('Search');
  await hands.follow(new RegExp(`${name} `));
}

async function makeOrganization({ stage: { server } }: Hands): Promise<Named> {
  const name = slug('engines');
  const { body } = await admin(server, 'POST', '/organizations', { name, domain: `${name}.example` });
  return { id: body.id, name };
}

/** Finds an organization, and opens its page. */
async function openOrganization(hands: Hands, { name }: Named): Promise<void> {
  await hands.section('Organizations');
  await hands.type('Name, domain or ID', name);
  await hands.press('Search');
  await hands.follow(new RegExp(`${name} `));
}

export const appTasks: readonly Task[] = [
  {
    ...{ name: 'Say why an app was refused, by a correlation ID', keys: true, gate: true },
    async walk(hands) {
      const id = await refusedAt(hands, await makeApp(hands), 'https://almanac.example/callbak');
      await hands.section('Explain');
      await hands.type('Correlation ID', id);
      await hands.press('Explain');
      await hands.sees('https://almanac.example/callbak');
    },
  },
  {
    name: 'Look at the newest refusals of one app',
    async walk(hands) {
      const app = await makeApp(hands);
      await refusedAt(hands, app, 'https://almanac.example/callbak');
      await openApp(hands, app.name);
      await hands.follow('Newest steps and refusals');
      await hands.sees('refused');
    },
  },
  {
    name: 'Add a redirect URI from the refused request',
    async walk(hands) {
      const app = await makeApp(hands);
      const id = await refusedAt(hands, app, 'https://almanac.example/new');
      await hands.section('Explain');
      await hands.type('Correlation ID', id);
      await hands.press('Explain');
      await hands.follow('Add this address to the app');
      await hands.press('Save');
      await hands.sees('The redirect URIs are saved');
      const { body } = await admin(hands.stage.server, 'GET', `/clients/${app.clientId}`);
      assert.ok(body.redirectUris.includes('https://almanac.example/new'));
    },
  },
  {
    ...{ name: 'Find an app, and copy its settings', keys: true },
    async walk(hands) {
      const app = await makeApp(hands);
      await openApp(hands, app.name);
      await hands.sees(app.clientId);
      await hands.sees('As environment variables');
    },
  },
  {
    ...{ name: 'Register a web app', gate: true },
    async walk(hands) {
      const name = fresh('Weather');
      await hands.section('Apps');
      await hands.follow('Register an app');
      await hands.check(/^Web app/);
      await hands.type('Name', name);
      await hands.type('Redirect URIs', 'https://weather.example/callback');
      await hands.press('Register');
      await hands.sees('Copy the secret now');
    },
  },
  {
    name: 'Give an app a new secret, and end the old one',
    async walk(hands) {
      const app = await makeApp(hands);
      await openApp(hands, app.name);
      await hands.follow('New secret');
      await hands.press('Make the secret');
      await hands.sees('The new secret works now');
      await hands.follow(/^Back to /);
      await hands.follow('End now');
      await hands.press('End it');
      await hands.sees('The secret has ended');
    },
  },
  {
    name: 'Disable an app',
    async walk(hands) {
      const app = await makeApp(hands);
      await openApp(hands, app.name);
      await hands.follow('Disable');
      await hands.press('Disable');
      await hands.sees(/is disabled/);
    },
  },
  {
    name: 'Enable an app',
    async walk(hands) {
      const app = await makeApp(hands);
      await admin(hands.stage.server, 'PATCH', `/clients/${app.clientId}`, { status: 'disabled' });
      await openApp(hands, app.name);
      await hands.follow('Enable');
      await hands.press('Enable');
      await hands.sees(/is enabled/);
    },
  },
];

export const groupTasks: readonly Task[] = [
  {
    name: 'See who is in a group',
    async walk(hands) {
      const group = await makeGroup(hands);
      const person = await newUser(hands.stage.server);
      await admin(hands.stage.server, 'PUT', `/groups/${group.id}/members/${person.id}`);
      await openGroup(hands, group);
      await hands.sees(person.username);
    },
  },
  {
    ...{ name: 'Add a person to a group', gate: true },
    async walk(hands) {
      const group = await makeGroup(hands);
      const person = await newUser(hands.stage.server);
      await openGroup(hands, group);
      await hands.type('Add a person', person.username);
      await hands.press('Next');
      await hands.press('Add');
      await hands.sees(/ is in /);
    },
  },
  {
    name: 'Remove a person from a group',
    async walk(hands) {
      const group = await makeGroup(hands);
      const person = await newUser(hands.stage.server);
      await admin(hands.stage.server, 'PUT', `/groups/${group.id}/members/${person.id}`);
      await openGroup(hands, group);
      await hands.follow(`Remove: ${person.username}`);
      await hands.press('Remove');
      await hands.sees(/ is not in .* any more/);
    },
  },
  {
    name: 'Create an organization',
    async walk(hands) {
      const name = slug('society');
      await hands.section('Organizations');
      await hands.follow('Create an organization');
      await hands.type('Name', name);
      await hands.type('Domain', `${name}.example`);
      await hands.press('Create');
      await hands.sees(/ is made/);
    },
  },
  {
    name: 'Add a person to an organization',
    async walk(hands) {
      const organization = await makeOrganization(hands);
      const person = await newUser(hands.stage.server);
      await openOrganization(hands, organization);
      await hands.type('Add a person', person.username);
      await hands.press('Next');
      await hands.press('Save');
      await hands.sees(/ is a member/);
    },
  },
  {
    name: 'Make a member the admin of an organization',
    async walk(hands) {
      const { server } = hands.stage;
      const organization = await makeOrganization(hands);
      const person = await newUser(server);
      await admin(server, 'PUT', `/organizations/${organization.id}/members/${person.id}`, { role: 'MEMBER' });
      await openOrganization(hands, organization);
      await hands.follow(`Change the role of ${person.username}`);
      await hands.choose('Role', 'an admin');
      await hands.press('Save');
      await hands.sees(/ is an admin of /);
    },
  },
  {
    name: 'Require a second factor of the members of an organization',
    async walk(hands) {
      await openOrganization(hands, await makeOrganization(hands));
      await hands.follow('Change');
      await hands.check(/^Members need a second factor/);
      await hands.press('Save');
      await hands.sees(/The requirement of .* is saved/);
    },
  },
];

export const serviceTasks: readonly Task[] = [
  {
    ...{ name: 'See what needs attention, and what happened in the last 30 days' },
    async walk(hands) {
      await hands.section('Overview');
      await hands.sees('Needs attention');
      await hands.follow('Last 30 days');
      await hands.sees('New accounts');
    },
  },
  {
    ...{ name: 'Find out who did what, by type', keys: true },
    async walk(hands) {
      const person = await newUser(hands.stage.server);
      await admin(hands.stage.server, 'PUT', `/users/${person.id}/suspension`, {});
      await hands.section('Events');
      await hands.unfold('Filter');
      await hands.type('Person (ID)', person.id);
      await hands.press('Show');
      await hands.sees('account.suspended');
    },
  },
  {
    ...{ name: 'Invite a person', keys: true },
    async walk(hands) {
      await hands.section('People');
      await hands.follow('Invite a person');
      await hands.type('Email address', `${slug('byron')}@example.com`);
      await hands.press('Invite');
      await hands.sees('The invitation is made');
    },
  },
  {
    name: 'Revoke an invitation',
    async walk(hands) {
      const email = `${slug('milbanke')}@example.com`;
      assert.equal((await admin(hands.stage.server, 'POST', '/invitations', { email })).status, 201);
      await hands.section('People');
      await hands.follow('Invitations');
      await hands.follow(`Revoke the invitation of ${email}`);
      await hands.press('Revoke');
      await hands.sees('The invitation is revoked');
    },
  },
  {
    name: 'See who has which role',
    async walk(hands) {
      const person = await newUser(hands.stage.server, { emailVerified: true });
      await admin(hands.stage.server, 'PUT', `/users/${person.id}/roles/auditor`, {});
      await hands.section('Operators');
      await hands.sees(person.username);
    },
  },
  {
    name: 'Give a person a role',
    async walk(hands) {
      const person = await newUser(hands.stage.server, { emailVerified: true });
      await hands.section('Operators');
      await hands.type('Give a role', person.username);
      await hands.press('Next');
      await hands.choose('Role', 'auditor: see everything, change nothing');
      await hands.press('Give the role');
      await hands.sees(/ is auditor/);
    },
  },
  {
    name: 'Take a role away',
    async walk(hands) {
      const person = await newUser(hands.stage.server, { emailVerified: true });
      await admin(hands.stage.server, 'PUT', `/users/${person.id}/roles/auditor`, {});
      await hands.section('Operators');
      await hands.follow(new RegExp(`^Take away: the role auditor of .*${person.username}`));
      await hands.press('Take the role away');
      await hands.sees(/ is no longer auditor/);
    },
  },
  {
    ...{ name: 'Create an admin key', keys: true },
    async walk(hands) {
      await hands.section('Operators');
      await hands.follow('Admin keys');
      await hands.follow('Create a key');
      await hands.type('Name', fresh('Nightly import'));
      await hands.press('Create the key');
      await hands.sees(/The key .* is made/);
    },
  },
  {
    name: 'See when an admin key was used, and revoke it',
    async walk(hands) {
      const name = fresh('Old import');
      await admin(hands.stage.server, 'POST', '/admin-keys', { name, role: 'auditor' });
      await hands.section('Operators');
      await hands.follow('Admin keys');
      await hands.follow(new RegExp(name));
      await hands.sees('never used');
      await hands.follow('Revoke');
      await hands.press('Revoke the key');
      await hands.sees(/The key .* is revoked/);
    },
  },
  {
    name: 'Add a provider through which people sign in',
    async walk(hands) {
      await hands.section('Sign-in providers');
      await hands.follow('Add a provider');
      await hands.follow(/^Google/);
      await hands.type('Name in its addresses', slug('google'));
      await hands.type('Client ID', '1234567890.apps.googleusercontent.com');
      await hands.type('Client secret', 'a secret');
      await hands.press('Add it');
      await hands.sees(/ is added/);
    },
  },
  {
    name: 'See the messages of the service, and send a test message',
    async walk(hands) {
      await hands.section('System');
      await hands.follow('Mail');
      await hands.follow('Send a test message');
      await hands.press('Send');
      await hands.sees(/the message is kept in the mailbox|accepted the message/);
    },
  },
  {
    name: 'See the settings of the service',
    async walk(hands) {
      await hands.section('System');
      await hands.follow('Settings');
      await hands.unfold('The server');
      await hands.sees('TESSERA_BASE_URL');
    },
  },
];
