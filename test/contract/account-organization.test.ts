// store: SQLite, PostgreSQL with --all
/** What a person is a member of, and leaving it: the last owner cannot, and what the membership gave stops at once. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { Answer } from '../support/agent.ts';
import {
  admin,
  newClient,
  newSignedInUser,
  newUser,
  refresh,
  signedIn,
  standard,
  type TestUser,
  tokensFor,
  userinfo,
} from '../support/flow.ts';
import { startServer } from '../support/server.ts';

const server = await startServer();
after(() => server.close());

const PAGE = '/account/organization';
const LEAVE = `${PAGE}/leave`;
const words = ({ text }: Answer): string => text.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ');

let names = 0;
async function organization(): Promise<{ readonly id: string; readonly name: string }> {
  const name = `guild-${++names}`;
  const { status, body } = await admin(server, 'POST', '/organizations', { name, domain: `${name}.example` });
  assert.equal(status, 201);
  return { id: body.id, name };
}
const join = (id: string, user: TestUser, role: string | null) =>
  admin(server, 'PUT', `/organizations/${id}/members/${user.id}`, { role });
const isMember = async (organizationId: string, { id }: TestUser): Promise<boolean> => {
  const { members } = (await admin(server, 'GET', `/organizations/${organizationId}`)).body;
  return members.some((member: { userId: string }) => member.userId === id);
};

test('the profile and the page name the organization, the role and the groups', async () => {
  const { user, browser } = await newSignedInUser(server);
  assert.match(words(await browser.get('/account')), /Organization and groups You are in no organization and no group/);
  assert.match(words(await browser.get(PAGE)), /You are in no organization\..*You are in no group/);
  const { id, name } = await organization();
  await join(id, user, 'ADMIN');
  const group = { name: 'choir', displayName: 'The Choir', organizationId: id };
  const made = await admin(server, 'POST', '/groups', group);
  assert.equal(made.status, 201, JSON.stringify(made.body));
  assert.ok((await admin(server, 'PUT', `/groups/${made.body.id}/members/${user.id}`, {})).status < 300);
  assert.match(words(await browser.get('/account')), new RegExp(`Organization and groups ${name} ?, admin`));
  const page = words(await browser.get(PAGE));
  assert.match(page, new RegExp(`${name} Your role admin Domain ${name}\\.example`));
  assert.match(page, new RegExp(`The Choir Group of ${name}`));
});

test('leaving takes a second press, is said in the activity, and stops what the membership gave at once', async () => {
  const { user, browser } = await newSignedInUser(server);
  const { id, name } = await organization();
  await join(id, user, 'MEMBER');
  const app = standard(await newClient(server, { access: 'assigned' }));
  const assigned = await admin(server, 'POST', `/clients/${app.clientId}/assignments`, { organizationId: id });
  assert.ok(assigned.status < 300, JSON.stringify(assigned.body));
  const tokens = await tokensFor(server, app, user, { scope: 'openid' }, { browser });
  assert.equal((await userinfo(server, tokens.access_token, '/oidc/userinfo')).status, 200);
  const page = await browser.get(PAGE);
  assert.match(page.text, /<details class="confirm"><summary>Leave the organization<\/summary><form/);
  const left = await browser.submit(page, {}, LEAVE);
  assert.equal(left.status, 200);
  assert.match(words(left), new RegExp(`You left ${name} ?\\. .*You are in no organization`));
  assert.equal(await isMember(id, user), false);
  assert.notEqual((await userinfo(server, tokens.access_token, '/oidc/userinfo')).status, 200);
  assert.equal((await refresh(server, app, tokens.refresh_token)).status, 400);
  assert.match(words(await browser.get('/account/activity')), /You left an organization\./);
  const again = await browser.submit(page, {}, LEAVE);
  assert.equal(again.status, 409);
  assert.match(words(again), /You are not a member of this organization any more/);
});

test('the last owner cannot leave; of two who leave at once one stays; a form of an earlier organization does nothing', async () => {
  const [one, two] = [await newUser(server), await newUser(server)];
  const browsers = [await signedIn(server, one), await signedIn(server, two)] as const;
  const { id } = await organization();
  await join(id, one, 'OWNER');
  const alone = await browsers[0].submit(await browsers[0].get(PAGE), {}, LEAVE);
  assert.equal(alone.status, 409);
  assert.match(words(alone), /You are its only owner.* or contact the operator of /);
  assert.match(alone.text, /its owner <a href="\/console\/organizations">in the console<\/a>/);
  await join(id, two, 'OWNER');
  const pages = await Promise.all(browsers.map((browser) => browser.get(PAGE)));
  const answers = await Promise.all(
    browsers.map((browser, index) => browser.submit(pages[index] as Answer, {}, LEAVE)),
  );
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 409]);
  const index = answers.findIndex(({ status }) => status === 200);
  const [leaver, browser] = [[one, two][index] as TestUser, browsers[index] as (typeof browsers)[0]];
  const other = await organization();
  await join(other.id, leaver, 'MEMBER');
  assert.equal((await browser.submit(pages[index] as Answer, {}, LEAVE)).status, 409);
  assert.equal(await isMember(other.id, leaver), true);
});
