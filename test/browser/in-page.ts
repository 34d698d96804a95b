/*
 * What is asked of a page from inside it. These are texts, because the types of a browser are kept out of the rest of the
 * program: there a global `name` or `event` would pass for a variable.
 */
import axe from 'axe-core';
import type { Page } from 'playwright-core';

const ask = <T>(page: Page, body: string): Promise<T> => page.evaluate<T>(`(async () => { ${body} })()`);

const STANDARDS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

const runAxe = (page: Page, runOnly: { readonly type: 'tag' | 'rule'; readonly values: readonly string[] }) =>
  ask<string[]>(
    page,
    `scrollTo(0, document.documentElement.scrollHeight);
     const { violations } = await axe.run({ runOnly: ${JSON.stringify(runOnly)}, resultTypes: ['violations'], selectors: false });
     return violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html).join(' '));`,
  );

/** Gives axe to every document of a page, where it waits to be run: sending it to each takes longer than what it does. */
export const bringAxe = (page: Page): Promise<unknown> =>
  page.addInitScript(`globalThis.loadAxe = () => { ${axe.source} };`);

/** What axe finds wrong at the end of the page, where buttons that stay in sight cover nothing. */
export async function violations(page: Page): Promise<string[]> {
  const isHere = await ask<boolean>(
    page,
    "const isHere = 'loadAxe' in globalThis; if (isHere) loadAxe(); return isHere;",
  );
  if (!isHere) await page.evaluate(axe.source);
  return runAxe(page, { type: 'tag', values: STANDARDS });
}

/** Those that depend on colors, of a page that {@link violations} was asked of before. */
export const contrastViolations = (page: Page): Promise<string[]> =>
  runAxe(page, { type: 'rule', values: ['color-contrast', 'link-in-text-block'] });

/** Where the person's picture on the page comes from, and how wide it really is. */
export const personsPicture = (page: Page): Promise<{ address: string; width: number }> =>
  ask(
    page,
    "const image = document.querySelector('img.picture'); return { address: image.src, width: image.naturalWidth };",
  );

/** Waits until the file that was chosen is smaller than that. Playwright's own way looks again by eval, which pages refuse. */
export const fileBelow = (page: Page, selector: string, bytes: number): Promise<void> =>
  ask(
    page,
    `const input = document.querySelector(${JSON.stringify(selector)});
     while (!(input.files[0]?.size < ${bytes})) await new Promise(requestAnimationFrame);`,
  );

/** By how many pixels the page is wider than its window. */
export const overflow = (page: Page): Promise<number> =>
  ask(page, 'const { scrollWidth, clientWidth } = document.documentElement; return scrollWidth - clientWidth;');

/** By how many pixels the page is higher than its window. */
export const overflowBelow = (page: Page): Promise<number> =>
  ask(page, 'const { scrollHeight, clientHeight } = document.documentElement; return scrollHeight - clientHeight;');

/** Texts that their box cuts at its side. */
export const cutTexts = (page: Page): Promise<string[]> =>
  ask(
    page,
    `return [...document.querySelectorAll('body :not(.unseen, input)')]
       .filter((box) => ['hidden', 'clip'].includes(getComputedStyle(box).overflowX))
       .filter((box) => box.checkVisibility() && box.textContent.trim() !== '' && box.scrollWidth > box.clientWidth)
       .map((box) => box.outerHTML);`,
  );

/** Controls that are not in sight as a whole, or are covered by something else. */
export const outOfSight = (page: Page, selector: string): Promise<string[]> =>
  ask(
    page,
    `return [...document.querySelectorAll(${JSON.stringify(selector)})]
       .filter((control) => {
         const { left, right, top, bottom } = control.getBoundingClientRect();
         const inside = left >= 0 && right <= innerWidth && top >= 0 && bottom <= innerHeight;
         return !inside || document.elementFromPoint((left + right) / 2, (top + bottom) / 2) !== control;
       })
       .map((control) => control.outerHTML);`,
  );

/** Controls lower than this many pixels; links in running text are as high as their line. */
export const controlsBelow = (page: Page, height: number): Promise<string[]> =>
  ask(
    page,
    `return [...document.querySelectorAll('button, input:not([type=checkbox], [type=radio]), label:has([type=radio]), summary, nav a')]
       .filter((control) => control.checkVisibility() && control.getBoundingClientRect().height < ${height})
       .map((control) => control.outerHTML);`,
  );

