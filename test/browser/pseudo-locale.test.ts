// store: SQLite
/*
 * The pages of people in a language with longer words, at 320 px: no text is left out of the catalogue, and none is cut. The catalogue is
 * replaced in this process before a server starts, so this is a file of its own.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { mailTexts } from '../../src/mail/messages.ts';
import { renderMail } from '../../src/mail/rules/render.ts';
import { en } from '../../src/pages/messages.ts';
import { connectTexts } from '../../src/web/account/security/upstream-messages.ts';
import { mailboxMessages } from '../../src/web/mailbox/messages.ts';
import { invitationTexts } from '../../src/web/sign-in/invitation-messages.ts';
import { signUpTexts } from '../../src/web/sign-in/sign-up-messages.ts';
import { upstreamTexts } from '../../src/web/upstreams/messages.ts';
import { agent } from '../support/agent.ts';
import { admin, authorizeUrl, newClient, newUser, PASSWORD, tokensFor } from '../support/flow.ts';
import { accentCatalogue } from '../support/pseudo-locale.ts';
import { overflow } from './in-page.ts';
import { openStage, openStageIn, type Stage, signIn, submit, visit } from './stage.ts';

accentCatalogue(en, ['language', 'product']);
for (const catalogue of [signUpTexts, invitationTexts, connectTexts, upstreamTexts, mailboxMessages])
  accentCatalogue(catalogue);

let stage: Stage;
before(async () => {
  stage = await openStage();
});
after(() => stage.close());

/**
 * The texts of a page, without what is no text of ours: names, addresses, times, codes, languages in their own name, what is marked as
 * English because it is so on the command line as well, and what developers read of an error.
 */
const TEXTS_OF_PAGE = `
  const body = document.body.cloneNode(true);
  const others = 'bdi, time, code, pre, script, style, svg, option, .figures, [lang=en], .technical dd';
  for (const part of body.querySelectorAll(others)) part.remove();
  const texts = [...body.querySelectorAll('[aria-label], [placeholder], [alt], [title]')].flatMap((part) =>
    ['aria-label', 'placeholder', 'alt', 'title'].map((name) => part.getAttribute(name) ?? ''));
  const walker = document.createTreeWalker(body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) texts.push(walker.currentNode.data);
  return texts.map((text) => text.trim());
`;

/** The texts of a page that are plain ASCII: what is in the catalogue is accented. */
async function plainTexts(page: Page, values: readonly string[]): Promise<string[]> {
  const texts = await page.evaluate<string[]>(`(() => { ${TEXTS_OF_PAGE} })()`);
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

const SMALLEST = { viewport: { width: 320, height: 640 } };

/** Looks at pages, and says what of them is no text of the catalogue, or is cut. */
async function faultsOf(
  page: Page,
  baseUrl: string,
  paths: readonly string[],
  values: readonly string[],
): Promise<string[]> {
  const faults: string[] = [];
  for (const path of paths) {
    await page.goto(baseUrl + path);
    if ((await overflow(page)) > 0) faults.push(`${path} scrolls sideways`);
    for (const text of await plainTexts(page, values)) faults.push(`${path}: ${text}`);
  }
  return faults;
}

test('every page of the console has its texts from the catalogue, and none is cut at 320 px', async () => {
  const consoleStage = await openStageIn(stage.browser, {
    TESSERA_CONSOLE_SECOND_FACTOR: 'off',
    TESSERA_MAILBOX: 'on',
  });
  const { server } = consoleStage;
  try {
    const owner = await newUser(server, { displayName: 'Ada', emailVerified: true });
    await admin(server, 'PUT', `/users/${owner.id}/roles/owner`, {});
    const client = await newClient(server, { name: 'Notes' });
    const { body } = await admin(server, 'POST', '/organizations', { name: 'guild', domain: 'guild.example' });
    // Nobody offboards themselves.
    const other = await newUser(server, { displayName: 'Ada' });
    const acts = ['ban', 'suspend', 'correct'].map((act) => `/console/people/${act}?id=${owner.id}`);
    acts.push(`/console/people/offboard?id=${other.id}`);
    const paths = [
      ...['overview', 'people', 'groups', 'organizations', 'apps', 'operators', 'explain', 'events', 'system', 'keys'],
      ...['invitations', 'people/bulk', 'apps/new', 'keys/new', 'organizations/create', 'invitations/new'],
      ...['people/export', 'events/export'],
      ...[`people/${owner.id}`, `apps/${client.clientId}`, `organizations/${body.id}`],
    ].map((path) => `/console/${path}`);
    await visit(consoleStage, SMALLEST, async (page) => {
      await page.goto(`${server.baseUrl}/login`);
      await signIn(page, owner.username, PASSWORD);
      const values = ['Ada', 'Notes', 'guild', 'guild.example', owner.username, `${owner.username}@example.com`].concat(
        other.username,
        'Chrome, Linux, 127.0.0.x',
      );
      assert.deepEqual(await faultsOf(page, server.baseUrl, [...paths, ...acts], values), []);
    });
  } finally {
    await consoleStage.close();
  }
});

test('every page that refuses has its texts from the catalogue, and none is cut at 320 px', async () => {
  const { server } = stage;
  const client = await newClient(server, { name: 'Notes' });
  const paths = [
    ...['/nothing-here', '/api/v2/oauth/authorize', '/api/v2/oauth/authorize?client_id=1', '/login?request=unknown'],
    ...[
      '/invitation?link=unknown',
      '/recover/link?token=unknown',
      '/verify?token=unknown',
      '/secure-account?token=unknown',
    ],
    ...['/device', '/oidc/logout?id_token_hint=unknown', '/signup/verify'],
    authorizeUrl({ ...client, redirectUri: 'https://elsewhere.example/callback' }),
  ];
  await visit(stage, SMALLEST, async (page) => {
    assert.deepEqual(await faultsOf(page, server.baseUrl, paths, ['Notes']), []);
  });
});

test('no message is cut at 320 px, however long the names in it are', async () => {
  const long = 'W'.repeat(64);
  const url = `https://id.example.com/secure-account?token=${long}`;
  const facts = [['Where', `Firefox on Linux, ${long}`]] as const;
  const happened = { username: long, subject: `Added: ${long}`, sentences: [`This was added: “${long}”.`], facts };
  const { notices, recovery } = mailTexts;
  const messages = [
    notices.toAccount({ ...happened, isByOperator: false, asksMore: false, url }),
    notices.newAddress({
      username: long,
      previous: `${long}@example.com`,
      email: `${long}@${long}.example`,
      undone: [],
    }),
    recovery.recover({ username: long, host: `${long}.example`, from: long, code: '123456', url }),
  ];
  await visit(stage, SMALLEST, async (page) => {
    for (const content of messages) {
      for (const language of ['en', 'ar']) {
        await page.setContent(renderMail({ ...content, language }, { host: `${long}.example` }).html);
        assert.equal(await overflow(page), 0, `${content.subject} in ${language}`);
      }
    }
  });
});
