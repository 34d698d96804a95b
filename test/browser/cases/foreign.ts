import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { formOf } from '../../support/agent.ts';
import { admin, newUser, PASSWORD } from '../../support/flow.ts';
import { sendForm, showInFrame } from '../in-page.ts';
import { appClient, press, requestUrl, type Stage, signIn, visit } from '../stage.ts';

/** Forms of a signed-in person, by the pages that they stand on. */
const FORMS: readonly (readonly [path: string, action: string, fields: Readonly<Record<string, string>>])[] = [
  ['/account/security', '/account/password', { current: PASSWORD, password: 'chosen by another site' }],
  ['/account/security', '/account/sign-out-everywhere', {}],
  ['/account', '/account/picture', { action: 'remove' }],
  ['/account', '/logout', {}],
  ['/account', '/account/profile', { displayName: 'Changed Elsewhere' }],
  ['/account/connections', '/account/connections', { all: 'yes' }],
  ['/account/sessions', '/account/sessions', { session: 'others' }],
  ['/account/security', '/account/security/recovery-codes', {}],
  ['/account/data', '/account/deletion', { confirm: 'yes' }],
];

/** Signs a user in on this page. */
async function enter(page: Page, { server }: Stage, username: string): Promise<void> {
  await page.goto(`${server.baseUrl}/login`);
  await signIn(page, username, PASSWORD);
  await page.waitForURL('**/account');
}

/** Pages of other sites, and of another origin of the same site. */
export function foreignCases(theStage: () => Stage): void {
  for (const [kind, hostname] of [
    ['another site', '127.0.0.1'],
    ['another origin of the same site', 'localhost'],
  ] as const) {
    test(`SE-04: no form takes effect that ${kind} sends, with a stolen token and all`, async () => {
      const stage = theStage();
      const { server, app } = stage;
      const user = await newUser(server);
      const context = await stage.browser.newContext();
      try {
        const page = await context.newPage();
        await page.goto(requestUrl(stage, await appClient(stage), {}));
        await signIn(page, user.username, PASSWORD);
        await press(page.locator('[value=allow]'));
        const stolen = new Map<string, Record<string, string>>();
        for (const [path, action] of FORMS) {
          await page.goto(server.baseUrl + path);
          const html = await page.content();
          // Where there is nothing to change the page has no form of this kind; its token is that of its neighbors.
          const forms = html.includes(`action="${action}"`)
            ? formOf(html, action).hidden
            : (stolen.get('/logout') ?? {});
          stolen.set(action, forms);
        }
        const before = (await admin(server, 'GET', `/users/${user.id}`)).body;
        for (const [, action, fields] of FORMS) {
          await page.goto(`${app.origin.replace('localhost', hostname)}/callback`);
          const answered = page.waitForResponse((response) => response.url() === server.baseUrl + action);
          await sendForm(page, server.baseUrl + action, { ...stolen.get(action), ...fields });
          await page.waitForURL(server.baseUrl + action);
          assert.equal((await answered).status(), 403, action);
        }
        assert.deepEqual((await admin(server, 'GET', `/users/${user.id}`)).body, before);
        assert.equal((await admin(server, 'GET', `/users/${user.id}/connections`)).body.items.length, 1);
        const account = await page.goto(`${server.baseUrl}/account`);
        assert.equal(account?.status(), 200);
        assert.ok((await page.content()).includes(user.username), 'still signed in');
      } finally {
        await context.close();
      }
    });
  }

  test('HB-01: no page shows in a frame of another origin, nor of our own', async () => {
    const stage = theStage();
    const context = await stage.browser.newContext();
    try {
      const page = await context.newPage();
      const user = await newUser(stage.server);
      await enter(page, stage, user.username);
      for (const outer of [`${stage.app.origin}/callback`, `${stage.server.baseUrl}/health/live`]) {
        await page.goto(outer);
        for (const path of ['/login', '/account', '/account/security', '/account/connections']) {
          const refusal = page.waitForEvent('console', (message) => /frame-ancestors/.test(message.text()));
          await showInFrame(page, stage.server.baseUrl + path);
          await refusal;
        }
      }
    } finally {
      await context.close();
    }
  });

  test('SE-11: one signs out, another signs in: going back shows nothing of the first, and the first’s form does nothing', () =>
    visit(theStage(), {}, async (page) => {
      const stage = theStage();
      const [first, second, client] = [
        await newUser(stage.server),
        await newUser(stage.server),
        await appClient(stage),
      ];
      await page.goto(requestUrl(stage, client, { scope: 'openid email' }));
      await signIn(page, first.username, PASSWORD);
      await page.waitForURL('**/consent?*');
      const tab = await page.context().newPage();
      await tab.goto(`${stage.server.baseUrl}/account`);
      await press(tab.getByRole('button', { name: 'Sign out', exact: true }));
      await enter(tab, stage, second.username);
      await tab.goBack();
      assert.ok(!(await tab.content()).includes(first.username), 'the page before');
      await tab.close();
      // The first one's page is still on the screen of the other tab.
      const answers = stage.app.answers.length;
      const answered = page.waitForResponse((response) => response.request().method() === 'POST');
      await page.locator('[value=allow]').first().click();
      assert.equal((await answered).status(), 400);
      await page.waitForLoadState();
      assert.ok((await page.content()).includes(second.username), 'the page says who is signed in');
      assert.equal(stage.app.answers.length, answers);
      for (const { id } of [first, second]) {
        assert.deepEqual((await admin(stage.server, 'GET', `/users/${id}/connections`)).body.items, []);
      }
    }));
}
