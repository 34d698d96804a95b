// store: PostgreSQL, SQLite with --all
/** Units of work that decide on what another one is changing: each waits for the other, and decides on the result. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { Client } from 'pg';
import { type Answer, agent, formOf } from '../support/agent.ts';
import { admin, newUser, PASSWORD, signedIn, type TestUser } from '../support/flow.ts';
import { takeAccountLock } from '../support/other-writer.ts';
import { query } from '../support/outcome.ts';
import { SEVERAL, startServer } from '../support/server.ts';

const server = await startServer({ TESSERA_MAILBOX: 'on' }, SEVERAL);
after(() => server.close());

let names = 0;
async function newOrganization(role: string | null, ...members: readonly TestUser[]): Promise<string> {
  const name = `organization-${++names}`;
  const { body } = await admin(server, 'POST', '/organizations', { name, domain: `${name}.example` });
  for (const { id } of members) {
    const { status } = await admin(server, 'PUT', `/organizations/${body.id}/members/${id}`, { role });
    assert.ok(status < 300);
  }
  return body.id;
}

/** The form that asks for the deletion of an account, at one of the nodes. */
async function deletionForm({ username }: TestUser, node: string): Promise<() => Promise<Answer>> {
  const browser = agent(server.baseUrl, () => node);
  const typed = { identifier: username, password: PASSWORD };
  assert.equal((await browser.submit(await browser.get('/login'), typed, '/login')).status, 303);
  const { hidden } = formOf((await browser.get('/account/data')).text, '/account/deletion');
  return () => browser.post('/account/deletion', { ...hidden, confirm: 'yes' });
}

/**
 * Sends two forms, of which the first stands still within its commit, after all that it reads, until the second waits as well. On SQLite,
 * which has one writer at a time, they are sent at once.
 */
async function sendAtOnce(first: () => Promise<Answer>, second: () => Promise<Answer>): Promise<readonly Answer[]> {
  const connectionString = server.environment['TESSERA_DATABASE_URL'];
  if (connectionString === undefined) return Promise.all([first(), second()]);
  const [holder, watcher] = [new Client({ connectionString }), new Client({ connectionString })];
  await Promise.all([holder.connect(), watcher.connect()]);
  // Each tells the person by mail, with the last that it writes.
  await holder.query('BEGIN');
  await holder.query('LOCK TABLE mail IN SHARE MODE');
  const waiting = `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'
    AND (query ILIKE '%"mail"%' OR query ILIKE '%"organization"%for no key update%')`;
  const answers: Promise<Answer>[] = [];
  let answered = 0;
  for (const send of [first, second]) {
    const answer = send();
    answers.push(answer);
    const note = () => {
      answered++;
    };
    answer.then(note, note);
    while (answered === 0 && ((await watcher.query(waiting)).rowCount ?? 0) < answers.length);
  }
  await holder.query('COMMIT');
  await Promise.all([holder.end(), watcher.end()]);
  return Promise.all(answers);
}

test('of the last two owners of an organization who leave at the same time, one stays', async () => {
  const owners = [
    await newUser(server, { emailVerified: true }),
    await newUser(server, { emailVerified: true }),
  ] as const;
  await newOrganization('OWNER', ...owners);
  const nodes = [server.baseUrl, server.nodes.at(-1) ?? server.baseUrl] as const;
  const first = await deletionForm(owners[0], nodes[0]);
  const second = await deletionForm(owners[1], nodes[1]);
  const answers = await sendAtOnce(first, second);
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 409]);
  const [a, b] = owners;
  const leaving = 'SELECT id FROM account WHERE id IN (?, ?) AND deletion_due_at IS NOT NULL';
  assert.equal((await query(server, leaving, a.id, b.id)).length, 1);
});

test('a session that ends while weaker access is ended is not counted as ended by that, nor told of twice', async () => {
  const user = await newUser(server);
  const organizationId = await newOrganization(null, user);
  await signedIn(server, user);
  const writer = await takeAccountLock(server, user.id, () => admin(server, 'GET', '/clients'));
  const ending = admin(server, 'POST', '/end-weaker-access', { organizationId });
  await writer.awaited(ending);
  // As signing out everywhere does on another node.
  await writer.run("UPDATE account SET generation = 'other' WHERE id = ?", user.id);
  await writer.commit();
  const { status, body } = await ending;
  assert.deepEqual([status, body], [200, { users: 0, sessions: 0, authorizations: 0 }]);
  const events = await admin(server, 'GET', `/audit-events?userId=${user.id}&type=account.weaker_access_ended`);
  assert.deepEqual(events.body.items, []);
});
