// store: SQLite, PostgreSQL with --all
/** Neither a stranger nor a thief of one credential keeps the owner from recovering the account (contract decisions §11). */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { type Agent, agent } from '../support/agent.ts';
import { admin, newUser as newTestUser, signedIn, type TestUser } from '../support/flow.ts';
import { mailsTo } from '../support/mail.ts';
import { MINUTE } from '../support/outcome.ts';
import { askRecovery, newestMail, useLink } from '../support/recovery.ts';
import { atSecondStep, enroll, totpCode, typeCode } from '../support/second-factor.ts';
import { startServer } from '../support/server.ts';

const server = await startServer({
  TESSERA_MAILBOX: 'on',
  TESSERA_SIGN_IN_CODE: 'on',
  // Everybody here has one address.
  TESSERA_LIMIT_MAIL_ADDRESS: 'off',
});
after(() => server.close());
const NEW = 'twelve green bicycles';
const browserOf = () => agent(server.baseUrl);

interface Person extends TestUser {
  readonly email: string;
}
async function newUser(): Promise<Person> {
  const user = await newTestUser(server, { emailVerified: true });
  return { ...user, email: `${user.username}@example.com` };
}

/** The two codes by mail: how one is asked for, where it is typed, and where a right one leads. */
const CODES = {
  recovery: {
    page: '/recover/code',
    leadsTo: '/recover/link',
    ask: (by: Agent, name: string) => askRecovery(server, by, name),
  },
  'sign-in code': {
    page: '/login/code/enter',
    leadsTo: '/account',
    async ask(by: Agent, identifier: string) {
      const answer = await by.submit(await by.get('/login/code'), { identifier }, '/login/code');
      await server.sendRequestedMail();
      return answer;
    },
  },
} as const;
const KINDS = Object.keys(CODES) as (keyof typeof CODES)[];
const typeSent = async (kind: keyof typeof CODES, by: Agent, sent_code = '') =>
  by.submit(await by.get(CODES[kind].page), { sent_code }, CODES[kind].page);

for (const kind of KINDS) {
  const { ask, leadsTo } = CODES[kind];
  test(`a stranger who types wrong codes (${kind}) uses up no tries of a browser of the owner`, async () => {
    const user = await newUser();
    const owner = await signedIn(server, user);
    const stranger = browserOf();
    await ask(stranger, user.email);
    for (let guess = 0; guess < 6; guess++) await typeSent(kind, stranger, 'wrong');
    server.advance(1);
    await ask(owner, user.email);
    const { code } = await newestMail(server, user.email, kind);
    assert.equal((await typeSent(kind, owner, code)).location?.pathname, leadsTo);
  });

  test(`a stranger who asks later (${kind}) does not end what a browser of the owner asked for`, async () => {
    const user = await newUser();
    const owner = await signedIn(server, user);
    await ask(owner, user.email);
    const { code, link = '' } = await newestMail(server, user.email, kind);
    server.advance(1);
    await ask(browserOf(), user.email);
    if (link !== '') assert.equal((await browserOf().get(link)).status, 200);
    assert.equal((await typeSent(kind, owner, code)).location?.pathname, leadsTo);
  });

  test(`a browser of the owner replaces what it asked for before (${kind})`, async () => {
    const user = await newUser();
    const owner = await signedIn(server, user);
    await ask(owner, user.email);
    const { code, link = '' } = await newestMail(server, user.email, kind);
    server.advance(1);
    await ask(owner, user.email);
    if (link !== '') assert.equal((await browserOf().get(link)).status, 410);
    assert.notEqual((await typeSent(kind, owner, code)).location?.pathname, leadsTo);
  });
}

/** As many messages as one address gets in an hour, and one more. */
const MORE_THAN_ENOUGH = 11;
const countOf = async ({ email }: Person, kind: string) =>
  (await mailsTo(server, email)).filter((mail) => mail.kind === kind).length;

