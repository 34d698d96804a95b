// store: SQLite
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, extname, join } from 'node:path';
import { after, before, test } from 'node:test';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { root } from '../../docs/site/markdown.ts';
import { type RunningChromium, startChromium } from '../browser/chromium.ts';

/** Where the site under test says that it is served. */
const SITE_PATH = '/docs/';
const SCRIPTS =
  /<script defer src="(?:(?:\.\.\/)*|\/docs\/)assets\/(?:script|site|minisearch|search|search-index)\.js"><\/script>/g;
const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html',
  '.css': 'text/css',
  '.js': 'text/javascript',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
};

const output = mkdtempSync(join(tmpdir(), 'tessera-site-'));
let chromium: RunningChromium;
let origin = '';

/** Serves the site as a web server would, with a policy that allows nothing inline and nothing from elsewhere. */
const server = createServer((request, response) => {
  const path = new URL(request.url ?? '', 'http://localhost').pathname;
  const file = files().has(path.slice(SITE_PATH.length)) ? path.slice(SITE_PATH.length) : '404.html';
  response.writeHead(file === '404.html' ? 404 : 200, {
    'content-type': TYPES[extname(file)] ?? 'application/octet-stream',
    'content-security-policy': "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'",
  });
  response.end(readFileSync(join(output, file)));
});

const files = (): ReadonlySet<string> => new Set(globSync('**/*.*', { cwd: output }));

