import assert from 'node:assert/strict';
import type { Browser, Page } from 'playwright-core';
import { countEvents } from '../../src/audit/counts.ts';
import {
  admin,
  authorizeUrl,
  newClient,
  newUser,
  PASSWORD,
  signedIn,
  type TestUser,
  tokensFor,
} from '../support/flow.ts';
import { withData } from '../support/forged-token.ts';
import { query } from '../support/outcome.ts';
import { newPasskey } from '../support/passkeys.ts';
import { enroll, type SecondFactor, totpCode } from '../support/second-factor.ts';
import { joinedThrough, newUpstream } from '../upstreams/people.ts';
import { openStageIn, pressInConsole, type Stage, signIn, submit } from './stage.ts';

const MINUTE = 60_000;

interface Walk {
  readonly stage: Stage;
  readonly page: Page;
  /** Stops at a page or state. */
  readonly stop: (name: string) => Promise<void>;
}

/** A stage whose server keeps the mail that it would send. */
export const openConsoleStage = (browser: Browser): Promise<Stage> =>
  openStageIn(browser, { TESSERA_MAILBOX: 'on', TESSERA_LIMIT_MAIL_RECIPIENT: 'off' });

/** Signs an operator in with a second factor. */
export async function signInOperator(
  { stage, page }: Pick<Walk, 'stage' | 'page'>,
  user: TestUser,
  factor: SecondFactor,
): Promise<void> {
  await page.goto(`${stage.server.baseUrl}/login`);
  await signIn(page, user.username, PASSWORD);
  stage.server.advance(MINUTE);
  await page.fill('#code', totpCode(factor, stage.server.now()));
  await submit(page);
}

/** An operator with a second factor, who is not signed in yet. */
export async function makeOperator(
  { server }: Stage,
  role: string,
  fields: Readonly<Record<string, unknown>> = {},
): Promise<{ readonly user: TestUser; readonly factor: SecondFactor }> {
  const user = await newUser(server, { emailVerified: true, ...fields });
  assert.equal((await admin(server, 'PUT', `/users/${user.id}/roles/${role}`, {})).status, 200);
  return { user, factor: await enroll(server, user) };
}

/** A person with browsers, apps, factors and groups, who cannot get in. */
async function newPerson({ server }: Stage): Promise<TestUser> {
  const ada = await newUser(server, {
    ...{ username: 'ada.lovelace', displayName: 'Ada Lovelace', email: 'ada@engines.example', emailVerified: true },
    phone: '+905551234567',
  });
  const notes = await newClient(server, { name: 'Acme Notes' });
  const society = await newClient(server, { name: 'The Society for the Collected Correspondence of Ada Lovelace' });
  const browser = await signedIn(server, ada);
  await tokensFor(server, notes, ada, {}, { browser });
  await tokensFor(server, society, ada, {}, { browser });
  await signedIn(server, ada);
  await newPasskey(server, ada.id);
  await enroll(server, ada);
  const group = await admin(server, 'POST', '/groups', { name: 'analysts', displayName: 'Analysts' });
  await admin(server, 'PUT', `/groups/${group.body.id}/members/${ada.id}`);
  const organization = await admin(server, 'POST', '/organizations', { name: 'engines', domain: 'engines.example' });
  await admin(server, 'PUT', `/organizations/${organization.body.id}/members/${ada.id}`, { role: 'MEMBER' });
  return ada;
}

/** The pages about people. */
async function people(walk: Walk): Promise<void> {
  const { stage, page, stop } = walk;
  const { server } = stage;
  const open = (path: string) => page.goto(`${server.baseUrl}/console/people${path}`);
  const ada = await newPerson(stage);
  for (let index = 0; index < 30; index++) {
    const suspended = await newUser(server, { displayName: `Person ${index + 1}` });
    if (index % 7 === 0) await admin(server, 'PUT', `/users/${suspended.id}/suspension`, {});
  }
  await open('');
  await stop('console-people');
  await page.fill('#q', 'ada');
  await pressInConsole(page.locator('main form button.primary'));
  await stop('console-people-found');
  await open('?q=nobody-is-called-so');
  await stop('console-people-none');
  await open(`/${ada.id}`);
  await stop('console-person');
  for (const part of ['sessions', 'apps', 'memberships']) {
    await open(`/${ada.id}/${part}`);
    await stop(`console-person-${part}`);
  }
  await open(`/end-sessions?id=${ada.id}`);
  await stop('console-end-sessions');
  await pressInConsole(page.locator('main button.danger'));
  await stop('console-end-sessions-done');
  await open(`/ban?id=${ada.id}`);
  await page.fill('#until', '2020-01-01');
  await page.fill('#reason', 'Sent advertisements to everybody in the directory.');
  await pressInConsole(page.locator('main button.danger'));
  await stop('console-ban-wrong');
  await page.fill('#until', '');
  await pressInConsole(page.locator('main button.danger'));
  await stop('console-ban-done');
  await open(`/${ada.id}`);
  await stop('console-person-banned');
  await open('/1');
  await stop('console-not-found');
}