test('messages that a stranger has sent to an address for other purposes use up none of a recovery', async () => {
  const user = await newUser();
  const stranger = browserOf();
  for (let asked = 0; asked < MORE_THAN_ENOUGH; asked++) await CODES['sign-in code'].ask(stranger, user.email);
  assert.equal(await countOf(user, 'sign-in code'), MORE_THAN_ENOUGH - 1);
  const owner = browserOf();
  await askRecovery(server, owner, user.username);
  const { code } = await newestMail(server, user.email, 'recovery');
  assert.equal((await typeSent('recovery', owner, code)).location?.pathname, '/recover/link');
});

test('however many recoveries a stranger asks for, the owner has a link that works', async () => {
  const user = await newUser();
  for (let asked = 0; asked < MORE_THAN_ENOUGH; asked++) {
    server.advance(1);
    await askRecovery(server, browserOf(), [user.email, user.username][asked % 2] ?? '');
  }
  assert.equal(await countOf(user, 'recovery'), MORE_THAN_ENOUGH - 1);
  const owner = browserOf();
  await askRecovery(server, owner, user.email);
  assert.equal(await countOf(user, 'recovery'), MORE_THAN_ENOUGH - 1, 'limited');
  const newest = await newestMail(server, user.email, 'recovery');
  assert.equal((await owner.get(newest.link ?? '')).status, 200, 'the one that the stranger asked for');
  // All of them have expired, and the hour is not over.
  server.advance(30 * MINUTE);
  await askRecovery(server, owner, user.email);
  await askRecovery(server, browserOf(), user.email);
  assert.equal(await countOf(user, 'recovery'), MORE_THAN_ENOUGH, 'one more, and only one');
  const { link = '' } = await newestMail(server, user.email, 'recovery');
  assert.equal((await useLink(owner, link, NEW)).location?.pathname, '/account');
});

for (const kind of KINDS) {
  test(`a browser of the owner gets its message (${kind}) after a stranger used up those of the address`, async () => {
    const user = await newUser();
    const owner = await signedIn(server, user);
    const { ask, leadsTo } = CODES[kind];
    for (let asked = 0; asked < MORE_THAN_ENOUGH; asked++) await ask(browserOf(), user.email);
    server.advance(1);
    await ask(owner, user.email);
    const { code } = await newestMail(server, user.email, kind);
    assert.equal((await typeSent(kind, owner, code)).location?.pathname, leadsTo);
  });
}

test('beyond the limit a browser keeps the code that it has', async () => {
  const user = await newUser();
  const owner = browserOf();
  for (let asked = 0; asked < MORE_THAN_ENOUGH; asked++) {
    server.advance(1);
    await askRecovery(server, owner, user.email);
  }
  const { code } = await newestMail(server, user.email, 'recovery');
  assert.equal((await typeSent('recovery', owner, code)).location?.pathname, '/recover/link');
});

test('a thief of the password who types wrong second factors uses up no tries of a recovery', async () => {
  const user = await newUser();
  const factor = await enroll(server, user);
  for (const expected of [401, 401, 401, 401, 401, 429]) {
    const { browser, page } = await atSecondStep(server, user);
    assert.equal((await typeCode(browser, page, '000000')).status, expected);
  }
  const owner = browserOf();
  await askRecovery(server, owner, user.email);
  const { link = '' } = await newestMail(server, user.email, 'recovery');
  const done = await useLink(owner, link, NEW, { factor: totpCode(factor, server.now()) });
  assert.equal(done.location?.pathname, '/account', done.text);
});

test('a reader of the mail who types wrong second factors uses up no tries of an operator’s link', async () => {
  const user = await newUser();
  const factor = await enroll(server, user);
  await askRecovery(server, browserOf(), user.email);
  const { link = '' } = await newestMail(server, user.email, 'recovery');
  for (const expected of [400, 400, 400, 400, 400, 429]) {
    assert.equal((await useLink(browserOf(), link, NEW, { factor: '000000' })).status, expected);
  }
  const { url } = (await admin(server, 'POST', `/users/${user.id}/recovery-link`, {})).body;
  const done = await useLink(browserOf(), url, NEW, { factor: totpCode(factor, server.now()) });
  assert.equal(done.status, 200, done.text);
});
