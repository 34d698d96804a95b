import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { controlsBelow, overflow, violations } from '../in-page.ts';
import { openDesign, registerApps, walkPages } from '../pages.ts';
import { type Stage, visit } from '../stage.ts';

/** Begins with the page and is then asked at each stop. */
type Check = (page: Page) => (name: string) => Promise<void>;

const accessible: Check = (page) => async (name) => assert.deepEqual(await violations(page), [], name);

/** WCAG 1.4.10. */
const fitsAcross: Check = (page) => async (name) => assert.ok((await overflow(page)) <= 0, `${name} scrolls sideways`);

/** WCAG 2.5.8 asks for 24 px; ours have 44. */
const easyToPress: Check = (page) => async (name) => assert.deepEqual(await controlsBelow(page, 44), [], name);

/** The document and everything that it names, also what the browser had from a page before, uncompressed. */
const light: Check = (page) => {
  const loaded = new Map<string, number>();
  page.on('response', (response) => {
    if (response.status() >= 300 && response.status() < 400) return;
    const isDocument = response.request().resourceType() === 'document';
    loaded.set(isDocument ? 'document' : response.url(), Number(response.headers()['content-length']));
  });
  return async (name) => {
    await page.waitForLoadState('load');
    const content = await page.content();
    const own = [...loaded].filter(([of]) => of === 'document' || content.includes(new URL(of).pathname));
    const total = own.reduce((sum, [, size]) => sum + size, 0);
    assert.ok(own.length >= 3 && total < 50 * 1024, `${name}: ${total} bytes in ${own.map(([of]) => of)}`);
  };
};

interface Look {
  readonly name: string;
  readonly options: BrowserContextOptions;
  /** The size of text that the person chose, in pixels; 16 is what browsers come with. */
  readonly text?: number;
  readonly checks: Readonly<Record<string, Check>>;
}

const LOOKS: readonly Look[] = [
  { name: 'light', options: { colorScheme: 'light' }, checks: { accessible, light } },
  { name: 'dark', options: { colorScheme: 'dark' }, checks: { accessible } },
  { name: '320 px wide', options: { viewport: { width: 320, height: 640 } }, checks: { fitsAcross, easyToPress } },
  // A window of 1280 px at 200 % has 640 CSS pixels, each two by two.
  {
    name: 'at 200 %',
    options: { viewport: { width: 640, height: 400 }, deviceScaleFactor: 2 },
    checks: { fitsAcross },
  },
  { name: 'with text at 200 %', options: { viewport: { width: 640, height: 800 } }, text: 32, checks: { fitsAcross } },
];

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

  for (const [index, { name: look, options, text, checks }] of LOOKS.entries()) {
    test(`every page and state, ${look}: ${Object.keys(checks).join(', ')}`, async () => {
      const stage = theStage();
      const apps = await registerApps(stage);
      await visit(stage, options, async (page) => {
        if (text !== undefined) {
          const session = await page.context().newCDPSession(page);
          await session.send('Page.setFontSizes', { fontSizes: { standard: text, fixed: text } });
        }
        const asked = Object.values(checks).map((check) => check(page));
        await walkPages(stage, apps, page, `.${index}`, async (name) => {
          for (const check of asked) await check(name);
        });
      });
    });
  }
}
