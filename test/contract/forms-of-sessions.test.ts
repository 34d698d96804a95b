// store: SQLite, PostgreSQL
/** The forms of the account pages are counted for each session, so that nobody in one session keeps the owner in another from ending it. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { Agent } from '../support/agent.ts';
import { PASSWORD, signedIn } from '../support/flow.ts';
import { startServer } from '../support/server.ts';
import { takenBack } from '../support/taken-back.ts';

const MOST = 10;
const server = await startServer({ TESSERA_MAILBOX: 'on', TESSERA_LIMIT_FORM_ACCOUNT: `${MOST}/h` });
after(() => server.close());
const { person } = takenBack(server);

/** Sends forms that do nothing, until one is refused. @returns how many were not */
async function flood(browser: Agent): Promise<number> {
  const page = await browser.get('/account/security');
  const token = /<main.*?name="form_token" value="([^"]+)"/s.exec(page.text)?.[1] ?? '';
  for (let sent = 0; sent <= MOST; sent++) {
    const { status } = await browser.post('/account/profile', { form_token: token, location: `Place ${sent}` });
    if (status === 429) return sent;
  }
  return MOST + 1;
}

const ENDS: Readonly<Record<string, { page: string; action: string; fields: Record<string, string> }>> = {
  'ends the other sessions': { page: '/account/sessions', action: '/account/sessions', fields: { session: 'others' } },
  'signs out everywhere': { page: '/account/security', action: '/account/sign-out-everywhere', fields: {} },
  'sets a new password': {
    page: '/account/security',
    action: '/account/password',
    fields: { current: PASSWORD, password: 'a new one of the owner' },
  },
};

for (const [what, { page, action, fields }] of Object.entries(ENDS)) {
  test(`an owner ${what}, however many forms a thief sends in copied sessions`, async () => {
    const { user } = await person();
    const thieves = [await signedIn(server, user)];
    while (thieves.length < 6) thieves.push(await signedIn(server, user));
    const owner = await signedIn(server, user);
    const shown = await owner.get(page);
    const [first = owner] = thieves;
    assert.equal(await flood(first), MOST);
    const other = await owner.get('/account');
    const saved = await owner.submit(other, { location: 'Here' }, '/account/profile');
    assert.ok(saved.status < 400, 'one session uses up nothing of another');
    for (const thief of thieves) await flood(thief);
    const { status } = await owner.submit(shown, fields, action);
    assert.equal(status, 200);
    for (const thief of thieves) assert.equal((await thief.get('/account')).status, 302, 'the session is over');
  });
}

test('all sessions of an account together send five times as many forms', async () => {
  const { user } = await person();
  const sent: number[] = [];
  for (let session = 0; session < 6; session++) sent.push(await flood(await signedIn(server, user)));
  assert.deepEqual(sent, [MOST, MOST, MOST, MOST, MOST, 0]);
});
