import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { PASSWORD } from '../../support/flow.ts';
import { clipboard, focus } from '../in-page.ts';
import { focusAt, type Stage, textOf, visit } from '../stage.ts';

/** Presses Tab until this has the focus, which must show. */
async function tabTo(page: Page, name: string): Promise<void> {
  for (let step = 0; step < 30; step++) {
    await page.keyboard.press('Tab');
    const at = await focus(page);
    assert.ok(at.ring >= 2, `no focus ring on ${at.name}`);
    if (at.name === name) return;
  }
  throw new Error(`Tab does not reach ${name}`);
}

/** The same, and then Enter. */
async function enter(page: Page, name: string): Promise<void> {
  await tabTo(page, name);
  await Promise.all([page.waitForEvent('load'), page.keyboard.press('Enter')]);
}

export function playgroundCases(theStage: () => Stage): void {
  for (const javaScriptEnabled of [true, false]) {
    const kind = javaScriptEnabled ? 'with script' : 'without script';
    test(`the playground by keyboard alone, ${kind}: from the base URL to the first token, and to the 403 after it`, () =>
      visit(theStage(), { javaScriptEnabled, permissions: ['clipboard-read', 'clipboard-write'] }, async (page) => {
        const { baseUrl } = theStage().server;
        const username = javaScriptEnabled ? 'kay.mcnulty' : 'kay.antonelli';
        await page.goto(baseUrl);
        await tabTo(page, 'For developers');
        await page.keyboard.press('Enter');
        await enter(page, 'Walk through the flow');
        await enter(page, 'Start with the v2 endpoints');
        await enter(page, 'Sign in and decide');
        await enter(page, 'Create one');
        await focusAt(page, '#displayName');
        for (const text of ['Kay McNulty', username, `${username}@example.com`, PASSWORD]) {
          if (text !== 'Kay McNulty') await page.keyboard.press('Tab');
          await page.keyboard.type(text);
        }
        await Promise.all([page.waitForEvent('load'), page.keyboard.press('Enter')]);
        await enter(page, 'Allow');
        await page.waitForURL(`${baseUrl}/playground`);
        await enter(page, 'Exchange the code');
        assert.ok((await textOf(page.locator('.token').first())).includes(`"${username}@example.com"`));
        if (javaScriptEnabled) {
          await page.locator('[data-copy-of=command]').focus();
          await page.keyboard.press('Enter');
          await page.getByRole('button', { name: 'Copied' }).waitFor();
          assert.equal(await clipboard(page), await textOf(page.locator('#command')));
          await page.goto(`${baseUrl}/playground`);
        }
        await enter(page, 'Read UserInfo');
        await enter(page, 'Refresh the tokens');
        await enter(page, 'Take away access');
        assert.equal(
          await page.locator('.verdict', { hasText: /^403 in [\d.]+ ms: Access revoked by user$/ }).count(),
          2,
        );
        await enter(page, '3 Tokens');
        assert.equal(await textOf(page.locator('h1')), 'Tokens');
      }));
  }
}
