// store: SQLite, PostgreSQL
/**
 * Decisions §11: who opened the account of a colleague and is ended has left an owner who may know nothing yet. What the owner could take back
 * before that end, by the report or the recovery, they take back after it.
 */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import {
  admin,
  authorizeUrl,
  newClient,
  newUser,
  refresh,
  signedIn,
  standard,
  type TestClient,
  type TestUser,
  tokensFor,
} from '../support/flow.ts';
import { mailsTo } from '../support/mail.ts';
import { DAY, MINUTE } from '../support/outcome.ts';
import { askRecovery } from '../support/recovery.ts';
import { SEVERAL, startServer } from '../support/server.ts';
import { RECOVERED, takenBack } from '../support/taken-back.ts';

const server = await startServer(
  { TESSERA_MAILBOX: 'on', TESSERA_LIMIT_MAIL_RECIPIENT: 'off', TESSERA_LIMIT_MAIL_ADDRESS: 'off' },
  SEVERAL,
);
after(() => server.close());
const { browserOf, press, recoverAt, setUsername } = takenBack(server);
const SCOPE = 'openid profile email offline_access';
const SET = 'chosen by the thief 1';

const call = async (method: string, path: string, body?: object, key?: string) => {
  const answer = await admin(server, method, path, body, key);
  assert.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body;
};

interface Opened {
  readonly user: TestUser;
  readonly email: string;
  readonly app: TestClient;
  readonly tokens: { readonly refresh_token: string };
  readonly key: { readonly id: string };
  /** “This was not me” of the password that was set. */
  readonly report: string;
}

/** A colleague whose password a stolen key has set; the thief let an app in, and changed the name. */
async function openedColleague(): Promise<Opened> {
  const user = await newUser(server, { emailVerified: true });
  const { email } = await call('GET', `/users/${user.id}`);
  await call('PUT', `/users/${user.id}/roles/support`, {});
  const app = standard(await newClient(server, { scopes: SCOPE.split(' ') }));
  server.advance(10 * DAY);
  const key = await call('POST', '/admin-keys', { name: 'stolen', role: 'owner' });
  await call('PATCH', `/users/${user.id}`, { password: SET }, key.adminKey);
  const report = (await mailsTo(server, email)).find(({ kind }) => kind === 'security notice')?.link ?? '';
  server.advance(MINUTE);
  const thief = await signedIn(server, user, SET);
  const tokens = await tokensFor(server, app, user, { scope: SCOPE }, { browser: thief });
  await setUsername(thief, `x${user.username}`);
  server.advance(MINUTE);
  return { user, email, app, tokens, key, report };
}

const endWithMade = ({ key }: Opened) => call('DELETE', `/admin-keys/${key.id}?endMade=true`);

async function recover({ email }: Opened): Promise<void> {
  await askRecovery(server, browserOf(), email);
  assert.equal(await recoverAt(email, ''), 200);
  server.advance(MINUTE);
}

/** What the thief left: the name of the account, and where the app gets its owner to. */
async function leftOf({ user, app }: Opened) {
  const { username } = await call('GET', `/users/${user.id}`);
  const owner = await signedIn(server, { ...user, username }, RECOVERED);
  const { location } = await owner.get(authorizeUrl(app, { scope: SCOPE }));
  return { username, asked: location?.pathname };
}

test('the recovery after the end takes back the name and the access of apps', async () => {
  const opened = await openedColleague();
  await endWithMade(opened);
  await recover(opened);
  assert.deepEqual(await leftOf(opened), { username: opened.user.username, asked: '/consent' });
});

test('the report from before the end works after it, and takes back the same', async () => {
  const opened = await openedColleague();
  await endWithMade(opened);
  assert.equal(await press(opened.report), 200);
  assert.equal((await call('GET', `/users/${opened.user.id}`)).username, opened.user.username);
  await recover(opened);
  assert.deepEqual(await leftOf(opened), { username: opened.user.username, asked: '/consent' });
});

test('the access of apps that the thief let in ends with who opened the account, whatever the owner does', async () => {
  const opened = await openedColleague();
  await endWithMade(opened);
  assert.deepEqual((await call('GET', `/users/${opened.user.id}/connections`)).items, []);
  assert.equal((await refresh(server, opened.app, opened.tokens.refresh_token)).status, 400);
});
