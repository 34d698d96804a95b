import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { newUser, PASSWORD, redeem, userinfo } from '../../support/flow.ts';
import { focus } from '../in-page.ts';
import { answerAt, appClient, focusAt, requestUrl, type Stage, visit } from '../stage.ts';

/** What has the focus, which must show. */
async function focusOf(page: Page): Promise<string> {
  const { name, ring } = await focus(page);
  assert.ok(ring >= 2, `no focus ring on ${name}`);
  return name;
}

/** Presses Tab until this has the focus; answers what had it on the way. */
async function tabTo(page: Page, name: string): Promise<string[]> {
  const passed: string[] = [];
  for (let step = 0; step < 20; step++) {
    await page.keyboard.press('Tab');
    const at = await focusOf(page);
    if (at === name) return passed;
    passed.push(at);
  }
  throw new Error(`Tab does not reach ${name}: ${passed.join(', ')}`);
}

export function keyboardCases(theStage: () => Stage): void {
  test('the keyboard alone: sign in, decide on the consent page, take access away', () =>
    visit(theStage(), {}, async (page) => {
      const stage = theStage();
      const { server } = stage;
      const user = await newUser(server);
      const client = await appClient(stage, { name: 'Keys' });
      await page.goto(requestUrl(stage, client, { scope: 'openid email phone' }));
      await focusAt(page, '#identifier');
      assert.equal(await focusOf(page), 'identifier');
      await page.keyboard.type(user.username);
      assert.deepEqual(await tabTo(page, 'password'), []);
      await page.keyboard.type(PASSWORD);
      // Shown, it is a text; sent, it is a password again.
      await tabTo(page, 'Show password');
      await page.keyboard.press('Space');
      assert.equal(await page.getAttribute('#password', 'type'), 'text');
      assert.equal(await focusOf(page), 'Hide password');
      await tabTo(page, 'Sign in');
      await page.keyboard.press('Enter');

      await page.waitForURL('**/consent?*');
      assert.deepEqual(await tabTo(page, 'scope-email'), ['Skip to the content', 'Not you?']);
      assert.deepEqual(await tabTo(page, 'scope-phone'), []);
      await page.keyboard.press('Space');
      assert.deepEqual(await tabTo(page, 'Allow'), ['Don’t allow']);
      await page.keyboard.press('Enter');
      const tokens = await redeem(server, client, (await answerAt(page, stage)).get('code') ?? '');
      const { body } = await userinfo(server, tokens.body.access_token);
      assert.ok('email' in body.user && !('phone' in body.user));

      await page.goto(`${server.baseUrl}/account/connections`);
      await tabTo(page, 'Take away access of Keys');
      await page.keyboard.press('Enter');
      await focusAt(page, '[role=status]');
      assert.equal((await userinfo(server, tokens.body.access_token)).status, 403);
      // The notice has the focus, below what stands first: from the top again.
      await page.goto(`${server.baseUrl}/account`);
      assert.deepEqual(await tabTo(page, 'Sign out'), ['Skip to the content', 'Tessera']);
      await page.keyboard.press('Enter');
      await page.waitForURL('**/login');
    }));

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
      assert.equal(await focusOf(page), 'Skip to the content');
      assert.ok(((await page.locator('.skip').boundingBox())?.y ?? -1) >= 0, 'the skip link is out of sight');
      await page.keyboard.press('Enter');
      assert.equal(await page.locator(':focus').getAttribute('id'), 'content');
    }));
}
