import assert from 'node:assert/strict';
import type { Browser, Page } from 'playwright-core';
import { ACR_PHISHING_RESISTANT } from '../../src/authenticators/rules/authentication-context.ts';
import { type Agent, agent, cookieName } from '../support/agent.ts';
import { connectIdentity } from '../support/connected-identity.ts';
import {
  admin,
  authorizeUrl,
  newClient,
  newUser,
  PASSWORD,
  standard,
  type TestClient,
  type TestUser,
} from '../support/flow.ts';
import { mailboxLinkOf, mailsTo, type SentMail } from '../support/mail.ts';
import { newPasskey, usePasskey } from '../support/passkeys.ts';
import { newestMail } from '../support/recovery.ts';
import { requireCode } from '../support/recovery-setting.ts';
import { enroll, totpCode } from '../support/second-factor.ts';
import { plugIn } from './authenticator.ts';
import { openStageIn, press, type Stage, signIn, submit } from './stage.ts';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const ANOTHER = 'another good password';

/** Stops at a page or state. */
type Stop = (name: string) => Promise<void>;

interface Walk {
  readonly stage: Stage;
  readonly page: Page;
  readonly stop: Stop;
}

/** A stage whose server keeps the mail that it would send. */
export const openMailStage = (browser: Browser): Promise<Stage> =>
  openStageIn(browser, {
    TESSERA_MAILBOX: 'on',
    TESSERA_SIGN_IN_CODE: 'on',
    TESSERA_LIMIT_MAIL_ADDRESS: 'off',
    TESSERA_LIMIT_MAIL_RECIPIENT: 'off',
    TESSERA_CONTACT: 'help@engines.example',
  });

/** A stage where there is no mail, and people cannot create accounts. */
export const openClosedStage = (browser: Browser): Promise<Stage> =>
  openStageIn(browser, { TESSERA_SIGN_UP: 'closed' });

const open = ({ stage, page }: Walk, path: string) => page.goto(stage.server.baseUrl + path);
const button = ({ page }: Walk, name: string | RegExp) => page.getByRole('button', { name });
const fill = async ({ page }: Walk, fields: Readonly<Record<string, string>>) => {
  for (const [id, value] of Object.entries(fields)) await page.fill(`#${id}`, value);
};
const addressOf = ({ username }: Pick<TestUser, 'username'>) => `${username}@example.com`;
const linkOf = (mail: SentMail | undefined): string => mail?.link ?? assert.fail('no link');
/** As another browser. */
const leave = ({ page }: Walk) => page.context().clearCookies();

async function signInAs(walk: Walk, user: TestUser, password = PASSWORD): Promise<void> {
  await leave(walk);
  await open(walk, '/login');
  await signIn(walk.page, user.username, password);
}

const ada = ({ stage }: Walk, username: string, fields = {}) =>
  newUser(stage.server, {
    username,
    displayName: 'Ada Lovelace',
    email: addressOf({ username }),
    emailVerified: true,
    ...fields,
  });

async function signingUp(walk: Walk): Promise<void> {
  const { stage, page, stop } = walk;
  const email = 'grace.hopper@example.com';
  await open(walk, '/signup');
  await fill(walk, { displayName: 'Grace Hopper', username: 'grace.hopper', email, password: PASSWORD });
  await submit(page);
  await stop('sign-up-code');
  await fill(walk, { code: '000000' });
  await submit(page);
  await stop('sign-up-code-wrong');
  const [mail] = await mailsTo(stage.server, email);
  await page.goto(linkOf(mail));
  await stop('sign-up-link');
  await leave(walk);
  await page.goto(linkOf(mail));
  await stop('sign-up-link-elsewhere');
  await open(walk, '/signup/verify?link=unknown');
  await stop('sign-up-link-dead');
}

