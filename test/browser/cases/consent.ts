import assert from 'node:assert/strict';
import { test } from 'node:test';
import { admin, newUser, PASSWORD, redeem, standard, type TestClient, userinfo } from '../../support/flow.ts';
import { outOfSight, overflowBelow } from '../in-page.ts';
import { answerAt, appClient, press, requestUrl, type Stage, signIn, textOf, visit } from '../stage.ts';

const ALL = 'openid email details phone social organization.read';
const SWITCHES = '[role=switch]';
const BUTTONS = '[name=decision]';

/** A person with a value for every scope. */
async function newPersonWithAll({ server }: Stage, name: string) {
  const user = await newUser(server, {
    displayName: 'Ada Lovelace',
    website: 'https://ada.example/',
    location: 'London',
    birthDate: '1990-12-10',
    phone: '+905551234567',
    socialLinks: [{ platform: 'github', url: 'https://github.com/ada', label: 'GitHub' }],
  });
  const { body } = await admin(server, 'POST', '/organizations', { name, domain: 'engines.example' });
  await admin(server, 'PUT', `/organizations/${body.id}/members/${user.id}`, { role: 'MEMBER' });
  return user;
}

export function consentCases(theStage: () => Stage): void {
  test('decisions §8: on a phone of 390 × 844, five scopes are decided without scrolling', () =>
    visit(theStage(), { viewport: { width: 390, height: 844 } }, async (page) => {
      const stage = theStage();
      const user = await newPersonWithAll(stage, 'phone-engines');
      const client = await appClient(stage, { name: 'Acme Notes', owner: 'Acme Ltd' });
      await page.goto(requestUrl(stage, client, { scope: ALL }));
      await signIn(page, user.username, PASSWORD);
      assert.equal(await page.locator(SWITCHES).count(), 5);
      assert.deepEqual(await outOfSight(page, `${SWITCHES}, ${BUTTONS}`), []);
      assert.equal(await overflowBelow(page), 0);
      const text = await textOf(page.locator('main'));
      for (const value of ['https://ada.example/', 'London', '+90 555 123 45 67', 'https://github.com/ada']) {
        assert.equal(text.split(value).length, 2, `${value} stands once`);
      }
      assert.equal(text.split(`${user.username}@example.com`).length, 2, 'the address stands once');
      assert.equal(await page.getByText(`${user.username}@example.com`).isVisible(), false);
      await page.click('summary');
      assert.equal(await page.getByText(`${user.username}@example.com`).isVisible(), true);
    }));

  test('on a phone of 390 × 664, the promise and the host are read before deciding, and the sum is exact', () =>
    visit(theStage(), { viewport: { width: 390, height: 664 } }, async (page) => {
      const stage = theStage();
      const user = await newPersonWithAll(stage, 'short-engines');
      const said = {
        homepageUrl: 'https://acme.example/',
        policyUrl: 'https://acme.example/privacy',
        termsUrl: 'https://acme.example/terms',
      };
      const client = await appClient(stage, { name: 'Acme Notes', owner: 'Acme Ltd', ...said });
      await page.goto(requestUrl(stage, client, { scope: ALL }));
      await signIn(page, user.username, PASSWORD);
      assert.deepEqual(await outOfSight(page, `.promise, .asks p, ${BUTTONS}`), []);
      assert.match(await textOf(page.locator('.asks')), /by Acme Ltd · Returns to localhost:\d+/);
      assert.match(await textOf(page.locator('.promise')), /take this back at any time/);
      const [, more] =
        /Name, username, picture, email address and (\d+) more/.exec(await textOf(page.locator('summary'))) ?? [];
      // Beside the picture, which has no name.
      assert.equal((await page.locator('.passport dt').count()) + 1, 4 + Number(more));
      for (const [name, url] of [
        ['Website', said.homepageUrl],
        ['Privacy policy', said.policyUrl],
        ['Terms', said.termsUrl],
      ] as const) {
        const link = page.getByRole('link', { name, exact: true });
        assert.deepEqual([await link.getAttribute('href'), await link.getAttribute('target')], [url, '_blank']);
      }
    }));

  test('decisions §10: at the OIDC endpoints profile and email have a switch, and the id alone is always shared', () =>
    visit(theStage(), { viewport: { width: 390, height: 844 } }, async (page) => {
      const stage = theStage();
      const { server } = stage;
      const user = await newPersonWithAll(stage, 'standard-engines');
      const client = standard(await appClient(stage, { name: 'Acme Notes', owner: 'Acme Ltd' }));
      const scope = 'openid offline_access profile email details phone social';
      await page.goto(requestUrl(stage, client, { scope }));
      await signIn(page, user.username, PASSWORD);
      assert.equal(await page.locator(SWITCHES).count(), 5);
      assert.deepEqual(await outOfSight(page, `${SWITCHES}, ${BUTTONS}`), []);
      assert.equal(await overflowBelow(page), 0);
      const text = await textOf(page.locator('main'));
      assert.match(text, new RegExp(`Always shared Account ID ${user.id}`));
      assert.match(text, /The app stays connected after you sign out here/);
      assert.equal(text.split(`${user.username}@example.com`).length, 2, 'the address stands once');
      await page.getByRole('switch', { name: 'Name, username, picture and language' }).click();
      await press(page.locator('[value=allow]'));
      const tokens = await redeem(server, client, (await answerAt(page, stage)).get('code') ?? '');
      const answer = await fetch(`${server.baseUrl}/oidc/userinfo`, {
        headers: { authorization: `Bearer ${tokens.body.access_token}` },
      });
      const claims = (await answer.json()) as Record<string, unknown>;
      assert.deepEqual(
        [claims['sub'], 'name' in claims, claims['email']],
        [user.id, false, `${user.username}@example.com`],
      );

      await page.goto(requestUrl(stage, client, { scope: `${scope} organization.read` }));
      assert.equal(await page.locator(SWITCHES).count(), 1);
      const already =
        'Already shared Account ID, email address, website, location, birth date, phone number, social links';
      assert.equal(await textOf(page.locator('summary')), already);
      await page.goto(requestUrl(stage, client, { scope: 'openid email' }));
      assert.ok((await answerAt(page, stage)).has('code'), 'within what was decided nothing is asked');
    }));

  test('on the smallest phone both buttons stay in reach, of equal size, and cover nothing that has the focus', () =>
    visit(theStage(), { viewport: { width: 320, height: 640 } }, async (page) => {
      const stage = theStage();
      const user = await newPersonWithAll(stage, 'small-engines');
      await page.goto(requestUrl(stage, await appClient(stage), { scope: ALL }));
      await signIn(page, user.username, PASSWORD);
      assert.ok((await overflowBelow(page)) > 0);
      assert.deepEqual(await outOfSight(page, BUTTONS), []);
      const [deny, allow] = await Promise.all(
        ['deny', 'allow'].map((value) => page.locator(`[value=${value}]`).boundingBox()),
      );
      assert.deepEqual(
        [deny?.y, deny?.height, Math.round(deny?.width ?? 0)],
        [allow?.y, allow?.height, Math.round(allow?.width ?? 1)],
      );
      for (const id of ['email', 'details', 'phone', 'social', 'organization-read']) {
        await page.keyboard.press('Tab');
        while ((await page.locator(`#scope-${id}:focus`).count()) === 0) await page.keyboard.press('Tab');
        assert.deepEqual(await outOfSight(page, `#scope-${id}, ${BUTTONS}`), [], id);
      }
      await page.mouse.wheel(0, 2000);
      assert.deepEqual(await outOfSight(page, BUTTONS), []);
    }));

  for (const javaScriptEnabled of [true, false]) {
    const kind = javaScriptEnabled ? 'with script' : 'without script';
    test(`scopes without a value have no switch, and are allowed unless they were declined before, ${kind}`, () =>
      visit(theStage(), { javaScriptEnabled }, async (page) => {
        const stage = theStage();
        const { server } = stage;
        const user = await newUser(server, { phone: '+905551234567' });
        const client = await appClient(stage);
        const scope = 'openid details phone social';
        const allowed = async (of: TestClient) => {
          await press(page.locator('[value=allow]'));
          const tokens = await redeem(server, of, (await answerAt(page, stage)).get('code') ?? '');
          return tokens.body.access_token as string;
        };
        const seen = async (token: string) => (await userinfo(server, token)).body.user;

        await page.goto(requestUrl(stage, client, { scope }));
        await signIn(page, user.username, PASSWORD);
        assert.equal(await page.locator(SWITCHES).count(), 1);
        const unset = 'Not set, shared if added later: website, location, birth date, social links.';
        assert.ok(await page.getByText(unset).isVisible());
        await page.getByRole('switch', { name: 'Phone' }).click();
        const token = await allowed(client);
        assert.deepEqual([(await seen(token)).location, 'phone' in (await seen(token))], [null, false]);
        const change = await admin(server, 'PATCH', `/users/${user.id}`, { location: 'London', phone: null });
        assert.equal(change.status, 200);
        assert.equal((await seen(token)).location, 'London');

        await page.goto(requestUrl(stage, client, { scope, prompt: 'consent' }));
        assert.equal(await page.locator(SWITCHES).count(), 1);
        assert.ok(await page.getByText('Not set and not shared, as you chose before: phone number.').isVisible());
        const again = await seen(await allowed(client));
        assert.deepEqual(['phone' in again, 'socialLinks' in again, again.location], [false, true, 'London']);
      }));
  }
}
