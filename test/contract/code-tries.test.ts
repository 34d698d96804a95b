// store: SQLite, PostgreSQL
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { type Agent, agent } from '../support/agent.ts';
import { newUser, signedIn } from '../support/flow.ts';
import { mailsTo } from '../support/mail.ts';
import { query } from '../support/outcome.ts';
import { askRecovery, newestMail } from '../support/recovery.ts';
import { SEVERAL, spread, startServer } from '../support/server.ts';

// Decisions §11: tries count for the account, and for the address of the message, over reissued codes and across purposes.

const TRIES = 5;
const server = spread(
  await startServer(
    {
      TESSERA_MAILBOX: 'on',
      TESSERA_SIGN_IN_CODE: 'on',
      TESSERA_LIMIT_MAIL_ADDRESS: 'off',
      TESSERA_LIMIT_MAIL_RECIPIENT: '3/h',
      TESSERA_LIMIT_SIGN_UP_ADDRESS: 'off',
    },
    SEVERAL,
  ),
);
after(() => server.close());

const PAGE = '/account/email';
let names = 0;
const newName = (): string => `tries${++names}`;
const freshAddress = (): string => `${newName()}@corp.example`;

async function person(emailVerified = true) {
  const user = await newUser(server, { emailVerified });
  return { user, email: `${user.username}@example.com`, browser: await signedIn(server, user) };
}

async function signUp(email: string): Promise<Agent> {
  const browser = agent(server.baseUrl, server.nodeInTurn);
  const fields = { displayName: 'S', username: newName(), email, password: 'quartz lamp river' };
  assert.equal((await browser.submit(await browser.get('/signup'), fields)).status, 303);
  return browser;
}

async function changeTo(email: string): Promise<Agent> {
  const { browser } = await person();
  assert.equal((await browser.submit(await browser.get(PAGE), { email }, PAGE)).status, 200);
  return browser;
}

const typeAtSignUp = async (browser: Agent, code: string) =>
  (await browser.submit(await browser.get('/signup/verify'), { code })).status;
const typeAtChange = async (browser: Agent, code: string) =>
  (await browser.submit(await browser.get(PAGE), { code }, `${PAGE}/code`)).status;
const repeat = async (times: number, attempt: () => Promise<unknown>): Promise<void> => {
  for (let time = 0; time < times; time++) await attempt();
};
const codeOf = async (address: string): Promise<string> => (await mailsTo(server, address))[0]?.code ?? '';

test('the tries at an address are shared by all accounts and sign-ups that name it', async () => {
  const email = freshAddress();
  const statuses: number[] = [];
  for (let account = 0; account < 3; account++) {
    const browser = await changeTo(email);
    await repeat(TRIES + 1, async () => statuses.push(await typeAtChange(browser, 'wrong')));
  }
  assert.equal(statuses.filter((status) => status === 400).length, TRIES);
  const late = await signUp(email);
  assert.equal(await typeAtSignUp(late, await codeOf(email)), 429);
  const other = await changeTo(freshAddress());
  assert.equal(await typeAtChange(other, 'wrong'), 400, 'another address is free');
});

test('tries for one purpose use up those for another, without telling', async () => {
  const { user, email } = await person(false);
  const browser = agent(server.baseUrl, server.nodeInTurn);
  await askRecovery(server, browser, user.username);
  const enter = async (code: string) =>
    browser.submit(await browser.get('/recover/code'), { sent_code: code }, '/recover/code');
  await repeat(TRIES, () => enter('wrong'));
  const late = await signUp(email);
  const code = await codeOf(email);
  assert.match(code, /^\d{6}$/);
  assert.equal(await typeAtSignUp(late, code), 400, 'not 429, which would tell whose address it is');
});

const stored = (name: string, purpose: string) =>
  query(
    server,
    `SELECT code_hash FROM challenge WHERE purpose = '${purpose}' AND address = '${name}' ORDER BY created_at DESC`,
  );