async function invited(walk: Walk): Promise<void> {
  const { stage, page, stop } = walk;
  const { server } = stage;
  const organization = await admin(server, 'POST', '/organizations', { name: 'engines', domain: 'engines.example' });
  const fields = { organizationId: organization.body.id, role: 'MEMBER' };
  const invite = async (more = {}): Promise<string> =>
    (await admin(server, 'POST', '/invitations', { ...fields, ...more })).body.link;
  const link = await invite();
  await page.goto(link);
  await stop('invitation');
  await invite({ email: 'joan.clarke@example.com' });
  await page.goto(linkOf((await mailsTo(server, 'joan.clarke@example.com'))[0]));
  await press(page.getByRole('link', { name: /Create/ }));
  await stop('sign-up-invited');
  await signInAs(walk, await ada(walk, 'ada.invited'));
  await page.goto(link);
  await stop('invitation-join');
  await submit(page);
  await stop('invitation-joined');
  await page.goto(link);
  await stop('invitation-used');
  await open(walk, '/invitation?link=unknown');
  await stop('invitation-dead');
  const second = await admin(server, 'POST', '/organizations', { name: 'mills', domain: 'mills.example' });
  await page.goto(await invite({ organizationId: second.body.id }));
  await stop('invitation-elsewhere');
  await invite({ email: 'joan.other@example.com' });
  await page.goto(linkOf((await mailsTo(server, 'joan.other@example.com'))[0]));
  await stop('invitation-other-address');
}

/** The key of the authenticator app that the page sets up. */
const seedOn = async (page: Page): Promise<string> =>
  (await page.locator('.copyable code').first().textContent())?.replaceAll(' ', '') ?? '';

async function askRecovery(walk: Walk, identifier: string): Promise<void> {
  await open(walk, '/recover');
  await fill(walk, { identifier });
  await submit(walk.page);
  await walk.stage.server.sendRequestedMail();
}

async function recovering(walk: Walk): Promise<void> {
  const { stage, page, stop } = walk;
  const { server } = stage;
  const user = await ada(walk, 'ada.forgets');
  await leave(walk);
  await open(walk, '/login');
  await press(page.getByRole('link', { name: 'Forgot your password?' }));
  await stop('recover');
  await submit(page);
  await stop('recover-empty');
  await askRecovery(walk, user.username);
  await stop('recover-sent');
  await fill(walk, { sent_code: '000000' });
  await submit(page);
  await stop('recover-code-wrong');
  const mail = await newestMail(server, addressOf(user), 'recovery');
  await leave(walk);
  await page.goto(linkOf(mail));
  await stop('recover-password');
  await fill(walk, { password: 'password' });
  await submit(page);
  await stop('recover-password-weak');
  await fill(walk, { password: ANOTHER });
  await submit(page);
  await stop('recover-done');
  await page.goto(linkOf(mail));
  await stop('recover-link-dead');
  const careful = await ada(walk, 'ada.careful');
  await enroll(server, careful);
  await askRecovery(walk, careful.username);
  await page.goto(linkOf(await newestMail(server, addressOf(careful), 'recovery')));
  await fill(walk, { factor: '000000', password: ANOTHER });
  await submit(page);
  await stop('recover-factor-wrong');
}

/** Signs in with a code by mail, as a person who has nothing else. */
async function mailCodes(walk: Walk, notes: TestClient): Promise<void> {
  const { stage, page, stop } = walk;
  const { server } = stage;
  const user = await ada(walk, 'ada.mail', { password: undefined });
  await leave(walk);
  await open(walk, authorizeUrl(notes, { scope: 'openid email' }));
  await stop('sign-in-ways');
  await open(walk, '/login/code');
  await stop('sign-in-code');
  await fill(walk, { identifier: user.username });
  await submit(page);
  await server.sendRequestedMail();
  await stop('sign-in-code-sent');
  await fill(walk, { sent_code: '000000' });
  await submit(page);
  await stop('sign-in-code-wrong');
  await fill(walk, { sent_code: (await newestMail(server, addressOf(user), 'sign-in code')).code ?? '' });
  await submit(page);
  await open(walk, '/account/security');
  await stop('security-nothing');
  server.advance(11 * MINUTE);
  await open(walk, '/account/confirm?next=passkeys');
  await stop('confirm-nothing');
}

