// store: SQLite, PostgreSQL
/**
 * Nobody is told of a consent, so a thief may have given one before the change of address that is taken back: each way of taking it back ends the
 * consents of the week before.
 */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { agent } from '../support/agent.ts';
import { admin, authorizeUrl, newClient, PASSWORD, signedIn, tokensFor } from '../support/flow.ts';
import { newestMail, recover, useLink } from '../support/recovery.ts';
import { startServer } from '../support/server.ts';
import { RECOVERED, type Robbed, takenBack } from '../support/taken-back.ts';

const DAY = 86_400_000;
const MINUTE = 60_000;
const server = await startServer({ TESSERA_MAILBOX: 'on', TESSERA_LIMIT_MAIL_ADDRESS: 'off' });
after(() => server.close());
const { press, freshAddress, setPassword, submit, moveTo, undoLinks, person, recoverAt, patch } = takenBack(server);

/** Takes the account back. @returns the password of the owner from then on */
const ways: Readonly<Record<string, (ada: Robbed) => Promise<string>>> = {
  async 'undoes the change'({ email }) {
    assert.equal(await press((await undoLinks(email))[0] ?? '', { code: '' }), 200);
    assert.ok((await recoverAt(email, '')) < 400);
    return RECOVERED;
  },
  async 'goes back by the form'({ user, email }) {
    const owner = await signedIn(server, user);
    await submit(owner, '/account/email', { email });
    const { link = '' } = await newestMail(server, email, 'address change');
    assert.equal((await owner.submit(await owner.get(link), {})).status, 200);
    return PASSWORD;
  },
  async 'gets the address from an operator'(ada) {
    await patch(ada, { email: ada.email, emailVerified: true });
    return PASSWORD;
  },
  async 'gets the address and a link from an operator'({ user, email }) {
    const made = await admin(server, 'POST', `/users/${user.id}/recovery-link`, { address: email });
    assert.ok((await useLink(agent(server.baseUrl), made.body.url, RECOVERED)).status < 400);
    return RECOVERED;
  },
};

for (const [how, takeBack] of Object.entries(ways)) {
  test(`an owner who ${how} ends the consents of the week before, and keeps those from earlier`, async () => {
    const ada = await person();
    const [own, evil] = [await newClient(server), await newClient(server)];
    const copied = await signedIn(server, ada.user);
    await tokensFor(server, own, ada.user, {}, { browser: copied });
    server.advance(9 * DAY);
    await tokensFor(server, evil, ada.user, {}, { browser: copied });
    server.advance(DAY);
    await submit(copied, '/account/confirm?next=email', { current: PASSWORD }, '/account/confirm');
    await moveTo(copied, freshAddress());
    server.advance(MINUTE);
    const owner = await signedIn(server, ada.user, await takeBack(ada));
    const silently = async (client: typeof own) =>
      (await owner.get(authorizeUrl(client, { prompt: 'none' }))).location?.searchParams.get('error') ?? null;
    assert.deepEqual([await silently(evil), await silently(own)], ['consent_required', null]);
  });
}

test('an operator who keeps the present address leaves consents as they are, where nothing was reported', async () => {
  const ada = await person();
  const client = await newClient(server);
  const browser = await signedIn(server, ada.user);
  server.advance(9 * DAY);
  await tokensFor(server, client, ada.user, {}, { browser });
  server.advance(DAY);
  await submit(browser, '/account/confirm?next=email', { current: PASSWORD }, '/account/confirm');
  await moveTo(browser, freshAddress());
  const made = await admin(server, 'POST', `/users/${ada.user.id}/recovery-link`, { address: 'keep' });
  assert.ok((await useLink(agent(server.baseUrl), made.body.url, RECOVERED)).status < 400);
  const owner = await signedIn(server, ada.user, RECOVERED);
  const { location } = await owner.get(authorizeUrl(client, { prompt: 'none' }));
  assert.equal(location?.searchParams.get('error') ?? null, null);
});

/** Recovers the account, after an act that was reported. */
const recoveries: Readonly<Record<string, (ada: Robbed) => Promise<void>>> = {
  async 'by mail'({ email }) {
    assert.ok((await recover(server, email, RECOVERED)).status < 400);
  },
  async 'by a link of an operator'({ user }) {
    const { body } = await admin(server, 'POST', `/users/${user.id}/recovery-link`, {});
    server.advance(MINUTE);
    assert.ok((await useLink(agent(server.baseUrl), body.url, RECOVERED)).status < 400);
  },
};

for (const [how, recoverAccount] of Object.entries(recoveries)) {
  const told = async (isTold: boolean) => {
    const ada = await person();
    const [own, evil] = [await newClient(server), await newClient(server)];
    const copied = await signedIn(server, ada.user);
    await tokensFor(server, own, ada.user, {}, { browser: copied });
    // What is told of these sign-ins can no longer be reported.
    server.advance(9 * DAY);
    await tokensFor(server, evil, ada.user, {}, { browser: copied });
    server.advance(DAY);
    if (isTold) {
      await submit(copied, '/account/confirm?next=email', { current: PASSWORD }, '/account/confirm');
      await setPassword(copied, PASSWORD, 'the password of a thief');
    }
    server.advance(MINUTE);
    await recoverAccount(ada);
    const owner = await signedIn(server, ada.user, RECOVERED);
    const silently = async (client: typeof own) =>
      (await owner.get(authorizeUrl(client, { prompt: 'none' }))).location?.searchParams.get('error') ?? null;
    return [await silently(evil), await silently(own)];
  };

  test(`a recovery ${how} ends the consents of the week before what was reported, and keeps those from earlier`, async () => {
    assert.deepEqual(await told(true), ['consent_required', null]);
  });

  test(`a recovery ${how} keeps all consents where nothing was reported`, async () => {
    assert.deepEqual(await told(false), [null, null]);
  });
}
