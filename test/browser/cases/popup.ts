import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newUser, PASSWORD } from '../../support/flow.ts';
import { losesPopup, openPopup, reachesPopup, report } from '../in-page.ts';
import { answerAt, appClient, press, requestUrl, type Stage, signIn, visit } from '../stage.ts';

/** Decisions §10: apps that run the flow in a popup. */
export function popupCases(theStage: () => Stage): void {
  for (const response_mode of ['query', 'form_post']) {
    test(`a popup, by ${response_mode}: the app reaches it at every step, and it reports back in the end`, () =>
      visit(theStage(), {}, async (page) => {
        const stage = theStage();
        const { server, app } = stage;
        const user = await newUser(server);
        const client = await appClient(stage);
        await page.goto(`${app.origin}/callback`);
        const opened = page.waitForEvent('popup');
        await openPopup(page, requestUrl(stage, client, { scope: 'openid email', response_mode }));
        const popup = await opened;
        await popup.waitForURL('**/login?*');
        assert.ok(await reachesPopup(page));
        await signIn(popup, user.username, 'not the password');
        await signIn(popup, user.username, PASSWORD);
        await popup.waitForURL('**/consent?*');
        await press(popup.getByRole('button', { name: 'Not you?' }));
        await signIn(popup, user.username, PASSWORD);
        await popup.waitForURL('**/consent?*');
        assert.ok(await reachesPopup(page));
        await popup.click('[value=allow]');
        assert.ok((await answerAt(popup, stage)).has('code'));
        assert.ok(await reachesPopup(page));
        await report(popup, 'signed in');
      }));
  }

  test('a popup with another page than a step of the flow: neither window reaches the other', () =>
    visit(theStage(), {}, async (page) => {
      const { server, app } = theStage();
      await page.goto(`${app.origin}/callback`);
      const opened = page.waitForEvent('popup');
      await openPopup(page, `${server.baseUrl}/login`);
      const popup = await opened;
      await popup.waitForURL('**/login');
      await popup.locator('#identifier').waitFor();
      await losesPopup(page);
      assert.equal(popup.isClosed(), false);
    }));
}