/** The pages about groups. */
async function groups(walk: Walk): Promise<void> {
  const { stage, page, stop } = walk;
  const { server } = stage;
  const open = (path: string) => page.goto(`${server.baseUrl}/console/groups${path}`);
  await open('');
  await stop('console-groups');
  await pressInConsole(page.locator('.list a').first());
  await stop('console-group');
  const person = await newUser(server, { displayName: 'Grace Hopper' });
  await page.fill('#member', person.username);
  await pressInConsole(page.locator('main form button.primary'));
  await stop('console-group-add');
  await pressInConsole(page.locator('main form button.primary'));
  await stop('console-group-added');
}

/** The pages about organizations. */
async function organizations(walk: Walk): Promise<void> {
  const { stage, page, stop } = walk;
  const { server } = stage;
  const open = (path: string) => page.goto(`${server.baseUrl}/console/organizations${path}`);
  const send = (): Promise<void> => pressInConsole(page.locator('main form button:is(.primary, .danger)').last());
  await open('');
  await stop('console-organizations');
  await open('/create');
  await page.fill('#name', 'Not a slug');
  await send();
  await stop('console-organization-create-wrong');
  await page.fill('#name', 'correspondence-society');
  await page.fill('#domain', 'correspondence.example');
  await send();
  await stop('console-organization-created');
  await pressInConsole(page.locator('main p > a.button'));
  const person = await newUser(server, { displayName: 'Mary Somerville' });
  await page.fill('#member', person.username);
  await pressInConsole(page.locator('main form button.primary'));
  await stop('console-organization-member');
  await send();
  await stop('console-organization-member-added');
  await pressInConsole(page.locator('main p > a.button'));
  await stop('console-organization');
  const address = new URL(page.url()).pathname.replace(/^.*organizations/, '');
  for (const part of ['groups', 'apps', 'roles']) {
    await open(`${address}/${part}`);
    await stop(`console-organization-${part}`);
  }
  await open(`/delete?id=${address.slice(1)}`);
  await stop('console-organization-delete');
}

/** The pages about operators and admin keys. */
async function operators(walk: Walk): Promise<void> {
  const { stage, page, stop } = walk;
  const { server } = stage;
  const open = (path: string) => page.goto(`${server.baseUrl}/console/${path}`);
  const send = (): Promise<void> => pressInConsole(page.locator('main form button:is(.primary, .danger)').last());
  const person = await newUser(server, { displayName: 'Charles Babbage' });
  await open('operators');
  await stop('console-operators');
  await page.fill('#member', person.username);
  await pressInConsole(page.locator('main form button.primary'));
  await page.selectOption('#role', 'auditor');
  await stop('console-role-give');
  await send();
  await stop('console-role-given');
  await open(`operators/revoke?user=${person.id}&held=auditor`);
  await stop('console-role-take-away');
  await open('keys/new');
  await page.fill('#name', 'Nightly import of people');
  await page.selectOption('#role', 'admin');
  await stop('console-key-new');
  await send();
  await stop('console-key-made');
  const adminKey = (await page.locator('code', { hasText: 'tak_' }).textContent())?.trim() ?? '';
  await makeWith(stage, adminKey);
  await pressInConsole(page.locator('main p > a.button'));
  await stop('console-key');
  const id = new URL(page.url()).pathname.split('/').at(-1);
  await open('keys');
  await stop('console-keys');
  await open(`keys/${id}/made`);
  await stop('console-key-made-with');
  await open(`keys/revoke?id=${id}`);
  await stop('console-key-revoke');
}