before(async () => {
  const eleventy = join(root, 'node_modules/@11ty/eleventy/cmd.cjs');
  const built = spawnSync(
    process.execPath,
    [eleventy, '--config=docs/site/eleventy.config.ts', `--output=${output}`, '--quiet'],
    { cwd: root, encoding: 'utf8', env: { ...process.env, SITE_PATH } },
  );
  assert.equal(built.status, 0, built.stdout + built.stderr);
  chromium = await startChromium();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
after(async () => {
  await chromium?.close();
  server.close();
  rmSync(output, { recursive: true, force: true });
});

/** Visits the site, and fails where a page breaks the policy or has an error. */
async function visit(options: BrowserContextOptions, work: (page: Page) => Promise<void>): Promise<void> {
  const context = await chromium.browser.newContext(options);
  try {
    const page = await context.newPage();
    const complaints: string[] = [];
    page.on('pageerror', (error) => complaints.push(String(error)));
    page.on('console', (message) => {
      // The browser also notes the status of the page for unknown URLs.
      if (message.type() === 'error' && !message.text().includes('status of 404')) complaints.push(message.text());
    });
    await work(page);
    assert.deepEqual(complaints, []);
  } finally {
    await context.close();
  }
}

test('the site is built, with nothing from elsewhere, and every address on it is there', () => {
  const pages = new Map(
    globSync('**/*.html', { cwd: output }).map((path) => [path, readFileSync(join(output, path), 'utf8')]),
  );
  const all = files();
  assert.ok(pages.size > 40 && pages.has('index.html') && pages.has('reference/design.html'));
  const wrong: string[] = [];
  for (const [page, markup] of pages) {
    assert.doesNotMatch(
      markup.replaceAll(SCRIPTS, ''),
      /<th><\/th>|<script|(?:src|<link[^>]*href)="(?:https?:)?\/\//,
      page,
    );
    for (const [, address = ''] of markup.matchAll(/<[^>]*? (?:href|src|action)="([^"]*)"/g)) {
      if (/^https?:/.test(address)) continue;
      const [path = '', anchor] = address.split('#');
      const there = path.startsWith(SITE_PATH) ? path.slice(SITE_PATH.length) : join(dirname(page), path);
      const file = path === '' ? page : there;
      const isThere = all.has(file) && (anchor === undefined || pages.get(file)?.includes(` id="${anchor}"`));
      if (!isThere) wrong.push(`${page}: ${address}`);
    }
  }
  assert.deepEqual(wrong, []);
});

test('a search from any page finds a heading, marks the words, and can be shared by its address', () =>
  visit({}, async (page) => {
    await page.goto(`${origin}${SITE_PATH}how-to/upgrade.html`);
    await page.press('body', '/');
    await page.keyboard.type('rotating an admin key/');
    assert.equal(await page.inputValue('.find input'), 'rotating an admin key/');
    await page.fill('.find input', 'rotating an admin key');
    await page.click('.find button');
    await page.waitForURL((url) => url.pathname === `${SITE_PATH}search.html`);
    assert.equal(await page.locator('#index').isVisible(), false);
    assert.match((await page.locator('#results').textContent()) ?? '', /\d+ found/);

    await page.fill('.find input', 'RFC 8414 well-known metadata');
    const first = page.locator('#results li').first();
    assert.match((await first.textContent()) ?? '', /Discovery and the key set/);
    assert.ok((await first.locator('mark').count()) > 0);
    await page.reload();
    assert.match((await first.textContent()) ?? '', /Discovery and the key set/);

    await page.fill('.find input', 'Delete an account');
    await page.press('.find input', 'Enter');
    await page.press('#results a:focus', 'Enter');
    await page.waitForURL((url) => url.hash === '#delete-an-account');
  }));

/** What people type, and where the answer is: among the first three results. */
const SEARCHES: readonly (readonly [query: string, answer: string])[] = [
  ['invalid_grant', 'reference/errors.html'],
  ['refresh token', 'reference/tokens.html'],
  ['how do I revoke', 'tutorial/first-sign-in.html#8-revoke-access'],
  ['redirct uri', 'how-to/register-an-app.html'],
  ['how do I ban somebody', 'how-to/look-after-people.html#ban-and-suspend'],
  ['forgot password', 'how-to/look-after-people.html#replace-a-forgotten-password'],
  ['lost admin key', 'how-to/look-after-people.html#replace-a-lost-admin-key'],
  ['backup postgres', 'how-to/back-up-and-restore.html'],
  ['grafana', 'how-to/other-clients.html#grafana'],
  ['DATABASE_URL', 'how-to/install.html'],
  ['If-Match', 'reference/admin-api.html#versions'],
  ['docker', 'how-to/containers.html'],
];

test('the first results of a search are what its reader looks for', () =>
  visit({}, async (page) => {
    await page.goto(`${origin}${SITE_PATH}search.html`);
    for (const [query, answer] of SEARCHES) {
      await page.fill('.find input', query);
      const links = await page.locator('#results li > a').all();
      const found = await Promise.all(links.slice(0, 3).map((link) => link.getAttribute('href')));
      assert.ok(
        found.some((address) => address?.startsWith(answer)),
        `${query}: ${found.join(', ')}`,
      );
    }
  }));

test('on a phone a table shows every column, each with its name', () =>
  visit({ viewport: { width: 390, height: 844 } }, async (page) => {
    await page.goto(`${origin}${SITE_PATH}reference/configuration.html`);
    const meaning = page.locator('td[data-column="Meaning"]').first();
    const box = await meaning.boundingBox();
    assert.ok(box !== null && box.x >= 0 && box.x + box.width <= 390);
    assert.equal(await page.locator('th').first().isVisible(), false);
  }));

test('a search for what is nowhere says so, and markup in a query stays text', () =>
  visit({}, async (page) => {
    await page.goto(`${origin}${SITE_PATH}search.html?q=${encodeURIComponent('<img src=x>qqqzzz')}`);
    assert.match((await page.locator('#results').textContent()) ?? '', /Nothing found|found/);
    assert.equal(await page.locator('#results img').count(), 0);
    await page.fill('.find input', 'qqqzzz');
    assert.match((await page.locator('#results').textContent()) ?? '', /Nothing found/);
  }));

test('without a script the search page is an index of every page and heading, and no button is dead', () =>
  visit({ javaScriptEnabled: false }, async (page) => {
    await page.goto(`${origin}${SITE_PATH}search.html?q=upgrade`);
    assert.ok(await page.locator('#index a[href="reference/discovery.html"]').isVisible());
    assert.ok(await page.locator('#index a[href="how-to/look-after-people.html#delete-an-account"]').isVisible());
    await page.goto(`${origin}${SITE_PATH}tutorial/first-sign-in.html`);
    assert.equal(await page.locator('.code button:visible').count(), 0);
  }));

test('the button on a code block copies exactly its text', () =>
  visit({ permissions: ['clipboard-read', 'clipboard-write'] }, async (page) => {
    await page.goto(`${origin}${SITE_PATH}how-to/upgrade.html`);
    const block = page.locator('.code').first();
    await block.locator('button').click();
    await block.getByText('Copied').waitFor();
    const copied = await page.evaluate<string>('navigator.clipboard.readText()');
    assert.equal(copied, await block.locator('code').textContent());
    assert.match(copied, /^npx tessera migrate --dry-run/);
  }));

test('the page for unknown URLs works at any depth', () =>
  visit({}, async (page) => {
    const response = await page.goto(`${origin}${SITE_PATH}how-to/deep/er/nowhere.html`);
    assert.equal(response?.status(), 404);
    assert.match((await page.locator('h1').textContent()) ?? '', /no such page/);
    await page.fill('.find input', 'upgrade');
    await page.click('.find button');
    await page.locator('#results li').first().waitFor();
    await page.goBack();
    await page.getByRole('link', { name: 'contents' }).click();
    await page.waitForURL((url) => url.pathname === `${SITE_PATH}index.html`);
  }));