/** Signs in with two steps to an app, trusts the browser, and proves oneself again. */
async function secondSteps(walk: Walk, notes: TestClient): Promise<void> {
  const { stage, page, stop } = walk;
  const { server } = stage;
  const user = await ada(walk, 'ada.steps');
  const factor = await enroll(server, user);
  await leave(walk);
  await open(walk, authorizeUrl(notes, { scope: 'openid email' }));
  await signIn(page, user.username, PASSWORD);
  await stop('verify-app');
  await fill(walk, { code: '000000' });
  await submit(page);
  await stop('verify-wrong');
  await press(page.getByRole('link', { name: /recovery code/ }));
  await stop('verify-recovery-code');
  await fill(walk, { code: '0000-0000-0000' });
  await submit(page);
  await stop('verify-recovery-code-wrong');
  server.advance(11 * MINUTE);
  await fill(walk, { code: factor.recoveryCodes[0] ?? '' });
  await submit(page);
  await stop('verify-expired');
  const unlucky = await ada(walk, 'ada.guesses');
  await enroll(server, unlucky);
  await signInAs(walk, unlucky);
  while ((await page.locator('#code').count()) > 0) {
    await fill(walk, { code: '000000' });
    await submit(page);
  }
  await stop('verify-limited');
  await signInAs(walk, user);
  await fill(walk, { code: totpCode(factor, server.now()) });
  await page.check('[name=trust]');
  await submit(page);
  await open(walk, '/account/sessions');
  await stop('trusted-browsers');
  server.advance(11 * MINUTE);
  await open(walk, '/account/sessions');
  await stop('trusted-browsers-confirm');
  await press(page.locator('#trusted a.button'));
  await stop('confirm-code');
  await fill(walk, { code: '000000' });
  await submit(page);
  await stop('confirm-code-wrong');
  await open(walk, '/account/security?row=two-step');
  await stop('security-confirm');
}

/** Sets up an authenticator app, a passkey, and does without a password. */
async function factors(walk: Walk): Promise<void> {
  const { stage, page, stop } = walk;
  const { server } = stage;
  await signInAs(walk, await ada(walk, 'ada.new', { emailVerified: false }));
  await open(walk, '/account/security');
  await stop('security-unverified');
  await open(walk, '/account/email');
  await stop('email-unverified');

  const user = await ada(walk, 'ada.factors');
  await signInAs(walk, user);
  const device = await plugIn(page);
  await open(walk, '/account');
  await page.locator('#passkey-offer').waitFor();
  await stop('account-passkey-offer');
  await device.unplug();
  await open(walk, '/account/security?row=two-step');
  await stop('security-no-factor');
  server.advance(11 * MINUTE);
  await press(page.getByRole('link', { name: 'Set up an authenticator app' }));
  await stop('confirm-password');
  await fill(walk, { current: PASSWORD });
  await submit(page);
  await stop('authenticator');
  await fill(walk, { code: '000000' });
  await submit(page);
  await stop('authenticator-wrong');
  await fill(walk, { code: totpCode({ seed: await seedOn(page) }, server.now()) });
  await submit(page);
  await stop('recovery-codes');
  const recoveryCode = (await page.locator('.codes code').first().textContent()) ?? '';
  await press(page.getByRole('button', { name: 'I have kept them' }));
  await stop('security-app');
  await press(page.getByRole('link', { name: 'Replace the authenticator app' }));
  // A device whose clock is off by some minutes.
  await fill(walk, { code: totpCode({ seed: await seedOn(page) }, server.now(), 10) });
  await submit(page);
  await stop('authenticator-clock-off');
  await open(walk, '/account/security?row=passkeys');
  const authenticator = await plugIn(page, { transport: 'usb' });
  await press(button(walk, 'Add a passkey'));
  await stop('security-passkey-added');
  await page.locator('#passkeys article .confirm summary').click();
  await stop('security-passkey-open');
  server.advance(MINUTE);
  await signInAs(walk, user);
  await stop('verify-passkey');
  await press(button(walk, 'Use your passkey'));
  server.advance(11 * MINUTE);
  await open(walk, '/account/confirm?next=passkeys');
  await stop('confirm-passkey');
  await press(button(walk, 'Use your passkey'));
  await page.getByText('Remove your password').click();
  await press(button(walk, 'Yes, remove my password'));
  await open(walk, '/account/security?row=two-step');
  await page.getByText('Remove the authenticator app').click();
  await stop('security-remove-app');
  await press(button(walk, 'Yes, remove the app'));
  await stop('security-no-password');
  await page.click('#passkeys > summary');
  await page.locator('#passkeys article .confirm summary').click();
  await stop('security-remove-last-passkey');
  await page.click('#recovery > summary');
  await press(button(walk, 'Require a recovery code'));
  await stop('security-recovery-code-required');
  await open(walk, '/account/activity');
  await stop('activity');
  await askRecovery(walk, user.username);
  await page.goto(linkOf(await newestMail(server, addressOf(user), 'recovery')));
  await stop('recover-password-or-passkey');
  await press(page.getByRole('link', { name: /passkey instead/ }));
  await stop('recover-passkey');
  await authenticator.unplug();
  const another = await plugIn(page, { transport: 'usb' });
  await fill(walk, { factor: recoveryCode });
  await press(button(walk, 'Add a passkey'));
  await stop('recover-passkey-done');
  await another.unplug();
}

