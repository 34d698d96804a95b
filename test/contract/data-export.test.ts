// store: SQLite, PostgreSQL
/** A copy of one's own data (decisions §11): what is in it, when it ends, and how it survives a crash. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { maintainExports } from '../../src/account-actions/personal-data/export.ts';
import { startExportDispatcher } from '../../src/account-actions/personal-data/export-dispatcher.ts';
import {
  type DataExport,
  findExport,
  listPieces,
  replaceExport,
} from '../../src/account-actions/personal-data/export-store.ts';
import { record } from '../../src/audit/audit.ts';
import { openSealer } from '../../src/keys/sealer.ts';
import type { Database, Work } from '../../src/platform/database/database.ts';
import { account, NOW } from '../store/rows.ts';
import { type Agent, type Answer, formOf } from '../support/agent.ts';
import { admin, newClient, newUser, PASSWORD, signedIn, type TestUser, tokensFor } from '../support/flow.ts';
import { withData } from '../support/forged-token.ts';
import { png } from '../support/images.ts';
import { mailsTo } from '../support/mail.ts';
import { NO_MAIL } from '../support/no-mail.ts';
import { DAY, MINUTE, query, SECOND } from '../support/outcome.ts';
import { type OwnStore, openOwnStore } from '../support/own-store.ts';
import { giveRecoveryCodes } from '../support/second-factor.ts';
import { startServer } from '../support/server.ts';

const server = await startServer({ TESSERA_MAILBOX: 'on', TESSERA_LIMIT_EXPORT_ACCOUNT: 'off' });
after(() => server.close());
const PAGE = '/account/data/export';

const ask = async (browser: Agent): Promise<Answer> => browser.submit(await browser.get(PAGE), {}, PAGE);
async function exported(browser: Agent): Promise<Answer> {
  assert.equal((await ask(browser)).location?.pathname, PAGE);
  await server.makeExports();
  return browser.get(PAGE);
}
/** Presses a button of a page as it was shown, however long ago. */
const download = (browser: Agent, page: Answer, file = 'data'): Promise<Answer> =>
  browser.submit(page, { file }, `${PAGE}/download`);

