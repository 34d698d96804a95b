/** A mail scanner with a real browser, scripts included, opens every link that it finds: nothing changes. */
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { after, test } from 'node:test';
import type { BrowserContextOptions } from 'playwright-core';
import { admin, newUser, PASSWORD, signedIn } from '../support/flow.ts';
import { mailsTo } from '../support/mail.ts';
import { startServer } from '../support/server.ts';
import { startChromium } from './chromium.ts';

const [server, chromium] = await Promise.all([
  startServer({ TESSERA_MAILBOX: 'on', TESSERA_LIMIT_MAIL_ADDRESS: 'off' }),
  startChromium(),
]);
after(async () => {
  await chromium.close();
  await server.close();
});

/** A folder for pictures of the pages, if one is wanted. */
const PICTURES = process.env['TESSERA_TEST_PICTURES'];
const LOOKS: Readonly<Record<string, BrowserContextOptions>> = {
  light: { colorScheme: 'light' },
  ...(PICTURES !== undefined && { dark: { colorScheme: 'dark' }, phone: { viewport: { width: 390, height: 844 } } }),
};

test('opening the links of every message changes nothing', async () => {
  const user = await newUser(server, { emailVerified: true });
  const browser = await signedIn(server, user);
  server.advance(3_600_000);
  const email = async () => (await admin(server, 'GET', `/users/${user.id}`)).body.email;
  const before = await email();
  const ask = async (address: string) => {
    const confirm = await browser.get('/account/confirm?next=email');
    if (confirm.status === 200) await browser.submit(confirm, { current: PASSWORD }, '/account/confirm');
    return browser.submit(await browser.get('/account/email'), { email: address }, '/account/email');
  };
  assert.equal((await ask('first@example.com')).status, 200);
  const [first] = await mailsTo(server, 'first@example.com');
  assert.equal((await browser.submit(await browser.get(first?.link ?? ''), {})).status, 200);
  await signedIn(server, user);
  assert.equal((await ask('second@example.com')).status, 200);
  const addresses = [before, 'first@example.com', 'second@example.com'];
  const links = (await Promise.all(addresses.map((address) => mailsTo(server, address))))
    .flat()
    .flatMap(({ link }) => link ?? []);
  const paths = new Set(links.map((link) => new URL(link).pathname));
  assert.deepEqual([...paths].sort(), ['/secure-account', '/undo-address-change', '/verify']);

  for (const [look, options] of Object.entries(LOOKS)) {
    const context = await chromium.browser.newContext(options);
    try {
      const page = await context.newPage();
      for (const link of links) {
        await page.goto(link, { waitUntil: 'networkidle' });
        if (PICTURES === undefined) continue;
        mkdirSync(PICTURES, { recursive: true });
        await page.screenshot({ path: `${PICTURES}/${new URL(link).pathname.slice(1)}-${look}.png`, fullPage: true });
      }
      if (PICTURES !== undefined) {
        const url = server.baseUrl;
        const cookies = ['tessera_browser', 'tessera_session'].map((name) => ({
          name,
          value: browser.cookie(name) ?? '',
          url,
        }));
        await context.addCookies(cookies);
        await page.goto(`${url}/account/email`);
        await page.screenshot({ path: `${PICTURES}/account-email-${look}.png`, fullPage: true });
        const waiting = links.find((link) => link.includes('/verify') && link !== first?.link) ?? '';
        await page.goto(waiting);
        await page.screenshot({ path: `${PICTURES}/verify-own-${look}.png`, fullPage: true });
      }
    } finally {
      await context.close();
    }
  }
  assert.equal(await email(), 'first@example.com');
  assert.equal((await browser.get('/account')).status, 200);
});
