// store: SQLite, PostgreSQL
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { type Agent, agent } from '../support/agent.ts';
import { admin, newUser } from '../support/flow.ts';
import { mailsTo } from '../support/mail.ts';
import { SEVERAL, spread, startServer, type TestServer } from '../support/server.ts';

// Decisions §11: a username that was changed or freed is held for 90 days, whichever way a new account is created.

const DAY = 86_400_000;
const limits = {
  TESSERA_LIMIT_MAIL_ADDRESS: 'off',
  TESSERA_LIMIT_MAIL_RECIPIENT: 'off',
  TESSERA_LIMIT_SIGN_UP_ADDRESS: 'off',
};
const withMail = spread(await startServer({ TESSERA_MAILBOX: 'on', ...limits }, SEVERAL));
const byInvitation = await startServer({ TESSERA_MAILBOX: 'on', TESSERA_SIGN_UP: 'invitation', ...limits });
const withoutMail = await startServer(limits);
after(() => Promise.all([withMail, byInvitation, withoutMail].map((server) => server.close())));

let names = 0;
const newName = (): string => `name${++names}`;
const fieldsOf = (username: string, email: string) => ({
  displayName: 'A. Person',
  username,
  email,
  password: 'quartz lamp river',
});
const newAddress = (): string => `${newName()}@example.com`;
const newest = async (server: TestServer, address: string) => (await mailsTo(server, address))[0];
const holders = async (server: TestServer, username: string): Promise<{ username: string; email: string }[]> =>
  (await admin(server, 'GET', `/users?q=${username}`)).body.items.filter(
    (account: { username: string }) => account.username === username,
  );

/** Lets an account have a username and change it, so that it is held from then on. */
async function hold(server: TestServer, username: string): Promise<void> {
  const { id } = await newUser(server, { username, email: newAddress() });
  assert.equal((await admin(server, 'PATCH', `/users/${id}`, { username: newName() })).status, 200);
}

async function begin(server: TestServer, username: string, email: string) {
  const browser = agent(server.baseUrl, server.nodeInTurn);
  return { browser, answer: await browser.submit(await browser.get('/signup'), fieldsOf(username, email)) };
}

const enter = async (browser: Agent, code: string | undefined) =>
  browser.submit(await browser.get('/signup/verify'), { code: code ?? '' });

async function invite(server: TestServer, fields: object): Promise<string | null> {
  const { status, body } = await admin(server, 'POST', '/invitations', fields);
  assert.equal(status, 201, JSON.stringify(body));
  const { email } = body;
  const link: string | undefined = body.link ?? (await newest(server, email))?.link;
  return new URL(link ?? '').searchParams.get('link');
}

describe('a held username is not given to', () => {
  test('a person who signs up with mail, until the 90 days are over', async () => {
    const [held, email] = [newName(), newAddress()];
    await hold(withMail, held);
    const { browser, answer } = await begin(withMail, held, email);
    assert.equal(answer.status, 409);
    assert.match(answer.text, /This username is taken/);
    assert.equal(await newest(withMail, email), undefined);
    withMail.advance(91 * DAY);
    const late = await browser.submit(await browser.get('/signup'), fieldsOf(held, email));
    assert.equal(late.status, 303);
    assert.equal((await enter(browser, (await newest(withMail, email))?.code)).status, 303);
    assert.deepEqual(
      (await holders(withMail, held)).map((account) => account.email),
      [email],
    );
  });

  test('a person who signs up without mail', async () => {
    const held = newName();
    await hold(withoutMail, held);
    const { answer } = await begin(withoutMail, held, newAddress());
    assert.equal(answer.status, 409);
    assert.match(answer.text, /This username is taken/);
    assert.deepEqual(await holders(withoutMail, held), []);
  });

  for (const [title, server] of [
    ['with mail', byInvitation],
    ['without mail', withoutMail],
  ] as const) {
    test(`a person who is invited ${title}; with another one, the same form creates the account`, async () => {
      const [held, free, email] = [newName(), newName(), newAddress()];
      await hold(server, held);
      const link = await invite(server, { email });
      const browser = agent(server.baseUrl);
      const form = await browser.get(`/signup?invitation=${link}`);
      const refused = await browser.submit(form, fieldsOf(held, email));
      assert.equal(refused.status, 409);
      assert.match(refused.text, /This username is taken/);
      assert.deepEqual(await holders(server, held), []);
      assert.equal((await browser.submit(refused, fieldsOf(free, email))).status, 303);
      assert.equal((await holders(server, free)).length, 1);
    });
  }
});

describe('a username that became taken or held after the sign-up began is asked for once more', () => {
  for (const [title, lose] of [
    ['held', hold],
    ['taken', (server: TestServer, username: string) => newUser(server, { username, email: newAddress() })],
  ] as const) {
    test(`${title}: another one leads to another code`, async () => {
      const [lost, free, email] = [newName(), newName(), newAddress()];
      const { browser } = await begin(withMail, lost, email);
      await lose(withMail, lost);
      const form = await enter(browser, (await newest(withMail, email))?.code);
      assert.equal(form.status, 409);
      assert.match(form.text, /Another person got this username meanwhile. Choose another one/);
      assert.match(form.text, new RegExp(`value="${email}"`));
      assert.deepEqual(
        (await holders(withMail, lost)).filter((account) => account.email === email),
        [],
      );
      assert.equal((await browser.submit(form, fieldsOf(free, email))).status, 303);
      assert.equal((await enter(browser, (await newest(withMail, email))?.code)).status, 303);
      assert.equal((await holders(withMail, free)).length, 1);
    });
  }

  test('the invitation is kept', async () => {
    const organization = { name: 'kept', domain: 'kept.example' };
    const { body } = await admin(byInvitation, 'POST', '/organizations', organization);
    const link = await invite(byInvitation, { organizationId: body.id, role: 'MEMBER' });
    const [lost, free, email] = [newName(), newName(), newAddress()];
    const browser = agent(byInvitation.baseUrl);
    const first = await browser.get(`/signup?invitation=${link}`);
    assert.equal((await browser.submit(first, fieldsOf(lost, email))).status, 303);
    await hold(byInvitation, lost);
    const form = await enter(browser, (await newest(byInvitation, email))?.code);
    assert.equal(form.status, 409);
    assert.equal((await browser.submit(form, fieldsOf(free, email))).status, 303);
    assert.equal((await enter(browser, (await newest(byInvitation, email))?.code)).status, 303);
    const { members } = (await admin(byInvitation, 'GET', `/organizations/${body.id}`)).body;
    assert.deepEqual(
      members.map(({ username }: { username: string }) => username),
      [free],
    );
  });
});
