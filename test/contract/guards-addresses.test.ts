// store: SQLite, PostgreSQL with --all
/** Addresses that are reserved, verified or given back, by ways that lead round the page where they are asked for: decisions §11. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { type Agent, type Answer, agent, formOf } from '../support/agent.ts';
import { admin, newUser, PASSWORD, signedIn, type TestUser } from '../support/flow.ts';
import { mailsTo, type SentMail } from '../support/mail.ts';
import { MINUTE, query } from '../support/outcome.ts';
import { newPasskey, usePasskey } from '../support/passkeys.ts';
import { newestMail } from '../support/recovery.ts';
import { SEVERAL, startServer } from '../support/server.ts';

const limits = { TESSERA_LIMIT_MAIL_ADDRESS: 'off', TESSERA_LIMIT_MAIL_RECIPIENT: 'off' };
const server = await startServer({ TESSERA_MAILBOX: 'on', ...limits }, SEVERAL);
after(() => server.close());

const PAGE = '/account/email';
const UNDO = '/undo-address-change';
let names = 0;
const freshName = (): string => `person-${++names}`;

interface Person {
  readonly user: TestUser;
  readonly browser: Agent;
  readonly email: string;
}

async function person(emailVerified: boolean): Promise<Person> {
  const user = await newUser(server, { emailVerified });
  return { user, browser: await signedIn(server, user), email: `${user.username}@example.com` };
}

const addressOf = async ({ id }: TestUser): Promise<readonly unknown[]> => {
  const { body } = await admin(server, 'GET', `/users/${id}`);
  return [body.email, body.emailVerified];
};

const typeCode = async (browser: Agent, { code = '' }: SentMail): Promise<Answer> =>
  browser.submit(await browser.get(PAGE), { code }, `${PAGE}/code`);

async function verify({ browser, email }: Person): Promise<void> {
  await browser.submit(await browser.get(PAGE), {}, `${PAGE}/verify`);
  assert.equal((await typeCode(browser, await newestMail(server, email, 'verify address'))).status, 200);
}

/** Gives a verified person another address. @returns the message to the earlier one, which is reserved from now on */
async function move({ browser, email }: Person): Promise<SentMail> {
  const next = `${freshName()}@example.com`;
  await browser.submit(await browser.get(PAGE), { email: next }, PAGE);
  assert.equal((await typeCode(browser, await newestMail(server, next, 'address change'))).status, 200);
  return newestMail(server, email, 'address changed');
}

const isFree = async (username: string): Promise<boolean> =>
  (await query(server, 'SELECT id FROM account WHERE username = ?', username)).length === 0;

/** Ways to prove an address that is reserved for its earlier owner. What is refused later is begun before it is reserved. */
const claims: Readonly<
  Record<string, (address: string) => Promise<{ finish(): Promise<Answer>; holdsNothing(): Promise<boolean> }>>
> = {
  'a change of address that was asked for before': async (address) => {
    const { user, browser, email } = await person(true);
    await browser.submit(await browser.get(PAGE), { email: address }, PAGE);
    const mail = await newestMail(server, address, 'address change');
    return {
      finish: () => typeCode(browser, mail),
      holdsNothing: async () => (await addressOf(user))[0] === email,
    };
  },
  'a sign-up': async (address) => {
    const username = freshName();
    const browser = agent(server.baseUrl);
    const fields = { displayName: 'N', username, email: address, password: 'quartz lamp river' };
    return {
      async finish() {
        const begun = await browser.submit(await browser.get('/signup'), fields);
        assert.equal(begun.location?.pathname, '/signup/verify');
        const { code = '' } = await newestMail(server, address, 'verify address');
        return browser.submit(await browser.get('/signup/verify'), { code });
      },
      holdsNothing: () => isFree(username),
    };
  },
  'a sign-up by an invitation that was mailed': async (address) => {
    const username = freshName();
    const browser = agent(server.baseUrl);
    assert.equal((await admin(server, 'POST', '/invitations', { email: address })).status, 201);
    const { link = '' } = await newestMail(server, address, 'invitation');
    const secret = new URL(link).searchParams.get('link') ?? '';
    return {
      finish: async () =>
        browser.submit(await browser.get(`/signup?invitation=${secret}`), {
          ...{ displayName: 'N', username, password: 'quartz lamp river' },
        }),
      holdsNothing: () => isFree(username),
    };
  },
};

