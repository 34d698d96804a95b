/*
 * What an operator does at the console, by what can be read there: nothing is found by its place or its address. Each deed is a step of the
 * record, and each page that is shown is one of its pages.
 */
import assert from 'node:assert/strict';
import type { Locator, Page } from 'playwright-core';
import { focus, overflowBelow } from '../in-page.ts';
import { pressInConsole, type Stage } from '../stage.ts';

/** How a task is walked. */
export type Way = 'with script' | 'without script' | 'by keyboard';

/** A page that a walk was shown, and how long its first byte took, in milliseconds. */
export interface ShownPage {
  readonly path: string;
  readonly firstByte: number;
  /** How high it is on a small phone, in CSS pixels, where that was measured. */
  height?: number;
}

export interface Hands {
  readonly stage: Stage;
  readonly page: Page;
  /** Opens a section at the side. */
  section(name: string): Promise<void>;
  /** Follows a link that shows another page. A text is the whole of its name. */
  follow(name: string | RegExp): Promise<void>;
  /** Presses a button that shows another page. */
  press(name: string): Promise<void>;
  type(label: string, text: string): Promise<void>;
  choose(label: string, option: string): Promise<void>;
  check(label: string | RegExp): Promise<void>;
  /** Unfolds what is folded. */
  unfold(name: string): Promise<void>;
  /** Waits until the page says this. */
  sees(text: string | RegExp): Promise<void>;
  /** What was done so far. */
  readonly steps: readonly string[];
  readonly pages: readonly ShownPage[];
}

const PHONE = { width: 320, height: 640 };

/** Farther than the last control of any page. */
const MOST_TABS = 150;

const isFocused = (target: Locator): Promise<boolean> => target.evaluate((it) => it.matches(':focus'));

/** Goes on by Tab until this has the focus, which must show. */
async function tabTo(page: Page, target: Locator): Promise<void> {
  await target.waitFor();
  for (let tabs = 0; tabs < MOST_TABS; tabs++) {
    if (await isFocused(target)) {
      const { name, ring } = await focus(page);
      assert.ok(ring >= 2, `no focus ring on ${name}`);
      return;
    }
    await page.keyboard.press('Tab');
  }
  throw new Error(`Tab does not reach ${target}`);
}

/** The hands of an operator who is signed in and at the console. */
export function handsAt(stage: Stage, page: Page, way: Way): Hands {
  const steps: string[] = [];
  const pages: ShownPage[] = [];
  const byKeys = way === 'by keyboard';
  page.on('requestfinished', (request) => {
    const { pathname, search } = new URL(request.url());
    if (!/\/console(\/|$)/.test(pathname) || !['document', 'fetch'].includes(request.resourceType())) return;
    const { requestStart, responseStart } = request.timing();
    const path = (pathname + (request.method() === 'GET' ? search : '')).replaceAll(/\d{8,}/g, ':id');
    pages.push({ path: `${request.method()} ${path}`, firstByte: responseStart - requestStart });
  });

  const stack = page.locator('.stack');
  const named = (within: Locator, role: 'link' | 'button' | 'checkbox' | 'radio', name: string | RegExp): Locator =>
    within.getByRole(role, { name, exact: true }).first();

  /** Notes how high the page is on a small phone, as it opens. */
  async function measure(): Promise<void> {
    const [size, shown] = [page.viewportSize(), pages.at(-1)];
    if (way !== 'without script' || size === null || shown === undefined) return;
    await page.setViewportSize(PHONE);
    shown.height = PHONE.height + (await overflowBelow(page));
    await page.setViewportSize(size);
  }

  /** What shows another page. By keys, a form is sent with Enter and a link is followed with it. */
  async function go(target: Locator): Promise<void> {
    if (!byKeys) {
      await pressInConsole(target);
      return measure();
    }
    await tabTo(page, target);
    await stack.evaluate((it) => it.setAttribute('data-before', ''));
    await page.keyboard.press('Enter');
    await page.locator('.stack:not([data-before])').waitFor();
  }

  async function into(label: string): Promise<Locator> {
    const input = stack.getByLabel(label, { exact: true }).first();
    if (byKeys) await tabTo(page, input);
    return input;
  }

  const note = (deed: string, what: string | RegExp): void => {
    steps.push(`${deed} ${typeof what === 'string' ? what : what.source.replaceAll(/^\^|\\|\s+$/g, '')}`);
  };

  return {
    ...{ stage, page, steps, pages },
    async section(name) {
      note('section', name);
      await go(named(page.locator('.side'), 'link', name));
    },
    async follow(name) {
      note('link', name);
      await go(named(stack, 'link', name));
    },
    async press(name) {
      note('button', name);
      await go(named(stack, 'button', name));
    },
    async type(label, text) {
      note('type', label);
      const input = await into(label);
      if (!byKeys) return input.fill(text);
      await page.keyboard.press('ControlOrMeta+A');
      await page.keyboard.insertText(text);
    },
    async choose(label, option) {
      note('choose', `${label}: ${option}`);
      await (await into(label)).selectOption({ label: option });
    },
    async check(label) {
      note('check', label);
      const box = stack.getByLabel(label).first();
      if (!byKeys) return box.check();
      await tabTo(page, box);
      await page.keyboard.press('Space');
    },
    async unfold(name) {
      note('unfold', name);
      const summary = stack.locator('summary', { hasText: name }).first();
      if (!byKeys) return summary.click();
      await tabTo(page, summary);
      await page.keyboard.press('Enter');
    },
    async sees(text) {
      await stack.getByText(text).filter({ visible: true }).first().waitFor();
    },
  };
}
