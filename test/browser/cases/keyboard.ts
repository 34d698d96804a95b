import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { newUser, PASSWORD, redeem, signedIn, userinfo } from '../../support/flow.ts';
import { landscape } from '../../support/images.ts';
import { newestMail } from '../../support/recovery.ts';
import { totpCode } from '../../support/second-factor.ts';
import { focus } from '../in-page.ts';
import { openMailStage } from '../people-pages.ts';
import { answerAt, appClient, focusAt, requestUrl, type Stage, textOf, visit } from '../stage.ts';

/** What has the focus, which must show. */
async function focusOf(page: Page): Promise<string> {
  const { name, ring } = await focus(page);
  assert.ok(ring >= 2, `no focus ring on ${name}`);
  return name;
}

/** Presses Tab until this has the focus; answers what had it on the way. */
async function tabTo(page: Page, name: string): Promise<string[]> {
  const passed: string[] = [];
  for (let step = 0; step < 40; step++) {
    await page.keyboard.press('Tab');
    const at = await focusOf(page);
    if (at === name) return passed;
    passed.push(at);
  }
  throw new Error(`Tab does not reach ${name}: ${passed.join(', ')}`);
}

/** Signs up, decides, edits, chooses a picture, ends a session, takes access away, changes the password, leaves: by keys. */
async function wholeWay(page: Page, stage: Stage, script: boolean): Promise<void> {
  const { server } = stage;
  const { baseUrl } = server;
  const username = script ? 'jean.bartik' : 'jean.jennings';
  const client = await appClient(stage, { name: 'Keys' });
  const enter = async (name: string) => {
    const passed = await tabTo(page, name);
    await Promise.all([page.waitForEvent('load'), page.keyboard.press('Enter')]);
    return passed;
  };

  await page.goto(requestUrl(stage, client, { scope: 'openid email phone' }));
  await focusAt(page, '#identifier');
  assert.equal(await focusOf(page), 'identifier');
  assert.deepEqual(await tabTo(page, 'password'), []);
  if (script) {
    await page.keyboard.type(PASSWORD);
    await tabTo(page, 'Show password');
    await page.keyboard.press('Space');
    assert.equal(await page.getAttribute('#password', 'type'), 'text');
    assert.equal(await focusOf(page), 'Hide password');
  }
  // Only scripts can use a passkey.
  const before = ['Sign in', ...(script ? ['Sign in with a passkey'] : []), 'Forgot your password?'];
  assert.deepEqual(await enter('Create one'), before);
  await focusAt(page, '#displayName');
  await page.keyboard.type('Jean Bartik');
  const fields = { username, email: `${username}@example.com`, password: PASSWORD };
  for (const [name, value] of Object.entries(fields)) {
    assert.deepEqual(await tabTo(page, name), []);
    await page.keyboard.type(value);
  }
  await enter('Create account');

  await page.waitForURL('**/consent?*');
  const shared = 'Always shared Name, username, picture, email address and 5 more';
  assert.deepEqual(await tabTo(page, 'scope-email'), ['Skip to content', 'Not you?', shared]);
  await page.keyboard.press('Space');
  assert.deepEqual(await enter('Allow'), ['Don’t allow']);
  const tokens = await redeem(server, client, (await answerAt(page, stage)).get('code') ?? '');
  const read = () => userinfo(server, tokens.body.access_token);
  const { user } = (await read()).body;
  assert.ok('phone' in user && !('email' in user));

  await page.goto(`${baseUrl}/account`);
  await tabTo(page, 'NameJean Bartik');
  await page.keyboard.press('Enter');
  await tabTo(page, 'about');
  await page.keyboard.type('Wired it.');
  await enter('Save “Name”');
  await focusAt(page, '[role=status]');
  assert.equal((await read()).body.user.about, 'Wired it.');

  await page.goto(`${baseUrl}/account`);
  // Waited for from before the press, or the browser would be asked too late to leave the choice to us.
  const chooser = page.waitForEvent('filechooser');
  await tabTo(page, 'PictureYour initials');
  await page.keyboard.press('Enter');
  await tabTo(page, 'picture');
  await page.keyboard.press('Enter');
  await (await chooser).setFiles({ name: 'me.png', mimeType: 'image/png', buffer: await landscape().png() });
  // The script shows the picture, and which square of it is used.
  if (script) await page.locator('.crop canvas').waitFor();
  assert.deepEqual(await enter('Use this picture'), script ? ['crop-zoom', 'crop-across', 'crop-down'] : []);
  await focusAt(page, '[role=status]');
  assert.notEqual((await read()).body.user.avatar.path, user.avatar.path);

  const elsewhere = await signedIn(server, { id: '', username });
  await page.goto(`${baseUrl}/account/sessions`);
  await tabTo(page, 'Sign out there');
  await page.keyboard.press('Enter');
  await enter('Yes, sign out there: Unknown browser');
  await focusAt(page, '[role=status]');
  assert.equal((await elsewhere.get('/account')).status, 302);

  await page.goto(`${baseUrl}/account/connections/${client.clientId}`);
  await tabTo(page, 'Take away access');
  await page.keyboard.press('Enter');
  await enter('Yes, take away access from Keys');
  await focusAt(page, '[role=status]');
  assert.equal((await read()).status, 403);

  await page.goto(`${baseUrl}/account`);
  await enter('Security');
  await tabTo(page, 'PasswordYou have a password.');
  await page.keyboard.press('Enter');
  await tabTo(page, 'current');
  await page.keyboard.type(PASSWORD);
  assert.deepEqual(await tabTo(page, 'password'), script ? ['Show password'] : []);
  await page.keyboard.type('another good password');
  await Promise.all([page.waitForEvent('load'), page.keyboard.press('Enter')]);
  await focusAt(page, '[role=status]');
  // The notice has the focus, below what stands first: from the top again.
  await page.goto(`${baseUrl}/account`);
  assert.deepEqual(await enter('Sign out'), ['Skip to content', 'Tessera', 'Jean Bartik']);
  await page.waitForURL('**/login');
}

