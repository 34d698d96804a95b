import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { admin, newUser } from '../../support/flow.ts';
import { type SecondFactor, totpCode } from '../../support/second-factor.ts';
import { makeOperator, openConsoleStage, signInOperator } from '../console-pages.ts';
import { focusAt, pressInConsole, type Stage, textOf, visit } from '../stage.ts';

/** Finds a person and suspends them, as an operator does. */
async function suspend({ server }: Stage, page: Page, username: string): Promise<void> {
  await page.goto(`${server.baseUrl}/console/people`);
  await page.fill('#q', username);
  await pressInConsole(page.locator('main form button.primary'));
  await pressInConsole(page.locator('.list a'));
  await pressInConsole(page.getByRole('link', { name: 'Suspend' }));
  await page.fill('#reason', 'Asked for it');
  await pressInConsole(page.getByRole('button', { name: 'Suspend' }));
}

const statusOf = async ({ server }: Stage, { id }: { readonly id: string }): Promise<string> =>
  (await admin(server, 'GET', `/users/${id}`)).body.status;

export function consoleCases(theStage: () => Stage): void {
  const onStage = async (work: (stage: Stage) => Promise<void>): Promise<void> => {
    const stage = await openConsoleStage(theStage().browser);
    try {
      await work(stage);
    } finally {
      await stage.close();
    }
  };

  for (const javaScriptEnabled of [true, false]) {
    test(`an operator finds a person and suspends them, ${javaScriptEnabled ? 'with' : 'without'} scripts`, () =>
      onStage(async (stage) => {
        const { user, factor } = await makeOperator(stage, 'owner');
        const person = await newUser(stage.server);
        await visit(stage, { javaScriptEnabled }, async (page) => {
          await signInOperator({ stage, page }, user, factor);
          await suspend(stage, page, person.username);
          assert.match(await textOf(page.locator('h1')), /is suspended/);
        });
        assert.equal(await statusOf(stage, person), 'suspended');
      }));
  }

  test('the script replaces parts: nothing is loaded again, the way back is kept, and what acts acts once', () =>
    onStage(async (stage) => {
      const { server } = stage;
      const { user, factor } = await makeOperator(stage, 'owner');
      const person = await newUser(server);
      await visit(stage, {}, async (page) => {
        await signInOperator({ stage, page }, user, factor);
        await page.goto(`${server.baseUrl}/console/people`);
        let documents = 0;
        page.on('request', (request) => {
          if (request.isNavigationRequest()) documents++;
        });
        await page.fill('#q', person.username);
        await page.press('#q', 'Enter');
        await page.waitForURL(/\?q=/);
        await focusAt(page, '#q');
        await pressInConsole(page.locator('.list a'));
        await focusAt(page, 'h1');
        assert.equal(new URL(page.url()).pathname, `/console/people/${person.id}`);
        await page.goBack();
        await page.locator('#q').waitFor();
        assert.equal(await page.inputValue('#q'), person.username);
        await page.goForward();
        await pressInConsole(page.getByRole('link', { name: 'Sign out everywhere' }));
        await pressInConsole(page.getByRole('button', { name: 'Sign out everywhere' }));
        await focusAt(page, '.notice.done');
        assert.equal(documents, 0);
        // To load the page again asks again.
        await page.reload();
        assert.equal(await page.getByRole('button', { name: 'Sign out everywhere' }).count(), 1);
      });
      const { body } = await admin(
        server,
        'GET',
        `/audit-events?type=account.signed_out_everywhere&userId=${person.id}`,
      );
      assert.equal(body.items.length, 1);
    }));

  test('where a proof is due, the script leaves for it, and the way leads back', () =>
    onStage(async (stage) => {
      const { user, factor } = await makeOperator(stage, 'owner');
      const person = await newUser(stage.server);
      await visit(stage, {}, async (page) => {
        await signInOperator({ stage, page }, user, factor);
        await page.goto(`${stage.server.baseUrl}/console/people/${person.id}`);
        stage.server.advance(11 * 60_000);
        await page.getByRole('link', { name: 'Suspend' }).click();
        await page.waitForURL(/\/account\/confirm/);
        await signInCode(stage, page, factor);
        await page.getByRole('button', { name: 'Suspend' }).waitFor();
        assert.equal(new URL(page.url()).pathname, '/console/people/suspend');
      });
    }));
}

async function signInCode({ server }: Stage, page: Page, factor: SecondFactor): Promise<void> {
  await page.fill('#code', totpCode(factor, server.now()));
  await page.locator('main button.primary').first().click();
}