for (const [purpose, begin, type] of [
  ['sign up', signUp, typeAtSignUp],
  ['change address', changeTo, typeAtChange],
] as const) {
  test(`${purpose}: where another account has the address, no code is right, and its owner is not locked out`, async () => {
    const { user, email } = await person();
    const stranger = await begin(email);
    const rows = await stored(email, purpose);
    assert.deepEqual(
      rows.map(({ code_hash }) => code_hash),
      [null],
    );
    await repeat(TRIES, async () => assert.equal(await type(stranger, '123456'), 400));
    assert.equal(await type(stranger, '123456'), 429, 'as for any other address');
    // The owner, in a browser that is not known to the account.
    const own = agent(server.baseUrl, server.nodeInTurn);
    await own.submit(await own.get('/login/code'), { identifier: user.username }, '/login/code');
    await server.sendRequestedMail();
    const { code = '' } = await newestMail(server, email, 'sign-in code');
    const done = await own.submit(await own.get('/login/code/enter'), { sent_code: code }, '/login/code/enter');
    assert.equal(done.status, 303);
  });

  test(`${purpose}: where the address is reserved, or too many messages were sent, no code is right`, async () => {
    const reserved = await person();
    const next = freshAddress();
    await reserved.browser.submit(await reserved.browser.get(PAGE), { email: next }, PAGE);
    assert.equal(await typeAtChange(reserved.browser, await codeOf(next)), 200);
    const before = await mailsTo(server, reserved.email);
    await begin(reserved.email);
    assert.deepEqual(
      (await stored(reserved.email, purpose)).map(({ code_hash }) => code_hash),
      [null],
    );
    assert.deepEqual(await mailsTo(server, reserved.email), before);
    const busy = freshAddress();
    await repeat(3, () => begin(busy));
    const first = await stored(busy, purpose);
    assert.ok(first.every(({ code_hash }) => code_hash !== null));
    await begin(busy);
    assert.equal((await stored(busy, purpose)).filter(({ code_hash }) => code_hash === null).length, 1);
    assert.equal((await mailsTo(server, busy)).length, 3);
  });
}

test('tries of strangers at an address do not keep the account that has it from verifying it', async () => {
  const { email, browser } = await person(false);
  const stranger = await signUp(email);
  await repeat(TRIES + 1, () => typeAtSignUp(stranger, 'wrong'));
  await browser.submit(await browser.get(PAGE), {}, `${PAGE}/verify`);
  assert.equal(await typeAtChange(browser, await codeOf(email)), 200);
});

for (const [purpose, begin, again, type] of [
  [
    'sign up',
    signUp,
    async (browser: Agent) => browser.submit(await browser.get('/signup/verify'), { action: 'resend' }),
    typeAtSignUp,
  ],
  ['change address', changeTo, async (_: Agent, email: string) => changeTo(email), typeAtChange],
] as const) {
  test(`${purpose}: beyond the limit of mails, the answers to codes tell no taken address from a free one`, async () => {
    const answers: (readonly number[])[] = [];
    for (const email of [(await person()).email, freshAddress()]) {
      const browser = await begin(email);
      const statuses: number[] = [];
      await repeat(TRIES - 1, async () => statuses.push(await type(browser, 'wrong')));
      await repeat(4, () => again(browser, email));
      const late = await begin(email);
      await repeat(3, async () => statuses.push(await type(late, 'wrong')));
      answers.push(statuses);
    }
    const [taken, free] = answers;
    assert.deepEqual(taken, [400, 400, 400, 400, 400, 429, 429]);
    assert.deepEqual(free, taken);
  });
}

test('tries of strangers at a reserved address do not keep its owner from going back to it', async () => {
  const { user, email, browser } = await person();
  const next = freshAddress();
  await browser.submit(await browser.get(PAGE), { email: next }, PAGE);
  assert.equal(await typeAtChange(browser, await codeOf(next)), 200);
  const stranger = await signUp(email);
  await repeat(TRIES + 1, () => typeAtSignUp(stranger, 'wrong'));
  const owner = await signedIn(server, user);
  await owner.submit(await owner.get(PAGE), { email }, PAGE);
  const { code = '' } = await newestMail(server, email, 'address change');
  assert.equal(await typeAtChange(owner, code), 200);
});
