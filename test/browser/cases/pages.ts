import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CDPSession, Page } from 'playwright-core';
import { openConsoleStage, walkConsole } from '../console-pages.ts';
import { unmet } from '../criteria.ts';
import { bringAxe, contrastViolations, controlsBelow, cutTexts, overflow, violations } from '../in-page.ts';
import { openDesign, registerApps, walkPages } from '../pages.ts';
import { openClosedStage, openMailStage, walkClosed, walkPeople } from '../people-pages.ts';
import { openStageIn, type Stage, visit } from '../stage.ts';

const WIDE = { width: 1000, height: 720 };

/** The document and everything that it names, also what the browser had from a page before, as it was sent. */
function watchWeight(page: Page): (name: string) => Promise<void> {
  const loaded = new Map<string, number>();
  page.on('response', (response) => {
    if (response.status() >= 300 && response.status() < 400) return;
    // Events are sent as they come, and have no length.
    if (response.headers()['content-type']?.startsWith('text/event-stream')) return;
    const isDocument = response.request().resourceType() === 'document';
    loaded.set(isDocument ? 'document' : response.url(), Number(response.headers()['content-length']));
  });
  return async (name) => {
    await page.waitForLoadState('load');
    const content = await page.content();
    const own = [...loaded].filter(([of]) => of === 'document' || content.includes(new URL(of).pathname));
    const total = own.reduce((sum, [, size]) => sum + size, 0);
    const most = (name === 'sign-in' ? 30 : 50) * 1024;
    assert.ok(own.length >= 3 && total < most, `${name}: ${total} bytes in ${own.map(([of]) => of)}`);
  };
}

async function fitsAcross(page: Page, name: string, how: string): Promise<void> {
  assert.ok((await overflow(page)) <= 0, `${name} scrolls sideways ${how}`);
}

const setText = (session: CDPSession, pixels: number) =>
  session.send('Page.setFontSizes', { fontSizes: { standard: pixels, fixed: pixels } });

/** Looks at a page in every way in which people see it, without loading it again. */
async function lookAt(page: Page, session: CDPSession, name: string): Promise<void> {
  assert.deepEqual(await violations(page), [], name);
  assert.deepEqual(await unmet(page), [], name);
  await page.emulateMedia({ colorScheme: 'dark' });
  assert.deepEqual(await contrastViolations(page), [], `${name}, dark`);
  // WCAG 1.4.10: a window of 1280 px at 400 % has 320 CSS pixels, at 200 % 640; and with text twice as large.
  await page.setViewportSize({ width: 640, height: 400 });
  await fitsAcross(page, name, 'at 200 %');
  await setText(session, 32);
  await fitsAcross(page, name, 'with text at 200 %');
  await setText(session, 16);
  await page.setViewportSize({ width: 320, height: 640 });
  await fitsAcross(page, name, 'at 320 px');
  assert.deepEqual(await cutTexts(page), [], name);
  // WCAG 2.5.8 asks for 24 px; ours have 44.
  assert.deepEqual(await controlsBelow(page, 44), [], name);
  await page.setViewportSize(WIDE);
  await page.emulateMedia({ colorScheme: 'light' });
}

/** Visits pages, and looks at each at which the walk stops. */
const inspect = (
  stage: Stage,
  walk: (page: Page, stop: (name: string) => Promise<void>) => Promise<void>,
): Promise<void> =>
  visit(stage, { colorScheme: 'light', viewport: WIDE }, async (page) => {
    const session = await page.context().newCDPSession(page);
    await bringAxe(page);
    const weigh = watchWeight(page);
    await walk(page, async (name) => {
      // A message as mail programs show it is no page: it has one file and no landmarks.
      if (name === 'mailbox-message-html') return fitsAcross(page, name, 'at all');
      await weigh(name);
      await lookAt(page, session, name);
    });
  });

async function onStage(opened: Promise<Stage>, work: (stage: Stage) => Promise<void>): Promise<void> {
  const stage = await opened;
  try {
    await work(stage);
  } finally {
    await stage.close();
  }
}

export function pageCases(theStage: () => Stage): void {
  test('the page of the design system: accessible in light and dark, and not too wide', () =>
    visit(theStage(), { viewport: { width: 320, height: 640 } }, async (page) => {
      await openDesign(page, theStage());
      assert.ok((await overflow(page)) <= 0);
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme });
        assert.deepEqual(await violations(page), [], colorScheme);
      }
    }));

  // On servers of their own: they move the clock, and run beside each other.
  test('every page and state of sign-in, consent and the account, in every look', () =>
    onStage(openStageIn(theStage().browser), async (stage) => {
      const apps = await registerApps(stage);
      await inspect(stage, (page, stop) => walkPages(stage, apps, page, stop));
    }));

  test('every page and state of getting in and back in, in every look', () =>
    onStage(openMailStage(theStage().browser), async (stage) => {
      const { notes } = await registerApps(stage);
      await inspect(stage, (page, stop) => walkPeople({ stage, page, stop }, notes));
    }));

  test('every page of a server without mail and sign-up, in every look', () =>
    onStage(openClosedStage(theStage().browser), (stage) =>
      inspect(stage, (page, stop) => walkClosed({ stage, page, stop })),
    ));

  test('every page and state of the console, in every look', () =>
    onStage(openConsoleStage(theStage().browser), (stage) =>
      inspect(stage, (page, stop) => walkConsole({ stage, page, stop })),
    ));
}
