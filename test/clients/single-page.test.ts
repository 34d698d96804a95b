// store: SQLite
/*
 * oidc-client-ts as a public client in a real Chromium: the example's page, on an origin of its own, reads discovery, the
 * token endpoint and UserInfo across origins, as a browser allows.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { MINUTE } from '../../src/platform/clock.ts';
import { type RunningChromium, startChromium } from '../browser/chromium.ts';
import { press, signIn } from '../browser/stage.ts';
import { newUser, PASSWORD, revokeOnPage, signedIn, type TestUser, userinfo } from '../support/flow.ts';
import { startServer, type TestServer } from '../support/server.ts';
import { type RunningExample, startExample } from './example.ts';

let server: TestServer;
let example: RunningExample;
let chromium: RunningChromium;
before(async () => {
  [server, chromium] = await Promise.all([startServer({ TESSERA_KEY_ROTATION: 'off' }), startChromium()]);
  // The page runs by the real clock.
  server.advance(Date.now() - server.now());
  const fields = { type: 'public' };
  example = await startExample(server, 'oidc-client-ts/server.js', { callback: '/callback', fields });
});
after(async () => {
  await chromium?.close();
  await example?.close();
  await server?.close();
});

/** What the library keeps. */
interface Kept {
  readonly access_token: string;
  readonly refresh_token: string;
  readonly id_token: string;
  readonly profile: Readonly<Record<string, unknown>>;
}

const kept = async (page: Page): Promise<Kept | undefined> => {
  const text = await page.evaluate<string>(
    `Object.entries(sessionStorage).find(([name]) => name.startsWith('oidc.user:'))?.[1] ?? ''`,
  );
  return text === '' ? undefined : JSON.parse(text);
};

/**
 * A person at the app in a browser of their own; what the page or the browser complains of fails the test.
 * @param refused whether the issuer refuses something, which a browser notes by itself
 */
async function visit(work: (page: Page, user: TestUser) => Promise<void>, refused = false): Promise<void> {
  const user = await newUser(server, { emailVerified: true });
  const context = await chromium.browser.newContext();
  const complaints: string[] = [];
  try {
    const page = await context.newPage();
    page.setDefaultTimeout(20_000);
    page.on('console', (message) => {
      if (refused && /the server responded with a status of 40[01]/.test(message.text())) return;
      if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
    });
    page.on('pageerror', (error) => complaints.push(String(error)));
    await page.clock.install({ time: server.now() });
    await page.goto(example.origin);
    await work(page, user).catch((error: unknown) => {
      throw new Error(`at ${page.url()}: ${complaints.join(', ')}`, { cause: error });
    });
    assert.deepEqual(complaints, []);
  } finally {
    await context.close();
  }
}

async function enter(page: Page, user: TestUser): Promise<void> {
  await press(page.locator('#sign-in'));
  await signIn(page, user.username, PASSWORD);
  await page.locator('[value=allow]').click();
  await page.locator('#sign-out').waitFor();
}

test('oidc-client-ts signs in, and completes the profile from UserInfo', () =>
  visit(async (page, user) => {
    await enter(page, user);
    assert.equal(page.url(), `${example.origin}/`);
    const profile = JSON.parse((await page.locator('#profile').textContent()) ?? '');
    assert.deepEqual(
      [profile.sub, profile.preferred_username, profile.email, profile.email_verified],
      [user.id, user.username, `${user.username}@example.com`, true],
    );
    // In the tab alone: a reload finds it again.
    await page.reload();
    await page.locator('#sign-out').waitFor();
  }));

/** Time passes until the library's renewal is due, a minute before the access token ends. */
async function renewalIsDue(page: Page): Promise<void> {
  const almost = 29.5 * MINUTE;
  server.advance(almost);
  await page.clock.fastForward(almost);
}

test('oidc-client-ts renews its tokens with the refresh token, before the access token ends', () =>
  visit(async (page, user) => {
    await enter(page, user);
    let before = await kept(page);
    for (let time = 1; time <= 2; time++) {
      assert.ok(before !== undefined);
      const answered = page.waitForResponse((response) => response.url().endsWith('/oidc/token'));
      await renewalIsDue(page);
      assert.equal((await answered).status(), 200);
      let renewed = await kept(page);
      // The answer is there; the page has yet to read it.
      while (renewed?.access_token === before.access_token) renewed = await kept(page);
      assert.ok(renewed !== undefined && renewed.refresh_token !== before.refresh_token);
      assert.equal(renewed.profile['sub'], user.id);
      server.advance(MINUTE);
      assert.equal((await userinfo(server, before.access_token, '/oidc/userinfo')).status, 401);
      assert.equal((await userinfo(server, renewed.access_token, '/oidc/userinfo')).body.sub, user.id);
      before = renewed;
    }
  }));

test('the page forgets its tokens where the person takes the access away', () =>
  visit(async (page, user) => {
    await enter(page, user);
    await revokeOnPage(await signedIn(server, user), example.client);
    await renewalIsDue(page);
    await page.locator('#sign-in').waitFor();
    assert.equal(await kept(page), undefined);
  }, true));

test('oidc-client-ts signs out, at the issuer as well', () =>
  visit(async (page, user) => {
    await enter(page, user);
    await page.locator('#sign-out').click();
    await page.locator('#sign-in').waitFor();
    assert.equal(page.url(), `${example.origin}/`);
    assert.equal(await kept(page), undefined);
    // The next user has to sign in.
    await press(page.locator('#sign-in'));
    await page.locator('#identifier').waitFor();
  }));

test('the page says so where the person denies', () =>
  visit(async (page, user) => {
    await press(page.locator('#sign-in'));
    await signIn(page, user.username, PASSWORD);
    const told = page.waitForEvent('dialog');
    // The click is over only when the dialog is.
    const clicked = page.locator('[value=deny]').click();
    const dialog = await told;
    assert.equal(dialog.message(), 'User denied the request');
    await dialog.accept();
    await clicked;
    await page.locator('#sign-in').waitFor();
    assert.equal(await kept(page), undefined);
  }));
