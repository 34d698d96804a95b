// store: SQLite, PostgreSQL with --all
/**
 * Forms of the account that have read who is signed in and are about to write, while another node ends what that rests on:
 * RC-05, AC-08. The other node's transaction holds the account until the form waits for it.
 */
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { type Agent, type Answer, formOf } from '../support/agent.ts';
import { admin, newClient, newUser, PASSWORD, signedIn, type TestUser, tokensFor } from '../support/flow.ts';
import { landscape } from '../support/images.ts';
import { takeAccountLock } from '../support/other-writer.ts';
import { startServer } from '../support/server.ts';

const server = await startServer();
after(() => server.close());
const client = await newClient(server);
const picture = new File([new Uint8Array(await landscape().png())], 'me.png', { type: 'image/png' });

const ENDINGS = {
  'the account was banned': "UPDATE account SET banned_at = 1, generation = 'other' WHERE id = ?",
  'the account was suspended': "UPDATE account SET suspended_at = 1, generation = 'other' WHERE id = ?",
  'the account was secured again': "UPDATE account SET generation = 'other' WHERE id = ?",
  'the session was ended': 'DELETE FROM browser_session WHERE account_id = ?',
  'the account was deleted': 'DELETE FROM account WHERE id = ?',
} as const;

interface Form {
  readonly page: string;
  readonly action: string;
  readonly fields: Readonly<Record<string, string>>;
}

const FORMS: Readonly<Record<string, Form>> = {
  'an edit of the profile': {
    page: '/account',
    action: '/account/profile',
    fields: { location: 'Marylebone' },
  },
  'a new password': {
    page: '/account/security',
    action: '/account/password',
    fields: { current: PASSWORD, password: 'a wholly other password' },
  },
  'removing the picture': { page: '/account', action: '/account/picture', fields: { action: 'remove' } },
  'signing out everywhere': { page: '/account/security', action: '/account/sign-out-everywhere', fields: {} },
  'taking access away': {
    page: '/account/connections',
    action: '/account/connections',
    fields: { client_id: client.clientId },
  },
  'ending other sessions': { page: '/account/sessions', action: '/account/sessions', fields: { session: 'others' } },
};

/** What a form could have changed. */
async function stateOf({ id }: TestUser) {
  const paths = [`/users/${id}`, `/users/${id}/connections`, `/audit-events?userId=${id}&actor=user&limit=100`];
  return Promise.all(paths.map(async (path) => (await admin(server, 'GET', path)).body));
}

async function sent(browser: Agent, { page, action, fields }: Form): Promise<() => Promise<Answer>> {
  const shown = await browser.get(page);
  const { hidden } = formOf(shown.text, action);
  return () => browser.post(action, { ...hidden, ...fields });
}

for (const [ending, sql] of Object.entries(ENDINGS)) {
  describe(`nothing is written for a browser whose page was read before ${ending}`, () => {
    for (const [name, form] of Object.entries(FORMS)) {
      test(name, async () => {
        const user = await newUser(server);
        const browser = await signedIn(server, user);
        await tokensFor(server, client, user, {}, { browser });
        await signedIn(server, user);
        await browser.upload(await browser.get('/account'), { picture }, '/account/picture');
        const send = await sent(browser, form);
        const before = await stateOf(user);

        const writer = await takeAccountLock(server, user.id, () => admin(server, 'GET', '/clients'));
        const answer = send();
        await writer.awaited(answer);
        await writer.run(sql, user.id);
        await writer.commit();

        assert.deepEqual([(await answer).status, (await answer).location?.pathname], [303, '/login']);
        const after = await stateOf(user);
        if (ending === 'the account was deleted') return assert.equal(after[0].error, 'not_found');
        for (const state of [before, after]) Object.assign(state[0], { status: '', ban: null, suspension: null });
        assert.deepEqual(after, before);
      });
    }
  });
}
