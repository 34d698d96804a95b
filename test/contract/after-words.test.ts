// store: SQLite, PostgreSQL with --all
/** Each page at the end of something says what holds now, and leads on. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { type Agent, type Answer, agent } from '../support/agent.ts';
import { answerDevice, newDeviceClient, startDevice } from '../support/devices.ts';
import {
  admin,
  authorizeUrl,
  newClient,
  newUser,
  PASSWORD,
  signedIn,
  type TestUser,
  tokensFor,
} from '../support/flow.ts';
import { mailsTo } from '../support/mail.ts';
import { askRecovery, newestMail, recover, useLink } from '../support/recovery.ts';
import { atSecondStep, enroll } from '../support/second-factor.ts';
import { startServer } from '../support/server.ts';

const server = await startServer({
  TESSERA_MAILBOX: 'on',
  TESSERA_SIGN_UP: 'invitation',
  TESSERA_LIMIT_MAIL_ADDRESS: 'off',
  TESSERA_LIMIT_MAIL_RECIPIENT: 'off',
  TESSERA_LIMIT_SIGN_IN_ADDRESS: 'off',
});
after(() => server.close());

interface Person {
  readonly user: TestUser;
  readonly email: string;
  readonly browser: Agent;
}

let people = 0;
async function person(): Promise<Person> {
  const email = `after-${people++}@example.com`;
  const user = await newUser(server, { email, emailVerified: true, displayName: 'Ada Lovelace' });
  return { user, email, browser: await signedIn(server, user) };
}

/** The page to which an answer leads. */
async function follow(browser: Agent, answer: Answer): Promise<Answer> {
  return answer.location === undefined ? answer : follow(browser, await browser.get(answer.location.href));
}

async function submit(browser: Agent, path: string, fields: Readonly<Record<string, string>>, action?: string) {
  return follow(browser, await browser.submit(await browser.get(path), fields, action));
}

const NEW_PASSWORD = 'quartz lamp river';

/** Asks for another address, and answers the link that confirms it and that which undoes it. */
async function moving({ browser, email }: Person): Promise<{ confirm: string; undo: () => Promise<string> }> {
  const next = `moved-${email}`;
  await submit(browser, '/account/email', { email: next }, '/account/email');
  const confirm = (await mailsTo(server, next))[0]?.link ?? '';
  const undo = async () => (await mailsTo(server, email)).find(({ link }) => link?.includes('/undo'))?.link ?? '';
  return { confirm, undo };
}

/** An invitation to an organization, and a browser of the person whom it is for. */
async function invited(): Promise<Person & { readonly link: string }> {
  const guest = await person();
  const name = `guild-${people}`;
  const { body } = await admin(server, 'POST', '/organizations', { name, domain: `${name}.example` });
  await admin(server, 'POST', '/invitations', { email: guest.email, organizationId: body.id, role: 'ADMIN' });
  return { ...guest, link: (await mailsTo(server, guest.email))[0]?.link ?? '' };
}

async function deleted(): Promise<Person & { readonly page: Answer }> {
  const leaving = await person();
  const page = await submit(leaving.browser, '/account/data', { confirm: 'yes' }, '/account/deletion');
  return { ...leaving, page };
}

interface AfterWord {
  readonly page: () => Promise<Answer>;
  /** What holds now. */
  readonly says: RegExp;
  /** Where the person goes on: a link, a button, or the pages of the account around it. */
  readonly next: RegExp;
}

const ACCOUNT = /<nav class="side"/;

