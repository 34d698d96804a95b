import { type Html, html } from '../../src/pages/html.ts';
import { type Article, article, onSite, SEARCH, textOf } from './layout.ts';
import type { Section } from './markdown.ts';

/** A page, as `assets/search.js` reads it. */
interface Searched {
  readonly url: string;
  readonly page: string;
  /** How likely a reader looks for pages of this kind: 1 for most. */
  readonly weight: number;
  /** Anchor and heading are empty for the part before the second heading. */
  readonly parts: readonly (readonly [anchor: string, heading: string, text: string])[];
}

/** What readers look for least comes last, wherever the words are. The first pattern that fits a path counts. */
const WEIGHTS: readonly (readonly [pages: RegExp, weight: number])[] = [
  [/^docs\/(?:tutorial|how-to)\//, 1.5],
  [/^docs\/reference\/(?:errors|configuration|authorization)\.md$/, 1.5],
  [/^docs\/(?:README\.md|decisions\/|reference\/(?:security|standards|interop|retention)\.md$)/, 0.3],
];
const weightOf = (page: string): number => WEIGHTS.find(([pages]) => pages.test(page))?.[1] ?? 1;

/** How much of the text under a heading is searched: all of it on pages that readers look for, and its beginning elsewhere. */
const lengthOf = (weight: number): number => (weight < 1 ? 600 : 4000);
/** Of a block of code, the beginning says what it is about. */
const CODE = 300;

const plain = (markup: string): string =>
  textOf(markup.replaceAll(/<a class="anchor".*?<\/a>/gs, ''))
    .replaceAll(/\s+/g, ' ')
    .trim();

/** The text of a part, with a space where a tag ends a word; those that only color code end none. */
const textUnder = (part: string, most: number): string =>
  plain(
    part
      .replace(/^<h[123].*?<\/h[123]>/s, '')
      .replaceAll(/<pre>(.*?)<\/pre>/gs, (_, code: string) => ` ${code.replaceAll(/<[^>]*>/g, '').slice(0, CODE)} `)
      .replaceAll(/(?=<(?!span|\/span))/g, ' '),
  ).slice(0, most);

function searchedOf({ page, body }: Article): Searched {
  const weight = weightOf(page);
  const parts = body.split(/(?=<h[123] id=")/).flatMap((part) => {
    const [, level, anchor = '', heading = ''] = /^<h([123]) id="([^"]*)">(.*?)<\/h\1>/s.exec(part) ?? [];
    if (level === undefined) return [];
    const text = textUnder(part, lengthOf(weight));
    return level === '1' ? [['', '', text] as const] : [[anchor, plain(heading), text] as const];
  });
  return { url: onSite(page), page: plain(/<h1[^>]*>(.*?)<\/h1>/s.exec(body)?.[1] ?? ''), weight, parts };
}

/** The script that hands the text of all pages to the search. A script can be loaded from a local folder too; JSON cannot. */
export const searchIndex = (articles: readonly Article[]): string =>
  `globalThis.searchIndex = ${JSON.stringify(articles.map(searchedOf))};\n`;

/** The page of the search form: the results, or without a script every page with its headings. */
export function searchPage(sections: readonly Section[], articles: ReadonlyMap<string, Article>): Article {
  const headings = (path: string): Html =>
    html`<ul>${articles.get(path)?.headings.map(({ anchor, text }) => html`<li><a href="${path.slice('docs/'.length)}#${anchor}">${text}</a></li>`)}</ul>`;
  const body = html`<h1>Search</h1>
<div id="results" aria-live="polite"></div>
<div id="index">
<noscript><p>Searching the text of the pages needs JavaScript. This is the index of all pages and their headings.</p></noscript>
${sections.map(
  ({ title, pages }) => html`<h2>${title}</h2>
<ul>${pages.map(({ path, label }) => html`<li><a href="${path.slice('docs/'.length)}">${label}</a>${(articles.get(path)?.headings.length ?? 0) > 0 && headings(path)}</li>`)}</ul>
`,
)}</div>`;
  return article(SEARCH, body.text, undefined);
}

/** The page for unknown URLs. Web servers show it at any URL, so its links begin with the site's path. */
export const notFoundPage = (root: string): Article => ({
  page: 'docs/404.md',
  body: html`<h1>There is no such page</h1>
<p>The page may have a new name. Search for it, or look in the <a href="${root}index.html">contents</a>.</p>`.text,
  headings: [],
});