/** Sets up an authenticator app, signs in with its code, and recovers the account by a code in a message: by keys. */
async function twoSteps(page: Page, stage: Stage): Promise<void> {
  const { server } = stage;
  const user = await newUser(server, { emailVerified: true });
  const email = `${user.username}@example.com`;
  const send = () => Promise.all([page.waitForEvent('load'), page.keyboard.press('Enter')]);
  const enter = async (name: string) => {
    await tabTo(page, name);
    await send();
  };
  const signIn = async () => {
    await focusAt(page, '#identifier');
    await page.keyboard.type(user.username);
    await page.keyboard.press('Tab');
    await page.keyboard.type(PASSWORD);
    await send();
  };

  await page.goto(`${server.baseUrl}/login`);
  await signIn();
  await enter('Security');
  await tabTo(page, 'Two-step sign-inOff.');
  await page.keyboard.press('Enter');
  await enter('Set up an authenticator app');
  const seed = (await textOf(page.locator('.copyable code'))).replaceAll(' ', '');
  await tabTo(page, 'code');
  await page.keyboard.type('000000');
  await send();
  await focusAt(page, '#code');
  await page.keyboard.type(totpCode({ seed }, server.now()));
  await send();
  await focusAt(page, '[role=status]');
  const recoveryCode = await textOf(page.locator('.codes code').first());
  await enter('I have kept them');
  await page.goto(`${server.baseUrl}/account`);
  await enter('Sign out');

  server.advance(60_000);
  await signIn();
  await focusAt(page, '#code');
  await page.keyboard.type(totpCode({ seed }, server.now()));
  await send();
  await page.waitForURL('**/account');
  await enter('Sign out');

  await focusAt(page, '#identifier');
  await enter('Forgot your password?');
  await focusAt(page, '#identifier');
  await page.keyboard.type(email);
  await send();
  // Its page says that the request has arrived.
  await focusAt(page, '#sent_code');
  await server.sendRequestedMail();
  await page.keyboard.type((await newestMail(server, email, 'recovery')).code ?? '');
  await send();
  await focusAt(page, '#factor');
  await page.keyboard.type(recoveryCode);
  await tabTo(page, 'password');
  await page.keyboard.type('another good password');
  await send();
  await page.waitForURL('**/account');
}

export function keyboardCases(theStage: () => Stage): void {
  for (const javaScriptEnabled of [true, false]) {
    const kind = javaScriptEnabled ? 'with script' : 'without script';
    test(`the keyboard alone, ${kind}: from an account of one’s own to the end of an app’s access`, () =>
      visit(theStage(), { javaScriptEnabled }, (page) => wholeWay(page, theStage(), javaScriptEnabled)));
  }

  test('the keyboard alone, with and without script: two-step sign-in, and recovery by a code', async () => {
    const stage = await openMailStage(theStage().browser);
    try {
      for (const javaScriptEnabled of [true, false]) {
        await visit(stage, { javaScriptEnabled }, (page) => twoSteps(page, stage));
      }
    } finally {
      await stage.close();
    }
  });

  test('Enter in the consent form, without a button chosen, does not allow', () =>
    visit(theStage(), {}, async (page) => {
      const stage = theStage();
      const user = await newUser(stage.server);
      await page.goto(requestUrl(stage, await appClient(stage), { scope: 'openid email' }));
      await focusAt(page, '#identifier');
      await page.keyboard.type(user.username);
      await page.keyboard.press('Tab');
      await page.keyboard.type(PASSWORD);
      await page.keyboard.press('Enter');
      await page.waitForURL('**/consent?*');
      await tabTo(page, 'scope-email');
      await page.keyboard.press('Enter');
      assert.equal((await answerAt(page, stage)).get('error'), 'access_denied');
    }));

  test('WCAG 2.4.1: the first stop skips to the content', () =>
    visit(theStage(), {}, async (page) => {
      const stage = theStage();
      await page.goto(requestUrl(stage, { ...(await appClient(stage)), redirectUri: 'https://elsewhere.example' }, {}));
      await page.keyboard.press('Tab');
      assert.equal(await focusOf(page), 'Skip to content');
      assert.ok(((await page.locator('.skip').boundingBox())?.y ?? -1) >= 0, 'the skip link is out of sight');
      await page.keyboard.press('Enter');
      assert.equal(await page.locator(':focus').getAttribute('id'), 'content');
    }));
}