/** Every page at the end of something. */
const AFTER: Readonly<Record<string, AfterWord>> = {
  'an account is created by an invitation': {
    page: async () => {
      const email = `new-${people++}@example.com`;
      const { body } = await admin(server, 'POST', '/organizations', { name: 'weavers', domain: 'weavers.example' });
      await admin(server, 'POST', '/invitations', { email, organizationId: body.id });
      const link = new URL((await mailsTo(server, email))[0]?.link ?? '').searchParams.get('link');
      const fields = { displayName: 'New', username: `new-${people}`, password: NEW_PASSWORD };
      return submit(agent(server.baseUrl), `/signup?invitation=${link}`, fields);
    },
    says: /Your account is created\. You are now a member of weavers\./,
    next: ACCOUNT,
  },
  'an invitation is accepted': {
    page: async () => {
      const { browser, link } = await invited();
      return submit(browser, link, {}, '/invitation');
    },
    says: /You are now a member of guild-\d+ You are one of its administrators\./,
    next: /<a class="button primary" href="\/account\/organization">See your membership/,
  },
  'an invitation is accepted again': {
    page: async () => {
      const { browser, link } = await invited();
      await submit(browser, link, {}, '/invitation');
      return browser.get(link);
    },
    says: /You have already joined guild-\d+/,
    next: /<a class="button primary" href="\/account">Go to your account/,
  },
  'an invitation is declined': {
    page: async () => {
      const { browser, link } = await invited();
      return submit(browser, link, { decision: 'decline' }, '/invitation');
    },
    says: /You declined to join guild-\d+ It no longer works, and you joined nothing\./,
    next: /<a class="button" href="\/">Go to the start page/,
  },
  'a deletion is asked for': {
    page: async () => (await deleted()).page,
    says: /Your account will be deleted Apps have lost access, and you are signed out everywhere\..* Until then you can come back/,
    next: /<a href="\/login">Sign in/,
  },
  'a deletion is called off': {
    page: async () => {
      const { user } = await deleted();
      const back = agent(server.baseUrl);
      const waiting = await submit(back, '/login', { identifier: user.username, password: PASSWORD }, '/login');
      return follow(back, await back.submit(waiting, {}, '/login/come-back'));
    },
    says: /Your account is kept, and its deletion is canceled\. Your apps have to ask you to sign in again\./,
    next: ACCOUNT,
  },
  'an address is changed by its link': {
    page: async () => {
      const who = await person();
      const { confirm } = await moving(who);
      return submit(who.browser, confirm, {}, '/verify');
    },
    says: /Your address is changed\. We told your previous address, which can undo this for seven days\./,
    next: /<a href="\/account">Go to your account/,
  },
  'a change of the address is undone': {
    page: async () => {
      const who = await person();
      const { confirm, undo } = await moving(who);
      await submit(who.browser, confirm, {}, '/verify');
      return submit(agent(server.baseUrl), await undo(), {}, '/undo-address-change');
    },
    says: /The change is undone Your account has its earlier address again\. Every browser and every app is signed out\./,
    next: /<a class="button" href="\/recover">Ask for another link/,
  },
  'an account is secured': {
    page: async () => {
      const who = await person();
      await submit(
        who.browser,
        '/account/security',
        { current: PASSWORD, password: NEW_PASSWORD },
        '/account/password',
      );
      const told = (await mailsTo(server, who.email)).find(({ link }) => link?.includes('/secure'))?.link ?? '';
      return submit(agent(server.baseUrl), told, {}, '/secure-account');
    },
    says: /Your account is secured Every browser and every app is signed out, and the password no longer works\./,
    next: /<a class="button" href="\/recover">Ask for another link/,
  },
  'a password is set by a link, in the browser that asked': {
    page: async () => {
      const { email } = await person();
      const browser = agent(server.baseUrl);
      return follow(browser, await recover(server, email, NEW_PASSWORD, browser));
    },
    says: /Your new password is set\. You are signed out in every other browser, and your apps have to ask you to sign in again\./,
    next: ACCOUNT,
  },
  'a password is set by a link, in another browser': {
    page: async () => {
      const { email } = await person();
      await askRecovery(server, agent(server.baseUrl), email);
      const { link = '' } = await newestMail(server, email, 'recovery');
      return useLink(agent(server.baseUrl), link, NEW_PASSWORD);
    },
    says: /Your password is set You are signed out everywhere, also in apps\. Sign in with your new password\./,
    next: /<a class="button primary" href="\/login">Sign in/,
  },
  'a recovery code is used': {
    page: async () => {
      const { user } = await person();
      const factor = await enroll(server, user);
      const { browser } = await atSecondStep(server, user);
      const page = await browser.get('/login/verify?with=recovery-code');
      const answer = await browser.submit(page, { code: factor.recoveryCodes[0] ?? '' }, '/login/verify');
      return follow(browser, answer);
    },
    says: /You used a recovery code You are signed in\. The code no longer works, and you have 9 left\. If you lost the device/,
    next: /<a class="button primary" href="[^"]+">Continue/,
  },
  'an app asks for a fresh sign-in': {
    page: async () => {
      const { browser } = await person();
      const client = await newClient(server, { name: 'Acme Notes' });
      return follow(browser, await browser.get(authorizeUrl(client, { prompt: 'login' })));
    },
    says: /Acme Notes asks you to sign in again, to confirm that it is you\./,
    next: /<button class="primary" type="submit">/,
  },
  'an app’s access is taken away': {
    page: async () => {
      const { user, browser } = await person();
      const client = await newClient(server, { name: 'Acme Notes' });
      await tokensFor(server, client, user, {}, { browser });
      return submit(browser, `/account/connections/${client.clientId}`, {}, '/account/connections');
    },
    says: /Acme Notes lost access on .* It has to ask you before it gets access again\. It may have kept data/,
    next: ACCOUNT,
  },
  'a device is allowed': {
    page: async () => {
      const { browser } = await person();
      const device = await newDeviceClient(server, { name: 'Television', redirectUris: undefined });
      return follow(browser, await answerDevice(server, browser, await startDevice(server, device)));
    },
    says: /Your device is connected Go back to your device: it continues by itself/,
    next: /<a href="\/account\/connections">/,
  },
  'a browser is signed out': {
    page: async () => {
      const { browser } = await person();
      return submit(browser, '/account', {}, '/logout');
    },
    says: /Sign in/,
    next: /href="\/login"|action="\/login"/,
  },
  'every browser is signed out': {
    page: async () => {
      const { browser } = await person();
      return submit(browser, '/account/security', {}, '/account/sign-out-everywhere');
    },
    says: /You are signed out everywhere You were signed out in every browser on .* You also have to sign in to your apps again\./,
    next: /<a href="\/login">Sign in/,
  },
};

const words = (html: string): string =>
  html
    .replace(/<head>.*<\/head>/s, '')
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/ (?=[.,)])/g, '');

for (const [when, { page, says, next }] of Object.entries(AFTER)) {
  test(`${when}: the page says what holds now, and leads on`, async () => {
    const { status, text } = await page();
    assert.equal(status, 200, words(text));
    assert.match(text, /<h1/);
    assert.match(words(text), says);
    assert.match(text, next);
  });
}

test('an invitation says to what, as what and for which address, and can be declined', async () => {
  const { browser, link, email } = await invited();
  const { text } = await browser.get(link);
  assert.match(words(text), /You are invited to join guild-\d+ \( guild-\d+\.example\) as an administrator\./);
  assert.ok(text.includes(email));
  assert.match(text, /name="decision" value="decline">Decline/);
});
