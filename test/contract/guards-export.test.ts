// store: SQLite, PostgreSQL with --all
/** What happens to an account or its export while the export is made or downloaded: decisions §11. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { type Agent, type Answer, formOf } from '../support/agent.ts';
import { admin, newUser, signedIn, type TestUser } from '../support/flow.ts';
import { holdCommits } from '../support/held-commits.ts';
import { mailsTo } from '../support/mail.ts';
import { query } from '../support/outcome.ts';
import { SEVERAL, startServer } from '../support/server.ts';

const commits = holdCommits();
const settings = { TESSERA_MAILBOX: 'on', TESSERA_LIMIT_EXPORT_ACCOUNT: 'off' };
const server = await startServer(settings, SEVERAL, undefined, { database: commits.database });
after(() => server.close());

const PAGE = '/account/data/export';

async function ask(browser: Agent): Promise<void> {
  const answer = await browser.submit(await browser.get(PAGE), {}, PAGE);
  assert.deepEqual([answer.status, answer.location?.pathname], [303, PAGE]);
}

const readyMails = async ({ username }: TestUser): Promise<number> =>
  (await mailsTo(server, `${username}@example.com`)).filter(({ kind }) => kind === 'export ready').length;
const rowsOf = ({ id }: TestUser) => query(server, 'SELECT state FROM data_export WHERE account_id = ?', id);

/** Asks for an export of which nothing is made until it is due. */
async function askForLater(user: TestUser, browser: Agent): Promise<void> {
  await ask(browser);
  // The server may make it at any moment, so it is put back to its beginning.
  await server.makeExports();
  await query(server, 'DELETE FROM data_export_piece WHERE account_id = ?', user.id);
  const fresh = "state = 'waiting', pieces = 0, events = 0, last_event = NULL, bytes = 0, attempts = 0";
  const later = Number.MAX_SAFE_INTEGER;
  await query(server, `UPDATE data_export SET ${fresh}, due_at = ? WHERE account_id = ?`, later, user.id);
}

async function makeNow({ id }: TestUser): Promise<void> {
  await query(server, 'UPDATE data_export SET due_at = 0 WHERE account_id = ?', id);
  await server.makeExports();
}

const endings: Readonly<Record<string, (user: TestUser, browser: Agent) => Promise<unknown>>> = {
  'signed out everywhere': async (_user, browser) =>
    browser.submit(await browser.get('/account/security'), {}, '/account/sign-out-everywhere'),
  'was banned': ({ id }) => admin(server, 'PUT', `/users/${id}/ban`, {}),
  'was banned for a moment': async ({ id }) => {
    await admin(server, 'PUT', `/users/${id}/ban`, {});
    await admin(server, 'DELETE', `/users/${id}/ban`);
  },
  'was suspended': ({ id }) => admin(server, 'PUT', `/users/${id}/suspension`, {}),
  'got another password': ({ id }) => admin(server, 'PATCH', `/users/${id}`, { password: 'another good password' }),
  // As data may be that an operator restored or repaired.
  'is banned by a row that has the same generation': ({ id }) =>
    query(server, 'UPDATE account SET banned_at = 1 WHERE id = ?', id),
};

test('an export is made once it is due where nothing happened to the account', async () => {
  const user = await newUser(server, { emailVerified: true });
  await askForLater(user, await signedIn(server, user));
  const before = await readyMails(user);
  await makeNow(user);
  assert.deepEqual(await rowsOf(user), [{ state: 'ready' }]);
  assert.equal(await readyMails(user), before + 1);
});

for (const [name, end] of Object.entries(endings)) {
  test(`an export is not made for a person who ${name} after asking for it`, async () => {
    const user = await newUser(server, { emailVerified: true });
    const browser = await signedIn(server, user);
    await askForLater(user, browser);
    const before = await readyMails(user);
    await end(user, browser);
    await makeNow(user);
    assert.deepEqual(await rowsOf(user), []);
    assert.equal(await readyMails(user), before);
  });
}

/** The form of a download, to be sent with a header. */
async function downloadForm(browser: Agent): Promise<(header: Readonly<Record<string, string>>) => Promise<Answer>> {
  await ask(browser);
  await server.makeExports();
  const action = `${PAGE}/download`;
  const { hidden } = formOf((await browser.get(PAGE)).text, action);
  return (header) => browser.post(action, { ...hidden, file: 'data' }, header);
}

const downloadsOf = async ({ id }: TestUser): Promise<number> =>
  (await admin(server, 'GET', `/audit-events?userId=${id}&type=export.downloaded`)).body.items.length;

test('an export that is replaced while it is downloaded is not given out, nor recorded as downloaded', async () => {
  const user = await newUser(server);
  const browser = await signedIn(server, user);
  const send = await downloadForm(browser);
  let last = 0;
  const control = await send(
    commits.watch(async (commit) => {
      last = commit;
    }).header,
  );
  assert.deepEqual([control.status, await downloadsOf(user)], [200, 1]);

  const other = await signedIn(server, user);
  const late = await send(
    commits.watch(async (commit) => {
      if (commit === last) await ask(other);
    }).header,
  );
  assert.equal(late.status, 409, late.text);
  assert.equal(late.headers.get('content-disposition'), null);
  assert.equal(await downloadsOf(user), 1);
});
