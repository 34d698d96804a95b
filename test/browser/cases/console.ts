import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { admin, newClient, newUser } from '../../support/flow.ts';
import { type SecondFactor, totpCode } from '../../support/second-factor.ts';
import { makeOperator, openConsoleStage, signInOperator } from '../console-pages.ts';
import { overflowBelow, violations } from '../in-page.ts';
import { focusAt, pressInConsole, type Stage, visit } from '../stage.ts';
import { TASKS, walkTask } from '../tasks/tasks.ts';

export function consoleCases(theStage: () => Stage): void {
  const onStage = async (work: (stage: Stage) => Promise<void>): Promise<void> => {
    const stage = await openConsoleStage(theStage().browser);
    try {
      await work(stage);
    } finally {
      await stage.close();
    }
  };

  // The rest of the tasks are in console-tasks.long.test.ts.
  test('operators do what they do most often, with the script and without', () =>
    onStage(async (stage) => {
      for (const task of TASKS.filter(({ gate }) => gate)) {
        await walkTask(stage, task, 'with script');
        if (task.name === 'Suspend a person') await walkTask(stage, task, 'without script');
      }
    }));

  test('the palette finds an app by keys alone, above any page, and closes without a trace', () =>
    onStage(async (stage) => {
      const { user, factor } = await makeOperator(stage, 'owner');
      const app = await newClient(stage.server, { name: 'Acme Notes' });
      await newClient(stage.server, { name: 'Acme Almanac' });
      await visit(stage, {}, async (page) => {
        await signInOperator({ stage, page }, user, factor);
        await page.goto(`${stage.server.baseUrl}/console/events`);
        await page.focus('.side a[aria-current]');
        await page.keyboard.press('Control+k');
        await focusAt(page, '.palette #text');
        assert.deepEqual(await violations(page), []);
        await page.keyboard.press('Escape');
        await focusAt(page, '.side a[aria-current]');
        // A dialog gives the focus back first, and then says that it is closed.
        await page.locator('.palette').waitFor({ state: 'detached' });
        await page.keyboard.press('Meta+k');
        await focusAt(page, '.palette #text');
        await page.keyboard.type('acme');
        await page.locator('.palette #hits a', { hasText: 'Acme Notes' }).waitFor();
        assert.deepEqual(await violations(page), []);
        await page.keyboard.press('ArrowDown');
        await page.keyboard.press('ArrowUp');
        await focusAt(page, '.palette #text');
        await page.keyboard.type(' n');
        // What is typed is sought before it is followed.
        await page.keyboard.press('Enter');
        await focusAt(page, 'h1');
        assert.equal(new URL(page.url()).pathname, `/console/apps/${app.clientId}`);
        assert.equal(await page.locator('.palette').count(), 0);
      });
    }));

  test('a small phone shows the first events, the others when they are asked for, and a wide screen all of them', () =>
    onStage(async (stage) => {
      const { user, factor } = await makeOperator(stage, 'auditor');
      for (let index = 0; index < 30; index++) await newUser(stage.server);
      await visit(stage, { viewport: { width: 320, height: 640 } }, async (page) => {
        await signInOperator({ stage, page }, user, factor);
        const shown = () => page.locator('.events > li').filter({ visible: true }).count();
        for (const query of ['', '?live=1', '?type=account&outcome=success&since=2026-01-01']) {
          await page.goto(`${stage.server.baseUrl}/console/events${query}`);
          assert.equal(await shown(), 10);
          // Two screens.
          assert.ok((await overflowBelow(page)) <= 640, query);
        }
        await page.getByText('15 more').click();
        assert.equal(await shown(), 25);
        assert.deepEqual(await violations(page), []);
        await page.reload();
        await page.setViewportSize({ width: 1000, height: 720 });
        assert.equal(await shown(), 25);
        assert.equal(await page.getByText('15 more').isVisible(), false);
      });
    }));

  test('a list that is watched shows what is new, not while it is read, and ends with the role', () =>
    onStage(async (stage) => {
      const { server } = stage;
      const { user, factor } = await makeOperator(stage, 'auditor');
      const person = await newUser(server);
      await visit(stage, {}, async (page) => {
        await signInOperator({ stage, page }, user, factor);
        await page.goto(`${server.baseUrl}/console/events?userId=${person.id}`);
        await pressInConsole(page.getByRole('link', { name: 'Watch live' }));
        await admin(server, 'PUT', `/users/${person.id}/suspension`, {});
        const listed = page.locator('#listed');
        await listed.getByText('account.suspended').waitFor();
        assert.deepEqual(await violations(page), []);
        // What somebody reads stays until it is folded again.
        await listed.locator('summary').first().click();
        await admin(server, 'DELETE', `/users/${person.id}/suspension`);
        assert.equal(await listed.getByText('account.reinstated').count(), 0);
        await listed.locator('summary').first().click();
        await page.focus('.side a');
        await listed.getByText('account.reinstated').waitFor();
        await admin(server, 'DELETE', `/users/${user.id}/roles/auditor`);
        await page.getByRole('heading', { name: 'The console is for operators' }).waitFor();
      });
    }));

  test('where the session has ended, the palette leads to the sign-in', () =>
    onStage(async (stage) => {
      const { user, factor } = await makeOperator(stage, 'owner');
      await visit(stage, {}, async (page) => {
        await signInOperator({ stage, page }, user, factor);
        await page.goto(`${stage.server.baseUrl}/console/events`);
        await page.context().clearCookies();
        await page.keyboard.press('Control+k');
        await page.waitForURL(/\/login/);
      });
    }));

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
