// store: SQLite, PostgreSQL with --all
/** WCAG 3.3.7: what a person told once is not asked again on the way: it is filled in, or not asked for. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { type Agent, type Answer, agent } from '../support/agent.ts';
import { newUser, signedIn } from '../support/flow.ts';
import { startServer } from '../support/server.ts';

const server = await startServer({ TESSERA_MAILBOX: 'on', TESSERA_SIGN_IN_CODE: 'on' });
after(() => server.close());

/** What a field of a page has in it. */
const filledIn = ({ text }: Answer, name: string): string | undefined =>
  new RegExp(`<input id="${name}" [^>]*value="([^"]*)"`).exec(text)?.[1];

async function follow(browser: Agent, answer: Answer): Promise<Answer> {
  return answer.location === undefined ? answer : follow(browser, await browser.get(answer.location.href));
}

/** After a wrong password. */
async function wrongPassword(): Promise<{ browser: Agent; page: Answer }> {
  const browser = agent(server.baseUrl);
  const fields = { identifier: 'ada.lovelace', password: 'not the password' };
  return { browser, page: await browser.submit(await browser.get('/login'), fields, '/login') };
}

const NEW = { displayName: 'Grace Hopper', username: 'grace.hopper', email: 'grace@example.com' };
const signUp = async (browser: Agent, password: string) =>
  follow(browser, await browser.submit(await browser.get('/signup'), { ...NEW, password }, '/signup'));

async function formOfAccount(page: string, action: string, typed: Readonly<Record<string, string>>): Promise<Answer> {
  const browser = await signedIn(server, await newUser(server, { emailVerified: true }));
  return browser.submit(await browser.get(page), typed, action);
}

interface Way {
  readonly to: () => Promise<Answer>;
  /** What the person told before. */
  readonly told: Readonly<Record<string, string>>;
}

/** By where the person told it, and where it is needed again. */
const WAYS: Readonly<Record<string, Way>> = {
  'a sign-in, and the sign-in after a wrong password': {
    to: async () => (await wrongPassword()).page,
    told: { identifier: 'ada.lovelace' },
  },
  'a sign-in, and the recovery': {
    to: async () => (await wrongPassword()).browser.get('/recover'),
    told: { identifier: 'ada.lovelace' },
  },
  'a sign-in, and a code by mail': {
    to: async () => (await wrongPassword()).browser.get('/login/code'),
    told: { identifier: 'ada.lovelace' },
  },
  'a sign-up, and its form with a mistake': {
    to: () => signUp(agent(server.baseUrl), 'short'),
    told: NEW,
  },
  'a sign-up, and its form again from the page of the code': {
    to: async () => {
      const browser = agent(server.baseUrl);
      const page = await signUp(browser, 'quartz lamp river');
      const again = /<a href="(\/signup\?[^"]*again=yes)"/.exec(page.text)?.[1] ?? assert.fail(page.text);
      return browser.get(again);
    },
    told: NEW,
  },
  'another address, and its form with a mistake': {
    to: () => formOfAccount('/account/email', '/account/email', { email: 'ada' }),
    told: { email: 'ada' },
  },
  'another username, and its form with a mistake': {
    to: () => formOfAccount('/account', '/account/username', { username: 'not a username' }),
    told: { username: 'not a username' },
  },
  'a profile, and its form with a mistake': {
    to: () => formOfAccount('/account', '/account/profile', { website: 'ada.example', location: 'London' }),
    told: { website: 'ada.example', location: 'London' },
  },
};

for (const [way, { to, told }] of Object.entries(WAYS)) {
  test(`asked once: ${way}`, async () => {
    const page = await to();
    for (const [name, value] of Object.entries(told)) assert.equal(filledIn(page, name), value, name);
  });
}

test('the title of a form with a mistake says so first, and that of the form before does not', async () => {
  const { browser, page } = await wrongPassword();
  assert.match(page.text, /<title>Error: Sign in – Tessera<\/title>/);
  assert.match((await browser.get('/login')).text, /<title>Sign in – Tessera<\/title>/);
});

test('one problem of one field stands once, at the field, which has the focus', async () => {
  const browser = agent(server.baseUrl);
  const page = await browser.submit(await browser.get('/login'), { identifier: 'ada', password: '' }, '/login');
  assert.match(page.text, /<title>Error: Sign in – Tessera<\/title>/);
  assert.equal(page.text.split('Enter your password.').length, 1 + 1);
  assert.match(page.text, /<p class="problem" id="password-note">Enter your password\.<\/p>/);
  assert.match(page.text, /<input id="password"[^>]* aria-describedby="password-note" aria-invalid="true" autofocus>/);
  assert.equal(page.text.split(' autofocus').length, 1 + 1, 'nothing else takes the focus');
});

test('two problems are listed above the form, each with a link to its field', async () => {
  const browser = agent(server.baseUrl);
  const page = await browser.submit(await browser.get('/login'), { identifier: '', password: '' }, '/login');
  const [, list = ''] = /<div class="notice problem" role="alert"[^>]*>(.*?)<\/div>/s.exec(page.text) ?? [];
  assert.deepEqual(list.match(/href="#\w+"/g), ['href="#identifier"', 'href="#password"']);
  assert.equal(page.text.split(' autofocus').length, 1 + 1);
});

test('the message is sent again without the name', async () => {
  const browser = agent(server.baseUrl);
  const sent = await follow(
    browser,
    await browser.submit(await browser.get('/recover'), { identifier: 'ada' }, '/recover'),
  );
  const resend = /<form[^>]*action="\/recover"[^>]*>.*?<\/form>/s.exec(sent.text)?.[0] ?? assert.fail(sent.text);
  assert.doesNotMatch(resend, /name="identifier"/);
});
