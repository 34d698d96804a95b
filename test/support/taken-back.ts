import assert from 'node:assert/strict';
import { type Agent, type Answer, agent } from './agent.ts';
import { admin, newUser, PASSWORD, signedIn, type TestUser } from './flow.ts';
import { mailsTo } from './mail.ts';
import { query } from './outcome.ts';
import { newestMail, useLink } from './recovery.ts';
import { atSecondStep, enroll, type SecondFactor, totpCode, typeCode } from './second-factor.ts';
import type { TestServer } from './server.ts';

const MINUTE = 60_000;
/** The password that a recovery sets. */
export const RECOVERED = 'a new password by mail';

/** Somebody whose account a thief has taken, or is about to take. */
export interface Robbed {
  readonly user: TestUser;
  readonly email: string;
}

/** One who has an authenticator app and recovery codes as well. */
export interface TwoStep extends Robbed {
  readonly factor: SecondFactor;
}

/** Of all stories, so that no address is another account's. */
let names = 0;

/** What owners, thieves and operators do, over HTTP. */
export function takenBack(server: TestServer) {
  async function person(fields: object = { emailVerified: true }): Promise<Robbed> {
    const user = await newUser(server, { ...fields });
    await signedIn(server, user, PASSWORD);
    server.advance(60 * MINUTE);
    return { user, email: (await admin(server, 'GET', `/users/${user.id}`)).body.email };
  }
  const browserOf = (): Agent => agent(server.baseUrl, server.nodeInTurn);
  const submit = async (browser: Agent, page: string, fields = {}, action = page): Promise<Answer> =>
    browser.submit(await browser.get(page), fields, action);
  return {
    browserOf,
    submit,
    freshAddress: (): string => `owner-${process.pid}-${++names}@example.com`,

    /** Opens a link in a new browser, and sends its form. */
    async press(link: string, fields = {}): Promise<number> {
      const browser = browserOf();
      const page = await browser.get(link);
      return page.status === 200 ? (await browser.submit(page, fields)).status : page.status;
    },

    /** Gives the account another address, by its form and the link that is sent to it. */
    async moveTo(browser: Agent, email: string): Promise<void> {
      server.advance(MINUTE);
      assert.equal((await submit(browser, '/account/email', { email })).status, 200);
      const page = await browser.get((await newestMail(server, email, 'address change')).link ?? '');
      assert.equal((await browser.submit(page, {})).status, 200);
    },

    /** Adds an authenticator app, or replaces the one that there is. */
    async addApp(browser: Agent): Promise<{ readonly seed: string }> {
      server.advance(MINUTE);
      const path = '/account/security/authenticator';
      const page = await browser.get(path);
      const seed = /secret=([A-Z2-7]{32})/.exec(page.text)?.[1] ?? '';
      assert.equal((await browser.submit(page, { code: totpCode({ seed }, server.now()) }, path)).status, 200);
      return { seed };
    },

    /** Gets new recovery codes in place of all earlier ones. */
    async renewCodes(browser: Agent): Promise<readonly string[]> {
      server.advance(MINUTE);
      const made = await submit(browser, '/account/security', {}, '/account/security/recovery-codes');
      return made.text.match(/\b[0-9a-z]{4}(?:-[0-9a-z]{4}){2}\b/g) ?? [];
    },

    async setPassword(browser: Agent, current: string, password: string): Promise<void> {
      server.advance(MINUTE);
      assert.equal(
        (await submit(browser, '/account/security', { current, password }, '/account/password')).status,
        200,
      );
    },

    async setUsername(browser: Agent, username: string): Promise<void> {
      server.advance(MINUTE);
      assert.equal((await submit(browser, '/account', { username }, '/account/username')).status, 200);
    },

    /** The links with which an address can undo a change, the newest first. */
    undoLinks: async (address: string): Promise<readonly string[]> =>
      (await mailsTo(server, address)).flatMap(({ link }) => (link?.includes('/undo-address-change') ? [link] : [])),

    profileOf: async ({ user }: Robbed) => (await admin(server, 'GET', `/users/${user.id}`)).body,

    async patch({ user }: Robbed, body: object): Promise<void> {
      const answer = await admin(server, 'PATCH', `/users/${user.id}`, body);
      assert.equal(answer.status, 200, JSON.stringify(answer.body));
    },

    hasApp: async ({ user }: Robbed): Promise<boolean> =>
      (await query(server, 'SELECT 1 FROM totp_secret WHERE account_id = ?', user.id)).length > 0,

    /** A person who signed in an hour ago. */
    person,

    /** A person with an authenticator app and recovery codes of an hour ago. */
    async twoStep(): Promise<TwoStep> {
      const ada = await person();
      return { ...ada, factor: await enroll(server, ada.user) };
    },

    /** A browser in which a person signed in with their password, and then with an app. */
    async signedInWith({ user }: Robbed, app: Pick<SecondFactor, 'seed'>, password?: string): Promise<Agent> {
      server.advance(MINUTE);
      const { browser, page } = await atSecondStep(server, user, browserOf(), password);
      assert.equal((await typeCode(browser, page, totpCode(app, server.now()))).status, 303);
      return browser;
    },

    /** The link of the newest message “This was not me”. */
    reportLink: async (address: string): Promise<string> =>
      (await newestMail(server, address, 'security notice')).link ?? '',

    /** Recovers an account by the newest recovery mail to an address. */
    async recoverAt(address: string, factor: string): Promise<number> {
      const { link = '' } = await newestMail(server, address, 'recovery');
      return (await useLink(browserOf(), link, RECOVERED, factor === '' ? {} : { factor })).status;
    },

    /** Removes the authenticator app. */
    async removeApp(browser: Agent): Promise<void> {
      server.advance(MINUTE);
      const answer = await submit(browser, '/account/security', {}, '/account/security/authenticator/remove');
      assert.equal(answer.status, 200, answer.text);
    },
  };
}
