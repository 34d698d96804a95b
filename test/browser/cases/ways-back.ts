import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { agent } from '../../support/agent.ts';
import { admin, newUser, PASSWORD, type TestUser } from '../../support/flow.ts';
import { mailsTo } from '../../support/mail.ts';
import { enroll } from '../../support/second-factor.ts';
import { openMailStage } from '../people-pages.ts';
import { press, type Stage, signIn, submit, textOf, visit } from '../stage.ts';

const DAY = 24 * 60 * 60_000;
const CONTACT = 'help@engines.example';
const ANOTHER = 'another good password';

/** People who were robbed, locked out or barred, with script and without: each page says what holds and what to do next. */
export function waysBackCases(theStage: () => Stage): void {
  describe('ways back into an account', { concurrency: 1 }, () => {
    let stage: Stage | undefined;
    before(async () => {
      stage = await openMailStage(theStage().browser);
    });
    after(() => stage?.close());

    for (const javaScriptEnabled of [true, false]) {
      const walk = (name: string, work: (page: Page, stage: Stage) => Promise<void>) =>
        test(`${name}, ${javaScriptEnabled ? 'with script' : 'without script'}`, () => {
          const opened = stage ?? assert.fail('the stage is not open');
          return visit(opened, { javaScriptEnabled }, (page) => work(page, opened));
        });
      const main = (page: Page): Promise<string> => textOf(page.locator('main'));
      const linkTo = async ({ server }: Stage, { username }: TestUser, path: string): Promise<string> =>
        (await mailsTo(server, `${username}@example.com`)).find(({ link }) => link?.includes(path))?.link ??
        assert.fail(`no message with ${path}`);
      const newPassword = async (page: Page): Promise<void> => {
        await page.fill('#password', ANOTHER);
        await submit(page);
      };

      walk('a change of address is undone with two presses, and the page leads to a new password', async (page, at) => {
        const user = await newUser(at.server, { emailVerified: true });
        await page.goto(`${at.server.baseUrl}/login`);
        await signIn(page, user.username, PASSWORD);
        await page.goto(`${at.server.baseUrl}/account/email`);
        const thief = `thief.${user.username}@example.com`;
        await page.fill('#email', thief);
        await submit(page);
        await page.fill('#code', (await mailsTo(at.server, thief))[0]?.code ?? '');
        await submit(page);
        await page.context().clearCookies();
        await page.goto(await linkTo(at, user, '/undo'));
        await press(page.locator('main button.danger'));
        assert.match(await main(page), /has its earlier address again/);
        const next = page.locator('main a, main button').first();
        await press(next);
        assert.match(new URL(page.url()).pathname, /^\/recover/);
        const { body } = await admin(at.server, 'GET', `/users/${user.id}`);
        assert.equal(body.email, `${user.username}@example.com`);
      });

      walk('“This was not me” ends everything, and its page has a next step', async (page, at) => {
        const user = await newUser(at.server, { emailVerified: true });
        await page.goto(`${at.server.baseUrl}/login`);
        await signIn(page, user.username, PASSWORD);
        at.server.advance(DAY);
        const stranger = agent(at.server.baseUrl, undefined, {
          'user-agent': 'Mozilla/5.0 (Windows NT 10.0) Firefox/140.0',
        });
        await stranger.submit(await stranger.get('/login'), { identifier: user.username, password: PASSWORD });
        await page.goto(await linkTo(at, user, '/secure'));
        assert.match(await main(page), /Firefox on Windows/);
        await press(page.locator('main button.danger'));
        assert.match(await main(page), /Your account is secured/);
        assert.ok((await page.locator('main button, main a').count()) > 0);
        assert.equal((await stranger.get('/account')).status, 302);
        await page.goto(await linkTo(at, user, '/recover'));
        await newPassword(page);
        assert.match(await main(page), /Your (new )?password is set/);
      });

      walk(
        'who lost the authenticator app and the codes reads whom to ask, and gets in by that link',
        async (page, at) => {
          const user = await newUser(at.server, { emailVerified: true });
          await enroll(at.server, user);
          await page.goto(`${at.server.baseUrl}/login`);
          await signIn(page, user.username, PASSWORD);
          await press(page.getByRole('link', { name: 'Use a recovery code instead' }));
          assert.match(await main(page), new RegExp(CONTACT));
          const { body } = await admin(at.server, 'POST', `/users/${user.id}/recovery-link`, { resetFactors: true });
          await page.goto(body.url);
          await newPassword(page);
          assert.match(await main(page), /Your (new )?password is set/);
        },
      );

      walk('a dead link says so, and leads on', async (page, at) => {
        for (const path of ['/recover/link', '/secure-account', '/undo-address-change', '/verify', '/invitation']) {
          await page.goto(`${at.server.baseUrl}${path}?token=${'x'.repeat(43)}`);
          assert.match(await textOf(page.locator('h1')), /no longer works/, path);
          assert.ok((await page.locator('main a, main button').count()) > 0, `${path} leads nowhere`);
        }
      });

      walk('who is banned or suspended reads until when, and whom to ask', async (page, at) => {
        const end = new Date(at.server.now() + 30 * DAY).toISOString();
        for (const [act, body] of [
          ['ban', { until: end }],
          ['suspension', {}],
        ] as const) {
          const user = await newUser(at.server, { emailVerified: true });
          assert.equal((await admin(at.server, 'PUT', `/users/${user.id}/${act}`, body)).status, 200);
          await page.goto(`${at.server.baseUrl}/login`);
          await signIn(page, user.username, PASSWORD);
          const said = await textOf(page.locator('body'));
          assert.match(said, act === 'ban' ? /banned until \d/ : /suspended/, act);
          assert.match(said, new RegExp(CONTACT), act);
        }
      });
    }
  });
}
