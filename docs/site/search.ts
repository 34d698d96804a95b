import { type Html, html } from '../../src/pages/html.ts';
import { type Article, article, onSite, SEARCH, textOf } from './layout.ts';
import type { Section } from './markdown.ts';

/** A part of a page under one heading, as `assets/search.js` reads it. */
interface Entry {
  readonly url: string;
  readonly page: string;
  /** Empty for the part before the second heading. */
  readonly heading: string;
  readonly text: string;
}

const plain = (markup: string): string =>
  textOf(markup.replaceAll(/<a class="anchor".*?<\/a>/gs, ''))
    .replaceAll(/\s+/g, ' ')
    .trim();

function entriesOf({ page, body }: Article): readonly Entry[] {
  const parts = body.split(/(?=<h[123] id=")/);
  const title = plain(/<h1[^>]*>(.*?)<\/h1>/s.exec(body)?.[1] ?? '');
  return parts.flatMap((part) => {
    const [, level, anchor, heading = ''] = /^<h([123]) id="([^"]*)">(.*?)<\/h\1>/s.exec(part) ?? [];
    const text = plain(part.replace(/^<h[123].*?<\/h[123]>/s, '').replaceAll('<', ' <'));
    if (level === undefined) return [];
    return level === '1'
      ? { url: onSite(page), page: title, heading: '', text }
      : { url: `${onSite(page)}#${anchor}`, page: title, heading: plain(heading), text };
  });
}

/** The script that hands the text of all pages to the search. A script can be loaded from a local folder too; JSON cannot. */
export const searchIndex = (articles: readonly Article[]): string =>
  `globalThis.searchIndex = ${JSON.stringify(articles.flatMap(entriesOf))};\n`;

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
