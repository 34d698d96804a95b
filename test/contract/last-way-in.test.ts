// store: SQLite, PostgreSQL
/** The last way into an account is never removed by its owner (contract decisions §11). */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { type Agent, agent, formOf } from '../support/agent.ts';
import { admin } from '../support/flow.ts';
import { newPasskey, usePasskey } from '../support/passkeys.ts';
import { askRecovery, newestMail, useLink } from '../support/recovery.ts';
import { requireCode } from '../support/recovery-setting.ts';
import { enroll, giveRecoveryCodes } from '../support/second-factor.ts';
import { startServer } from '../support/server.ts';
import type { SoftAuthenticator } from '../support/soft-authenticator.ts';

const server = await startServer({ TESSERA_MAILBOX: 'on' });
after(() => server.close());

interface Owner {
  readonly id: string;
  readonly email: string;
  readonly passkey: SoftAuthenticator;
  readonly browser: Agent;
}
let owners = 0;
/** A person with a passkey and no password, in a browser that has just signed in. */
async function passkeyOwner(prepare: (id: string) => Promise<unknown>): Promise<Owner> {
  const username = `last-way-${owners++}`;
  const email = `${username}@example.com`;
  const { id } = (await admin(server, 'POST', '/users', { username, displayName: 'O', email, emailVerified: true }))
    .body;
  const passkey = await newPasskey(server, id);
  await prepare(id);
  const browser = agent(server.baseUrl);
  assert.equal((await usePasskey(browser, passkey)).status, 303);
  return { id, email, passkey, browser };
}

const removePasskey = async ({ browser, passkey: { id } }: Owner): Promise<number> => {
  const page = await browser.get('/account/security');
  return (await browser.submit(page, { action: 'remove', id }, '/account/security/passkeys')).status;
};
const REMOVE_APP = '/account/security/authenticator/remove';
const removeApp = async ({ browser }: Owner): Promise<number> =>
  (await browser.submit(await browser.get('/account/security'), {}, REMOVE_APP)).status;

/** That the page offers no removal, and that one is refused in words. */
async function keepsApp({ browser }: Owner): Promise<void> {
  const { text } = await browser.get('/account/security');
  assert.ok(!text.includes(REMOVE_APP), 'it is not offered');
  assert.match(text, /this app is your only way into your account/);
  const refused = await browser.post(REMOVE_APP, formOf(text, '/account/security/recovery-codes').hidden);
  assert.equal(refused.status, 409);
  assert.match(refused.text, /<h1>Security<[\s\S]*this app is your only way into your account/);
}

let organizations = 0;
/** Makes a person a member of an organization that requires a second factor. */
async function joinStrict(userId: string): Promise<void> {
  const name = `strict-${organizations++}`;
  const fields = { name, domain: `${name}.example`, requireSecondFactor: true };
  const { id } = (await admin(server, 'POST', '/organizations', fields)).body;
  assert.ok((await admin(server, 'PUT', `/organizations/${id}/members/${userId}`, {})).status < 300);
}

test('the last passkey stays where a second factor is required: mail alone would not recover the account', async () => {
  const owner = await passkeyOwner(async (id) => {
    await giveRecoveryCodes(server, { id });
    await joinStrict(id);
  });
  assert.equal(await removePasskey(owner), 409);
  assert.equal((await usePasskey(agent(server.baseUrl), owner.passkey)).status, 303);
});

const mailIsNotEnough = {
  'the person chose that mail alone is not enough': (id: string) => requireCode(server, { id }),
  'a second factor is required': joinStrict,
};
for (const [title, prepare] of Object.entries(mailIsNotEnough)) {
  test(`of a passkey and an authenticator app one stays where ${title}, whichever goes first`, async () => {
    const both = async (id: string) => {
      await enroll(server, { id });
      await prepare(id);
    };
    const first = await passkeyOwner(both);
    assert.equal(await removePasskey(first), 200, 'the app and a link by mail remain');
    await keepsApp(first);
    const second = await passkeyOwner(both);
    assert.equal(await removeApp(second), 200);
    assert.equal(await removePasskey(second), 409);
  });
}

test('recovery codes that a required second factor asks for stay with the last app', async () => {
  const username = `last-way-${owners++}`;
  const fields = { username, displayName: 'O', email: `${username}@example.com`, emailVerified: true };
  const { id } = (await admin(server, 'POST', '/users', { ...fields, password: 'a long password of mine' })).body;
  const passkey = await newPasskey(server, id);
  const { recoveryCodes } = await enroll(server, { id });
  await joinStrict(id);
  const browser = agent(server.baseUrl);
  assert.equal((await usePasskey(browser, passkey)).status, 303);
  const owner = { id, email: fields.email, passkey, browser };
  assert.deepEqual([await removeApp(owner), await removePasskey(owner)], [200, 200]);
  const stranger = agent(server.baseUrl);
  await askRecovery(server, stranger, fields.email);
  const { link = '' } = await newestMail(server, fields.email, 'recovery');
  const done = await useLink(stranger, link, 'twelve green bicycles', { factor: recoveryCodes[0] ?? '' });
  assert.equal(done.location?.pathname, '/account', done.text);
});