/** Sets up a factor on the way to an app that requires one. */
async function required(walk: Walk): Promise<void> {
  const { stage, page, stop } = walk;
  const { server } = stage;
  const client = await newClient(server, {
    name: 'Acme Bank',
    requireSecondFactor: true,
    redirectUris: ['https://bank.acme.example/callback'],
  });
  const user = await ada(walk, 'ada.banks', { emailVerified: false });
  await leave(walk);
  await open(walk, authorizeUrl(client, { scope: 'openid email' }));
  await signIn(page, user.username, PASSWORD);
  await stop('enroll-verify');
  await submit(page);
  await stop('enroll-verify-sent');
  await fill(walk, { code: '000000' });
  await submit(page);
  await stop('enroll-verify-wrong');
  await fill(walk, { code: (await mailsTo(server, addressOf(user)))[0]?.code ?? '' });
  await submit(page);
  await stop('enroll');
  await fill(walk, { code: '000000' });
  await submit(page);
  await stop('enroll-wrong');
  await fill(walk, { code: totpCode({ seed: await seedOn(page) }, server.now()) });
  await submit(page);
  await stop('enroll-codes');
  await signInAs(walk, await ada(walk, 'ada.signs'));
  const claims = JSON.stringify({ id_token: { acr: { essential: true, values: [ACR_PHISHING_RESISTANT] } } });
  await open(walk, authorizeUrl(standard(client), { scope: 'openid', claims }));
  await stop('enroll-passkey');
}

/** Somebody signs in from a browser that the account does not know, which is told. */
async function robbed({ stage: { server } }: Walk, { username: identifier }: TestUser): Promise<void> {
  server.advance(DAY);
  const stranger = agent(server.baseUrl, undefined, { 'user-agent': 'Mozilla/5.0 (Windows NT 10.0) Firefox/140.0' });
  await stranger.submit(await stranger.get('/login'), { identifier, password: PASSWORD });
}

const reportLink = async ({ stage: { server } }: Walk, user: TestUser): Promise<string> =>
  linkOf((await mailsTo(server, addressOf(user))).find(({ link }) => link?.includes('/secure')));