/** The elements of the page with the names of their attributes: what no text may change. */
export const skeleton = (page: Page): Promise<string> =>
  ask(
    page,
    `const describe = (element) => {
       const names = [...element.attributes].map(({ name }) => name).sort();
       return '<' + element.tagName + ' ' + names.join(' ') + '>' + [...element.children].map(describe).join('') + '</>';
     };
     return describe(document.documentElement);`,
  );

/** Where a text stands without being set apart, so that it could reorder what is beside it. A field sets its own text apart. */
export const loose = (page: Page, text: string): Promise<string[]> =>
  ask(
    page,
    `const found = [];
     const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
     while (texts.nextNode()) {
       const { textContent, parentElement } = texts.currentNode;
       if (textContent.includes(${JSON.stringify(text)}) && !parentElement.closest('bdi, textarea')) found.push(parentElement.outerHTML);
     }
     return found;`,
  );

/** What has the focus, by what people would call it, and how wide the ring is that shows it. */
export const focus = (page: Page): Promise<{ name: string; ring: number }> =>
  ask(
    page,
    `const element = document.activeElement;
     const { outlineStyle, outlineWidth } = getComputedStyle(element);
     return {
       name: element.ariaLabel ?? (element.matches('input, select, textarea') ? element.id : element.textContent.trim()),
       ring: outlineStyle === 'none' ? 0 : Number.parseFloat(outlineWidth),
     };`,
  );

/** Elements that move. */
export const moving = (page: Page): Promise<string[]> =>
  ask(
    page,
    `return [...document.querySelectorAll('*')]
       .filter((element) => getComputedStyle(element).transitionDuration !== '0s')
       .map(({ outerHTML }) => outerHTML);`,
  );

/** What letters are drawn in, on a ground of the colour that stands beside it. */
export const letters = (page: Page): Promise<[ink: string, ground: string][]> =>
  ask(
    page,
    `return [...document.querySelectorAll('.half text')].map((text) => [
       getComputedStyle(text).fill,
       getComputedStyle(text.parentElement.querySelector('path')).fill,
     ]);`,
  );

export const paper = (page: Page): Promise<string> =>
  ask(page, 'return getComputedStyle(document.body).backgroundColor;');

export const clipboard = (page: Page): Promise<string> => ask(page, 'return navigator.clipboard.readText();');

/** Shows an address in a frame on the page that the browser is on. */
export const showInFrame = (page: Page, address: string): Promise<void> =>
  ask(
    page,
    `document.body.replaceChildren(Object.assign(document.createElement('iframe'), { src: ${JSON.stringify(address)} }));`,
  );

/** Sends a form of the page that the browser is on to an address. */
export const sendForm = (page: Page, action: string, fields: Readonly<Record<string, string>>): Promise<void> =>
  ask(
    page,
    `const form = Object.assign(document.createElement('form'), { method: 'post', action: ${JSON.stringify(action)} });
     for (const [name, value] of Object.entries(${JSON.stringify(fields)})) {
       form.append(Object.assign(document.createElement('input'), { type: 'hidden', name, value }));
     }
     document.body.append(form);
     form.submit();`,
  );

/** Opens a popup, and keeps what it reports to its opener. */
export const openPopup = (page: Page, address: string): Promise<void> =>
  ask(
    page,
    `window.reports = [];
     addEventListener('message', ({ data }) => window.reports.push(data));
     window.popup = open(${JSON.stringify(address)}, 'sign-in', 'popup,width=480,height=700');`,
  );

/** Whether the page still reaches the popup that it opened. */
export const reachesPopup = (page: Page): Promise<boolean> => ask(page, 'return !window.popup.closed;');

/** Waits until the page no longer reaches the popup that it opened, which then seems to be closed. */
export const losesPopup = (page: Page): Promise<void> =>
  ask(page, 'while (!window.popup.closed) await new Promise(requestAnimationFrame);');

/** Reports to the page that opened this one, and waits until it has the report. */
export const report = (page: Page, text: string): Promise<void> =>
  ask(
    page,
    `window.opener.postMessage(${JSON.stringify(text)}, location.origin);
     while (!window.opener.reports.includes(${JSON.stringify(text)})) await new Promise(requestAnimationFrame);`,
  );