/** Something of each kind, made with an admin key. */
async function makeWith({ server }: Stage, adminKey: string): Promise<void> {
  const call = async (method: string, path: string, body?: object) =>
    (await admin(server, method, path, body, adminKey)).body;
  const { clientId } = await call('POST', '/clients', {
    ...{ name: 'The Weekly Correspondence', redirectUris: ['https://weekly.example/callback'] },
  });
  await call('PATCH', `/clients/${clientId}`, { access: 'assigned', requireSecondFactor: true });
  const group = await call('POST', '/groups', { name: 'correspondents', displayName: 'Correspondents' });
  for (let index = 1; index <= 12; index++) {
    const fields = { username: `correspondent-${index}`, email: `correspondent-${index}@society.example` };
    const { id } = await call('POST', '/users', { ...fields, displayName: `Correspondent ${index}` });
    await call('PUT', `/groups/${group.id}/members/${id}`);
    if (index < 4) await call('POST', `/clients/${clientId}/assignments`, { userId: id });
  }
}

/** What a developer asks for, and how an operator decides. */
async function scopeRequests({ stage, page, stop }: Walk, app: string): Promise<void> {
  const open = (path: string) => page.goto(`${stage.server.baseUrl}/console/apps/${path}`);
  await open(`request-scope?app=${app}`);
  await stop('console-scope-ask');
  const asked = [
    { scope: 'groups', reason: 'To show each member the correspondence of the committees to which they belong.' },
    { scope: 'letters.read', resource: 'https://letters.society.example/api', reason: 'To read letters.' },
  ];
  const ids: string[] = [];
  for (const one of asked) ids.push((await admin(stage.server, 'POST', `/clients/${app}/scope-requests`, one)).body.id);
  await open('scope-requests');
  await stop('console-scope-requests');
  await open(`approve-scope?app=${app}&asked=${ids[0]}`);
  await stop('console-scope-approve');
  await pressInConsole(page.locator('main form button.primary').last());
  await stop('console-scope-approved');
  await open(`decline-scope?app=${app}&asked=${ids[1]}`);
  await pressInConsole(page.locator('main form button.primary').last());
  await stop('console-scope-decline-wrong');
  await open(`withdraw-scope?app=${app}&asked=${ids[1]}`);
  await stop('console-scope-withdraw');
  await open(app);
  await stop('console-app-scopes');
}

/** The pages about apps. */
async function apps(walk: Walk): Promise<void> {
  const { stage, page, stop } = walk;
  const open = (path: string) => page.goto(`${stage.server.baseUrl}/console/apps${path}`);
  const send = (): Promise<void> => pressInConsole(page.locator('main form button:is(.primary, .danger)').last());
  const long = await newClient(stage.server, {
    name: 'The Society for the Collected Correspondence of Ada Lovelace',
    redirectUris: [`https://members.correspondence.society.example/signed-in/${'long-'.repeat(12)}path`],
  });
  await open('');
  await stop('console-apps');
  await open('/new');
  await stop('console-app-new');
  await send();
  await stop('console-app-new-wrong');
  await page.fill('#name', 'Weather Almanac');
  await page.fill('#uris', 'https://almanac.example/callback');
  await send();
  await stop('console-app-registered');
  await open(`/${long.clientId}`);
  await stop('console-app');
  const person = await newUser(stage.server, { displayName: 'Mary Somerville' });
  await page.fill('#member', person.username);
  await pressInConsole(page.locator('#preview button'));
  await stop('console-app-preview');
  await send();
  await stop('console-app-previewed');
  await scopeRequests(walk, long.clientId);
  await fetch(`${stage.server.baseUrl}${authorizeUrl(long, { redirect_uri: 'https://members.example/elsewhere' })}`, {
    redirect: 'manual',
  });
  await open(`/${long.clientId}/log`);
  await stop('console-app-log');
  await open(`/${long.clientId}/try`);
  await stop('console-app-try');
  await page.locator('details.filters > summary').click();
  await stop('console-app-try-choice');
  await open(`/redirect-uris?app=${long.clientId}`);
  await stop('console-app-uris');
  await open(`/rotate-secret?app=${long.clientId}`);
  await stop('console-app-rotate');
  await send();
  await stop('console-app-rotated');
  await open(`/disable?app=${long.clientId}`);
  await stop('console-app-disable');
  await send();
  await stop('console-app-disabled');
  await open(`/delete?app=${long.clientId}`);
  await stop('console-app-delete');
}

