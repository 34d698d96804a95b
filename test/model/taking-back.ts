import assert from 'node:assert/strict';
import type { Agent } from '../support/agent.ts';
import { admin, PASSWORD } from '../support/flow.ts';
import { mailsTo } from '../support/mail.ts';
import { addPasskeyOnPage, newPasskey, passkeyForm, undoByPasskey, usePasskey } from '../support/passkeys.ts';
import { askRecovery, useLink } from '../support/recovery.ts';
import { enroll, giveRecoveryCodes, totpCode } from '../support/second-factor.ts';
import type { TestServer } from '../support/server.ts';
import type { SoftAuthenticator } from '../support/soft-authenticator.ts';
import { RECOVERED, type Robbed, takenBack } from '../support/taken-back.ts';

/*
 * An owner and a thief who do things to one account, in any order (decisions §11). Some acts do not apply, or are refused: then nothing
 * happens, and the story goes on.
 */

const MINUTE = 60_000;

/** What the owner has beside the password, with recovery codes but for the last. They sign in with a passkey, where they have one. */
export type Kind = 'app' | 'passkey' | 'app and passkey' | 'passkey without codes';

type App = { readonly seed: string };

/** What a person holds. */
interface Holdings {
  readonly apps: App[];
  readonly codes: (readonly string[])[];
  readonly passkeys: SoftAuthenticator[];
  /** Mailboxes that they read. */
  readonly addresses: string[];
  browser: Agent | undefined;
}
const nothing = (): Holdings => ({ apps: [], codes: [], passkeys: [], addresses: [], browser: undefined });

export class Story {
  readonly owner = nothing();
  readonly thief = nothing();
  readonly #does: ReturnType<typeof takenBack>;
  readonly #server: TestServer;
  readonly #kind: Kind;
  readonly #ada: Robbed;
  #password = PASSWORD;
  /** Whether the owner has removed what they had beside the password. */
  #isBare = false;

  private constructor(server: TestServer, kind: Kind, does: ReturnType<typeof takenBack>, ada: Robbed) {
    this.#server = server;
    this.#kind = kind;
    this.#does = does;
    this.#ada = ada;
    this.owner.addresses.push(ada.email);
  }

  static async begin(server: TestServer, kind: Kind): Promise<Story> {
    const does = takenBack(server);
    const story = new Story(server, kind, does, await does.person());
    const { user } = story.#ada;
    if (kind !== 'app') story.owner.passkeys.push(await newPasskey(server, user.id));
    if (kind === 'passkey') story.owner.codes.push(await giveRecoveryCodes(server, user));
    else if (kind !== 'passkey without codes') {
      const { seed, recoveryCodes } = await enroll(server, user);
      story.owner.apps.push({ seed });
      story.owner.codes.push(recoveryCodes);
    }
    return story;
  }

