import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { admin, newUser, PASSWORD, type TestUser } from '../../support/flow.ts';
import { plugIn } from '../authenticator.ts';
import { violations } from '../in-page.ts';
import { press, type Stage, signIn, textOf, visit } from '../stage.ts';

/** The line that the script writes into the form. */
const line = (page: Page) => page.locator('[data-line]').filter({ hasText: /./ }).first();

async function newPerson({ server }: Stage, page: Page): Promise<TestUser> {
  const user = await newUser(server);
  await page.goto(`${server.baseUrl}/login`);
  await signIn(page, user.username, PASSWORD);
  return user;
}

async function addPasskey({ server }: Stage, page: Page): Promise<void> {
  await page.goto(`${server.baseUrl}/account/security?row=passkeys`);
  await press(page.getByRole('button', { name: 'Add a passkey' }));
}

async function signOut(page: Page): Promise<void> {
  await press(page.getByRole('button', { name: 'Sign out', exact: true }));
}

const useButton = (page: Page) => page.getByRole('button', { name: 'Sign in with a passkey' });

export function passkeyCases(theStage: () => Stage): void {
  for (const transport of ['internal', 'usb'] as const) {
    test(`a passkey (${transport}) is added, signs in, is renamed and removed`, async () => {
      const stage = theStage();
      await visit(stage, {}, async (page) => {
        const authenticator = await plugIn(page, { transport });
        await newPerson(stage, page);
        await addPasskey(stage, page);
        assert.match(await textOf(page.locator('.notice.done')), /is added/);
        assert.equal((await authenticator.credentials()).length, 1);
        await signOut(page);
        // A person who is there picks the passkey of this device from the autofill; that of a key needs the button.
        if (transport === 'usb') await press(useButton(page));
        await page.waitForURL('**/account');
        await page.goto(`${stage.server.baseUrl}/account/security?row=passkeys`);
        assert.doesNotMatch(await textOf(page.locator('#passkeys')), /Not yet/);
        await page.locator('#passkeys article summary').first().click();
        assert.deepEqual(await violations(page), []);
        await page.fill('#passkeys [name=name]', 'My laptop');
        await press(page.getByRole('button', { name: /^Rename/ }));
        assert.match(await textOf(page.locator('#passkeys h3')), /My laptop/);
        await page.locator('#passkeys article .confirm summary').click();
        assert.match(
          await textOf(page.locator('#passkeys .confirm').first()),
          /My laptop no longer signs you in.*Your password/s,
        );
        await press(page.getByRole('button', { name: 'Yes, remove the passkey My laptop' }));
        assert.match(await textOf(page.locator('#passkeys')), /no passkeys yet/);
      });
    });
  }

  test('a prompt that is cancelled leads back to the form, with a calm line', async () => {
    const stage = theStage();
    await visit(stage, {}, async (page) => {
      const authenticator = await plugIn(page, { transport: 'usb' });
      const user = await newPerson(stage, page);
      await authenticator.answer(false);
      await page.goto(`${stage.server.baseUrl}/account/security?row=passkeys`);
      await page.getByRole('button', { name: 'Add a passkey' }).click();
      await line(page).waitFor();
      assert.match(await textOf(line(page)), /No passkey was created/);
      await authenticator.answer(true);
      await press(page.getByRole('button', { name: 'Add a passkey' }));
      await signOut(page);
      await authenticator.answer(false);
      await useButton(page).click();
      await line(page).waitFor();
      assert.match(await textOf(line(page)), /No passkey was used/);
      assert.deepEqual(await violations(page), []);
      await signIn(page, user.username, PASSWORD);
      await page.waitForURL('**/account');
    });
  });

  test('an authenticator that does not verify the person is refused with words', async () => {
    const stage = theStage();
    await visit(stage, {}, async (page) => {
      const authenticator = await plugIn(page, { transport: 'usb', hasUserVerification: false, isUserVerified: false });
      await newPerson(stage, page);
      await page.goto(`${stage.server.baseUrl}/account/security?row=passkeys`);
      await page.getByRole('button', { name: 'Add a passkey' }).click();
      await line(page).waitFor();
      assert.match(await textOf(line(page)), /No passkey was created|could not create/);
      assert.equal((await authenticator.credentials()).length, 0);
    });
  });

  test('a copied passkey signs in and is recorded; two browsers sign in at once', async () => {
    const stage = theStage();
    await visit(stage, {}, async (page) => {
      const authenticator = await plugIn(page, { transport: 'usb' });
      const { id } = await newPerson(stage, page);
      await addPasskey(stage, page);
      const copy = await authenticator.exported();
      await signOut(page);
      await press(useButton(page));
      await page.waitForURL('**/account');
      await visit(stage, {}, async (other) => {
        await (await plugIn(other, { transport: 'usb' })).import(copy);
        await other.goto(`${stage.server.baseUrl}/login`);
        await signOut(page);
        await Promise.all([press(useButton(page)), press(useButton(other))]);
        await Promise.all([page.waitForURL('**/account'), other.waitForURL('**/account')]);
      });
      const events = await admin(stage.server, 'GET', `/audit-events?userId=${id}&type=passkey.counter_went_back`);
      assert.ok(events.body.items.length > 0);
    });
  });

  test('a passkey that was removed here is named, and the password still works', async () => {
    const stage = theStage();
    await visit(stage, {}, async (page) => {
      const authenticator = await plugIn(page, { transport: 'usb' });
      const user = await newPerson(stage, page);
      await addPasskey(stage, page);
      const kept = await authenticator.exported();
      await page.locator('#passkeys article .confirm summary').click();
      await press(page.getByRole('button', { name: /^Yes, remove the passkey/ }));
      if ((await authenticator.credentials()).length === 0) await authenticator.import(kept);
      await signOut(page);
      await press(useButton(page));
      assert.match(await textOf(page.locator('.notice.problem')), /no longer set up/);
      await signIn(page, user.username, PASSWORD);
      await page.waitForURL('**/account');
    });
  });

  test('the account offers a passkey after a sign-in by password, where the device can keep one', async () => {
    const stage = theStage();
    await visit(stage, {}, async (page) => {
      await plugIn(page, { transport: 'internal' });
      await newPerson(stage, page);
      await page.waitForURL('**/account');
      const offer = page.locator('#passkey-offer');
      await offer.waitFor();
      assert.deepEqual(await violations(page), []);
      await press(offer.getByRole('button', { name: 'Add a passkey' }));
      assert.match(await textOf(page.locator('#passkeys')), /Not yet/);
      await page.goto(`${stage.server.baseUrl}/account`);
      assert.equal(await offer.count(), 0);
    });
  });

  test('without any authenticator nothing prompts and nothing fails', async () => {
    const stage = theStage();
    await visit(stage, {}, async (page) => {
      await newPerson(stage, page);
      await page.waitForURL('**/account');
    });
  });
}