for (const [name, begin] of Object.entries(claims)) {
  test(`an address that its earlier owner may take back is not given away by ${name}`, async () => {
    const ada = await person(false);
    const claim = await begin(ada.email);
    await verify(ada);
    const { link = '' } = await move(ada);
    const answer = await claim.finish();
    assert.ok([400, 409].includes(answer.status), `${answer.status} ${answer.text}`);
    assert.ok(await claim.holdsNothing());
    const owner = agent(server.baseUrl);
    assert.equal((await owner.submit(await owner.get(link), {}, UNDO)).status, 200);
    assert.deepEqual(await addressOf(ada.user), [ada.email, true]);
  });
}

const passkeysOf = async ({ id }: TestUser): Promise<number> =>
  (await query(server, 'SELECT id FROM passkey WHERE account_id = ?', id)).length;

test('whoever proves an address by mail and password does not share the account with earlier passkeys', async () => {
  const ada = await person(false);
  const passkey = await newPasskey(server, ada.user.id);
  await verify(ada);
  assert.equal(await passkeysOf(ada.user), 0);
  assert.equal((await usePasskey(agent(server.baseUrl), passkey)).status, 401);
});

test('the passkey in whose session an address is proved stays', async () => {
  const ada = await person(false);
  const passkey = await newPasskey(server, ada.user.id);
  const browser = agent(server.baseUrl);
  assert.equal((await usePasskey(browser, passkey)).status, 303);
  await verify({ ...ada, browser });
  assert.equal(await passkeysOf(ada.user), 1);
  assert.equal((await usePasskey(agent(server.baseUrl), passkey)).status, 303);
});

test('a change of address is undone only by the form that was shown in the same browser', async () => {
  const ada = await person(true);
  const { link = '' } = await move(ada);
  const moved = await addressOf(ada.user);
  const [browser, other] = [agent(server.baseUrl), agent(server.baseUrl)];
  const page = await browser.get(link);
  const { hidden: foreign } = formOf((await other.get(link)).text, UNDO);
  const { token = '' } = foreign;
  for (const [name, form] of Object.entries({
    'no token of a form': { token },
    'the form of another browser': foreign,
    'the token of another form': { ...foreign, ...formOf((await browser.get('/login')).text, '/login').hidden, token },
  })) {
    const answer = await browser.post(UNDO, form);
    assert.equal(answer.status, 303, name);
    assert.equal(`${answer.location}`, link, name);
    assert.deepEqual(await addressOf(ada.user), moved, name);
  }
  assert.equal((await browser.submit(page, {}, UNDO)).status, 200);
  assert.deepEqual(await addressOf(ada.user), [ada.email, true]);
  assert.equal((await mailsTo(server, ada.email))[0]?.kind, 'recovery');
});

test('a link or code is not used up where the account was secured too often, and works later', async () => {
  const own = await startServer({ TESSERA_MAILBOX: 'on', ...limits, TESSERA_LIMIT_GENERATION_ACCOUNT: '1/10m' });
  try {
    for (const isTyped of [false, true]) {
      const user = await newUser(own);
      const browser = await signedIn(own, user);
      const password = { current: PASSWORD, password: 'another good passphrase' };
      const page = await browser.get('/account/security');
      assert.equal((await browser.submit(page, password, '/account/password')).status, 200);
      own.advance(6 * MINUTE);
      await browser.submit(await browser.get(PAGE), {}, `${PAGE}/verify`);
      const mail = await newestMail(own, `${user.username}@example.com`, 'verify address');
      const confirm = async (): Promise<Answer> =>
        isTyped ? typeCode(browser, mail) : browser.submit(await browser.get(mail.link ?? ''), {});
      assert.equal((await confirm()).status, 429);
      own.advance(7 * MINUTE);
      assert.equal((await confirm()).status, 200);
    }
  } finally {
    await own.close();
  }
});

test('who undoes a change during a ban or suspension is told what they can do instead of recovering the account', async () => {
  const until = new Date(server.now() + 2 * MINUTE).toISOString();
  for (const [path, body, lasts] of [
    ['ban', { until }, /The ban ends on .*\. Recover your account after that\./],
    ['ban', {}, /An operator has to end the ban first\..*ask for help/s],
    ['suspension', {}, /An operator has to end the suspension first\./],
  ] as const) {
    const ada = await person(true);
    const { link = '' } = await move(ada);
    await admin(server, 'PUT', `/users/${ada.user.id}/${path}`, body);
    const browser = agent(server.baseUrl, server.nodeInTurn);
    const undone = await browser.submit(await browser.get(link), {});
    assert.equal(undone.status, 200);
    assert.match(undone.text, /banned or suspended, so no link to set a new password is sent/);
    assert.doesNotMatch(undone.text, /on its way/);
    assert.deepEqual(await addressOf(ada.user), [ada.email, true]);
    const mail = await newestMail(server, ada.email, 'recovery');
    assert.deepEqual([mail.link, mail.code], [undefined, undefined]);
    assert.match(mail.text, lasts);
  }
});
