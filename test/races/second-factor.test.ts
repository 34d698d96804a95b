// store: PostgreSQL, SQLite with --all
/** Parallel uses of one code, and of one form that changes the factors: PW-10, PW-07. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { newUser } from '../support/flow.ts';
import { query } from '../support/outcome.ts';
import { atSecondStep, enroll, totpCode, typeCode } from '../support/second-factor.ts';
import { startServer } from '../support/server.ts';

const off = { TESSERA_LIMIT_TOTP_ACCOUNT: 'off', TESSERA_LIMIT_SIGN_IN_ACCOUNT: 'off' };
const server = await startServer(off);
after(() => server.close());
const limited = await startServer();
after(() => limited.close());

const AT_ONCE = 8;

/** Statuses of several requests that are sent at once, sorted. */
async function statuses(send: (index: number) => Promise<{ readonly status: number }>): Promise<number[]> {
  const answers = await Promise.all(Array.from({ length: AT_ONCE }, (_, index) => send(index)));
  return answers.map(({ status }) => status).sort();
}

for (const kind of ['app', 'recovery-code'] as const) {
  test(`PW-10: one code (${kind}) in ${AT_ONCE} sign-ins at once starts one session`, async () => {
    const user = await newUser(server);
    const factor = await enroll(server, user);
    const waiting = await Promise.all(Array.from({ length: AT_ONCE }, () => atSecondStep(server, user)));
    const code = kind === 'app' ? totpCode(factor, server.now()) : (factor.recoveryCodes[0] ?? '');
    const found = await statuses((index) => {
      const at = waiting[index];
      assert.ok(at !== undefined);
      return typeCode(at.browser, at.page, code, kind);
    });
    assert.deepEqual(found, [303, ...Array.from({ length: AT_ONCE - 1 }, () => 401)]);
    const sessions = await query(server, `SELECT hash FROM browser_session WHERE account_id = '${user.id}'`);
    assert.equal(sessions.length, 1);
  });
}

test(`PW-07: of ${AT_ONCE} wrong codes at once, five are compared`, async () => {
  const user = await newUser(limited);
  await enroll(limited, user);
  const waiting = await Promise.all(Array.from({ length: AT_ONCE }, () => atSecondStep(limited, user)));
  const found = await statuses((index) => {
    const at = waiting[index];
    assert.ok(at !== undefined);
    return typeCode(at.browser, at.page, '000000');
  });
  assert.deepEqual(found, [401, 401, 401, 401, 401, 429, 429, 429]);
});

test('setting up another app, removing it and new recovery codes at once: one of them happens', async () => {
  const user = await newUser(server);
  const factor = await enroll(server, user);
  const { browser, page } = await atSecondStep(server, user);
  await typeCode(browser, page, totpCode(factor, server.now()));
  const authenticator = '/account/security/authenticator';
  const enrollment = await browser.get(authenticator);
  const seed = /secret=([A-Z2-7]{32})/.exec(enrollment.text)?.[1] ?? '';
  const security = await browser.get('/account/security');
  const answers = await Promise.all([
    browser.submit(enrollment, { code: totpCode({ seed }, server.now()) }, authenticator),
    browser.submit(security, {}, `${authenticator}/remove`),
    browser.submit(security, {}, '/account/security/recovery-codes'),
  ]);
  // The others find that the session has been renewed.
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 303, 303]);
  const changes = await query(
    server,
    `SELECT type FROM audit_event WHERE account_id = '${user.id}' AND (type LIKE 'account.factor%' OR type LIKE 'account.recovery%')`,
  );
  assert.equal(changes.length, 1);
});
