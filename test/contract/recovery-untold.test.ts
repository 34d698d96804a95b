// store: SQLite, PostgreSQL
/** An operator gives an account back where nobody could be told of anything, as mail is off: what may be another person's ends (decisions §11). */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { agent } from '../support/agent.ts';
import { operatorInBrowser, signInOnCommandLine } from '../support/command-line.ts';
import { admin, codeFor, newClient } from '../support/flow.ts';
import { DAY, MINUTE } from '../support/outcome.ts';
import { useLink } from '../support/recovery.ts';
import { totpCode } from '../support/second-factor.ts';
import { startServer } from '../support/server.ts';

const server = await startServer();
after(() => server.close());

const RECOVERED = 'recovered by its owner 1';
const works = async (key: string): Promise<boolean> =>
  (await admin(server, 'GET', '/clients?limit=1', undefined, key)).status === 200;
const connections = async (id: string): Promise<number> =>
  (await admin(server, 'GET', `/users/${id}/connections`)).body.items.length;

/** An operator of long standing, and what is made and allowed with the account today and was eight days ago. */
async function operatorAndThief() {
  const operator = await operatorInBrowser(server, { emailVerified: true });
  const { id } = operator.user;
  await admin(server, 'PUT', `/users/${id}/roles/admin`, {});
  const make = async (name: string): Promise<string> => {
    const token = await signInOnCommandLine(server, operator);
    return (await admin(server, 'POST', '/admin-keys', { name, role: 'admin' }, token)).body.adminKey;
  };
  const early = await make('early');
  await codeFor(server, await newClient(server), operator.user, {}, { browser: operator.browser });
  server.advance(8 * DAY);
  const late = await make('late');
  await codeFor(server, await newClient(server), operator.user, {}, { browser: operator.browser });
  assert.deepEqual([await works(early), await works(late)], [true, true]);
  return { operator, id, early, late, before: await connections(id) };
}

async function recover(id: string, body: object, code?: string): Promise<void> {
  const { status, body: made } = await admin(server, 'POST', `/users/${id}/recovery-link`, body);
  assert.ok(status < 300, JSON.stringify(made));
  const answer = await useLink(agent(server.baseUrl), made.url, RECOVERED, code === undefined ? {} : { factor: code });
  assert.ok(answer.status < 400, answer.text);
}

test('what was made and allowed in the last days ends, what is older goes on', async () => {
  const { id, early, late, before } = await operatorAndThief();
  await recover(id, { resetFactors: true });
  assert.deepEqual([await works(early), await works(late)], [true, false]);
  assert.equal(await connections(id), before - 2, 'the app, and the command line that was signed in again');
});

test('a username that was changed in the last days stays: the person signs in with it', async () => {
  const { operator, id } = await operatorAndThief();
  const username = `${operator.user.username}-new`;
  const changed = await admin(server, 'PATCH', `/users/${id}`, { username });
  assert.equal(changed.status, 200, JSON.stringify(changed.body));
  await recover(id, { resetFactors: true });
  assert.equal((await admin(server, 'GET', `/users/${id}`)).body.username, username);
});

test('what was made goes on where the person shows a factor from before all that', async () => {
  const { operator, id, early, late } = await operatorAndThief();
  server.advance(MINUTE);
  await recover(id, {}, totpCode(operator.factor, server.now()));
  assert.deepEqual([await works(early), await works(late)], [true, true]);
});
