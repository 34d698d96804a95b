// store: SQLite, PostgreSQL with --all
/** What an operator made before a recovery goes on where the recovery shows that nobody else had the account, and else ends. The mail says which. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { agent } from '../support/agent.ts';
import { act, newOperator, type TestOperator } from '../support/console.ts';
import { admin } from '../support/flow.ts';
import { mailsTo } from '../support/mail.ts';
import { DAY, HOUR, MINUTE } from '../support/outcome.ts';
import { askRecovery, newestMail, useLink } from '../support/recovery.ts';
import { totpCode } from '../support/second-factor.ts';
import { startServer } from '../support/server.ts';
import { RECOVERED, takenBack } from '../support/taken-back.ts';

const server = await startServer({
  TESSERA_MAILBOX: 'on',
  TESSERA_LIMIT_MAIL_RECIPIENT: 'off',
  TESSERA_LIMIT_MAIL_ADDRESS: 'off',
});
after(() => server.close());
const { signedInWith, addApp } = takenBack(server);

const get = async (path: string) => (await admin(server, 'GET', path)).body;
const rolesOf = async ({ id }: { id: string }): Promise<string[]> =>
  (await get(`/users/${id}/roles`)).items.map(({ role }: { role: string }) => role).sort();

async function registers(operator: TestOperator, name: string): Promise<string> {
  const fields = { kind: 'web', name, uris: 'https://app.example/cb' };
  const made = await act(server, operator, '/console/apps/new', {}, fields);
  assert.equal(made.status, 200, made.text);
  return (await get('/clients?limit=100')).items.find((client: { name: string }) => client.name === name).clientId;
}

const grants = async (operator: TestOperator, user: string, role: string): Promise<void> => {
  assert.equal((await act(server, operator, '/console/operators/grant', { user }, { role })).status, 200);
};

/** Recovers the account of an operator with a code of the app that it had from the beginning. @returns what the person is told */
async function recovers({ factor }: TestOperator, email: string): Promise<string> {
  server.advance(MINUTE);
  const browser = agent(server.baseUrl);
  await askRecovery(server, browser, email);
  const { link = '' } = await newestMail(server, email, 'recovery');
  assert.equal((await useLink(browser, link, RECOVERED, { factor: totpCode(factor, server.now()) })).status, 303);
  return (await mailsTo(server, email)).find(({ text }) => text.includes('was recovered'))?.text ?? '';
}

test('who forgot the password and shows an older factor keeps what they made as an operator, and is told of it', async () => {
  const [ada, colleague] = [await newOperator(server, 'admin'), await newOperator(server, 'developer')];
  const { email } = await get(`/users/${ada.id}`);
  server.advance(HOUR);
  // A sign-in in a new browser, of which a mail tells that nobody answers.
  await signedInWith({ user: ada, email }, ada.factor);
  await grants(ada, colleague.id, 'auditor');
  const apps = [await registers(ada, 'One of an admin'), await registers(colleague, 'One of a developer')];
  server.advance(2 * DAY);
  const told = await recovers(ada, email);
  for (const id of apps) assert.equal((await get(`/clients/${id}`)).status, 'active');
  assert.deepEqual(await rolesOf(colleague), ['auditor', 'developer']);
  assert.ok(
    told.includes(`goes on: an admin key or a role that was given and what was done to these apps: ${apps[0]}.`),
  );
});

test('where somebody else renewed the factor, what was made ends with the recovery, and the mail names it', async () => {
  const [ada, other] = [await newOperator(server, 'admin'), await newOperator(server, 'developer')];
  const { email } = await get(`/users/${ada.id}`);
  server.advance(HOUR);
  const browser = await signedInWith({ user: ada, email }, ada.factor);
  const thief = { ...ada, browser, factor: { ...ada.factor, ...(await addApp(browser)) } };
  server.advance(MINUTE);
  const app = await registers(thief, 'One of a thief');
  await grants(thief, other.id, 'auditor');
  server.advance(HOUR);
  const told = await recovers(ada, email);
  assert.equal((await get(`/clients/${app}`)).status, 'disabled');
  assert.deepEqual(await rolesOf(other), ['developer']);
  assert.match(
    told,
    /removed: an admin key or a role that was given and an app that was registered, enabled or changed, which is disabled\./,
  );
});
