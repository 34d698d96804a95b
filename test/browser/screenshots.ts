/*
 * Draws every page: `node test/browser/screenshots.ts <folder>`, in light, in dark, on a phone and on the smallest one.
 * The pictures of the README are drawn anew with `npm run pictures`.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { BrowserContextOptions } from 'playwright-core';
import { overflowBelow } from './in-page.ts';
import { openDesign, registerApps, walkPages } from './pages.ts';
import { openStage, visit } from './stage.ts';

type Look = 'light' | 'dark' | 'phone' | 'small';

const LOOKS: Readonly<Record<Look, BrowserContextOptions>> = {
  light: { colorScheme: 'light' },
  dark: { colorScheme: 'dark' },
  phone: { viewport: { width: 390, height: 844 } },
  small: { viewport: { width: 320, height: 640 } },
};

interface Picture {
  readonly file: string;
  readonly look: Look;
  readonly page: string;
  /** Where only the beginning of a long page is shown. */
  readonly height?: number;
}

const README: readonly Picture[] = [
  { file: 'consent', look: 'light', page: 'consent' },
  { file: 'connected-apps', look: 'light', page: 'connected-apps' },
  { file: 'sessions', look: 'light', page: 'sessions' },
  { file: 'playground', look: 'light', page: 'playground-authorize', height: 1300 },
];

const { values, positionals } = parseArgs({ allowPositionals: true, options: { readme: { type: 'boolean' } } });
const folder = positionals[0];
if (folder === undefined) throw new Error('Name the folder: node test/browser/screenshots.ts <folder> [--readme]');
mkdirSync(folder, { recursive: true });

for (const look of ['light', 'dark', 'phone', 'small'] as const) {
  const wanted = README.filter((picture) => picture.look === look);
  if (values.readme && wanted.length === 0) continue;
  // A server for each look, so that all of them show the same persons and times.
  const stage = await openStage();
  try {
    const apps = await registerApps(stage);
    await visit(stage, LOOKS[look], async (page) => {
      const stop = async (name: string) => {
        const files = values.readme
          ? wanted.filter((picture) => picture.page === name).map(({ file }) => file)
          : [`${name}-${look}`];
        for (const file of files) {
          const height = wanted.find((picture) => picture.file === file)?.height;
          const clip = height === undefined ? {} : { clip: { x: 0, y: 0, width: 1000, height } };
          // As high as the page, so that buttons that stay in sight are drawn at the end of their form.
          const size = page.viewportSize() ?? { width: 1000, height: 720 };
          await page.setViewportSize({ ...size, height: size.height + (await overflowBelow(page)) });
          await page.screenshot({ path: join(folder, `${file}.png`), fullPage: true, animations: 'disabled', ...clip });
          await page.setViewportSize(size);
        }
      };
      await walkPages(stage, apps, page, '', stop);
      await openDesign(page, stage);
      await stop('design');
    });
  } finally {
    await stage.close();
  }
}