/** What is read of refusals and of the audit trail. */
async function trails(walk: Walk): Promise<void> {
  const { stage, page, stop } = walk;
  const { server } = stage;
  const open = (path: string) => page.goto(`${server.baseUrl}/console/${path}`);
  const notes = await newClient(server, { name: 'Acme Notes', redirectUris: ['https://notes.example/callback'] });
  const refused = await fetch(
    `${server.baseUrl}${authorizeUrl(notes, { redirect_uri: 'https://notes.example/callbak' })}`,
    { redirect: 'manual', headers: { accept: 'text/html' } },
  );
  const id = refused.headers.get('x-request-id') ?? '';
  await open('explain');
  await stop('console-explain');
  await open(`explain?id=${id}`);
  await stop('console-explained');
  await open('explain?id=nonsense');
  await stop('console-explain-wrong');
  await open('explain?id=6f0b6e0e-5a0c-4a39-9f4f-7f1f5c2f8f11');
  await stop('console-explain-unknown');
  await open('events');
  await stop('console-events');
  await open('events?type=account&outcome=success&since=2026-02-01');
  await stop('console-events-filtered');
  await open('events?live=1');
  await stop('console-events-live');
  await open('events?userId=nobody&since=tomorrow');
  await stop('console-events-wrong');
}

/** An act on many people, from the list to what became of each. */
async function manyPeople(walk: Walk): Promise<void> {
  const { stage, page, stop } = walk;
  const { server } = stage;
  const open = (path: string) => page.goto(`${server.baseUrl}/console/people/bulk${path}`);
  const send = (): Promise<void> => pressInConsole(page.locator('main form button:is(.primary, .danger)').last());
  const people = [await newUser(server, { displayName: 'George Boole' }), await newUser(server)];
  await open('');
  await stop('console-bulk');
  await open('/new?act=suspend');
  await send();
  await stop('console-bulk-wrong');
  await page.fill('#names', [...people.map(({ username }) => username), 'nobody.is.called.so', 'olive'].join('\n'));
  await page.fill('#reason', 'The course is over.');
  await send();
  await stop('console-bulk-preview');
  await send();
  await page.locator('#progress').waitFor();
  await server.runBulkActs();
  await page.reload();
  await stop('console-bulk-done');
}

/** The overview, and the pages about the service. */
async function service(walk: Walk): Promise<void> {
  const { stage, page, stop } = walk;
  const { server } = stage;
  const open = (path: string) => page.goto(`${server.baseUrl}/console/${path}`);
  server.advance(MINUTE);
  await withData(server, ({ database }) => countEvents(database, server.now()));
  await open('overview');
  await stop('console-overview');
  await open('overview?period=month');
  await stop('console-overview-month');
  await open('system');
  await stop('console-system');
  await open('system/mail');
  await stop('console-system-mail');
  await query(server, "UPDATE mail SET status = 'dead', problem = '550 5.1.1 no such user' WHERE kind = 'invitation'");
  await open('system/mail?status=dead');
  await stop('console-system-mail-dead');
  await open('system/settings');
  await stop('console-system-settings');
  await open('system/mail/test');
  await stop('console-system-mail-test');
}

/** The providers through which people sign in. */
async function providers(walk: Walk): Promise<void> {
  const { stage, page, stop } = walk;
  const { server } = stage;
  const open = (path: string) => page.goto(`${server.baseUrl}/console/${path}`);
  const send = (): Promise<void> => pressInConsole(page.locator('main form button:is(.primary, .danger)').last());
  const upstream = await newUpstream(server, {
    ...{ displayName: 'Analytical Engines', signUp: 'anyone', domains: ['engines.example', 'notes.example'] },
    claimsMap: { name: '/name', groups: '/realm_access/roles' },
  });
  await using _ = upstream.provider;
  const person = { sub: 'jacquard-1804', name: 'Joseph Marie Jacquard', email: 'jacquard@looms.example' };
  await joinedThrough(server, upstream, { person, username: 'jacquard', email: 'jacquard@looms.example' });
  await admin(server, 'POST', '/upstreams', {
    ...{ name: 'correspondence-society', displayName: 'Society for Collected Correspondence', clientId: 'tessera' },
    issuer: `https://id.correspondence.society.example/realms/${'long-'.repeat(20)}realm`,
  });
  await open('upstreams');
  await stop('console-upstreams');
  await open('upstreams/new');
  await stop('console-upstream-kinds');
  await open('upstreams/create?provider=entra');
  await stop('console-upstream-create');
  await send();
  await stop('console-upstream-create-wrong');
  await open('upstreams/create?provider=apple');
  await stop('console-upstream-create-apple');
  await open('upstreams/create?provider=google');
  await page.fill('#clientId', '1234567890.apps.googleusercontent.com');
  await page.fill('#clientSecret', 'a secret');
  await send();
  await stop('console-upstream-added');
  await open(`upstreams/${upstream.id}`);
  await stop('console-upstream');
  for (const act of ['change', 'domains', 'secret', 'switch-off']) {
    await open(`upstreams/${act}?id=${upstream.id}`);
    await stop(`console-upstream-${act}`);
  }
  await open(`upstreams/test?id=${upstream.id}`);
  await send();
  await stop('console-upstream-tested');
  await open(`upstreams/preview?id=${upstream.id}`);
  await page.fill('#token', '{"sub":"1234","name":"Ada Lovelace","realm_access":{"roles":["analysts"]}}');
  await send();
  await stop('console-upstream-previewed');
  const organization = await admin(server, 'POST', '/organizations', { name: 'looms', domain: 'looms.example' });
  await open(`organizations/only-upstream?id=${organization.body.id}`);
  await stop('console-only-upstream');
  await page.selectOption('#upstream', upstream.id);
  await send();
  await open(`organizations/${organization.body.id}`);
  await stop('console-organization-only');
  await open(`upstreams/switch-off?id=${upstream.id}`);
  await page.check('input[name=end]');
  await send();
  await stop('console-upstream-switched-off');
  await open(`upstreams/delete?id=${upstream.id}`);
  await stop('console-upstream-delete');
  await open('people?q=jacquard');
  await pressInConsole(page.locator('.list a').first());
  await pressInConsole(page.locator('#factors a').last());
  await stop('console-person-provider');
}