  /** Signs the owner in with what they set up last; undefined where a thief is in the way. */
  async #ownerSignsIn(): Promise<Agent | undefined> {
    this.#server.advance(MINUTE);
    const browser = this.#does.browserOf();
    const app = this.owner.apps.at(-1);
    const passkey = this.owner.passkeys.at(-1);
    const code = app === undefined || this.#isBare ? '' : totpCode(app, this.#server.now());
    const isIn =
      this.#isBare || this.#kind === 'app'
        ? await this.#signsIn(browser, this.#password, code)
        : passkey !== undefined && (await usePasskey(browser, passkey)).status === 303;
    this.owner.browser = isIn ? browser : undefined;
    return this.owner.browser;
  }

  /** Whether a password, and then a code where one is asked for, sign in. */
  async #signsIn(browser: Agent, password: string, code: string): Promise<boolean> {
    const identifier = this.#ada.user.username;
    const first = await browser.submit(await browser.get('/login'), { identifier, password }, '/login');
    if (first.location?.pathname !== '/login/verify') return first.status === 303;
    const page = await browser.get(first.location.href);
    return (await browser.submit(page, { code }, '/login/verify')).status === 303;
  }

  // What both do in a session.

  async #renewApp(who: Holdings, browser: Agent): Promise<void> {
    const hasApp = !this.#kind.startsWith('passkey') && !this.#isBare;
    if (hasApp || who === this.thief) who.apps.push(await this.#does.addApp(browser));
  }

  async #renewCodes(who: Holdings, browser: Agent): Promise<void> {
    const codes = await this.#does.renewCodes(browser);
    if (codes.length > 0) who.codes.push(codes);
  }

  async #addPasskey(who: Holdings, browser: Agent): Promise<void> {
    this.#server.advance(MINUTE);
    who.passkeys.push(await addPasskeyOnPage(this.#server, browser, this.#ada.user.id));
  }

  async #move(who: Holdings, browser: Agent): Promise<void> {
    const address = this.#does.freshAddress();
    await this.#does.moveTo(browser, address);
    who.addresses.push(address);
  }

  /** What the owner does, each time in a new session. */
  async ownerActs(
    act: 'renew app' | 'renew codes' | 'replace passkey' | 'remove factors' | 'move' | 'go back' | 'new password',
  ) {
    const { addresses } = this.owner;
    // Removed before the address is changed, they would not be asked for.
    if (act === 'remove factors' && addresses[0] === this.#ada.email && addresses.length === 1) return;
    const browser = await this.#ownerSignsIn();
    if (browser === undefined) return;
    await unlessRefused(async () => {
      if (act === 'renew app') await this.#renewApp(this.owner, browser);
      else if (act === 'renew codes') await this.#renewCodes(this.owner, browser);
      else if (act === 'move') await this.#move(this.owner, browser);
      else if (act === 'go back') await this.#does.moveTo(browser, this.owner.addresses[0] ?? '');
      else if (act === 'new password') {
        const next = `${PASSWORD} ${this.#server.now()}`;
        await this.#does.setPassword(browser, this.#password, next);
        this.#password = next;
      } else if (act === 'remove factors') {
        for (const { id } of this.owner.passkeys.slice(-1)) await passkeyForm(browser, { action: 'remove', id });
        if (this.#kind.startsWith('app')) await this.#does.removeApp(browser);
        this.#isBare = true;
      } else if (this.#kind !== 'app' && !this.#isBare) {
        const earlier = this.owner.passkeys.at(-1);
        await this.#addPasskey(this.owner, browser);
        if (earlier !== undefined) await passkeyForm(browser, { action: 'remove', id: earlier.id });
      }
    });
  }

  /** Copies the session of the owner, in which they have just signed in. */
  async stealSession(): Promise<void> {
    const browser = await this.#ownerSignsIn();
    if (browser === undefined) return;
    const copy = this.#does.browserOf();
    for (const name of ['tessera_browser', 'tessera_known', 'tessera_session']) {
      copy.setCookie(name, browser.cookie(name) ?? '');
    }
    this.thief.browser = copy;
  }

  /** What a thief of a session does there, who knows the password and reads none of the owner's mailboxes. */
  async thiefActs(
    act: 'renew app' | 'renew codes' | 'add passkey' | 'remove passkey' | 'remove app' | 'move' | 'new password',
  ): Promise<void> {
    const { browser } = this.thief;
    if (browser === undefined || (await browser.get('/account')).status !== 200) return;
    await unlessRefused(async () => {
      if (act === 'renew app') await this.#renewApp(this.thief, browser);
      else if (act === 'renew codes') await this.#renewCodes(this.thief, browser);
      else if (act === 'add passkey') await this.#addPasskey(this.thief, browser);
      else if (act === 'remove app') await this.#does.removeApp(browser);
      else if (act === 'move') await this.#move(this.thief, browser);
      else if (act === 'new password') await this.#does.setPassword(browser, this.#password, 'a password of a thief');
      else await passkeyForm(browser, { action: 'remove', id: this.owner.passkeys.at(-1)?.id ?? '' });
    });
  }

  /** The owner no longer reads the first mailbox, once the account has another address. */
  async ownerLosesMailbox(): Promise<void> {
    const { addresses } = this.owner;
    if (addresses.length > 1 && (await this.#present()) !== this.#ada.email) {
      this.owner.addresses.splice(0, addresses.length, ...addresses.filter((one) => one !== this.#ada.email));
    }
  }

  /** Who reads the first mailbox signs in with the first password, where that is enough, and goes back to it: a thief from then on. */
  async readerSignsIn(): Promise<void> {
    this.#server.advance(MINUTE);
    const browser = this.#does.browserOf();
    if (!(await this.#signsIn(browser, PASSWORD, ''))) return;
    this.thief.browser = browser;
    await unlessRefused(() => this.#does.moveTo(browser, this.#ada.email));
  }

  /** Who went back so takes the account by its mailbox, as an owner would. */
  async readerTakesBack(): Promise<void> {
    if (this.thief.browser === undefined || (await this.#present()) !== this.#ada.email) return;
    if (this.owner.addresses.includes(this.#ada.email)) return;
    await this.thiefActs('new password');
    await this.#pressReport(this.#ada.email);
    await askRecovery(this.#server, this.#does.browserOf(), this.#ada.email);
    await this.#recoverByNewest(this.#ada.email, [''], 'a password of a thief');
  }

  /** What somebody does who knows the first password, and reads the first mailbox, and has nothing else. They never get in. */
  async readerActs(act: 'report' | 'undo' | 'recover'): Promise<void> {
    const address = this.#ada.email;
    this.#server.advance(MINUTE);
    if (act === 'report') await this.#pressReport(address);
    else if (act === 'undo') {
      for (const link of await this.#does.undoLinks(address)) {
        assert.notEqual(await this.#does.press(link), 200, 'a mailbox alone undoes no change');
      }
    } else if (!this.#kind.startsWith('passkey') && !this.#isBare) {
      await askRecovery(this.#server, this.#does.browserOf(), address);
      await this.#recoverByNewest(address, [''], 'a password of a reader');
      const browser = this.#does.browserOf();
      assert.equal(
        await this.#signsIn(browser, 'a password of a reader', ''),
        false,
        'a mailbox alone does not recover',
      );
    }
  }

  async #pressReport(address: string): Promise<boolean> {
    const mail = (await mailsTo(this.#server, address)).find(({ kind }) => kind === 'security notice');
    return mail?.link !== undefined && (await this.#does.press(mail.link)) === 200;
  }

  /** What the owner can type where a code is asked for: of what they have, the latest first, and nothing. */
  #codes(): readonly string[] {
    this.#server.advance(MINUTE);
    const ofApps = this.owner.apps.map((app) => totpCode(app, this.#server.now()));
    return ['', ...ofApps.reverse(), ...this.owner.codes.map((codes) => codes.at(-1) ?? '').reverse()];
  }

  async #recoverByNewest(address: string, codes: readonly string[], password = RECOVERED): Promise<boolean> {
    const link = (await mailsTo(this.#server, address)).find(({ kind }) => kind === 'recovery')?.link;
    if (link === undefined) return false;
    for (const factor of codes) {
      const more = factor === '' ? {} : { factor };
      const answer = await useLink(this.#does.browserOf(), link, password, more);
      if (answer.status === 200) return true;
    }
    return false;
  }

  /** The owner takes the account back, by the links that their mailboxes have, with the factors that they have. */
  async #takeBack(): Promise<boolean> {
    const { addresses } = this.owner;
    for (const address of addresses) {
      for (const link of (await this.#does.undoLinks(address)).toReversed()) {
        for (const code of this.#codes()) if ((await this.#does.press(link, { code })) === 200) break;
        for (const passkey of this.owner.passkeys) await undoByPasskey(this.#does.browserOf(), link, passkey);
        if (addresses.includes(await this.#present())) break;
      }
    }
    for (const address of addresses.toReversed()) {
      await this.#pressReport(address);
      await askRecovery(this.#server, this.#does.browserOf(), address);
      if (await this.#recoverByNewest(address, this.#codes())) return true;
    }
    return false;
  }

  async #present(): Promise<string> {
    return (await admin(this.#server, 'GET', `/users/${this.#ada.user.id}`)).body.email;
  }

  /** The end: the owner has the account again, and nobody else has it. */
  async end(): Promise<void> {
    this.#server.advance(20 * MINUTE);
    assert.ok(await this.#takeBack(), 'the owner takes the account back with what they have');
    assert.ok(this.owner.addresses.includes(await this.#present()), 'the account has an address of its owner');
    for (const address of this.thief.addresses) {
      for (const link of await this.#does.undoLinks(address)) {
        assert.equal(await this.#does.press(link), 410, 'no link of a thief works');
      }
    }
    if (!this.owner.addresses.includes(this.#ada.email)) {
      for (const link of await this.#does.undoLinks(this.#ada.email)) {
        assert.notEqual(await this.#does.press(link), 200, 'a mailbox alone undoes no change');
      }
    }
    const session = await this.thief.browser?.get('/account');
    assert.notEqual(session?.status, 200, 'the session of a thief is over');
    for (const passkey of this.thief.passkeys) {
      assert.notEqual(
        (await usePasskey(this.#does.browserOf(), passkey)).status,
        303,
        'no passkey of a thief signs in',
      );
    }
    this.#server.advance(MINUTE);
    for (const password of [PASSWORD, this.#password, 'a password of a thief']) {
      assert.equal(await this.#signsIn(this.#does.browserOf(), password, ''), false, 'no earlier password signs in');
    }
    await this.#noThiefsCode();
    let isBack = false;
    for (const code of this.#codes()) isBack ||= await this.#signsIn(this.#does.browserOf(), RECOVERED, code);
    assert.ok(isBack, 'the owner signs in again');
  }

  /** Even with the new password, what a thief set up opens nothing. */
  async #noThiefsCode(): Promise<void> {
    const browser = this.#does.browserOf();
    const identifier = this.#ada.user.username;
    const first = await browser.submit(await browser.get('/login'), { identifier, password: RECOVERED }, '/login');
    if (first.location?.pathname !== '/login/verify') return;
    for (const app of this.thief.apps) {
      const page = await browser.get('/login/verify');
      const code = totpCode(app, this.#server.now());
      assert.notEqual((await browser.submit(page, { code }, '/login/verify')).status, 303, 'the app of a thief');
    }
  }
}

/** An act that is refused, because it does not apply, or another came in between. */
async function unlessRefused(act: () => Promise<void>): Promise<void> {
  try {
    await act();
  } catch (error) {
    if (!(error instanceof assert.AssertionError)) throw error;
  }
}