async function addresses(walk: Walk): Promise<void> {
  const { stage, page, stop } = walk;
  const { server } = stage;
  const user = await ada(walk, 'ada.moves');
  const factor = await enroll(server, user);
  await signInAs(walk, user);
  await fill(walk, { code: totpCode(factor, server.now()) });
  await submit(page);
  await open(walk, '/account/email');
  await stop('email');
  await fill(walk, { email: 'ada' });
  await submit(page);
  await stop('email-bad');
  await fill(walk, { email: 'countess@example.com' });
  await submit(page);
  await stop('email-sent');
  await fill(walk, { code: '000000' });
  await submit(page);
  await stop('email-code-wrong');
  const [mail] = await mailsTo(server, 'countess@example.com');
  await page.goto(linkOf(mail));
  await stop('verify-address');
  await submit(page);
  await stop('verify-address-done');
  await page.goto(linkOf(mail));
  await stop('link-dead');
  await open(walk, '/secure-account?token=unknown');
  await stop('link-dead-secure');
  await open(walk, '/undo-address-change?token=unknown');
  await stop('link-dead-undo');
  const undo = linkOf((await mailsTo(server, addressOf(user))).find(({ link }) => link?.includes('/undo')));
  await leave(walk);
  await page.goto(undo);
  await stop('undo-address');
  await fill(walk, { code: '000000' });
  await press(page.locator('main button.danger'));
  await stop('undo-address-wrong');
  server.advance(MINUTE);
  await fill(walk, { code: totpCode(factor, server.now()) });
  await press(page.locator('main button.danger'));
  await stop('undo-address-done');

  const unverified = await ada(walk, 'ada.verifies', { emailVerified: false });
  await signInAs(walk, unverified);
  await open(walk, '/account/email');
  await submit(page);
  await page.goto(linkOf((await mailsTo(server, addressOf(unverified)))[0]));
  await stop('verify-address-own');

  const other = await ada(walk, 'ada.robbed');
  await signInAs(walk, other);
  await open(walk, '/account/email');
  await fill(walk, { email: 'thief@example.com' });
  await submit(page);
  const verify = linkOf((await mailsTo(server, 'thief@example.com'))[0]);
  await leave(walk);
  await page.goto(verify);
  await stop('verify-address-elsewhere');
  await robbed(walk, other);
  await page.goto(await reportLink(walk, other));
  await stop('secure-account');
  await press(page.locator('main button.danger'));
  await stop('secure-account-done');
  const banned = await ada(walk, 'ada.banned');
  await signInAs(walk, banned);
  await robbed(walk, banned);
  await admin(server, 'PUT', `/users/${banned.id}/ban`, { reason: 'Somebody else may use the account.' });
  await page.goto(await reportLink(walk, banned));
  await stop('secure-account-banned');
  await press(page.locator('main button.danger'));
  await stop('secure-account-banned-done');
}

async function exported(walk: Walk): Promise<void> {
  const { stage, page, stop } = walk;
  await open(walk, '/account/data/export');
  await stop('export');
  await submit(page);
  await stop('export-waiting');
  await stage.server.makeExports();
  await open(walk, '/account/data/export');
  await stop('export-ready');
}

async function ownData(walk: Walk): Promise<void> {
  const { page, stop } = walk;
  const user = await ada(walk, 'ada.leaves');
  await signInAs(walk, user);
  await open(walk, '/account/data');
  await stop('data');
  await exported(walk);
  await open(walk, '/account?row=change-username');
  await fill(walk, { username: 'Ada Lovelace' });
  await press(button(walk, 'Change username'));
  await stop('username-wrong');
  await fill(walk, { username: 'ada.returns' });
  await press(button(walk, 'Change username'));
  await stop('username-changed');
  await open(walk, '/account/data?row=deletion');
  await press(button(walk, 'Delete account'));
  await stop('data-delete-unconfirmed');
  await page.check('#confirm');
  await press(button(walk, 'Delete account'));
  await stop('data-deleted');
  await signInAs(walk, { ...user, username: 'ada.returns' });
  await stop('come-back');
}

async function signInByCode(walk: Walk, user: TestUser): Promise<void> {
  await leave(walk);
  await open(walk, '/login/code');
  await typeNewCode(walk, user);
}

async function typeNewCode(walk: Walk, user: TestUser): Promise<void> {
  await fill(walk, { identifier: user.username });
  await submit(walk.page);
  await walk.stage.server.sendRequestedMail();
  const { code = '' } = await newestMail(walk.stage.server, addressOf(user), 'sign-in code');
  await fill(walk, { sent_code: code });
  await submit(walk.page);
}

/** Goes on with the session of another browser. */
async function enterAs(walk: Walk, browser: Agent): Promise<void> {
  const { baseUrl } = walk.stage.server;
  await leave(walk);
  const cookies = ['tessera_browser', 'tessera_session'].map((name) => ({
    ...{ name: cookieName(baseUrl, name), value: browser.cookie(name) ?? '', url: baseUrl },
  }));
  await walk.page.context().addCookies(cookies);
}

/** A person whose authenticator app is the last way in. */
async function lastApp(walk: Walk): Promise<void> {
  const { server } = walk.stage;
  const user = await ada(walk, 'ada.last', { password: undefined });
  const passkey = await newPasskey(server, user.id);
  await enroll(server, user);
  await requireCode(server, user);
  const browser = agent(server.baseUrl);
  await usePasskey(browser, passkey);
  const security = await browser.get('/account/security');
  await browser.submit(security, { action: 'remove', id: passkey.id }, '/account/security/passkeys');
  await enterAs(walk, browser);
  await open(walk, '/account/security?row=two-step');
  await walk.stop('security-last-app');
}

