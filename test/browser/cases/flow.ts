import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { newUser, PASSWORD, redeem, signedIn, tokensFor, userinfo } from '../../support/flow.ts';
import {
  answerAt,
  appClient,
  focusAt,
  press,
  requestUrl,
  type Stage,
  signIn,
  submit,
  textOf,
  visit,
} from '../stage.ts';

/** The whole way of a person, with script and without. */
export function flowCases(theStage: () => Stage): void {
  for (const javaScriptEnabled of [true, false]) {
    const kind = javaScriptEnabled ? 'with script' : 'without script';
    const walk = (name: string, work: (page: Page, stage: Stage) => Promise<void>) =>
      test(`${name}, ${kind}`, () => visit(theStage(), { javaScriptEnabled }, (page) => work(page, theStage())));

    walk('decisions §2: sign-up on the way to an app, consent with one scope switched off', async (page, stage) => {
      const client = await appClient(stage);
      const username = `grace.${javaScriptEnabled ? 'js' : 'plain'}`;
      await page.goto(requestUrl(stage, client, { scope: 'openid email phone', nonce: 'n' }));
      await press(page.getByRole('link', { name: 'Create one' }));
      await page.fill('#displayName', 'Grace Hopper');
      await page.fill('#username', username);
      await page.fill('#email', `${username}@example.com`);
      await page.fill('#password', PASSWORD);
      await submit(page);

      assert.equal(
        await textOf(page.locator('h1')),
        `${await textOf(page.locator('h1 bdi'))} wants to know who you are.`,
      );
      assert.match(await textOf(page.locator('main')), new RegExp(`${username}@example.com`));
      await page.getByRole('switch', { name: 'Whether your email address is verified' }).click();
      await press(page.locator('[value=allow]'));

      const answer = await answerAt(page, stage);
      assert.equal(answer.get('state'), 'st4te');
      const tokens = await redeem(stage.server, client, answer.get('code') ?? '');
      const { body } = await userinfo(stage.server, tokens.body.access_token);
      assert.equal(body.user.username, username);
      assert.equal(body.user.phone, null);
      assert.ok(!('email' in body.user));
    });

    walk('contract §7: a denial takes access_denied to the app', async (page, stage) => {
      const user = await newUser(stage.server);
      await page.goto(requestUrl(stage, await appClient(stage), { scope: 'openid email' }));
      await signIn(page, user.username, PASSWORD);
      await press(page.locator('[value=deny]'));
      const answer = await answerAt(page, stage);
      assert.equal(answer.get('error'), 'access_denied');
      assert.equal(answer.get('error_description'), 'User denied the request');
      assert.equal(answer.get('code'), null);
    });

    walk('every edit of the profile is seen at UserInfo in the next request', async (page, stage) => {
      const { server } = stage;
      const user = await newUser(server);
      const client = await appClient(stage, { name: 'Edits' });
      await page.goto(requestUrl(stage, client, { scope: 'openid details phone social' }));
      await signIn(page, user.username, PASSWORD);
      await press(page.locator('[value=allow]'));
      const tokens = await redeem(server, client, (await answerAt(page, stage)).get('code') ?? '');
      const seen = async () => (await userinfo(server, tokens.body.access_token)).body;

      const button = (row: string) => page.getByRole('button', { name: `Save “${row}”` });
      const openRow = (name: string) => page.click(`#${name} > summary`);
      /** Each row is saved by itself, says so, and is closed again. */
      const save = async (row: string) => {
        await press(button(row));
        await focusAt(page, '[role=status]');
        assert.match(await textOf(page.getByRole('status')), /saved/);
        assert.equal(await page.locator('main details[open]').count(), 0);
      };
      await page.goto(`${server.baseUrl}/account`);
      await openRow('change-name');
      await page.fill('#displayName', 'Ada <b>Lovelace</b>');
      await page.fill('#about', 'First line\nsecond line');
      await save('Name');
      assert.equal(await textOf(page.locator('#change-name > summary bdi')), 'Ada <b>Lovelace</b>');
      await openRow('appearance');
      await page.selectOption('#language', 'tr');
      await page.selectOption('#theme', 'dark');
      await page.getByText('Teal').click();
      await save('Language and theme');
      assert.equal(await page.getAttribute('html', 'data-theme'), 'dark');
      await openRow('details');
      await page.fill('#website', 'https://ada.example.com');
      await page.fill('#location', 'London');
      await page.fill('#birthDate', '1915-12-10');
      await save('Website, location and birth date');
      await openRow('change-phone');
      await page.fill('#phone', '+90 555 123 45 67');
      await save('Phone');
      await openRow('links');
      await page.fill('#link-label-0', 'Code');
      await page.fill('#link-url-0', 'https://github.com/ada');
      await save('Social links');
      const { user: shown, language, theme } = await seen();
      assert.deepEqual(
        { ...shown, avatar: shown.avatar.color, language, theme },
        {
          displayName: 'Ada <b>Lovelace</b>',
          username: user.username,
          avatar: '#0f5e63',
          about: 'First line\nsecond line',
          website: 'https://ada.example.com',
          location: 'London',
          birthDate: '1915-12-10',
          phone: '+905551234567',
          socialLinks: [{ platform: 'github', url: 'https://github.com/ada', label: 'Code' }],
          language: 'tr',
          theme: 'dark',
        },
      );

      await openRow('details');
      await page.fill('#location', '');
      await page.fill('#website', 'ada.example.com');
      await press(button('Website, location and birth date'));
      await focusAt(page, '#website');
      assert.equal(await page.getAttribute('#website', 'aria-invalid'), 'true');
      assert.equal(await page.locator('#website').isVisible(), true, 'the row of what is wrong is open');
      assert.equal(await page.inputValue('#website'), 'ada.example.com', 'what was typed stays');
      assert.equal((await seen()).user.location, 'London', 'nothing is half done');
      await page.fill('#website', '');
      await save('Website, location and birth date');
      await openRow('change-phone');
      await page.fill('#phone', '');
      await save('Phone');
      await openRow('links');
      await page.fill('#link-label-0', '');
      await page.fill('#link-url-0', '');
      await save('Social links');
      const emptied = await seen();
      assert.deepEqual(
        [emptied.user.phone, emptied.user.location, emptied.user.website, emptied.user.socialLinks],
        [null, null, null, []],
        'what was emptied is gone',
      );
    });

    walk('a wrong password: the error takes the focus, and what was typed stays', async (page, stage) => {
      const user = await newUser(stage.server);
      await page.goto(`${stage.server.baseUrl}/login`);
      await signIn(page, user.username, 'not the password');
      await focusAt(page, '[role=alert]');
      assert.match(await textOf(page.getByRole('alert')), /incorrect/);
      assert.equal(await page.inputValue('#identifier'), user.username);
      assert.equal(await page.inputValue('#password'), '');
      await page.fill('#password', PASSWORD);
      await submit(page);
      await page.waitForURL('**/account');
    });

    walk(
      'errors of fields: the summary has the focus and leads to each field, which says its own',
      async (page, stage) => {
        await page.goto(`${stage.server.baseUrl}/signup`);
        await page.fill('#displayName', 'Grace');
        await page.fill('#username', 'x');
        await submit(page);
        await focusAt(page, '[role=alert]');
        assert.equal(await page.inputValue('#displayName'), 'Grace');
        assert.deepEqual(
          await page.locator('[aria-invalid=true]').evaluateAll((fields) => fields.map(({ id }) => id)),
          ['username', 'email', 'password'],
        );
        for (const id of ['username', 'email', 'password']) {
          const note = await page.locator(`#${id}`).getAttribute('aria-describedby');
          const link = page.locator(`[role=alert] a[href="#${id}"]`);
          assert.equal(await textOf(page.locator(`#${note}`)), await textOf(link));
          await link.click();
          await focusAt(page, `#${id}`);
        }
      },
    );

    walk('contract §3: two presses take access away, and UserInfo is 403 from then on', async (page, stage) => {
      const { server } = stage;
      const user = await newUser(server);
      const client = await appClient(stage, { name: 'Revoked app' });
      await page.goto(requestUrl(stage, client, { scope: 'openid email' }));
      await signIn(page, user.username, PASSWORD);
      await press(page.locator('[value=allow]'));
      const tokens = await redeem(server, client, (await answerAt(page, stage)).get('code') ?? '');
      assert.equal((await userinfo(server, tokens.body.access_token)).status, 200);

      await page.goto(`${server.baseUrl}/account/connections`);
      await press(page.getByRole('link', { name: /Revoked app/ }));
      await page.getByText('Take away access', { exact: true }).click();
      assert.equal((await userinfo(server, tokens.body.access_token)).status, 200, 'the first press only asks');
      await press(page.getByRole('button', { name: 'Yes, take away access from Revoked app' }));
      const notice = page.getByRole('status');
      assert.match(
        await textOf(notice),
        /Revoked app lost access on .* UTC\..*Access from one sign-in no longer works/,
      );
      assert.equal(await notice.locator('time').getAttribute('datetime'), new Date(server.now()).toISOString());
      await focusAt(page, '[role=status]');
      assert.equal(await page.locator('.rows-of-account a').count(), 0);
      const refused = await userinfo(server, tokens.body.access_token);
      assert.equal(refused.status, 403);
      assert.equal(refused.body.error_description, 'Access revoked by user');
    });

    walk('SE-09: two presses sign another browser out, and the page says what that stopped', async (page, stage) => {
      const { server } = stage;
      const user = await newUser(server);
      const elsewhere = await signedIn(server, user);
      const client = await appClient(stage, { name: 'Left behind' });
      const tokens = await tokensFor(server, client, user, {}, { browser: elsewhere });
      await page.goto(`${server.baseUrl}/login`);
      await signIn(page, user.username, PASSWORD);
      await press(page.getByRole('link', { name: 'Devices' }));
      await page.getByText('Sign out there', { exact: true }).click();
      assert.equal((await elsewhere.get('/account')).status, 200, 'the first press only asks');
      await press(page.getByRole('button', { name: 'Yes, sign out there: Unknown browser' }));
      await focusAt(page, '[role=status]');
      assert.match(await textOf(page.getByRole('status')), /signed out on .*Left behind.*no longer works/);
      assert.match(await textOf(page.locator('main')), /You are not signed in anywhere else/);
      assert.match((await elsewhere.get('/account')).location?.pathname ?? '', /login/);
      assert.equal((await userinfo(server, tokens.access_token)).status, 401);
    });

    walk(
      'a password change: a wrong one is refused at its field, a right one ends the other sessions',
      async (page, stage) => {
        const { server } = stage;
        const user = await newUser(server);
        const elsewhere = await signedIn(server, user);
        await page.goto(`${server.baseUrl}/login`);
        await signIn(page, user.username, PASSWORD);
        await press(page.getByRole('link', { name: 'Security' }));
        await page.click('#change-password > summary');
        const change = async (current: string) => {
          await page.fill('#current', current);
          await page.fill('#password', 'a brand new password');
          await press(page.getByRole('button', { name: 'Change password' }));
        };
        await change('not the password');
        await focusAt(page, '#current');
        assert.equal(await page.getAttribute('#current', 'aria-invalid'), 'true');
        assert.equal((await elsewhere.get('/account')).status, 200);
        await change(PASSWORD);
        await focusAt(page, '[role=status]');
        assert.match((await elsewhere.get('/account')).location?.pathname ?? '', /login/);
        await page.goto(`${server.baseUrl}/account`);
        assert.equal(await textOf(page.locator('h1')), 'Your profile');
        await signedIn(server, user, 'a brand new password');
      },
    );
  }
}