test('the copy has what the service stores of a person, no secret, and not what operators wrote', async () => {
  const user = await newUser(server, { displayName: 'Ada Lovelace', about: 'Engines' });
  const browser = await signedIn(server, user);
  const client = await newClient(server, { name: 'Acme Notes' });
  await tokensFor(server, client, user, {}, { browser });
  const { body: group } = await admin(server, 'POST', '/groups', { name: 'engineers' });
  await admin(server, 'PUT', `/groups/${group.id}/members/${user.id}`);
  const roles = [{ name: 'viewer', description: null }];
  await admin(server, 'PATCH', `/clients/${client.clientId}`, { roles });
  await admin(server, 'POST', `/clients/${client.clientId}/assignments`, { userId: user.id, role: 'viewer' });
  await giveRecoveryCodes(server, user);
  const picture = new File([new Uint8Array(png(9, 9))], 'me.png', { type: 'image/png' });
  await browser.upload(await browser.get('/account'), { picture }, '/account/picture');
  await withData(server, ({ database, clock }) =>
    database.commit(() =>
      record({
        at: clock(),
        type: 'account.banned',
        origin: { actor: { type: 'admin', id: null }, address: '192.0.2.1', requestId: null },
        accountId: user.id,
        details: { reason: 'a secret reason' },
      }),
    ),
  );
  const page = await exported(browser);
  assert.match(page.headers.get('content-security-policy') ?? '', /connect-src 'none'/);
  const answer = await download(browser, page);
  assert.equal(answer.status, 200);
  assert.equal(answer.headers.get('content-disposition'), 'attachment; filename="tessera-data.json"');
  assert.equal(answer.headers.get('cache-control'), 'no-store');
  const data = JSON.parse(answer.text);
  assert.deepEqual(Object.keys(data), ['exportedAt', 'account', 'signIn', 'browsers', 'apps', 'activity']);
  assert.deepEqual([data.account.id, data.account.about, data.account.organization], [user.id, 'Engines', null]);
  const at = new Date(server.now()).toISOString();
  assert.deepEqual(data.account.groups, [{ name: 'engineers', addedAt: at }]);
  const assignment = { clientId: client.clientId, app: 'Acme Notes', role: 'viewer', assignedAt: at };
  assert.deepEqual(data.account.assignments, [assignment]);
  assert.equal(data.signIn.password, true);
  assert.ok(data.signIn.recoveryCodes.unused > 0);
  assert.equal(data.signIn.recoveryByMailAsksForCode, false);
  assert.equal(data.browsers.signedIn.length, 1);
  assert.deepEqual(
    data.apps.connected.map(({ name }: { name: string }) => name),
    ['Acme Notes'],
  );
  assert.equal(data.activity.complete, true);
  const types = data.activity.events.map(({ type }: { type: string }) => type);
  for (const type of ['export.requested', 'account.banned', 'consent.granted', 'sign_in.succeeded']) {
    assert.ok(types.includes(type), type);
  }
  const [stored] = await query(server, 'SELECT password_hash, generation FROM account WHERE id = ?', user.id);
  const codes = await query(server, 'SELECT hash FROM recovery_code WHERE account_id = ?', user.id);
  const secrets = [...Object.values(stored ?? {}), ...codes.map(({ hash }) => hash), 'a secret reason', '192.0.2.'];
  for (const secret of secrets) assert.ok(!answer.text.includes(String(secret)), String(secret));
  // In the database there is none of it to read. The space cannot occur in a sealed text by chance.
  const pieces = await query(server, 'SELECT sealed FROM data_export_piece WHERE account_id = ?', user.id);
  assert.equal(pieces.length, 5);
  assert.ok(!JSON.stringify(pieces).includes('Ada Lovelace'));

  const drawn = await download(browser, page, 'picture');
  assert.match(drawn.headers.get('content-disposition') ?? '', /^attachment; filename="picture\.(png|jpg)"$/);
  assert.match(drawn.headers.get('content-type') ?? '', /^image\//);
  const { body } = await admin(server, 'GET', `/audit-events?userId=${user.id}&type=export`);
  assert.deepEqual(
    body.items.map(({ type, details }: { type: string; details: { file?: string } }) => [type, details.file]),
    [
      ['export.requested', undefined],
      ['export.downloaded', 'data'],
      ['export.downloaded', 'picture'],
    ],
  );
  const mails = await mailsTo(server, data.account.email);
  assert.deepEqual(
    mails.slice(0, 2).map(({ subject }) => subject),
    ['Your data is ready', 'A copy of your data was asked for'],
  );
  assert.equal(mails[0]?.link, server.baseUrl + PAGE);
  assert.match(mails[0]?.text ?? '', /You can download it until \d{1,2} March 2026, \d\d:\d\d UTC\./);
});

test('while it is made, the page says how far it is and can be looked at again, and there is nothing to download', async () => {
  const user = await newUser(server);
  const browser = await signedIn(server, user);
  const page = await exported(browser);
  const set = "UPDATE data_export SET state = 'waiting', pieces = 3, due_at = ? WHERE account_id = ?";
  await query(server, set, Number.MAX_SAFE_INTEGER, user.id);
  const waiting = await browser.get(PAGE);
  assert.equal(waiting.headers.get('refresh'), null, 'the page does not reload by itself (WCAG 2.2.1, F41)');
  assert.match(waiting.headers.get('content-security-policy') ?? '', /connect-src 'self'/);
  assert.match(waiting.text, /<a class="button" href="\/account\/data\/export">Check again<\/a>/);
  assert.match(waiting.text, /<progress value="3" max="5"/);
  assert.equal((await download(browser, page)).status, 409);
  const [first] = await query(server, 'SELECT id FROM data_export WHERE account_id = ?', user.id);
  assert.equal((await browser.submit(page, {}, PAGE)).status, 303, 'another request does not begin again');
  assert.deepEqual(await query(server, 'SELECT id FROM data_export WHERE account_id = ?', user.id), [first]);
});

const leave = async (browser: Agent) =>
  browser.submit(await browser.get('/account/security'), {}, '/account/sign-out-everywhere');
const again = async (user: TestUser) => signedIn(server, user);
const sweep = () => withData(server, ({ database, clock }) => maintainExports(database, clock()));

/** What ends an export, and the browser of its owner afterwards. */
const endings: Readonly<Record<string, (user: TestUser, browser: Agent) => Promise<Agent>>> = {
  'signing out everywhere': async (user, browser) => {
    await leave(browser);
    return again(user);
  },
  'another password': async (_user, browser) => {
    const change = { current: PASSWORD, password: 'another good password' };
    await browser.submit(await browser.get('/account/security'), change, '/account/password');
    return browser;
  },
  'a ban that was lifted': async (user) => {
    await admin(server, 'PUT', `/users/${user.id}/ban`, {});
    await admin(server, 'DELETE', `/users/${user.id}/ban`);
    return again(user);
  },
  'a day': (user) => {
    server.advance(DAY);
    return again(user);
  },
};

for (const [name, end] of Object.entries(endings)) {
  test(`it ends with ${name}, and its rows go with the next sweep`, async () => {
    const user = await newUser(server);
    const browser = await signedIn(server, user);
    const page = await exported(browser);
    const owner = await end(user, browser);
    const now = await owner.get(PAGE);
    assert.ok(!now.text.includes(`${PAGE}/download`));
    const late = { ...formOf(now.text, PAGE).hidden, file: 'data' };
    assert.equal((await owner.submit(page, late, `${PAGE}/download`)).status, 409);
    await sweep();
    assert.deepEqual(await query(server, 'SELECT id FROM data_export WHERE account_id = ?', user.id), []);
    assert.deepEqual(await query(server, 'SELECT number FROM data_export_piece WHERE account_id = ?', user.id), []);
  });
}

test('it goes with the account', async () => {
  const user = await newUser(server);
  await exported(await signedIn(server, user));
  assert.equal((await admin(server, 'DELETE', `/users/${user.id}`)).status, 204);
  for (const table of ['data_export', 'data_export_piece']) {
    assert.deepEqual(await query(server, `SELECT account_id FROM ${table} WHERE account_id = ?`, user.id), []);
  }
});

test('asking and downloading need a fresh proof', async () => {
  const browser = await signedIn(server, await newUser(server));
  const first = await browser.get(PAGE);
  const page = await exported(browser);
  server.advance(10 * MINUTE);
  for (const answer of [await browser.submit(first, {}, PAGE), await download(browser, page)]) {
    assert.equal(`${answer.location?.pathname}${answer.location?.search}`, '/account/confirm?next=export');
  }
  const gated = await browser.get(PAGE);
  assert.ok(!gated.text.includes(`action="${PAGE}`));
});

describe('of the dispatcher', () => {
  let store: OwnStore;
  let database: Database;
  before(async () => {
    store = await openOwnStore();
    database = store.database;
  });
  after(() => store.dispose());

  let accounts = 0;
  async function waiting(events = 0): Promise<string> {
    const accountId = String(++accounts);
    await database.commit(function* create(): Work<void> {
      yield* account(accountId);
      const origin = { actor: { type: 'user', id: accountId }, address: '192.0.2.1', requestId: null } as const;
      for (let n = 0; n < events; n++) yield* record({ at: NOW + n, type: 'sign_in.succeeded', origin, accountId });
      yield* replaceExport({ accountId, id: `export ${accountId}`, generation: `generation ${accountId}`, now: NOW });
    });
    return accountId;
  }
  const read = async (accountId: string): Promise<DataExport> =>
    (await database.read(() => findExport({ accountId }))) ?? assert.fail();
  const pieces = async (accountId: string) =>
    (await database.read(() => listPieces({ accountId, from: 0, limit: 100 }))).length;

  async function dispatcherOn(used: Database, now = NOW, failed: (error: unknown) => void = assert.ifError) {
    const sealer = await openSealer(database, { current: Buffer.alloc(32, 7), previous: undefined }, () => now);
    return startExportDispatcher({ ...NO_MAIL, sealer, database: used, clock: () => now, failed }, DAY);
  }

  test('several make each piece once, and another goes on where one crashed', async () => {
    const accountId = await waiting(350);
    let commits = 0;
    const crashing: Database = {
      ...database,
      commit: (work) => (++commits > 4 ? Promise.reject(new Error('crash')) : database.commit(work)),
    };
    const errors: unknown[] = [];
    const crashed = await dispatcherOn(crashing, NOW, (error) => errors.push(error));
    await crashed.makeWaiting();
    await crashed.stop();
    assert.equal(errors.length, 1);
    assert.deepEqual([(await read(accountId)).state, await pieces(accountId)], ['waiting', 3]);
    const early = await dispatcherOn(database);
    await early.makeWaiting();
    await early.stop();
    assert.equal((await read(accountId)).state, 'waiting', 'the claim holds');
    const both = [await dispatcherOn(database, NOW + 31 * SECOND), await dispatcherOn(database, NOW + 31 * SECOND)];
    await Promise.all(both.map(({ makeWaiting }) => makeWaiting()));
    await Promise.all(both.map(({ stop }) => stop()));
    const done = await read(accountId);
    assert.deepEqual([done.state, done.events, done.lastEvent], ['ready', 350, null]);
    assert.equal(await pieces(accountId), 8);
  });

  test('more than 5,000 events are cut, and the copy says so', async () => {
    const accountId = await waiting(5_010);
    const dispatcher = await dispatcherOn(database);
    await dispatcher.makeWaiting();
    await dispatcher.stop();
    const { state, events, lastEvent } = await read(accountId);
    assert.deepEqual([state, events, lastEvent === null], ['ready', 5_000, false]);
  });

  test('one that cannot be made is given up, and keeps no other waiting', async () => {
    const [bad, good] = [await waiting(), await waiting()];
    for (let round = 0; round < 6; round++) {
      const failing: Database = {
        ...database,
        read: async (work) => {
          const found = await database.read(work);
          if ((found as { id?: string } | undefined)?.id === bad) throw new Error('cannot be read');
          return found;
        },
      };
      const dispatcher = await dispatcherOn(failing, NOW + round * 31 * SECOND, () => {});
      await dispatcher.makeWaiting();
      await dispatcher.stop();
    }
    assert.deepEqual([(await read(bad)).state, (await read(good)).state], ['failed', 'ready']);
  });
});
