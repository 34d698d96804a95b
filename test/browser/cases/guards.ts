import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newUser, PASSWORD } from '../../support/flow.ts';
import { clipboard, letters, moving, paper } from '../in-page.ts';
import { appClient, requestUrl, type Stage, signIn, textOf, visit } from '../stage.ts';

export function guardCases(theStage: () => Stage): void {
  test('HB-01: with a narrower form-action the browser would not let the consent through', async () => {
    const stage = theStage();
    const user = await newUser(stage.server);
    const client = await appClient(stage);
    const context = await stage.browser.newContext();
    try {
      const page = await context.newPage();
      await page.route('**/consent?*', async (route) => {
        const response = await route.fetch();
        const policy = (response.headers()['content-security-policy'] ?? '').replace(
          /form-action [^;]*/,
          "form-action 'self'",
        );
        await route.fulfill({ response, headers: { ...response.headers(), 'content-security-policy': policy } });
      });
      await page.goto(requestUrl(stage, client, { scope: 'openid' }));
      await signIn(page, user.username, PASSWORD);
      await page.waitForURL('**/consent?*');
      // Only now is the page asked for without a redirect before it, which alone can be changed on the way.
      await page.reload();
      const before = stage.app.answers.length;
      const refusal = page.waitForEvent('console', (message) => /form-action/.test(message.text()));
      await page.click('[value=allow]', { noWaitAfter: true });
      await refusal;
      assert.equal(stage.app.answers.length, before);
    } finally {
      await context.close();
    }
  });

  test('HB-03: after signing out, going back shows nothing of the account', () =>
    visit(theStage(), {}, async (page) => {
      const { server } = theStage();
      const user = await newUser(server);
      await page.goto(`${server.baseUrl}/login`);
      await signIn(page, user.username, PASSWORD);
      await page.waitForURL('**/account');
      await page.getByRole('button', { name: 'Sign out', exact: true }).click();
      await page.waitForURL('**/login');
      await page.goBack();
      assert.match(page.url(), /\/login$/);
      assert.ok(!(await page.content()).includes(`${user.username}@example.com`));
    }));

  test('an account’s own theme goes before the browser’s', async () => {
    const { server } = theStage();
    const paperFor = async (theme: string | null, colorScheme: 'light' | 'dark') => {
      const user = await newUser(server, { theme });
      let color = '';
      await visit(theStage(), { colorScheme }, async (page) => {
        await page.goto(`${server.baseUrl}/login`);
        await signIn(page, user.username, PASSWORD);
        await page.waitForURL('**/account');
        color = await paper(page);
      });
      return color;
    };
    const [light, dark] = [await paperFor(null, 'light'), await paperFor(null, 'dark')];
    assert.notEqual(light, dark);
    assert.equal(await paperFor('dark', 'light'), dark);
    assert.equal(await paperFor('light', 'dark'), light);
    assert.equal(await paperFor('system', 'dark'), dark);
  });

  test('the correlation id of an error page is copied whole', () =>
    visit(theStage(), { permissions: ['clipboard-read', 'clipboard-write'] }, async (page) => {
      const stage = theStage();
      await page.goto(
        requestUrl(stage, { ...(await appClient(stage)), redirectUri: 'https://elsewhere.example/' }, {}),
      );
      await page.getByRole('button', { name: 'Copy the correlation ID' }).click();
      await page.getByRole('button', { name: 'Copied' }).waitFor();
      const copied = await clipboard(page);
      assert.match(copied, /^[0-9a-f-]{36}$/);
      assert.equal(copied, await textOf(page.locator('.copyable code').last()));
    }));

  test('with colours of the person’s own, the letters on the tile are seen', () =>
    visit(theStage(), { forcedColors: 'active', colorScheme: 'dark' }, async (page) => {
      await page.goto(requestUrl(theStage(), await appClient(theStage()), {}));
      assert.deepEqual(await letters(page), [['rgb(255, 255, 255)', 'rgb(0, 0, 0)']]);
    }));

  test('reduced motion moves nothing', () =>
    visit(theStage(), { reducedMotion: 'reduce' }, async (page) => {
      await page.goto(requestUrl(theStage(), await appClient(theStage()), {}));
      assert.deepEqual(await moving(page), []);
    }));
}
