// store: SQLite
/*
 * The pages of people in a language with longer words, at 320 px: no text is left out of the catalogue, and none is cut. The catalogue is
 * replaced in this process before a server starts, so this is a file of its own.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { en } from '../../src/pages/messages.ts';
import { agent } from '../support/agent.ts';
import { admin, authorizeUrl, newClient, newUser, PASSWORD, tokensFor } from '../support/flow.ts';
import { accentCatalogue } from '../support/pseudo-locale.ts';
import { overflow } from './in-page.ts';
import { openStage, type Stage, signIn, submit, visit } from './stage.ts';

accentCatalogue(en, ['language', 'product']);

let stage: Stage;
before(async () => {
  stage = await openStage();
});
after(() => stage.close());

/** What a page shows that is no text of ours: names, addresses, times, codes, and languages in their own name. */
const VALUES = /<(bdi|time|code|script|style|svg|option|head)\b[^>]*>.*?<\/\1>/gs;

/** The texts of a page that are plain ASCII: what is in the catalogue is accented. */
async function plainTexts(page: Page, values: readonly string[]): Promise<string[]> {
  const content = (await page.content()).replaceAll(VALUES, ' ');
  const labels = [...content.matchAll(/(?:aria-label|placeholder|alt|title)="([^"]+)"/g)].map(([, text]) => text ?? '');
  const texts = [...content.replaceAll(/<[^>]+>/g, '\n').split('\n'), ...labels].map((text) => text.trim());
  const known = new Set(['Tessera', ...values]);
  // A name stands beside its accented text, or alone.
  const isPlain = (text: string) => /^[\x20-\x7e]*[A-Za-z]{2,}[\x20-\x7e]*$/.test(text) && !known.has(text);
  return texts.filter(isPlain);
}

test('every page of a person has its texts from the catalogue, and none is cut at 320 px', async () => {
  const { server } = stage;
  const user = await newUser(server, {
    displayName: 'Ada',
    emailVerified: true,
    phone: '+905551234567',
    website: 'https://a.example',
  });
  const client = await newClient(server, { name: 'Notes' });
  await tokensFor(server, client, user, { scope: 'openid email phone' });
  const { body } = await admin(server, 'POST', '/organizations', { name: 'guild', domain: 'guild.example' });
  await admin(server, 'PUT', `/organizations/${body.id}/members/${user.id}`, { role: 'ADMIN' });
  const elsewhere = agent(server.baseUrl);
  await elsewhere.submit(await elsewhere.get('/login'), { identifier: user.username, password: PASSWORD });
  const values = [
    'Ada',
    'Notes',
    'guild',
    'guild.example',
    user.username,
    `${user.username}@example.com`,
    'https://a.example',
    '127.0.0.x',
    'app.example.com',
    'English',
  ];
  const faults: string[] = [];
  await visit(stage, { viewport: { width: 320, height: 640 } }, async (page) => {
    page.setDefaultTimeout(20_000);
    const look = async (name: string) => {
      if ((await overflow(page)) > 0) faults.push(`${name} scrolls sideways`);
      for (const text of await plainTexts(page, values)) faults.push(`${name}: ${text}`);
    };
    const open = async (path: string) => {
      await page.goto(server.baseUrl + path);
      await look(path);
    };
    for (const path of ['/login', '/signup', '/recover']) await open(path);
    await page.goto(`${server.baseUrl}/login`);
    await submit(page);
    await look('/login, empty');
    await signIn(page, user.username, PASSWORD);
    const rows = ['change-picture', 'change-name', 'change-username', 'appearance', 'change-phone', 'details', 'links'];
    for (const row of [...rows, 'account-id']) await open(`/account?row=${row}`);
    for (const row of ['change-password', 'passkeys', 'two-step', 'recovery', 'sign-out-everywhere']) {
      await open(`/account/security?row=${row}`);
    }
    await open('/account/organization');
    await open('/account/email');
    await open('/account/activity');
    await open('/account/sessions');
    await open('/account/connections');
    await open(`/account/connections/${client.clientId}`);
    await open('/account/data?row=deletion');
    await open('/account/data/export');
    await open(
      new URL(authorizeUrl(client, { scope: 'openid details', prompt: 'consent' }), server.baseUrl).href.slice(
        server.baseUrl.length,
      ),
    );
  });
  assert.deepEqual(faults, []);
});
