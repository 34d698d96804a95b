import assert from 'node:assert/strict';
import { test } from 'node:test';
import { agent } from '../../support/agent.ts';
import { admin, newUser, PASSWORD, signedIn } from '../../support/flow.ts';
import { mailsTo } from '../../support/mail.ts';
import { askRecovery } from '../../support/recovery.ts';
import { openMailStage } from '../people-pages.ts';
import { type Stage, visit } from '../stage.ts';

/** A mail scanner with a real browser, scripts included, opens every link that it finds. */
export function scannerCases(theStage: () => Stage): void {
  test('opening the links of every message changes nothing', async () => {
    const stage = await openMailStage(theStage().browser);
    try {
      await scan(stage);
    } finally {
      await stage.close();
    }
  });
}

async function scan(stage: Stage): Promise<void> {
  const { server } = stage;
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
  await askRecovery(server, agent(server.baseUrl), user.username);
  assert.equal((await admin(server, 'POST', '/invitations', { email: 'guest@example.com' })).status, 201);
  const addresses = [before, 'first@example.com', 'second@example.com', 'guest@example.com'];
  const links = (await Promise.all(addresses.map((address) => mailsTo(server, address))))
    .flat()
    .flatMap(({ link }) => link ?? []);
  const paths = new Set(links.map((link) => new URL(link).pathname));
  assert.deepEqual([...paths].sort(), [
    '/invitation',
    '/recover/link',
    '/secure-account',
    '/undo-address-change',
    '/verify',
  ]);

  await visit(stage, {}, async (page) => {
    for (const link of links) await page.goto(link);
  });
  assert.equal(await email(), 'first@example.com');
  assert.equal((await browser.get('/account')).status, 200);
  for (const path of ['/invitation', '/recover/link', '/secure-account', '/undo-address-change']) {
    const link = links.find((it) => new URL(it).pathname === path) ?? '';
    assert.equal((await agent(server.baseUrl).get(link)).status, 200, `${path} still works`);
  }
}
