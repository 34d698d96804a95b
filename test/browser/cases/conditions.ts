import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newUser, PASSWORD, redeem } from '../../support/flow.ts';
import { answerAt, appClient, press, requestUrl, type Stage, signIn, visit } from '../stage.ts';

/** Sign-in and consent where the network or the browser is worse than usual. */
export function conditionCases(theStage: () => Stage): void {
  test('a slow network, and an impatient person who presses twice: one answer, and its code works', () =>
    visit(theStage(), {}, async (page) => {
      const stage = theStage();
      const [user, client] = await Promise.all([newUser(stage.server), appClient(stage)]);
      const session = await page.context().newCDPSession(page);
      await session.send('Network.emulateNetworkConditions', {
        ...{ offline: false, latency: 400, downloadThroughput: 50_000, uploadThroughput: 50_000 },
      });
      await page.goto(requestUrl(stage, client, { scope: 'openid email' }));
      await page.fill('#identifier', user.username);
      await page.fill('#password', PASSWORD);
      const consent = page.waitForURL(/\/consent/);
      await page.locator('main button.primary').first().dblclick();
      await consent;
      const answered = page.waitForURL((url) => url.origin === stage.app.origin);
      await page.locator('[value=allow]').dblclick();
      await answered;
      const { status } = await redeem(stage.server, client, (await answerAt(page, stage)).get('code') ?? '');
      assert.equal(status, 200);
    }));

  test('a web view that knows no passkeys: none is offered, and the password opens the way to the app', () =>
    visit(theStage(), {}, async (page) => {
      const stage = theStage();
      const [user, client] = await Promise.all([newUser(stage.server), appClient(stage)]);
      await page.addInitScript('delete globalThis.PublicKeyCredential; delete navigator.__proto__.credentials;');
      await page.goto(requestUrl(stage, client, { scope: 'openid email' }));
      assert.equal(await page.locator('main button:visible').filter({ hasText: 'passkey' }).count(), 0);
      await signIn(page, user.username, PASSWORD);
      await press(page.locator('[value=allow]'));
      const { status } = await redeem(stage.server, client, (await answerAt(page, stage)).get('code') ?? '');
      assert.equal(status, 200);
    }));
}