/** The search over everything. */
async function search({ stage, page, stop }: Walk): Promise<void> {
  for (const [text, name] of [
    ['', 'console-search'],
    ['society', 'console-search-found'],
    ['nothing-is-called-so', 'console-search-none'],
  ] as const) {
    await page.goto(`${stage.server.baseUrl}/console/search?text=${text}`);
    await stop(name);
  }
}

/** What is saved to files. */
async function files({ stage, page, stop }: Walk): Promise<void> {
  for (const [address, name] of [
    ['people/export?q=ada', 'console-people-export'],
    ['events/export?type=upstream', 'console-events-export'],
  ] as const) {
    await page.goto(`${stage.server.baseUrl}/console/${address}`);
    await stop(name);
  }
}

/** Invitations, and what is done with the record of a person. */
async function records(walk: Walk): Promise<void> {
  const { stage, page, stop } = walk;
  const { server } = stage;
  const open = (path: string) => page.goto(`${server.baseUrl}/console/${path}`);
  const person = await newUser(server, { displayName: 'Charles Wheatstone' });
  await open('invitations/new');
  await page.fill('#email', 'ada.byron@example.com');
  await stop('console-invite');
  await pressInConsole(page.locator('main form button.primary'));
  await stop('console-invited');
  await open('invitations');
  await stop('console-invitations');
  for (const act of ['correct', 'offboard', 'delete']) {
    await open(`people/${act}?id=${person.id}`);
    await stop(`console-person-${act}`);
  }
  await open(`people/correct?id=${person.id}`);
  await page.fill('#username', 'Not A Name');
  await pressInConsole(page.locator('main form button.primary'));
  await stop('console-person-correct-wrong');
}

/** Who is not let in, and what a role does not include. */
async function gates(walk: Walk): Promise<void> {
  const { stage, page, stop } = walk;
  const { server } = stage;
  const leave = () => page.context().clearCookies();
  const nobody = await newUser(server);
  await page.goto(`${server.baseUrl}/console/people`);
  await stop('console-sign-in');
  await signIn(page, nobody.username, PASSWORD);
  await stop('console-no-role');
  await leave();
  const unproved = await newUser(server, { emailVerified: true });
  await admin(server, 'PUT', `/users/${unproved.id}/roles/support`, {});
  await page.goto(`${server.baseUrl}/console`);
  await signIn(page, unproved.username, PASSWORD);
  await stop('console-set-up-factor');
  await leave();
  const support = await makeOperator(stage, 'support');
  await signInOperator(walk, support.user, support.factor);
  await page.goto(`${server.baseUrl}/console/people/ban?id=${nobody.id}`);
  await stop('console-missing-permission');
  await leave();
}

/** Walks one page through every page and state of the console, and stops at each. */
export async function walkConsole(walk: Walk): Promise<void> {
  const owner = await makeOperator(walk.stage, 'owner', { username: 'olive', displayName: 'Olive Owner' });
  await gates(walk);
  await signInOperator(walk, owner.user, owner.factor);
  await people(walk);
  await groups(walk);
  await organizations(walk);
  await operators(walk);
  await apps(walk);
  await trails(walk);
  await providers(walk);
  await search(walk);
  await files(walk);
  await records(walk);
  await manyPeople(walk);
  await service(walk);
}
