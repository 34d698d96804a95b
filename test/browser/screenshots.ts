/*
 * Draws every page: `node test/browser/screenshots.ts <folder>`, in light and in dark on a desk, a tablet and a phone, and on the smallest phone; with `--console`
 * those of the console alone; with `--named <text>` those with it in their name.
 * The pictures of the README are drawn anew with `npm run pictures`.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Page } from 'playwright-core';
import { openConsoleStage, walkConsole } from './console-pages.ts';
import { overflowBelow } from './in-page.ts';
import { openDesign, registerApps, walkPages } from './pages.ts';
import { openClosedStage, openMailStage, walkClosed, walkPeople } from './people-pages.ts';
import { openStage, visit } from './stage.ts';

const LOOK_NAMES = ['light', 'dark', 'tablet', 'tablet-dark', 'phone', 'phone-dark', 'small'] as const;
type Look = (typeof LOOK_NAMES)[number];

interface Appearance {
  readonly colorScheme: 'light' | 'dark';
  readonly width: number;
  readonly height: number;
}

const LOOKS: Readonly<Record<Look, Appearance>> = {
  light: { colorScheme: 'light', width: 1000, height: 720 },
  dark: { colorScheme: 'dark', width: 1000, height: 720 },
  tablet: { colorScheme: 'light', width: 768, height: 1024 },
  'tablet-dark': { colorScheme: 'dark', width: 768, height: 1024 },
  phone: { colorScheme: 'light', width: 390, height: 844 },
  'phone-dark': { colorScheme: 'dark', width: 390, height: 844 },
  small: { colorScheme: 'light', width: 320, height: 640 },
};

interface Picture {
  readonly file: string;
  readonly look: Look;
  readonly page: string;
  /** Where only the beginning of a long page is shown. */
  readonly height?: number;
}

/** A picture for readers with a light screen, and one for those with a dark screen. */
const both = (file: string, page: string, height?: number): readonly Picture[] => [
  { file, look: 'light', page, ...(height !== undefined && { height }) },
  { file: `${file}-dark`, look: 'dark', page, ...(height !== undefined && { height }) },
];

const README: readonly Picture[] = [
  ...both('consent', 'consent'),
  ...both('sign-in', 'sign-in-app'),
  ...both('account', 'account'),
  ...both('console', 'console-overview'),
  ...both('connected-apps', 'connected-apps'),
  ...both('sessions', 'sessions'),
  { file: 'playground', look: 'light', page: 'playground-authorize', height: 1300 },
];

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { readme: { type: 'boolean' }, console: { type: 'boolean' }, named: { type: 'string' } },
});
const target = positionals[0] ?? '';
if (target === '') throw new Error('Name the folder: node test/browser/screenshots.ts <folder> [--readme | --console]');
mkdirSync(target, { recursive: true });

/** Draws the page in each look, without loading it again, so that all of them show the same persons and times. */
async function draw(page: Page, name: string): Promise<void> {
  if (!name.includes(values.named ?? '')) return;
  for (const look of LOOK_NAMES) {
    const wanted = README.filter((picture) => picture.look === look && picture.page === name);
    if (values.readme && wanted.length === 0) continue;
    const { colorScheme, ...size } = LOOKS[look];
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize(size);
    // As high as the page, so that buttons that stay in sight are drawn at the end of their form.
    await page.setViewportSize({ ...size, height: size.height + (await overflowBelow(page)) });
    for (const file of values.readme ? wanted.map((picture) => picture.file) : [`${name}-${look}`]) {
      const height = wanted.find((picture) => picture.file === file)?.height;
      const clip = height === undefined ? {} : { clip: { x: 0, y: 0, width: size.width, height } };
      await page.screenshot({ path: join(target, `${file}.png`), fullPage: true, animations: 'disabled', ...clip });
    }
  }
  const { colorScheme, ...size } = LOOKS.light;
  await page.emulateMedia({ colorScheme });
  await page.setViewportSize(size);
}

const stage = await openStage();
const consoleStage = await openConsoleStage(stage.browser);
const drawConsole = () =>
  visit(consoleStage, {}, (page) => walkConsole({ stage: consoleStage, page, stop: (name) => draw(page, name) }));
try {
  if (values.console) await drawConsole();
  else await drawAll();
} finally {
  await consoleStage.close();
  await stage.close();
}

async function drawAll(): Promise<void> {
  const [mail, closed] = await Promise.all([openMailStage(stage.browser), openClosedStage(stage.browser)]);
  try {
    const apps = await registerApps(stage);
    await visit(stage, {}, async (page) => {
      await walkPages(stage, apps, page, (name) => draw(page, name));
      await openDesign(page, stage);
      await draw(page, 'design');
    });
    if (!values.readme) {
      const { notes } = await registerApps(mail);
      await visit(mail, {}, (page) => walkPeople({ stage: mail, page, stop: (name) => draw(page, name) }, notes));
      await visit(closed, {}, (page) => walkClosed({ stage: closed, page, stop: (name) => draw(page, name) }));
    }
    await drawConsole();
  } finally {
    await Promise.all([mail.close(), closed.close()]);
  }
}
