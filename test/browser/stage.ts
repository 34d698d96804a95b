import assert from 'node:assert/strict';
import type { Browser, BrowserContextOptions, Locator, Page } from 'playwright-core';
import { authorizeUrl, newClient, type TestClient } from '../support/flow.ts';
import { startServer, type TestServer } from '../support/server.ts';
import { startChromium } from './chromium.ts';
import { type ClientApp, startClientApp } from './client-app.ts';

/** A server, an app and a browser. */
export interface Stage {
  readonly server: TestServer;
  readonly app: ClientApp;
  readonly browser: Browser;
  close(): Promise<void>;
}

export async function openStage(): Promise<Stage> {
  const chromium = await startChromium();
  const stage = await openStageIn(chromium.browser);
  return {
    ...stage,
    async close() {
      await chromium.close();
      await stage.close();
    },
  };
}

/** A server and an app of their own, in a browser that is open already. */
export async function openStageIn(browser: Browser, settings: Readonly<Record<string, string>> = {}): Promise<Stage> {
  const [server, app] = await Promise.all([startServer(settings), startClientApp()]);
  return {
    server,
    app,
    browser,
    async close() {
      await Promise.all([server.close(), app.close()]);
    },
  };
}

/** A client whose redirect URI is the app's. */
export const appClient = (
  { server, app }: Stage,
  fields: Readonly<Record<string, unknown>> = {},
): Promise<TestClient> => newClient(server, { redirectUris: [app.redirectUri], ...fields });

/** The full address of an authorization request. */
export const requestUrl = (
  { server }: Stage,
  client: TestClient,
  parameters: Readonly<Record<string, string>>,
): string => server.baseUrl + authorizeUrl(client, parameters);

/** How long each step waits for what it looks for, in milliseconds: what is not there fails its own case, and no other. */
const PATIENCE = 30_000;

/**
 * Runs a visit in a browser context of its own, and fails where the pages asked for anything from elsewhere, broke their
 * own policy, or logged an error.
 */
export async function visit(
  stage: Stage,
  options: BrowserContextOptions,
  work: (page: Page) => Promise<void>,
): Promise<void> {
  const context = await stage.browser.newContext({ viewport: { width: 1000, height: 720 }, ...options });
  try {
    const page = await context.newPage();
    page.setDefaultTimeout(PATIENCE);
    const complaints = watch(page, stage);
    try {
      await work(page);
    } catch (error) {
      const text = await page.locator('body').textContent().catch(String);
      throw new Error(`at ${page.url()}: ${text?.replaceAll(/\s+/g, ' ')} [${complaints.join(', ')}]`, {
        cause: error,
      });
    }
    assert.deepEqual(complaints, []);
  } finally {
    await context.close();
  }
}

function watch(page: Page, { server, app }: Stage): readonly string[] {
  const complaints: string[] = [];
  const refused = new Set<string>();
  const { origin } = new URL(server.baseUrl);
  page.on('request', (request) => {
    const url = new URL(request.url());
    const expected =
      url.origin === origin || (url.origin === app.origin && request.isNavigationRequest()) || url.href === 'data:,';
    if (!expected) complaints.push(`request to ${url.href}`);
  });
  page.on('response', (response) => {
    // The script of the console fetches the pages that the browser would load.
    const isPage = response.request().isNavigationRequest() || /\/console(\/|$)/.test(new URL(response.url()).pathname);
    if (isPage && response.status() >= 400) refused.add(response.url());
  });
  page.on('console', (message) => {
    // A page that answers with an error status is noted by the browser; that is no error of the page.
    const status = message.text().startsWith('Failed to load resource') && refused.has(message.location().url);
    if (['error', 'warning'].includes(message.type()) && !status) complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('dialog', (dialog) => {
    complaints.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  return complaints;
}

/** Presses what leads to another document, and waits until that one is there. */
export async function press(target: Locator): Promise<void> {
  // Waits longer than the press, so that what could not be pressed is what the failure names.
  const loaded = target.page().waitForEvent('load', { timeout: 2 * PATIENCE });
  await Promise.all([loaded, target.click()]);
}

/** Presses what shows another page of the console, and waits until it is there, with and without the script. */
export async function pressInConsole(target: Locator): Promise<void> {
  const page = target.page();
  await page.locator('.stack').evaluate((stack) => stack.setAttribute('data-before', ''));
  await target.click();
  await page.locator('.stack:not([data-before])').waitFor();
  await page.waitForLoadState('load');
}

/** Sends the form of the page. */
export const submit = (page: Page): Promise<void> => press(page.locator('main button.primary').first());

export async function signIn(page: Page, username: string, password: string): Promise<void> {
  await page.fill('#identifier', username);
  await page.fill('#password', password);
  await submit(page);
}

/** Waits until this has the focus. */
export const focusAt = (page: Page, selector: string): Promise<void> => page.locator(`${selector}:focus`).waitFor();

/** The last answer that reached the app, once the browser is there. */
export async function answerAt(page: Page, { app }: Stage): Promise<URLSearchParams> {
  await page.waitForURL((url) => url.href.startsWith(app.redirectUri));
  const answer = app.answers.at(-1);
  assert.ok(answer !== undefined);
  return answer;
}

export const textOf = async (locator: Locator): Promise<string> => (await locator.textContent()) ?? '';
