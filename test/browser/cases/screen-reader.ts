import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { newUser, PASSWORD } from '../../support/flow.ts';
import { newestMail } from '../../support/recovery.ts';
import { totpCode } from '../../support/second-factor.ts';
import { openMailStage } from '../people-pages.ts';
import { type Stage, textOf, visit } from '../stage.ts';

/**
 * What a screen reader says when a page has opened: its title, and then the role, name, description and state of what has the
 * focus, from the accessibility tree that Chromium gives to screen readers.
 */
async function said(page: Page): Promise<string> {
  await page.locator(':focus').waitFor();
  const session = await page.context().newCDPSession(page);
  try {
    const { nodes } = await session.send('Accessibility.getFullAXTree');
    const [root, ...others] = nodes;
    const focused = others.find(({ properties = [] }) =>
      properties.some(({ name, value }) => name === 'focused' && value.value === true),
    );
    assert.ok(root !== undefined && focused !== undefined, 'nothing has the focus');
    const invalid = focused.properties?.find(({ name }) => name === 'invalid')?.value.value === 'true';
    const parts = [focused.role, focused.name, focused.description].map((value) => String(value?.value ?? ''));
    // A notice has no name: its content is read.
    if (parts[1] === '') parts[1] = await page.locator(':focus').innerText();
    const words = [...parts, invalid ? 'invalid' : ''].map((part) => part.replaceAll(/\s+/g, ' ').trim());
    return `${root.name?.value}: ${words.filter((word) => word !== '').join(', ')}`;
  } finally {
    await session.detach();
  }
}

/** Sets up an authenticator app, signs in with it and recovers the account; answers what was said at each page. */
async function journey(page: Page, { server }: Stage): Promise<string[]> {
  const heard: string[] = [];
  const user = await newUser(server, { emailVerified: true });
  const email = `${user.username}@example.com`;
  const listen = async () => heard.push(await said(page));
  const send = async () => {
    await Promise.all([page.waitForEvent('load'), page.keyboard.press('Enter')]);
    await listen();
  };
  const type = (label: string, text: string) => page.getByLabel(label, { exact: true }).fill(text);
  const follow = async (name: string) => {
    await page.getByRole('link', { name }).focus();
    await Promise.all([page.waitForEvent('load'), page.keyboard.press('Enter')]);
  };
  const signIn = async () => {
    await page.goto(`${server.baseUrl}/login`);
    await type('Username or email', user.username);
    await type('Password', PASSWORD);
    await page.keyboard.press('Enter');
  };

  await page.goto(`${server.baseUrl}/login`);
  await listen();
  await type('Username or email', user.username);
  await type('Password', 'not this one');
  await send();
  await signIn();
  await page.waitForURL('**/account');
  await page.goto(`${server.baseUrl}/account/security/authenticator`);
  const seed = (await textOf(page.locator('.copyable code'))).replaceAll(' ', '');
  await page.locator('#code').fill('000000');
  await send();
  await page.locator('#code').fill(totpCode({ seed }, server.now()));
  await send();
  const recoveryCode = await textOf(page.locator('.codes code').first());
  await page.context().clearCookies();

  server.advance(60_000);
  await signIn();
  await page.waitForURL('**/login/verify**');
  await listen();
  await page.keyboard.type('000000');
  await send();
  await page.locator('#code').fill(totpCode({ seed }, server.now()));
  await page.keyboard.press('Enter');
  await page.waitForURL('**/account');
  await page.context().clearCookies();

  await page.goto(`${server.baseUrl}/login`);
  await follow('Forgot your password?');
  await listen();
  await page.keyboard.type(email);
  await send();
  await server.sendRequestedMail();
  await page.keyboard.type('000000');
  await send();
  await page.locator('#sent_code').fill((await newestMail(server, email, 'recovery')).code ?? '');
  await send();
  await page.keyboard.type(recoveryCode);
  await page.locator('#password').fill('short');
  await send();
  return heard;
}

/** The page, then what has the focus: the field to fill in or to correct, or the notice about what was sent. */
const SAID: readonly string[] = [
  'Sign in – Tessera: textbox, Username or email',
  'Error: Sign in – Tessera: alert, The username, email or password is incorrect. Check them, or choose “Forgot your password?” below.',
  'Error: Set up an authenticator app – Tessera: textbox, Code, This code is not valid. Enter the one that the app shows now for this account., invalid',
  'Keep your recovery codes – Tessera: status, Two-step sign-in is on. You are signed out in every other browser, and have to sign in to your apps again.',
  'Two-step sign-in – Tessera: textbox, Code, The six digits that your authenticator app shows now.',
  'Error: Two-step sign-in – Tessera: textbox, Code, This code is not valid. Enter the one that your app shows now. If no code works, let your device set its clock automatically., invalid',
  'Recover your account – Tessera: textbox, Username or email',
  'Check your email – Tessera: textbox, Code, Six digits',
  'Error: Check your email – Tessera: textbox, Code, This code is wrong or has expired. Use the one in the newest message. After 5 wrong codes, wait 15 minutes., invalid',
  'Set a new password – Tessera: textbox, Code of your authenticator app, or a recovery code, Mail alone does not open an account with two factors. If you replaced the authenticator app in the last days, the earlier one works, too.',
  'Error: Set a new password – Tessera: textbox, New password, Use a password of 8 to 256 characters., invalid',
];

export function screenReaderCases(theStage: () => Stage): void {
  test('a screen reader says where people are and what to do, on the way through two steps and a recovery', async () => {
    const stage = await openMailStage(theStage().browser);
    try {
      for (const javaScriptEnabled of [true, false]) {
        await visit(stage, { javaScriptEnabled }, async (page) => {
          assert.deepEqual(await journey(page, stage), SAID, `script: ${javaScriptEnabled}`);
        });
      }
    } finally {
      await stage.close();
    }
  });
}