/** The only owner of an organization, who can neither leave it nor delete the account. */
async function lastOwner(walk: Walk): Promise<void> {
  const { stage, page, stop } = walk;
  const user = await ada(walk, 'ada.owns');
  const { body } = await admin(stage.server, 'POST', '/organizations', { name: 'looms', domain: 'looms.example' });
  await admin(stage.server, 'PUT', `/organizations/${body.id}/members/${user.id}`, { role: 'OWNER' });
  await signInAs(walk, user);
  await open(walk, '/account/organization');
  await page.getByText('Leave the organization').click();
  await press(button(walk, /Yes, leave/));
  await stop('organization-last-owner');
  await open(walk, '/account/data?row=deletion');
  await page.check('#confirm');
  await press(button(walk, 'Delete account'));
  await stop('data-last-owner');
  // What another tab changed stands in the way of the form.
  await open(walk, '/account/security?row=change-password');
  const form = page.locator('form[action$="/account/password"]');
  await form.evaluate((element) => element.setAttribute('action', '/account/security/recovery-codes'));
  await press(button(walk, 'Change password'));
  await stop('error-conflict');
}

/** People who sign in with another provider, and prove who they are again. */
async function otherProviders(walk: Walk): Promise<void> {
  const { stage, page, stop } = walk;
  const { server } = stage;
  const user = await ada(walk, 'ada.elsewhere', { password: undefined });
  await connectIdentity(server, user.id, { displayName: 'Acme ID' });
  server.advance(MINUTE);
  await signInByCode(walk, user);
  server.advance(11 * MINUTE);
  await open(walk, '/account/confirm?next=export');
  await stop('confirm-provider');
  const { baseUrl } = server;
  await page.context().addCookies([{ name: cookieName(baseUrl, 'tessera_said'), value: 'notProved', url: baseUrl }]);
  await page.reload();
  await stop('confirm-provider-refused');
  await askRecovery(walk, user.username);
  await page.goto(linkOf(await newestMail(server, addressOf(user), 'recovery')));
  await stop('recover-password-providers');
  await fill(walk, { password: ANOTHER });
  await submit(page);
  await stop('account-recovered-providers');
  const since = await ada(walk, 'ada.since', { password: undefined });
  await signInByCode(walk, since);
  server.advance(MINUTE);
  await connectIdentity(server, since.id, { displayName: 'Mill ID' });
  server.advance(11 * MINUTE);
  await open(walk, '/account/confirm?next=export');
  await stop('confirm-again');
  await press(page.getByRole('link', { name: 'Sign in again' }));
  await stop('sign-in-again');
}

async function mailbox(walk: Walk): Promise<void> {
  const { stage, page, stop } = walk;
  await open(walk, '/mailbox');
  await stop('mailbox-closed');
  await open(walk, (await mailboxLinkOf(stage.server)).slice(stage.server.baseUrl.length));
  await stop('mailbox');
  await press(page.locator('main li a').first());
  await stop('mailbox-message');
  await press(page.getByRole('link', { name: 'See it as mail programs show it' }));
  await stop('mailbox-message-html');
  await open(walk, '/mailbox/unknown');
  await stop('mailbox-gone');
}

/** Walks one page through every page and state of signing in, getting back in and securing an account. */
export async function walkPeople(walk: Walk, notes: TestClient): Promise<void> {
  await signingUp(walk);
  await invited(walk);
  await recovering(walk);
  await mailCodes(walk, notes);
  await secondSteps(walk, notes);
  await factors(walk);
  await required(walk);
  await addresses(walk);
  await ownData(walk);
  await lastApp(walk);
  await lastOwner(walk);
  await otherProviders(walk);
  await mailbox(walk);
}

/** What people see where there is no mail, and no account without an operator. */
export async function walkClosed(walk: Walk): Promise<void> {
  await open(walk, '/login');
  await open(walk, '/signup');
  await walk.stop('sign-up-closed');
  await open(walk, '/recover');
  await walk.stop('recover-no-mail');
}
