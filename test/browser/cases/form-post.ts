import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newUser, PASSWORD, redeem } from '../../support/flow.ts';
import { sendForm } from '../in-page.ts';
import { answerAt, appClient, press, requestUrl, type Stage, signIn, visit } from '../stage.ts';

/** OAuth 2.0 Form Post Response Mode: the answer as a form, sent by the page or by the person. */
export function formPostCases(theStage: () => Stage): void {
  for (const javaScriptEnabled of [true, false]) {
    test(`an answer by form_post, ${javaScriptEnabled ? 'with' : 'without'} script`, () =>
      visit(theStage(), { javaScriptEnabled }, async (page) => {
        const stage = theStage();
        const [user, client] = [await newUser(stage.server), await appClient(stage)];
        const state = '"ä&<';
        await page.goto(requestUrl(stage, client, { response_mode: 'form_post', state }));
        await signIn(page, user.username, PASSWORD);
        await page.locator('[value=allow]').click();
        if (!javaScriptEnabled) await press(page.getByRole('button', { name: 'Continue' }));
        const answer = await answerAt(page, stage);
        assert.equal(new URL(page.url()).search, '', 'nothing of it stands in an address');
        assert.deepEqual([answer.get('state'), answer.get('iss')], [state, stage.server.baseUrl]);
        assert.equal((await redeem(stage.server, client, answer.get('code') ?? '')).status, 200);
      }));
  }

  test('OpenID Connect Core 1.0 §3.1.2.1: a POST from the app’s own site knows who is signed in', () =>
    visit(theStage(), {}, async (page) => {
      const stage = theStage();
      const [user, client] = [await newUser(stage.server), await appClient(stage)];
      await page.goto(requestUrl(stage, client, {}));
      await signIn(page, user.username, PASSWORD);
      await press(page.locator('[value=allow]'));
      await answerAt(page, stage);
      const url = new URL(requestUrl(stage, client, { prompt: 'none', state: 'by post' }));
      await sendForm(page, url.origin + url.pathname, Object.fromEntries(url.searchParams));
      await page.waitForURL((at) => at.searchParams.get('state') === 'by post');
      const answer = await answerAt(page, stage);
      assert.ok(answer.get('code'), `${answer}`);
    }));
}
